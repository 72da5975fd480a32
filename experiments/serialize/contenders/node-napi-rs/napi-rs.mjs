// Serves the contender: all of it is in src/lib.rs.
import { createRequire } from "node:module";
import { littleEndian } from "../../shared/struct.mjs";
import { work } from "../../shared/worker.mjs";

const { encode } = createRequire(import.meta.url)("./login.node");

work("napi-rs", { format: "struct", encode, ...littleEndian });
