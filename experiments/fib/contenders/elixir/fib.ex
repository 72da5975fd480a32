defmodule Fib do
  @moduledoc "A function that computes a Fibonacci number, doubly recursive."

  def main, do: RuntimeApi.serve(System.fetch_env!("AWS_LAMBDA_RUNTIME_API"), &handle/1)

  defp handle(%{"n" => n}) do
    fib(n)
    begun_ns = System.monotonic_time(:nanosecond)
    result = fib(n)
    elapsed_ns = System.monotonic_time(:nanosecond) - begun_ns
    %{n: n, fib: result, elapsed_ms: elapsed_ns / 1_000_000}
  end

  defp fib(n) when n < 2, do: n
  defp fib(n), do: fib(n - 1) + fib(n - 2)
end
