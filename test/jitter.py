# SPDX-License-Identifier: Apache-2.0
"""A plant whose samples have stamps that are not the times of the samples, as in Gazebo."""

import numpy as np


class JitteredPlant:
    """
    Wraps a plant; stamps deviate from the time, and samples whose stamp does not advance are lost.

    Parameters
    ----------
    plant : Plant
    spread : float, s
        Stamps are uniformly distributed within ± `spread` around the times.
    seed : int
    """

    def __init__(self, plant, spread, seed):
        """Wrap `plant`."""
        self._plant, self._spread = plant, spread
        self._random, self._last, self.lost = np.random.default_rng(seed), -np.inf, 0

    def __getattr__(self, name):
        """Return what is not changed."""
        return getattr(self._plant, name)

    def reset(self, *arguments, **more):
        """Place the robot; the first stamp is exact."""
        sample = self._plant.reset(*arguments, **more)
        self._last = sample.time
        return sample

    def step(self, wheel_torque, dt):
        """Return the sample with its stamp; None where the nodes reject it."""
        sample = self._plant.step(wheel_torque, dt)
        if sample is None:
            return None
        stamp = round(sample.time + self._random.uniform(-self._spread, self._spread), 3)
        if stamp <= self._last:
            self.lost += 1
            return None
        self._last = stamp
        return sample._replace(time=stamp)


class PacedPlant:
    """Wraps a plant: samples have the times of `SampleStep`, as the nodes use them."""

    def __init__(self, plant, pace):
        """Wrap `plant`."""
        self._plant, self._pace = plant, pace

    def __getattr__(self, name):
        """Return what is not changed."""
        return getattr(self._plant, name)

    def _paced(self, sample, step):
        step = self._pace.step(step, (sample.steering, sample.wheel_angle),
                               (sample.steering_rate, sample.wheel_rate))
        self._stamp, self._time = sample.time, self._time + (step or 0.0)
        return sample._replace(time=self._time)

    def reset(self, *arguments, **more):
        """Place the robot."""
        sample = self._plant.reset(*arguments, **more)
        self._time = sample.time
        return self._paced(sample, None)

    def step(self, wheel_torque, dt):
        """Return the sample with its time."""
        sample = self._plant.step(wheel_torque, dt)
        return None if sample is None else self._paced(sample, sample.time - self._stamp)
