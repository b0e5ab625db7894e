# SPDX-License-Identifier: Apache-2.0
"""
Closed-form torques that leave and pass through the singularity, one least-squares step per cycle.

Compared with the predictive law a cycle has no horizon and no iterations that may not converge,
and a steady force across the path costs less error (`slope`: 0.70 cm, predictive 3.89 cm); in
straight cruise the wheels work against each other with many times the torque.

Each cycle asks for an acceleration across the path, along it and in yaw, and shares it over the
wheels by weighted least squares inside the torque limits. Where three rolling lines are parallel
or meet in a point, no torque gives one of the accelerations; a further row then asks for the
motion that makes the missing actuation (actuation.py). Equations and figures:
docs/closed_form.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.closed_form.actuation import Actuation, Triple
from c3p_controller.closed_form.allocation import solve_box
from c3p_controller.closed_form.model import Motion, Row, ScalarModel, dot, times
from c3p_controller.closed_form.observer import QueueObserver, State
from c3p_controller.closed_form.reference import AheadReference, Target, TwistLine
from c3p_controller.closed_form.settings import ClosedFormSettings
from c3p_controller.closed_form.turning import Turning
from c3p_controller.law import Asked, Sensed
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import torque_bounds

__all__ = ['ClosedFormController', 'ClosedFormSettings']

# a motion is asked for above these, m/s and rad/s
ASKED_SPEED, ASKED_YAW_RATE = 1e-3, 1e-3

# a reference that moves or gains speed by less than this does not care which way casters face,
# m/s plus m/s²
FACING_MOTION = 0.1

# the other side of the singularity must cost less by this part, so that noise does not choose
SIDE_HYSTERESIS = 0.05

# a robot is stuck when it does not get along although this is asked for, m/s²; it is forgotten
# that many times faster than it came, and counts up to this time, s
STUCK_WISH, RECOVERY, LONGEST_STUCK = 0.2, 3.0, 2.0

# being stuck is forgotten only so far as the robot moves: at this speed fully, m/s
MOVING_SPEED = 0.05

# who has been stuck for longer keeps less to its line; a quarter so much later, s
LOOSE_AFTER, LOOSE_TIME = 0.6, 0.3

# pinned is one that does not turn although this is asked for, rad/s²; a push comes after this, s
PINNED_WISH, PINNED_TIME = 0.3, 0.1

# part of their weight that yaw and escape keep when the robot has been stuck for long
LEAST_CALM = 0.01


class Wish(NamedTuple):
    """One row of the least squares: ``row·ν̇ = value``, with its weight."""

    row: Row
    value: float
    weight: float


NO_WISH = Wish((0.0, 0.0, 0.0), 0.0, 0.0)


class ClosedFormController:
    """
    Follows a path or a twist; the memory is the observer, the line and the way out.

    Parameters
    ----------
    robot : CasterRobot
    settings : ClosedFormSettings, optional
    """

    def __init__(self, robot: CasterRobot, settings: ClosedFormSettings | None = None) -> None:
        """Start from rest."""
        self.robot = robot
        self.settings = s = settings or ClosedFormSettings()
        self.model = ScalarModel(robot, s.friction_smoothing)
        self.limit = torque_bounds(robot)
        self._radius = [float(r) for r in robot.wheel_radius]
        self.observer = QueueObserver(self.model, s.latency, s.bandwidth,
                                      (s.wrench_limit, s.wrench_limit, s.moment_limit))
        self._triple = Triple(robot) if np.count_nonzero(self.limit) >= 3 else None
        self._turning = None if self._triple is None else Turning(
            self._triple, margin=s.turn_margin, slack=self.model.sticking, time=s.turn_time,
            rate=s.turn_rate, crawl=s.turn_crawl, stride=s.turn_stride)
        self._ahead = AheadReference()
        self._line = TwistLine(s.acceleration, s.yaw_acceleration, s.leash, s.yaw_leash)
        self.reset()

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the robot is where `sensed` says."""
        self._line.reset()
        self._last = [0.0] * self.robot.count
        self._need, self._side = 0.0, 1.0
        self._stuck, self._pinned = 0.0, 0.0
        if self._turning is not None:
            self._turning.reset()
        self._known = sensed is not None
        if sensed is not None:
            self.observer.reset(sensed)

    def step(self, sensed: Sensed, asked: Asked, dt: float) -> Array:
        """
        Return the wheel torques, limited and continuous, (n,) N·m.

        Parameters
        ----------
        sensed : Sensed
        asked : Asked
        dt : float, s
            Since the last call; greater than zero.
        """
        s = self.settings
        if self._known:
            self.observer.step(sensed, dt)
        else:
            self.reset(sensed)
        state = self.observer.ahead(dt)
        motion = self.model.motion(state.steering, state.twist, self.observer.wrench)
        vx, vy, turn = map(float, asked.twist)
        still = (math.hypot(state.twist[0], state.twist[1]) < s.standstill_speed
                 and abs(state.twist[2]) < s.standstill_yaw_rate)
        if still and math.hypot(vx, vy) < ASKED_SPEED and abs(turn) < ASKED_YAW_RATE:
            self._line.reset()
            self._need, self._stuck, self._pinned = 0.0, 0.0, 0.0
            return self._send([0.0] * self.robot.count, motion, dt)
        yaw = state.pose[2]
        c, sn = math.cos(yaw), math.sin(yaw)
        ux, uy, w = state.twist
        velocity = (c * ux - sn * uy, sn * ux + c * uy, w)
        if asked.ahead is None:
            target = self._line.at((vx, vy, turn), state.pose, velocity, dt)
        else:
            target = self._ahead.at(asked.ahead, sensed.time + s.latency - asked.ahead_time, yaw)
        return self._send(self._torque(target, state, velocity, motion, dt), motion, dt)

    def _torque(self, target: Target, state: State, velocity: Row, motion: Motion, dt: float
                ) -> list[float]:
        s = self.settings
        # who has been stuck for long takes a turn of the platform into the bargain
        calm = max((1.0 + self._stuck / s.patience)**-2, LEAST_CALM)
        if self._turning is not None:
            target = self._turning.at(target, state, self.observer.wrench, calm, dt)
        wishes, accel = self._wishes(target, state, velocity, calm)
        share = _Share(wishes, motion, self._radius, s.torque_weight)
        lower, upper = self._bounds(dt)
        if self._triple is None:
            return share.solve(lower, upper)
        actuation = self._triple.actuation(motion)
        need = s.escape_margin * self._triple.needed(actuation, motion, accel, s.free_yaw)
        facing = self._facing(target, state, motion)
        need = max(need, s.flip * max(0.0, -facing)**2)
        self._need = max(need, self._need * math.exp(-dt / s.escape_hold))
        torque = self._best_side(share, actuation, calm, lower, upper)
        moving = min(1.0, math.hypot(state.twist[0], state.twist[1]) / MOVING_SPEED)
        self._wait(wishes, share.accel(torque), self._side * actuation.rate, moving, dt)
        return torque

    def _best_side(self, share: _Share, actuation: Actuation, calm: float, lower: list[float],
                   upper: list[float]) -> list[float]:
        """Return the torques, with the way out of the singular set that costs less."""
        wish = self._escape(actuation, self._side, calm)
        torque = share.solve(lower, upper, wish)
        if wish is None:
            return torque
        other_wish = self._escape(actuation, -self._side, calm)
        other = share.solve(lower, upper, other_wish)
        most = (1.0 - SIDE_HYSTERESIS) * share.cost(torque, wish)
        if share.cost(other, other_wish) < most:
            self._side, torque = -self._side, other
        return torque

    def _escape(self, actuation: Actuation, side: float, calm: float) -> Wish | None:
        """
        Return the row that takes D to where it is needed; None where it is large enough.

        Parameters
        ----------
        actuation : Actuation
        side : float
            Sign of the D that is wanted.
        calm : float
            Part of its weight.
        """
        s, need, (x, y, w) = self.settings, self._need, actuation.row
        size = math.sqrt(x * x + y * y + w * w)
        if not (need > 0.0 and size > 0.0):
            return None
        value = side * actuation.value
        gap = s.escape_begin - value / need
        stiffness = s.escape_damping * s.escape_rate
        wanted = stiffness * (need - value) - s.escape_damping * side * actuation.rate
        if gap <= 0.0 or wanted <= 0.0:
            return None
        small = (need / s.escape_small)**4
        weight = (calm * s.escape_weight * min(1.0, wanted / (stiffness * need))
                  * min(1.0, gap / s.escape_gap) * small / (1.0 + small))
        return Wish((x / size, y / size, w / size), (side * wanted - actuation.rest) / size,
                    weight)

    def _wait(self, wishes: list[Wish], accel: Row, progress: float, moving: float,
              dt: float) -> None:
        """Count the times for which the robot does not get along, and does not turn."""
        s = self.settings
        _, along, yaw = wishes
        stuck = (_missed(along, accel, STUCK_WISH, s.stuck_share)
                 and progress < s.stuck_progress * self._need)
        self._stuck = _counted(self._stuck, stuck, dt, RECOVERY * moving)
        self._pinned = _counted(self._pinned, _missed(yaw, accel, PINNED_WISH, s.stuck_share), dt,
                                RECOVERY)

    def _wishes(self, target: Target, state: State, velocity: Row, calm: float
                ) -> tuple[list[Wish], Row]:
        """Return what is asked across, along and in yaw, and the ν̇ that would be all of it."""
        s = self.settings
        chi = target.heading
        c, sn = math.cos(chi), math.sin(chi)
        px, py = target.pose[0] - state.pose[0], target.pose[1] - state.pose[1]
        vx, vy = target.velocity[0] - velocity[0], target.velocity[1] - velocity[1]
        ax, ay, aw = target.accel
        across = _within(c * ay - sn * ax + s.across_damping * (c * vy - sn * vx)
                         + s.across_stiffness * (c * py - sn * px), s.across_limit)
        along = _within(c * ax + sn * ay + s.along_damping * (c * vx + sn * vy)
                        + s.along_stiffness * (c * px + sn * py), s.along_limit)
        yaw = _within(aw + s.yaw_damping * (target.velocity[2] - velocity[2])
                      + s.yaw_stiffness * (target.pose[2] - state.pose[2]), s.yaw_limit)
        # where rolling lines meet in the middle nothing turns the robot but what turns them first
        if not (target.velocity[0] or target.velocity[1]):
            push = s.push_jerk * max(0.0, self._pinned - PINNED_TIME)
            along += min(push, s.along_limit)
        # casters that stick are pushed along at last, and not across for ever
        loose = (1.0 + max(0.0, self._stuck - LOOSE_AFTER) / LOOSE_TIME)**-2
        # components in turning axes change by −ω×v as well
        psi = chi - state.pose[2]
        c, sn = math.cos(psi), math.sin(psi)
        ux, uy, w = state.twist
        across += w * (-sn * uy - c * ux)
        along += w * (c * uy - sn * ux)
        return ([Wish((-sn, c, 0.0), across, s.across_weight * loose),
                 Wish((c, sn, 0.0), along, s.along_weight),
                 Wish((0.0, 0.0, 1.0), yaw, calm * s.yaw_weight)],
                (c * along - sn * across, sn * along + c * across, yaw))

    def _facing(self, target: Target, state: State, motion: Motion) -> float:
        """Return how much the casters face the way that is asked: 1 forward, −1 backward."""
        psi = target.heading - state.pose[2]
        c, sn = math.cos(psi), math.sin(psi)
        moving = (math.hypot(target.velocity[0], target.velocity[1])
                  + math.hypot(target.accel[0], target.accel[1]))
        return min(1.0, moving / FACING_MOTION) * sum(
            c * e[0] + sn * e[1] for e in motion.rolling) / len(motion.rolling)

    def _bounds(self, dt: float) -> tuple[list[float], list[float]]:
        """Return what limit and rate limit allow."""
        most = self.settings.torque_rate * dt
        limits = self.limit.tolist()
        # a limit may fall faster than the rate
        last = [min(max(t, -limit), limit) for t, limit in zip(self._last, limits, strict=True)]
        lower = [max(-limit, t - most) for limit, t in zip(limits, last, strict=True)]
        upper = [min(limit, t + most) for limit, t in zip(limits, last, strict=True)]
        return lower, upper

    def _send(self, torque: list[float], motion: Motion, dt: float) -> Array:
        lower, upper = self._bounds(dt)
        self._last = [min(max(t, low), high)
                      for t, low, high in zip(torque, lower, upper, strict=True)]
        fx, fy, fw = motion.force
        for t, radius, (ex, ey, ew) in zip(self._last, self._radius, motion.rolling, strict=True):
            push = t / radius
            fx, fy, fw = fx + push * ex, fy + push * ey, fw + push * ew
        self.observer.send(times(motion.inverse_mass, (fx, fy, fw)), motion.mass)
        return np.array(self._last)


