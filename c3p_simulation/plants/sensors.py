# SPDX-License-Identifier: Apache-2.0
"""
Encoders, timing of samples and loop delay around any plant.

`SensedPlant` has the interface of a plant: it measures joints as encoders and motor cards do, and
delays torques. The ground truth passes through.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.settings import setting
from c3p_simulation.plants.checks import clipped_torque, positive
from c3p_simulation.plants.encoder_errors import AnalogSteering, EncoderErrors, JointErrors
from c3p_simulation.plants.encoders import Encoders
from c3p_simulation.plants.gyro import GyroErrors, GyroSample, SimulatedGyro
from c3p_simulation.plants.plant import GroundTruth, JointSample, Plant
from c3p_simulation.plants.timing import Batches, JointControllers, SampleTiming, StampClock
from c3p_simulation.simulation_parameters import SensorParameters

# remainders of a delay below this are rounding, s
INSTANT = 1e-9

# samples of a gyro that are kept until they are taken
MOST_TURNS = 1000

# each has its own random stream, by its place here: append new ones at the end
STREAMS = ('phase', 'noise', 'dropout', 'creep', 'lost_counts', 'analog', 'controllers', 'repeats',
           'stamps', 'batches', 'gyro')


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
        Delay of the whole loop, from `step` to its torque at the wheels, in addition to those of
        `timing`.
    wheel_noise, steering_noise : float, counts
        Standard deviation of the angle before it is rounded to counts, white at `sample_rate`.
    dropout : float, 0 to 1
        Probability of a lost sample per cycle, for which `step` returns None.
    sample_rate : float, Hz
        Of encoder readings and tracking loops.
    rates : bool
        False: the robot states positions alone, and the rates of its samples are nan.
    errors : EncoderErrors
        Creep, lost counts, backlash and analog steering; by default none.
    timing : SampleTiming
        Age of joints, stamps, batches and late rates; by default all joints are of one instant.
    gyro : GyroErrors
        Gyro of the platform; disabled by default.

    Examples
    --------
    >>> SensorSettings.real().timing.batch[1] > 1, SensorSettings().timing.synchronous
    (True, True)
    """

    sample_rate: float = setting(1000.0, above=0.0)
    rates: bool = True
    errors: EncoderErrors = field(default_factory=EncoderErrors)
    timing: SampleTiming = field(default_factory=SampleTiming)
    gyro: GyroErrors = field(default_factory=GyroErrors)

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

    @classmethod
    def real(cls) -> SensorSettings:
        """Return sensors with the properties measured on real robots (docs/real_robots.md)."""
        return cls(
            errors=EncoderErrors(
                # contacts lose or gain 0.5 to 2 % of their path in half a second, all wheels; the
                # correlation is 0.36 after 0.25 s and 0.06 after 0.5 s
                creep=0.01, creep_time=0.25,
                # jumps of 2 to 5 mrad in 19 to 38 % of the samples
                analog_noise=0.002, rezero_ratio=0.3),
            timing=SampleTiming(
                # values are 1.7 to 4 ms (std) and up to 12 ms old; 2 to 40 % of them repeat
                controller_period=0.007, controller_spread=0.2, repeat_ratio=0.02,
                # 52 to 70 ms, by the filters of the controllers
                rate_lag=0.06,
                # steps of 0.2 to 36 ms, 1.7 to 4.4 ms (std), at a period of 10 ms
                stamp_jitter=0.002, stamp_tail=0.012,
                batch=(1, 7)))

    def with_gyro(self) -> SensorSettings:
        """Return these sensors and a gyro of a small board, whose scale was not calibrated."""
        return replace(self, gyro=GyroErrors(
            rate=100.0, noise=1.7e-4, bias_std=0.01, bias_walk=5e-5, scale_std=0.01,
            latency=0.01))


class Arrival(NamedTuple):
    """A sample that has arrived, and the ground truth at its true time."""

    sample: JointSample
    truth: GroundTruth


