# SPDX-License-Identifier: Apache-2.0
"""
The predictive controller's solver against CasADi with IPOPT, on the problems of one drive.

The drive is 4 m from exactly singular steering with the encoders of the C3P. Each of its planning
problems is solved once more by the controller's solver, from the same first guess, and a sample of
them to the end by IPOPT (interior points, exact Hessians, same guess) on a model written down
independently in CasADi. Printed are the medians and 99th percentiles of the times, and how much
cost the few iterations leave on the table.

    pip install casadi
    python benchmarks/bench_predictive.py [--sample 25]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from measuring import Figure, beside, spread

from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.predictive._kernels import ALIGNMENT_SPEED, RIPPLE_RATE
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.predictive.states import (
    ALIGNMENT,
    RIPPLE,
    TORQUE,
    TORQUE_RATE,
    WEIGHTS,
)
from c3p_description.reading.loader import load
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# casadi_model.py stands there, for its other user
sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))


class Recording(PredictiveController):
    """Keeps what every improvement of the plan began with."""

    def reset(self, sensed=None):
        """Forget the past and the problems."""
        super().reset(sensed)
        self.problems = []

    def step(self, sensed, setpoint, dt):
        """Keep the problem of a cycle in which a plan was improved."""
        state = self._state
        ready, planned = bool(state.ready[0]), float(state.begin[0])
        torques = state.plan.torques.copy()
        sent = super().step(sensed, setpoint, dt)
        if ready and state.ready[0] and state.begin[0] != planned:
            # the plan before as it is now
            times = state.times[:-1]
            for i in range(torques.shape[1]):
                torques[:, i] = np.interp(times + state.begin[0] - planned, times, torques[:, i])
            self.problems.append((state.start.copy(), torques, state.plan.rows.copy(),
                                  self.observer.wrench.copy(), state.plan.before.copy()))
        return sent


def record(robot):
    """Drive and return the controller with its problems."""
    law = Recording(robot, PredictiveSettings())
    plant = SensedPlant(AnalyticPlant(robot), SensorSettings())
    run_loop(plant, law, GoalSource(PathController(PathGains()), [(4.0, 0.0, 0.0)]), duration=12.0,
             stop=Held())
    return law


def ours(law):
    """Return times, processor times, s, and costs of the controller's solver."""
    state, planner = law._state, law._planner
    plan = state.plan
    times, busy, costs = [], [], []
    # the first round warms the caches
    for _ in range(2):
        times.clear(), busy.clear(), costs.clear()
        for start, torques, rows, wrench, before in law.problems:
            state.start[:], plan.torques[:], plan.before[:] = start, torques, before
            plan.rows[:], law.observer.wrench[:] = rows, wrench
            begin, used = time.perf_counter(), time.thread_time()
            planner.steps.solve(state.block, planner.sizes, law.observer.model,
                                law.settings.iterations)
            times.append(time.perf_counter() - begin)
            busy.append(time.thread_time() - used)
            costs.append(law.cost)
    return np.array(times), np.array(busy), np.array(costs)


def casadi_solver(law):
    """Return IPOPT on the same problem, as a function of a problem of `Recording`."""
    import casadi as ca
    from casadi_model import motion

    robot, plan = law.robot, law._state.plan
    steps, dt, weights = len(plan.dt), float(plan.dt[0]), plan.weights
    n = robot.count
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
    stage = ca.Function('stage', [x, row, weight], [cost])

    start, push, rows = ca.MX.sym('x0', 6 + n), ca.MX.sym('w', 3), ca.MX.sym('rows', 7, steps + 1)
    before = ca.MX.sym('b', n)
    torques, now, total = ca.MX.sym('u', n, steps), start, 0.0
    for k in range(steps):
        total += 0.5 * dt * weights[k, TORQUE] * ca.sumsqr(torques[:, k])
        change = torques[:, k] - (torques[:, k - 1] if k else before)
        total += 0.5 * weights[k, TORQUE_RATE] / dt * ca.sumsqr(change)
        now = step(now, torques[:, k], push)
        scale = dt if k + 1 < steps else 1.0
        total += scale * stage(now, rows[:, k + 1], weights[k + 1])
    solver = ca.nlpsol('solver', 'ipopt', {
        'x': ca.vec(torques), 'f': total,
        'p': ca.vertcat(start, push, before, ca.vec(rows))},
        {'ipopt.print_level': 0, 'print_time': 0, 'ipopt.warm_start_init_point': 'yes',
         'ipopt.tol': 1e-6, 'ipopt.sb': 'yes'})
    limit = np.tile(law.limit, steps)

    def solve(state, torques, rows, wrench, before):
        begin = time.perf_counter()
        found = solver(x0=torques.ravel(), lbx=-limit, ubx=limit,
                       p=np.concatenate([state, wrench, before, rows.ravel()]))
        return time.perf_counter() - begin, float(found['f'])

    return solve


def figures(quick: bool = False) -> list[Figure]:
    """Return the median solve beside IPOPT, and the 99th percentile of the processor time."""
    law = record(load('c3p'))
    _, busy, _ = ours(law)
    chosen = np.unique(np.linspace(0, len(busy) - 1, 8 if quick else 25).astype(int))
    # quartiles of the percentile by splitting the problems into five
    tails = [np.percentile(1e3 * busy[k::5], 99) for k in range(5)]
    found = [Figure('predictive solve, processor time, p99', 'ms', spread(tails), bar=0.4)]
    try:
        solve = casadi_solver(law)
    except ImportError:
        return found
    peer = []
    for k in chosen:
        begin = time.process_time()
        solve(*law.problems[k])
        peer.append(time.process_time() - begin)
    return [beside('predictive solve of a drive', {'ours': busy[chosen],
                                                   'IPOPT': np.array(peer)}, 'ours',
                   'IPOPT', unit='ms', title='CasADi + IPOPT, to the end'), *found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--sample', type=int, default=25, help='problems that IPOPT solves')
    sample = parser.parse_args().sample
    law = record(load('c3p'))
    times, busy, costs = ours(law)
    print(f'{len(times)} problems, {len(law._state.plan.dt)} steps, {law.robot.count} wheels')
    # on a computer that runs other programs only the processor's time is meaningful
    for name, value in (('by the clock', times), ('processor', busy)):
        print(f'{"box-DDP, as controlling: " + name:40} p50 {1e3 * np.median(value):8.3f} ms   '
              f'p99 {1e3 * np.percentile(value, 99):8.3f} ms   max {1e3 * value.max():8.3f} ms')
    try:
        solve = casadi_solver(law)
    except ImportError:
        print('no peer: pip install casadi')
        return
    # the first second is where the singularity is; the rest is driving
    chosen = np.unique(np.linspace(0, len(times) - 1, sample).astype(int))
    peer = np.array([solve(*law.problems[k]) for k in chosen])
    print(f'{"CasADi + IPOPT, to the end":40} p50 {1e3 * np.median(peer[:, 0]):8.3f} ms   '
          f'p99 {1e3 * np.percentile(peer[:, 0], 99):8.3f} ms')
    print(f'ratio of the medians {np.median(peer[:, 0]) / np.median(times[chosen]):.0f}')
    excess = costs[chosen] / np.maximum(peer[:, 1], 1e-9) - 1.0
    print(f'cost above the optimum that IPOPT finds: median {100 * np.median(excess):.2f} %, '
          f'p90 {100 * np.percentile(excess, 90):.1f} %, IPOPT worse in '
          f'{int((excess < -1e-3).sum())} of {len(chosen)}')


if __name__ == '__main__':
    main()
