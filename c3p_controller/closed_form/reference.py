# SPDX-License-Identifier: Apache-2.0
"""Instantaneous reference of the closed-form law, from a preview or a bare twist."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

from c3p_controller.closed_form.model import Row
from c3p_controller.torque_law import Preview

# the direction of a smaller velocity is undefined, m/s
DIRECTION_SPEED = 1e-3

# time step of the velocity differences of a preview, s
DIFFERENCE = 0.05

# a direction of the twist that differs by more from that of the line is a new one, rad
NEW_DIRECTION = 1e-3

# a stopped robot holds its place below this speed, m/s
HOLD_SPEED = 0.02


class Target(NamedTuple):
    """Reference pose, velocity and acceleration (X, Y, φ) on the floor, and χ of the path."""

    pose: Row
    velocity: Row
    accel: Row
    heading: float


def turn_near(angle: float, near: float) -> float:
    """Return `angle` plus the full turns that bring it nearest to `near`."""
    return near + math.remainder(angle - near, 2.0 * math.pi)


class PreviewReference:
    """Samples a preview; the memory is its points as plain numbers."""

    def __init__(self) -> None:
        """Start without a preview."""
        self._preview: Preview | None = None
        self._heading = 0.0

    def at(self, preview: Preview, time: float, yaw: float) -> Target:
        """Return the target at `time`, s, of `preview`, with the turn of φ nearest to `yaw`."""
        if preview is not self._preview:
            self._preview = preview
            self._times = preview.time.tolist()
            self._poses, self._velocities = preview.pose.tolist(), preview.velocity.tolist()
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


class TwistReference:
    """
    Reference line of a bare twist; the memory is its pose and turn rate.

    Along the travel the place moves with the robot; across it the place stays on the line, so that
    a push is corrected, up to a `leash`. The direction of a twist on the floor is set when the
    twist changes: a constant twist travels straight although the robot yaws, and a twist that is
    turned with the robot keeps its direction on the floor. Units are m, rad and s.
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
        self._direction: float | None = None
        self._course = 0.0

    def at(self, twist: Row, pose: Row, velocity: Row, dt: float) -> Target:
        """
        Return the target for a `twist` in ``base_link``, `dt` seconds after the last call.

        `pose` and `velocity` are those of the robot on the floor.
        """
        x, y, yaw = pose
        px, py, looks = self._place or pose
        most = self.yaw_acceleration * dt
        ramp = min(max(twist[2] - self._turn, -most), most)
        self._turn += ramp
        looks = turn_near(looks + self._turn * dt, yaw)
        looks = min(max(looks, yaw - self.yaw_leash), yaw + self.yaw_leash)
        # travel: a new direction of the twist sets the course relative to the reference yaw
        speed = math.hypot(twist[0], twist[1])
        if speed > DIRECTION_SPEED:
            direction = math.atan2(twist[1], twist[0])
            if self._direction is None or abs(
                    math.remainder(direction - self._direction, 2.0 * math.pi)) > NEW_DIRECTION:
                self._direction, self._course = direction, direction + yaw - looks
            heading = looks + self._course
            c, s = math.cos(heading), math.sin(heading)
            across = (py - y) * c - (px - x) * s
            across = min(max(across, -self.leash), self.leash)
            px, py = x - across * s, y + across * c
            now = max(velocity[0] * c + velocity[1] * s, 0.0)
            gain = min(max((speed - now) / DIFFERENCE, -self.acceleration), self.acceleration)
        else:
            # stop along the present motion; then hold the place
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
