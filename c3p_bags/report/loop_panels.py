# SPDX-License-Identifier: Apache-2.0
"""Panels of the control loop: latency, cycles and diagnostics."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from c3p_bags.report.health import LEVELS
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.sheet import dress, legend, line
from c3p_bags.runs import mapped
from c3p_description.model import Array
from c3p_plots import style
from c3p_plots.palette import INK

# bins of the histogram per decade of time
BINS_PER_DECADE = 20

# colours of the levels of diagnostics
COLOURS = ('#2da44e', '#E69F00', '#cf222e', '#8c959f')

NO_CLOCK = 'recorded in simulated time: latency unknown'


def _milliseconds(time: Array) -> Array:
    return mapped.computed(lambda part: 1000.0 * part, time)


def draw_latency_histogram(axes: Axes, run: AnalysedRun) -> None:
    """Draw the histogram of the latency; logarithmic axes show the few late commands."""
    dress(axes, 'commands')
    axes.set_xlabel('from joint_states to wheel_effort, as recorded [ms]', fontsize=style.LABEL,
                    color=INK)
    latency = _milliseconds(run.timing.latency)
    if not len(latency):
        style.absent(axes, NO_CLOCK if run.timing.answered else 'no wheel commands in this bag')
        axes.set_xticks([])
        return
    axes.set_xscale('log')
    axes.set_yscale('log')
    low = np.log10(0.02)
    high = np.log10(max(float(latency.max()), 2e3 * run.timing.period) * 1.2)
    bins = np.logspace(low, high, int(BINS_PER_DECADE * (high - low)))
    axes.hist(np.maximum(latency, 0.021), bins=bins.tolist(), color=style.SENSED, alpha=0.85)
    axes.axvline(1000.0 * run.timing.period, color=style.ALERT, linestyle=(0, (4, 2)),
                 linewidth=1.2, label='one period')
    for part, dash in ((0.5, '-'), (0.99, ':')):
        axes.axvline(float(np.quantile(latency, part)), color=INK, linewidth=1.0, linestyle=dash,
                     label=f'p{100 * part:.0f} {np.quantile(latency, part):.2f} ms')
    axes.set_ylim(bottom=0.7)
    axes.xaxis.set_major_formatter('{x:g}')
    legend(axes)


def draw_latency(axes: Axes, run: AnalysedRun) -> None:
    """Draw the latency over time."""
    dress(axes, 'latency [ms]')
    if not len(run.timing.latency):
        style.absent(axes, 'no latency')
        return
    line(axes, run.timing.time, _milliseconds(run.timing.latency), color=style.SENSED,
         linewidth=0.8, label='latency')
    axes.axhline(1000.0 * run.timing.period, color=style.ALERT, linestyle=(0, (4, 2)),
                 linewidth=1.2, label='one period')
    axes.set_ylim(bottom=0.0)
    legend(axes)


def draw_cycles(axes: Axes, run: AnalysedRun) -> None:
    """Draw the time between joint states."""
    dress(axes, 'period [ms]')
    if not len(run.timing.interval):
        style.absent(axes, 'a single sample')
        return
    # an interval ends with its sample
    line(axes, run.log.joints.time[1:], _milliseconds(run.timing.interval), color=INK,
         drawstyle='steps-pre', linewidth=0.8, label='_period')
    axes.set_ylim(0.0, 1100.0 * max(float(run.timing.interval.max()), 2 * run.timing.period))


def draw_states(axes: Axes, run: AnalysedRun) -> None:
    """Draw the level of every node's diagnostics over time."""
    dress(axes, '')
    names = list(dict.fromkeys(s.name for s in run.states))
    if not names:
        style.absent(axes, 'no /diagnostics in this bag')
        return
    shown: set[int] = set()
    # the worst state is drawn last, on top
    for state in sorted(run.states, key=lambda s: s.level if s.level < 3 else 0.5):
        length = max(state.end - state.begin, 0.003 * run.duration if state.level else 0.0)
        axes.broken_barh([(state.begin, length)], (names.index(state.name) - 0.28, 0.56),
                         color=COLOURS[state.level], linewidth=0,
                         alpha=0.35 if state.level == 0 else 1.0,
                         label=None if state.level in shown else LEVELS[state.level])
        shown.add(state.level)
    # a dollar in a name begins no formula
    axes.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis='y')
    legend(axes)


def short(name: str) -> str:
    """Return the name of a status without the common suffix."""
    return name.removesuffix(': state').replace('_', ' ')


def states_height(run: AnalysedRun) -> float:
    """Return the height of the diagnostics panel, inches."""
    return 0.28 * max(2, len({s.name for s in run.states})) + 0.1


