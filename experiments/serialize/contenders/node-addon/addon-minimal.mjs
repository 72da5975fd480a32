import { littleEndian } from "../../shared/client.mjs";
import addon from "./addon.mjs";

export const format = "struct";

export function encode({ player, items }) {
  const parts = [addon.EncodePlayer(player)];
  for (const item of items) parts.push(addon.EncodeItem(item));
  return Buffer.concat(parts);
}

export const { decode, inspect, sumCounts } = littleEndian;
