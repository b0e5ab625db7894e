# SPDX-License-Identifier: Apache-2.0
"""
Encoders and loop delay around any plant.

`SensedPlant` has the interface of a plant: it measures joints as encoders and motor cards do, and
delays torques. The ground truth passes through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.settings import setting
from c3p_simulation.plants import _sensor_kernels as kernels
from c3p_simulation.plants.checks import clipped_torque, positive
from c3p_simulation.plants.plant import GroundTruth, JointSample, Plant
from c3p_simulation.simulation_parameters import SensorParameters

# remainders of a delay below this are rounding, s
INSTANT = 1e-9


@dataclass(frozen=True)
class SensorSettings(SensorParameters):
    """
    Settings of encoders, motor cards and loop delay.

    Attributes
    ----------
    wheel_counts, steering_counts : int
        Counts per turn of the incremental wheel and the absolute steering encoders; 0 is ideal:
        true angle and true rate.
    latency : float, s
        Delay of the whole loop, from `step` to its torque at the wheels. Samples are immediate and
        have their true time.
    wheel_noise, steering_noise : float, counts
        Standard deviation of the angle before it is rounded to counts, white at `sample_rate`.
    dropout : float, 0 to 1
        Probability of a lost sample per cycle, for which `step` returns None.
    sample_rate : float, Hz
        Of encoder readings and tracking loops.
    """

    sample_rate: float = setting(1000.0, above=0.0)

    def __post_init__(self) -> None:
        """Reject noise of an ideal encoder, and values out of range."""
        super().__post_init__()
        for kind in ('wheel', 'steering'):
            if getattr(self, f'{kind}_noise') > 0 and getattr(self, f'{kind}_counts') == 0:
                raise ValueError(f'{kind}_noise is in counts: an ideal encoder, {kind}_counts = '
                                 '0, has no noise; set counts, or noise to 0')

    @classmethod
    def ideal(cls) -> SensorSettings:
        """Return ideal sensors without delay."""
        return cls(wheel_counts=0, steering_counts=0, latency=0.0)


class SensedPlant:
    """
    A plant with encoders and loop delay.

    An encoder returns ``q·⌊θ/q + φ⌋`` with ``q = 2π/counts``; an incremental one starts at 0 at a
    random phase φ of a count, an absolute one rounds (φ = ½). A motor card reads it at
    `sample_rate`, adjusted to a whole number of readings per cycle, and estimates the rate by a
    critically damped tracking loop of `rate_bandwidth` f: with ``z = exp(−2πf·T)``

        e = θ_read − (θ̂ + T·ω̂),   θ̂ ← θ̂ + T·ω̂ + (1 − z²) e,   ω̂ ← ω̂ + (1 − z)² e/T

    which has no error at constant rate and lags by ``1/(πf)`` times the acceleration. At 2000
    counts and 40 Hz the quantisation noise is about 0.05 rad/s.

    Random streams come from `seed`, restart at `reset` and are independent of each other.

    Parameters
    ----------
    plant : Plant
    settings : SensorSettings, optional
    seed : int
    model : CasterRobot, optional
        Model of the controller. Measured steering angles are offset by the difference of its
        `steering_zero` from that of `plant.robot`.
    """

    def __init__(self, plant: Plant, settings: SensorSettings | None = None, seed: int = 0,
                 model: CasterRobot | None = None) -> None:
        """Wrap `plant` and reset it."""
        self._plant = plant
        self._settings = settings or SensorSettings()
        self._seed = seed
        robot = plant.robot
        n = plant.robot.count
        offset = 0.0 if model is None else model.steering_zero - robot.steering_zero
        # steering first, then wheels, in all arrays of two per caster
        self._offset = np.concatenate([np.broadcast_to(offset, n), np.zeros(n)])
        counts = np.repeat([self._settings.steering_counts, self._settings.wheel_counts], n)
        # 0 is ideal
        self._quantum = np.divide(2 * math.pi, counts, out=np.zeros(2 * n), where=counts > 0)
        self._noise = np.repeat([self._settings.steering_noise, self._settings.wheel_noise], n)
        self._noisy = bool(self._noise.any())
        self.reset()

    @property
    def robot(self) -> CasterRobot:
        """Model of the simulated robot."""
        return self._plant.robot

    @property
    def time(self) -> float:
        """Seconds since `reset`."""
        return self._plant.time

    @property
    def plant(self) -> Plant:
        """The wrapped plant."""
        return self._plant

    @property
    def settings(self) -> SensorSettings:
        """Settings of sensors and delay."""
        return self._settings

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0), steering: ArrayLike = 0.0,
              twist: ArrayLike = (0.0, 0.0, 0.0)) -> JointSample:
        """Place the robot as the wrapped plant does, without torques in the delay."""
        sample = self._plant.reset(pose, steering, twist)
        n = self.robot.count
        phase, noise, dropout = np.random.SeedSequence(self._seed).spawn(3)
        self._phase = np.concatenate([np.full(n, 0.5),
                                      np.random.default_rng(phase).uniform(size=n)])
        self._noises, self._dropouts = map(np.random.default_rng, (noise, dropout))
        # torques in the delay, with the time that is left
        self._torque = np.zeros(self.robot.efforts)
        self._coming: list[tuple[float, Array]] = []
        angle, rate = _angles_and_rates(sample)
        self._loops = kernels.EncoderLoops(self._quantum, np.empty(2 * n), rate,
                                           angle + self._offset)
        self._read(sample, 0.0)
        self._sample = self._measured(sample)
        return self._sample

    def push(self, force: ArrayLike, moment: float, duration: float) -> None:
        """Push the platform as `AnalyticPlant.push` does."""
        self._plant.push(force, moment, duration)

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointSample | None:
        """
        Send `wheel_torque` to the motors, advance by `dt` and return the measured joints.

        Parameters
        ----------
        wheel_torque : (robot.efforts,) array_like, N·m
            Acts after the latency, also within a cycle.
        dt : float, s

        Returns
        -------
        JointSample or None
            `wheel_torque` is the present torque of the motors. None if the sample is lost.

        Raises
        ------
        ValueError
            As the wrapped plant.
        """
        torque = clipped_torque(self.robot, wheel_torque)
        dt = positive('dt', dt)
        self._coming.append((self._settings.latency, torque))
        readings = (max(1, round(dt * self._settings.sample_rate)) if self._quantum.any()
                    else 1)
        for _ in range(readings):
            sample = self._pass(dt / readings)
            self._read(sample, dt / readings)
        lost = self._settings.dropout > 0 and self._dropouts.uniform() < self._settings.dropout
        if lost:
            return None
        self._sample = self._measured(sample)
        return self._sample

    def sense(self) -> JointSample:
        """Return the newest sample that was not lost."""
        return self._sample

    def truth(self) -> GroundTruth:
        """Return the true pose and twist of the wrapped plant."""
        return self._plant.truth()

    def _pass(self, duration: float) -> JointSample:
        """Advance the plant by `duration`; each delayed torque acts from its time on."""
        passed = 0.0
        sample: JointSample | None = None
        while duration - passed > INSTANT:
            while self._coming and self._coming[0][0] - passed <= INSTANT:
                self._torque = self._coming.pop(0)[1]
            until = min(duration, self._coming[0][0]) if self._coming else duration
            if duration - until <= INSTANT:
                until = duration
            sample = self._plant.step(self._torque, until - passed)
            passed = until
        self._coming = [(left - duration, torque) for left, torque in self._coming]
        assert sample is not None  # the wrapped plant loses none
        return sample

    def _read(self, sample: JointSample, interval: float) -> None:
        """Read the encoders and run the tracking loops, `interval` after the last reading."""
        angle, rate = _angles_and_rates(sample)
        if self._noisy:
            shift = self._phase + self._noise * self._noises.standard_normal(len(angle))
        else:
            shift = self._phase
        z = math.exp(-2 * math.pi * self._settings.rate_bandwidth * interval)
        kernels.read_encoders(angle + self._offset, rate, shift, interval, z, tuple(self._loops))

    def _measured(self, sample: JointSample) -> JointSample:
        """Return the last reading as a sample."""
        n = self.robot.count
        angle = self._loops.read
        rate = self._loops.read_rate
        return JointSample(sample.time, angle[:n].copy(), rate[:n].copy(), angle[n:].copy(),
                           rate[n:].copy(), self._torque.copy())


def _angles_and_rates(sample: JointSample) -> tuple[Array, Array]:
    """Return angles and rates (2n,), steering first."""
    return (np.concatenate([sample.steering, sample.wheel_angle]),
            np.concatenate([sample.steering_rate, sample.wheel_rate]))
