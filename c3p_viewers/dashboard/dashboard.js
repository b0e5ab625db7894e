/* SPDX-License-Identifier: Apache-2.0 */
/* the live page: samples, plots, a map with goals, and the stop */
"use strict";
const el = id => document.getElementById(id);
const css = Robot.css, make = Dom.make;
/* sizes of the robot and the time that is kept, s: from the dashboard, with the connection */
let ROBOT = null, KEPT = 60;
const samples = [], path = [];
let status = {}, connected = false, everConnected = false, changed = true, drag = null;
const view = {x: 0, y: 0, scale: 0};

/* -- commands -- */
async function send(name, body) {
  const reply = await Connection.send(name, name === "release" ? {presses: status.presses} : body);
  el("reply").textContent = reply.ok ? reply.text : "Not sent: " + reply.text;
  el("reply").className = reply.ok ? "about" : "refused";
  return reply.ok;
}
/* the stop that this page presses: waiting for its acknowledgement, or why it failed */
let stopping = false, failure = "", pressedAt = 0;
/* until the next status, which was sent after the acknowledgement and has its effect */
let acknowledged = false;
async function stop() {
  Hand.letGo();
  stopping = true; failure = "";
  words();
  const reply = await Connection.send("e_stop");
  stopping = false;
  if (reply.ok) acknowledged = true;
  else failure = `The stop was NOT sent, or not received: ${reply.text}. Use the switch of the `
    + "robot.";
  words();
}
/* at the first touch; a click follows for a keyboard and for programs */
el("stop").onpointerdown = stop;
el("stop").onclick = event => { if (!event.detail || !stopping && !status.pressed) stop(); };
document.addEventListener("keydown", event => { if (event.key === "Escape") stop(); });
el("release").onclick = () => send("release");
el("cancel").onclick = () => send("cancel");
el("goal").onsubmit = event => {
  event.preventDefault();
  const form = new FormData(event.target), of = key => Number(form.get(key));
  send("goal", {x: of("x"), y: of("y"), yaw: of("yaw") * Math.PI / 180});
};

