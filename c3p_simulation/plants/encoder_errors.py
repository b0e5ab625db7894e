# SPDX-License-Identifier: Apache-2.0
"""Errors of encoders of real robots: creep of tyres, lost counts, backlash, analog steering."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array
from c3p_simulation.plants import _sensor_kernels as kernels
from c3p_simulation.plants.checks import at_least_zero, positive, probability


@dataclass(frozen=True)
class EncoderErrors:
    """
    Errors of the encoders, and of what is between encoder and ground; by default none.

    Attributes
    ----------
    creep : float
        Standard deviation of the fraction of a wheel's path that the ground does not see, of both
        signs, independent for each wheel.
    creep_time : float, s
        Time constant of the creep: its correlation after a time t is ``exp(−t/creep_time)``.
    lost_counts : tuple of float
        Fraction of the counts that are lost, for all wheel encoders or one for each. They are lost
        at random, in proportion to the path, against the direction of motion; with ideal encoders
        continuously.
    wheel_backlash, steering_backlash : float, rad
        Play of the gear between joint and encoder; the reading lags by half of it.
    analog_noise : float, rad
        Standard deviation of the analog sensors of the steering, white in all samples. Rates are
        not affected.
    rezero_ratio : float, 0 to 1
        With 0 the steering angles are those of the analog sensors. Above 0 they are those of
        relative encoders; in this fraction of the samples in which a joint hardly turns, its angle
        is set to the analog one and jumps by about 1.4 `analog_noise`.
    rezero_rate : float, rad/s
        Rate below which a steering joint hardly turns.
    """

    creep: float = 0.0
    creep_time: float = 0.25
    lost_counts: tuple[float, ...] = (0.0,)
    wheel_backlash: float = 0.0
    steering_backlash: float = 0.0
    analog_noise: float = 0.0
    rezero_ratio: float = 0.0
    rezero_rate: float = 0.05

    def __post_init__(self) -> None:
        """Validate the settings."""
        object.__setattr__(self, 'lost_counts', tuple(np.atleast_1d(self.lost_counts).tolist()))
        if not 0 <= self.creep < 1:
            raise ValueError(f'creep = {self.creep}: must be a fraction of the path, from 0 to '
                             'below 1')
        positive('creep_time', self.creep_time, 's')
        for lost in self.lost_counts:
            if not 0 <= lost < 1:
                raise ValueError(f'lost_counts = {self.lost_counts}: each must be a fraction, '
                                 'from 0 to below 1')
        for name in ('wheel_backlash', 'steering_backlash', 'analog_noise'):
            at_least_zero(name, getattr(self, name))
        probability('rezero_ratio', self.rezero_ratio)
        at_least_zero('rezero_rate', self.rezero_rate)
        if self.rezero_ratio > 0 and self.analog_noise == 0:
            raise ValueError(f'rezero_ratio = {self.rezero_ratio}: an angle that is set to that '
                             'of an analog sensor needs its analog_noise above 0')

    @property
    def of_joints(self) -> bool:
        """True if the joints differ from what the encoders read: creep, lost counts, backlash."""
        return bool(self.creep > 0 or any(self.lost_counts) or self.wheel_backlash > 0
                    or self.steering_backlash > 0)


class JointErrors:
    """
    Errors between the ground and the encoders: creep of tyres, lost counts and backlash.

    The creep s of each wheel is an Ornstein-Uhlenbeck process of standard deviation σ and time
    constant τ; in a reading after T with a normal number N

        s ← ρ s + σ √(1 − ρ²) N,   ρ = exp(−T/τ),   θ_encoder = θ + ∫ s dθ

    Each count q that a wheel passes is lost with the probability f. A gear with play b keeps the
    encoder within ± b/2 of its joint.

    Parameters
    ----------
    settings : EncoderErrors
    quantum : (2n,) array, rad
        One count of each steering, then each wheel encoder.
    creeps, losses : numpy.random.Generator
        Streams of the creep and of the lost counts.

    Raises
    ------
    ValueError
        `lost_counts` has neither one value nor one for each wheel.
    """

    def __init__(self, settings: EncoderErrors, quantum: Array, creeps: np.random.Generator,
                 losses: np.random.Generator) -> None:
        """Start without creep; `start` latches the first angles."""
        n = len(quantum) // 2
        if len(settings.lost_counts) not in (1, n):
            raise ValueError(f'lost_counts has {len(settings.lost_counts)} values: must have 1, '
                             f'or {n}, one for each wheel')
        self._settings = settings
        self._loss = np.broadcast_to(settings.lost_counts, (n,))
        self._play = np.repeat([settings.steering_backlash, settings.wheel_backlash], n)
        # of ideal encoders a loss is continuous: as of counts too small to be seen
        self._quantum = np.where(quantum[n:] > 0, quantum[n:], 1e-7)
        self._creeps = creeps
        self._losses = losses
        # present creep of each wheel, and angle by it since the start, rad
        self._creep = settings.creep * creeps.standard_normal(n)
        self._extra = np.zeros(n)
        # true wheel angles of the reading before, and angle of all lost counts, rad
        self._before = np.zeros(n)
        self._lost = np.zeros(n)
        # part of a count that each wheel has passed
        self._passed = np.zeros(n)
        # angles behind the gears
        self._follower = np.zeros(2 * n)

    def start(self, angle: Array) -> None:
        """Begin at `angle` (2n,) of all joints, in the middle of the play."""
        n = len(self._before)
        self._before[:] = angle[n:]
        self._follower[:] = angle

    def add(self, angle: Array, rate: Array, interval: float) -> None:
        """Change `angle` and `rate` (2n,) to what the encoders see, `interval` [s] later."""
        s = self._settings
        n = len(self._before)
        wheel = angle[n:]
        moved = wheel - self._before
        if s.creep > 0:
            kept = math.exp(-interval / s.creep_time)
            self._creep *= kept
            self._creep += (s.creep * math.sqrt(1.0 - kept * kept)
                            * self._creeps.standard_normal(n))
        kernels.creep_tyres(wheel, rate[n:], self._before, self._creep, self._extra)
        if any(s.lost_counts):
            self._passed += np.abs(moved) / self._quantum
            whole = np.floor(self._passed)
            self._passed -= whole
            lost = self._losses.binomial(whole.astype(int), self._loss)
            kernels.lose_counts(wheel, moved, self._lost, lost.astype(float), self._quantum)
        kernels.follow_with_play(angle, self._play, self._follower)


class AnalogSteering:
    """
    Analog sensors of the steering, read in each sample or used to set relative encoders.

    Parameters
    ----------
    settings : EncoderErrors
    count : int
        Number of steering joints.
    draws : numpy.random.Generator
        Stream of the noise and of the samples in which an angle is set.
    """

    def __init__(self, settings: EncoderErrors, count: int, draws: np.random.Generator) -> None:
        """Set all relative encoders once."""
        self._settings = settings
        self._draws = draws
        # error of each angle, rad
        self._error = settings.analog_noise * draws.standard_normal(count)

    def add(self, steering: Array, steering_rate: Array) -> None:
        """Add the errors of a sample to `steering` (n,) [rad], by its `steering_rate` [rad/s]."""
        s = self._settings
        analog = s.analog_noise * self._draws.standard_normal(len(steering))
        if s.rezero_ratio > 0:
            chosen = self._draws.uniform(size=len(steering)) < s.rezero_ratio
            still = np.abs(steering_rate) < s.rezero_rate
            self._error = np.where(chosen & still, analog, self._error)
        else:
            self._error = analog
        steering += self._error
