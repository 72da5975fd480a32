defmodule Pong.Hedwig.Adapter do
  @moduledoc """
  The adapter to HTTP. A request is a room of its own: the process that waits there for an answer.
  """

  use Owl.Adapter

  @answer_wait_ms 500

  @impl true
  def init({robot, _options}) do
    adapter = self()

    case Pong.Http.listen(&answer(adapter, &1)) do
      :ok -> {:ok, robot}
      {:error, reason} -> {:stop, reason}
    end
  end

  # Runs in the request's process.
  defp answer(adapter, text) do
    GenServer.cast(adapter, {:hear, self(), text})

    receive do
      {:answer, text} -> {200, text}
    after
      @answer_wait_ms -> {400, "Bad Request"}
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
