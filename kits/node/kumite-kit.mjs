// The task protocol of kumite for Node.js: JSON lines on stdin and stdout. See README.md.
import { Console } from "node:console";
import { availableParallelism } from "node:os";

/**
 * Serves jobs until stdin ends.
 *
 * `work` is given `{ params, event, metrics }` and returns the result, or a promise of it. If that is a function, it is
 * called after the clock has stopped, and what it returns is the result. `event(kind, id, thread = 'main')` records an
 * event if `params.events` is true, and does nothing otherwise. Numbers put into `metrics` go into the answer.
 *
 * @param {string} name what the contender calls itself
 * @param {(job: {params: any, event: Function, metrics: Record<string, number>}) => any} work
 * @param {string} runtime the runtime and its version
 */
export async function serve(
  name,
  work,
  runtime = `Node.js ${process.versions.node}`,
) {
  // Whatever a library prints belongs to the log.
  globalThis.console = new Console(process.stderr);

  const running = new Set();
  for await (const line of lines(process.stdin)) {
    const request = parse(line);
    if (request.hello) {
      const cores = availableParallelism();
      say(JSON.stringify({ hello: 1, name, runtime, pid: process.pid, cores }));
    } else {
      const answered = run(request, work).then(say);
      running.add(answered);
      answered.finally(() => running.delete(answered));
    }
  }
  await Promise.all(running);
  process.exit(0);
}

async function run({ job, params }, work) {
  const events = params.events === true ? [] : undefined;
  const metrics = {};
  let begun;
  const event = (kind, id, thread = "main") =>
    events?.push([Number(process.hrtime.bigint() - begun), thread, kind, id]);

  try {
    begun = process.hrtime.bigint();
    let result = await work({ params, event, metrics });
    const elapsed_ns = Number(process.hrtime.bigint() - begun);
    say(`{"done":${job}}`);
    if (typeof result === "function") result = await result();
    return JSON.stringify({
      job,
      elapsed_ns,
      result: result ?? null,
      metrics,
      events,
    });
  } catch (error) {
    console.error(error);
    return JSON.stringify({
      job,
      error: String(error?.message || error).replace(/\s+/g, " "),
    });
  }
}

// Not node:readline, which ends a line at U+2028 and U+2029 too: JSON may hold them as they are.
async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end; (end = chunk.indexOf("\n", from)) >= 0; from = end + 1) {
      parts.push(chunk.subarray(from, end));
      yield Buffer.concat(parts);
      parts = [];
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
}

function parse(line) {
  try {
    const request = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(line),
    );
    if (request.hello === 1) return request;
    if (
      Number.isSafeInteger(request.job) &&
      request.job > 0 &&
      isRecord(request.params)
    ) {
      return request;
    }
  } catch {}
  console.error(`not a request: ${line.subarray(0, 200)}`);
  process.exit(2);
}

function isRecord(value) {
  return value instanceof Object && !Array.isArray(value);
}

// On Linux a write to a pipe is done when this returns.
function say(line) {
  process.stdout.write(line + "\n");
}
