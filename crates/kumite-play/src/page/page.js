"use strict";

const by = (id) => document.getElementById(id);
const box = by("macro");
const LOOK_MS = 100, ANSWER_MS = 5000;
const MOST_BYTES = 1 << 20;
const LINE_PX = 24, PADDING_PX = 8;
const SYMBOLS = { 1: "↙", 2: "↓", 3: "↘", 4: "←", 5: "neutral", 6: "→", 7: "↖", 8: "↑", 9: "↗", lp: "□", mp: "△", hp: "R1",
  lk: "✕", mk: "○", hk: "R2", start: "OPTIONS", select: "SHARE", save: "R3" };
const LETTERS = { u: "lp", i: "mp", o: "hp", j: "lk", k: "mk", l: "hk", p: "pause", r: "reload", s: "save" };
const BUTTONS = { pause: "start", reload: "select" };

// The line of each state of the macro that was run, as long as that is what stands in the box.
let lines = null;
let wrongLine = 0, nowLine = 0;
// The number of the last play whose end was shown.
let shown = 0;
let looking = false, lookAgain = false;
let posted = Promise.resolve();

// The token is in a cookie now, and need not stand in the address and the history.
history.replaceState(null, "", location.pathname);
// A browser may refuse to keep anything; then the text is gone with the page.
try { box.value = localStorage.getItem("macro") ?? ""; } catch {}
number();
look();

async function ask(path, options) {
  try {
    const response = await fetch(path, { ...options, signal: AbortSignal.timeout(ANSWER_MS) });
    return { status: response.status, ...await response.json() };
  } catch {
    return { status: 0, message: "kumite does not answer. Is it still running?" };
  }
}

// One after the other, so that a stop does not overtake what it is to stop.
function post(path, body) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  posted = posted.then(() => ask(path, options));
  return posted;
}

async function run() {
  forget();
  by("pacing").hidden = true;
  const text = box.value;
  // A server that refuses more may close before the browser has sent it, and its answer is lost.
  if (text.length > MOST_BYTES) return say("That is more than the 1 MiB that is taken here: play it from a file.", true);
  const answer = await post("/play", { macro: text, replace: by("replace").checked });
  if (answer.line) return showError(answer);
  if (answer.status !== 202) return say(answer.message, true);
  lines = text === box.value ? linesOf(text) : null;
  shown = answer.number - 1;
  say("Playing.");
  look();
}

async function stop() {
  const answer = await post("/stop", {});
  if (answer.status !== 202) say(answer.message, true);
  else look();
}

async function press(keys) {
  const answer = await post("/press", { keys });
  if (answer.status !== 202) return say(answer.message, true);
  shown = answer.number - 1;
  say(`${named(keys)}, for 2 frames.`);
  look();
}

// Looks now, and as long as something plays.
async function look() {
  lookAgain = true;
  if (looking) return;
  looking = true;
  while (lookAgain) {
    lookAgain = false;
    const status = await ask("/status");
    if (status.status !== 200) say(status.message, true);
    show(status.playing);
    if (status.last?.number > shown) showEnd(status.last);
    if (status.fps) by("fps").textContent = status.fps;
    if (status.device) by("device").textContent = `Plays on ${status.device}.`;
    if (status.playing) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      lookAgain = true;
    }
  }
  looking = false;
}

function show(playing) {
  const held = playing ? playing.keys.split(",") : [];
  for (const button of document.querySelectorAll("[data-keys]")) {
    const keys = button.dataset.keys;
    button.classList.toggle("held", held.includes(BUTTONS[keys] ?? keys));
  }
  const isMacro = playing?.kind === "macro";
  by("at").hidden = !isMacro;
  nowLine = isMacro && lines?.length === playing.of ? lines[playing.at - 1] ?? 0 : 0;
  if (isMacro) {
    by("progress").max = playing.of;
    by("progress").value = playing.at;
    by("state").textContent = `State ${count(playing.at)} of ${count(playing.of)}` + (nowLine ? `, line ${nowLine}` : "");
    by("keys").textContent = named(playing.keys);
    reveal(nowLine);
  }
  mark();
}

function showEnd(last) {
  shown = last.number;
  if (last.kind === "press" && last.ended !== "failed") return;
  const p = last.pacing;
  by("pacing").hidden = !p;
  if (p) {
    by("p50").textContent = time(p.p50_us);
    by("p99").textContent = time(p.p99_us);
    by("max").textContent = time(p.max_us);
    by("missed").textContent = count(p.missed_frames);
    by("priority").textContent = `Pacing error of ${count(p.states)} states (missed: a frame or more), ` +
      (last.real_time ? "with real-time priority." : "without real-time priority, which this system does not permit.");
  }
  if (last.ended === "failed") say(`The device failed: ${last.error}`, true);
  else say(last.ended === "whole" ? "Played to the end." : "Stopped. Everything is released.");
}

