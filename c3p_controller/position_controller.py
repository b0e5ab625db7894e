# SPDX-License-Identifier: Apache-2.0
"""
Exponential position control, paper I, eqs (14)-(16), made to drive a straight line.

The paper gives each floor axis a speed of its own, ``K (1 − e^(−μ|e|))``. Far from the goal every
axis saturates at K, so that the robot leaves a line that is not along an axis or a diagonal (14 cm
on the third leg of the paper's triangle, with an ideal robot). Here the same law acts along the
line from start to goal and across it:

    v = K (1 − e^(−μ|e_∥|)) sign(e_∥) t + K (1 − e^(−μ_⊥|e_⊥|)) sign(e_⊥) n,   |v| ≤ K
    ω = K_Φ Φ_e + K_er δ_er

with t along the line, n across, and δ_er the angle from the line to the remaining error. The error
is on the floor; the twist is given in ``base_link``, for which the rotation that the paper omits
is needed (docs/papers/el_shenawy.md). `axis_velocity` is the paper's own form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# a start closer to the goal than this gives no line, m
SHORTEST_LINE = 0.05

# what counts as coming closer to the goal, m and rad
PROGRESS_DISTANCE, PROGRESS_YAW = 0.01, 0.02


@dataclass(frozen=True)
class PositionGains:
    """
    Gains of the exponential law and what counts as arrived.

    Attributes
    ----------
    speed : float, m/s
        K, the speed far from the goal.
    approach : float, 1/m
        μ, how late the robot slows down: the time constant at the goal is 1/(K μ).
    line_approach : float, 1/m
        μ_⊥, the same across the line; 0 leaves the line alone.
    yaw_gain, line_yaw_gain : float, 1/s
        K_Φ and K_er. Slack on purpose: while the casters turn, the platform must be free to yaw.
    yaw_rate : float, rad/s
        Limit of ω.
    goal_tolerance, yaw_tolerance : float, m and rad
        The goal zone.
    stop_distance, stop_yaw : float, m and rad
        Inside the zone the robot closes in to here and then stands, until it is out of the zone
        again: position first, then yaw.
    """

    speed: float = 0.5
    approach: float = 1.2
    line_approach: float = 0.95
    yaw_gain: float = 0.36
    line_yaw_gain: float = 0.0
    yaw_rate: float = 0.5
    goal_tolerance: float = 0.05
    yaw_tolerance: float = 0.15
    stop_distance: float = 0.02
    stop_yaw: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name in ('speed', 'approach', 'yaw_rate', 'goal_tolerance', 'yaw_tolerance'):
            if not getattr(self, name) > 0:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero')
        for inner, outer in (('stop_distance', 'goal_tolerance'), ('stop_yaw', 'yaw_tolerance')):
            if not 0 < getattr(self, inner) <= getattr(self, outer):
                raise ValueError(f'{inner} = {getattr(self, inner)}: must be greater than zero '
                                 f'and at most {outer} = {getattr(self, outer)}')


class PositionCommand(NamedTuple):
    """
    What the position controller asks for, and how far it is.

    Attributes
    ----------
    twist : (3,) array
        In ``base_link``, m/s and rad/s.
    distance : float, m
    yaw_error : float, rad
        Goal minus present yaw, wrapped.
    reached : bool
        Inside the goal zone, position and yaw.
    """

    twist: Array
    distance: float
    yaw_error: float
    reached: bool


def exponential(error: float, gain: float, rate: float) -> float:
    """
    Return ``sign(e) K (1 − e^(−μ|e|))``, the papers' smooth saturation.

    Examples
    --------
    >>> round(exponential(-4.0, 0.5, 1.2), 4)
    -0.4959
    """
    return math.copysign(-gain * math.expm1(-rate * abs(error)), error)


def axis_velocity(error: Array, gain: tuple[float, float], rate: tuple[float, float]) -> Array:
    """Return the floor velocity of eqs (14), (15) as printed: each floor axis by itself, m/s."""
    return np.array([exponential(error[0], gain[0], rate[0]),
                     exponential(error[1], gain[1], rate[1])])


def line_velocity(error: Array, direction: Array, gains: PositionGains) -> Array:
    """
    Return the floor velocity that drives along the line to the goal and back to it, m/s.

    Parameters
    ----------
    error : (2,) array, m
        Goal minus position, floor.
    direction : (2,) array
        Unit vector of the line.
    gains : PositionGains
    """
    along = error @ direction
    across = direction[0] * error[1] - direction[1] * error[0]
    v_along = exponential(along, gains.speed, gains.approach)
    v_across = exponential(across, gains.speed, gains.line_approach)
    velocity = np.array([v_along * direction[0] - v_across * direction[1],
                         v_along * direction[1] + v_across * direction[0]])
    return velocity * min(1.0, gains.speed / max(math.hypot(*velocity), 1e-12))


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


class PositionController:
    """
    Drives to a goal pose; the memory is the goal, the line to it and what has been reached.

    Parameters
    ----------
    gains : PositionGains
    """

    def __init__(self, gains: PositionGains) -> None:
        """Start without a goal."""
        self.gains = gains
        self.goal: Array | None = None
        self._direction: Array | None = None
        self._there, self._turned = False, False

    def set_goal(self, goal: Array, pose: Array) -> None:
        """
        Drive from `pose` to `goal` from now on, both (x, y, yaw) in the odometry frame.

        Raises
        ------
        ValueError
            A goal that is not three finite numbers.
        """
        goal = checked_goal(goal)
        self.goal = goal
        line = goal[:2] - pose[:2]
        length = math.hypot(*line)
        self._direction = line / length if length > SHORTEST_LINE else None
        self._there, self._turned = False, False

    def cancel(self) -> None:
        """Forget the goal."""
        self.goal = None

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """
        Return the command at `pose` (x, y, yaw in the odometry frame), None without a goal.

        Parameters
        ----------
        pose : (3,) array, m and rad
        twist : (3,) array, optional
            Sensed; this law has no use for it.
        """
        if self.goal is None:
            return None
        gains = self.gains
        error = self.goal[:2] - pose[:2]
        distance, yaw_error = math.hypot(*error), float(wrap(self.goal[2] - pose[2]))
        # arrived is a narrower thing than being in the zone, so that noise does not toggle it
        in_zone, turned = distance <= gains.goal_tolerance, abs(yaw_error) <= gains.yaw_tolerance
        self._there = in_zone and (self._there or distance <= gains.stop_distance)
        self._turned = turned and self._there and (
            self._turned or abs(yaw_error) <= gains.stop_yaw)
        velocity, off_line = np.zeros(2), 0.0
        if not self._there:
            direction = error / distance if self._direction is None else self._direction
            velocity = line_velocity(error, direction, gains)
            off_line = 0.0 if in_zone else math.atan2(
                direction[0] * error[1] - direction[1] * error[0], error @ direction)
        turn = 0.0 if self._turned else (gains.yaw_gain * yaw_error
                                         + gains.line_yaw_gain * off_line)
        turn = min(max(turn, -gains.yaw_rate), gains.yaw_rate)
        c, s = math.cos(pose[2]), math.sin(pose[2])
        twist = np.array([c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0],
                          turn])
        return PositionCommand(twist, distance, yaw_error, in_zone and turned)


class Progress:
    """
    Tells when a robot no longer comes closer to its goal.

    Coming closer is a new smallest distance, by PROGRESS_DISTANCE, or yaw error, by PROGRESS_YAW.
    """

    def __init__(self) -> None:
        """Start with everything ahead."""
        self._distance, self._yaw = math.inf, math.inf
        self._since = -math.inf

    def step(self, time: float, command: PositionCommand, timeout: float) -> bool:
        """Return False when nothing came closer for `timeout` s (0: always True)."""
        closer = False
        if command.distance < self._distance - PROGRESS_DISTANCE:
            self._distance, closer = command.distance, True
        if abs(command.yaw_error) < self._yaw - PROGRESS_YAW:
            self._yaw, closer = abs(command.yaw_error), True
        if closer or command.reached:
            self._since = time
        return timeout == 0.0 or time - self._since <= timeout
