// A stringifier that is made from a schema, once: it writes the keys as they are, and looks for none that it does not know.
import fastJsonStringify from "fast-json-stringify";
import { decode, format, sumCounts } from "./json-stringify.mjs";

export { decode, format, sumCounts };

const text = { type: "string" };
const integer = { type: "integer" };
const object = (properties) => ({ type: "object", properties });

const stringify = fastJsonStringify(
  object({
    player: object({
      uuid: text,
      name: text,
      level: integer,
      experience: integer,
      coins: integer,
      gems: integer,
      stamina: integer,
      lastLoginAt: integer,
    }),
    items: {
      type: "array",
      items: object({
        uuid: text,
        itemId: integer,
        count: integer,
        level: integer,
        flags: integer,
        acquiredAt: integer,
      }),
    },
  }),
);

export const encode = (login) => Buffer.from(stringify(login));
