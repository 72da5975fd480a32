defmodule Service.Connection do
  @moduledoc "A connection to the database: makes one query at a time, and connects again when one fails."

  use GenServer

  require Logger

  alias Service.{Pool, Postgres}

  @reconnect_after_ms 1000

  @doc "Has a query made by an idle connection; who asked the pool is answered directly."
  def query(connection, sql, from), do: GenServer.cast(connection, {:query, sql, from})

  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil)

  @impl true
  def init(nil), do: {:ok, nil, {:continue, :connect}}

  @impl true
  def handle_continue(:connect, nil) do
    host = System.fetch_env!("DB_HOST")
    port = "DB_PORT" |> System.fetch_env!() |> String.to_integer()
    password = System.fetch_env!("DB_PASSWORD")

    case Postgres.connect(host, port, "kumite", password, "kumite") do
      {:ok, socket} ->
        Pool.idle(self())
        {:noreply, socket}

      {:error, reason} ->
        Logger.error("no connection to #{host}:#{port}: #{inspect(reason)}")
        # Nobody asks anything of a connection that is not there.
        Process.sleep(@reconnect_after_ms)
        {:noreply, nil, {:continue, :connect}}
    end
  end

  @impl true
  def handle_cast({:query, sql, from}, socket) do
    result = Postgres.query(socket, sql)
    GenServer.reply(from, result)

    case result do
      :ok ->
        Pool.idle(self())
        {:noreply, socket}

      {:error, _reason} ->
        :gen_tcp.close(socket)
        {:noreply, nil, {:continue, :connect}}
    end
  end
end
