/* SPDX-License-Identifier: Apache-2.0 */
/* the live page: a stream of samples, plots, a map with goals, and the stop */
"use strict";
const token = new URLSearchParams(location.search).get("token") || "";
const el = id => document.getElementById(id);
const n = ROBOT.hips.length, css = Robot.css;
const samples = [], path = [];
let status = {}, connected = false, changed = true, drag = null;
const view = {x: 0, y: 0, scale: 0};

/* -- commands -- */
async function send(name, body) {
  try {
    const reply = await fetch(name, {method: "POST", body: JSON.stringify(body || {}),
      headers: {"Content-Type": "application/json", "X-C3P-Token": token}});
    const text = await reply.text();
    el("reply").textContent = reply.ok ? text : "Not sent: " + text;
    return reply.ok;
  } catch (error) {
    el("reply").textContent = "Not sent: the dashboard does not respond";
    return false;
  }
}
async function stop() {
  el("stop").textContent = "stopping …";
  const done = await send("e_stop");
  el("stop").textContent = done ? "STOPPED" : "STOP";
  if (!done) warn("The stop was NOT sent: the dashboard does not respond. Use the switch of the "
                  + "robot.");
}
el("stop").onclick = stop;
document.addEventListener("keydown", event => { if (event.key === "Escape") stop(); });
el("release").onclick = () => send("release");
el("cancel").onclick = () => send("cancel");
el("goal").onsubmit = event => {
  event.preventDefault();
  const form = new FormData(event.target), of = key => Number(form.get(key));
  send("goal", {x: of("x"), y: of("y"), yaw: of("yaw") * Math.PI / 180});
};

/* -- words -- */
function warn(text) { el("alert").textContent = text; el("alert").hidden = !text; }
const last = () => samples[samples.length - 1];
function tile(name, value, kind, more) {
  return `<div class="tile ${kind}"><small>${name}</small><b>${value}</b>`
    + (more ? `<small>${more}</small>` : "") + "</div>";
}
const escape = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
function words() {
  const s = status, now = last();
  const problems = [];
  if (!connected) problems.push("Connection lost: this page shows the past, and its button has no "
                                + "effect. Is c3p dashboard still running?");
  if (s.pressed || s.locked) problems.push(s.pressed ? "Stop pressed. The robot stops and stays "
    + "stopped; after the release it waits for a new goal." : "Locked by the stop of another "
    + "program, or since the start of the mux.");
  if (s.pressed && !s.mux && (s.others || []).length) problems.push(
    `No twist_mux: ${s.others.join(", ")} may still command cmd_vel; the stop cannot lock it.`);
  else if (s.mux && (s.others || []).length) problems.push(
    `${s.others.join(", ")} publishes cmd_vel past the mux; the stop cannot lock it.`);
  warn(problems.join(" "));
  el("stop").setAttribute("aria-pressed", Boolean(s.pressed));
  el("stop").textContent = s.pressed ? "STOPPED" : "STOP";
  el("release").hidden = !s.locked;
  el("link").textContent = !connected ? "no connection" : s.alive ? "live" : "no joint states";
  el("link").className = "state " + (!connected ? "bad" : s.alive ? "good" : "note");
  if (s.battery) {
    const b = s.battery, parts = [];
    if (b.percent != null) parts.push(b.percent.toFixed(0) + " %");
    if (b.volts != null) parts.push(b.volts.toFixed(1) + " V");
    if (b.amperes != null) parts.push(b.amperes.toFixed(1) + " A");
    el("battery").textContent = "battery " + parts.join(", ");
    el("battery").className = "state " + (b.percent < 20 ? "note" : "none");
  }
  el("battery").hidden = !s.battery;
  const fresh = connected && s.alive && now, tiles = [];
  const speed = fresh && now.v ? Math.hypot(now.v[0], now.v[1]) : null;
  tiles.push(tile("Speed", speed == null ? "–" : `${speed.toFixed(2)} m/s`, "none"));
  const m = fresh ? now.m : null;
  /* parallel casters are the usual state at rest; amber while a motion is commanded */
  const moving = fresh && now.c && now.c.some(v => Math.abs(v) > 0.01);
  tiles.push(tile("Singularity σ_min", m == null ? "–" : m.toFixed(3)
    + (m < ROBOT.near ? " near" : ""), m == null || (m < ROBOT.near && !moving) ? "none"
    : m < ROBOT.near ? "note" : "good"));
  const slip = fresh && now.r ? Math.max(...now.r.map(v => v || 0)) : null;
  tiles.push(tile("Slip", slip == null ? "–" : now.k != null ? `wheel ${now.k + 1}: `
    + `${(now.r[now.k] || 0).toFixed(2)} m/s` : "none", slip == null ? "none"
    : now.k != null ? "bad" : "good"));
  const torque = fresh && now.q ? Math.max(...now.q.map(v => Math.abs(v || 0))) : null;
  tiles.push(tile("Largest torque", torque == null ? "–" : `${torque.toFixed(2)} N·m`
    + (ROBOT.limit && torque > 0.98 * ROBOT.limit ? " limit" : ""), "none"));
  const goal = s.result;
  const [ended, ...why] = goal ? goal.text.split(": ") : [];
  tiles.push(goal ? tile("Last goal", escape(ended), goal.level === 0 ? "good"
    : ended === "cancelled" ? "none" : "note", escape(why.join(": ").replace(/^cancelled$/, "")))
    : tile("Last goal", "–", "none"));
  if (s.driving) tiles.push(tile("Driven by", escape(s.driving).replace(/_/g, "_<wbr>"), "none"));
  if (s.lock) tiles.push(tile("Controller locked", escape(s.lock), "note"));
  el("tiles").innerHTML = tiles.join("");
  const names = ["OK", "WARN", "ERROR", "STALE"], kinds = ["good", "note", "bad", "none"];
  if (s.nodes && s.nodes.length) el("nodes").innerHTML = "<ul>" + s.nodes.map(node =>
    `<li><b class="state ${kinds[node.level] || "none"}">${names[node.level] || "?"}</b> `
    + `${escape(node.name)}${node.text ? ": " + escape(node.text) : ""}</li>`).join("") + "</ul>";
  else el("nodes").textContent = "no /diagnostics received";
}