class _Share:
    """``min Σ w (row·ν̇ − value)² + ρ|τ|²`` with ``ν̇ = M⁻¹(J_xᵀτ + F)``, inside a box."""

    def __init__(self, wishes: list[Wish], motion: Motion, radius: list[float], effort: float
                 ) -> None:
        self._wishes, self._effort = wishes, effort
        self._free = times(motion.inverse_mass, motion.force)
        self._columns = [times(motion.inverse_mass, (x / r, y / r, w / r))
                         for (x, y, w), r in zip(motion.rolling, radius, strict=True)]

    def solve(self, lower: list[float], upper: list[float], further: Wish | None = None
              ) -> list[float]:
        """Return the torques, with a further wish."""
        xx = xy = xz = yy = yz = zz = a = b = c = 0.0
        for (x, y, z), value, weight in (*self._wishes, further or NO_WISH):
            wx, wy, wz = weight * x, weight * y, weight * z
            xx, xy, xz = xx + wx * x, xy + wx * y, xz + wx * z
            yy, yz, zz = yy + wy * y, yz + wy * z, zz + wz * z
            a, b, c = a + wx * value, b + wy * value, c + wz * value
        square, columns = (xx, xy, xz, yy, yz, zz), self._columns
        x, y, z = times(square, self._free)
        rest = (x - a, y - b, z - c)
        hessian, gradient = [], []
        for i, column in enumerate(columns):
            weighed = times(square, column)
            hessian.append([dot(weighed, other) for other in columns])
            hessian[i][i] += self._effort
            gradient.append(dot(column, rest))
        return solve_box(hessian, gradient, lower, upper)

    def accel(self, torque: list[float]) -> Row:
        """Return the ν̇ that the torques give."""
        x, y, z = self._free
        for t, (cx, cy, cz) in zip(torque, self._columns, strict=True):
            x, y, z = x + t * cx, y + t * cy, z + t * cz
        return x, y, z

    def cost(self, torque: list[float], further: Wish | None) -> float:
        """Return what the torques leave of all wishes."""
        accel = self.accel(torque)
        return sum(w * (dot(row, accel) - value)**2
                   for row, value, w in (*self._wishes, further or NO_WISH))


def _missed(wish: Wish, accel: Row, least: float, share: float) -> bool:
    """Return whether less than `share` of a wish above `least` is fulfilled."""
    value = wish.value
    return abs(value) > least and dot(wish.row, accel) * value < share * value * value


def _counted(time: float, on: bool, dt: float, recovery: float) -> float:
    """Return a time that grows while it is `on` and is soon forgotten when it is not."""
    return min(time + dt, LONGEST_STUCK) if on else max(0.0, time - recovery * dt)


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)
