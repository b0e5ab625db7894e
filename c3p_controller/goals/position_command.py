# SPDX-License-Identifier: Apache-2.0
"""Command of a position controller, and the parts that all position controllers use."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller.law_settings import Parametrised
from c3p_controller.torque_law import Preview
from c3p_description.model import Array, CasterRobot
from c3p_kernels.elementary import wrap_angle


class PositionCommand(NamedTuple):
    """
    Twist (3,) in ``base_link``, m/s and rad/s, and remaining `distance`, m, and `yaw_error`, rad.

    The yaw error is goal minus present yaw, wrapped; `reached` is true inside the goal zone.
    """

    twist: Array
    distance: float
    yaw_error: float
    reached: bool


# gains that are parameters of the position controller itself, whatever its law
SHARED_GAINS = ('speed', 'goal_tolerance', 'yaw_tolerance')


class PositionLaw(Parametrised, ABC):
    """
    Position control law: drives to one goal pose at a time.

    Attributes
    ----------
    Settings : dataclass
        Of the gains; those of `SHARED_GAINS` are parameters of the node, the others of a group
        with the name of the torque law.
    gains : Settings
    goal : (3,) array or None
    preview : Preview or None
        Reference trajectory of the last command, for torque laws that use it.
    """

    shared: ClassVar[tuple[str, ...]] = SHARED_GAINS

    preview: Preview | None = None

    def __init__(self, gains: Any) -> None:
        """Start without a goal."""
        self.gains = gains
        self.goal: Array | None = None

    @classmethod
    def make(cls, gains: Any, robot: CasterRobot | None = None) -> PositionLaw:
        """Return the law with the gains that `read` returns, for the wheels of `robot`."""
        return cls(gains)

    @classmethod
    def pace(cls, values: Any) -> tuple[float, float]:
        """Return the largest speed and yaw rate of the parameters `values`, m/s and rad/s."""
        return values.speed, values.path.yaw_rate

    @property
    def zone(self) -> tuple[float, float]:
        """Goal zone, m and rad; inf where yaw does not count."""
        return self.gains.goal_tolerance, self.gains.yaw_tolerance

    def warm_up(self) -> None:  # noqa: B027 (most laws have none)
        """Compile the kernels, of a law that has some."""

    def retune(self, gains: Any) -> None:
        """Replace the gains."""
        self.gains = gains

    @abstractmethod
    def set_goal(self, goal: Array, pose: Array) -> None:
        """Drive from `pose` to `goal`, both (x, y, yaw) in the odometry frame."""

    def cancel(self) -> None:
        """Forget the goal."""
        self.goal = None

    @abstractmethod
    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """Return the command at `pose` with the measured `twist`, None without a goal."""

    def _errors(self, pose: Array) -> tuple[Array, float, float]:
        """Return the error on the floor (2,), m, the distance and the wrapped yaw error."""
        assert self.goal is not None
        error = self.goal[:2] - pose[:2]
        return error, math.hypot(*error), float(wrap_angle(self.goal[2] - pose[2]))


def checked_goal(goal: ArrayLike) -> Array:
    """Return a goal (x, y, yaw) as an array; ValueError if it is not three finite numbers."""
    goal = np.asarray(goal, float)
    if goal.shape != (3,) or not np.all(np.isfinite(goal)):
        raise ValueError(f'goal = {goal.tolist()}: must be three finite numbers, x, y and yaw')
    return goal


def body_twist(velocity: Array, turn: float, yaw: float) -> Array:
    """Return the twist (3,) in ``base_link`` of a velocity (2,) on the floor at `yaw`, rad."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0], turn])


def exponential(error: float, gain: float, rate: float) -> float:
    """
    Return ``sign(e) K (1 − e^(−μ|e|))``, the papers' smooth saturation.

    Examples
    --------
    >>> round(exponential(-4.0, 0.5, 1.2), 4)
    -0.4959
    """
    return math.copysign(-gain * math.expm1(-rate * abs(error)), error)
