# SPDX-License-Identifier: Apache-2.0
"""A plant that repeats recorded joints, for sensors before it."""

import numpy as np

from c3p_simulation.plants.plant import GroundTruth, JointSample
from c3p_simulation.plants.sensors import SensedPlant, arrivals

# period of the recording and of control cycles, s
PERIOD = 0.001
CYCLE = 0.005


class RecordedPlant:
    """Joints of a `WheelDrive`, between whose samples angles change evenly."""

    def __init__(self, robot, ride, steering=None, wheel=None):
        self.robot = robot
        grid = PERIOD * np.arange(round(ride.time[-1] / PERIOD))
        turned = np.unwrap(ride.steering if steering is None else steering, axis=0)
        rolled = ride.wheel if wheel is None else wheel
        self._steering, self._wheel, self._pose = (
            np.column_stack([np.interp(grid, ride.time, column) for column in angles.T])
            for angles in (turned, rolled, ride.pose))
        self._swung, self._spun, self._moved = (
            np.gradient(angles, PERIOD, axis=0)
            for angles in (self._steering, self._wheel, self._pose))
        self._k = 0

    @property
    def time(self):
        return PERIOD * self._k

    def reset(self, *place, **more):
        self._k = 0
        return self.sense()

    def push(self, *push):
        """Do nothing: the motion is recorded."""

    def sense(self):
        k = self._k
        return JointSample(self.time, self._steering[k], self._swung[k], self._wheel[k],
                           self._spun[k], np.zeros(self.robot.efforts))

    def truth(self):
        return GroundTruth(self.time, self._pose[self._k], self._moved[self._k])

    def step(self, torque, dt):
        self._k = min(self._k + max(1, round(dt / PERIOD)), len(self._pose) - 1)
        return self.sense()


def sensed(plant, settings, seed):
    """Return what arrives from sensors with `settings` over the recording."""
    sensors = SensedPlant(plant, settings, seed)
    samples = []
    for _ in range(int(len(plant._pose) * PERIOD / CYCLE) - 1):
        arrived = sensors.step(np.zeros(plant.robot.efforts), CYCLE)
        samples += [arrival.sample for arrival in arrivals(sensors, arrived)]
    return samples
