import { Packr } from "msgpackr";

export const format = "msgpackr";

// A Packr of one's own writes the keys of like objects once in a message, as a record.
const packr = new Packr();

export const encode = (login) => packr.pack(login);
export const decode = (bytes) => packr.unpack(bytes);

export function sumCounts(bytes) {
  let sum = 0;
  for (const { count } of decode(bytes).items) sum += count;
  return sum;
}
