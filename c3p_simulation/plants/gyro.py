# SPDX-License-Identifier: Apache-2.0
"""Gyro of a simulated robot, with the errors of real ones."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from c3p_simulation.plants.checks import at_least_zero, positive
from c3p_simulation.plants.timing import SampleTiming


@dataclass(frozen=True)
class GyroErrors:
    """
    Gyro and its errors; disabled by default.

    It measures ``(1 + s) ω + b(t) + noise``. Of the scale error s and of the bias b at the begin
    both parts add up: the given one, and one that is drawn with the given deviation.

    Attributes
    ----------
    rate : float, Hz
        Of its messages; 0: the robot has no gyro.
    noise : float, rad/√s
        Angle random walk.
    bias, bias_std : float, rad/s
    bias_drift : float, rad/s²
        Change of the bias per time, as of a gyro that warms up.
    bias_walk : float, rad/s/√s
        Random walk of the bias.
    scale, scale_std : float
        Relative error: −2 is a gyro upside down, 56.3 one in degrees per second.
    latency : float, s
        Time from the measurement to its stamp, which is that of its arrival.
    """

    rate: float = 0.0
    noise: float = 0.0
    bias: float = 0.0
    bias_std: float = 0.0
    bias_drift: float = 0.0
    bias_walk: float = 0.0
    scale: float = 0.0
    scale_std: float = 0.0
    latency: float = 0.0

    def __post_init__(self) -> None:
        """Validate the settings."""
        for name in ('rate', 'noise', 'bias_std', 'bias_walk', 'scale_std', 'latency'):
            at_least_zero(name, getattr(self, name))
        for name in ('bias', 'bias_drift', 'scale'):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f'{name} = {getattr(self, name)}: must be a finite number')


class GyroSample(NamedTuple):
    """Sample of a gyro: the stamp that it states [s] and its rate [rad/s]."""

    time: float
    rate: float


class SimulatedGyro:
    """
    Gyro on the platform of a plant.

    Parameters
    ----------
    errors : GyroErrors
        Its `rate` is positive.
    timing : SampleTiming
        For the clock of the robot, which may drift and be set.
    stream : numpy.random.Generator

    Examples
    --------
    >>> gyro = SimulatedGyro(GyroErrors(rate=100.0, scale=0.01), SampleTiming(),
    ...                      np.random.default_rng(0))
    >>> gyro.read(0.0, 1.0)
    >>> [(sample.time, round(sample.rate, 2)) for sample in gyro.arrived(0.0)]
    [(0.0, 1.01)]
    """

    def __init__(self, errors: GyroErrors, timing: SampleTiming, stream: np.random.Generator
                 ) -> None:
        """Draw scale and bias."""
        self._errors = errors
        self._timing = timing
        self._stream = stream
        self._period = 1.0 / positive('rate', errors.rate, 'Hz')
        self._scale = 1.0 + errors.scale + errors.scale_std * stream.normal()
        self._bias = errors.bias + errors.bias_std * stream.normal()
        self._number = 0
        self._coming: deque[GyroSample] = deque()

    def due(self, time: float) -> bool:
        """Return whether a sample is to be read at the true `time` [s]."""
        return time >= self._number * self._period - 1e-9

    def read(self, time: float, rate: float) -> None:
        """Measure the true yaw `rate` [rad/s] at the true `time` [s]."""
        e = self._errors
        self._number += 1
        walked = e.bias_walk * math.sqrt(self._period) * self._stream.normal()
        self._bias += e.bias_drift * self._period + walked
        noise = e.noise / math.sqrt(self._period) * self._stream.normal()
        self._coming.append(GyroSample(time + e.latency,
                                       self._scale * rate + self._bias + noise))

    def arrived(self, time: float) -> list[GyroSample]:
        """Return the samples that have arrived since the last call, at the true `time` [s]."""
        found = []
        while self._coming and self._coming[0].time <= time + 1e-9:
            sample = self._coming.popleft()
            found.append(sample._replace(time=self._stated(sample.time)))
        return found

    def _stated(self, time: float) -> float:
        """Return the stamp at a true time by the clock of the robot, s."""
        timing = self._timing
        stepped = timing.clock_step if time >= timing.clock_step_time else 0.0
        return time + timing.clock_drift * time + stepped
