// A function that starts a Go program for each call, and answers what that prints.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const execute = promisify(execFile);

export async function handler({ n }) {
  const { stdout } = await execute("child/fib", [String(n)]);
  return JSON.parse(stdout);
}
