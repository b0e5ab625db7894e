# SPDX-License-Identifier: Apache-2.0
"""
The last steps of the odometry, to be fitted again without a wheel that turned out to slip.

An alarm of slip comes some 0.1 s after the slip has begun (slip_monitor.py). Until then the wheel
has its full weight. With three casters a third of its slip is in the pose, and as a yaw error it
grows with every metre driven afterwards. When the wheel is isolated, the steps of the last `span`
seconds are fitted once more without it.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array
from c3p_kinematics import _odometry_kernels as kernels

# samples kept at most: 0.2 s at 320 Hz; at higher rates the span is shorter
CAPACITY = 64


class StepMemory:
    """
    A ring of steps.

    Parameters
    ----------
    geometry : (n, 4) array
        ``CasterRobot.geometry``.
    span : float, s
        Time before the newest step that is fitted again.
    """

    def __init__(self, geometry: Array, span: float) -> None:
        """Start without steps."""
        self._geometry, self._span = geometry, span
        n = len(geometry)
        # steering halfway, wheel rate, steering rate, weight of each caster
        self._casters = np.zeros((CAPACITY, 4, n))
        # twist, duration, whether the twist was held
        self._steps = np.zeros((CAPACITY, 5))
        self.clear()

    def clear(self) -> None:
        """Forget all steps: the pose was set, or samples are missing."""
        self._count = 0

    def add(self, steering: Array, wheel_rate: Array, steering_rate: Array, weight: Array,
            twist: Array, dt: float, held: bool) -> None:
        """
        Keep a step.

        Parameters
        ----------
        steering : (n,) array, rad
            Halfway.
        wheel_rate, steering_rate : (n,) array, rad/s
            Increments / `dt`.
        weight : (n,) array
            Of each caster in the fit.
        twist : (3,) array
            Fitted or held, in ``base_link``.
        dt : float, s
        held : bool
            The twist was held: it stays as it is.
        """
        row = self._count % CAPACITY
        for k, values in enumerate((steering, wheel_rate, steering_rate, weight)):
            self._casters[row, k] = values
        self._steps[row, :3], self._steps[row, 3], self._steps[row, 4] = twist, dt, held
        self._count += 1

    def without(self, wheel: int, pose: Array) -> Array:
        """
        Return the pose (3,) that the kept steps give without a wheel.

        Parameters
        ----------
        wheel : int
            Index of the caster, from 0; later steps keep their own weights.
        pose : (3,) array
            Pose after the newest step.
        """
        kept = min(self._count, CAPACITY)
        rows = np.arange(self._count - kept, self._count) % CAPACITY
        age = np.cumsum(self._steps[rows[::-1], 3])[::-1]
        rows = rows[age <= self._span]
        changed = pose.copy()
        if len(rows):
            kernels.refit(self._geometry, self._casters[rows], self._steps[rows], wheel, changed)
        return changed
