// Asks a backend many times, one after another or all at once, with the fetch that the runtime has.
import { serve } from "../../../../kits/node/kumite-kit.mjs";

const FAN_OUTS = { sequential, parallel };

const url = process.env.BACKEND_URL;
const runtime = globalThis.Bun
  ? `Bun ${Bun.version}`
  : `Deno ${Deno.version.deno}`;

if (process.argv[2] === "--version") {
  console.log(runtime);
} else {
  serve(runtime.split(" ")[0].toLowerCase(), fanOuts, runtime);
}

async function fanOuts({ params: { form, jobs, requests } }) {
  const fanOut = FAN_OUTS[form];
  if (!fanOut)
    throw new Error(`form ${form} is neither sequential nor parallel`);
  const bodies = await Promise.all(
    Array.from({ length: jobs }, () => fanOut(requests)),
  );
  return () => bodies.map(counted);
}

async function sequential(requests) {
  const bodies = [];
  while (bodies.length < requests) bodies.push(await get());
  return bodies;
}

function parallel(requests) {
  return Promise.all(Array.from({ length: requests }, get));
}

async function get() {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return text;
}

function counted(bodies) {
  const counts = {};
  for (const body of bodies) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
}
