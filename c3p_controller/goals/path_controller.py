# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Position control along a path, with a preview for torque laws that use it.

The reference begins at the robot's place along the path, so that there is no lag to make up after
casters have turned, and moves with

    v ← min(v + a dt, K, ω_max/|dφ/dσ|, √(2 a_b (L − σ)), k (L − σ))

until it rests at the end; before a bend it brakes with a_b. The commanded twist is that of the
reference in ``base_link``, with the exponential law of the papers across the path and in yaw.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from c3p_controller.goals.path import Path, StraightLine, closest
from c3p_controller.goals.position_command import (
    PositionCommand,
    PositionLaw,
    body_twist,
    checked_goal,
    exponential,
)
from c3p_controller.position_controller_parameters import PathGains
from c3p_controller.predictive._kernels import on_piece, piece_of
from c3p_controller.torque_law import Preview
from c3p_description.model import Array
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle

__all__ = ['SPACING', 'PathController', 'PathGains']

# time between the points of the preview, s
SPACING = 0.05

# speed of an arrival relative to that of the approach there: noise of the measured twist
PASSING = 2.0


@kernel
def _travel(start, places, profile, allowed_out, sigma_out, rates_out):
    """
    Lower the speeds allowed at `places` by the deceleration, and travel the speed profile.

    `start` is place and speed; the speed is at most the one allowed there. `profile` has the
    length of the path, m, acceleration and deceleration, m/s², and approach, 1/s. Places and
    speeds, SPACING apart in time, are written into `sigma_out` and `rates_out`.
    """
    here, speed = start
    length, acceleration, deceleration, approach = profile
    # backwards, so that each next speed can be reached
    allowed = allowed_out[:, 0]
    step = 2.0 * deceleration * (places[1] - places[0])
    for k in range(len(allowed) - 2, -1, -1):
        allowed[k] = min(allowed[k], math.sqrt(allowed[k + 1]**2 + step))
    speed = min(speed, allowed[0])
    for k in range(len(sigma_out)):
        sigma_out[k] = here
        rates_out[k] = speed
        left = length - here
        ahead = here + SPACING * speed
        speed = min(speed + acceleration * SPACING,
                    on_piece(piece_of(ahead, places), ahead, places, allowed_out, 0),
                    math.sqrt(2.0 * deceleration * left), approach * left)
        here = min(here + SPACING * 0.5 * (rates_out[k] + speed), length)


@kernel
def _bend_speed(slopes, speed, yaw_rate, allowed_out):
    """Write the speed along the path, m/s, that derivatives by σ (k, 3) allow at each place."""
    for k in range(len(allowed_out)):
        bend = abs(slopes[k, 2])
        allowed_out[k] = yaw_rate / bend if bend * speed > yaw_rate else speed


def pivot_part(rate: Array, lever: float) -> float:
    """
    Return the acceleration along a path at which a pivot has one of 1 m/s², at most 1.

    `rate` (3,) is the derivative of the path by σ, and `lever`, m, the distance of the pivot.
    """
    return 1.0 / max(math.hypot(*rate[:2]) + lever * abs(float(rate[2])), 1.0)


