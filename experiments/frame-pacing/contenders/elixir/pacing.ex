defmodule Pacing do
  @moduledoc "Writes states when they are due: for each, a timer sends a message to the process that writes."

  @line_bytes_max 65_536

  def version, do: IO.puts("Elixir #{System.version()}, Erlang/OTP #{System.otp_release()}")

  def main do
    # A port of its own, not the io server: that one decodes and encodes every character.
    port = Port.open({:fd, 0, 1}, [:binary, :eof, line: @line_bytes_max])
    Port.command(port, "ready\n")
    serve(port)
  end

  defp serve(port) do
    case read_line(port) do
      :eof -> System.halt(0)
      "play absolute " <> count -> port |> read_states(String.to_integer(count)) |> play(port)
      line -> fail("not 'play absolute N': #{line}")
    end

    serve(port)
  end

  defp play(states, port) do
    start_ns = System.monotonic_time(:nanosecond)

    for {due_ns, line} <- states do
      wait(start_ns, due_ns)
      Port.command(port, line)
    end
  end

  # The first is written at once.
  defp wait(_start_ns, 0), do: :ok

  # Timers have whole milliseconds: the next one, so that nothing comes early. From the start, so that late timers do not
  # add up.
  defp wait(start_ns, due_ns) do
    due_ms = Integer.floor_div(start_ns + due_ns, 1_000_000) + 1
    Process.send_after(self(), :due, due_ms, abs: true)

    receive do
      :due -> :ok
    end
  end

  defp read_states(port, count) do
    for _ <- 1..count//1 do
      with line when is_binary(line) <- read_line(port),
           {due_ns, " " <> state} <- Integer.parse(line) do
        {due_ns, state <> "\n"}
      else
        :eof -> fail("the input has ended within a play of #{count} states")
        _ -> fail("not 'OFFSET_NS STATE', in a play of #{count} states")
      end
    end
  end

  defp read_line(port) do
    receive do
      {^port, {:data, {:eol, line}}} ->
        line

      {^port, {:data, {:noeol, _}}} ->
        fail("a line without an end, or of more than #{@line_bytes_max} bytes")

      {^port, :eof} ->
        :eof
    end
  end

  defp fail(what) do
    IO.puts(:stderr, "pacing: #{what}")
    System.halt(1)
  end
end
