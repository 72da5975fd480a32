defmodule KumiteKit do
  @moduledoc "The task protocol of kumite: JSON lines on stdin and stdout. See README.md."

  @line_bytes_max 16 * 1024 * 1024

  defstruct [:params, :begun_ns, :events]

  @doc """
  Serves jobs until stdin ends, then stops the system.

  `work` is given a job with its `params` and returns the result, or `{result, metrics}`. If the result is a function, it
  is called after the clock has stopped, and what it returns is the result. Each job runs in a process of its own.
  """
  def serve(name, work, runtime \\ "Elixir #{System.version()}, OTP #{System.otp_release()}") do
    # Whatever is printed or logged belongs to the log.
    Process.group_leader(self(), Process.whereis(:standard_error))
    Application.stop(:logger)
    Application.put_env(:logger, :console, device: :standard_error)
    Application.put_env(:logger, :default_handler, config: [type: :standard_error])
    Application.start(:logger)

    # A port of its own, not the io server: that one decodes and encodes every character.
    port = Port.open({:fd, 0, 1}, [:binary, :eof, line: @line_bytes_max])
    loop(%{port: port, name: name, runtime: runtime, work: work, running: %{}, ended: false})
  end

  @doc "Records an event of this scheduler, or of the thread named, if `params.events` is true."
  def event(job, kind, id, thread \\ nil)
  def event(%{events: nil}, _kind, _id, _thread), do: true

  def event(job, kind, id, thread) do
    at_ns = System.monotonic_time(:nanosecond) - job.begun_ns
    thread = thread || "scheduler #{:erlang.system_info(:scheduler_id)}"
    :ets.insert(job.events, {at_ns, thread, kind, id})
  end

  defp loop(%{ended: true, running: running}) when running == %{}, do: System.halt(0)

  defp loop(%{port: port} = state) do
    receive do
      {^port, {:data, {:eol, line}}} -> loop(take(state, parse(line), line))
      # The end of stdin in the middle of a line.
      {^port, {:data, {:noeol, _}}} -> loop(state)
      {^port, :eof} -> loop(%{state | ended: true})
      {:DOWN, ref, :process, _, reason} -> loop(finish(state, ref, reason))
    end
  end

  defp take(state, %{"hello" => 1}, _line) do
    cores = System.schedulers_online()
    pid = String.to_integer(System.pid())
    say(state, %{hello: 1, name: state.name, runtime: state.runtime, pid: pid, cores: cores})
  end

  defp take(state, %{"job" => job, "params" => %{} = params}, _line)
       when is_integer(job) and job in 1..0x1FFFFFFFFFFFFF do
    {_, ref} = spawn_monitor(fn -> exit({:shutdown, {:answer, run(job, params, state)}}) end)
    put_in(state.running[ref], job)
  end

  defp take(_state, _, line) do
    IO.puts(:stderr, "not a request: #{inspect(binary_part(line, 0, min(200, byte_size(line))))}")
    System.halt(2)
  end

  defp finish(state, ref, reason) do
    {job, state} = pop_in(state.running[ref])

    case reason do
      {:shutdown, {:answer, answer}} -> say(state, answer)
      _ -> say(state, :jsx.encode(%{job: job, error: one_line(reason)}))
    end
  end

  defp run(job, params, state) do
    events = if params["events"] == true, do: :ets.new(:events, [:public, :duplicate_bag])
    begun_ns = System.monotonic_time(:nanosecond)
    returned = state.work.(%KumiteKit{params: params, begun_ns: begun_ns, events: events})
    elapsed_ns = System.monotonic_time(:nanosecond) - begun_ns
    say(state, %{done: job})

    {result, metrics} = if is_tuple(returned), do: returned, else: {returned, %{}}
    result = if is_function(result), do: result.(), else: result
    result = if is_nil(result), do: :null, else: result
    answer = %{job: job, elapsed_ns: elapsed_ns, result: result, metrics: metrics}
    :jsx.encode(if events, do: Map.put(answer, :events, all(events)), else: answer)
  end

  defp all(events), do: for(event <- Enum.sort(:ets.tab2list(events)), do: Tuple.to_list(event))

  defp parse(line) do
    :jsx.decode(line, [:return_maps])
  rescue
    _ -> nil
  end

  defp say(state, %{} = answer), do: say(state, :jsx.encode(answer))

  defp say(state, answer) do
    Port.command(state.port, [answer, "\n"])
    state
  end

  defp one_line({error, [{_, _, _, _} | _] = stack}),
    do: one_line(Exception.format_banner(:error, error, stack))

  defp one_line(text) when is_binary(text), do: text |> String.split() |> Enum.join(" ")
  defp one_line(reason), do: one_line(Exception.format_exit(reason))
end
