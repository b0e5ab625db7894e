# SPDX-License-Identifier: Apache-2.0
"""Panels of slip: wheels, speeds and evidence over time, and details of single slips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from c3p_bags.report.motion_panels import wheel_colour, wheel_name
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.sheet import WIDE, dress, legend, line, peaks
from c3p_bags.report.slip_events import SURE, SlipEvent
from c3p_bags.runs import mapped
from c3p_kinematics.casters import wheel_jacobian
from c3p_plots import style
from c3p_plots.palette import INK, MUTED

# least range of the speed panel, mm/s, so that noise of rolling wheels looks small
LEAST_SPEED = 20.0

# time shown around a slip, s
AROUND = 0.4

# lower end of the evidence, fraction of the alarm's limit
LEAST_EVIDENCE = 1e-4


def draw_timeline(axes: Axes, run: AnalysedRun) -> None:
    """Draw the slips of each wheel, and below them those that the robot reported."""
    n = run.robot.count
    dress(axes, '')
    for event in run.events:
        row = event.wheel if event.wheel >= 0 else n
        # a slip of a moment in ten minutes shall still be seen
        length = max(event.end - event.begin, 0.003 * run.duration)
        axes.broken_barh([(event.begin, length)], (row - 0.3, 0.42), linewidth=0,
                         color=wheel_colour(event.wheel),
                         alpha=1.0 if event.confidence >= SURE else 0.45)
        if event.wheel >= 0 and len(run.events) <= 12:
            axes.annotate(f'{confidence(event.confidence)}', (event.begin + length, row - 0.09),
                          xytext=(4, 0), textcoords='offset points', va='center', fontsize=8,
                          color=INK)
    if run.log.slip is not None:
        for i in range(n):
            times = run.log.slip.time[run.log.slip.suspect[:, i]]
            axes.plot(times, np.full(len(times), i + 0.28), linestyle='none', marker='|',
                      markersize=5, color=wheel_colour(i))
    axes.set_yticks(range(n + 1), [*(f'wheel {i + 1}' for i in range(n)),
                                   'several' if n > 2 else 'either'])
    axes.set_ylim(n + 0.5, -0.5)
    axes.grid(False, axis='y')
    if not run.events:
        axes.text(0.5, 0.5, 'no slip was seen', transform=axes.transAxes, ha='center',
                  va='center', fontsize=11, color=MUTED)


def confidence(value: float) -> str:
    """Return a probability as people read it: never certain."""
    return '> 99.9 %' if value > 0.999 else f'{100 * value:.3g} %'


def draw_speed(axes: Axes, run: AnalysedRun) -> None:
    """Draw the slip speed of each wheel."""
    dress(axes, 'slip [mm/s]')
    speed = mapped.computed(lambda part: 1000.0 * np.hypot(part[..., 0], part[..., 1]),
                            run.slip.slip)
    for i in range(run.robot.count):
        line(axes, run.slip.time, speed[:, i], peaks, linewidth=1.0, label=f'wheel {i + 1}',
             **style.caster_marks(i))
    axes.set_ylim(0.0, max(1.08 * float(speed.max()), LEAST_SPEED))
    legend(axes)


def draw_evidence(axes: Axes, run: AnalysedRun) -> None:
    """Draw χ² against the limit of the alarm."""
    dress(axes, 'χ² / limit')
    axes.set_yscale('log')
    part = mapped.computed(lambda found: np.maximum(found / run.slip.threshold, LEAST_EVIDENCE),
                           run.slip.statistic)
    line(axes, run.slip.time, part, peaks, color=INK, linewidth=0.9, label='evidence χ²')
    axes.axhline(1.0, color=style.ALERT, linewidth=1.0, linestyle=(0, (4, 2)),
                 label='alarm: chance of 1 in 10⁶ without slip')
    axes.set_ylim(top=max(3.0 * float(part.max()), 10.0))
    style.clip_below(axes, LEAST_EVIDENCE)
    legend(axes)


def close_looks(run: AnalysedRun, events: Sequence[SlipEvent]) -> Figure:
    """Return a figure with a column for each slip: its speed, the wheel, and its torque."""
    page = style.figure(WIDE, 6.2)
    count = len(events)
    grid = page.add_gridspec(3, count, left=0.075, right=0.988, top=0.9, bottom=0.085,
                             hspace=0.3, wspace=0.2)
    for k, event in enumerate(events):
        panels = [page.add_subplot(grid[row, k]) for row in range(3)]
        _one(panels, run, event, named=k == 0)
        name = wheel_name(event.wheel, run.robot.count)
        panels[0].set_title(f'{name} at {event.peak_time:.2f} s', loc='left', fontsize=10,
                            fontweight='bold', color=wheel_colour(event.wheel),
                            pad=22)
    return page


def _one(panels: Sequence[Axes], run: AnalysedRun, event: SlipEvent, named: bool) -> None:
    joints = run.log.joints
    slip = run.slip
    part = (slip.time >= event.begin - AROUND) & (slip.time <= event.end + AROUND)
    time = slip.time[part]
    robot = run.robot
    # several: the fastest wheel is looked at
    wheel = event.wheel if event.wheel >= 0 else int(np.argmax(
        np.abs(slip.slip[part]).sum(axis=(0, 2))))
    colour = style.caster_colour(wheel)
    labels = (('slip [m/s]', 'rolling speed [m/s]', 'torque [N·m]') if named else ('', '', ''))
    for axes, label in zip(panels, labels, strict=True):
        dress(axes, label)
        axes.axvspan(event.begin, event.end, color=wheel_colour(event.wheel), alpha=0.12,
                     linewidth=0)
        axes.set_xlim(time[0], time[-1])
    for i in range(robot.count):
        line(panels[0], time, slip.slip[part, i, 0], color=style.caster_colour(i),
             label=f'wheel {i + 1} along')
        line(panels[0], time, slip.slip[part, i, 1], color=style.caster_colour(i),
             linestyle=':', label='across' if i == wheel else None)
    legend(panels[0], ncols=4, handlelength=1.0, columnspacing=0.7, fontsize=7)
    rolling = wheel_jacobian(robot, joints.steering[part])
    expected = np.einsum('kij,kj->ki', rolling, run.computed.twist[part])
    radius = robot.wheel_radius[wheel]
    line(panels[1], time, radius * joints.wheel_rate[part, wheel], color=colour,
         label=f'wheel {wheel + 1}, sensed')
    line(panels[1], time, radius * expected[:, wheel], color=INK, linestyle=(0, (4, 2)),
         label='as the others roll')
    legend(panels[1], fontsize=7)
    when, torque = run.log.torque
    inside = (when >= time[0]) & (when <= time[-1])
    line(panels[2], when[inside], torque[inside, wheel], color=colour,
         label='measured' if run.log.wheel_effort is None else 'commanded')
    style.limits(panels[2], robot.torque_limit[wheel], color=INK, linewidth=0.9,
                 linestyle=(0, (4, 2)))
    legend(panels[2], fontsize=7)
    panels[2].set_xlabel('time [s]', fontsize=8.5, color=INK)
