import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export async function handler(event) {
  const child = spawn("./child", [JSON.stringify(event)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [answer, [status]] = await Promise.all([
    text(child.stdout),
    once(child, "close"),
  ]);
  if (status !== 0) throw new Error(`the child ended with ${status}`);
  return JSON.parse(answer);
}
