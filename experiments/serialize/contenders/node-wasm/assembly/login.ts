// Login data as the client's C structs. A struct's memory is written field by field, at the offsets that C would give.

const PLAYER_BYTES = 104;
const ITEM_BYTES = 56;

let bytes = new Uint8Array(0);
let at: usize = 0;

export function begin(
  items: i32,
  uuid: string,
  name: string,
  level: u16,
  experience: f64,
  coins: f64,
  gems: u32,
  stamina: u16,
  lastLoginAt: f64,
): void {
  bytes = new Uint8Array(PLAYER_BYTES + items * ITEM_BYTES);
  at = bytes.dataStart;
  text(uuid, at, 36);
  text(name, at + 36, 32);
  store<u16>(at, level, 68);
  store<i64>(at, <i64>experience, 72);
  store<i64>(at, <i64>coins, 80);
  store<u32>(at, gems, 88);
  store<u16>(at, stamina, 92);
  store<i64>(at, <i64>lastLoginAt, 96);
  at += PLAYER_BYTES;
}

export function add(
  uuid: string,
  itemId: u32,
  count: u32,
  level: u16,
  flags: u8,
  acquiredAt: f64,
): void {
  if (at + ITEM_BYTES > bytes.dataStart + bytes.length) {
    throw new RangeError("more items than were announced");
  }
  text(uuid, at, 36);
  store<u32>(at, itemId, 36);
  store<u32>(at, count, 40);
  store<u16>(at, level, 44);
  store<u8>(at, flags, 46);
  store<i64>(at, <i64>acquiredAt, 48);
  at += ITEM_BYTES;
}

export function end(): Uint8Array {
  return bytes;
}

function text(value: string, to: usize, size: i32): void {
  if (String.UTF8.byteLength(value) > size) {
    throw new RangeError("a text is longer than its field");
  }
  String.UTF8.encodeUnsafe(changetype<usize>(value), value.length, to);
}
