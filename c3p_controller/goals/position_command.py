# SPDX-License-Identifier: Apache-2.0
"""Command of a position controller, and the parts that all position controllers use."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller.torque_law import Preview
from c3p_description.model import Array


class PositionCommand(NamedTuple):
    """
    Twist (3,) in ``base_link``, m/s and rad/s, and remaining `distance`, m, and `yaw_error`, rad.

    The yaw error is goal minus present yaw, wrapped; `reached` is true inside the goal zone.
    """

    twist: Array
    distance: float
    yaw_error: float
    reached: bool


class PositionLaw(Protocol):
    """
    Position control law: drives to one goal pose at a time.

    Attributes
    ----------
    goal : (3,) array or None
    preview : Preview or None
        Reference trajectory of the last command, for torque laws that use it.
    """

    goal: Array | None
    preview: Preview | None

    @property
    def zone(self) -> tuple[float, float]:
        """Goal zone, m and rad; inf where yaw does not count."""

    def retune(self, gains: Any) -> None:
        """Replace the gains."""

    def set_goal(self, goal: Array, pose: Array) -> None:
        """Drive from `pose` to `goal`, both (x, y, yaw) in the odometry frame."""

    def cancel(self) -> None:
        """Forget the goal."""

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """Return the command at `pose` with the measured `twist`, None without a goal."""


def checked_goal(goal: ArrayLike) -> Array:
    """
    Return a goal pose (x, y, yaw) as an array.

    Raises
    ------
    ValueError
        A `goal` that is not three finite numbers.
    """
    goal = np.asarray(goal, float)
    if goal.shape != (3,) or not np.all(np.isfinite(goal)):
        raise ValueError(f'goal = {goal.tolist()}: must be three finite numbers, x, y and yaw')
    return goal


def exponential(error: float, gain: float, rate: float) -> float:
    """
    Return ``sign(e) K (1 − e^(−μ|e|))``, the papers' smooth saturation.

    Examples
    --------
    >>> round(exponential(-4.0, 0.5, 1.2), 4)
    -0.4959
    """
    return math.copysign(-gain * math.expm1(-rate * abs(error)), error)
