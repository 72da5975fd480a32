// Students and their scores as asynchronous generators, put together by promises.
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../../../../kits/node/kumite-kit.mjs";

const SCORES = [
  { subject: "国語", score: 80 },
  { subject: "数学", score: 90 },
  { subject: "英語", score: 85 },
  { subject: "社会", score: 93 },
  { subject: "理科", score: 72 },
];

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.version}`);
} else {
  serve("node-promises", scoresByStudent);
}

async function scoresByStudent({ params, event }) {
  const pending = [];
  event("subscribe", "students");
  for await (const student of studentsArriving(params)) {
    event("next", `student ${student}`);
    pending.push(
      scoresOf(student, params, event).then((scores) => [student, scores]),
    );
  }
  event("complete", "students");
  return Object.fromEntries(await Promise.all(pending));
}

async function scoresOf(student, params, event) {
  const scores = [];
  event("subscribe", `student ${student}`);
  for await (const score of scoresArriving(params)) {
    event("next", `score ${student} ${score.subject}`);
    scores.push(score);
  }
  event("complete", `student ${student}`);
  return scores;
}

async function* studentsArriving(params) {
  for await (const n of arriving(params.students, params)) yield `${n}`;
}

async function* scoresArriving(params) {
  for await (const n of arriving(params.scores, params)) yield SCORES[n - 1];
}

// Counts from 1 to `count`, each number when it has arrived.
function arriving(count, { backend, delay_ms }) {
  if (backend === "http") return byHttp(count);
  if (backend === "timer") return byTimer(count, delay_ms);
  throw new Error(`backend ${backend} is neither timer nor http`);
}

// The nth is due `n * delay_ms` after the beginning, so that late timers do not add up.
async function* byTimer(count, delay_ms) {
  const begun = performance.now();
  for (let n = 1; n <= count; n++) {
    const wait_ms = begun + n * delay_ms - performance.now();
    if (wait_ms > 0) await sleep(Math.ceil(wait_ms));
    yield n;
  }
}

async function* byHttp(count) {
  const url = process.env.BACKEND_URL;
  for (let n = 1; n <= count; n++) {
    const response = await fetch(url);
    await response.text();
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    yield n;
  }
}
