import { littleEndian } from "../../shared/client.mjs";
import addon from "./addon.mjs";

export const format = "struct";

const playerBytes = 104;
const itemBytes = 56;

export function encode(login) {
  const bytes = Buffer.allocUnsafe(
    playerBytes + login.items.length * itemBytes,
  );
  addon.EncodeLoginInto(bytes, login);
  return bytes;
}

export const { decode, inspect, sumCounts } = littleEndian;
