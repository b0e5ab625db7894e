# SPDX-License-Identifier: Apache-2.0
"""
What a robot with fewer motors than freedoms gives up: heading, speed or path.

Two driven wheels hold two of the three. The weights of the third fall while the reference moves,
and where they can the reference itself is replaced by one that the motors can hold. A balanced
motion of two wheels is unstable or slow in its third freedom, at 0.5 to 1 rad/s: the plan looks
further ahead than that of other robots, and the weight across the path is lower, so that a
deviation of millimetres does not take all torque from the heading.
"""

from __future__ import annotations

import numpy as np

from c3p_controller.predictive.free_heading import FREE_SPEED, FreeHeading
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.freedoms import driven_freedoms, motors

# what is kept; the third is given up
PATH_SPEED, PATH_HEADING, HEADING_SPEED = 'path_speed', 'path_heading', 'heading_speed'
PRIORITIES = (PATH_SPEED, PATH_HEADING, HEADING_SPEED)

# factors of the weights in motion, in their order in the cost: across, along, yaw, speeds across
# and along, yaw rate, torques
FACTORS = {PATH_SPEED: (0.1, 1.0, 4.0, 1.0, 1.0, 3.0, 3.0),
           PATH_HEADING: (0.1, 1.0, 4.0, 1.0, 0.2, 3.0, 3.0),
           HEADING_SPEED: (1e-3, 1.0, 4.0, 0.1, 1.0, 3.0, 3.0)}

# horizon as a multiple of that of other robots
LONGER = 1.5


# time constant of the torques, s: each preview begins anew at the robot, 50 times a second
SMOOTHING = 0.02


class Priority:
    """
    Adapts reference and weights of the plan; the memory is that of the free heading.

    Attributes
    ----------
    fewer : bool
        The robot has fewer motors than freedoms; without that nothing changes.
    longer : float
        Factor of the horizon and its steps.
    """

    def __init__(self, robot: CasterRobot, kept: str) -> None:
        """Choose what is given up; ValueError for an unknown name."""
        if kept not in PRIORITIES:
            raise ValueError(f'priority = {kept}: must be one of {", ".join(PRIORITIES)}')
        self.fewer = driven_freedoms(robot) < 3
        self.longer = LONGER if self.fewer else 1.0
        # the heading that wheels can hold; steering motors are not part of that balance
        self._heading = (FreeHeading(robot, kept == PATH_HEADING)
                         if self.fewer and kept != HEADING_SPEED
                         and (motors(robot) < robot.count).all() else None)
        self._factors = np.array(FACTORS[kept])

    def reset(self) -> None:
        """Forget the heading."""
        if self._heading is not None:
            self._heading.reset()

    def smoothed(self, torque: Array, last: Array, dt: float) -> Array:
        """Return the torques after `dt` s of a first-order lag from `last`."""
        return last + dt / (dt + SMOOTHING) * (torque - last) if self.fewer else torque

    def apply(self, rows: Array, times: Array, yaw: float, dt: float, base: Array,
              weights: Array) -> None:
        """
        Adapt the reference `rows` (k, 7) and write `weights` (k, WEIGHTS), made of `base`.

        `times` (k,), s, are those of the rows, `yaw`, rad, is that of the robot, and the last call
        was `dt` s before.
        """
        if not self.fewer:
            return
        if self._heading is not None:
            self._heading.apply(rows, times, yaw, dt)
        square = rows[:, 3]**2 + rows[:, 4]**2
        free = square / (square + FREE_SPEED**2)
        weights[:] = base
        weights[:, :7] *= 1.0 + free[:, None] * (self._factors - 1.0)
