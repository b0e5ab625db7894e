# SPDX-License-Identifier: Apache-2.0
"""
Solvers of others on the planning problems of the predictive controller.

The model and the cost are written down in CasADi, independently of the controller's own. IPOPT
takes the torques alone as unknowns; fatrop takes states and torques, stage by stage, with its
interior points on the structure of optimal control; Crocoddyl's BoxFDDP is differential dynamic
programming as the controller's, with derivatives by CasADi that it calls through Python, so that
its iterations are comparable, not its time. Each starts from the controller's first guess and
solves to the end.

    pip install casadi crocoddyl
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_controller.predictive._kernels import ALIGNMENT_SPEED, RIPPLE_RATE
from c3p_controller.predictive.controller import PredictiveController
from c3p_controller.predictive.states import (
    ALIGNMENT,
    RIPPLE,
    TORQUE,
    TORQUE_RATE,
    WEIGHTS,
)
from c3p_description.model import Array

# casadi_model.py stands there, for its other user
sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))

# of the optimality at which the interior points are done, and of the expected change of the cost
TOLERANCE = 1e-6
LEAST_CHANGE = 1e-10
ITERATIONS = 500


class Solved(NamedTuple):
    """Time of the wall and of the processor, s, cost and iterations of one problem."""

    time: float
    busy: float
    cost: float
    iterations: int


Solver = Callable[[Array, Array, Array, Array, Array], Solved]


class Stages(NamedTuple):
    """
    A planning problem as CasADi functions.

    Attributes
    ----------
    step : Function
        ``(x, torque, wrench) → x`` after one interval.
    stage : Function
        ``(x, row, weights) → cost`` of a state.
    weights : (N + 1, WEIGHTS) array
    dt : float, s
    """

    step: Any
    stage: Any
    weights: Array
    dt: float


def stages(law: PredictiveController) -> Stages:
    """Return the functions of the controller's problem."""
    import casadi as ca
    from casadi_model import motion

    robot, plan = law.robot, law._state.plan
    dt, n = float(plan.dt[0]), law.robot.count
    losses = robot.losses.copy()
    losses[:, 5] = law.settings.friction_smoothing
    rate = motion(robot, losses)
    x, tau, wrench, row = ca.SX.sym('x', 6 + n), ca.SX.sym('t', n), ca.SX.sym('w', 3), ca.SX.sym(
        'r', 7)
    half = x + 0.5 * dt * rate(x, tau, wrench)
    step = ca.Function('step', [x, tau, wrench], [x + dt * rate(half, tau, wrench)])
    c, s = ca.cos(row[6]), ca.sin(row[6])
    dx, dy = x[0] - row[0], x[1] - row[1]
    cf, sf = ca.cos(x[2]), ca.sin(x[2])
    ex = cf * x[3] - sf * x[4] - row[3]
    ey = sf * x[3] + cf * x[4] - row[4]
    errors = ca.vertcat(c * dy - s * dx, c * dx + s * dy, x[2] - row[2], c * ey - s * ex,
                        c * ex + s * ey, x[5] - row[5])
    weight = ca.SX.sym('q', WEIGHTS)
    cost = 0.5 * ca.sum1(weight[:6] * errors**2)
    for i in range(n):
        hx, hy = robot.geometry[i, :2]
        cr, sr = ca.cos(row[2]), ca.sin(row[2])
        vx, vy = row[3] - row[5] * (sr * hx + cr * hy), row[4] + row[5] * (cr * hx - sr * hy)
        square = vx**2 + vy**2
        part = square / (square + ALIGNMENT_SPEED**2)
        # 2 sin²(Δ/2) = 1 − cos Δ
        angle = x[2] + x[6 + i] + np.pi / 2 - ca.atan2(vy, vx + 1e-12)
        cost += weight[ALIGNMENT] * part * (1 - ca.cos(angle))
    cost += weight[RIPPLE] * RIPPLE_RATE**2 * (
        ca.sqrt(1 + ((x[5] - row[5]) / RIPPLE_RATE)**2) - 1)
    return Stages(step, ca.Function('stage', [x, row, weight], [cost]), plan.weights.copy(), dt)