class SensedPlant:
    """
    A plant with encoders, timing of samples and loop delay.

    A motor card reads its encoder (`Encoders`) at `sample_rate`, adjusted to a whole number of
    readings per cycle. The rate has no error when constant and lags by ``1/(πf)`` times the
    acceleration; at 2000 counts and 40 Hz the quantisation noise is about 0.05 rad/s.

    From ground to caller: `JointErrors` (creep, lost counts, backlash), `Encoders`,
    `JointControllers` (age, repeats, late rates), `AnalogSteering`, `StampClock`, `Batches`.

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
        self._settings = s = settings or SensorSettings()
        self._seed = seed
        robot = plant.robot
        n = plant.robot.count
        offset = 0.0 if model is None else model.steering_zero - robot.steering_zero
        # steering first, then wheels, in all arrays of two per caster
        self._offset = np.concatenate([np.broadcast_to(offset, n), np.zeros(n)])
        counts = np.repeat([s.steering_counts, s.wheel_counts], n)
        # 0 is ideal
        self._quantum = np.divide(2 * math.pi, counts, out=np.zeros(2 * n), where=counts > 0)
        self._noise = np.repeat([s.steering_noise, s.wheel_noise], n)
        # whether something happens between two cycles
        self._read_often = bool(self._quantum.any() or s.errors.of_joints or s.timing.of_readings
                                 or s.gyro.rate > 0)
        self.reset()

    @property
    def robot(self) -> CasterRobot:
        """Model of the simulated robot."""
        return self._plant.robot

    @property
    def time(self) -> float:
        """Seconds since `reset`, true."""
        return self._plant.time

    @property
    def plant(self) -> Plant:
        """The wrapped plant."""
        return self._plant

    @property
    def settings(self) -> SensorSettings:
        """Settings of sensors and delay."""
        return self._settings

    @property
    def arrived(self) -> tuple[Arrival, ...]:
        """Samples that arrived with the last step, the oldest first; empty without one."""
        return self._arrived

    def take_turns(self) -> tuple[GyroSample, ...]:
        """Return the samples of the gyro that arrived since the last call, the oldest first."""
        taken = tuple(self._turns)
        self._turns.clear()
        return taken

    @property
    def drive_rate(self) -> Array:
        """Wheel rates (n,) that the drives measure, also if samples have none, rad/s."""
        return self._drive_rate

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0), steering: ArrayLike = 0.0,
              twist: ArrayLike = (0.0, 0.0, 0.0)) -> JointSample:
        """Place the robot as the wrapped plant does, without torques in the delay."""
        sample = self._plant.reset(pose, steering, twist)
        n = self.robot.count
        s = self._settings
        streams = {name: np.random.default_rng(stream) for name, stream in zip(
            STREAMS, np.random.SeedSequence(self._seed).spawn(len(STREAMS)), strict=True)}
        self._dropouts = streams['dropout']
        self._joint_errors = (JointErrors(s.errors, self._quantum, streams['creep'],
                                          streams['lost_counts'])
                              if s.errors.of_joints else None)
        self._encoders = Encoders(self._quantum, self._noise, s.rate_bandwidth, streams['phase'],
                                  streams['noise'])
        self._controllers = JointControllers(s.timing, 2 * n, streams['controllers'],
                                             streams['repeats'])
        self._analog = (AnalogSteering(s.errors, n, streams['analog'])
                        if s.errors.analog_noise > 0 else None)
        self._clock = StampClock(s.timing, streams['stamps'])
        self._gyro = (SimulatedGyro(s.gyro, s.timing, streams['gyro']) if s.gyro.rate > 0
                      else None)
        self._turns: deque[GyroSample] = deque(maxlen=MOST_TURNS)
        self._batches: Batches[Arrival] = Batches(*s.timing.batch, streams['batches'])
        # torques in the delay, with the time that is left
        self._torque = np.zeros(self.robot.efforts)
        self._coming: list[tuple[float, Array]] = []
        angle, rate = self._angles_and_rates(sample)
        if self._joint_errors is not None:
            self._joint_errors.start(angle)
        self._encoders.start(angle, rate)
        self._controllers.start(self._encoders.angle, self._encoders.rate)
        self._sample = self._measured(sample)
        # the first sample does not wait for others
        self._arrived: tuple[Arrival, ...] = (Arrival(self._sample, self._plant.truth()),)
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
            The newest of `arrived`, with the time that its stamp states and the present torque of
            the motors; rates are nan where the robot states none. None if the sample is lost, or
            waits for others.

        Raises
        ------
        ValueError
            As the wrapped plant.
        """
        torque = clipped_torque(self.robot, wheel_torque)
        dt = positive('dt', dt)
        self._coming.append((self._settings.latency, torque))
        readings = max(1, round(dt * self._settings.sample_rate)) if self._read_often else 1
        for _ in range(readings):
            sample = self._pass(dt / readings)
            self._read(sample, dt / readings)
        if self._gyro is not None:
            self._turns.extend(self._gyro.arrived(self._plant.time))
        lost = self._settings.dropout > 0 and self._dropouts.uniform() < self._settings.dropout
        self._arrived = () if lost else self._batches.arrived(
            Arrival(self._measured(sample), self._plant.truth()))
        if not self._arrived:
            return None
        self._sample = self._arrived[-1].sample
        return self._sample

    def sense(self) -> JointSample:
        """Return the newest sample that has arrived."""
        return self._sample

    def truth(self) -> GroundTruth:
        """Return the true pose and twist of the wrapped plant, with the true time."""
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
        """Read the joints, `interval` after the last reading."""
        angle, rate = self._angles_and_rates(sample)
        if self._joint_errors is not None:
            self._joint_errors.add(angle, rate, interval)
        self._encoders.read(angle, rate, interval)
        self._controllers.read(sample.time, self._encoders.angle, self._encoders.rate, interval)
        if self._gyro is not None and self._gyro.due(sample.time):
            self._gyro.read(sample.time, float(self._plant.truth().twist[2]))

    def _measured(self, sample: JointSample) -> JointSample:
        """Return what the robot states of its joints at the time of `sample`."""
        n = self.robot.count
        angle, rate = self._controllers.sample()
        if self._analog is not None:
            self._analog.add(angle[:n], rate[:n])
        self._drive_rate = rate[n:].copy()
        if not self._settings.rates:
            rate[:] = math.nan
        return JointSample(self._clock.stamp(sample.time), angle[:n], rate[:n], angle[n:],
                           rate[n:], self._torque.copy())

    def _angles_and_rates(self, sample: JointSample) -> tuple[Array, Array]:
        """Return angles and rates (2n,) by the zeros of the controller, steering first."""
        angle = np.concatenate([sample.steering, sample.wheel_angle])
        return angle + self._offset, np.concatenate([sample.steering_rate, sample.wheel_rate])


