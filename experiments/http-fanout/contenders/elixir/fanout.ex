defmodule Fanout do
  @moduledoc "Asks a backend many times, one after another or all at once: a task for whatever runs at the same time."

  def main do
    {:ok, backend} = Http.start_link(System.fetch_env!("BACKEND_URL"))
    KumiteKit.serve("elixir", &fan_outs(backend, &1.params))
  end

  defp fan_outs(backend, %{"form" => form, "jobs" => jobs, "requests" => requests}) do
    bodies = all(jobs, fn -> fan_out(form, backend, requests) end)
    fn -> Enum.map(bodies, &Enum.frequencies/1) end
  end

  defp fan_out("sequential", backend, requests), do: for(_ <- 1..requests, do: get(backend))
  defp fan_out("parallel", backend, requests), do: all(requests, fn -> get(backend) end)

  defp get(backend) do
    {200, body} = Http.get(backend)
    body
  end

  defp all(times, run) do
    tasks = for _ <- 1..times, do: Task.async(run)
    Task.await_many(tasks, :infinity)
  end
end
