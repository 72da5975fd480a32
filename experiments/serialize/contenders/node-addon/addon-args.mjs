import { littleEndian } from "../../shared/client.mjs";
import addon from "./addon.mjs";

export const format = "struct";

export function encode({ player, items }) {
  addon.Begin(
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
    addon.Add(
      item.uuid,
      item.itemId,
      item.count,
      item.level,
      item.flags,
      item.acquiredAt,
    );
  }
  return addon.End();
}

export const { decode, inspect, sumCounts } = littleEndian;
