# SPDX-License-Identifier: Apache-2.0
"""
Continuous turning against a steady cross-track force: slopes, a pull from the side.

Casters trail the motion within d/v. Without turning they become parallel, and no torque holds a
force across. While the robot turns they are askew; to first order in ω h/v the determinant is

    D = 2 A ω/v,   A the area of the triangle of the pivots, for any yaw

A force F across needs ``|D| ≥ |F| L max r/τ`` with L the longest side of the triangle (all rolling
lines parallel, the worst direction). So while a force is held the robot turns with

    |ω| = σ v,   σ = margin · |F| L max(r/τ) / (2 A)

and its speed is limited by the present turn rate: ``v ≤ crawl + |ω|/σ``.
"""

from __future__ import annotations

import math

from c3p_controller.closed_form.actuation import Triple
from c3p_controller.closed_form.model import Row
from c3p_controller.closed_form.observer import State
from c3p_controller.closed_form.reference import Target

# a turn faster than this keeps its sense, rad/s
KEEP_RATE = 0.1

# largest fraction of the wheels' limits that a force along the path takes
MOST_ALONG = 0.5

# the yaw is no longer tracked above this yaw rate, rad/s
FREE_RATE = 0.15


class Turning:
    """
    Adds the turning that a cross-track force needs; the memory is the force and the sense.

    `holding`, 0 to 1, is the part of the cross-track force that torques have to hold; 0 for
    casters without friction, which any small force turns.

    The parameters are the settings ``turn_*``, and `slack`, N, the largest force that casters with
    friction hold without torque.
    """

    def __init__(self, triple: Triple, *, margin: float, slack: float, time: float, rate: float,
                 crawl: float, stride: float) -> None:
        """Start without force."""
        self._margin, self._slack, self._time = margin, slack, time
        self._rate, self._crawl, self._stride = rate, crawl, stride
        self._ratio = margin * triple.side * triple.load / (2.0 * triple.area)
        self._each = triple.load / 3.0
        self.reset()

    def reset(self) -> None:
        """Forget the force."""
        self.force: tuple[float, float] = (0.0, 0.0)
        self.holding = 0.0
        self._direction = 1.0

    def at(self, target: Target, state: State, wrench: Row, calm: float, dt: float) -> Target:
        """
        Return the target with the turning that it needs, `dt` seconds after the last call.

        `wrench` is the disturbance, N, N, N·m, in ``base_link``; `calm`, 0 to 1, is below 1 after
        lack of progress and raises the crawl speed. `target` and `state` are the present ones.
        """
        yaw, turn = state.pose[2], state.twist[2]
        c, s = math.cos(yaw), math.sin(yaw)
        # low-pass filter of the disturbance on the floor
        part = min(1.0, dt / self._time)
        fx, fy = self.force
        fx += part * (c * wrench[0] - s * wrench[1] - fx)
        fy += part * (s * wrench[0] + c * wrench[1] - fy)
        self.force = fx, fy
        c, s = math.cos(target.heading), math.sin(target.heading)
        across, along = abs(c * fy - s * fx), abs(c * fx + s * fy)
        # cross-track force to hold: none within the slack, all of it at twice the slack
        self.holding = min(max(across / self._slack - 1.0, 0.0), 1.0) if self._slack else 0.0
        held = across * self.holding if self._slack else across
        ratio = self._ratio * held / (1.0 - min(along * self._each, MOST_ALONG))
        if not ratio > 0.0:
            return target
        if abs(turn) > KEEP_RATE:
            self._direction = math.copysign(1.0, turn)
        vx, vy, yaw_rate = target.velocity
        desired = math.hypot(vx, vy)
        speed = max(math.hypot(state.twist[0], state.twist[1]), min(self._stride, desired))
        rate = min(ratio * min(speed, desired), self._rate)
        free = min(1.0, rate / FREE_RATE)
        most = self._crawl / calm + max(0.0, turn * self._direction) / ratio
        ax, ay, aw = target.accel
        if desired > most:
            vx, vy, ax, ay = vx * most / desired, vy * most / desired, 0.0, 0.0
        x, y, reference_yaw = target.pose
        return Target((x, y, yaw + (1.0 - free) * (reference_yaw - yaw)),
                      (vx, vy, yaw_rate + self._direction * rate), (ax, ay, aw),
                      target.heading)