/* -- plots -- */
const casters = (name, pick) => ROBOT.hips.map((_, i) => ({label: `${name} ${i + 1}`,
  colour: ROBOT.colours[i], dash: ROBOT.dashes[i], width: 1.4, pick: s => pick(s, i)}));
const of = (list, i, scale) => list && list[i] != null ? list[i] * (scale || 1) : null;
const LINES = [
  {label: "speed [m/s], yaw rate [rad/s]", least: 0.1, series: [
    ...["vx", "vy", "ω"].map((label, i) => ({label, colour: ROBOT.colours[i] || "--ink",
      dash: [[], [10, 2], [2, 2]][i], width: 1.4, pick: s => of(s.v, i)})),
    ...["vx", "vy", "ω"].map((label, i) => ({label: label + " commanded", colour: "--muted",
      dash: [[], [10, 2], [2, 2]][i], width: 1, pick: s => of(s.c, i)}))]},
  {label: "singularity σ_min [1]", zero: true, least: 0.3, series: [
    {label: "σ_min", colour: "--ink", dash: [], width: 1.4, pick: s => s.m}], near: ROBOT.near},
  {label: "slip [m/s]", zero: true, least: 0.02, series: casters("wheel", (s, i) => of(s.r, i))},
  {label: "wheel torque [N·m]", least: 0.1, series: casters("wheel", (s, i) => of(s.q, i))},
  {label: "steering torque [N·m]", least: 0.1, optional: s => s.u,
   series: casters("caster", (s, i) => of(s.u, i))},
  {label: "steering [°]", least: 20,
   series: casters("caster", (s, i) => of(s.s, i, 180 / Math.PI))},
];
/* the last minute, and while there is less all of it, ten seconds at least */
const window_ = () => {
  if (!samples.length) return [0, 10];
  const end = Math.max(last().t, samples[0].t + 10);
  return [Math.max(samples[0].t, end - KEPT), end];
};
function place(panel) {
  const box = document.createElement("div");
  box.className = "plot"; box.innerHTML = `<h4>${panel.label}</h4>`;
  el("plots").append(box);
  panel.height = 130; panel.full = window_;
  panel.under = u => {
    if (!panel.near) return;
    const g = u.ctx, low = u.valToPos(0, "y", true), high = u.valToPos(panel.near, "y", true);
    g.save(); g.fillStyle = css("note"); g.globalAlpha = 0.18;
    g.fillRect(u.bbox.left, high, u.bbox.width, low - high); g.restore();
  };
  panel.plot = Plots.add(box, panel, [[], ...panel.series.map(() => [])], {zoom: false});
}
function refill() {
  if (!samples.length) return;
  const t = samples.map(s => s.t);
  for (const panel of LINES) {
    if (!panel.plot) {
      if (panel.optional && !panel.optional(last())) continue;
      place(panel);
    }
    panel.plot.batch(() => {
      const [min, max] = window_();
      panel.plot.setData([t, ...panel.series.map(s => samples.map(s.pick))], true);
      panel.plot.setScale("x", {min, max});
    });
  }
}

