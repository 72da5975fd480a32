# A worker that does what it is told, for `kumite kit-test`.
KumiteKit.serve("elixir-conformance", fn %{params: params} = job ->
  case params["do"] do
    "echo" ->
      params["value"]

    "empty" ->
      nil

    "fail" ->
      raise params["message"]

    "sleep" ->
      Process.sleep(params["ms"])
      nil

    "events" ->
      KumiteKit.event(job, "next", "one")
      Process.sleep(2)
      KumiteKit.event(job, "complete", "two")
      nil

    "metrics" ->
      {nil, %{answer_count: 42}}
  end
end)
