// Serves an encoder of Node.js's in the runtime that this runs in.
import { work } from "../../shared/worker.mjs";
import * as dataview from "../node/js-dataview.mjs";
import * as string from "../node/json-string.mjs";
import * as stringify from "../node/json-stringify.mjs";

const codecs = {
  "js-dataview": dataview,
  "json-string": string,
  "json-stringify": stringify,
};

const runtime = globalThis.Bun
  ? `Bun ${Bun.version}`
  : `Deno ${Deno.version.deno}`;
const [wanted] = process.argv.slice(2);
if (wanted === "--version") {
  console.log(runtime);
} else if (codecs[wanted]) {
  const name = `${runtime.split(" ")[0].toLowerCase()}-${wanted}`;
  work(name, codecs[wanted], runtime);
} else {
  console.error(`usage: main.mjs ${Object.keys(codecs).join("|")}`);
  process.exit(2);
}