/* -- words -- */
function warn(text) {
  if (el("alert").textContent !== text) el("alert").textContent = text;
  el("alert").hidden = !text;
}
const last = () => samples[samples.length - 1];
const speedOf = now => now && now.v ? Math.hypot(now.v[0], now.v[1]) : null;
const UNHEARD = "nothing receives this stop";
/* the effect of a pressed stop, as far as it is known */
function effect(s) {
  if (!(s.receivers || []).length) return [`Stop pressed, but ${UNHEARD}: no subscriber of e_stop `
    + "or cmd_vel. Compare --namespace and ROS_DOMAIN_ID with the robot's, and use its switch."];
  const found = [];
  if (s.confirmed === false) found.push("Stop pressed, but twist_mux does not confirm it. Use the "
    + "switch of the robot.");
  else if (s.mux && !s.drives.length) found.push("Stop pressed, but nothing receives the zeros of "
    + "twist_mux on cmd_vel. Use the switch of the robot.");
  else found.push(`Stop pressed${s.confirmed ? " and confirmed by twist_mux" : ""}. The robot `
    + "stops and stays stopped; after the release it waits for a new goal.");
  const speed = s.alive ? speedOf(last()) : null;
  if (speed > 0.05 && performance.now() - pressedAt > 2000)
    found.push(`It still moves at ${speed.toFixed(2)} m/s.`);
  if (!s.mux && (s.others || []).length) found.push(
    `No twist_mux: ${s.others.join(", ")} may still command cmd_vel; the stop cannot lock it.`);
  return found;
}
function problems(s) {
  const found = [];
  if (failure) found.push(failure);
  if (!connected && Connection.refusal()) found.push("Not connected, STOP has no effect. "
    + Connection.refusal());
  else if (!connected && everConnected) found.push("Connection lost: not connected, STOP has no "
    + "effect. This page shows the past. Is c3p dashboard still running?");
  if (!connected) {
    if (s.pressed) found.push("Before that the stop was pressed.");
    return found;
  }
  if (s.pressed) found.push(...effect(s));
  else if (s.locked) found.push("Locked by the stop of another program, or since the start of the "
    + "mux.");
  if (s.mux && (s.others || []).length) found.push(
    `${s.others.join(", ")} publishes cmd_vel past the mux; the stop cannot lock it.`);
  return found;
}
function tile(name, value, kind, ...more) {
  return make("div", {class: `tile ${kind}`}, make("small", null, name),
              make("b", null, ...[value].flat()),
              ...more.filter(Boolean).map(text => make("small", null, text)));
}
/* a long name may break after each underscore */
const breakable = text => text.split("_").flatMap((part, k) => k ? ["_", make("wbr"), part] : [part]);
function goalTile({to_go, result, refused}) {
  const why = refused && `refused: ${refused}`;
  if (to_go != null) return tile("Goal", `driving, ${to_go.toFixed(2)} m to go`, "none", why);
  if (!result) return tile("Last goal", "–", "none", why);
  return tile("Last goal", result.reason, result.level === 0 ? "good"
    : result.reason === "cancelled" ? "none" : "note", result.why, why);
}
function tiles(s) {
  const now = last(), fresh = connected && s.alive && now, list = [];
  const speed = fresh ? speedOf(now) : null;
  list.push(tile("Speed", speed == null ? "–" : `${speed.toFixed(2)} m/s`, "none"));
  const m = fresh ? now.m : null;
  /* parallel casters are the usual state at rest; amber while a motion is commanded */
  const moving = fresh && now.c && now.c.some(v => Math.abs(v) > 0.01);
  /* of casters alone */
  if (ROBOT.near != null) list.push(tile("Singularity σ_min", m == null ? "–" : m.toFixed(3)
    + (m < ROBOT.near ? " near" : ""), m == null || (m < ROBOT.near && !moving) ? "none"
    : m < ROBOT.near ? "note" : "good"));
  const slip = fresh && now.r ? Math.max(...now.r.map(v => v || 0)) : null;
  list.push(tile("Slip", slip == null ? "–" : now.k != null ? `wheel ${now.k + 1}: `
    + `${(now.r[now.k] || 0).toFixed(2)} m/s` : "none", slip == null ? "none"
    : now.k != null ? "bad" : "good"));
  const torque = fresh && now.q ? Math.max(...now.q.map(v => Math.abs(v || 0))) : null;
  list.push(tile("Largest torque", torque == null ? "–" : `${torque.toFixed(2)} N·m`
    + (ROBOT.limit && torque > 0.98 * ROBOT.limit ? " limit" : ""), "none"));
  list.push(goalTile(connected && s.goal || {}));
  if (s.driving) list.push(tile("Driven by", breakable(s.driving), "none"));
  if (s.lock) list.push(tile("Controller locked", s.lock, "note"));
  return list;
}
function stopWords(s) {
  const heard = (s.receivers || []).length;
  el("stop").setAttribute("aria-pressed", Boolean(s.pressed));
  el("stop").textContent = stopping ? "stopping …" : !s.pressed || !connected ? "STOP"
    : heard && s.confirmed !== false ? "STOPPED" : "NOT HEARD";
  el("stop").classList.toggle("dead", !connected);
  el("release").hidden = !s.locked;
  el("receivers").textContent = !connected ? "not connected, STOP has no effect"
    : heard ? `${heard} node${heard > 1 ? "s hear" : " hears"} it: ${s.receivers.join(", ")}`
    : UNHEARD;
  el("receivers").className = connected && heard ? "" : "dead";
}
function battery(b) {
  el("battery").hidden = !b;
  if (!b) return;
  const parts = [];
  if (b.percent != null) parts.push(b.percent.toFixed(0) + " %");
  if (b.volts != null) parts.push(b.volts.toFixed(1) + " V");
  if (b.amperes != null) parts.push(b.amperes.toFixed(1) + " A");
  el("battery").textContent = "battery " + parts.join(", ");
  el("battery").className = "state " + (b.percent < 20 ? "note" : "none");
}
const LEVELS = ["OK", "WARN", "ERROR", "STALE"], KINDS = ["good", "note", "bad", "none"];
function nodeRow(node) {
  return make("li", null, make("b", {class: `state ${KINDS[node.level] || "bad"}`},
                               LEVELS[node.level] || `level ${node.level}`),
              ` ${node.name}${node.text ? ": " + node.text : ""}`);
}
let listed = "";
function nodeList(s) {
  const text = JSON.stringify([s.nodes, s.dropped]);
  if (text === listed) return;
  listed = text;
  if (!(s.nodes || []).length) { el("nodes").textContent = "no /diagnostics received"; return; }
  Dom.fill(el("nodes"), s.dropped ? make("p", null, `More than ${s.nodes.length} names: `
    + `${s.dropped} statuses were dropped, the oldest of the least severe first.`) : null,
           make("ul", null, ...s.nodes.map(nodeRow)));
}
function words() {
  const s = acknowledged ? {...status, pressed: true} : status;
  warn(problems(s).join(" "));
  stopWords(s);
  el("link").textContent = !connected ? everConnected || Connection.refusal() ? "not connected"
    : "connecting" : s.alive ? "live" : "no joint states";
  el("link").className = "state " + (!connected ? "bad" : s.alive ? "good" : "note");
  battery(s.battery);
  if (ROBOT) Dom.fill(el("tiles"), ...tiles(s));
  nodeList(s);
}

