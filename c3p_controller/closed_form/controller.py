# SPDX-License-Identifier: Apache-2.0
"""
Closed-form torques that leave and pass through the singularity, one least-squares step per cycle.

Compared with the predictive law a cycle has no horizon and no iterations that may not converge,
and a steady force across the path costs less error (`slope`: 0.70 cm, predictive 4.03 cm); in
straight cruise the wheels work against each other with many times the torque.

Tasks of each cycle are the desired accelerations across the path, along it and in yaw; weighted
least squares within the torque limits allocate them to the wheels. Where three rolling lines are
parallel or meet in a point, one of the accelerations is uncontrollable; a further task then
restores controllability (actuation.py). Equations and results: docs/closed_form.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.closed_form.actuation import Actuation, Triple
from c3p_controller.closed_form.allocation import solve_box
from c3p_controller.closed_form.model import Motion, Row, ScalarModel, dot, times
from c3p_controller.closed_form.observer import QueueObserver, State
from c3p_controller.closed_form.reference import PreviewReference, Target, TwistReference
from c3p_controller.closed_form.settings import ClosedFormSettings
from c3p_controller.closed_form.turning import Turning
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import steering_motors, torque_bounds
from c3p_kinematics.singularity import always_actuated

__all__ = ['ClosedFormController', 'ClosedFormSettings']

# motion is commanded above these, m/s and rad/s
MOTION_SPEED, MOTION_YAW_RATE = 1e-3, 1e-3

# the facing of casters counts in full from this speed plus acceleration of the reference on,
# m/s plus m/s²
FACING_MOTION = 0.1

# hysteresis: the other side of the singularity must cost less by this fraction
SIDE_HYSTERESIS = 0.05

# lack of progress: least desired acceleration, m/s²; ratio of the decay of its time to the growth;
# and largest time, s
STUCK_TASK, RECOVERY, LONGEST_STUCK = 0.2, 3.0, 2.0

# the time without progress decays in proportion to the speed, in full from this on, m/s
MOVING_SPEED = 0.05

# opposing torques have a weight of their own from the first speed on, in full from the second, m/s
SLOW, CRUISE = 0.1, 0.3

# the cross-track weight falls after the first time without progress, to a quarter after the
# second, s
LOOSE_AFTER, LOOSE_TIME = 0.6, 0.3

# a turn that does not start: least desired yaw acceleration, rad/s²; time before the push, s
PINNED_TASK, PINNED_TIME = 0.3, 0.1

# effects along the path and in yaw are independent above this square of the sine between them
INDEPENDENT = 1e-9

# least fraction of their weights that yaw and escape keep
LEAST_CALM = 0.01


class Task(NamedTuple):
    """Task of the least squares: ``row·ν̇ = value``, with its weight."""

    row: Row
    value: float
    weight: float


NO_TASK = Task((0.0, 0.0, 0.0), 0.0, 0.0)


class ClosedFormController:
    """Follows a preview or a twist; the memory is observer, reference and escape side."""

    def __init__(self, robot: CasterRobot, settings: ClosedFormSettings | None = None) -> None:
        """Start from rest."""
        self.robot = robot
        self.settings = s = settings or ClosedFormSettings()
        self.model = ScalarModel(robot, s.friction_smoothing)
        self.limit = torque_bounds(robot)
        self._radius = [float(r) for r in robot.wheel_radius]
        # 1/w of the steering motors, behind the wheels
        weight = steering_motors(robot).weight
        self._cost = [1.0] * robot.count + [1.0 / w if w > 0.0 else 1.0 for w in weight.tolist()]
        # with steering motors a robot need not escape from the singular set of its wheels
        escapes = (np.count_nonzero(self.limit[:robot.count]) >= 3
                   and not always_actuated(robot))
        self.observer = QueueObserver(self.model, s.latency, s.bandwidth,
                                      (s.wrench_limit, s.wrench_limit, s.moment_limit))
        self._triple = Triple(robot) if escapes else None
        self._turning = None if self._triple is None else Turning(
            self._triple, margin=s.turn_margin, slack=self.model.sticking, time=s.turn_time,
            rate=s.turn_rate, crawl=s.turn_crawl, stride=s.turn_stride)
        self._preview = PreviewReference()
        self._twist = TwistReference(s.acceleration, s.yaw_acceleration, s.leash, s.yaw_leash)
        self.reset()

    @property
    def latency(self) -> float:
        """Input delay of the settings, s."""
        return self.observer.latency

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from `sensed`."""
        self._twist.reset()
        self._last = [0.0] * self.robot.efforts
        self._need, self._side = 0.0, 1.0
        self._stuck, self._pinned = 0.0, 0.0
        if self._turning is not None:
            self._turning.reset()
        self._known = sensed is not None
        if sensed is not None:
            self.observer.reset(sensed)

    def retune(self, settings: ClosedFormSettings) -> None:
        """Keep the settings: none of them may change while the law runs."""

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques, limited and continuous, (robot.efforts,) N·m.

        Parameters as in `TorqueLaw.step`.
        """
        s = self.settings
        # estimate at the time at which the torque of this cycle acts
        if self._known:
            self.observer.step(sensed, dt)
        else:
            self.reset(sensed)
        state = self.observer.predicted(dt)
        motion = self.model.motion(state.steering, state.twist, self.observer.wrench)
        vx, vy, turn = map(float, setpoint.twist)
        still = (math.hypot(state.twist[0], state.twist[1]) < s.standstill_speed
                 and abs(state.twist[2]) < s.standstill_yaw_rate)
        if still and math.hypot(vx, vy) < MOTION_SPEED and abs(turn) < MOTION_YAW_RATE:
            self._twist.reset()
            self._need, self._stuck, self._pinned = 0.0, 0.0, 0.0
            return self._send([0.0] * self.robot.efforts, motion, dt)
        # reference at that time
        yaw = state.pose[2]
        c, sn = math.cos(yaw), math.sin(yaw)
        ux, uy, w = state.twist
        velocity = (c * ux - sn * uy, sn * ux + c * uy, w)
        if setpoint.preview is None:
            target = self._twist.at((vx, vy, turn), state.pose, velocity, dt)
        else:
            target = self._preview.at(
                setpoint.preview, sensed.time + s.latency - setpoint.preview_time, yaw)
        return self._send(self._torque(target, state, velocity, motion, dt), motion, dt)

    def _torque(self, target: Target, state: State, velocity: Row, motion: Motion, dt: float
                ) -> list[float]:
        s = self.settings
        # after prolonged lack of progress the yaw weight falls
        calm = max((1.0 + self._stuck / s.patience)**-2, LEAST_CALM)
        if self._turning is not None:
            target = self._turning.at(target, state, self.observer.wrench, calm, dt)
        tasks, accel = self._tasks(target, state, velocity, calm)
        facing = self._facing(target, state, motion)
        speed = math.hypot(state.twist[0], state.twist[1])
        # casters that do not trail yet need the torques across to turn, a slope to hold the robot
        cruise = max(0.0, facing)**2 * min(max((speed - SLOW) / (CRUISE - SLOW), 0.0), 1.0)
        if self._turning is not None:
            cruise *= 1.0 - self._turning.holding
        opposing = 0.0 if self._triple is None else cruise * s.opposing_weight
        allocation = _Allocation(tasks, motion, self._radius, s.torque_weight, opposing,
                                 self._cost)
        lower, upper = self._bounds(dt)
        if self._triple is None:
            return allocation.solve(lower, upper)
        # determinant needed, with a decaying maximum
        actuation = self._triple.actuation(motion)
        need = s.escape_margin * self._triple.needed(actuation, motion, accel, s.free_yaw)
        need = max(need, s.flip * max(0.0, -facing)**2)
        self._need = max(need, self._need * math.exp(-dt / s.escape_hold))
        torque = self._best_side(allocation, actuation, calm, lower, upper)
        self._wait(tasks, allocation.accel(torque), self._side * actuation.rate,
                   min(1.0, speed / MOVING_SPEED), dt)
        return torque

    def _best_side(self, allocation: _Allocation, actuation: Actuation, calm: float,
                   lower: list[float], upper: list[float]) -> list[float]:
        """Return the torques, on the side of the singular set that costs less."""
        task = self._escape(actuation, self._side, calm)
        torque = allocation.solve(lower, upper, task)
        if task is None:
            return torque
        other_task = self._escape(actuation, -self._side, calm)
        other = allocation.solve(lower, upper, other_task)
        most = (1.0 - SIDE_HYSTERESIS) * allocation.cost(torque, task)
        if allocation.cost(other, other_task) < most:
            self._side, torque = -self._side, other
        return torque

    def _escape(self, actuation: Actuation, side: float, calm: float) -> Task | None:
        """Return the task that brings D to the need on `side`; None where it is large enough."""
        s, need, (x, y, w) = self.settings, self._need, actuation.row
        size = math.sqrt(x * x + y * y + w * w)
        if not (need > 0.0 and size > 0.0):
            return None
        value = side * actuation.value
        gap = s.escape_begin - value / need
        stiffness = s.escape_damping * s.escape_rate
        desired = stiffness * (need - value) - s.escape_damping * side * actuation.rate
        if gap <= 0.0 or desired <= 0.0:
            return None
        small = (need / s.escape_small)**4
        weight = (calm * s.escape_weight * min(1.0, desired / (stiffness * need))
                  * min(1.0, gap / s.escape_gap) * small / (1.0 + small))
        return Task((x / size, y / size, w / size), (side * desired - actuation.rest) / size,
                    weight)

    def _wait(self, tasks: list[Task], accel: Row, progress: float, moving: float,
              dt: float) -> None:
        """Update the times without progress and without the commanded turn."""
        s = self.settings
        _, along, yaw = tasks
        stuck = (_missed(along, accel, STUCK_TASK, s.stuck_fraction)
                 and progress < s.stuck_progress * self._need)
        self._stuck = _counted(self._stuck, stuck, dt, RECOVERY * moving)
        pinned = _missed(yaw, accel, PINNED_TASK, s.stuck_fraction)
        self._pinned = _counted(self._pinned, pinned, dt, RECOVERY)

    def _tasks(self, target: Target, state: State, velocity: Row, calm: float
                ) -> tuple[list[Task], Row]:
        """Return the tasks across, along and in yaw, and the ν̇ that fulfils all of them."""
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
        # where rolling lines meet in the centre the casters must move before the robot can turn
        if not (target.velocity[0] or target.velocity[1]):
            push = s.push_jerk * max(0.0, self._pinned - PINNED_TIME)
            along += min(push, s.along_limit)
        # sticking casters: give up the cross-track task in favour of the motion along the path
        loose = (1.0 + max(0.0, self._stuck - LOOSE_AFTER) / LOOSE_TIME)**-2
        # components in turning axes change by −ω×v as well
        psi = chi - state.pose[2]
        c, sn = math.cos(psi), math.sin(psi)
        ux, uy, w = state.twist
        across += w * (-sn * uy - c * ux)
        along += w * (c * uy - sn * ux)
        return ([Task((-sn, c, 0.0), across, s.across_weight * loose),
                 Task((c, sn, 0.0), along, s.along_weight),
                 Task((0.0, 0.0, 1.0), yaw, calm * s.yaw_weight)],
                (c * along - sn * across, sn * along + c * across, yaw))

    def _facing(self, target: Target, state: State, motion: Motion) -> float:
        """Return the mean alignment of the casters with the path: 1 forward, −1 backward."""
        psi = target.heading - state.pose[2]
        c, sn = math.cos(psi), math.sin(psi)
        moving = (math.hypot(target.velocity[0], target.velocity[1])
                  + math.hypot(target.accel[0], target.accel[1]))
        return min(1.0, moving / FACING_MOTION) * sum(
            c * e[0] + sn * e[1] for e in motion.rolling) / len(motion.rolling)

    def _bounds(self, dt: float) -> tuple[list[float], list[float]]:
        """Return the torque bounds by limit and rate limit."""
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
        wheels, steering = self._last[:len(self._radius)], self._last[len(self._radius):]
        for t, radius, (ex, ey, ew) in zip(wheels, self._radius, motion.rolling, strict=True):
            push = t / radius
            fx, fy, fw = fx + push * ex, fy + push * ey, fw + push * ew
        for t, (x, y, w) in zip(steering, motion.turning, strict=True):
            fx, fy, fw = fx + t * x, fy + t * y, fw + t * w
        self.observer.send(times(motion.inverse_mass, (fx, fy, fw)), motion.mass)
        return np.array(self._last)


class _Allocation:
    """
    ``min Σ w (row·ν̇ − value)² + ρ|τ|² + σ|Pτ|²`` with ``ν̇ = M⁻¹(J_xᵀτ + F)``, inside a box.

    Steering motors add ``J_sᵀτ_s``, and cost ``ρ τ_s²/w``.

    P projects on the torques that oppose each other along the path and in yaw: they only push
    across. Where the rolling lines are nearly parallel they hardly do, with a sign that changes
    with D, so that ρ alone lets millimetres across the path saturate the wheels.
    """

    def __init__(self, tasks: list[Task], motion: Motion, radius: list[float], effort: float,
                 opposing: float, cost: list[float] | None = None) -> None:
        self._tasks = tasks
        self._free = times(motion.inverse_mass, motion.force)
        self._columns = [times(motion.inverse_mass, (x / r, y / r, w / r))
                         for (x, y, w), r in zip(motion.rolling, radius, strict=True)]
        self._columns += [times(motion.inverse_mass, row) for row in motion.turning]
        self._effort = self._weighed_effort(effort, opposing, cost or [1.0] * len(self._columns))

    def _weighed_effort(self, effort: float, opposing: float, cost: list[float]
                        ) -> list[list[float]]:
        """Return ``ρI + σP``, square, with 1/w in I."""
        _, along, yaw = self._tasks
        a = [dot(along.row, column) for column in self._columns]
        b = [dot(yaw.row, column) for column in self._columns]
        aa, bb = sum(x * x for x in a), sum(x * x for x in b)
        ab = sum(x * y for x, y in zip(a, b, strict=True))
        determinant = aa * bb - ab * ab
        # without an effect of its own in yaw or along the path nothing is known to oppose
        if determinant <= INDEPENDENT * aa * bb:
            opposing, determinant = 0.0, 1.0
        scale = opposing / determinant
        weights = [[-scale * (x * (bb * u - ab * v) + y * (aa * v - ab * u))
                    for u, v in zip(a, b, strict=True)] for x, y in zip(a, b, strict=True)]
        for i, row in enumerate(weights):
            row[i] += effort * cost[i] + opposing
        return weights

    def solve(self, lower: list[float], upper: list[float], further: Task | None = None
              ) -> list[float]:
        """Return the torques, with a further task."""
        xx = xy = xz = yy = yz = zz = a = b = c = 0.0
        for (x, y, z), value, weight in (*self._tasks, further or NO_TASK):
            wx, wy, wz = weight * x, weight * y, weight * z
            xx, xy, xz = xx + wx * x, xy + wx * y, xz + wx * z
            yy, yz, zz = yy + wy * y, yz + wy * z, zz + wz * z
            a, b, c = a + wx * value, b + wy * value, c + wz * value
        square, columns = (xx, xy, xz, yy, yz, zz), self._columns
        x, y, z = times(square, self._free)
        rest = (x - a, y - b, z - c)
        hessian, gradient = [], []
        for column, effort in zip(columns, self._effort, strict=True):
            weighed = times(square, column)
            hessian.append([dot(weighed, other) + weight
                            for other, weight in zip(columns, effort, strict=True)])
            gradient.append(dot(column, rest))
        return solve_box(hessian, gradient, lower, upper)

    def accel(self, torque: list[float]) -> Row:
        """Return the ν̇ of the torques."""
        x, y, z = self._free
        for t, (cx, cy, cz) in zip(torque, self._columns, strict=True):
            x, y, z = x + t * cx, y + t * cy, z + t * cz
        return x, y, z

    def cost(self, torque: list[float], further: Task | None) -> float:
        """Return the weighted squares of the residuals of all tasks."""
        accel = self.accel(torque)
        return sum(w * (dot(row, accel) - value)**2
                   for row, value, w in (*self._tasks, further or NO_TASK))


def _missed(task: Task, accel: Row, least: float, fraction: float) -> bool:
    """Return whether less than `fraction` of a task above `least` is fulfilled."""
    value = task.value
    return abs(value) > least and dot(task.row, accel) * value < fraction * value * value


def _counted(time: float, on: bool, dt: float, recovery: float) -> float:
    """Return a time that grows while `on` and decays otherwise."""
    return min(time + dt, LONGEST_STUCK) if on else max(0.0, time - recovery * dt)


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)
