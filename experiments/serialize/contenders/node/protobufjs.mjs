import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

export const format = "protobufjs";

const file = fileURLToPath(new URL("login.proto", import.meta.url));
const Login = protobuf.loadSync(file).lookupType("Login");

export const encode = (login) => Login.encode(login).finish();

export const decode = (bytes) =>
  Login.toObject(Login.decode(bytes), { longs: Number, defaults: true });

export function sumCounts(bytes) {
  let sum = 0;
  for (const { count } of Login.decode(bytes).items) sum += count;
  return sum;
}
