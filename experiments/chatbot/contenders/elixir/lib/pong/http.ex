defmodule Pong.Http.Handler do
  @moduledoc "Runs in a process of its own for each request: puts it to the adapter and waits for the answer."

  @behaviour :cowboy_handler

  @message_bytes_max 4096
  @answer_wait_ms 500

  @impl true
  def init(request, adapter) do
    request =
      case :cowboy_req.read_body(request, %{length: @message_bytes_max}) do
        {:ok, text, request} ->
          Pong.Http.hear(adapter, text)
          {status, answer} = await_answer()
          reply(request, status, answer)

        {:more, _, request} ->
          reply(request, 413, "Content Too Large")
      end

    {:ok, request, adapter}
  end

  defp await_answer do
    receive do
      {:answer, text} -> {200, text}
    after
      @answer_wait_ms -> {400, "Bad Request"}
    end
  end

  defp reply(request, status, text) do
    :cowboy_req.reply(status, %{"content-type" => "text/plain"}, text, request)
  end
end
