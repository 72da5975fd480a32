import { deserialize, serialize } from "node:v8";

export const format = "v8-serialize";

export const encode = serialize;
export const decode = deserialize;

export function sumCounts(bytes) {
  let sum = 0;
  for (const { count } of decode(bytes).items) sum += count;
  return sum;
}
