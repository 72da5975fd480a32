// Asks a backend many times, one after another or all at once, with undici.
import undiciPackage from "undici/package.json" with { type: "json" };
import { request } from "undici";
import { serve } from "../../../../kits/node/kumite-kit.mjs";

const FAN_OUTS = { sequential, parallel };

const url = process.env.BACKEND_URL;

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.version}, undici ${undiciPackage.version}`);
} else {
  serve("node", fanOuts);
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
  const { statusCode, body } = await request(url);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${url} answers ${statusCode}`);
  return text;
}

function counted(bodies) {
  const counts = {};
  for (const body of bodies) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
}