def torque_cost(problem: Stages, k: int, torque: Any, change: Any) -> Any:  # noqa: ANN401 (CasADi)
    """Return the cost of the torques of interval k, and of their change."""
    import casadi as ca

    weights, dt = problem.weights[k], problem.dt
    return 0.5 * dt * weights[TORQUE] * ca.sumsqr(torque) + (
        0.5 * weights[TORQUE_RATE] / dt * ca.sumsqr(change))


def ipopt(law: PredictiveController) -> Solver:
    """Return IPOPT on the torques alone (single shooting)."""
    import casadi as ca

    problem, n, steps = stages(law), law.robot.count, len(law._state.plan.dt)
    start, push, rows = ca.MX.sym('x0', 6 + n), ca.MX.sym('w', 3), ca.MX.sym('rows', 7, steps + 1)
    before = ca.MX.sym('b', n)
    torques, now, total = ca.MX.sym('u', n, steps), start, 0.0
    for k in range(steps):
        change = torques[:, k] - (torques[:, k - 1] if k else before)
        total += torque_cost(problem, k, torques[:, k], change)
        now = problem.step(now, torques[:, k], push)
        scale = problem.dt if k + 1 < steps else 1.0
        total += scale * problem.stage(now, rows[:, k + 1], problem.weights[k + 1])
    solver = ca.nlpsol('solver', 'ipopt', {
        'x': ca.vec(torques), 'f': total,
        'p': ca.vertcat(start, push, before, ca.vec(rows))},
        {'ipopt.print_level': 0, 'print_time': 0, 'ipopt.warm_start_init_point': 'yes',
         'ipopt.tol': TOLERANCE, 'ipopt.sb': 'yes'})
    limit = np.tile(law.limit, steps)

    def solve(state: Array, torques: Array, rows: Array, wrench: Array, before: Array) -> Solved:
        return _timed(solver, x0=torques.ravel(), lbx=-limit, ubx=limit,
                      p=np.concatenate([state, wrench, before, rows.ravel()]))
    return solve


def fatrop(law: PredictiveController) -> Solver:
    """
    Return fatrop on states and torques (multiple shooting), with the structure of the stages.

    A stage has the state, the torques of the interval before, whose change has a cost, and its own
    torques.
    """
    import casadi as ca

    problem, n, steps = stages(law), law.robot.count, len(law._state.plan.dt)
    size = 6 + 2 * n
    start, push, rows = ca.MX.sym('x0', size), ca.MX.sym('w', 3), ca.MX.sym('rows', 7, steps + 1)
    x = [ca.MX.sym(f'x{k}', size) for k in range(steps + 1)]
    u = [ca.MX.sym(f'u{k}', n) for k in range(steps)]
    total, gaps = 0.0, []
    for k in range(steps):
        total += torque_cost(problem, k, u[k], u[k] - x[k][6 + n:])
        scale = problem.dt if k + 1 < steps else 1.0
        total += scale * problem.stage(x[k + 1][:6 + n], rows[:, k + 1], problem.weights[k + 1])
        after = ca.vertcat(problem.step(x[k][:6 + n], u[k], push), u[k])
        gaps.append(x[k + 1] - after)
        if k == 0:
            gaps.append(x[0] - start)
    unknown = ca.vertcat(*(one for pair in zip(x, u, strict=False) for one in pair), x[-1])
    solver = ca.nlpsol('solver', 'fatrop', {
        'x': unknown, 'f': total, 'g': ca.vertcat(*gaps),
        'p': ca.vertcat(start, push, ca.vec(rows))},
        {'print_time': 0, 'structure_detection': 'auto', 'equality': [True] * (size * (steps + 1)),
         'fatrop': {'print_level': 0, 'tol': TOLERANCE}})
    free = np.full(size, np.inf)
    limit = np.concatenate([free, *(np.concatenate([law.limit, free]) for _ in range(steps))])

    def solve(state: Array, torques: Array, rows: Array, wrench: Array, before: Array) -> Solved:
        first = [np.concatenate([state, before])]
        guess = [first[0]]
        for torque in torques:
            first.append(np.concatenate([
                problem.step(first[-1][:6 + n], torque, wrench).full().ravel(), torque]))
            guess += [torque, first[-1]]
        return _timed(solver, x0=np.concatenate(guess), lbx=-limit, ubx=limit, lbg=0.0, ubg=0.0,
                      p=np.concatenate([state, before, wrench, rows.ravel()]))
    return solve


