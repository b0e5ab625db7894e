# SPDX-License-Identifier: Apache-2.0
"""
Priority of heading, speed and path for a robot with fewer motors than freedoms.

Two driven wheels hold two of the three in a bend; on a line all of them, in most directions. In a
bend the weights change, and the heading of the reference is replaced by one that the motors can
hold. That motion is slow and often unstable in its heading, at 0.5 to 1 rad/s: the plan looks
further ahead than that of other robots, the heading weighs more and the error across the path
less, so that millimetres do not take all torque from the heading.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.predictive.free_heading import FREE_SPEED, FreeHeading
from c3p_controller.predictive.states import COMMON, FIRST, LINE, SECOND
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.freedoms import motors
from c3p_kinematics.singularity import length_scale

# what is kept; the third is given up
PATH_SPEED = 'path_speed'
PATH_HEADING = 'path_heading'
HEADING_SPEED = 'heading_speed'
PRIORITIES = (PATH_SPEED, PATH_HEADING, HEADING_SPEED)

# factors of the weights in motion, in their order in the cost: across, along, yaw, speeds across
# and along, yaw rate, torques
FACTORS = {PATH_SPEED: (0.1, 1.0, 4.0, 1.0, 1.0, 3.0, 3.0),
           PATH_HEADING: (0.1, 1.0, 4.0, 1.0, 0.2, 3.0, 3.0),
           HEADING_SPEED: (1e-3, 1.0, 4.0, 0.1, 1.0, 3.0, 3.0)}

# size of the robot times curvature at which a path is half a bend; shortest path that shows it, m
BEND = 0.1
SHORTEST = 0.02

# weight of driven wheels near one rolling line in a bend, and the part of it at the last state
APART = 30.0
LAST_PART = 0.25

# horizon as a multiple of that of other robots
LONGER = 1.5

# A preview begins at the robot with its speed, so that a plan may put off a start for ever. While
# the robot is slower than this part of its speed half the horizon later, the reference gets a
# lead, up to LEAD, s, at EAGER, s per s; afterwards it decays with the time constant FORGET, s
LATE = 0.9
LEAD = 0.6
EAGER = 0.4
FORGET = 0.5

# time constant of the torques, s: each preview begins anew at the robot, 50 times a second
SMOOTHING = 0.02


def check_priority(kept: str) -> None:
    """Raise ValueError unless `kept` is one of PRIORITIES."""
    if kept not in PRIORITIES:
        raise ValueError(f'priority = {kept}: must be one of {", ".join(PRIORITIES)}')


class Priority:
    """
    Adapts reference and weights of the plan; the memory is that of the free heading.

    Parameters
    ----------
    robot : CasterRobot
        One with fewer motors than freedoms.
    kept : str
        One of PRIORITIES.
    """

    def __init__(self, robot: CasterRobot, kept: str) -> None:
        """Choose what is given up."""
        check_priority(kept)
        # the heading that wheels can hold; steering motors are not part of that balance
        self._heading = (FreeHeading(robot, kept == PATH_HEADING)
                         if kept != HEADING_SPEED and (motors(robot) < robot.count).all()
                         else None)
        self._factors, self._size = np.array(FACTORS[kept]), length_scale(robot)
        self._pair = motors(robot)
        self._apart = len(self._pair) == 2 and self._heading is not None
        if self._apart:
            self._line = math.atan2(*np.subtract(*robot.hip_position[self._pair])[::-1])
        self._lead = 0.0

    def reset(self) -> None:
        """Forget heading and lead."""
        self._lead = 0.0
        if self._heading is not None:
            self._heading.reset()

    def apply(self, rows: Array, times: Array, yaw: float, dt: float, base: Array,
              weights: Array) -> None:
        """
        Adapt the reference `rows` (k, 7) and write `weights` (k, WEIGHTS), made of `base`.

        `times` (k,), s, are those of the rows, `yaw`, rad, is that of the robot, and the last call
        was `dt` s before.
        """
        self._hasten(rows, times, dt)
        if self._heading is not None:
            self._heading.apply(rows, times, yaw, dt)
        square = rows[:, 3]**2 + rows[:, 4]**2
        free = square / (square + FREE_SPEED**2)
        weights[:] = base
        if self._apart:
            weights[:, FIRST], weights[:, SECOND] = self._pair
            weights[:, LINE] = self._line
            weights[:, COMMON] = APART * self._curved(rows)
            weights[-1, COMMON] *= LAST_PART
        weights[:, :7] *= 1.0 + self._bend(rows, times) * free[:, None] * (self._factors - 1.0)

    def _hasten(self, rows: Array, times: Array, dt: float) -> None:
        """Update the lead and move `rows` forward in time by it."""
        middle = len(rows) // 2
        now, later = (math.hypot(rows[k, 3], rows[k, 4]) for k in (0, middle))
        slow = max(0.0, 1.0 - now / (LATE * later)) if later > FREE_SPEED else 0.0
        self._lead += dt * (EAGER * slow - (1.0 - slow) * self._lead / FORGET)
        self._lead = min(max(self._lead, 0.0), LEAD)
        if self._lead < dt:
            return
        moved = times + self._lead
        beyond = np.maximum(moved - times[-1], 0.0)[:, None] * rows[-1, 3:6]
        rows[:, 6] = np.unwrap(rows[:, 6])
        for j in range(7):
            rows[:, j] = np.interp(moved, times, rows[:, j])
        rows[:, :3] += beyond

    def _bend(self, rows: Array, times: Array) -> float:
        """Return how much of a bend the path is: 0 on a line, 1/2 at the curvature `BEND`/L."""
        middle = len(rows) // 2
        turned = abs(math.remainder(rows[middle, 6] - rows[0, 6], 2.0 * math.pi))
        length = max(math.hypot(rows[middle, 3], rows[middle, 4]) * times[middle], SHORTEST)
        bend = turned * self._size / length
        return bend * bend / (bend * bend + BEND * BEND)

    def _curved(self, rows: Array) -> float:
        """Return how much of a bend the path is, in whatever sense, as `_bend`."""
        turned = float(np.abs(np.diff(np.unwrap(rows[:, 6]))).sum())
        length = max(float(np.hypot(*np.diff(rows[:, :2], axis=0).T).sum()), SHORTEST)
        bend = turned * self._size / length
        return bend * bend / (bend * bend + BEND * BEND)