/* -- plots -- */
const casters = (name, pick) => ROBOT.hips.map((_, i) => ({label: `${name} ${i + 1}`,
  colour: ROBOT.colours[i], dash: ROBOT.dashes[i], width: 1.4, pick: s => pick(s, i)}));
const of = (list, i, scale) => list && list[i] != null ? list[i] * (scale || 1) : null;
let LINES = [];
const lines = () => [
  {label: "speed [m/s], yaw rate [rad/s]", least: 0.1, series: [
    ...["vx", "vy", "ω"].map((label, i) => ({label, colour: ROBOT.colours[i] || "--ink",
      dash: [[], [10, 2], [2, 2]][i], width: 1.4, pick: s => of(s.v, i)})),
    ...["vx", "vy", "ω"].map((label, i) => ({label: label + " commanded", colour: "--muted",
      dash: [[], [10, 2], [2, 2]][i], width: 1, pick: s => of(s.c, i)}))]},
  ...(ROBOT.near == null ? [] : [
    {label: "singularity σ_min [1]", zero: true, least: 0.3, near: ROBOT.near, series: [
      {label: "σ_min", colour: "--ink", dash: [], width: 1.4, pick: s => s.m}]}]),
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
  box.className = "plot"; box.append(make("h4", null, panel.label));
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
    /* values of this moment where no cursor points to another one */
    if (!(panel.plot.cursor.left >= 0)) panel.plot.setLegend({idx: t.length - 1}, false);
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
  if (goal && !drag) farGoal(p, g, width, height, goal, pose);
  if (now) Robot.draw(g, p, ROBOT, {pose, steering: now.s, sigma: now.m, lost: now.d,
    slip: now.r, suspect: now.k, twist: now.v});
}
/* an arrow at the edge to a goal outside the view */
function farGoal(p, g, width, height, goal, pose) {
  const [x, y] = p.at(goal), edge = 26;
  if (x >= 0 && x <= width && y >= 0 && y <= height) return;
  const from = [width / 2, height / 2], away = [x - from[0], y - from[1]];
  const part = Math.min((width / 2 - edge) / Math.abs(away[0] || 1e-9),
                        (height / 2 - edge) / Math.abs(away[1] || 1e-9));
  const metres = k => [view.x + k * away[0] / view.scale, view.y - k * away[1] / view.scale];
  const length = Math.hypot(...away), tip = metres(part);
  p.arrow(metres(part - 26 / length), tip, css("good"), 3);
  const words = `goal ${Math.hypot(goal[0] - pose[0], goal[1] - pose[1]).toFixed(1)} m`;
  p.text(tip, words, css("good"), away[0] > 0 ? -72 : 8, away[1] > 0 ? -20 : 26, true);
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

/* -- values -- */
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
function begin(given) {
  /* of the same dashboard after a gap, or of one that was started again */
  samples.length = 0; path.length = 0;
  KEPT = given.kept;
  if (JSON.stringify(given.robot) === JSON.stringify(ROBOT)) return;
  ROBOT = given.robot;
  document.title = `${ROBOT.name}: live`;
  el("name").textContent = ROBOT.name;
  for (const panel of LINES) if (panel.plot) { Plots.all.delete(panel.plot); panel.plot.destroy(); }
  Dom.fill(el("plots"));
  LINES = lines();
}
Connection.on.welcome = begin;
Connection.on.values = values => {
  take(values.samples);
  if (values.status) {
    if (values.status.pressed && !status.pressed) { pressedAt = performance.now(); failure = ""; }
    status = values.status; acknowledged = false;
  }
  changed = true;
};
Connection.on.change = () => {
  connected = Connection.connected();
  if (!connected) Hand.letGo();
  everConnected = everConnected || connected;
  words();
};
Connection.connect();

/* ten pictures a second are enough for the eye and spare the robot's computer; on a slow one a
   quarter of the time at most, so that STOP does not wait */
function picture() {
  let pause = 100;
  if (changed && !document.hidden && ROBOT) {
    const start = performance.now();
    changed = false;
    map(); refill(); words();
    pause = Math.max(pause, 3 * (performance.now() - start));
  }
  setTimeout(picture, pause);
}
picture();
words();