def turns_measured(plant: Plant) -> Sequence[GyroSample]:
    """Return the samples of the gyro of any `plant` that arrived since the last call."""
    return plant.take_turns() if isinstance(plant, SensedPlant) else ()


def arrivals(plant: Plant, sample: JointSample | None) -> Sequence[Arrival]:
    """
    Return the samples that arrived with `sample`, the result of a step of any `plant`.

    Examples
    --------
    >>> from c3p_simulation.plants.plant import AnalyticPlant
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> sensed = SensedPlant(AnalyticPlant(robot), SensorSettings(
    ...     timing=SampleTiming(batch=(3, 3))))
    >>> [len(arrivals(sensed, sensed.step([0, 0, 0], 0.005))) for _ in range(6)]
    [0, 0, 3, 0, 0, 3]
    """
    if sample is None:
        return ()
    if isinstance(plant, SensedPlant):
        return plant.arrived
    return (Arrival(sample, plant.truth()),)


def drive_rate(plant: Plant, sample: JointSample) -> Array:
    """Return the wheel rates (n,) that the drives of `plant` know, rad/s: those of a `sample`."""
    if isinstance(plant, SensedPlant) and not plant.settings.rates:
        return plant.drive_rate
    return sample.wheel_rate


def states_rates(plant: Plant) -> bool:
    """Return whether the samples of `plant` have rates."""
    return not isinstance(plant, SensedPlant) or plant.settings.rates