class PathController(PositionLaw):
    """Travels along a path to its end; the memory is the path and the place along it."""

    Settings: ClassVar[type[PathGains]] = PathGains
    group: ClassVar[str] = 'path'

    # of the pivot to which the accelerations of the gains belong, m; None: the origin
    lever: float | None = None

    @classmethod
    def read(cls, values: Any, name: str) -> Any:
        """Return the gains of the parameters; ValueError for a stop outside the goal zone."""
        for inner, outer in (('stop_distance', 'goal_tolerance'), ('stop_yaw', 'yaw_tolerance')):
            if getattr(values.path, inner) > getattr(values, outer):
                raise ValueError(f'path.{inner} = {getattr(values.path, inner)}: must be at most '
                                 f'{outer} = {getattr(values, outer)}')
        return super().read(values, name)

    def __init__(self, gains: PathGains) -> None:
        """Start without a path; the horizon of `gains` stays."""
        super().__init__(gains)
        self.path: Path | None = None
        self._sigma = 0.0
        self._there = False
        # of the accelerations of the gains, along the path
        self._part = 1.0
        self._numbers = np.arange(int(round(gains.horizon / SPACING)) + 1)
        self._times = SPACING * self._numbers

    def warm_up(self) -> None:
        """Compile the kernels; forgets the path."""
        self.set_goal(np.zeros(3), np.zeros(3))
        self.step(np.zeros(3))
        self.cancel()

    def set_goal(self, goal: Array, pose: Array) -> None:
        """Drive straight from `pose` to `goal`, both (x, y, yaw) in the odometry frame."""
        self.set_path(StraightLine(np.array(pose, float), checked_goal(goal)))

    def set_path(self, path: Path) -> None:
        """Travel along `path` from its begin."""
        self.path = path
        self.goal = path.at(np.array([path.length]))[0][0]
        self._sigma = 0.0
        self._there = False

    def cancel(self) -> None:
        """Forget the path."""
        self.goal = None
        self.path = None
        self.preview = None

    def step(self, pose: Array, twist: Array | None = None) -> PositionCommand | None:
        """
        Return the command at the odometry's `pose` (3,), None without a path.

        The measured `twist` (3,) in ``base_link`` is zero when omitted. The attribute `preview`
        belongs to the command.
        """
        path = self.path
        if path is None:
            return None
        gains = self.gains
        twist = np.zeros(3) if twist is None else twist
        _, distance, yaw_error = self._errors(pose)
        self._sigma = closest(path, pose, self._sigma)
        ending = path.length - self._sigma < gains.goal_tolerance
        in_zone = (ending and distance <= gains.goal_tolerance
                   and abs(yaw_error) <= gains.yaw_tolerance)
        # arrival needs less error than the zone has, so that noise does not toggle it
        self._there = in_zone and (self._there or self._arrives(distance, yaw_error, twist))
        places, allowed = self._allowed(path)
        (here,), (rate,) = path.at(np.array([self._sigma]))
        if self.lever is not None:
            self._part = pivot_part(rate, self.lever)
        self.preview = self._sample(path, rate, pose[2], twist, places, allowed)
        command = np.zeros(3) if self._there else self._twist(
            path.length - self._sigma, here - pose, rate, pose[2], float(allowed[0]))
        return PositionCommand(command, distance, yaw_error, in_zone)

    def _arrives(self, distance: float, yaw_error: float, twist: Array) -> bool:
        """
        Return whether a robot at the errors of a goal stops there: one that passes it returns.

        The approach has the speeds ``k`` times the distances of the arrival there.
        """
        gains = self.gains
        near = distance <= gains.stop_distance and abs(yaw_error) <= gains.stop_yaw
        return (near and math.hypot(*twist[:2]) <= PASSING * gains.approach * gains.stop_distance
                and abs(float(twist[2])) <= PASSING * gains.approach * gains.stop_yaw)

    def _sample(self, path: Path, rate: Array, yaw: float, twist: Array, places: Array,
                allowed: Array) -> Preview:
        """
        Return the preview: the speed profile integrated from the present motion on.

        Lowers the speeds `allowed` at `places` so that each next one can be reached. `rate` (3,)
        is the derivative by σ at the present place of the path, `yaw`, rad, that of the robot.
        """
        gains = self.gains
        length = path.length
        c, s = math.cos(yaw), math.sin(yaw)
        floor = np.array([c * twist[0] - s * twist[1], s * twist[0] + c * twist[1], twist[2]])
        # present speed along the path; where the platform only turns, that of σ
        planar = float(rate[:2] @ rate[:2])
        speed = float(floor[:2] @ rate[:2]) / planar if planar > 0.25 else (
            floor[2] / rate[2] if rate[2] else 0.0)
        times = self._times
        sigma = np.empty(len(times))
        rates = np.empty(len(times))
        part = self._part
        _travel((float(self._sigma), max(float(speed), 0.0)), places,
                (float(length), part * gains.acceleration, part * gains.deceleration,
                 gains.approach),
                allowed[:, None], sigma, rates)
        poses, slopes = path.at(sigma)
        # a bend may begin between two places
        rates = np.minimum(rates, self._in_bend(slopes))
        return Preview(times, poses, slopes * rates[:, None])

    def _in_bend(self, slopes: Array) -> Array:
        """Return the speed along the path (k,) that derivatives by σ (k, 3) allow, m/s."""
        gains = self.gains
        allowed = np.empty(len(slopes))
        _bend_speed(np.ascontiguousarray(slopes, float), float(gains.speed),
                    float(gains.yaw_rate), allowed)
        return allowed

    def _allowed(self, path: Path) -> tuple[Array, Array]:
        """Return places σ within reach, and the speed along the path that bends allow there."""
        gains = self.gains
        here = self._sigma
        end = min(here + gains.speed * gains.horizon, path.length)
        # numpy.linspace makes the same numbers in six calls
        places = here + (end - here) / self._numbers[-1] * self._numbers
        places[-1] = end
        return places, self._in_bend(path.at(places)[1])

    def _twist(self, left: float, gap: Array, rate: Array, yaw: float, allowed: float) -> Array:
        """
        Return the twist of the reference, with the correction back to the path.

        `left`, m, is the rest of the path, `gap` (3,) leads from the robot to its present place on
        the path, and `rate` (3,) is the derivative by σ there.
        """
        gains = self.gains
        speed = min(allowed, math.sqrt(2.0 * self._part * gains.deceleration * left),
                    gains.approach * left)
        velocity = speed * rate[:2] + np.array([
            exponential(gap[0], gains.speed, gains.line_approach),
            exponential(gap[1], gains.speed, gains.line_approach)])
        velocity *= min(1.0, gains.speed / max(math.hypot(*velocity), 1e-12))
        turn = speed * rate[2] + gains.yaw_gain * wrap_angle(gap[2])
        turn = min(max(turn, -gains.yaw_rate), gains.yaw_rate)
        return body_twist(velocity, turn, yaw)
