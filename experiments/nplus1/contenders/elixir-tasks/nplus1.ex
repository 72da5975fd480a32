defmodule Nplus1 do
  @moduledoc "Students and their scores as streams; a task for each student."

  @scores [
    %{subject: "国語", score: 80},
    %{subject: "数学", score: 90},
    %{subject: "英語", score: 85},
    %{subject: "社会", score: 93},
    %{subject: "理科", score: 72}
  ]

  def main do
    {:ok, _} = Application.ensure_all_started(:inets)
    # As it comes, a request may wait for another on the same connection.
    :ok = :httpc.set_options(max_sessions: 100, max_keep_alive_length: 1)
    KumiteKit.serve("elixir-tasks", &scores_by_student/1)
  end

  defp scores_by_student(job) do
    KumiteKit.event(job, "subscribe", "students")

    tasks =
      for student <- arriving(Enum.map(1..job.params["students"], &to_string/1), job) do
        KumiteKit.event(job, "next", "student #{student}")
        Task.async(fn -> {student, scores_of(student, job)} end)
      end

    KumiteKit.event(job, "complete", "students")
    tasks |> Task.await_many(:infinity) |> Map.new()
  end

  defp scores_of(student, job) do
    KumiteKit.event(job, "subscribe", "student #{student}")

    scores =
      for score <- arriving(Enum.take(@scores, job.params["scores"]), job) do
        KumiteKit.event(job, "next", "score #{student} #{score.subject}")
        score
      end

    KumiteKit.event(job, "complete", "student #{student}")
    scores
  end

  defp arriving(items, %{params: %{"backend" => "timer", "delay_ms" => delay_ms}}),
    do: by_timer(items, delay_ms)

  defp arriving(items, %{params: %{"backend" => "http"}}), do: by_http(items)

  # The nth of these is due `n * delay_ms` after the beginning, so that late timers do not add up. The clock is read in
  # milliseconds, one added for what that cuts off, so that nothing comes early.
  defp by_timer(items, delay_ms) do
    begun_ms = System.monotonic_time(:millisecond) + 1

    items
    |> Stream.with_index(1)
    |> Stream.map(fn {item, n} ->
      Process.send_after(self(), {:due, n}, begun_ms + n * delay_ms, abs: true)

      receive do
        {:due, ^n} -> item
      end
    end)
  end

  defp by_http(items) do
    url = System.fetch_env!("BACKEND_URL")

    Stream.map(items, fn item ->
      {:ok, {200, _body}} = :httpc.request(:get, {url, []}, [], full_result: false)
      item
    end)
  end
end
