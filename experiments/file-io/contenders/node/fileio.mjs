// Reads files and decodes them with fs/promises, one after the other or beside other work.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import { serve } from "../../../../kits/node/kumite-kit.mjs";

const CHECKED = 10; // CPU tasks

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.version}`);
} else {
  serve("node-fs-promises", ({ params, metrics }) => {
    if (params.form === "single") return single(params);
    if (params.form === "mixed")
      return mixed({ ...params, tasks: Infinity }, metrics);
    if (params.form === "cpu")
      return mixed({ ...params, io_share: 0 }, metrics);
    throw new Error(`there is no form ${params.form}`);
  });
}

async function single({ files, reads }) {
  const texts = new Map();
  for (let n = 0; n < reads; n++) await read(n % files, texts);
  return () => ({ read: byFile(texts) });
}

async function read(file, texts) {
  const last = await readFile(join(process.env.DISK_PATH, `${file}`), "utf8");
  texts.set(file, { times: (texts.get(file)?.times ?? 0) + 1, last });
}

function mixed(params, metrics) {
  const texts = new Map();
  const ioBefore = (task) => Math.floor(task * params.io_share);
  let drawn = 0;
  let ioDone = 0;
  let cpuDone = 0;
  let checksum = 0;
  const gc = gcObserver();

  return new Promise((resolve, reject) => {
    // Those that wait for their turn of the event loop get it in the order in which they asked.
    async function oneAfterAnother() {
      while (ioDone < params.io_tasks && drawn < params.tasks) {
        const task = drawn++;
        const io = ioBefore(task);
        await turn();
        if (ioBefore(task + 1) > io) {
          await read(io % params.files, texts);
          if (++ioDone === params.io_tasks) end();
        } else {
          const cpu = task - io;
          const x = compute(cpu, params);
          if (cpu < CHECKED) checksum ^= x;
          if (++cpuDone === params.tasks) end();
        }
      }
    }

    function end() {
      const ended = performance.now();
      metrics.cpu_tasks = cpuDone;
      resolve(async () => {
        await allDone;
        metrics.gc_ms = await gc.until(ended);
        return { read: byFile(texts), checksum: checksum >>> 0 };
      });
    }

    const allDone = Promise.all(
      Array.from({ length: params.in_flight }, oneAfterAnother),
    );
    allDone.catch(reject);
  });
}

function compute(task, { objects, steps }) {
  const numbered = [];
  for (let i = 0; i < objects; i++) numbered.push({ number: task + i });
  let x = 0;
  for (const { number } of numbered) x = (x + number) | 0;
  for (let i = 0; i < steps; i++)
    x = (Math.imul(x ^ (x >>> 15), 1664525) + 1013904223) | 0;
  return x;
}

// Collections are told of in a later turn of the event loop.
function gcObserver() {
  const seen = [];
  const observer = new PerformanceObserver((list) =>
    seen.push(...list.getEntries()),
  );
  observer.observe({ entryTypes: ["gc"] });
  return {
    async until(ended) {
      await turn();
      seen.push(...observer.takeRecords());
      observer.disconnect();
      return seen
        .filter((collection) => collection.startTime < ended)
        .reduce((ms, collection) => ms + collection.duration, 0);
    },
  };
}

function byFile(texts) {
  const read = {};
  for (const [file, { times, last }] of texts) {
    let chars = 0;
    for (const _ of last) chars++;
    const sha256 = createHash("sha256").update(last).digest("hex");
    read[file] = { times, chars, sha256 };
  }
  return read;
}
