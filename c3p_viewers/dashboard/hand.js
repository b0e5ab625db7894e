/* SPDX-License-Identifier: Apache-2.0 */
/* driving by hand: a pad, a turning bar and keys that act while they are held */
"use strict";
const Hand = (() => {
  /* between commands, ms; the dashboard ends a press whose command is missing for 0.3 s */
  const PERIOD = 100;
  /* yaw rate for a speed: 0.5 rad/s at 0.2 m/s */
  const TURN = 2.5;
  const KEYS = {w: [1, 0, 0], s: [-1, 0, 0], a: [0, 1, 0], d: [0, -1, 0], q: [0, 0, 1],
                e: [0, 0, -1], arrowup: [1, 0, 0], arrowdown: [-1, 0, 0], arrowleft: [0, 1, 0],
                arrowright: [0, -1, 0]};
  const part = id => document.getElementById(id);
  const page = Math.random().toString(36).slice(2, 10);
  const keys = new Set();
  /* of the pad: ahead and left; of the bar: the turn; null while it is not touched */
  let stick = null, turn = null;
  let count = 0, press = "", timer = 0;

  const held = () => keys.size || stick || turn !== null;
  const bound = (value, size = 1) => Math.min(Math.max(value, -size), size);
  function twist() {
    const sum = [...(stick || [0, 0]), turn || 0];
    for (const key of keys) KEYS[key].forEach((v, k) => { sum[k] += v; });
    const size = Math.max(1, Math.hypot(sum[0], sum[1])), speed = Number(part("speed").value);
    return {vx: speed * sum[0] / size, vy: speed * sum[1] / size,
            omega: bound(TURN * speed * bound(sum[2]))};
  }
  function say(text, refused) {
    part("hand-reply").textContent = text;
    part("hand-reply").className = refused ? "refused" : "about";
  }
  async function tick() {
    if (!press) return;
    const mine = press;
    timer = setTimeout(tick, PERIOD);
    const reply = await Connection.send("move", {press: mine, ...twist()});
    if (reply.ok || mine !== press) return;
    letGo();
    say("Stopped: " + reply.text, true);
  }
  function begin() {
    if (press) return;
    press = `${page}-${++count}`;
    say("");
    tick();
  }
  function end() {
    clearTimeout(timer);
    if (press) Connection.send("halt", {press});
    press = "";
    draw();
  }
  function changed() {
    if (held()) begin(); else end();
    draw();
  }
  /* for any reason: another window, another tab, a stop, a refusal. Fingers and keys that stay
     where they are have no effect until they are lifted: their touch is forgotten, and a key that
     is still down only repeats */
  function letGo() {
    keys.clear();
    for (const one of touches) { one.pointer = null; one.clear(); }
    changed();
  }
  function draw() {
    const pad = part("pad"), now = press ? twist() : {vx: 0, vy: 0, omega: 0};
    const speed = Number(part("speed").value), far = 0.36 * pad.clientWidth;
    part("knob").style.transform =
      `translate(${-far * now.vy / speed}px,${-far * now.vx / speed}px)`;
    part("turner").style.transform = `translateX(${-0.36 * part("turns").clientWidth
      * now.omega / Math.min(TURN * speed, 1)}px)`;
    pad.classList.toggle("on", Boolean(press)); part("turns").classList.toggle("on", Boolean(press));
  }
  /* place in an element: from -1 to 1 to the right and upwards */
  function place(event, element) {
    const box = element.getBoundingClientRect();
    return [bound(2.6 * ((event.clientX - box.left) / box.width - 0.5)),
            bound(2.6 * (0.5 - (event.clientY - box.top) / box.height))];
  }
  const touches = [];
  function touch(element, set, clear) {
    const one = {pointer: null, clear};
    touches.push(one);
    element.addEventListener("pointerdown", event => {
      if (one.pointer !== null || event.button) return;
      one.pointer = event.pointerId;
      element.setPointerCapture(event.pointerId);
      set(place(event, element)); changed();
    });
    element.addEventListener("pointermove", event => {
      if (event.pointerId !== one.pointer) return;
      /* released outside of the window, which some systems do not report */
      if (event.pointerType === "mouse" && !event.buttons) release(event);
      else { set(place(event, element)); changed(); }
    });
    const release = event => {
      if (event.pointerId !== one.pointer) return;
      one.pointer = null; clear(); changed();
    };
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      element.addEventListener(name, release);
    element.addEventListener("contextmenu", event => event.preventDefault());
  }
  touch(part("pad"), ([x, y]) => { stick = [y, -x]; }, () => { stick = null; });
  touch(part("turns"), ([x]) => { turn = -x; }, () => { turn = null; });
  part("pad").addEventListener("keydown", event => {
    const key = event.key.toLowerCase();
    if (!KEYS[key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.repeat) return;
    keys.add(key); changed();
  });
  part("pad").addEventListener("keyup", event => {
    keys.delete(event.key.toLowerCase()); changed();
  });
  part("pad").addEventListener("blur", () => { keys.clear(); changed(); });
  window.addEventListener("blur", letGo);
  window.addEventListener("pagehide", letGo);
  document.addEventListener("visibilitychange", () => { if (document.hidden) letGo(); });
  return {letGo};
})();
