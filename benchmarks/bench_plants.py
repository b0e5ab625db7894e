# SPDX-License-Identifier: Apache-2.0
"""
How fast the plants are, and what the step of the contact plant costs in accuracy.

``python benchmarks/bench_plants.py`` from the root of the repository prints medians, taken in
turns, so that what else the computer does meets all alike. Both plants are robots/c3p.yaml under
the same torques; a step is one of Runge-Kutta (1 ms) or of MuJoCo (1 ms), compiled loops of one
core. A cycle is a call of ``step`` from Python with 5 ms, as the control loop makes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from measuring import Figure, beside, turns

from c3p_description import load
from c3p_description.model import Array, Friction
from c3p_simulation.contact_plant.mujoco_model import BodyShape
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
from c3p_simulation.plants.plant import AnalyticPlant, Plant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

ROBOT, SHAPE = load('c3p'), BodyShape.read('c3p')
FREE = replace(ROBOT, friction=Friction())
START = {'steering': [0.3, 1.0, -2.0], 'twist': (0.3, -0.2, 0.5)}
CYCLE, ROUNDS, SECONDS = 0.005, 21, 1.0


def torque(t: float) -> Array:
    """Return torques that keep it moving, with casters that turn, wheels that stop and start."""
    return 0.4 * np.sin(2.0 * t + np.arange(3))


def started(plant: Plant) -> Plant:
    """Return the plant, moving."""
    plant.reset(**START)
    return plant


def steps(plant: Plant) -> Callable[[], float]:
    """Return what takes SECONDS in calls of 50 ms and tells its steps of 1 ms."""
    def run() -> float:
        plant.reset(**START)
        for k in range(round(SECONDS / 0.05)):
            plant.step(torque(0.05 * k), 0.05)
        return SECONDS / 1e-3
    return run


def cycles(plant: Plant) -> Callable[[], float]:
    """Return what takes SECONDS in control cycles and tells their number."""
    def run() -> float:
        plant.reset(**START)
        count = round(SECONDS / CYCLE)
        for k in range(count):
            plant.step(torque(CYCLE * k), CYCLE)
        return count
    return run


def rates(runs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Return how many per second, the median of ROUNDS in turns."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begin = time.perf_counter()
            count = run()
            taken[name].append(count / (time.perf_counter() - begin))
    return {name: float(np.median(values)) for name, values in taken.items()}


def accuracy(timestep: float) -> tuple[float, float]:
    """Return the largest distance (m) and yaw (rad) from the closed chain in 3 s without slip."""
    ours = MujocoPlant(FREE, shape=SHAPE, friction=2.0, timestep=timestep)
    pair = started(ours), started(AnalyticPlant(FREE))
    errors = []
    for k in range(600):
        for plant in pair:
            plant.step(0.6 * torque(CYCLE * k), CYCLE)
        errors.append(pair[0].truth().pose - pair[1].truth().pose)
    x, y, yaw = np.abs(errors).max(axis=0)
    return float(np.hypot(x, y)), float(yaw)


def figures(quick: bool = False) -> list[Figure]:
    """Return the times of a step of 1 ms and of a control cycle; `quick` takes fewer rounds."""
    pairs = {'step of 1 ms': steps, 'control cycle of 5 ms': cycles}
    found = []
    for name, of in pairs.items():
        what = {'analytic': of(AnalyticPlant(ROBOT)),
                'mujoco': of(MujocoPlant(ROBOT, shape=SHAPE))}
        # each runs one second of the robot, and returns the number of steps in it
        times = turns({key: lambda _, run=run: round(run()) for key, run in what.items()},
                      3 if quick else ROUNDS, counts=dict.fromkeys(what, 1))
        found.append(beside(f'plant of the C3P with friction, {name}', times, 'analytic',
                            'mujoco'))
    return found


def main() -> None:
    """Measure and print."""
    analytic, contact = AnalyticPlant(ROBOT), MujocoPlant(ROBOT, shape=SHAPE)
    free, slipping = MujocoPlant(FREE, shape=SHAPE), MujocoPlant(ROBOT, shape=SHAPE, friction=0.1)
    found = rates({
        'analytic: steps': steps(analytic),
        'analytic, without friction: steps': steps(AnalyticPlant(FREE)),
        'mujoco: steps': steps(contact),
        'mujoco, without friction of the joints: steps': steps(free),
        'mujoco, μ = 0.1, wheels slip: steps': steps(slipping),
        'analytic: cycles': cycles(AnalyticPlant(ROBOT)),
        'mujoco: cycles': cycles(MujocoPlant(ROBOT, shape=SHAPE)),
        'mujoco with encoders and latency: cycles': cycles(
            SensedPlant(MujocoPlant(ROBOT, shape=SHAPE), SensorSettings())),
    })
    for name, rate in found.items():
        per = CYCLE if name.endswith('cycles') else 1e-3
        print(f'{name:48}{rate:12,.0f} per second {rate * per:9.0f} × real time')
    ratio = found['analytic: steps'] / found['mujoco: steps']
    print(f'one step of mujoco takes as long as {ratio:.1f} of the analytic plant')
    ratio = (found['analytic, without friction: steps']
             / found['mujoco, without friction of the joints: steps'])
    print(f'without friction of the joints, as long as {ratio:.1f}')
    print('3 s without slip and friction, largest difference to the analytic plant:')
    for timestep in (2e-3, 1e-3, 5e-4, 2.5e-4):
        distance, yaw = accuracy(timestep)
        print(f'  mujoco at {1e3 * timestep:5.2f} ms: {1e3 * distance:6.2f} mm, '
              f'{1e3 * yaw:6.2f} mrad')


if __name__ == '__main__':
    main()
