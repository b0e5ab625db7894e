# SPDX-License-Identifier: Apache-2.0
"""Recordings of simulated robots that are shaken by sums of sines in their wheel torques."""

import numpy as np

from c3p_dynamics.identification.recording import Recording
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

RATE = 200.0


def torques(count, seconds, amplitude, seed):
    """Return (k, count) torques: five sines from 0.2 to 3 Hz per wheel."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, seconds, 1.0 / RATE)
    rate = 2 * np.pi * rng.uniform(0.2, 3.0, (5, count))
    phase = rng.uniform(0.0, 2 * np.pi, (5, count))
    return amplitude / 2.0 * np.sin(rate * time[:, None, None] + phase).sum(axis=1)


def excited(robot, seconds=8.0, amplitude=0.5, settings=None, seed=0, plant=None):
    """Return the Recording of `robot` under such torques, with these sensors (default: ideal)."""
    plant = SensedPlant(plant or AnalyticPlant(robot), settings or SensorSettings.ideal(), seed)
    rng = np.random.default_rng(seed)
    samples, commands = [], torques(robot.count, seconds, amplitude, seed)
    sample = plant.reset(steering=rng.uniform(-np.pi, np.pi, robot.count))
    for command in commands:
        samples.append(sample)
        sample = plant.step(command, 1.0 / RATE)
    time = np.array([s.time for s in samples])
    return Recording(time, np.array([s.steering for s in samples]),
                     np.array([s.wheel_angle for s in samples]), time, commands)
