# SPDX-License-Identifier: Apache-2.0
"""Command sources of the closed loop: goals, paths, twists and velocities over the floor."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller.goals.path import Path
from c3p_controller.torque_law import Setpoint
from c3p_description.model import Array
from c3p_kinematics.odometry import OdometryEstimate
from c3p_kinematics.se2 import to_body

# largest command that counts as zero in the goal zone, m/s and rad/s
NOTHING = 1e-9


class Command(NamedTuple):
    """
    Setpoint of the torque law and progress of the source.

    Attributes
    ----------
    setpoint : Setpoint
    done : bool
        The last goal is reached and the command is zero.
    in_zone : bool
        The robot is in the zone of the last goal.
    """

    setpoint: Setpoint
    done: bool
    in_zone: bool = False


class Source(Protocol):
    """Source of commands at the command rate."""

    @property
    def goal(self) -> Array | None:
        """Final pose (3,); None without a goal."""

    def start(self, estimate: OdometryEstimate) -> None:
        """Start at the present estimate."""

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the command at the sample of `time`, s."""


class GoalSource:
    """
    Commands of a position controller for a sequence of goals.

    The next goal is set when the present one is reached and the command has been zero for `dwell`
    seconds, or when the robot has been in the goal zone for `patience` seconds.

    Parameters
    ----------
    controller : PositionController, PathController or another with their methods
        ``set_goal(goal, pose)`` and ``step(pose)`` or ``step(pose, twist)``; its `preview`, if
        any, becomes that of the setpoint.
    goals : sequence of (3,) array_like, m and rad
    dwell, patience : float, s
    """

    def __init__(self, controller: Any, goals: Sequence[ArrayLike], dwell: float = 0.0,
                 patience: float = 5.0) -> None:
        """Take the goals; `start` sets the first."""
        self.controller = controller
        self.goals = [np.array(goal, float) for goal in goals]
        self._dwell = dwell
        self._patience = patience
        self._with_twist = len(inspect.signature(controller.step).parameters) > 1
        # times at which goals were done, s, by the clock of the run
        self.times: list[float] = []

    @property
    def goal(self) -> Array | None:
        """The last goal."""
        return self.goals[-1]

    def start(self, estimate: OdometryEstimate) -> None:
        """Set the first goal."""
        self.times = []
        self._set(estimate)

    def _set(self, estimate: OdometryEstimate) -> None:
        self._held_since = self._inside_since = math.inf
        self.controller.set_goal(self.goals[len(self.times)], estimate.pose)

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the command of the position controller."""
        setpoint, held, inside = self._command(time, estimate)
        last = len(self.times) + 1 >= len(self.goals)
        if not last and (held >= self._dwell or inside >= self._patience):
            self.times.append(time)
            self._set(estimate)
            setpoint, held, inside = self._command(time, estimate)
            last = False
        return Command(setpoint, last and held >= self._dwell, last and inside >= 0.0)

    def _command(self, time: float, estimate: OdometryEstimate) -> tuple[Setpoint, float, float]:
        """Return setpoint, and how long the goal is held and the robot in its zone; −inf: not."""
        answer = (self.controller.step(estimate.pose, estimate.twist) if self._with_twist
                  else self.controller.step(estimate.pose))
        setpoint = Setpoint(answer.twist, getattr(self.controller, 'preview', None), time)
        zero = bool((np.abs(answer.twist) < NOTHING).all())
        self._inside_since = min(self._inside_since, time) if answer.reached else math.inf
        self._held_since = (min(self._held_since, time) if answer.reached and zero
                            else math.inf)
        return setpoint, time - self._held_since, time - self._inside_since


class PathSource(GoalSource):
    """
    Commands of a path controller along one path.

    Parameters
    ----------
    controller : PathController
    path : Path or callable
        In the frame of the odometry; a callable takes the pose at the start and returns it.
    """

    def __init__(self, controller: Any, path: Path | Callable[[Array], Path]) -> None:
        """Take the path."""
        super().__init__(controller, [np.zeros(3)])
        self._make = path if callable(path) else lambda pose: path

    def _set(self, estimate: OdometryEstimate) -> None:
        self.path = self._make(estimate.pose)
        self.controller.set_path(self.path)
        self.goals = [self.path.at(np.array([self.path.length]))[0][0]]


class TwistSource:
    """
    Twists in ``base_link`` as a function of time.

    Parameters
    ----------
    velocity : callable
        Takes the time since the start, s, and returns a twist (3,).
    """

    goal = None

    def __init__(self, velocity: Callable[[float], ArrayLike]) -> None:
        """Take the function."""
        self.velocity = velocity

    def start(self, estimate: OdometryEstimate) -> None:
        """Set the time origin."""
        self._begin = estimate.time

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the twist at `time`."""
        return Command(Setpoint(np.array(self.velocity(time - self._begin), float)), False)


class FloorVelocitySource(TwistSource):
    """
    Velocities over the floor Ẋ, Ẏ, ω as a function of time.

    Rotated into ``base_link`` by the yaw of the odometry.

    Parameters
    ----------
    velocity : callable
        Takes the time since the start, s, and returns Ẋ, Ẏ, ω (3,), m/s and rad/s.
    """

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the velocity at `time` in ``base_link``."""
        velocity = np.array(self.velocity(time - self._begin), float)
        return Command(Setpoint(to_body(estimate.pose[2], velocity)), False)
