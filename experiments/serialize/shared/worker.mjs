// What every contender of this experiment is around its encoder: a worker that encodes logins, times that, and compares
// every byte that came out.
import { GCProfiler, getHeapStatistics } from "node:v8";
import { serve } from "../../../kits/node/kumite-kit.mjs";
import { difference } from "./difference.mjs";
import { encodingsOf, makeLogins } from "./logins.mjs";

/** How long each way to decode is measured in a job, at least. */
const decodeForMs = 5;

/**
 * Serves jobs with a codec:
 * - `encode(login)` gives a Buffer of its own, which stays as it is when the next login is encoded. What gives something
 *   else has a `toBytes` for it, which is not timed.
 * - `decode(bytes)` gives the login back.
 * - `sumCounts(bytes)` reads `count` of every item, as cheaply as the format allows.
 * - `inspect(bytes)`, if there is one, gives the login back too, and throws at what `decode` need not look at.
 * - `format` is what the checker knows it by.
 */
export function work(name, codec, runtime) {
  let known;
  const job = ({ params, metrics }) => {
    const { logins, items, seed, names } = params;
    const key = JSON.stringify([logins, items, seed, names]);
    if (known?.key !== key)
      known = { key, jobs: 0, ...encodeOnce(codec, params) };

    const encodings = encodingsOf(params);
    measureEncoding(codec, known, encodings, metrics);
    metrics.encodings = encodings;
    metrics.answer_bytes =
      sum(known.answers.map((answer) => answer.length)) / logins;

    // Another login in each job, so that the lab sees them all.
    const login = known.jobs++ % logins;
    return () => {
      measureDecoding(
        codec,
        known.logins[login],
        known.answers[login],
        metrics,
      );
      // Tenths of a nanosecond: what comes after them is noise, and the record has it for every job.
      for (const what in metrics)
        metrics[what] = Math.round(metrics[what] * 10) / 10;
      const bytes = known.answers[login].toString("base64");
      return {
        format: codec.format,
        compared: encodings,
        sample: { login, bytes },
      };
    };
  };
  serve(name, job, runtime);
}

const asItIs = (bytes) => bytes;

/** The logins, and an answer to each that was decoded and found equal: what all later ones are compared with. */
function encodeOnce(
  { encode, toBytes = asItIs, decode, inspect = decode },
  params,
) {
  const logins = makeLogins(params);
  const answers = logins.map((login) => toBytes(encode(login)));
  for (const [i, answer] of answers.entries()) {
    const found =
      difference(inspect(answer), logins[i]) ??
      difference(decode(answer), logins[i]);
    if (found) throw new Error(`login ${i}: ${found}`);
  }
  return { logins, answers };
}

/** Passes over the logins: the encoding of each pass is timed, then its outputs are compared. */
function measureEncoding(
  { encode, toBytes = asItIs },
  { logins, answers },
  encodings,
  metrics,
) {
  const passes = encodings / logins.length;
  const outputs = new Array(logins.length);
  let elapsed = 0;
  const garbage = watchGarbage();
  for (let pass = 0; pass < passes; pass++) {
    const begun = performance.now();
    for (let i = 0; i < logins.length; i++) outputs[i] = encode(logins[i]);
    elapsed += performance.now() - begun;

    for (let i = 0; i < logins.length; i++) {
      if (!answers[i].equals(toBytes(outputs[i])))
        throw new Error(`login ${i} was encoded in two ways`);
    }
  }
  metrics.encode_ns = (elapsed * 1e6) / encodings;
  const found = garbage();
  for (const what in found) metrics[what] = found[what] / encodings;
}

/** Looks at V8's heap from now on: what is returned gives what has been collected and allocated since. */
function watchGarbage() {
  // Their functions of the same names count otherwise.
  if (process.versions.bun || process.versions.deno) return () => ({});

  const usedBefore = getHeapStatistics().used_heap_size;
  const gc = new GCProfiler();
  gc.start();
  return () => {
    const collections = gc.stop().statistics;
    const usedAfter = getHeapStatistics().used_heap_size;
    const used = ({ heapStatistics }) => heapStatistics.usedHeapSize;
    const freed = sum(
      collections.map(
        ({ beforeGC, afterGC }) => used(beforeGC) - used(afterGC),
      ),
    );
    return {
      // The profiler counts microseconds.
      gc_ns: sum(collections.map(({ cost }) => cost)) * 1e3,
      // What is in use grows by what is allocated, and shrinks only by what is collected.
      allocated_bytes: usedAfter - usedBefore + freed,
    };
  };
}

function measureDecoding({ decode, sumCounts }, login, answer, metrics) {
  const all = timed(() => decode(answer));
  const found = difference(all.value, login);
  if (found) throw new Error(`decoded: ${found}`);
  metrics.full_decode_ns = all.ns;

  const counts = timed(() => sumCounts(answer));
  if (counts.value !== sum(login.items.map(({ count }) => count)))
    throw new Error("the counts do not add up");
  metrics.decode_ns = counts.ns;
}

/** What it gives, and how long it takes: once, then twice as often each time, until that was long enough. */
function timed(what) {
  let value;
  let times = 0;
  let elapsed = 0;
  const begun = performance.now();
  for (let more = 1; elapsed < decodeForMs; more *= 2) {
    for (let i = 0; i < more; i++) value = what();
    times += more;
    elapsed = performance.now() - begun;
  }
  return { value, ns: (elapsed * 1e6) / times };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
