# SPDX-License-Identifier: Apache-2.0
"""
Turning on the way, where a steady force has to be held across it: slopes, a pull from the side.

Casters trail the motion within d/v. Those of a robot that does not turn come to be parallel, and
then no torque pushes across: a force across cannot last. Those of a robot that turns stand askew;
to first order in ω h/v their actuation is

    D = 2 A ω/v,   A the area of the triangle of the pivots, whichever way the robot looks

A force F across needs ``|D| ≥ |F| L max r/τ`` with L the longest side of the triangle (all rolling
lines parallel, the worst direction). So while a force is held the robot turns with

    |ω| = σ v,   σ = margin · |F| L max(r/τ) / (2 A)

and goes no faster than the turning that it has so far allows: ``v ≤ crawl + |ω|/σ``.
"""

from __future__ import annotations

import math

from c3p_controller.closed_form.actuation import Triple
from c3p_controller.closed_form.model import Row
from c3p_controller.closed_form.observer import State
from c3p_controller.closed_form.reference import Target

# a robot that turns faster than this goes on in that direction, rad/s
KEEP_RATE = 0.1

# part of the wheels' limits that a force along the path takes, at most
MOST_ALONG = 0.5

# no yaw is held any more above this yaw rate, rad/s
FREE_RATE = 0.15


class Turning:
    """
    Makes a target turn where that is needed; the memory is the force and the direction.

    Parameters
    ----------
    triple : Triple
    margin : float
        How much more the robot turns than a force needs; 0 is off.
    slack : float, N
        A force that needs no turning: casters with friction hold it without torque.
    time : float, s
        Over which the force is averaged.
    rate : float, rad/s
        Fastest turning.
    crawl, stride : float, m/s
        Speed without turning, and the least for which a robot that shall travel turns.
    """

    def __init__(self, triple: Triple, *, margin: float, slack: float, time: float, rate: float,
                 crawl: float, stride: float) -> None:
        """Start with no force."""
        self._margin, self._slack, self._time = margin, slack, time
        self._rate, self._crawl, self._stride = rate, crawl, stride
        self._ratio = margin * triple.side * triple.load / (2.0 * triple.area)
        self._each = triple.load / 3.0
        self.reset()

    def reset(self) -> None:
        """Forget the force."""
        self.force: tuple[float, float] = (0.0, 0.0)
        self._direction = 1.0

    def at(self, target: Target, state: State, wrench: Row, calm: float, dt: float) -> Target:
        """
        Return the target with the turning it needs.

        Parameters
        ----------
        target : Target
        state : State
        wrench : (3,) row
            Disturbance, N, N, N·m, ``base_link``.
        calm : float, 0 to 1
            Less than 1 when the robot has been stuck: it need not crawl any longer.
        dt : float, s
            Since the last call.
        """
        yaw, turn = state.pose[2], state.twist[2]
        c, s = math.cos(yaw), math.sin(yaw)
        part = min(1.0, dt / self._time)
        fx, fy = self.force
        fx += part * (c * wrench[0] - s * wrench[1] - fx)
        fy += part * (s * wrench[0] + c * wrench[1] - fy)
        self.force = fx, fy
        c, s = math.cos(target.heading), math.sin(target.heading)
        across, along = abs(c * fy - s * fx), abs(c * fx + s * fy)
        # full at twice the slack
        held = across * min(1.0, across / self._slack - 1.0) if self._slack else across
        ratio = self._ratio * held / (1.0 - min(along * self._each, MOST_ALONG))
        if not ratio > 0.0:
            return target
        if abs(turn) > KEEP_RATE:
            self._direction = math.copysign(1.0, turn)
        vx, vy, asked = target.velocity
        wanted = math.hypot(vx, vy)
        speed = max(math.hypot(state.twist[0], state.twist[1]), min(self._stride, wanted))
        rate = min(ratio * min(speed, wanted), self._rate)
        free = min(1.0, rate / FREE_RATE)
        most = self._crawl / calm + max(0.0, turn * self._direction) / ratio
        ax, ay, aw = target.accel
        if wanted > most:
            vx, vy, ax, ay = vx * most / wanted, vy * most / wanted, 0.0, 0.0
        x, y, looks = target.pose
        return Target((x, y, yaw + (1.0 - free) * (looks - yaw)),
                      (vx, vy, asked + self._direction * rate), (ax, ay, aw),
                      target.heading)
