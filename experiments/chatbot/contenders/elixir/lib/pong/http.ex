defmodule Pong.Http do
  @moduledoc """
  Cowboy with the settings of both bots, and the handler that it runs in a process of its own for each request.
  """

  @behaviour :cowboy_handler

  # One supervisor of connections: with Ranch's default, one for each acceptor, the limit would hold for each of them.
  @connections %{max_connections: 2048, num_acceptors: 1000, num_conns_sups: 1}

  # Ranch's default, and what the bots on Node.js are given.
  @backlog 1024

  # A number, as Cowboy's manual has it, that no connection reaches; the default ends one after 1,000 requests.
  @requests_per_connection 1_000_000_000

  @message_bytes_max 4096

  @doc "Has every message answered with the status and text that `answer` makes of it."
  def listen(answer) do
    {:ok, address} = "HOST" |> System.fetch_env!() |> to_charlist() |> :inet.parse_address()
    port = "PORT" |> System.fetch_env!() |> String.to_integer()
    routes = :cowboy_router.compile([{:_, [{"/", __MODULE__, answer}]}])
    options = [ip: address, port: port, backlog: @backlog]
    transport = Map.put(@connections, :socket_opts, options)
    protocol = %{env: %{dispatch: routes}, max_keepalive: @requests_per_connection}

    case :cowboy.start_clear(__MODULE__, transport, protocol) do
      {:ok, _listener} -> :ok
      # Cowboy outlives a robot that crashed; its new connections lead to the new one.
      {:error, {:already_started, _listener}} -> :cowboy.set_env(__MODULE__, :dispatch, routes)
      {:error, reason} -> {:error, reason}
    end
  end

  @impl true
  def init(request, answer) do
    request =
      case :cowboy_req.read_body(request, %{length: @message_bytes_max}) do
        {:ok, message, request} ->
          {status, text} = answer.(message)
          reply(request, status, text)

        {:more, _, request} ->
          reply(request, 413, "Content Too Large")
      end

    {:ok, request, answer}
  end

  defp reply(request, status, text) do
    :cowboy_req.reply(status, %{"content-type" => "text/plain"}, text, request)
  end
end