/* -- map -- */
function map() {
  const canvas = el("map"), [g, width, height] = Robot.fit(canvas), now = last();
  if (!view.scale) view.scale = Math.min(width, height) / (7 * ROBOT.reach);
  const pose = now && now.p || [0, 0, 0];
  if (el("follow").checked && !drag) { view.x = pose[0]; view.y = pose[1]; }
  const p = Robot.pen(g, width, height, view);
  Robot.grid(p, width, height, view);
  if (path.length > 1) p.line(path, css("link"), 1.6);
  const goal = drag && drag.goal || now && now.g;
  if (goal) {
    p.ring(goal, 8, css("good"), 2);
    p.arrow(goal, [goal[0] + 30 / view.scale * Math.cos(goal[2]),
                   goal[1] + 30 / view.scale * Math.sin(goal[2])], css("good"), 2);
    p.text(goal, "goal", css("good"), 12, 16, true);
  }
  if (now) Robot.draw(g, p, ROBOT, {pose, steering: now.s, sigma: now.m, lost: now.d,
    slip: now.r, suspect: now.k, twist: now.v});
}
const at = event => {
  const box = el("map").getBoundingClientRect();
  return [view.x + (event.clientX - box.left - box.width / 2) / view.scale,
          view.y - (event.clientY - box.top - box.height / 2) / view.scale];
};
el("map").onpointerdown = event => {
  if (!view.scale) return;
  const begin = at(event), now = last(), yaw = now && now.p ? now.p[2] : 0;
  drag = {begin, px: [event.clientX, event.clientY], goal: [...begin, yaw]};
  el("map").setPointerCapture(event.pointerId);
  changed = true;
};
el("map").onpointermove = event => {
  if (!drag) return;
  const far = Math.hypot(event.clientX - drag.px[0], event.clientY - drag.px[1]) > 12;
  const to = at(event);
  if (far) drag.goal[2] = Math.atan2(to[1] - drag.begin[1], to[0] - drag.begin[0]);
  changed = true;
};
el("map").onpointerup = () => {
  if (!drag) return;
  const [x, y, yaw] = drag.goal;
  drag = null;
  send("goal", {x, y, yaw});
};
el("map").onpointercancel = () => { drag = null; };
const zoom = factor => { view.scale = Math.min(Math.max(view.scale * factor, 2), 3000);
                         changed = true; };
el("nearer").onclick = () => zoom(1.4);
el("farther").onclick = () => zoom(1 / 1.4);
el("map").addEventListener("wheel", event => {
  event.preventDefault(); zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
}, {passive: false});

/* -- stream -- */
function take(list) {
  for (const s of list) {
    /* a robot that was started again */
    if (samples.length && s.t < last().t) { samples.length = 0; path.length = 0; }
    if (samples.length && s.t === last().t) continue;
    samples.push(s);
    const end = path[path.length - 1];
    if (s.p && (!end || Math.hypot(s.p[0] - end[0], s.p[1] - end[1]) > 0.005))
      path.push([s.p[0], s.p[1]]);
  }
  while (samples.length && samples[0].t < last().t - KEPT) samples.shift();
  if (path.length > 20000) path.splice(0, 5000);
  changed = true;
}
const source = new EventSource("stream?token=" + encodeURIComponent(token));
source.onopen = () => { connected = true; changed = true; };
source.onerror = () => { connected = false; changed = true; };
source.addEventListener("samples", event => take(JSON.parse(event.data)));
source.addEventListener("status", event => { status = JSON.parse(event.data); changed = true; });

/* ten pictures a second are enough for the eye and spare the robot's computer */
setInterval(() => {
  if (!changed || document.hidden) return;
  changed = false;
  map(); refill(); words();
}, 100);
words();
