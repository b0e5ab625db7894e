# SPDX-License-Identifier: Apache-2.0
"""
Position control along a path of a robot that may have fixed wheels.

Without fixed wheels it is a `PathController`. With them the robot moves as a unicycle at the
middle of their axle: to reach a goal it turns towards it, rolls there, and turns to the heading of
the goal. It rolls backward where that needs less turning. Each of the three legs is a path with a
stop at its end.

Errors and commands are those of the axle, so that they do not depend on the place of
``base_link``: in a frame ahead of the axle an error across the axle, which no turn corrects, would
hold the robot beside the heading of its goal.

Accelerations are those of the farthest pivot, whose wheel has to give them: a radian of a turn on
the spot counts as its distance, and not as `TURN_LENGTH`. The law of modules limits those of the
pivots as well, and would follow a faster turn past its end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_controller.goals.path import Path, StraightLine
from c3p_controller.goals.path_controller import PathController
from c3p_controller.goals.position_command import PositionCommand, checked_goal
from c3p_controller.position_controller_parameters import PathGains
from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import farthest_wheel
from c3p_kernels.elementary import wrap_angle
from c3p_kinematics.fixed_axle import FixedAxle, fixed_axle
from c3p_kinematics.se2 import to_body, to_floor

# shortest leg that is rolled, as a fraction of the goal zone; turns of a shorter one have no
# direction
SHORT = 0.2

# largest angle between a path and the rolling direction, rad: errors of a path of many pieces
ACROSS = 0.05

# part of a bend by which it may be narrower than stops allow: errors of a path of many pieces
NARROW = 0.01

# motion of a robot that stands, m/s and rad/s
STILL = 0.005
STILL_YAW = 0.01

# distance at which a robot that stands has arrived, relative to that of one that moves
HELD = 2.5

# places at which a path is examined
PLACES = 200


def no_goals(radius: float) -> str:
    """Return why a robot whose narrowest bend has a `radius`, m, is not sent to goals."""
    return (f'the stops of the steering axes leave bends of {radius:.2f} m and more: the robot '
            'does not turn on the spot, which a goal needs; give it paths with wider bends, or '
            'velocities')


@dataclass(frozen=True, eq=False)
class AxlePath:
    """
    Path of a robot, by the path of the middle of its axle.

    Attributes
    ----------
    axle : FixedAxle
    line : Path
        Of place and direction of the axle (`FixedAxle.pose`).

    Examples
    --------
    The axle is 1 m behind the robot, and turns on the spot:

    >>> turn = StraightLine(np.zeros(3), np.array([0.0, 0.0, np.pi / 2]))
    >>> path = AxlePath(FixedAxle(np.array([-1.0, 0.0]), 0.0), turn)
    >>> path.at(np.array([path.length]))[0].round(9).tolist()
    [[0.0, 1.0, 1.570796327]]
    """

    axle: FixedAxle
    line: Path

    @property
    def length(self) -> float:
        """Largest σ, m."""
        return self.line.length

    def at(self, sigma: Array) -> tuple[Array, Array]:
        """Return poses and derivatives; see `Path`."""
        return of_base(self.axle, *self.line.at(sigma))


@dataclass(frozen=True, eq=False)
class PathOfAxle:
    """
    Path of the middle of an axle, by that of its robot.

    Attributes
    ----------
    axle : FixedAxle
    base : Path
        Of the robot.
    """

    axle: FixedAxle
    base: Path

    @property
    def length(self) -> float:
        """Largest σ, m."""
        return self.base.length

    def at(self, sigma: Array) -> tuple[Array, Array]:
        """Return poses and derivatives; see `Path`."""
        poses, rates = self.base.at(sigma)
        yaw = poses[:, 2]
        return _beside(poses, rates, _lever(self.axle, yaw), yaw + self.axle.direction)


def of_base(axle: FixedAxle, poses: Array, rates: Array) -> tuple[Array, Array]:
    """
    Return poses (k, 3) and rates (k, 3) on the floor of a robot, by those of its axle.

    With the middle m of the axle in ``base_link``, ``p − R m`` and ``v − ω ẑ×R m``.
    """
    yaw = poses[:, 2] - axle.direction
    return _beside(poses, rates, -_lever(axle, yaw), yaw)


def _beside(poses: Array, rates: Array, lever: Array, yaw: Array) -> tuple[Array, Array]:
    """Return poses and rates (k, 3) of the points at levers (2, k) on the floor, at yaws (k,)."""
    x, y = lever
    turn = rates[:, 2]
    return (np.column_stack([poses[:, 0] + x, poses[:, 1] + y, yaw]),
            np.column_stack([rates[:, 0] - turn * y, rates[:, 1] + turn * x, turn]))


def _lever(axle: FixedAxle, yaw: Array) -> Array:
    """Return R m, from ``base_link`` to the axle on the floor at yaws (k,), (2, k), m."""
    c = np.cos(yaw)
    s = np.sin(yaw)
    x, y = axle.point.tolist()
    return np.array([c * x - s * y, s * x + c * y])


class AxlePathController(PathController):
    """
    Travels to goals and along paths within what fixed wheels allow.

    Parameters
    ----------
    gains : PathGains
    axle : FixedAxle, optional
        Of the fixed wheels; default none.
    lever : float, m
        Distance of the farthest pivot from the axle, or without one from the origin of
        ``base_link``.
    """

    def __init__(self, gains: PathGains, axle: FixedAxle | None = None,
                 lever: float = 0.0) -> None:
        """Start without a goal."""
        super().__init__(gains)
        self.axle = axle
        self.lever = lever
        self._legs: list[Array] = []
        self._end: Array | None = None
        self._turns = False
        # of the axle, at the end of the path
        self._aim: Array | None = None

    @classmethod
    def make(cls, gains: PathGains, robot: CasterRobot | None = None) -> AxlePathController:
        """Return the law with the gains that `read` returns, for the wheels of `robot`."""
        if robot is None:
            return cls(gains)
        axle = fixed_axle(robot)
        lever = farthest_wheel(robot) if axle is None else float(
            np.hypot(*(robot.hip_position - axle.point).T).max())
        return cls(gains, axle, lever)

    def set_goal(self, goal: Array, pose: Array) -> None:
        """
        Drive from `pose` to `goal`, both (x, y, yaw) in the odometry frame.

        Raises
        ------
        ValueError
            A goal that is not a pose, or a robot whose stops do not let it turn on the spot.
        """
        goal = checked_goal(goal)
        if self.axle is not None and (narrowest := self.axle.radius) > 0.0:
            raise ValueError(no_goals(narrowest))
        pose = np.array(pose, float)
        self._legs = [goal] if self.axle is None else self._between(pose, goal)
        self._end = goal
        self._begin(pose)

    def set_path(self, path: Path) -> None:
        """
        Travel along `path` from its begin.

        Raises
        ------
        ValueError
            Fixed wheels would slide sideways along it, or stops do not allow its bends.
        """
        self._legs = []
        self._end = None
        if self.axle is None:
            super().set_path(path)
            return
        self._check(path, self.axle)
        self._turns = False
        self._follow(PathOfAxle(self.axle, path), path.at(np.array([path.length]))[0][0])

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """Return the command at the odometry's `pose` (3,), None without a path."""
        axle = self.axle
        if axle is None:
            return super().step(pose, twist)
        motion = None if twist is None else np.array(axle.motion(twist))
        command = self._at_axle(axle, pose, motion)
        if command is None or self._end is None:
            return command
        distance = math.hypot(*(self._end[:2] - pose[:2]))
        yaw_error = float(wrap_angle(self._end[2] - pose[2]))
        arrived = distance <= self.gains.goal_tolerance and (
            abs(yaw_error) <= self.gains.yaw_tolerance)
        if (self._legs or not arrived) and self._leg_done(motion):
            self._begin(np.array(pose, float))
            command = self._at_axle(axle, pose, motion)
            assert command is not None  # it has a path
        return command._replace(distance=distance, yaw_error=yaw_error,
                                reached=command.reached and arrived and not self._legs)

    def _at_axle(self, axle: FixedAxle, pose: Array, motion: Array | None
                 ) -> PositionCommand | None:
        """Return the command of the path of the axle, which has this motion (3,)."""
        command = super().step(axle.pose(pose), motion)
        if command is None:
            return None
        # both in the frame of the robot again
        if self.preview is not None:
            poses, velocities = of_base(axle, self.preview.pose, self.preview.velocity)
            self.preview = self.preview._replace(pose=poses, velocity=velocities)
        floor = to_floor(axle.direction, command.twist)
        _, (twist,) = of_base(axle, np.array([[0.0, 0.0, axle.direction]]), floor[None])
        return command._replace(twist=twist)

    def _follow(self, path: Path, end: Array) -> None:
        """Begin a path of the axle, at the end of which the robot is at the pose `end` (3,)."""
        assert self.axle is not None
        super().set_path(path)
        self._aim = self.axle.pose(end)
        self.goal = end

    def cancel(self) -> None:
        """Forget the goal."""
        super().cancel()
        self._legs = []
        self._end = None

    def _errors(self, pose: Array) -> tuple[Array, float, float]:
        """
        Return errors to the end of the path; with fixed wheels `pose` is that of their axle.

        Of a leg the distance is that in the rolling direction.
        """
        if self.axle is None:
            return super()._errors(pose)
        assert self._aim is not None
        gap = self._aim[:2] - pose[:2]
        yaw_error = float(wrap_angle(self._aim[2] - pose[2]))
        if self._end is None:
            return gap, math.hypot(*gap), yaw_error
        if self._turns:
            return gap, 0.0, yaw_error
        c = math.cos(pose[2])
        s = math.sin(pose[2])
        return gap, abs(c * float(gap[0]) + s * float(gap[1])), yaw_error

    def _arrives(self, distance: float, yaw_error: float, twist: Array) -> bool:
        """
        Return whether a robot at the errors of a goal stops there.

        Friction holds one that stands a little beside the goal: it has arrived, too, as the law
        of modules would need seconds to move it by so little.
        """
        gains = self.gains
        held = (distance <= HELD * gains.stop_distance and abs(yaw_error) <= gains.stop_yaw
                and math.hypot(*twist[:2]) <= STILL and abs(float(twist[2])) <= STILL_YAW)
        return held or super()._arrives(distance, yaw_error, twist)

    def _between(self, pose: Array, goal: Array) -> list[Array]:
        """Return the ends of the legs from `pose` to `goal`: turn, roll, turn."""
        axle = self.axle
        assert axle is not None
        here = axle.pose(pose)
        there = axle.pose(goal)
        dx, dy = (there - here)[:2].tolist()
        if math.hypot(dx, dy) < SHORT * self.gains.goal_tolerance:
            return [axle.base([here[0], here[1], there[2]])]
        ahead = math.atan2(dy, dx)

        def turning(way: float) -> float:
            return float(abs(wrap_angle(way - here[2])) + abs(wrap_angle(there[2] - way)))

        way = min(ahead, ahead + math.pi, key=turning)
        return [axle.base([here[0], here[1], way]), axle.base([there[0], there[1], way]), goal]

    def _begin(self, pose: Array) -> None:
        """Begin the next leg at `pose`; the legs are planned again if the goal was missed."""
        assert self._end is not None
        if self.axle is None:
            super().set_path(StraightLine(pose, self._legs.pop()))
            return
        if not self._legs:
            self._legs = self._between(pose, self._end)
        end = self._legs.pop(0)
        if not self._legs:
            # a turn on the spot
            x, y, _ = self.axle.pose(pose).tolist()
            end = self.axle.base([x, y, self.axle.pose(end)[2]])
        leg = StraightLine(self.axle.pose(pose), self.axle.pose(end))
        self._turns = math.hypot(*leg.step[:2]) < self.gains.stop_distance
        self._follow(leg, end)

    def _leg_done(self, motion: Array | None) -> bool:
        """Return whether the robot stands at the end of a leg, by the motion of its axle."""
        if not self._there:
            return False
        return motion is None or bool(math.hypot(*motion[:2]) < STILL
                                      and abs(motion[2]) < STILL_YAW)

    def _check(self, path: Path, axle: FixedAxle) -> None:
        """Raise ValueError for a path along which fixed wheels would slide."""
        poses, rates = path.at(np.linspace(0.0, path.length, PLACES))
        for pose, rate in zip(poses, rates, strict=True):
            speed, across, turn = axle.motion(to_body(pose[2], rate))
            if abs(across) > ACROSS:
                raise ValueError(
                    f'the path leads {abs(math.degrees(math.atan2(across, speed))):.0f}° off the '
                    f'direction in which the fixed wheels roll, at ({pose[0]:.2f}, {pose[1]:.2f})'
                    ' m; choose a path whose heading follows its direction, or goals')
            if abs(turn - axle.allowed(speed, turn)) > NARROW * abs(turn):
                raise ValueError(
                    f'the path has a bend of {abs(speed / turn):.2f} m at ({pose[0]:.2f}, '
                    f'{pose[1]:.2f}) m, and the stops of the steering axes leave '
                    f'{axle.radius:.2f} m and more; choose a path with wider bends')
