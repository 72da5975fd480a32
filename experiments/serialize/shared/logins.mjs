// The test data: logins as a database driver hands them over, the same for the same seed.
import { createHash } from "node:crypto";

// At most 32 bytes in UTF-8. Among them are what JSON has to escape, characters beyond the BMP, and some that fill the field
// to its last byte. V8 keeps a text at one byte a character if all of it is Latin-1, else at two.
const allNames = {
  ascii: [
    "takeswim",
    'Bob "the \\ bot"',
    "abcdefghijklmnopqrstuvwxyz012345",
    "x",
    "tab\tand\nline",
  ],
  "latin-1": ["Zoë Müller-Åström", "éèêëàâäùûüîïôöçÉ", "ß", 'le "bot" \\ été'],
  "two-byte": [
    "勇者たかし",
    "𠮷田🐉",
    'ボブ "the \\ bot"',
    "さくらもちだいふくAB",
    "🐱🐶🐭🐹🐰🦊🐻🐼",
    "Ж",
    "Łukasz Müller-Åström",
    "abcdefghijklmnopqrstuvwxyz0123Ж",
    "Αλέξανδρος",
    "김철수\t1",
  ],
};

/** Logins as the parameters of a job say: how many, with how many items, from which seed, with which names. */
export function makeLogins({ logins: count, items, seed, names }) {
  const choice = allNames[names];
  const logins = Array.from({ length: count }, (_, i) =>
    makeLogin(items, `${seed} ${items} ${i}`, choice[i % choice.length], i),
  );
  // A fresh copy has flat strings, as those that come off a socket are.
  return JSON.parse(JSON.stringify(logins));
}

/** How often a job encodes: whole passes over its logins, with about as many items in all as it is told. */
export const encodingsOf = ({ job_items, logins, items }) =>
  logins * Math.max(1, Math.round(job_items / (logins * items)));

function makeLogin(items, seed, name, i) {
  const draw = random(64 + 46 * items, seed);
  return {
    player: {
      uuid: draw.uuid(),
      name,
      level: draw.from(1, 999),
      // Every tenth player has about the most that a double can count by ones; avsc takes one less than others.
      experience:
        i % 10 === 9 ? Number.MAX_SAFE_INTEGER - 1 : draw.from(0, 1e12),
      coins: draw.from(0, 1e10),
      gems: draw.from(0, 2 ** 32 - 1),
      stamina: draw.from(0, 200),
      lastLoginAt: draw.from(Date.UTC(2016, 0), Date.UTC(2017, 0)),
    },
    items: Array.from({ length: items }, () => ({
      uuid: draw.uuid(),
      itemId: draw.from(1, 100_000),
      count: draw.from(1, 999),
      level: draw.from(1, 99),
      flags: draw.from(0, 255),
      acquiredAt: draw.from(Date.UTC(2015, 0), Date.UTC(2017, 0)),
    })),
  };
}

/** Draws from `length` bytes that only the seed decides. */
function random(length, seed) {
  const bytes = createHash("shake256", { outputLength: length })
    .update(seed)
    .digest();
  let at = 0;
  return {
    uuid() {
      const id = bytes.subarray(at, (at += 16));
      id[6] = (id[6] & 0x0f) | 0x40;
      id[8] = (id[8] & 0x3f) | 0x80;
      const hex = id.toString("hex");
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        hex.slice(12, 16),
        hex.slice(16, 20),
        hex.slice(20),
      ].join("-");
    },
    /** A whole number from `low` to `high`. */
    from(low, high) {
      const share = bytes.readUIntLE(at, 6) / 2 ** 48;
      at += 6;
      return low + Math.floor(share * (high - low + 1));
    },
  };
}
