defmodule Owl.Adapter do
  @moduledoc """
  A process between a transport and a robot. It is given `{robot, options}` to start with, puts what it hears to
  `Owl.Robot.handle_in/2`, and is told by casts what to say: `{:send, message}` and `{:reply, message}`.
  """

  defmacro __using__(_options) do
    quote do
      use GenServer

      def start_link(robot, options), do: GenServer.start_link(__MODULE__, {robot, options})
    end
  end

  @doc "Says the message's text in its room."
  def send(adapter, message), do: GenServer.cast(adapter, {:send, message})

  @doc "Says the message's text to its user."
  def reply(adapter, message), do: GenServer.cast(adapter, {:reply, message})
end
