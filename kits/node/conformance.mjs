// A worker that does what it is told, for `kumite kit-test`.
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "./kumite-kit.mjs";

serve("node-conformance", async ({ params, event, metrics }) => {
  switch (params.do) {
    case "echo":
      return params.value;
    case "empty":
      return null;
    case "fail":
      throw new Error(params.message);
    case "sleep":
      await sleep(params.ms);
      return null;
    case "events":
      event("next", "one");
      await sleep(2);
      event("complete", "two");
      return null;
    case "metrics":
      metrics.answer_count = 42;
      return null;
    default:
      throw new Error(`nothing known to do: ${params.do}`);
  }
});
