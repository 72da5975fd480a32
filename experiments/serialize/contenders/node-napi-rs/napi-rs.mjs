// Serves the contender: all of it is in src/lib.rs.
import { createRequire } from "node:module";
import { littleEndian } from "../../shared/client.mjs";
import { work } from "../../shared/worker.mjs";

const { encode, version } = createRequire(import.meta.url)("./login.node");

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.versions.node}, ${version()}`);
} else {
  work("napi-rs", { format: "struct", encode, ...littleEndian });
}
