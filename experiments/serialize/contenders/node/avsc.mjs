import avro from "avsc";

export const format = "avsc";

const type = avro.Type.forSchema({
  type: "record",
  name: "Login",
  fields: [
    {
      name: "player",
      type: {
        type: "record",
        name: "Player",
        fields: [
          { name: "uuid", type: "string" },
          { name: "name", type: "string" },
          { name: "level", type: "int" },
          { name: "experience", type: "long" },
          { name: "coins", type: "long" },
          { name: "gems", type: "long" },
          { name: "stamina", type: "int" },
          { name: "lastLoginAt", type: "long" },
        ],
      },
    },
    {
      name: "items",
      type: {
        type: "array",
        items: {
          type: "record",
          name: "Item",
          fields: [
            { name: "uuid", type: "string" },
            { name: "itemId", type: "long" },
            { name: "count", type: "long" },
            { name: "level", type: "int" },
            { name: "flags", type: "int" },
            { name: "acquiredAt", type: "long" },
          ],
        },
      },
    },
  ],
});

export const encode = (login) => type.toBuffer(login);
export const decode = (bytes) => type.fromBuffer(bytes);

export function sumCounts(bytes) {
  let sum = 0;
  for (const { count } of decode(bytes).items) sum += count;
  return sum;
}
