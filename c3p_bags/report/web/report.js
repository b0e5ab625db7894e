/* SPDX-License-Identifier: Apache-2.0 */
/* interactive report: plots with one time axis, values at the cursor, and the robot there */
"use strict";
(() => {
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
  const times = REPORT.times.map(text => Array.from(new Float32Array(bytes(text))));
  function unpack(packed) {
    const step = (packed.high - packed.low) / 65534;
    return Array.from(new Uint16Array(bytes(packed.data)), code => {
      if (code === 65535) return null;
      const value = packed.low + step * code;
      return packed.log ? 10 ** value : value;
    });
  }
  const runs = REPORT.runs.map(run => ({...run, time: new Float32Array(bytes(run.time)),
    pose: run.pose.map(unpack), steering: run.steering.map(unpack), sigma: run.sigma && unpack(run.sigma),
    slip: run.slip.map(unpack), odom: run.odom && run.odom.map(unpack)}));
  const end = Math.max(...runs.map(run => run.end), 1e-3), full = () => [0, end];
  const css = Robot.css, root = document.documentElement, made = [];
  root.classList.add("scripted");
  root.style.setProperty("--runs", runs.length);

  /* -- plots -- */
  /* lines of other times have gaps: the value at the cursor is that of the nearest sample */
  function nearest(u, series, index) {
    const values = u.data[series], x = u.data[0];
    if (!series || values[index] != null) return index;
    let a = index, b = index;
    while (a > 0 && values[a] == null) a--;
    while (b < values.length - 1 && values[b] == null) b++;
    if (values[a] == null) return b;
    if (values[b] == null) return a;
    return x[index] - x[a] <= x[b] - x[index] ? a : b;
  }
  function dataOf(panel) {
    const used = [...new Set(panel.lines.map(line => line.time))];
    if (!used.length) return {data: [[0, end], [null, null]], lines: [{label: "", colour: "--muted",
      dash: [], width: 0}]};
    const tables = used.map(k => [times[k], ...panel.lines.filter(line => line.time === k)
      .map(line => unpack(line.value))]);
    return {lines: used.flatMap(k => panel.lines.filter(line => line.time === k)),
            data: tables.length > 1 ? uPlot.join(tables) : tables[0]};
  }
  function boxes(u, panel) {
    const g = u.ctx, {left, top, width, height} = u.bbox;
    g.save();
    g.beginPath(); g.rect(left, top, width, height); g.clip();
    for (const [a, b, low, high, colour, opacity] of panel.boxes) {
      const x0 = a == null ? left : u.valToPos(a, "x", true);
      const x1 = b == null ? left + width : u.valToPos(b, "x", true);
      const y0 = u.valToPos(low, "y", true), y1 = u.valToPos(high, "y", true);
      g.globalAlpha = opacity; g.fillStyle = Plots.paint(colour);
      g.fillRect(x0, Math.min(y0, y1), Math.max(x1 - x0, 2), Math.abs(y1 - y0));
    }
    g.restore();
  }
  function marks(u, panel) {
    const g = u.ctx, {left, top, width, height} = u.bbox, ratio = window.devicePixelRatio || 1;
    g.save();
    g.beginPath(); g.rect(left, top, width, height); g.clip();
    g.font = `${12 * ratio}px system-ui,sans-serif`; g.textBaseline = "middle";
    panel.levels.forEach(([value, colour]) => {
      const y = u.valToPos(value, "y", true);
      g.strokeStyle = Plots.paint(colour); g.lineWidth = ratio; g.setLineDash([6 * ratio, 3 * ratio]);
      g.beginPath(); g.moveTo(left, y); g.lineTo(left + width, y); g.stroke();
    });
    panel.texts.forEach(([x, y, text]) => {
      g.fillStyle = css(x == null ? "muted" : "ink");
      g.textAlign = x == null ? "center" : "left";
      g.fillText(text, x == null ? left + width / 2 : u.valToPos(x, "x", true) + 4 * ratio,
                 x == null ? top + height / 2 : u.valToPos(y, "y", true));
    });
    g.restore();
  }
  const on = {cursor: time => { now = time ?? now; moved(); },
              scaled: (low, high) => { shown = [low, high]; tell(); }};
  let now = 0, shown = full();
  document.querySelectorAll(".live[data-of]").forEach(place => {
    const panels = REPORT.sections[place.dataset.of];
    panels.forEach((panel, k) => {
      const box = document.createElement("div"), rows = panel.rows;
      const named = panel.levels.filter(level => level[2]).map(level => `dashes: ${level[2]}`);
      /* the second of two columns has no label in the picture */
      panel.label = panel.label || panels[k - panel.run].label;
      const run = runs.length > 1 ? ["AB"[panel.run]] : [];
      box.className = "plot";
      const title = document.createElement("h4");
      title.textContent = [...run, [panel.label, ...named].filter(Boolean).join("; ")]
        .filter(Boolean).join(": ");
      if (title.textContent) box.append(title);
      place.append(box);
      const {data, lines} = dataOf(panel);
      const plot = Plots.add(box, {
        label: panel.label || place.dataset.of, log: panel.log, floor: panel.floor, y: panel.y, free: !rows,
        height: panel.height + (rows ? 10 : 0), full, series: lines,
        rows: rows && rows.map(row => row[0]), room: rows ? Math.max(60, 12 + 6.6 * Math.max(...rows.map(r => r[1].length)))
          : 60, nearest,
        ticks: rows ? (u, at) => at.map(v => (rows.find(row => row[0] === v) || ["", ""])[1]) : null,
        last: k >= panels.length - runs.length ? "time since the first joint states [s]" : "",
        under: u => boxes(u, panel), over: u => marks(u, panel)}, data, on);
      made.push({plot, panel, section: place.dataset.of});
    });
    const button = document.createElement("button");
    button.className = "csv"; button.textContent = "CSV of these plots";
    button.onclick = () => save(place.dataset.of);
    place.after(button);
  });

  /* -- the plotted values as CSV, of the times in view -- */
  function save(section) {
    const rows = ["run,quantity,line,time [s],value"];
    for (const {panel} of made.filter(one => one.section === section))
      panel.lines.forEach(line => {
        const value = unpack(line.value);
        times[line.time].forEach((t, k) => {
          if (t >= shown[0] && t <= shown[1] && value[k] != null)
            rows.push([`"${runs[panel.run].name}"`, `"${panel.label}"`, `"${line.label}"`,
                       t.toFixed(4), value[k].toPrecision(6)].join(","));
        });
      });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], {type: "text/csv"}));
    link.download = section + ".csv";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /* -- zoom, by mouse in a plot and by buttons -- */
  const button = (act, words, label) => Dom.make("button", {"data-do": act, "aria-label": label},
                                                 words);
  const tools = Dom.make("div", {class: "tools"}, button("in", "+", "zoom in in time"),
    button("out", "−", "zoom out in time"), button("back", "◀", "earlier"),
    button("on", "▶", "later"), button("all", "whole run"), button("robot", "robot"),
    button("play", "play"), Dom.make("span", {class: "now", role: "status"}));
  document.querySelector("nav").append(tools);
  const acts = {
    in: (a, b, m) => [m - (m - a) / 2, m + (b - m) / 2],
    out: (a, b, m) => [m - (m - a) * 2, m + (b - m) * 2],
    back: (a, b) => [a - (b - a) / 2, b - (b - a) / 2],
    on: (a, b) => [a + (b - a) / 2, b + (b - a) / 2],
    all: full,
  };
  tools.onclick = event => {
    const name = event.target.dataset.do;
    if (name === "robot") { card.hidden = !card.hidden; moved(); return; }
    if (name === "play") { play(); return; }
    if (!acts[name]) return;
    const middle = now > shown[0] && now < shown[1] ? now : (shown[0] + shown[1]) / 2;
    let [low, high] = acts[name](...shown, middle);
    const wide = Math.min(Math.max(high - low, 0.02), end);
    low = Math.min(Math.max(low, 0), end - wide);
    Plots.zoom(low, low + wide);
  };
  function tell() {
    tools.querySelector(".now").textContent = `${now.toFixed(2)} s` + (shown[0] > 1e-6
      || shown[1] < end - 1e-6 ? `, view ${shown[0].toFixed(2)} to ${shown[1].toFixed(2)} s` : "");
  }
  let playing = null;
  function play() {
    if (playing) { cancelAnimationFrame(playing); playing = null; return; }
    card.hidden = false;
    const begin = now >= shown[1] - 0.05 || now < shown[0] ? shown[0] : now;
    const clock = performance.now();
    const frame = () => {
      now = begin + (performance.now() - clock) / 1000;
      if (now >= shown[1]) { now = shown[1]; playing = null; } else
        playing = requestAnimationFrame(frame);
      Plots.point(now);
      moved();
    };
    frame();
  }

  /* -- the robot at the cursor's time -- */
  const card = Dom.make("div", {id: "robot"}, Dom.make("button", {"aria-label": "close"}, "×"),
                        Dom.make("div"));
  card.hidden = true;
  card.querySelector("button").onclick = () => { card.hidden = true; closed = true; };
  document.body.append(card);
  let closed = false, due = false;
  const views = runs.map((run, k) => {
    const figure = Dom.make("figure", null, Dom.make("canvas", {role: "img"}),
                            Dom.make("figcaption"));
    card.lastChild.append(figure);
    return {run, canvas: figure.firstChild, text: figure.lastChild,
            name: runs.length > 1 ? "AB"[k] + ": " : ""};
  });
  function index(time, t) {
    let a = 0, b = time.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; if (time[m] <= t) a = m; else b = m; }
    const part = time[b] > time[a] ? Math.min(Math.max((t - time[a]) / (time[b] - time[a]), 0), 1) : 0;
    return column => column[a] + part * (column[b] - column[a]);
  }
  function moved() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      tell();
      if (!card.hidden) views.forEach(draw);
      maps.forEach(map => map(now));
    });
  }
  function draw({run, canvas, text, name}) {
    const [g, width, height] = Robot.fit(canvas), at = index(run.time, now), robot = run.robot;
    const pose = run.pose.map(at), steering = run.steering.map(at), sigma = run.sigma && at(run.sigma);
    const slip = run.slip.map(at), goal = run.goals.find(one => now >= one[0] && now <= one[1]);
    const event = run.events.find(one => now >= one[0] && now <= one[1]);
    const view = {x: pose[0], y: pose[1], scale: Math.min(width, height) / (4.4 * robot.reach)};
    const p = Robot.pen(g, width, height, view);
    p.line(Array.from(run.pose[0], (x, k) => [x, run.pose[1][k]]), css("link"), 1.4);
    if (goal) { p.ring([goal[2], goal[3]], 7, css("good"), 2);
                p.text([goal[2], goal[3]], "goal", css("good"), 10, 4, true); }
    Robot.draw(g, p, robot, {pose, steering, sigma, slip,
                             suspect: event && event[2] >= 0 ? event[2] : null});
    const words = `${name}${now.toFixed(2)} s: x ${pose[0].toFixed(3)} m, y ${pose[1].toFixed(3)} m, `
      + `yaw ${(pose[2] * 180 / Math.PI).toFixed(1)}°${run.sigma ? `; σ_min ${sigma.toFixed(3)}` : ""}`
      + (event ? `; ${event[2] >= 0 ? "wheel " + (event[2] + 1) : "a wheel"} slips` : "");
    text.textContent = words;
    canvas.setAttribute("aria-label", "robot from above at " + words);
  }
  const show = () => { if (!closed) card.hidden = false; };
  document.querySelectorAll(".live").forEach(place => {
    place.addEventListener("pointerenter", show); place.addEventListener("keydown", show);
  });
  matchMedia("(prefers-color-scheme:dark)").addEventListener("change", moved);
  const place = document.querySelector(".map"), maps = place ? runs.map((run, k) =>
    Paths.add(place, run, runs.length > 1 ? "AB"[k] : "", index)) : [];
  moved();
  window.C3P_REPORT = {runs, made, at: t => { now = t; Plots.point(t); moved(); },
                       get now() { return now; }, get shown() { return shown; }};
})();
