# SPDX-License-Identifier: Apache-2.0
"""
Least-time problems of a caster robot in CasADi, and their solutions driven by the suite's plant.

Direct collocation, Radau's rule with two points in each interval of constant torque, free final
time; solved by IPOPT. See optimal_limits.py, which searches for the best local optimum.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

# small dense fronts: threads of the linear algebra only wait for one another
os.environ.setdefault('OMP_NUM_THREADS', '1')

import numpy as np  # noqa: E402

from c3p_bags.runs.metrics import ALIGNED  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_description.model import Array, CasterRobot  # noqa: E402
from c3p_simulation.plants.plant import AnalyticPlant  # noqa: E402

# after the casters are aligned they stay so, and the robot on its path, for this time, s; then it
# travels with at least this part of the requested speed
HOLD, SPEED_AFTER = 0.5, 0.5

# what the collocation may be wrong by: part of the tolerance, and rad
PATH_MARGIN, ANGLE_MARGIN = 0.02, np.radians(0.1)

# how often a solution that the plant does not confirm is repeated with more room
CORRECTIONS = 4

# of torque, beside the time: makes what does not matter unique and costs below 1 ms
TORQUE_WEIGHT = 1e-3

# points of Radau's rule with two points, parts of the interval; the last one is its end
POINTS = np.array([1.0 / 3.0, 1.0])

# points on the path that are looked at in each interval when a solution is driven
LOOKS = 16


class Grid(NamedTuple):
    """Intervals of constant torque until the casters are aligned, and afterwards."""

    move: int
    hold: int


@dataclass(frozen=True)
class Task:
    """
    Minimum-time task.

    Attributes
    ----------
    name, robot : str
    steering : float, rad
        Of all casters, at rest.
    direction : float, rad
        Of the travel, on the floor.
    speed : float, m/s
        Requested, and never exceeded.
    limits : tuple of float, N·m
        Torque limits.
    tolerances : tuple of float, m
        Path errors, the widest first: each solution begins the search for the next.
    """

    name: str
    robot: str
    steering: float
    direction: float
    speed: float
    limits: tuple[float, ...]
    tolerances: tuple[float, ...]

    @property
    def trailing(self) -> float:
        """Steering angle of a caster that trails when the platform has not yawed, rad."""
        return self.direction - np.pi / 2


class Solution(NamedTuple):
    """
    A local optimum, or the last iterate of IPOPT.

    Attributes
    ----------
    limit, tolerance : float, N·m and m
    time : float, s
        Until the casters are aligned.
    torque : (N, n) array, N·m
    length : (N,) array, s
        Of the intervals.
    states : (2 N + 1, 6 + n) array
        Start and collocation points.
    solved : bool
    """

    limit: float
    tolerance: float
    time: float
    torque: Array
    length: Array
    states: Array
    solved: bool


class Driven(NamedTuple):
    """
    Open-loop simulation of a solution on the plant.

    Attributes
    ----------
    time : (k,) array, s
    pose : (k, 3) array
    off : (k, n) array, rad
        Angle of each caster from trailing along the travel, 0 to π.
    across : (k,) array, m
    align_time : float, s
        Time after which all casters remain within 10°; nan: never.
    path_error : float, m
    speed : (k,) array, m/s
        Along the travel.
    """

    time: Array
    pose: Array
    off: Array
    across: Array
    align_time: float
    path_error: float
    speed: Array


class Problem:
    """
    The nonlinear programme of a robot and a direction on a grid.

        min T + w ∫ |τ/τ_max|² dt,   ẋ = f(x, τ),   |τ_i| ≤ τ_max,   |e_⊥| ≤ tolerance,
        speed along ≤ v;   in [T, T + 0.5 s]: cos Δ_i ≥ cos 10°, speed along ≥ 0, at the end ≥ v/2

    Parameters
    ----------
    task : Task
    grid : Grid
    rate_limit : float, N·m/s
        Of the torque, from one interval to the next; ``inf``: none.
    yaw_back : bool
        Require zero yaw and yaw rate when the casters are aligned.
    angle : float, rad
        Alignment tolerance of the casters.
    capped : bool
        Limit the speed to the commanded one.
    """

    def __init__(self, task: Task, grid: Grid, rate_limit: float = np.inf,
                 yaw_back: bool = False, angle: float = ALIGNED, capped: bool = True) -> None:
        """Build the nonlinear programme, in one or two seconds."""
        import casadi as ca
        from casadi_model import motion

        self.task, self.grid, self.robot = task, grid, load(task.robot)
        self.angle = angle
        n, count = self.robot.count, sum(grid)
        size = self.size = 6 + n
        start, limit = ca.MX.sym('start', size), ca.MX.sym('limit')
        x, u, end = (ca.MX.sym('x', size, 2 * count), ca.MX.sym('u', n, count),
                     ca.MX.sym('T'))
        length = ca.horzcat(ca.repmat(end / grid.move, 1, grid.move),
                            ca.repmat(HOLD / grid.hold, 1, grid.hold))
        # derivative of the parabola through 0, 1/3 and 1, at 1/3 and 1
        slope = np.array([[-2.0, 2.0], [1.5, -4.5], [0.5, 2.5]])
        rate, h = motion(self.robot, self.robot.losses), ca.SX.sym('h')
        piece, push = ca.SX.sym('piece', size, 3), ca.SX.sym('push', n)
        defect = ca.Function('defect', [ca.vec(piece), push, h], [ca.vertcat(*(
            piece @ slope[:, k] - h * rate(piece[:, k + 1], push, 0) for k in range(2)))])
        begin = ca.horzcat(start, x[:, 1:-1:2])
        defects = defect.map(count)(ca.vertcat(begin, ca.reshape(x, 2 * size, count)), limit * u,
                                    length)
        c, s = np.cos(task.direction), np.sin(task.direction)
        held = x[:, 2 * grid.move - 1:]
        gap = x[2, :] - task.direction
        speed = ca.cos(gap) * x[3, :] - ca.sin(gap) * x[4, :]
        off = ca.repmat(held[2, :], n, 1) + held[6:, :] - task.trailing
        ramp = (u - ca.horzcat(ca.DM.zeros(n), u[:, :-1])) * limit / ca.repmat(length, n, 1)
        # in cm: comparable with the other constraints
        parts = [defects, 100.0 * (c * x[1, :] - s * x[0, :]), ca.cos(off), speed, held[[2, 5], 0],
                 ramp]
        if not np.isfinite(rate_limit):
            parts.pop()
        self._bounds = self._fixed_bounds([part.numel() for part in parts], rate_limit, yaw_back,
                                          capped)
        cost = end + TORQUE_WEIGHT * ca.sum2(ca.sum1(u**2) * length)
        self._solver = ca.nlpsol('limits', 'ipopt', {
            'x': ca.veccat(x, u, end), 'f': cost, 'g': ca.veccat(*parts),
            'p': ca.veccat(start, limit)}, {
                'expand': True, 'print_time': False, 'ipopt.print_level': 0, 'ipopt.sb': 'yes',
                'ipopt.mu_strategy': 'adaptive', 'ipopt.tol': 1e-5, 'ipopt.max_iter': 300,
                'ipopt.constr_viol_tol': 1e-6})

    def _fixed_bounds(self, sizes: Sequence[int], rate_limit: float, yaw_back: bool,
                      capped: bool) -> list[list[Array]]:
        speed = self.task.speed
        low = [np.zeros(sizes[0]), np.zeros(sizes[1]), np.zeros(sizes[2]),
               np.full(sizes[3], -np.inf), np.full(2, 0.0 if yaw_back else -np.inf)]
        low[3][2 * self.grid.move - 1:] = 0.0
        low[3][-1] = SPEED_AFTER * speed
        high = [np.zeros(sizes[0]), np.zeros(sizes[1]), np.full(sizes[2], np.inf),
                np.full(sizes[3], speed if capped else np.inf), -low[4]]
        for size in sizes[5:]:
            low.append(np.full(size, -rate_limit))
            high.append(np.full(size, rate_limit))
        return [low, high]

    @property
    def start(self) -> Array:
        """State at the start, (6 + n,)."""
        return np.r_[np.zeros(6), np.full(self.robot.count, self.task.steering)]

    def lengths(self, end: float) -> Array:
        """Return the lengths of the intervals when the casters are aligned after `end`, s."""
        return np.r_[np.full(self.grid.move, end / self.grid.move),
                     np.full(self.grid.hold, HOLD / self.grid.hold)]

    def guess(self, turns: Sequence[float], end: float, noise: float,
              rng: np.random.Generator) -> tuple[Array, Array, float]:
        """
        Return an initial guess: platform at standstill, smooth steering, random torques.

        Parameters
        ----------
        turns : (n,) sequence of float, rad
            Rotation of each caster.
        end : float, s
        noise : float
            Largest torque, part of the limit.
        rng : numpy.random.Generator
        """
        part = np.minimum(_points(self.lengths(end)) / end, 1.0)
        states = np.tile(self.start, (len(part), 1))
        states[:, 6:] += (part**2 * (3.0 - 2.0 * part))[:, None] * turns
        return states, noise * rng.uniform(-1.0, 1.0, (sum(self.grid), self.robot.count)), end

    def carry_over(self, found: Solution) -> tuple[Array, Array, float]:
        """Return a solution on any grid as initial guess."""
        length = self.lengths(found.time)
        old, new = _points(found.length), _points(length)
        states = np.stack([np.interp(new, old, row) for row in found.states.T], axis=1)
        middle = np.cumsum(length) - 0.5 * length
        index = np.searchsorted(np.cumsum(found.length), middle)
        return states, found.torque[np.minimum(index, len(found.torque) - 1)] / found.limit, \
            found.time

    def solve(self, limit: float, tolerance: float, guess: tuple[Array, Array, float],
              room: tuple[float, float] | None = None) -> Solution:
        """
        Return the local optimum near a guess.

        Parameters
        ----------
        limit : float, N·m
        tolerance : float, m
            Largest path error.
        guess : tuple
            As `guess` and `carry_over` return it.
        room : (2,) tuple of float, m and rad
            Margins of path error and casters on the grid, because of the discretisation error.
        """
        states, torque, end = guess
        path, angle = room or (PATH_MARGIN * tolerance, ANGLE_MARGIN)
        count, n = sum(self.grid), self.robot.count
        low, high = ([part.copy() for part in side] for side in self._bounds)
        high[1] += 100.0 * (tolerance - path)
        low[1] -= 100.0 * (tolerance - path)
        low[2] += np.cos(self.angle - angle)
        free, unit = np.full(2 * count * self.size, np.inf), np.ones(count * n)
        found = self._solver(
            x0=np.r_[states[1:].ravel(), torque.ravel(), end], lbx=np.r_[-free, -unit, 0.05],
            ubx=np.r_[free, unit, 5.0], lbg=np.concatenate(low), ubg=np.concatenate(high),
            p=np.r_[self.start, limit])
        value = np.asarray(found['x']).ravel()
        states = value[:len(free)].reshape(2 * count, self.size)
        return Solution(limit, tolerance, float(value[-1]),
                        limit * value[len(free):-1].reshape(count, n), self.lengths(value[-1]),
                        np.vstack([self.start, states]), bool(self._solver.stats()['success']))

    def confirmed(self, found: Solution) -> tuple[Solution, Driven]:
        """
        Return a solution that the plant confirms, with its simulation.

        Violations in the simulation reduce the limits on the grid, a few times.
        """
        path, angle = PATH_MARGIN * found.tolerance, ANGLE_MARGIN
        driven = drive(self.task, self.robot, found, self.angle)
        for _ in range(CORRECTIONS):
            if driven.path_error <= found.tolerance and driven.align_time <= found.time + 1e-3:
                break
            path += max(0.0, 1.05 * (driven.path_error - found.tolerance))
            late = driven.off[driven.time > found.time + 1e-3].max() - self.angle
            angle += max(0.0, 1.05 * late)
            again = self.solve(found.limit, found.tolerance, self.carry_over(found), (path, angle))
            if not again.solved:
                break
            found, driven = again, drive(self.task, self.robot, again, self.angle)
        return found, driven


def _points(length: Array) -> Array:
    """Return the times of the start and of all collocation points, s."""
    begin = np.cumsum(length) - length
    return np.r_[0.0, (begin[:, None] + length[:, None] * POINTS).ravel()]


def drive(task: Task, robot: CasterRobot, found: Solution, angle: float = ALIGNED) -> Driven:
    """
    Drive a solution open loop on the analytic plant, Runge-Kutta steps of at most 1 ms.

    Parameters
    ----------
    task : Task
    robot : CasterRobot
    found : Solution
    angle : float, rad
        Alignment tolerance of the casters.
    """
    plant = AnalyticPlant(replace(robot, torque_limit=np.full(robot.count, found.limit)))
    sample = plant.reset(steering=task.steering)
    rows = [(0.0, plant.truth(), sample.steering)]
    for torque, length in zip(found.torque, found.length, strict=True):
        for _ in range(LOOKS):
            sample = plant.step(torque, length / LOOKS)
            rows.append((plant.time, plant.truth(), sample.steering))
    times = np.array([row[0] for row in rows])
    pose, twist = (np.array([getattr(row[1], name) for row in rows]) for name in ('pose', 'twist'))
    turned = pose[:, 2:] + np.array([row[2] for row in rows]) - task.trailing
    off = np.abs(np.arctan2(np.sin(turned), np.cos(turned)))
    across = np.cos(task.direction) * pose[:, 1] - np.sin(task.direction) * pose[:, 0]
    out = np.flatnonzero((off > angle).any(axis=1))
    settled = not len(out) or out[-1] + 1 < len(times)
    gap = pose[:, 2] - task.direction
    return Driven(times, pose, off, across,
                  float(times[out[-1] + 1] if len(out) else 0.0) if settled else np.nan,
                  float(np.abs(across).max()),
                  np.cos(gap) * twist[:, 0] - np.sin(gap) * twist[:, 1])
