// Reads login data in the layout of schema.json: a player and then items, each a C struct. Made from the schema alone, so
// that no encoder is checked by its own offsets.
import { readFileSync } from "node:fs";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const text = (view, at, { bytes }) => {
  const field = new Uint8Array(view.buffer, view.byteOffset + at, bytes);
  const end = field.findLastIndex((byte) => byte !== 0) + 1;
  return utf8.decode(field.subarray(0, end));
};

const safe = (integer) => {
  const number = Number(integer);
  if (!Number.isSafeInteger(number))
    throw new Error(`${integer} is beyond what a double holds`);
  return number;
};

const types = {
  ascii: { align: 1, read: text },
  utf8: { align: 1, read: text },
  uint8: { align: 1, read: (view, at) => view.getUint8(at) },
  uint16: {
    align: 2,
    read: (view, at, _, little) => view.getUint16(at, little),
  },
  uint32: {
    align: 4,
    read: (view, at, _, little) => view.getUint32(at, little),
  },
  uint64: {
    align: 8,
    read: (view, at, _, little) => safe(view.getBigUint64(at, little)),
  },
  int64: {
    align: 8,
    read: (view, at, _, little) => safe(view.getBigInt64(at, little)),
  },
};

const roundUp = (offset, align) => Math.ceil(offset / align) * align;

/** The fields of a struct with their offsets, its size, and the offsets of its padding, by the rules of C. */
function layout(fields) {
  let end = 0;
  const padding = [];
  const pad = (to) => {
    while (end < to) padding.push(end++);
  };
  const placed = fields.map((field) => {
    const { align, read } = types[field.type];
    pad(roundUp(end, align));
    const offset = end;
    end += field.bytes ?? align;
    return { ...field, offset, read };
  });
  pad(roundUp(end, Math.max(...fields.map(({ type }) => types[type].align))));
  return { fields: placed, size: end, padding };
}

const schema = JSON.parse(
  readFileSync(new URL("schema.json", import.meta.url), "utf8"),
);
const player = layout(schema.player);
const item = layout(schema.item);

function decodeFields(struct, view, at, little) {
  const leak = struct.padding.find(
    (offset) => view.getUint8(at + offset) !== 0,
  );
  if (leak !== undefined)
    throw new Error(`padding at byte ${at + leak} is not zero`);
  return Object.fromEntries(
    struct.fields.map((field) => [
      field.name,
      field.read(view, at + field.offset, field, little),
    ]),
  );
}

/** A login from its struct, whose padding must be zero. */
export function decodeStruct(bytes, little) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = (bytes.length - player.size) / item.size;
  if (!Number.isInteger(count))
    throw new Error(`${bytes.length} bytes are no player and whole items`);
  return {
    player: decodeFields(player, view, 0, little),
    items: Array.from({ length: count }, (_, i) =>
      decodeFields(item, view, player.size + i * item.size, little),
    ),
  };
}
