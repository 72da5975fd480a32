// JSON.stringify and no more: a string, which something else has yet to turn into bytes.
import { decode, format, sumCounts } from "./json-stringify.mjs";

export { decode, format, sumCounts };

export const encode = (login) => JSON.stringify(login);
export const toBytes = (text) => Buffer.from(text);
