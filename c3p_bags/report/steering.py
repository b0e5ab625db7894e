# SPDX-License-Identifier: Apache-2.0
"""Steering panel: angles, commanded rolling directions, and time of alignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from c3p_bags.report import style
from c3p_bags.runs.metrics import ALIGNED, COMMANDED_SPEED, held, hip_velocity
from c3p_bags.runs.run_log import RunLog
from c3p_description.model import Array, CasterRobot

# grid of the steering angles, deg
EIGHTH_TURN = 45.0

# casters whose commanded directions differ by less have one band, rad
SAME_DIRECTION = np.radians(1.0)


def commanded_steering(log: RunLog, robot: CasterRobot) -> Array:
    """
    Return the steering angles (k, n) [rad] at which wheels roll along the commanded travel.

    On the branch (modulo 180°) nearest to the steering angle at the last command; nan while the
    commanded speed is too small to have a direction.
    """
    command = hip_velocity(robot, held(log.cmd_vel, log.joints.time))
    angle = np.arctan2(command[..., 1], command[..., 0]) - 0.5 * np.pi
    angle[~(np.hypot(command[..., 0], command[..., 1]) > COMMANDED_SPEED)] = np.nan
    steering = np.unwrap(log.joints.steering, axis=0)
    for i in range(robot.count):
        known = np.flatnonzero(np.isfinite(angle[:, i]))
        if len(known):
            smooth = np.unwrap(angle[known, i], period=np.pi)
            angle[known, i] = smooth + np.pi * np.rint((steering[known[-1], i] - smooth[-1])
                                                       / np.pi)
    return angle


def draw_steering(axes: Axes, log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any],
                  start: float) -> None:
    """Draw the steering panel; `start` is the goal's arrival, s."""
    style.dress(axes, '(b) steering angles', style.TIME, r'$\theta_s$ [deg]')
    time, steering = style.thin(log.joints.time - start,
                                np.degrees(np.unwrap(log.joints.steering, axis=0)))
    if log.cmd_vel is not None:
        (command,) = style.thin(commanded_steering(log, robot))
        spread = np.ptp(command, axis=1)
        shared = not np.any(spread[np.isfinite(spread)] > SAME_DIRECTION)
        for i in range(1 if shared else robot.count):
            middle = np.degrees(command[:, i])
            band = np.degrees(ALIGNED)
            axes.fill_between(time, middle - band, middle + band, linewidth=0, alpha=0.25,
                              color=style.GREY if shared else style.caster_colour(i),
                              label='commanded ±10°' if i == 0 else None)
    for i in range(robot.count):
        axes.plot(time, steering[:, i], color=style.caster_colour(i), linewidth=style.LINE,
                  linestyle=('-', '--', '-.')[i % 3], label=f'caster {i + 1}')
    aligned = metrics.get('align_time_s')
    if aligned:
        axes.axvline(aligned, color=style.REFERENCE, linewidth=0.8, linestyle=':')
        axes.annotate(f'aligned {aligned:.2f} s', (aligned, 0.97), xytext=(4, 0),
                      xycoords=('data', 'axes fraction'), textcoords='offset points',
                      fontsize=style.SMALL, va='top')
    if np.ptp(axes.get_ylim()) < 8 * EIGHTH_TURN:
        axes.yaxis.set_major_locator(MultipleLocator(EIGHTH_TURN))
    style.headroom(axes, above=0.08, below=0.22)
    style.legend(axes, ncols=4, loc='lower right')
