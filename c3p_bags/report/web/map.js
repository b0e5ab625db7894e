/* SPDX-License-Identifier: Apache-2.0 */
/* the path of a run from above, as wide as the window, with the robot at the cursor's time */
"use strict";
const Paths = (() => {
  const css = Robot.css;
  const KEYS = [["truth", "ground truth", "#e69f00", 5], ["odom", "odometry", "#0072b2", 1.6]];

  /* run: pose and odom as columns, goals [begin, end, x, y, yaw], events [begin, end, wheel],
     start; index(time, t) returns the interpolation of columns at t */
  function add(place, run, name, index) {
    const box = document.createElement("div"), canvas = document.createElement("canvas");
    const words = document.createElement("p");
    words.className = "about";
    canvas.setAttribute("role", "img");
    box.append(canvas, words);
    place.append(box);
    const lines = {truth: run.odom ? run.pose : null, odom: run.odom || run.pose};
    const xs = [...run.pose[0], ...run.goals.map(g => g[2])];
    const ys = [...run.pose[1], ...run.goals.map(g => g[3])];
    const span = list => list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)],
                                     [Infinity, -Infinity]);
    const margin = 1.5 * run.robot.reach, [x0, x1] = span(xs), [y0, y1] = span(ys);
    const wide = x1 - x0 + 2 * margin, high = y1 - y0 + 2 * margin;
    canvas.style.aspectRatio = String(Math.min(Math.max(wide / high, 0.8), 3));
    words.textContent = (name ? name + ": " : "") + "● start, ○ goal, "
      + KEYS.filter(key => lines[key[0]]).map(key => (key[3] > 3 ? "broad: " : "line: ") + key[1])
        .join(", ") + (run.events.length ? ", widest: slips" : "");
    canvas.setAttribute("aria-label", `path from above: x ${x0.toFixed(2)} to ${x1.toFixed(2)} m, `
      + `y ${y0.toFixed(2)} to ${y1.toFixed(2)} m`);
    function draw(t) {
      const [g, width, height] = Robot.fit(canvas);
      if (!width) return;
      const view = {x: (x0 + x1) / 2, y: (y0 + y1) / 2,
                    scale: Math.min(width / wide, height / high)};
      const p = Robot.pen(g, width, height, view);
      Robot.grid(p, width, height, view);
      const points = columns => Array.from(columns[0], (x, k) => [x, columns[1][k]]);
      for (const [begin, end, wheel] of run.events) {
        const part = [];
        run.time.forEach((s, k) => { if (s >= begin && s <= end)
          part.push([run.pose[0][k], run.pose[1][k]]); });
        p.line(part, wheel < 0 ? css("muted") : run.robot.colours[wheel], 11);
        if (part.length) p.text(part[part.length >> 1], wheel < 0 ? "slip"
                                : `wheel ${wheel + 1} slips`, css("ink"), 8, 16, true);
      }
      for (const [key, , colour, breadth] of KEYS)
        if (lines[key]) p.line(points(lines[key]), Plots.paint(colour), breadth);
      run.goals.forEach((goal, k) => {
        const to = 26 / view.scale;
        p.ring([goal[2], goal[3]], 7, css("good"), 2);
        p.arrow([goal[2], goal[3]], [goal[2] + to * Math.cos(goal[4]),
                                     goal[3] + to * Math.sin(goal[4])], css("good"), 2);
        p.text([goal[2], goal[3]], run.goals.length > 1 ? `goal ${k + 1}` : "goal", css("good"),
               -14, -13, true);
      });
      p.ring(run.start, 2.5, css("ink"), 5);
      for (const time of new Set([run.time[0], run.time[run.time.length - 1], t])) {
        const column = index(run.time, time);
        g.globalAlpha = time === t ? 1 : 0.45;
        Robot.draw(g, p, run.robot, {pose: run.pose.map(column), steering: run.steering.map(column)});
        g.globalAlpha = 1;
      }
    }
    let now = 0;
    new ResizeObserver(() => draw(now)).observe(canvas);
    return t => { now = t; draw(t); };
  }
  return {add};
})();
