# SPDX-License-Identifier: Apache-2.0
"""
Heading of a robot with fewer motors than freedoms along a path.

Two driven wheels follow a path at a commanded speed, but the heading cannot be commanded as well:
torques balance a steady motion only at some angles β between platform and path. The reference
heading is therefore replaced by the one that motors can hold and that is nearest to the command,

    β* = argmin |ν̇(β)|²/a₀² + |τ(β)/τ_max|²·ρ + (β − β_c)²/β₀²

with ν̇(β) the acceleration that the best torques leave at the twist (v cos β, v sin β, χ̇) and
trailing casters. The reference turns towards it at a limited rate. On a line most headings are
held, so that the commanded one is kept; on a bend the robot finds its own. Where the path is at
rest, at the goal, the command is restored.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from c3p_controller.predictive._heading_kernels import heading_costs, yaw_on_path
from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics._caster_equations import packed_model
from c3p_dynamics.freedoms import motors
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.singularity import length_scale

# a₀, m/s²; β₀, rad; ρ: torques at their bounds cost as much as an acceleration of 0.1 a₀
LEAST_ACCELERATION = 0.01
HEADING_SCALE = 1.0
TORQUE_COST = 0.01

# headings that are compared, per turn
HEADINGS = 72

# each finer grid has this fraction of the step before, with this many steps to either side
REFINEMENTS = 4
FINER = 0.2
REACH = 4

# another valley of the cost must be lower by this to be chosen
HYSTERESIS = 1.0

# cost of a heading that leaves its balance when the path is held, per 1/s of its growth, and the
# step of the yaw rate that shows it, rad/s
INSTABILITY = 3.0
RATE_STEP = 1e-3
MOST_GROWTH = 1.0

# approach of the reference to β*: 1/m of the path, and its largest rate, rad/s and rad/m. By the
# length, so that a robot that slows down in between does not turn its casters onto one line
APPROACH = 2.0
RATE = 0.4
STEEPEST = 1.3

# a motion is slowed down until the torques leave at most this acceleration, m/s², but not below
# this speed, m/s
TOLERATED = 0.03
SLOWEST = 0.06

# time over which β* is averaged, s
SETTLING = 0.3

# largest angle between the reference and the robot, rad
LEASH = 0.5

# the heading is half free at this speed of the reference, m/s, and in full from twice of it on: a
# part of the command that is left, of 3 % of 60°, is balanced at half the speed alone
FREE_SPEED = 0.05


class FreeHeading:
    """
    Replaces the heading of a reference; the memory is the angle to the path.

    With `kept` the commanded heading stays, and only the speed falls to what it allows.
    """

    def __init__(self, robot: CasterRobot, kept: bool = False) -> None:
        """Start without an angle."""
        self._kept = kept
        self._model = packed_model(robot.geometry, robot.caster_inertia, robot.platform,
                                   robot.losses)
        self._smooth = packed_model(robot.geometry, robot.caster_inertia, robot.platform,
                                    replace(robot, friction=Friction()).losses)
        self._pushing, self._bound = motors(robot), torque_bounds(robot)
        self._size = length_scale(robot)
        self._angles = 2.0 * math.pi / HEADINGS * np.arange(HEADINGS)
        self._fine = np.empty(2 * REACH + 1)
        self._costs, self._columns = np.empty(HEADINGS), np.empty((3, 3))
        self.reset()

    def reset(self) -> None:
        """Forget the angle."""
        self.angle: float | None = None
        self.target: float | None = None

    def _fastest(self, turn: float, angle: float) -> float:
        """Return the speed, m/s, that an angle to a path of `turn` rad/m allows."""
        here = np.array([angle])
        cost = np.empty(1)
        # without friction all forces grow with the square of the speed
        heading_costs(self._smooth, self._pushing, np.full(len(self._bound), 1e3),
                      (1.0, float(turn)), (self._size, TOLERATED, 0.0001), here, self._columns,
                      cost)
        return max(SLOWEST, max(cost[0], 1e-9)**-0.25)

    def _growth(self, speed: float, turn: float, angle: float) -> float:
        """
        Return the rate, 1/s, at which the heading leaves its balance; 0 if it returns.

        With path and speed held the yaw obeys ``φ̈ = α(β, φ̇)``, and ``½ ∂α/∂φ̇`` is its growth.
        """
        after, before = (yaw_on_path(self._model, self._pushing, self._bound, speed, angle, rate,
                                     self._columns)
                         for rate in (turn + RATE_STEP, turn - RATE_STEP))
        growth = 0.25 * (after - before) / RATE_STEP
        return min(max(growth, 0.0), MOST_GROWTH) if growth == growth else 0.0

    def best(self, speed: float, turn: float, commanded: float) -> float:
        """
        Return β*, rad, near its last value if that is about as good.

        Parameters
        ----------
        speed, turn : float, m/s and rad/s
            v and χ̇ of the path.
        commanded : float, rad
            β_c.
        """
        self._evaluate(speed, turn, self._angles, self._costs)
        away = (self._angles - commanded + math.pi) % (2.0 * math.pi) - math.pi
        costs = self._costs + (away / HEADING_SCALE)**2
        lower = (costs <= np.roll(costs, 1)) & (costs < np.roll(costs, -1))
        valleys = np.flatnonzero(lower)
        if not len(valleys):
            self.target = float(commanded)
            return self.target
        found = np.array([self._refined(speed, turn, float(self._angles[k]), commanded)
                          for k in valleys])
        angles = found[:, 0]
        deep = found[:, 1]
        deep += [INSTABILITY * self._growth(speed, turn, angle) for angle in angles]
        if self.target is not None:
            # the valley of the last one
            near = np.abs((angles - self.target + math.pi) % (2.0 * math.pi)
                          - math.pi)
            deep[int(np.argmin(near))] -= HYSTERESIS
        self.target = float(angles[int(np.argmin(deep))])
        return self.target

    def _refined(self, speed: float, turn: float, angle: float, commanded: float
                 ) -> tuple[float, float]:
        """Return the lowest angle of a valley by finer and finer grids, and its cost."""
        step = self._angles[1]
        for _ in range(REFINEMENTS):
            step *= FINER
            near = angle + step * np.arange(-REACH, REACH + 1)
            self._evaluate(speed, turn, near, self._fine)
            away = np.remainder(near - commanded + math.pi, 2.0 * math.pi) - math.pi
            costs = self._fine + (away / HEADING_SCALE)**2
            lowest = int(np.argmin(costs))
            angle = float(near[lowest])
        return angle, float(costs[lowest])

    def _evaluate(self, speed: float, turn: float, angles: Array, costs: Array) -> None:
        heading_costs(self._model, self._pushing, self._bound, (float(speed), float(turn)),
                      (self._size, LEAST_ACCELERATION, TORQUE_COST), angles, self._columns, costs)

    def apply(self, rows: Array, times: Array, yaw: float, dt: float) -> None:
        """
        Replace the heading in the reference `rows` (k, 7) of _kernels.py, `dt` s after the last.

        `times` (k,) are those of the rows, and `yaw` is that of the robot, whose turn of φ the
        rows have.
        """
        speeds = np.hypot(rows[:, 3], rows[:, 4])
        middle = len(rows) // 2
        speed = float(speeds[middle])
        courses = np.unwrap(rows[:, 6])
        if speed < FREE_SPEED:
            self.reset()
            return
        # the robot may still accelerate, and a preview may end within the rows
        lengths = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(rows[:, :2], axis=0).T))))
        turn = self._curvature(lengths, courses, middle) * speed
        commanded = float(courses[middle] - rows[middle, 2])
        if self._kept:
            self._slow_down(rows, times, speeds, self._fastest(turn / speed, commanded))
            return
        last = self.target
        target = self.best(speed, turn, commanded)
        if last is not None:
            target = self.target = last + min(1.0, dt / SETTLING) * math.remainder(
                target - last, 2.0 * math.pi)
        present = courses[0] - yaw
        angle = present if self.angle is None else self.angle
        angle = present + min(max(math.remainder(angle - present, 2.0 * math.pi), -LEASH), LEASH)
        # approach at a limited rate, along the rows and for the next call
        gap = math.remainder(target - angle, 2.0 * math.pi)
        most = np.minimum(RATE * times, STEEPEST * lengths)
        knee = max(abs(gap) - STEEPEST / APPROACH, 0.0)
        late = np.maximum(most - knee, 0.0) / STEEPEST
        moved = np.minimum(most, knee) + (abs(gap) - knee) * (1.0 - np.exp(-APPROACH * late))
        angles = angle + math.copysign(1.0, gap) * moved
        self.angle = float(np.interp(dt, times, angles))
        # not where a motion begins, but where it ends
        ahead = np.maximum.accumulate(speeds[::-1])[::-1]
        part = np.minimum(0.5 * ahead / FREE_SPEED, 1.0)
        free = part * part * (3.0 - 2.0 * part)
        own = courses - angles
        # on the turn of the commanded heading
        own += 2.0 * math.pi * round((yaw - own[0]) / (2.0 * math.pi))
        rows[:, 2] += free * (own - rows[:, 2])
        rows[:, 5] = np.gradient(rows[:, 2], times)

    @staticmethod
    def _curvature(lengths: Array, courses: Array, middle: int) -> float:
        """Return the curvature, 1/m, about the middle of the rows."""
        first = middle - middle // 4
        last = middle + middle // 4
        return float((courses[last] - courses[first]) / max(lengths[last] - lengths[first], 1e-3))

    def _slow_down(self, rows: Array, times: Array, speeds: Array, most: float) -> None:
        """Move through the same rows with at most the speed `most`, m/s."""
        part = np.minimum(1.0, most / np.maximum(speeds, 1e-3))
        if part.min() == 1.0:
            return
        later = np.concatenate(([0.0], np.cumsum(0.5 * (part[1:] + part[:-1]) * np.diff(times))))
        for j in range(7):
            rows[:, j] = np.interp(later, times, rows[:, j])
        rows[:, 3:6] *= np.interp(later, times, part)[:, None]
