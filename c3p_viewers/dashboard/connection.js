/* SPDX-License-Identifier: Apache-2.0 */
/* the connection with the dashboard: one WebSocket for values, commands and heartbeats */
"use strict";
const Connection = (() => {
  /* time limit of a command with its acknowledgement, and of silence, ms */
  const LIMIT = 1000, SILENT = 2500;
  /* pauses before a new attempt, ms: the first, and the longest */
  const RETRY = 300, LONGEST_RETRY = 3000;
  const STORE = "c3p session";
  const now = () => performance.now();

  /* the code leaves the address at once; the secret that it is exchanged for is kept for reloads
     and other tabs, in a storage that only this host and port can read */
  const code = new URLSearchParams(location.search).get("code") || "";
  history.replaceState(null, "", location.pathname);
  let session = "";
  const stored = () => {
    try { return localStorage.getItem(STORE) || session; } catch (error) { return session; }
  };
  function store(value) {
    session = value;
    try { localStorage.setItem(STORE, value); } catch (error) { /* this tab only */ }
  }

  const on = {welcome: () => {}, values: () => {}, change: () => {}};
  let socket = null, known = false, began = 0, pause = RETRY, retry = 0, refusal = "";
  /* when a message was sent that has been answered; the last heartbeat and its arrival */
  let heard = -Infinity, beat = {number: 0, time: 0};
  let shown = false, number = 0;
  const waiting = new Map();

  const isOpen = () => known && socket && socket.readyState === WebSocket.OPEN;
  /* an answer counts from the time of its question, so that messages of the past, which arrive
     when a page or a computer wakes up, prove nothing */
  const connected = () => isOpen() && now() - heard <= SILENT;
  function look() {
    if (connected() === shown) return;
    shown = !shown;
    on.change();
  }

  function connect() {
    clearTimeout(retry); retry = 0;
    const mine = socket = new WebSocket(`ws://${location.host}/socket`);
    known = false; began = now();
    let asked = began;
    mine.onopen = () => {
      asked = now();
      mine.send(JSON.stringify({session: stored(), code}));
    };
    mine.onmessage = event => {
      if (mine !== socket) return;
      const message = JSON.parse(event.data);
      if (message.welcome) {
        known = true; heard = asked; pause = RETRY; refusal = "";
        store(message.welcome.session);
        on.welcome(message.welcome);
        /* a stop that was pressed in a gap of the connection */
        for (const one of waiting.values()) if (one.name === "e_stop") mine.send(one.message());
      } else if (message.beat) {
        beat = {number: message.beat, time: now()};
        /* by a message and not by a timer, which runs once a minute in a hidden tab */
        ping();
      } else if (message.ack) {
        const one = waiting.get(message.ack);
        if (one) { heard = Math.max(heard, one.time); one.finish(message.ok, message.text); }
      } else {
        on.values(message);
        if (mine.readyState === WebSocket.OPEN) mine.send('{"ready":true}');
      }
      look();
    };
    mine.onclose = event => { if (mine === socket) lost(event.code >= 4000 ? event.reason : ""); };
  }
  function lost(reason) {
    socket = null; known = false; shown = false; refusal = reason || refusal;
    on.change();
    retry = setTimeout(connect, pause);
    pause = Math.min(2 * pause, LONGEST_RETRY);
  }
  /* also a server, or a tunnel, that hangs: its connection is left, and a new one is tried */
  function watch() {
    look();
    if (!socket || now() - Math.max(began, heard) <= SILENT) return;
    const old = socket;
    socket = null;
    old.close();
    lost("");
  }
  setInterval(watch, 200);
  /* timers of a hidden tab are late */
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    if (isOpen()) ping();
    watch();
  });
  /* another tab has a newer secret */
  window.addEventListener("storage", event => {
    if (event.key === STORE && !isOpen() && retry) connect();
  });

  /* carry out a command of the dashboard; resolves to {ok, text} after 1 s at most */
  function send(name, body) {
    return new Promise(resolve => {
      const id = ++number;
      const finish = (ok, text) => {
        clearTimeout(timer); waiting.delete(id); resolve({ok, text});
      };
      const timer = setTimeout(finish, LIMIT, false, "no acknowledgement in 1 s");
      const message = () => JSON.stringify({id, name, body: body || {}, beat: beat.number,
                                            since: (now() - beat.time) / 1000});
      waiting.set(id, {name, message, finish, time: now()});
      /* a stop is tried on any connection, and a new one may open within its time */
      if (name === "e_stop" ? isOpen() : connected()) socket.send(message());
      else if (name !== "e_stop") finish(false, "not connected");
    });
  }
  const ping = () => { send("ping"); };
  return {on, connect, send, connected, refusal: () => refusal};
})();
