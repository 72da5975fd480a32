defmodule Service.Pool do
  @moduledoc """
  Gives queries to idle connections. Where none is idle, a query waits in line, and not for longer than a second. How
  many may wait, and whether the first of them is served first or the last, are settings of the application.
  """

  use GenServer

  alias Service.Connection

  @wait_ms_max 1000

  # No answer can take so long: it is for what a connection should have answered that died of a defect.
  @answer_ms_max 60_000

  @doc """
  Has a query made: `:ok`, `{:error, :no_connection}` if the line was full or no connection idle in time, or why the
  query failed.
  """
  def query(sql), do: GenServer.call(__MODULE__, {:query, sql}, @answer_ms_max)

  @doc "Tells the pool that a connection is idle."
  def idle(connection), do: GenServer.cast(__MODULE__, {:idle, connection})

  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil), do: {:ok, {_idle = [], _waiting = :queue.new()}}

  @impl true
  def handle_call({:query, sql}, from, {[connection | idle], waiting}) do
    Connection.query(connection, sql, from)
    {:noreply, {idle, waiting}}
  end

  def handle_call({:query, sql}, from, {[], waiting}) do
    # Erlang's order of terms: every number is less than `:infinity`.
    if :queue.len(waiting) < Application.fetch_env!(:service, :waiting) do
      timer = :erlang.start_timer(@wait_ms_max, self(), from)
      {:noreply, {[], :queue.in({timer, from, sql}, waiting)}}
    else
      {:reply, {:error, :no_connection}, {[], waiting}}
    end
  end

  @impl true
  def handle_cast({:idle, connection}, {idle, waiting}) do
    case next(waiting) do
      {:empty, _waiting} ->
        {:noreply, {[connection | idle], waiting}}

      {{:value, {timer, {client, _tag} = from, sql}}, waiting} ->
        :erlang.cancel_timer(timer)

        # Cowboy ends a request's process when its client goes away.
        if Process.alive?(client) do
          Connection.query(connection, sql, from)
          {:noreply, {idle, waiting}}
        else
          handle_cast({:idle, connection}, {idle, waiting})
        end
    end
  end

  @impl true
  def handle_info({:timeout, timer, from}, {idle, waiting}) do
    case :queue.delete_with(fn {other, _from, _sql} -> other == timer end, waiting) do
      # It got its connection when the time was over, but this message already on its way.
      false ->
        {:noreply, {idle, waiting}}

      waiting ->
        GenServer.reply(from, {:error, :no_connection})
        {:noreply, {idle, waiting}}
    end
  end

  defp next(waiting) do
    case Application.fetch_env!(:service, :order) do
      :fair -> :queue.out(waiting)
      :unfair -> :queue.out_r(waiting)
    end
  end
end
