// Plays what it is told on standard input: writes each state when it is due.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const STDOUT = 1;

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.version}`);
} else {
  const input = createInterface({ input: process.stdin });
  await serve(input[Symbol.asyncIterator]());
}

async function serve(lines) {
  writeSync(STDOUT, "ready\n");
  for await (const command of lines) {
    const count = /^play absolute (\d+)$/.exec(command)?.[1];
    if (!count) {
      console.error(`expected 'play absolute N', got '${command}'`);
      process.exit(1);
    }
    await play(await states(lines, Number(count)));
  }
}

async function states(lines, count) {
  const states = [];
  while (states.length < count) {
    const { value: state, done } = await lines.next();
    if (done) throw new Error(`expected ${count} states, got ${states.length}`);
    const space = state.indexOf(" ");
    const offset_ms = Number(state.slice(0, space)) / 1e6;
    states.push({
      offset_ms,
      line: Buffer.from(`${state.slice(space + 1)}\n`),
    });
  }
  return states;
}

async function play(states) {
  const start = performance.now();
  for (const { offset_ms, line } of states) {
    await until(start + offset_ms);
    writeSync(STDOUT, line);
  }
}

// Timers take whole milliseconds and may fire almost two early: then there is another, for what is left.
async function until(due) {
  for (let left; (left = due - performance.now()) > 0; ) await sleep(left);
}
