/* SPDX-License-Identifier: Apache-2.0 */
/* the robot from above on a canvas: for the report at the cursor's time, and for the live page */
"use strict";
const Robot = (() => {
  const css = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  /* green far from a singularity, red at it; the label has the number as well */
  const sigmaColour = sigma => `hsl(${Math.round(120 * Math.min(sigma / 0.5, 1))} 75% 42%)`;
  /* body frame to floor frame */
  const floor = (pose, p) => {
    const c = Math.cos(pose[2]), s = Math.sin(pose[2]);
    return [pose[0] + c * p[0] - s * p[1], pose[1] + s * p[0] + c * p[1]];
  };

  /* the pen draws in metres of the floor: place {x, y} at the middle, scale in pixels per metre */
  function pen(g, width, height, view) {
    const at = p => [width / 2 + (p[0] - view.x) * view.scale,
                     height / 2 - (p[1] - view.y) * view.scale];
    return {
      at,
      line(points, colour, wide, dash) {
        g.beginPath();
        points.forEach((p, k) => { const q = at(p); k ? g.lineTo(...q) : g.moveTo(...q); });
        g.strokeStyle = colour; g.lineWidth = wide; g.setLineDash(dash || []); g.stroke();
        g.setLineDash([]);
      },
      fill(points, colour, edge) {
        g.beginPath();
        points.forEach((p, k) => { const q = at(p); k ? g.lineTo(...q) : g.moveTo(...q); });
        g.closePath(); g.fillStyle = colour; g.fill();
        g.strokeStyle = edge; g.lineWidth = 1; g.stroke();
      },
      ring(p, radius, colour, wide, dash) {
        const q = at(p);
        g.beginPath(); g.arc(q[0], q[1], radius, 0, 2 * Math.PI);
        g.strokeStyle = colour; g.lineWidth = wide; g.setLineDash(dash || []); g.stroke();
        g.setLineDash([]);
      },
      text(p, words, colour, dx, dy, bold) {
        const q = at(p);
        g.font = `${bold ? "bold " : ""}12px system-ui,sans-serif`;
        /* what is inside has its words inside, too */
        const last = width - g.measureText(words).width - 3;
        const x = q[0] <= width ? Math.min(q[0] + dx, last) : q[0] + dx;
        g.lineWidth = 3; g.strokeStyle = css("paper"); g.strokeText(words, x, q[1] + dy);
        g.fillStyle = colour; g.fillText(words, x, q[1] + dy);
      },
      arrow(from, to, colour, wide) {
        const a = at(from), b = at(to), angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
        this.line([from, to], colour, wide);
        g.beginPath(); g.moveTo(...b);
        for (const side of [-0.45, 0.45])
          g.lineTo(b[0] - 9 * Math.cos(angle + side), b[1] - 9 * Math.sin(angle + side));
        g.closePath(); g.fillStyle = colour; g.fill();
      },
    };
  }

  /* robot: hips, offset, beside, radius, driven, outline, colours; state: pose, steering and, if known,
     sigma, lost, slip [m/s], suspect, twist */
  function draw(g, p, robot, state) {
    const pose = state.pose, reach = robot.reach, ink = css("ink"), muted = css("muted");
    p.fill(robot.outline.map(h => floor(pose, h)), css("platform"), muted);
    p.arrow(floor(pose, [0, 0]), floor(pose, [0.55 * reach, 0]), muted, 1.5);
    const sigma = state.sigma;
    robot.hips.forEach((hip, i) => {
      const forward = [-Math.sin(state.steering[i]), Math.cos(state.steering[i])];
      const on = (k, at) => [at[0] + k * forward[0], at[1] + k * forward[1]];
      /* the axle is to the right of the rolling direction */
      const aside = [hip[0] + robot.beside[i] * forward[1], hip[1] - robot.beside[i] * forward[0]];
      const contact = on(-robot.offset[i], aside), colour = robot.colours[i];
      if (robot.driven[i] && sigma != null)
        p.line([on(-3 * reach, contact), on(3 * reach, contact)].map(q => floor(pose, q)),
               sigmaColour(sigma), 1.2, robot.dashes[i].length ? robot.dashes[i] : [12, 3]);
      p.line([hip, contact].map(q => floor(pose, q)), ink, 1.2);
      p.line([on(-robot.radius[i], contact), on(robot.radius[i], contact)]
        .map(q => floor(pose, q)), colour, 6);
      p.ring(floor(pose, hip), 2.5, ink, 1.5);
      const away = hip.map(c => c * (1 + 0.3 * reach / (Math.hypot(...hip) || 1)));
      p.text(floor(pose, away), String(i + 1), colour, -4, 4, true);
      if (state.suspect === i) {
        p.ring(floor(pose, contact), 16, css("bad"), 3);
        p.text(floor(pose, contact), state.slip ? `slips ${state.slip[i].toFixed(2)} m/s`
               : "slips", css("bad"), 18, -14, true);
      }
    });
    if (state.twist && Math.hypot(state.twist[0], state.twist[1]) > 0.01)
      p.arrow(floor(pose, [0, 0]), floor(pose, [state.twist[0], state.twist[1]]), css("link"), 3);
    if (sigma != null && sigma < robot.near && state.lost) lost(g, p, robot, state);
  }

  /* the motion without force: a double arrow, or an arc for a rotation */
  function lost(g, p, robot, state) {
    const [vx, vy, w] = state.lost, speed = Math.hypot(vx, vy), colour = css("bad");
    if (speed >= Math.abs(w) * robot.reach) {
      const to = k => floor(state.pose, [k * 1.6 * robot.reach * vx / speed,
                                         k * 1.6 * robot.reach * vy / speed]);
      p.arrow(floor(state.pose, [0, 0]), to(1), colour, 2.5);
      p.arrow(floor(state.pose, [0, 0]), to(-1), colour, 2.5);
      p.text(to(1), "no force this way", colour, 8, 4, true);
    } else {
      const middle = floor(state.pose, [-vy / w, vx / w]);
      p.ring(middle, 18, colour, 2.5, [8, 4]);
      p.text(middle, "no torque about here", colour, 22, 4, true);
    }
  }

  /* lines each step of metres, with their numbers; `view` as of the pen */
  function grid(p, width, height, view) {
    const steps = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100];
    const step = steps.find(one => one * view.scale >= 45) || 250, digits = step < 1 ? 2 : 0;
    const x0 = view.x - width / 2 / view.scale, x1 = view.x + width / 2 / view.scale;
    const y0 = view.y - height / 2 / view.scale, y1 = view.y + height / 2 / view.scale;
    for (let k = Math.ceil(x0 / step); k * step < x1; k++) {
      p.line([[k * step, y0], [k * step, y1]], css("rule"), 1);
      /* not across the edge, nor over the numbers of the other axis */
      if ((x1 - k * step) * view.scale > 34)
        p.text([k * step, y0], (k * step).toFixed(digits), css("muted"), 3, -4);
    }
    for (let k = Math.ceil(y0 / step); k * step < y1; k++) {
      p.line([[x0, k * step], [x1, k * step]], css("rule"), 1);
      if ((k * step - y0) * view.scale > 16)
        p.text([x0, k * step], (k * step).toFixed(digits) + " m", css("muted"), 3, -3);
    }
  }

  /* a canvas of the size of its box, sharp on dense screens */
  function fit(canvas) {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    const wide = Math.round(box.width * ratio), high = Math.round(box.height * ratio);
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide; canvas.height = high;
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0); g.clearRect(0, 0, box.width, box.height);
    return [g, box.width, box.height];
  }
  return {css, floor, pen, draw, grid, fit};
})();
