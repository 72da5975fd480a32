export const format = "json";

export const encode = (login) => Buffer.from(JSON.stringify(login));

export const decode = (bytes) => JSON.parse(bytes.toString());

export function sumCounts(bytes) {
  let sum = 0;
  for (const { count } of decode(bytes).items) sum += count;
  return sum;
}
