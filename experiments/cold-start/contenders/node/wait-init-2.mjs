// Sleeps where the module is loaded: that is a function's constructor here.
import { setTimeout as sleep } from "node:timers/promises";

const loaded = performance.now();
const sinceLoad = () => (performance.now() - loaded).toFixed();
let count = 0;

console.log(`constructor entered: ${sinceLoad()} ms`);
await sleep(Number(process.env.SHORT_SLEEP_MS));
console.log(`constructor left: ${sinceLoad()} ms`);

export async function handler() {
  count++;
  return { handler: "wait-init-2", count };
}