def _timed(solver: Any, **given: Any) -> Solved:  # noqa: ANN401 (CasADi)
    begin, used = time.perf_counter(), time.process_time()
    found = solver(**given)
    return Solved(time.perf_counter() - begin, time.process_time() - used, float(found['f']),
                  int(solver.stats()['iter_count']))


def crocoddyl(law: PredictiveController) -> Solver:
    """Return BoxFDDP of Crocoddyl, with the Gauss-Newton terms that CasADi derives."""
    import casadi as ca
    import crocoddyl as cr

    problem, n, steps = stages(law), law.robot.count, len(law._state.plan.dt)
    size = 6 + 2 * n
    x, u, push, row = (ca.SX.sym('x', size), ca.SX.sym('u', n), ca.SX.sym('w', 3),
                       ca.SX.sym('r', 7))
    weight = ca.SX.sym('q', WEIGHTS)
    after = ca.vertcat(problem.step(x[:6 + n], u, push), u)
    jump = u - x[6 + n:]
    own = problem.stage(x[:6 + n], row, weight)
    pull = 0.5 * problem.dt * weight[TORQUE] * ca.sumsqr(u) + (
        0.5 * weight[TORQUE_RATE] / problem.dt * ca.sumsqr(jump))
    scale = ca.SX.sym('s', 2)
    cost = scale[0] * own + scale[1] * pull
    both = ca.vertcat(x, u)
    hessian, gradient = ca.hessian(cost, both)
    given = [x, u, push, row, weight, scale]
    value = ca.Function('value', given, [after, cost])
    slopes = ca.Function('slopes', given, [ca.jacobian(after, both), gradient, hessian])

    class Interval(cr.ActionModelAbstract):
        """One interval; `parts` are wrench, row of the state, weights and factors."""

        def __init__(self, *parts: Array) -> None:
            super().__init__(cr.StateVector(size), n)
            self.parts = parts
            self.u_lb, self.u_ub = -law.limit, law.limit

        def calc(self, data: Any, x: Array, u: Array | None = None) -> None:  # noqa: ANN401
            found, cost = value(x, np.zeros(n) if u is None else u, *self.parts)
            data.xnext, data.cost = found.full().ravel(), float(cost)

        def calcDiff(self, data: Any, x: Array,  # noqa: ANN401, N802 (Crocoddyl's name)
                     u: Array | None = None) -> None:
            slope, gradient, hessian = (one.full() for one in slopes(
                x, np.zeros(n) if u is None else u, *self.parts))
            data.Fx, data.Fu = slope[:, :size], slope[:, size:]
            data.Lx, data.Lu = np.ravel(gradient[:size]), np.ravel(gradient[size:])
            data.Lxx, data.Luu = hessian[:size, :size], hessian[size:, size:]
            data.Lxu = hessian[:size, size:]

    def solve(state: Array, torques: Array, rows: Array, wrench: Array, before: Array) -> Solved:
        def interval(k: int) -> Any:  # noqa: ANN401 (Crocoddyl's)
            # the cost of a state belongs to the interval that begins with it
            weights = problem.weights[k].copy()
            factors = np.array([0.0 if k == 0 else problem.dt if k < steps else 1.0,
                                1.0 if k < steps else 0.0])
            return Interval(wrench, rows[k], weights, factors)

        path = [np.concatenate([state, before])]
        for torque in torques:
            path.append(np.concatenate([
                problem.step(path[-1][:6 + n], torque, wrench).full().ravel(), torque]))
        shooting = cr.ShootingProblem(path[0], [interval(k) for k in range(steps)],
                                      interval(steps))
        solver = cr.SolverBoxFDDP(shooting)
        solver.th_stop = LEAST_CHANGE
        begin, used = time.perf_counter(), time.process_time()
        solver.solve(path, list(torques), ITERATIONS, True)
        return Solved(time.perf_counter() - begin, time.process_time() - used, solver.cost,
                      solver.iter)
    return solve


# as printed, with what makes it
PEERS: dict[str, Callable[[PredictiveController], Solver]] = {
    'CasADi + IPOPT': ipopt, 'CasADi + fatrop': fatrop, 'Crocoddyl BoxFDDP': crocoddyl}
