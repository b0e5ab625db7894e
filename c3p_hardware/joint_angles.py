# SPDX-License-Identifier: Apache-2.0
"""Angles of joints from wrapping counts, and their rates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_hardware.canopen.process_data import DriveUnits
from c3p_hardware.settings import EncoderSettings


class _Counter:
    """Position of a counter that wraps after `span` counts, followed by the shortest path."""

    def __init__(self, span: int) -> None:
        self._span = span
        self.angle = 0.0
        self._position: int | None = None

    def difference(self, raw: int) -> int:
        """Return the counts from the last sample to `raw`; 0 before the first sample."""
        return 0 if self._position is None else self._shortest(raw - self._position)

    def _shortest(self, difference: int) -> int:
        """Return the representative of `difference` from -span/2, included, to span/2."""
        half = self._span // 2
        return (difference + half) % self._span - half


class AbsoluteAngle(_Counter):
    """
    Angle of a continuous axis from the counts of an absolute encoder.

    With p the unwrapped position,

        angle = direction · 2π (p − zero) / (ratio · counts)

    The first sample is taken on the side nearest to the zero. Between two samples the axis may
    turn by less than half the range; the counts do not reveal a larger motion.

    >>> axis = AbsoluteAngle(EncoderSettings(11, 'steering_joint_1', zero=4000))
    >>> [round(axis.step(raw), 6) for raw in (4000, 4095, 928)]
    [0.0, 0.145728, 1.570796]

    Parameters
    ----------
    settings : EncoderSettings

    Attributes
    ----------
    angle : float, rad
        Angle at the last sample, not wrapped.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        """Start without a sample."""
        super().__init__(settings.range)
        self._zero, self.resolution = settings.zero, settings.resolution
        self._per_count = settings.direction * self.resolution

    def difference(self, raw: int) -> int:
        """
        Return the counts from the last sample to `raw`; 0 before the first sample.

        Raises
        ------
        ValueError
            As `step`.
        """
        self._check(raw)
        return super().difference(raw)

    def step(self, raw: int) -> float:
        """
        Take a position (6004h) and return the angle in rad.

        Raises
        ------
        ValueError
            A position out of the range; the angle stays.
        """
        self._check(raw)
        # the zero need not be a whole count
        before = math.floor(self._zero) if self._position is None else self._position
        position = self._position = before + self._shortest(raw - before)
        self.angle = self._per_count * (position - self._zero)
        return self.angle

    def _check(self, raw: int) -> None:
        if not 0 <= raw < self._span:
            raise ValueError(f'position = {raw}: must be 0 to {self._span - 1}; the encoder has '
                             'other counts than configured, read 6001h and 6002h')


class WheelAngle(_Counter):
    """
    Angle of a wheel from a position that wraps: a drive's (6064h) after 2³² counts.

    Parameters
    ----------
    units : DriveUnits or EncoderSettings
        Of the drive, or of an encoder on a wheel without one.

    Attributes
    ----------
    angle : float, rad
        Angle at the last sample; 0 before the first.
    """

    def __init__(self, units: DriveUnits | EncoderSettings) -> None:
        """Start without a sample."""
        if isinstance(units, EncoderSettings):
            super().__init__(units.range)
            self.resolution = units.resolution
        else:
            super().__init__(1 << 32)
            self.resolution = units.angle_resolution
        self._per_count = units.direction * self.resolution
        self._shift = 0

    def step(self, raw: int) -> float:
        """Take a position in counts, and return the angle in rad."""
        position = raw if self._position is None else self._position + self.difference(raw)
        self._position = position
        self.angle = self._per_count * (position + self._shift)
        return self.angle

    def resume(self, raw: int) -> float:
        """
        Take the first position of a restarted drive, and return the angle.

        An incremental encoder begins at 0 at power-on. The angle stays where it was, as the motion
        in between is unknown.
        """
        if self._position is not None:
            self._shift += self._position - raw
        self._position = raw
        return self.step(raw)


class RateTracker:
    """
    Rates of several joints from their angles, by critically damped tracking loops.

    With ``z = exp(−2π f dt)``, for every joint

        e = θ − (θ̂ + dt·ω̂),   θ̂ ← θ̂ + dt·ω̂ + (1 − z²) e,   ω̂ ← ω̂ + (1 − z)² e/dt

    as in `c3p_simulation.plants.sensors.SensedPlant` and many motor cards: no error at constant
    rate, a lag of ``1/(πf)`` times the acceleration. Cycles may differ in length; after a long
    pause the rate is the mean rate of the pause.

    Parameters
    ----------
    bandwidth : float, Hz
        f.
    count : int
        Number of joints.

    Attributes
    ----------
    rate : (count,) array, rad/s
    """

    def __init__(self, bandwidth: float, count: int) -> None:
        """Start at rest, without an angle."""
        if not (math.isfinite(bandwidth) and bandwidth > 0):
            raise ValueError(f'bandwidth = {bandwidth}: must be a positive number of Hz')
        self._decay = -2 * math.pi * bandwidth
        self._angle: Array | None = None
        self.rate = np.zeros(count)

    def step(self, angle: ArrayLike, dt: float | None) -> Array:
        """
        Take the angles (count,), rad, `dt` seconds after the last ones, and return the rates.

        `dt` of the first angles is ignored.

        Raises
        ------
        ValueError
            Another number of angles; a `dt` that is not positive.
        """
        angle = np.array(angle, float)
        if angle.shape != self.rate.shape:
            raise ValueError(f'angle has shape {angle.shape}: must be {self.rate.shape}')
        if self._angle is None:
            self._angle = angle
            return self.rate
        if dt is None or not 0 < dt < math.inf:
            raise ValueError(f'dt = {dt}: must be a positive number of seconds')
        z = math.exp(self._decay * dt)
        expected = self._angle + dt * self.rate
        error = angle - expected
        self._angle = expected + (1 - z * z) * error
        # a new array, as callers keep the last one
        self.rate = self.rate + (1 - z) ** 2 / dt * error
        return self.rate
