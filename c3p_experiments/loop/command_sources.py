# SPDX-License-Identifier: Apache-2.0
"""Who says where a robot of the closed loop shall go: goals, paths, velocities over the floor."""

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

# inside the goal zone a command smaller than this asks for nothing more, m/s and rad/s
NOTHING = 1e-9


class Command(NamedTuple):
    """
    What is asked, and how far the source is.

    Attributes
    ----------
    asked : Setpoint
    done : bool
        The last goal is reached, and nothing more is asked.
    in_zone : bool
        The robot is in the zone of the last goal.
    """

    asked: Setpoint
    done: bool
    in_zone: bool = False


class Source(Protocol):
    """Asks for something at the rate of its commands."""

    @property
    def goal(self) -> Array | None:
        """The pose (3,) where it ends, None if there is none or not yet."""

    def start(self, estimate: OdometryEstimate) -> None:
        """Begin where the robot is."""

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return what is asked at the sample of `time`, s."""


class GoalSource:
    """
    Drives to goals one after the other with a position controller.

    The next goal is set when the one before is reached and the controller has asked for nothing
    more for `dwell` seconds; or when the robot has been in the goal zone for `patience` seconds,
    closer or not.

    Parameters
    ----------
    controller : PositionController, PathController or another with their methods
        ``set_goal(goal, pose)`` and ``step(pose)`` or ``step(pose, twist)``; `preview`, if it has
        that, is handed on.
    goals : sequence of (3,) array_like, m and rad
    dwell, patience : float, s
    """

    def __init__(self, controller: Any, goals: Sequence[ArrayLike], dwell: float = 0.0,
                 patience: float = 5.0) -> None:
        """Take the goals; nothing is asked before `start`."""
        self.controller = controller
        self.goals = [np.array(goal, float) for goal in goals]
        self._dwell, self._patience = dwell, patience
        self._with_twist = len(inspect.signature(controller.step).parameters) > 1
        # when each goal was done, s from the start of the run's clock
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
        self._there = self._inside = math.inf
        self.controller.set_goal(self.goals[len(self.times)], estimate.pose)

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return what the position controller asks."""
        asked, there, inside = self._ask(time, estimate)
        last = len(self.times) + 1 >= len(self.goals)
        if not last and (there >= self._dwell or inside >= self._patience):
            self.times.append(time)
            self._set(estimate)
            asked, there, inside = self._ask(time, estimate)
            last = False
        return Command(asked, last and there >= self._dwell, last and inside >= 0.0)

    def _ask(self, time: float, estimate: OdometryEstimate) -> tuple[Setpoint, float, float]:
        """Return what is asked, and for how long it is done and in the zone; < 0: it is not."""
        # controllers differ in whether they want the speed, too
        answer = (self.controller.step(estimate.pose, estimate.twist) if self._with_twist
                  else self.controller.step(estimate.pose))
        asked = Setpoint(answer.twist, getattr(self.controller, 'preview', None), time)
        nothing = bool((np.abs(answer.twist) < NOTHING).all())
        self._inside = min(self._inside, time) if answer.reached else math.inf
        self._there = min(self._there, time) if answer.reached and nothing else math.inf
        return asked, time - self._there, time - self._inside


class PathSource(GoalSource):
    """
    Drives along one path with a path controller.

    Parameters
    ----------
    controller : PathController
    path : Path or callable
        In the frame of the odometry; a callable makes it of the pose at the start.
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
    Asks for velocities that are a function of time, in ``base_link``.

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
        """Count the time from here."""
        self._begin = estimate.time

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the twist at `time`."""
        return Command(Setpoint(np.array(self.velocity(time - self._begin), float)), False)


class FloorVelocitySource(TwistSource):
    """
    Asks for velocities over the floor, Ẋ, Ẏ and ω, that are a function of time.

    They are turned into ``base_link`` by the yaw of the odometry, as a joystick in the floor's
    axes would.

    Parameters
    ----------
    velocity : callable
        Takes the time since the start, s, and returns Ẋ, Ẏ, ω (3,), m/s and rad/s.
    """

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the velocity at `time` in the axes of the robot."""
        velocity = np.array(self.velocity(time - self._begin), float)
        return Command(Setpoint(to_body(estimate.pose[2], velocity)), False)
