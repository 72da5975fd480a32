// What every contender of this experiment is around its encoder: a worker that encodes logins, times it, and looks at every
// byte that came out.
import { GCProfiler, getHeapStatistics } from "node:v8";
import { serve } from "../../../kits/node/kumite-kit.mjs";
import { difference } from "./difference.mjs";
import { makeLogins } from "./logins.mjs";

// As many passes over the pool as fit, for the client's side.
const decodeForMs = 20;

/**
 * Serves jobs with a codec: `encode(login)` gives bytes of their own, which stay as they are when the next login is
 * encoded; `decode(bytes)` gives the login back; `sumCounts(bytes)` reads `count` of every item, as cheaply as the format
 * allows. `format` is what the checker knows it by.
 */
export function work(name, codec, runtime) {
  let pool;
  serve(
    name,
    ({ params, metrics }) => {
      const key = JSON.stringify([params.logins, params.items, params.seed]);
      if (pool?.key !== key)
        pool = { key, jobs: 0, ...encodeOnce(codec, params) };
      const sample = pool.jobs++ % params.logins;

      measureEncoding(codec, pool, params, metrics);
      metrics.decode_ns = measureDecoding(codec, pool);
      metrics.answer_bytes = mean(pool.answers.map((answer) => answer.length));
      return {
        format: codec.format,
        compared: params.encodings,
        sample: {
          login: sample,
          bytes: pool.answers[sample].toString("base64"),
        },
      };
    },
    runtime,
  );
}

/** The logins, and an answer to each that was decoded and found equal: what all later ones are compared with. */
function encodeOnce({ encode, decode }, { logins: count, items, seed }) {
  const logins = makeLogins(count, items, seed);
  const answers = logins.map(encode);
  for (const [i, answer] of answers.entries()) {
    const found = difference(decode(answer), logins[i]);
    if (found) throw new Error(`login ${i}: ${found}`);
  }
  return { logins, answers };
}

function measureEncoding(
  { encode },
  { logins, answers },
  { encodings },
  metrics,
) {
  const passes = encodings / logins.length;
  if (!Number.isInteger(passes))
    throw new Error(
      `${encodings} encodings are no whole passes over ${logins.length} logins`,
    );

  const out = new Array(logins.length);
  const gc = new GCProfiler();
  let elapsed = 0;
  const usedBefore = getHeapStatistics().used_heap_size;
  gc.start();
  for (let pass = 0; pass < passes; pass++) {
    const begun = performance.now();
    for (let i = 0; i < logins.length; i++) out[i] = encode(logins[i]);
    elapsed += performance.now() - begun;

    for (let i = 0; i < logins.length; i++) {
      if (!answers[i].equals(out[i]))
        throw new Error(`login ${i} was encoded differently in pass ${pass}`);
    }
  }
  const collections = gc.stop().statistics;
  const usedAfter = getHeapStatistics().used_heap_size;
  metrics.encode_ns = (elapsed * 1e6) / encodings;
  // The profiler's costs are microseconds.
  metrics.gc_ns = (sum(collections.map(({ cost }) => cost)) * 1e3) / encodings;
  // What was in use grows by what is allocated, and shrinks only by what is collected.
  const used = ({ heapStatistics }) => heapStatistics.usedHeapSize;
  const freed = sum(
    collections.map(({ beforeGC, afterGC }) => used(beforeGC) - used(afterGC)),
  );
  metrics.allocated_bytes = (usedAfter - usedBefore + freed) / encodings;
}

function measureDecoding({ sumCounts }, { logins, answers }) {
  const sums = logins.map(({ items }) => sum(items.map(({ count }) => count)));
  let decodings = 0;
  let elapsed = 0;
  const begun = performance.now();
  while (elapsed < decodeForMs) {
    for (let i = 0; i < answers.length; i++) {
      if (sumCounts(answers[i]) !== sums[i])
        throw new Error(`the counts of login ${i} do not add up`);
    }
    decodings += answers.length;
    elapsed = performance.now() - begun;
  }
  return (elapsed * 1e6) / decodings;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
