/* SPDX-License-Identifier: Apache-2.0 */
/* plots over time with one cursor and one time axis for all of them, drawn by uPlot */
"use strict";
const Plots = (() => {
  const css = Robot.css;
  const paint = colour => colour[0] === "-" ? css(colour.slice(2)) : colour;
  const shown = value => value == null || Number.isNaN(value) ? "–"
    : Math.abs(value) >= 1e5 || (value && Math.abs(value) < 9e-5) ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));
  const all = new Set();
  let busy = false;

  /* one time axis: a zoom, and a cursor, of one plot is that of every plot */
  function spread(source, act) {
    if (busy) return;
    busy = true;
    try { all.forEach(plot => { if (plot !== source) act(plot); }); } finally { busy = false; }
  }
  const zoomed = (u, full) => u.scales.x.min != null
    && (u.scales.x.min > full[0] + 1e-9 || u.scales.x.max < full[1] - 1e-9);

  /* grid of a logarithmic axis: powers of ten, and 2 and 5 of them where there are few */
  function decades(u, axis, low, high) {
    const all = (steps, found = []) => {
      for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++)
        steps.forEach(step => found.push(step * 10 ** k));
      return found.filter(v => v >= low * 0.999 && v <= high * 1.001);
    };
    const whole = all([1]);
    return whole.length > 1 ? whole : all([1, 2, 5]);
  }

  /* panel: label, log, floor (it stands for all values below it), y [low, high], full() time limits, series [{label, colour, dash, width,
     step, points}], under(u) and over(u) drawn below and above the lines */
  function options(panel, width, on) {
    const axis = {stroke: () => css("muted"), grid: {stroke: () => css("rule"), width: 1},
                  ticks: {show: false}, font: "12px system-ui,sans-serif",
                  labelFont: "12px system-ui,sans-serif"};
    const number = v => (panel.floor && v <= 1.001 * panel.floor ? "≤ " : "") + shown(v);
    return {
      width, height: panel.height || 170, padding: [10, 8, 0, 0],
      scales: {
        x: {time: false, range: (u, low, high) => low == null ? panel.full() : [low, high],
            ...(on.zoom === false ? {} : {auto: false, min: panel.full()[0],
                                          max: panel.full()[1]})},
        y: {distr: panel.log ? 3 : 1, dir: panel.y && panel.y[0] > panel.y[1] ? -1 : 1,
            range: (u, low, high) => {
          if (panel.y && !(panel.free && zoomed(u, panel.full())))
            return [Math.min(...panel.y), Math.max(...panel.y)];
          if (low == null) return panel.log ? [1e-4, 1] : [0, 1];
          if (panel.log) return [low / 2, high * 2];
          const least = panel.least || 0;
          if (panel.zero) return [0, Math.max(1.06 * high, least, 1e-9)];
          const room = Math.max(0.06 * (high - low), 0.5 * (least - (high - low)), 1e-9);
          return [low - room, high + room];
        }},
      },
      axes: [{...axis, size: panel.last ? 42 : 26, label: panel.last ? panel.last : null,
              labelSize: 16},
             {...axis, size: panel.room || 56, space: 20, values: panel.ticks
               || ((u, splits) => splits.map(v => v == null ? "" : number(v))),
              splits: panel.rows ? () => panel.rows : panel.log ? decades : undefined}],
      cursor: {drag: {x: on.zoom !== false, y: false}, points: {size: 6},
               y: false, focus: {prox: 16}, ...(panel.nearest ? {dataIdx: panel.nearest} : {}),
               bind: {dblclick: () => () => { zoom(...panel.full()); return null; }}},
      focus: {alpha: 0.35},
      legend: {show: panel.series.some(s => s.label), live: true, markers: {
        width: 3, stroke: (u, k) => k ? paint(panel.series[k - 1].colour) : null,
        dash: (u, k) => k && panel.series[k - 1].dash.length ? "dashed" : "solid"}},
      series: [{label: "time", value: (u, v) => v == null ? "–" : v.toFixed(2) + " s"},
               ...panel.series.map(s => ({
                 label: s.label || "other", stroke: () => paint(s.colour), width: s.points ? 0 : s.width,
                 dash: s.dash, spanGaps: true, value: (u, v) => v == null ? shown(v) : number(v),
                 paths: s.points ? () => null : s.step ? uPlot.paths.stepped({align: s.step})
                   : undefined,
                 points: s.points ? {show: true, size: 6, width: 1.5} : {show: false}}))],
      hooks: {
        /* without a cursor there is no time to show */
        setLegend: [u => u.root.classList.toggle("timed", u.legend.idx != null)],
        drawClear: [u => panel.under && panel.under(u)],
        draw: [u => panel.over && panel.over(u)],
        setCursor: [u => {
          const left = u.cursor.left;
          if (busy || left == null) return;
          const time = left < 0 ? null : u.posToVal(left, "x");
          spread(u, other => other.setCursor({
            left: time == null ? -10 : other.valToPos(time, "x"), top: 1}, false));
          spread(u, other => other.setLegend({idx: time == null ? null
            : other.valToIdx(time)}, false));
          if (on.cursor) on.cursor(time);
        }],
        setScale: [(u, key) => {
          if (key !== "x" || on.zoom === false) return;
          const {min, max} = u.scales.x;
          spread(u, other => {
            if (other.scales.x.min !== min || other.scales.x.max !== max)
              other.setScale("x", {min, max});
          });
          if (!busy && on.scaled) on.scaled(min, max);
        }],
      },
    };
  }

  function add(place, panel, data, on) {
    const width = () => Math.max(place.clientWidth, 220);
    const plot = new uPlot(options(panel, width(), on), data, place);
    all.add(plot);
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== plot.width)
        plot.setSize({width: width(), height: plot.height});
    }).observe(place);
    /* the arrow keys move the cursor of a plot that has the focus */
    place.tabIndex = 0; place.setAttribute("role", "group");
    place.setAttribute("aria-label", panel.label + ": arrow keys move the cursor");
    place.addEventListener("keydown", event => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step) return;
      event.preventDefault();
      const wide = plot.bbox.width / (window.devicePixelRatio || 1);
      const from = plot.cursor.left >= 0 ? plot.cursor.left : wide / 2;
      plot.setCursor({left: Math.min(Math.max(from + step * wide / (event.shiftKey ? 20 : 200), 0),
                                     wide), top: 1});
    });
    return plot;
  }
  const zoom = (low, high) => {
    const first = all.values().next().value;
    if (first) first.setScale("x", {min: low, max: high});
  };
  const point = time => spread(null, plot => plot.setCursor({
    left: plot.valToPos(time, "x"), top: 1}, false));
  const redraw = () => all.forEach(plot => plot.redraw(false, true));
  matchMedia("(prefers-color-scheme:dark)").addEventListener("change", redraw);
  return {add, all, zoom, point, redraw, shown, paint};
})();
