# SPDX-License-Identifier: Apache-2.0
"""Panel of the trajectory on the pages of experiments."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from c3p_bags.report.path import APART_WIDTHS, draw_robot
from c3p_description.model import Array, CasterRobot
from c3p_experiments.el_shenawy.goals import ZONE
from c3p_experiments.loop.outcome import ExperimentRun
from c3p_kinematics.se2 import to_floor
from c3p_plots import style

# rotation after which the robot is drawn again, rad
APART_TURN = 1.5

# smallest distance of the last two drawn robots, fraction of the usual distance
CLOSE = 0.6

# fraction of the width of a wide panel that a trajectory may take for a legend beside it
BESIDE = 0.65

# length of arrows of pushes, m
ARROW = 0.3


def draw_trajectory(axes: Axes, run: ExperimentRun, robot: CasterRobot, letter: str,
                    wide: bool) -> None:
    """
    Draw the trajectory over the floor with the `robot` at some poses.

    Into the panel `axes` with this `letter`, which is `wide` or high. The facts of the `run` may
    hold ``points``, a ``curve``, a ``direction`` and ``pushes``.
    """
    style.dress(axes, f'({letter}) trajectory', 'X [m]', 'Y [m]')
    axes.set_aspect('equal', adjustable='datalim')
    log = run.log
    facts = run.facts
    truth = log.ground_truth
    angles = np.unwrap(log.joints.steering, axis=0)
    width = 2.0 * float(np.linalg.norm(robot.hip_position, axis=1).max())
    for k in places(truth.pose, width):
        draw_robot(axes, robot, truth.pose[k], angles[k])
    desired = facts.get('curve', facts.get('points'))
    if desired is None:
        far = np.abs((truth.pose[-1, :2] - truth.pose[0, :2]) @ facts['direction'])
        desired = [truth.pose[0, :2], truth.pose[0, :2] + facts['direction'] * far / (
            facts['direction'] @ facts['direction'])]
    desired = np.array([np.asarray(point)[:2] for point in desired])
    axes.plot(*desired.T, color=style.REFERENCE, linestyle='--', linewidth=0.9, label='desired',
              zorder=6)
    for motion, name, colour, points in ((truth, 'true', style.TRUE, 2.4),
                                         (log.odom, 'odometry', style.SENSED, 1.0)):
        axes.plot(*style.thin(motion.pose[:, 0], motion.pose[:, 1]), color=colour,
                  linewidth=points, label=name, zorder=7)
    for number, goal in enumerate(facts.get('points', ())[1:]):
        axes.add_patch(Circle(goal[:2], ZONE, facecolor='none', edgecolor=style.GOAL,
                              linewidth=1.4, zorder=8,
                              label='goal zone' if number == 0 else None))
    _pushes(axes, run)
    size = axes.dataLim.size
    page = axes.figure
    assert isinstance(page, Figure)
    box = np.asarray(axes.get_position().size) * page.get_size_inches()
    if wide and size[0] / size[1] < BESIDE * box[0] / box[1]:
        # the equal aspect leaves the sides free
        style.legend(axes, loc='center left')
        axes.autoscale_view()
        return
    style.legend(axes, ncols=6 if wide else 2, loc='upper center')
    # room for the legend by data limits: axis limits are fixed by the equal aspect
    low, high = axes.dataLim.intervaly
    axes.update_datalim([(float(truth.pose[0, 0]), high + 0.22 * (high - low))])
    axes.autoscale_view()


def places(pose: Array, width: float) -> list[int]:
    """Return the rows of `pose` (k, 3) at which a robot of `width`, m, is drawn, ends included."""
    def apart(j: int, k: int) -> float:
        moved = np.hypot(*(pose[k, :2] - pose[j, :2]))
        turn = abs(pose[k, 2] - pose[j, 2])
        return max(moved / (APART_WIDTHS * width), turn / APART_TURN)

    rows = [0]
    end = len(pose) - 1
    for k in range(0, len(pose), 10):
        if apart(rows[-1], k) >= 1.0:
            rows.append(k)
    # the last pose replaces one that it would overlap
    if len(rows) > 1 and apart(rows[-1], end) < CLOSE:
        rows.pop()
    return [*rows, end]


def _pushes(axes: Axes, run: ExperimentRun) -> None:
    """Draw place and direction of the pushes."""
    truth = run.log.ground_truth
    for push in run.facts.get('pushes', ()):
        k = min(int(np.searchsorted(truth.time, push.time)), len(truth.time) - 1)
        force = to_floor(truth.pose[k, 2], [*push.force, 0.0])[:2]
        head = tail = truth.pose[k, :2]
        text = f'{push.moment:g} N m'
        if any(push.force):
            text = f'{np.hypot(*push.force):g} N'
            tail = head - ARROW * force / np.hypot(*force)
            axes.annotate('', tuple(head), tuple(tail), zorder=9, arrowprops={
                'arrowstyle': '-|>', 'color': style.ALERT, 'linewidth': 1.6})
        axes.annotate(f'{text}, {push.duration:g} s', tuple(tail), xytext=(0, -6), zorder=9,
                      textcoords='offset points', fontsize=style.SMALL, ha='center', va='top',
                      color=style.ALERT, bbox={'facecolor': 'white', 'edgecolor': 'none',
                                               'pad': 0.8, 'alpha': 0.85})
