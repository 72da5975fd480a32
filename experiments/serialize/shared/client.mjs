// The client's side of the struct, as one writes it by hand for speed. What is read here is compared with the login, and
// what was written is read once more by struct.mjs, which knows nothing of these offsets.
import { decodeStruct } from "./struct.mjs";

const playerBytes = 104;
const itemBytes = 56;

/** What a codec needs besides `encode`, for answers in the one byte order or in the other. */
const client = (little) => ({
  decode: (bytes) => decode(bytes, little),
  sumCounts: (bytes) => sumCounts(bytes, little),
  inspect: (bytes) => decodeStruct(bytes, little),
});

export const littleEndian = client(true);
export const bigEndian = client(false);

const viewOf = (bytes) =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The whole login as objects. */
function decode(bytes, little) {
  const view = viewOf(bytes);
  const items = new Array((bytes.length - playerBytes) / itemBytes);
  for (let i = 0, at = playerBytes; i < items.length; i++, at += itemBytes) {
    items[i] = {
      uuid: bytes.toString("utf8", at, at + 36),
      itemId: view.getUint32(at + 36, little),
      count: view.getUint32(at + 40, little),
      level: view.getUint16(at + 44, little),
      flags: view.getUint8(at + 46),
      acquiredAt: getInt64(view, at + 48, little),
    };
  }
  return {
    player: {
      uuid: bytes.toString("utf8", 0, 36),
      name: bytes.toString("utf8", 36, endOfText(bytes, 36, 68)),
      level: view.getUint16(68, little),
      experience: getInt64(view, 72, little),
      coins: getInt64(view, 80, little),
      gems: view.getUint32(88, little),
      stamina: view.getUint16(92, little),
      lastLoginAt: getInt64(view, 96, little),
    },
    items,
  };
}

/** One field of every item: the sum of `count`. */
function sumCounts(bytes, little) {
  const view = viewOf(bytes);
  let sum = 0;
  for (let at = playerBytes + 40; at < bytes.length; at += itemBytes)
    sum += view.getUint32(at, little);
  return sum;
}

function endOfText(bytes, begin, end) {
  while (end > begin && bytes[end - 1] === 0) end--;
  return end;
}

// Whole numbers that a double holds, in two halves: a BigInt for each would be garbage.
function getInt64(view, at, little) {
  const high = view.getInt32(little ? at + 4 : at, little);
  const low = view.getUint32(little ? at : at + 4, little);
  return high * 2 ** 32 + low;
}
