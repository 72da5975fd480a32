import bre from "bre";
import textEncoder from "bre/lib/text-encoders/buffer.js";
import { bigEndian } from "../../shared/client.mjs";

export const format = "struct-be";

bre.setTextEncoder(textEncoder);

// There is no type of 64 bits: two of 32, the high one first, are the same bytes.
const int64 = (name) => [
  { type: "int32", name: `${name}High` },
  { type: "uint32", name: `${name}Low` },
];

const Player = bre.defineObjectRecord("Player", [
  { type: "ascii(36)", name: "uuid" },
  { type: "utf8(32)", name: "name" },
  { type: "uint16", name: "level" },
  { skip: 16 },
  ...int64("experience"),
  ...int64("coins"),
  { type: "uint32", name: "gems" },
  { type: "uint16", name: "stamina" },
  { skip: 16 },
  ...int64("lastLoginAt"),
]);

const Item = bre.defineObjectRecord("Item", [
  { type: "ascii(36)", name: "uuid" },
  { type: "uint32", name: "itemId" },
  { type: "uint32", name: "count" },
  { type: "uint16", name: "level" },
  { type: "uint8", name: "flags" },
  { skip: 8 },
  ...int64("acquiredAt"),
]);

const high = (number) => Math.floor(number / 2 ** 32);
const low = (number) => number >>> 0;

export function encode({ player, items }) {
  const bytes = Buffer.alloc(
    Player.byteLength + items.length * Item.byteLength,
  );

  const record = Player.view(bytes, 0);
  record.uuid = player.uuid;
  record.name = player.name;
  record.level = player.level;
  record.experienceHigh = high(player.experience);
  record.experienceLow = low(player.experience);
  record.coinsHigh = high(player.coins);
  record.coinsLow = low(player.coins);
  record.gems = player.gems;
  record.stamina = player.stamina;
  record.lastLoginAtHigh = high(player.lastLoginAt);
  record.lastLoginAtLow = low(player.lastLoginAt);

  let at = Player.byteLength;
  for (const item of items) {
    const record = Item.view(bytes, at);
    record.uuid = item.uuid;
    record.itemId = item.itemId;
    record.count = item.count;
    record.level = item.level;
    record.flags = item.flags;
    record.acquiredAtHigh = high(item.acquiredAt);
    record.acquiredAtLow = low(item.acquiredAt);
    at += Item.byteLength;
  }
  return bytes;
}

export const { decode, inspect, sumCounts } = bigEndian;
