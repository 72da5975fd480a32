// Serves the contender: what crosses into WebAssembly are strings and numbers, by the compiler's own bindings.
import { littleEndian } from "../../shared/client.mjs";
import { printVersion } from "../../shared/version.mjs";
import { work } from "../../shared/worker.mjs";
import { add, begin, end } from "./build/login.js";

function encode({ player, items }) {
  begin(
    items.length,
    player.uuid,
    player.name,
    player.level,
    player.experience,
    player.coins,
    player.gems,
    player.stamina,
    player.lastLoginAt,
  );
  for (const item of items) {
    add(
      item.uuid,
      item.itemId,
      item.count,
      item.level,
      item.flags,
      item.acquiredAt,
    );
  }
  return Buffer.from(end().buffer);
}

if (process.argv[2] === "--version") printVersion(import.meta.url);
else work("wasm", { format: "struct", encode, ...littleEndian });
