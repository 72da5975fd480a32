defmodule Service.Http do
  @moduledoc """
  Cowboy, and the handler that it runs in a process of its own for each request: three queries, one after the other.
  """

  @behaviour :cowboy_handler

  # As Plug.Cowboy has them, and so Phoenix.
  @connections %{max_connections: 16_384, num_acceptors: 100}

  # More than any pause of a client's; by default a connection would be closed after 5 s without a request.
  @request_timeout_ms 120_000

  @queries_per_request 3

  @doc "Listens on the port that the environment names."
  def listen do
    routes = [
      {"/sleep", __MODULE__, "select pg_sleep(0.03)"},
      {"/scan", __MODULE__, "select count(*) from items where name like '%42%'"}
    ]

    {:ok, address} = "HOST" |> System.fetch_env!() |> to_charlist() |> :inet.parse_address()
    port = "PORT" |> System.fetch_env!() |> String.to_integer()
    transport = Map.put(@connections, :socket_opts, ip: address, port: port)
    dispatch = :cowboy_router.compile([{:_, routes}])
    protocol = %{env: %{dispatch: dispatch}, request_timeout: @request_timeout_ms}
    :cowboy.start_clear(__MODULE__, transport, protocol)
  end

  @impl true
  def init(%{method: "GET"} = request, sql) do
    {status, text} = answer(sql, 0)
    {:ok, reply(request, status, text), sql}
  end

  def init(request, sql), do: {:ok, reply(request, 404, "Not Found"), sql}

  defp answer(_sql, @queries_per_request), do: {200, "done"}

  defp answer(sql, done) do
    case Service.Pool.query(sql) do
      :ok -> answer(sql, done + 1)
      {:error, :no_connection} -> {500, "refused after #{done}"}
      {:error, _reason} -> {500, "failed after #{done}"}
    end
  end

  defp reply(request, status, text) do
    :cowboy_req.reply(status, %{"content-type" => "text/plain"}, text, request)
  end
end
