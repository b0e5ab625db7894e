# SPDX-License-Identifier: Apache-2.0
"""What the closed-form law follows at one instant, from the reference ahead or a bare twist."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

from c3p_controller.closed_form.model import Row
from c3p_controller.law import Ahead

# a velocity below this has no direction of its own, m/s
DIRECTION_SPEED = 1e-3

# over this time the velocities of the reference ahead are differenced, s
DIFFERENCE = 0.05

# a twist whose direction differs by more from the one that the line has is a new one, rad
NEW_DIRECTION = 1e-3

# a robot that is stopped holds its place when it is slower than this, m/s
HOLD_SPEED = 0.02


class Target(NamedTuple):
    """
    Where to be, how fast, how much faster, and which way the path goes; all on the floor.

    Attributes
    ----------
    pose, velocity, accel : (3,) row
        X, Y, φ and their derivatives.
    heading : float, rad
        χ, direction of the path.
    """

    pose: Row
    velocity: Row
    accel: Row
    heading: float


def turn_near(angle: float, near: float) -> float:
    """Return `angle` plus the full turns that bring it nearest to `near`."""
    return near + math.remainder(angle - near, 2.0 * math.pi)


class AheadReference:
    """Samples the reference ahead; the memory is its points as plain numbers."""

    def __init__(self) -> None:
        """Start without one."""
        self._ahead: Ahead | None = None
        self._heading = 0.0

    def at(self, ahead: Ahead, time: float, yaw: float) -> Target:
        """
        Return the target `time` after the first point of `ahead`.

        Parameters
        ----------
        ahead : Ahead
        time : float, s
        yaw : float, rad
            Where the robot looks: the nearest turn of φ is taken.
        """
        if ahead is not self._ahead:
            self._ahead = ahead
            self._times = ahead.time.tolist()
            self._poses, self._velocities = ahead.pose.tolist(), ahead.velocity.tolist()
        pose = _between(self._times, self._poses, time)
        now = _between(self._times, self._velocities, time)
        then = _between(self._times, self._velocities, time + DIFFERENCE)
        beyond = time - self._times[-1]
        if beyond > 0.0:
            pose = tuple(p + beyond * v for p, v in zip(pose, now, strict=True))
        for velocity in (now, then, *self._velocities):
            if math.hypot(velocity[0], velocity[1]) > DIRECTION_SPEED:
                self._heading = math.atan2(velocity[1], velocity[0])
                break
        accel = tuple((b - a) / DIFFERENCE for a, b in zip(now, then, strict=True))
        return Target((pose[0], pose[1], turn_near(pose[2], yaw)), now, accel, self._heading)


def _between(times: list[float], rows: list[list[float]], time: float) -> Row:
    """Return the row at `time`, linear between points and constant beyond them."""
    k = bisect_right(times, time)
    if k == 0 or k == len(times):
        x, y, z = rows[max(0, k - 1)]
        return x, y, z
    part = (time - times[k - 1]) / (times[k] - times[k - 1])
    a, b = rows[k - 1], rows[k]
    return (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2]))


class TwistLine:
    """
    The line that a bare twist describes; the memory is where it is and how fast it turns.

    Along the travel the place runs with the robot; across it stays where the line is, so that a
    push is made good, up to a leash. Where a twist points is settled when it comes: one that is
    asked for once goes straight although the robot yaws on its way, and one that is turned with
    the robot keeps its direction on the floor.

    Parameters
    ----------
    acceleration, yaw_acceleration : float, m/s² and rad/s²
    leash, yaw_leash : float, m and rad
        The farthest that the line is from the robot.
    """

    def __init__(self, acceleration: float, yaw_acceleration: float, leash: float,
                 yaw_leash: float) -> None:
        """Start without a line."""
        self.acceleration, self.yaw_acceleration = acceleration, yaw_acceleration
        self.leash, self.yaw_leash = leash, yaw_leash
        self.reset()

    def reset(self) -> None:
        """Forget the line."""
        self._place: Row | None = None
        self._turn, self._heading = 0.0, 0.0
        self._asked: float | None = None
        self._course = 0.0

    def at(self, twist: Row, pose: Row, velocity: Row, dt: float) -> Target:
        """
        Return the target now.

        Parameters
        ----------
        twist : (3,) row
            Asked for, ``base_link``.
        pose, velocity : (3,) row
            Of the robot, on the floor.
        dt : float, s
            Since the last call.
        """
        x, y, yaw = pose
        px, py, looks = self._place or pose
        most = self.yaw_acceleration * dt
        ramp = min(max(twist[2] - self._turn, -most), most)
        self._turn += ramp
        looks = turn_near(looks + self._turn * dt, yaw)
        looks = min(max(looks, yaw - self.yaw_leash), yaw + self.yaw_leash)
        speed = math.hypot(twist[0], twist[1])
        if speed > DIRECTION_SPEED:
            asked = math.atan2(twist[1], twist[0])
            if self._asked is None or abs(
                    math.remainder(asked - self._asked, 2.0 * math.pi)) > NEW_DIRECTION:
                self._asked, self._course = asked, asked + yaw - looks
            heading = looks + self._course
            c, s = math.cos(heading), math.sin(heading)
            across = (py - y) * c - (px - x) * s
            across = min(max(across, -self.leash), self.leash)
            px, py = x - across * s, y + across * c
            now = max(velocity[0] * c + velocity[1] * s, 0.0)
            gain = min(max((speed - now) / DIFFERENCE, -self.acceleration), self.acceleration)
        else:
            # stopping is along the present motion; then the place is held
            now = math.hypot(velocity[0], velocity[1])
            heading = math.atan2(velocity[1], velocity[0])
            if now > HOLD_SPEED:
                px, py = x, y
                gain = -min(self.acceleration, now / DIFFERENCE)
            else:
                gap = math.hypot(px - x, py - y)
                part = min(1.0, self.leash / gap) if gap > 0.0 else 0.0
                px, py = x + part * (px - x), y + part * (py - y)
                now, gain, heading = 0.0, 0.0, self._heading
            c, s = math.cos(heading), math.sin(heading)
        self._heading = heading
        self._place = (px, py, looks)
        turn = self._turn if speed > DIRECTION_SPEED else 0.0
        # a twist that turns while it travels bends the path
        return Target((px, py, looks), (now * c, now * s, self._turn),
                      (gain * c - now * turn * s, gain * s + now * turn * c, ramp / dt), heading)
