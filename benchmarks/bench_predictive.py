# SPDX-License-Identifier: Apache-2.0
"""
The solver of the predictive controller against IPOPT, fatrop and Crocoddyl, on one drive.

The drive is 4 m from exactly singular steering with the encoders of the C3P. Each of its planning
problems is solved once more by the controller's solver, from the same first guess, and a sample of
them to the end by the solvers of others (`predictive_peers.py`). Printed are the medians and 99th
percentiles of the times, and how much cost the few iterations leave on the table; with ``--many``
also the longest of that number of solves, each from a start with noise.

    pip install casadi crocoddyl
    python benchmarks/bench_predictive.py [--sample 25] [--many 100000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from measuring import Figure, beside, spread
from predictive_peers import PEERS

from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_description.reading.loader import load
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# of a start in `longest`: m and rad of poses and steering, m/s and rad/s of twists
NOISE = 1e-4


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


def longest(law, count):
    """Return percentiles 50, 99, 99.9 and 100 of the processor times of `count` solves, s."""
    state, planner = law._state, law._planner
    plan = state.plan
    rng = np.random.default_rng(0)
    busy = np.empty(count)
    for k in range(count):
        start, torques, rows, wrench, before = law.problems[k % len(law.problems)]
        state.start[:] = start + NOISE * rng.standard_normal(len(start))
        plan.torques[:], plan.before[:] = torques, before
        plan.rows[:], law.observer.wrench[:] = rows, wrench
        used = time.thread_time()
        planner.steps.solve(state.block, planner.sizes, law.observer.model,
                            law.settings.iterations)
        busy[k] = time.thread_time() - used
    return np.percentile(busy, [50, 99, 99.9, 100])


def peers(law):
    """Return the solvers of others that are installed, by name."""
    found = {}
    for name, make in PEERS.items():
        try:
            found[name] = make(law)
        except ImportError:
            print(f'no {name}: pip install casadi crocoddyl')
    return found


def figures(quick: bool = False) -> list[Figure]:
    """Return the median solve beside IPOPT, and the 99th percentile of the processor time."""
    law = record(load('c3p'))
    _, busy, costs = ours(law)
    chosen = np.unique(np.linspace(0, len(busy) - 1, 8 if quick else 25).astype(int))
    # quartiles of the percentile by splitting the problems into five
    tails = [np.percentile(1e3 * busy[k::5], 99) for k in range(5)]
    found = [Figure('predictive solve, processor time, p99', 'ms', spread(tails), bar=0.4)]
    beside_others, optimum = [], np.full(len(chosen), np.inf)
    for name, solve in peers(law).items():
        peer = [solve(*law.problems[k]) for k in chosen]
        optimum = np.minimum(optimum, [one.cost for one in peer])
        beside_others.append(beside(
            'predictive solve of a drive', {'ours': busy[chosen], name: np.array([
                one.busy for one in peer])}, 'ours', name, unit='ms', title=f'{name}, to the end'))
    if beside_others:
        excess = 100.0 * (costs[chosen] / np.maximum(np.minimum(optimum, costs[chosen]), 1e-9)
                          - 1.0)
        found.append(Figure('cost of its plans above the best known, p90', '%',
                            spread([np.percentile(excess, 90)]), bar=1.0))
    return [*beside_others, *found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--sample', type=int, default=25, help='problems that others solve')
    parser.add_argument('--many', type=int, default=0, help='solves of which the longest counts')
    arguments = parser.parse_args()
    sample, many = arguments.sample, arguments.many
    law = record(load('c3p'))
    times, busy, costs = ours(law)
    print(f'{len(times)} problems, {len(law._state.plan.dt)} steps, {law.robot.count} wheels')
    # on a computer that runs other programs only the processor's time is meaningful
    for name, value in (('by the clock', times), ('processor', busy)):
        print(f'{"box-DDP, as controlling: " + name:40} p50 {1e3 * np.median(value):8.3f} ms   '
              f'p99 {1e3 * np.percentile(value, 99):8.3f} ms   max {1e3 * value.max():8.3f} ms')
    if many:
        print(f'{many} solves, processor: p50, p99, p99.9 and longest '
              + ', '.join(f'{1e3 * value:.3f}' for value in longest(law, many)) + ' ms')
    # the first second is where the singularity is; the rest is driving
    chosen = np.unique(np.linspace(0, len(times) - 1, sample).astype(int))
    for name, solve in peers(law).items():
        peer = [solve(*law.problems[k]) for k in chosen]
        taken, busy_peer, cost, iterations = map(np.array, zip(*peer, strict=True))
        print(f'{name + ", to the end":40} p50 {1e3 * np.median(taken):8.3f} ms   '
              f'p99 {1e3 * np.percentile(taken, 99):8.3f} ms   '
              f'iterations {np.median(iterations):.0f} ({iterations.min()} to '
              f'{iterations.max()})')
        excess = costs[chosen] / np.maximum(cost, 1e-9) - 1.0
        print(f'    ratio of the medians {np.median(busy_peer) / np.median(busy[chosen]):.0f}; '
              f'our cost above its: median {100 * np.median(excess):.2f} %, '
              f'p90 {100 * np.percentile(excess, 90):.2f} %, largest {100 * excess.max():.2f} %; '
              f'it is worse in {int((excess < -1e-3).sum())} of {len(chosen)}')


if __name__ == '__main__':
    main()