function showError({ line, column, message }) {
  const typed = Array.from(box.value.split("\n")[line - 1] ?? "");
  const before = typed.slice(0, column - 1), from = Math.max(0, before.length - 30);
  const place = document.createElement("p"), excerpt = document.createElement("pre");
  place.textContent = `Line ${line}, column ${column}: ${message}`;
  // Tabs stay, so that the caret is below its column.
  const indent = before.slice(from).map((c) => c === "\t" ? c : " ").join("");
  excerpt.textContent = `${typed.slice(from, from + 60).join("")}\n${indent}^`;
  by("error").replaceChildren(place, excerpt);
  by("error").hidden = false;
  box.setAttribute("aria-invalid", "true");
  const start = box.value.split("\n").slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + before.join("").length;
  box.setSelectionRange(start, start);
  wrongLine = line;
  say("Not run: the macro has an error.");
  reveal(line);
  mark();
}

function forget() {
  by("error").hidden = true;
  box.removeAttribute("aria-invalid");
  wrongLine = 0;
  mark();
}

function say(message, alarm = false) {
  by("message").textContent = message;
  by("message").classList.toggle("alarm", alarm);
}

// The line of each state of a macro that has no error.
function linesOf(text) {
  const states = [], open = [];
  text.split("\n").forEach((line, n) => {
    const said = line.replace(/#.*/, "").trim();
    const times = /^<loop\s+(\d+)/.exec(said)?.[1];
    if (times) open.push([states.length, Number(times)]);
    else if (said.startsWith("<")) {
      const [start, times] = open.pop() ?? [states.length, 1];
      const body = states.slice(start);
      for (let i = 1; i < times && body.length > 0; i++) for (const l of body) states.push(l);
    } else if (said) states.push(n + 1);
  });
  return states;
}

// Numbers of the lines that are seen, and no others: there may be a hundred thousand.
function number() {
  const first = Math.floor(box.scrollTop / LINE_PX), seen = Math.ceil(box.clientHeight / LINE_PX) + 1;
  const last = Math.min(box.value.split("\n").length, first + seen);
  const numbers = [];
  for (let n = first + 1; n <= last; n++) numbers.push(n);
  by("numbers").textContent = numbers.join("\n");
  by("numbers").style.top = `${PADDING_PX - box.scrollTop % LINE_PX}px`;
  mark();
}

function mark() {
  for (const [id, line] of [["wrong", wrongLine], ["now", nowLine]]) {
    by(id).hidden = line === 0;
    by(id).style.top = `${PADDING_PX + (line - 1) * LINE_PX - box.scrollTop}px`;
  }
}

function reveal(line) {
  const top = (line - 1) * LINE_PX;
  const isSeen = top >= box.scrollTop && top + LINE_PX + PADDING_PX <= box.scrollTop + box.clientHeight;
  if (line > 0 && !isSeen) box.scrollTop = top - box.clientHeight / 2;
}

function named(keys) {
  return keys && keys.split(",").map((key) => SYMBOLS[BUTTONS[key] ?? key]).join(" + ") + ` (${keys})`;
}

function count(n) {
  return n.toLocaleString("en");
}

function time(us) {
  const [value, unit] = us < 1000 ? [us, "µs"] : [us / 1000, "ms"];
  return `${value.toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}

box.addEventListener("input", () => {
  try { localStorage.setItem("macro", box.value); } catch {}
  lines = null;
  nowLine = 0;
  forget();
  number();
});
box.addEventListener("scroll", number);
new ResizeObserver(number).observe(box);
by("run").addEventListener("click", run);
by("stop").addEventListener("click", stop);
for (const button of document.querySelectorAll("[data-keys]")) {
  button.addEventListener("click", () => press(button.dataset.keys));
}
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.repeat) return;
  const command = event.key === "Enter" && (event.ctrlKey || event.metaKey) ? run : event.key === "Escape" ? stop : null;
  // By place for digits, for a keypad may send arrows, and the row of some layouts signs.
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
  const keys = digit ?? LETTERS[event.key.toLowerCase()];
  if (command) command();
  else if (!keys || event.target === box || event.ctrlKey || event.altKey || event.metaKey) return;
  else press(keys);
  event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
