// Draws the trial that the reader chooses; without it the page lacks nothing but that choice.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("trials").textContent);
  const by = (id) => document.getElementById(id);
  const L = 64, GAP = 34, H = 130, TOP = 22;
  let W = 0, R = 0, shownTrial = null;
  const number = (n) => n.toLocaleString("en", { maximumSignificantDigits: 3 });
  const time = (us) => us >= 1e6 ? number(us / 1e6) + " s" : us >= 1e3 ? number(us / 1e3) + " ms" : number(us) + " µs";

  const maker = (space) => (parent, name, attributes, text) => {
    const node = document.createElementNS(space, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const tag = maker("http://www.w3.org/1999/xhtml"), shape = maker("http://www.w3.org/2000/svg");

  function fill(select, entries, chosen) {
    select.replaceChildren();
    for (const [value, text] of entries) tag(select, "option", { value }, text);
    if (entries.some(([value]) => String(value) === String(chosen))) select.value = chosen;
  }

  const of = (c, p) => data.trials.filter((t) => t.c === c && t.p === p);

  function choose(changed) {
    const c = Number(by("contender").value);
    if (changed === "contender") {
      const points = data.points.map((name, p) => [p, name]).filter(([p]) => of(c, p).length > 0);
      fill(by("point"), points, by("point").value);
    }
    const trials = of(c, Number(by("point").value));
    if (changed !== "trial") {
      fill(by("trial"), trials.map((t, n) => [n, t.name]), Math.max(0, trials.findIndex((t) => t.first)));
    }
    draw(trials[Number(by("trial").value)]);
  }

  // Columns of a panel, the undermost first: name, values, class, and whether they are bars.
  function panels(t, color) {
    const perSecond = (values) => values.map((n) => n === null ? null : n * 1000 / t.dt_ms);
    const cores = t.cpu.map((n) => n === null ? null : n / 100);
    return [
      { title: "answers a second", show: number, log: false, columns: [["failures a second", perSecond(t.errors), "failures", true], ["right a second", perSecond(t.ok), "answers " + color, false]] },
      { title: "response: p50, p99 (- -), longest (···); log", show: time, log: true, columns: [["longest", t.max, "answers dotted " + color, false], ["p99", t.p99, "answers dashed " + color, false], ["p50", t.p50, "answers " + color, false]] },
      { title: "CPU cores of the contender", show: number, log: false, columns: [["CPU cores", cores, "answers " + color, false]] },
    ].filter((panel) => panel.columns.some(([, values]) => values.some((v) => v !== null)));
  }

  function draw(t) {
    shownTrial = t;
    W = Math.min(1200, Math.max(320, by("drawing").clientWidth));
    R = W - 14;
    const contender = data.contenders[t.c], shown = panels(t, "c" + contender.color);
    const from = t.start_ms, to = from + t.ok.length * t.dt_ms, height = shown.length * (H + GAP) + 44;
    const x = (ms) => L + (ms - from) / (to - from) * (R - L);
    const name = contender.name + ", " + data.points[t.p] + ", " + t.name;
    by("drawing").replaceChildren();
    tag(by("drawing"), "figcaption", {}, name);
    const svg = shape(by("drawing"), "svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": "Time series of " + name + "; its steps are in the table below" });
    const shades = [["warm-up", from, Math.min(0, to), "warm-up"]];
    const d = t.disturbance;
    if (d) shades.push(["disturbed", d.began_ms, Math.min(d.ended_ms, to), d.kind]);
    const bottom = height - 44 - GAP + TOP;
    for (const [kind, a, b, label] of shades.filter(([, a, b]) => b > a)) {
      shape(svg, "rect", { class: kind, x: x(a), width: x(b) - x(a), y: TOP, height: bottom - TOP });
      shape(svg, "text", { class: "soft", x: x(a), y: 14 }, label);
    }
    shown.forEach((panel, n) => drawPanel(svg, panel, TOP + n * (H + GAP), t, x));
    if (t.steady_ms !== null) {
      shape(svg, "path", { class: "steady", d: `M${x(t.steady_ms)},${TOP}V${bottom}` });
      shape(svg, "text", { class: "soft", x: x(t.steady_ms) + 4, y: bottom - 4 }, "steady");
    }
    if (d && d.steady_ms !== null) shape(svg, "path", { class: "recovered", d: `M${x(d.steady_ms)},${TOP}V${bottom}` });
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 300].find((s) => (to - from) / 1000 / s <= W / 60) || 3600;
    for (let n = Math.ceil(from / 1000 / step); n * step * 1000 <= to; n++) {
      shape(svg, "text", { class: "soft", x: x(n * step * 1000), y: bottom + 18, "text-anchor": "middle" }, number(n * step || 0));
    }
    shape(svg, "text", { class: "soft", x: (L + R) / 2, y: bottom + 38, "text-anchor": "middle" }, "seconds");
    const total = (values) => values.reduce((sum, n) => sum + (n || 0), 0).toLocaleString("en");
    by("summary").textContent = `${name}: ${total(t.ok)} right answers, ${total(t.errors)} failures in ${number((to - from) / 1000)} s.`;
    table(t, shown);
  }

  function drawPanel(svg, panel, top, t, x) {
    const known = panel.columns.flatMap(([, values]) => values).filter((v) => v !== null && (!panel.log || v > 0));
    let high = Math.max(...known, panel.log ? 1 : 0) || 1, low = panel.log ? Math.min(...known, high) : 0;
    if (panel.log) [low, high] = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.001))];
    const part = (v) => panel.log ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : v / high;
    const y = (v) => (top + 14 + (1 - part(v)) * (H - 14)).toFixed(1);
    shape(svg, "text", { x: L, y: top + 8 }, panel.title);
    const ticks = [low];
    if (panel.log) for (let v = low * 10; v < high * 1.1; v *= 10) ticks.push(v); else ticks.push(high);
    for (const v of ticks) {
      const g = shape(svg, "g", { class: "grid" });
      shape(g, "line", { x1: L, x2: R, y1: y(v), y2: y(v) });
      shape(g, "text", { x: L - 7, y: Number(y(v)) + 4, "text-anchor": "end" }, panel.show(v));
    }
    for (const [, values, kind, bars] of panel.columns) {
      let d = "", pen = "M";
      values.forEach((v, n) => {
        const a = t.start_ms + n * t.dt_ms, b = a + t.dt_ms;
        if (bars && v > 0) d += `M${x(a).toFixed(1)},${y(0)}V${Math.min(y(v), y(0) - 2)}H${x(b).toFixed(1)}V${y(0)}z`;
        else if (!bars && v !== null && (!panel.log || v > 0)) { d += `${pen}${x((a + b) / 2).toFixed(1)},${y(v)}`; pen = "L"; }
        else pen = "M";
      });
      if (d) shape(svg, "path", { class: kind, d });
    }
  }

  function table(t, shown) {
    const target = by("steps"), columns = shown.flatMap((panel) => panel.columns.map(([name, values]) => [name, values, panel.show]).reverse());
    target.replaceChildren();
    tag(target, "caption", {}, "each step of " + t.dt_ms + " ms, by its beginning");
    const head = tag(tag(target, "thead", {}), "tr", {});
    for (const name of ["seconds", ...columns.map(([name]) => name)]) tag(head, "th", { scope: "col", class: "number" }, name);
    const body = tag(target, "tbody", {});
    t.ok.forEach((_, n) => {
      const row = tag(body, "tr", {});
      tag(row, "th", { scope: "row", class: "number" }, ((t.start_ms + n * t.dt_ms) / 1000).toFixed(1));
      for (const [name, values, show] of columns) {
        const v = values[n] === undefined && name === "failures a second" ? 0 : values[n];
        tag(row, "td", { class: "number" }, v === null || v === undefined ? "–" : show(v));
      }
    });
  }

  for (const id of ["contender", "point", "trial"]) by(id).addEventListener("change", () => choose(id));
  fill(by("contender"), data.contenders.map((c, n) => [n, c.name]).filter(([n]) => data.trials.some((t) => t.c === n)), "");
  by("explorer").hidden = false;
  choose("contender");
  new ResizeObserver(() => { if (Math.abs(by("drawing").clientWidth - W) > 20) draw(shownTrial); }).observe(by("explorer"));
})();
