// Sleeps in the handler.
import { setTimeout as sleep } from "node:timers/promises";

const loaded = performance.now();
const sinceLoad = () => performance.now() - loaded;
let count = 0;

export async function handler() {
  count++;
  const sinceLoadMs = sinceLoad();
  console.log(`before wait: ${sinceLoadMs.toFixed()} ms`);
  await sleep(Number(process.env.HANDLER_SLEEP_MS));
  console.log(`after wait: ${sinceLoad().toFixed()} ms`);
  return { handler: "wait-handler", since_load_ms: sinceLoadMs, count };
}
