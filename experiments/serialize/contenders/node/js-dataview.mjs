import { littleEndian } from "../../shared/client.mjs";

export const format = "struct";

const playerBytes = 104;
const itemBytes = 56;

export function encode({ player, items }) {
  // Zeroed, for the padding and the rest of the name.
  const bytes = Buffer.alloc(playerBytes + items.length * itemBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

  writeAscii(bytes, 0, player.uuid);
  bytes.write(player.name, 36, 32);
  view.setUint16(68, player.level, true);
  setInt64(view, 72, player.experience);
  setInt64(view, 80, player.coins);
  view.setUint32(88, player.gems, true);
  view.setUint16(92, player.stamina, true);
  setInt64(view, 96, player.lastLoginAt);

  let at = playerBytes;
  for (const item of items) {
    writeAscii(bytes, at, item.uuid);
    view.setUint32(at + 36, item.itemId, true);
    view.setUint32(at + 40, item.count, true);
    view.setUint16(at + 44, item.level, true);
    view.setUint8(at + 46, item.flags);
    setInt64(view, at + 48, item.acquiredAt);
    at += itemBytes;
  }
  return bytes;
}

function writeAscii(bytes, at, text) {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}

// Whole numbers that a double holds, in two halves: a BigInt for each would be garbage.
function setInt64(view, at, number) {
  view.setUint32(at, number, true);
  view.setInt32(at + 4, Math.floor(number / 2 ** 32), true);
}

export const { decode, inspect, sumCounts } = littleEndian;
