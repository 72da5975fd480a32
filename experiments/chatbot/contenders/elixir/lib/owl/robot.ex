defmodule Owl.Robot do
  @moduledoc """
  The process at the centre: whatever is heard or said goes through it.

      defmodule MyRobot do
        use Owl.Robot, otp_app: :my_app
      end

  The application's environment has under the robot's module its `:name`, `:adapter` and `:responders`.
  """

  defstruct [:name, :adapter, :responder_supervisor, responders: []]

  @doc "What to do with a message that was heard: show it to the responders, or nothing."
  @callback handle_in(message :: %Owl.Message{}, robot :: %Owl.Robot{}) ::
              {:dispatch, %Owl.Message{}, %Owl.Robot{}} | {:noreply, %Owl.Robot{}}

  defmacro __using__(otp_app: otp_app) do
    quote do
      use GenServer, restart: :transient
      @behaviour Owl.Robot

      def start_link(_), do: GenServer.start_link(__MODULE__, unquote(otp_app))

      @impl GenServer
      def init(otp_app), do: Owl.Robot.init(Application.fetch_env!(otp_app, __MODULE__))

      @impl GenServer
      def handle_cast({:handle_in, message}, robot) do
        case handle_in(message, robot) do
          {:dispatch, message, robot} -> Owl.Robot.dispatch(message, robot)
          {:noreply, robot} -> {:noreply, robot}
        end
      end

      def handle_cast(request, robot), do: Owl.Robot.handle_cast(request, robot)

      @impl Owl.Robot
      def handle_in(message, robot), do: {:dispatch, message, robot}

      defoverridable handle_in: 2
    end
  end

  @doc "Lets the robot hear a message."
  def handle_in(robot, message), do: GenServer.cast(robot, {:handle_in, message})

  @doc "Lets the robot say the message's text to the one whom it is from."
  def reply(robot, message), do: GenServer.cast(robot, {:reply, message})

  @doc false
  def init(options) do
    GenServer.cast(self(), :install_responders)
    # Linked to the robot, not supervised beside it: they live and die together.
    {:ok, adapter} = options[:adapter].start_link(self(), options)
    {:ok, responder_supervisor} = DynamicSupervisor.start_link(strategy: :one_for_one)

    {:ok,
     %Owl.Robot{
       name: options[:name],
       adapter: adapter,
       responder_supervisor: responder_supervisor,
       responders: options[:responders]
     }}
  end

  @doc false
  def dispatch(message, robot) do
    for {_, responder, _, _} when is_pid(responder) <-
          DynamicSupervisor.which_children(robot.responder_supervisor) do
      Owl.Responder.dispatch(responder, message)
    end

    {:noreply, robot}
  end

  @doc false
  def handle_cast({:reply, message}, robot) do
    Owl.Adapter.reply(robot.adapter, message)
    {:noreply, robot}
  end

  def handle_cast(:install_responders, robot) do
    for responder <- robot.responders do
      {:ok, _} =
        DynamicSupervisor.start_child(robot.responder_supervisor, {Owl.Responder, responder})
    end

    {:noreply, robot}
  end
end
