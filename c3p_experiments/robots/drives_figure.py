# SPDX-License-Identifier: Apache-2.0
"""Pictures of the battery: paths and torques of the drives on one plant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from c3p_bags.report import sheet as lines
from c3p_bags.report.path import draw_robot
from c3p_description.model import CasterRobot
from c3p_dynamics.traction import torque_bounds
from c3p_experiments.robots.battery import DriveOutcome
from c3p_plots import style

# points of a path, and bins of a torque line: a page holds 32 drives
POINTS = 160
BINS = 140

# line styles of wheels, for readers without colour
DASHES = ('-', '--', '-.', ':', (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)))


def drives_figure(driven: Sequence[DriveOutcome], robot: CasterRobot) -> Figure | None:
    """Return paths and torques of the drives `driven` on one plant; None without a drive."""
    named = [d for d in driven if d.run is not None and not d.task.name.startswith('steering')]
    others = [d for d in driven if d.run is not None and d.task.name.startswith('steering')]
    if not named and not others:
        return None
    columns = len(named) + bool(others)
    sheet = style.figure(10.0, 4.6)
    grid = sheet.add_gridspec(2, columns, left=0.055, right=0.99, top=0.94, bottom=0.1,
                              hspace=0.34, wspace=0.3, height_ratios=(1.25, 1.0))
    for k, drive in enumerate(named):
        _path(sheet.add_subplot(grid[0, k]), [drive], robot, drive.task.name.replace('_', ' '))
        _torques(sheet.add_subplot(grid[1, k]), drive, robot, labelled=k == 0)
    if others:
        _path(sheet.add_subplot(grid[0, -1]), others, robot, f'{len(others)} start steerings')
        worst = max(others, key=lambda d: d.metrics['torque_variation_nm_per_s'])
        axes = sheet.add_subplot(grid[1, -1])
        _torques(axes, worst, robot)
        axes.set_title(worst.task.name.replace('_', ' '), fontsize=style.SMALL,
                       color=style.MUTED, loc='left', pad=2)
    return sheet


def _path(axes: Axes, drives: Sequence[DriveOutcome], robot: CasterRobot, title: str) -> None:
    axes.set_aspect('equal', adjustable='datalim')
    single = len(drives) == 1
    for drive in drives:
        run = drive.run
        assert run is not None
        motion = run.log.ground_truth
        facts = run.facts
        step = max(1, len(motion.time) // POINTS)
        wanted = np.array([np.asarray(p)[:2] for p in facts.get('curve', facts.get('points'))])
        axes.plot(*wanted[::max(1, len(wanted) // POINTS)].T, color=style.REFERENCE,
                  linestyle='--', linewidth=0.8, zorder=6)
        axes.plot(*motion.pose[::step, :2].T, linewidth=1.5 if single else 1.1, zorder=7,
                  color=style.TRUE if drive.reached else style.ALERT)
        if single:
            for k in (0, -1):
                draw_robot(axes, robot, motion.pose[k], run.log.joints.steering[k])
        elif not drive.reached:
            axes.plot(*motion.pose[-1, :2], 'x', color=style.ALERT, markersize=6, zorder=8)
    missed = sum(not d.reached for d in drives)
    style.dress(axes, title + (f', {missed} missed' if missed else ''), 'X [m]', 'Y [m]')


def _torques(axes: Axes, drive: DriveOutcome, robot: CasterRobot, labelled: bool = False) -> None:
    assert drive.run is not None
    log = drive.run.log
    for i in np.flatnonzero(robot.driven):
        axes.plot(*lines.envelope(log.wheel_effort.time, log.wheel_effort.value[:, i], BINS),
                  color=style.caster_colour(int(i)), linewidth=0.9,
                  linestyle=DASHES[i % len(DASHES)],
                  label=f'{i + 1}' if labelled else None)
    style.limits(axes, torque_bounds(robot)[:robot.count][robot.driven], color=style.GREY,
                 linewidth=0.6, linestyle=':')
    most = max(1.15 * float(np.abs(log.wheel_effort.value).max()), 1e-3)
    axes.set_ylim(-most, most)
    style.dress(axes, '', 'time [s]', 'torque [N·m]' if labelled else '')
    if labelled:
        style.legend(axes, ncols=6, loc='upper right', fontsize=6.0)
