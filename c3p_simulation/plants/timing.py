# SPDX-License-Identifier: Apache-2.0
"""Timing of joint samples of real robots: age of each joint, stamps, batches, late rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from c3p_description.model import Array
from c3p_simulation.plants import _sensor_kernels as kernels
from c3p_simulation.plants.checks import at_least_zero, finite, probability

# shortest step from one stamp to the next unless the clock is set back, s
SHORTEST_STEP = 2e-4

T = TypeVar('T')


@dataclass(frozen=True)
class SampleTiming:
    """
    Timing of joint samples; by default all joints are of one instant, with its exact stamp.

    Attributes
    ----------
    controller_period : float, s
        Period of the controllers of the joints, each with its own phase: a sample contains the
        newest reading of each controller, and its joints are up to so much apart. 0: all joints
        are read at the time of the sample.
    controller_spread : float, 0 to 1
        Largest relative deviation of a controller's period, drawn for each joint.
    repeat_ratio : float, 0 to 1
        Probability that one joint of a sample repeats its value of the sample before.
    rate_lag : float, s
        Time constant of the filter of the rates.
    stamp_jitter : float, s
        Standard deviation of the stamps from the times of the samples, of a Laplace distribution,
        whose tails are long. Stamps increase by at least 0.2 ms.
    stamp_tail : float, s
        Largest deviation of a stamp.
    batch : tuple of int
        Least and largest number of samples that arrive together, each with its own stamp, with the
        newest of them.
    clock_drift : float
        Relative deviation of the clock of the stamps: at −0.24 it states 0.76 s in a second.
    clock_step : float, s
        Jump of that clock, at `clock_step_time`.
    clock_step_time : float, s
    """

    controller_period: float = 0.0
    controller_spread: float = 0.0
    repeat_ratio: float = 0.0
    rate_lag: float = 0.0
    stamp_jitter: float = 0.0
    stamp_tail: float = 0.05
    batch: tuple[int, int] = (1, 1)
    clock_drift: float = 0.0
    clock_step: float = 0.0
    clock_step_time: float = 0.0

    def __post_init__(self) -> None:
        """Validate the settings."""
        for name in ('controller_period', 'rate_lag', 'stamp_jitter', 'stamp_tail',
                     'clock_step_time'):
            at_least_zero(name, getattr(self, name))
        probability('controller_spread', self.controller_spread)
        probability('repeat_ratio', self.repeat_ratio)
        least, most = finite('batch', self.batch, 2)
        if not (1 <= least <= most and least == int(least) and most == int(most)):
            raise ValueError(f'batch = {self.batch}: must be two whole numbers of samples, 1 or '
                             'more, the larger one last')
        object.__setattr__(self, 'batch', (int(least), int(most)))
        if not -1 < self.clock_drift < 1:
            raise ValueError(f'clock_drift = {self.clock_drift}: must be between −1 and 1, such '
                             'as −0.24 of a clock that is 24 % slow')
        if not math.isfinite(self.clock_step):
            raise ValueError(f'clock_step = {self.clock_step}: must be a finite number of seconds')

    @property
    def of_readings(self) -> bool:
        """True if joints are read by controllers of their own, or rates are filtered."""
        return self.controller_period > 0 or self.rate_lag > 0

    @property
    def synchronous(self) -> bool:
        """True if the joints of a sample are of one instant, which its stamp states."""
        return (self.controller_period == 0 and self.repeat_ratio == 0 and self.stamp_jitter == 0
                and self.clock_drift == 0 and self.clock_step == 0)


class JointControllers:
    """
    Controllers of the joints: each reads its encoder in a period and at a phase of its own.

    The rates pass a filter of first order, ``ω_f ← ω_f + (1 − exp(−T/τ)) (ω − ω_f)``.

    Parameters
    ----------
    timing : SampleTiming
    joints : int
        Number m of joints.
    phases, repeats : numpy.random.Generator
        Streams of periods and phases, and of repeated values.
    """

    def __init__(self, timing: SampleTiming, joints: int, phases: np.random.Generator,
                 repeats: np.random.Generator) -> None:
        """Draw periods and phases; `start` latches the first readings."""
        self._timing = timing
        self._repeats = repeats
        spread = timing.controller_spread * phases.uniform(-1.0, 1.0, joints)
        # period of each controller and time of its next reading, s
        self._period = timing.controller_period * (1.0 + spread)
        self._due = self._period * phases.uniform(size=joints)
        # newest readings of the controllers, and what the newest sample shows of them
        self._held = np.zeros(joints)
        self._held_rate = np.zeros(joints)
        self._shown = np.zeros(joints)
        self._shown_rate = np.zeros(joints)
        self._filtered = np.zeros(joints)

    def start(self, angle: Array, rate: Array) -> None:
        """Begin with the readings `angle` and `rate` (m,)."""
        for kept in (self._held, self._shown):
            kept[:] = angle
        for kept in (self._held_rate, self._shown_rate, self._filtered):
            kept[:] = rate

    def read(self, time: float, angle: Array, rate: Array, interval: float) -> None:
        """Take encoder readings `angle` and `rate` (m,) at `time`, `interval` after the last."""
        if self._timing.rate_lag > 0:
            self._filtered += (1.0 - math.exp(-interval / self._timing.rate_lag)) * (
                rate - self._filtered)
            rate = self._filtered
        if self._timing.controller_period > 0:
            kernels.latch_due(time, self._period, self._due, angle, rate, self._held,
                              self._held_rate)
        else:
            self._held[:] = angle
            self._held_rate[:] = rate

    def sample(self) -> tuple[Array, Array]:
        """Return angles and rates (m,) of a sample, rad and rad/s."""
        if self._timing.repeat_ratio > 0:
            new = self._repeats.uniform(size=len(self._held)) >= self._timing.repeat_ratio
            self._shown[new] = self._held[new]
            self._shown_rate[new] = self._held_rate[new]
        else:
            self._shown[:] = self._held
            self._shown_rate[:] = self._held_rate
        return self._shown.copy(), self._shown_rate.copy()


class StampClock:
    """
    Clock of the robot, whose stamps differ from the true times of the samples.

    A sample at t has the stamp ``t (1 + drift) + step + jitter``.

    Parameters
    ----------
    timing : SampleTiming
    jitters : numpy.random.Generator
        Stream of the jitter.

    Examples
    --------
    >>> slow = StampClock(SampleTiming(clock_drift=-0.24), np.random.default_rng(0))
    >>> slow.stamp(0.0), round(slow.stamp(10.0), 9)
    (0.0, 7.6)
    """

    def __init__(self, timing: SampleTiming, jitters: np.random.Generator) -> None:
        """Start without a stamp."""
        self._timing = timing
        self._jitters = jitters
        self._last = -math.inf
        self._stepped = False

    def stamp(self, time: float) -> float:
        """Return the stamp of a sample at the true `time`, s."""
        timing = self._timing
        stated = time
        if timing.clock_drift:
            stated += timing.clock_drift * time
        if timing.clock_step and time >= timing.clock_step_time:
            stated += timing.clock_step
            if not self._stepped:
                self._stepped = True
                self._last = -math.inf
        if timing.stamp_jitter > 0:
            # a Laplace distribution of scale b has the standard deviation √2 b
            off = self._jitters.laplace(0.0, timing.stamp_jitter / math.sqrt(2.0))
            stated += min(max(off, -timing.stamp_tail), timing.stamp_tail)
            stated = max(stated, self._last + SHORTEST_STEP)
        self._last = stated
        return stated


class Batches(Generic[T]):
    """
    Samples that wait until their batch is complete.

    Parameters
    ----------
    least, most : int
        Size of a batch, drawn for each.
    sizes : numpy.random.Generator
        Stream of the sizes.

    Examples
    --------
    >>> batches = Batches(2, 2, np.random.default_rng(0))
    >>> batches.arrived('a'), batches.arrived('b'), batches.arrived('c')
    ((), ('a', 'b'), ())
    """

    def __init__(self, least: int, most: int, sizes: np.random.Generator) -> None:
        """Start with an empty batch."""
        self._range = (least, most)
        self._sizes = sizes
        self._waiting: list[T] = []
        self._size = self._drawn()

    def arrived(self, sample: T) -> tuple[T, ...]:
        """Add a `sample`; return the samples that arrive with it, empty while they wait."""
        self._waiting.append(sample)
        if len(self._waiting) < self._size:
            return ()
        batch = tuple(self._waiting)
        self._waiting.clear()
        self._size = self._drawn()
        return batch

    def _drawn(self) -> int:
        """Return the size of the next batch."""
        least, most = self._range
        return least if least == most else int(self._sizes.integers(least, most + 1))
