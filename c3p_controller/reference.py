# SPDX-License-Identifier: Apache-2.0
"""From the twist that is asked for to one that a body can follow, with its acceleration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array

# a filtered command this close to the command is the command, m/s and rad/s
ARRIVED = 1e-4


@dataclass(frozen=True)
class ReferenceLimits:
    """
    How fast a reference may be and change.

    Attributes
    ----------
    speed, yaw_rate : float, m/s and rad/s
        Largest norm of (vx, vy) and of ω.
    acceleration, yaw_acceleration : float, m/s² and rad/s²
        Largest change of the velocity as seen from the floor.
    smoothing : float, s
        Time constant of a filter before the limits: commands come in steps, 20 to 50 times a
        second, and their derivative is fed forward. 0 is off.
    """

    speed: float = 0.8
    yaw_rate: float = 2.0
    acceleration: float = 0.125
    yaw_acceleration: float = 0.55
    smoothing: float = 0.04

    def __post_init__(self) -> None:
        """Refuse limits that are not greater than zero; inf means no limit."""
        if not 0.0 <= self.smoothing < math.inf:
            raise ValueError(f'smoothing = {self.smoothing}: must be 0 or more seconds')
        for name in ('speed', 'yaw_rate', 'acceleration', 'yaw_acceleration'):
            if not getattr(self, name) > 0:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero; '
                                 'inf means no limit')


def limit_twist(twist: Array, limits: ReferenceLimits) -> Array:
    """
    Return `twist` with its speed and yaw rate inside the limits.

    One factor for all three components, so that the path that the twist describes, its direction
    and its curvature, stays the same.

    Examples
    --------
    >>> limit_twist(np.array([3.0, 4.0, 0.0]), ReferenceLimits(speed=1.0))
    array([0.6, 0.8, 0. ])
    """
    excess = max(math.hypot(twist[0], twist[1]) / limits.speed, abs(twist[2]) / limits.yaw_rate,
                 1.0)
    return np.asarray(twist, float) / excess


class ReferenceShaper:
    """
    Follows the commanded twist with limited acceleration; the memory is the present reference.

    The linear part is limited as a vector over the floor: between two steps the reference is
    turned with the body first, so that a robot that yaws while it travels straight over the floor
    uses none of its acceleration for that.
    """

    def __init__(self, limits: ReferenceLimits) -> None:
        """Start from rest."""
        self.limits = limits
        self.reset()

    def reset(self, twist: Array | None = None) -> None:
        """Start again from `twist` (rest when left out)."""
        self.twist = np.zeros(3) if twist is None else np.array(twist, float)
        self._target = self.twist

    def step(self, command: Array, yaw_rate: float, dt: float) -> tuple[Array, Array]:
        """
        Advance by `dt` towards `command`.

        Parameters
        ----------
        command : (3,) array
            Twist asked for, ``base_link``.
        yaw_rate : float, rad/s
            Of the body, measured: the axes turn by ``yaw_rate·dt`` meanwhile.
        dt : float, s
            Greater than zero.

        Returns
        -------
        twist, accel : (3,) arrays
            Reference ν_r and the derivative ν̇_r of its components, ``base_link``.
        """
        limits, before = self.limits, self.twist
        c, s = math.cos(yaw_rate * dt), math.sin(yaw_rate * dt)
        target = self._smooth(limit_twist(command, limits), dt)
        x, y = c * before[0] + s * before[1], -s * before[0] + c * before[1]
        dx, dy = target[0] - x, target[1] - y
        step = math.hypot(dx, dy)
        part = min(1.0, limits.acceleration * dt / step) if step > 0.0 else 1.0
        most = limits.yaw_acceleration * dt
        turn = min(max(target[2] - before[2], -most), most)
        self.twist = np.array([x + part * dx, y + part * dy, before[2] + turn])
        return self.twist, (self.twist - before) / dt

    def _smooth(self, command: Array, dt: float) -> Array:
        """Return the filtered command; filtered in body axes, where commands are constant."""
        smoothing = self.limits.smoothing
        left = math.exp(-dt / smoothing) if smoothing > 0.0 else 0.0
        target = command + left * (self._target - command)
        # the end is reached, not approached for ever
        self._target = command if (abs(target - command) < ARRIVED).all() else target
        return self._target
