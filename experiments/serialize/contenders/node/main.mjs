// Serves the contender that is named: one file each, beside this one.
import { printVersion } from "../../shared/version.mjs";
import { work } from "../../shared/worker.mjs";

const names = [
  "avsc",
  "bre",
  "fast-json-stringify",
  "flatbuffers",
  "js-dataview",
  "json-string",
  "json-stringify",
  "msgpackr",
  "protobufjs",
  "v8-serialize",
];
const load = (name) => import(`./${name}.mjs`);

const [wanted] = process.argv.slice(2);
if (wanted === "--version") {
  await Promise.all(names.map(load));
  printVersion(import.meta.url);
} else if (names.includes(wanted)) {
  work(wanted, await load(wanted));
} else {
  console.error(`usage: node main.mjs ${names.join("|")}`);
  process.exit(2);
}
