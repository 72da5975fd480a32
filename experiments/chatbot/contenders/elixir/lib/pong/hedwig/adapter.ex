defmodule Pong.Http do
  @moduledoc """
  The adapter to HTTP. A request is a room of its own: the process that waits there for an answer.
  """

  use Owl.Adapter

  # One supervisor of connections: with Ranch's default, one for each acceptor, the limit would hold for each of them.
  @connections %{max_connections: 2048, num_acceptors: 1000, num_conns_sups: 1}

  # A number, as Cowboy's manual has it, that no connection reaches; the default ends one after 1,000 requests.
  @requests_per_connection 1_000_000_000

  @doc "Tells the adapter what the calling process wants to have answered."
  def hear(adapter, text), do: GenServer.cast(adapter, {:hear, self(), text})

  @impl true
  def init({robot, _options}) do
    port = "PORT" |> System.fetch_env!() |> String.to_integer()
    routes = :cowboy_router.compile([{:_, [{"/", Pong.Http.Handler, self()}]}])
    transport = Map.put(@connections, :socket_opts, ip: {127, 0, 0, 1}, port: port)
    protocol = %{env: %{dispatch: routes}, max_keepalive: @requests_per_connection}

    case :cowboy.start_clear(__MODULE__, transport, protocol) do
      {:ok, _listener} ->
        {:ok, robot}

      # Cowboy outlives a robot that crashed; its new connections lead here from now on.
      {:error, {:already_started, _listener}} ->
        :ok = :cowboy.set_env(__MODULE__, :dispatch, routes)
        {:ok, robot}

      {:error, reason} ->
        {:stop, reason}
    end
  end

  @impl true
  def handle_cast({:hear, request, text}, robot) do
    Owl.Robot.handle_in(robot, %Owl.Message{
      ref: make_ref(),
      robot: robot,
      room: :erlang.term_to_binary(request),
      text: text,
      user: "user",
      type: "chat"
    })

    {:noreply, robot}
  end

  def handle_cast({:reply, message}, robot) do
    Owl.Adapter.send(self(), message)
    {:noreply, robot}
  end

  def handle_cast({:send, message}, robot) do
    send(:erlang.binary_to_term(message.room), {:answer, message.text})
    {:noreply, robot}
  end
end
