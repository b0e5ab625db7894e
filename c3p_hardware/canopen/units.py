# SPDX-License-Identifier: Apache-2.0
"""
What a drive's numbers mean at the wheel: permille and counts, N·m and rad.

A drive knows its motor: torque in permille of the rated torque 6076h, position in counts of the
motor's encoder. Between motor and wheel there are a gear, its losses and a sense of turning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

RATED_PERMILLE = 1000
# what 6071h can hold, both ways
MOST_PERMILLE = 32767
# permille: a torque that was made from whole permille is not rounded to the one below
ROUNDING_PERMILLE = 1e-6


@dataclass(frozen=True)
class DriveUnits:
    """
    Between a drive's numbers and the wheel.

        τ_wheel = direction · ratio · efficiency · rated · permille / 1000
        θ_wheel = direction · 2π · position / (ratio · counts)

    The efficiency is that of a motor that drives. A wheel that drives its motor feels up to
    ``1/efficiency²`` times the torque told here: the sign of the power is not looked at, since a
    torque that changes with the noise of a rate would be worse.

    Attributes
    ----------
    rated_torque : float, N·m
        Of the motor, 6076h (there in mN·m).
    gear_ratio : float
        Turns of the motor per turn of the wheel.
    efficiency : float, above 0 to 1
        Of the gear.
    counts : int
        Of the motor's encoder per turn of the motor, after quadrature (608Fh).
    direction : int, 1 or -1
        -1 where a positive motor turn is a negative wheel turn.
    """

    rated_torque: float
    gear_ratio: float
    efficiency: float
    counts: int
    direction: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ('rated_torque', 'gear_ratio'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f'{name} = {value}: must be a positive number')
        if not 0 < self.efficiency <= 1:
            raise ValueError(f'efficiency = {self.efficiency}: must be above 0 and at most 1')
        if not 1 <= self.counts < math.inf or self.counts != int(self.counts):
            raise ValueError(f'counts = {self.counts}: must be a whole number per motor turn, at '
                             'least 1')
        if self.direction not in (1, -1):
            raise ValueError(f'direction = {self.direction}: must be 1 or -1')

    @property
    def torque_resolution(self) -> float:
        """Torque of one permille at the wheel, N·m."""
        return self.gear_ratio * self.efficiency * self.rated_torque / RATED_PERMILLE

    @property
    def counts_per_wheel_turn(self) -> float:
        """Counts in one turn of the wheel; not whole where the ratio is not."""
        return self.gear_ratio * self.counts

    @property
    def angle_resolution(self) -> float:
        """Turn of the wheel for one count, rad."""
        return 2 * math.pi / self.counts_per_wheel_turn

    def max_permille(self, limit: float) -> int:
        """
        Return the most permille that stay within a wheel torque of `limit` N·m; at most 32767.

        Raises
        ------
        ValueError
            A limit that is negative or not a number.
        """
        if not limit >= 0:
            raise ValueError(f'torque limit = {limit} N·m: must be a number, 0 or more')
        return int(min(limit / self.torque_resolution + ROUNDING_PERMILLE, MOST_PERMILLE))

    def permille(self, torque: float, most: int = RATED_PERMILLE) -> int:
        """
        Return what to ask of the drive for `torque` N·m at the wheel.

        Rounded towards zero, so that no rounding makes a wheel push; clipped to ± `most`.

        Raises
        ------
        ValueError
            A torque that is not finite.
        """
        if not math.isfinite(torque):
            raise ValueError(f'wheel torque = {torque}: must be a finite number of N·m')
        # clipped before it becomes whole: a great float is not a great int
        size = min(abs(torque) / self.torque_resolution + ROUNDING_PERMILLE, most)
        return int(math.copysign(int(size), torque * self.direction))

    def torque(self, permille: int) -> float:
        """Return the torque of `permille` (6071h, 6077h) at the wheel, N·m."""
        return self.direction * self.torque_resolution * permille

    def angle(self, position: int) -> float:
        """Return the wheel's turn, rad, of a position that does not wrap; see `WheelAngle`."""
        return self.direction * self.angle_resolution * position


class WheelAngle:
    """
    The angle of a wheel from a position (6064h) that begins again after 2³² counts.

    Attributes
    ----------
    angle : float, rad
        Of the last sample; 0 before the first.
    """

    _RANGE = 1 << 32

    def __init__(self, units: DriveUnits) -> None:
        """Know no sample yet."""
        self.units = units
        self.reset()

    def reset(self) -> None:
        """Forget the samples: the next one tells the angle by itself."""
        self.angle = 0.0
        self._position: int | None = None
        self._shift = 0

    def difference(self, raw: int) -> int:
        """Return the counts from the last sample to `raw`, the shortest way; 0 without one."""
        if self._position is None:
            return 0
        half = self._RANGE // 2
        return (raw - self._position + half) % self._RANGE - half

    def step(self, raw: int) -> float:
        """Take a position, a signed 32-bit number of counts, and return the angle in rad."""
        self._position = raw if self._position is None else self._position + self.difference(raw)
        self.angle = self.units.angle(self._position + self._shift)
        return self.angle

    def resume(self, raw: int) -> float:
        """
        Take the first position of a drive that has started again, and return the angle.

        An incremental encoder begins at 0 whenever it gets power. The angle stays where it was:
        what the wheel turned meanwhile is not known.
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

    as `c3p_simulation.plants.sensors.SensedPlant` and many motor cards do: no error at constant
    rate, a lag of ``1/(πf)`` times the acceleration. A cycle may be longer than another; after a
    long pause the rate is the mean rate of the pause.

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
        """Know no angle yet; rates are 0."""
        if not (math.isfinite(bandwidth) and bandwidth > 0):
            raise ValueError(f'bandwidth = {bandwidth}: must be a positive number of Hz')
        self._decay = -2 * math.pi * bandwidth
        self._count = count
        self.reset()

    def reset(self) -> None:
        """Forget: the next angles are first ones, at rest."""
        self._angle: Array | None = None
        self.rate = np.zeros(self._count)

    def step(self, angle: ArrayLike, dt: float | None) -> Array:
        """
        Take the angles (count,), rad, `dt` seconds after the last ones, and return the rates.

        The first angles come after nothing: their `dt` is not looked at.

        Raises
        ------
        ValueError
            Another number of angles; a `dt` that is not positive.
        """
        angle = np.array(angle, float)
        if angle.shape != (self._count,):
            raise ValueError(f'angle has shape {angle.shape}: must be ({self._count},)')
        if self._angle is None:
            self._angle = angle
            return self.rate
        if dt is None or not 0 < dt < math.inf:
            raise ValueError(f'dt = {dt}: must be a positive number of seconds')
        z = math.exp(self._decay * dt)
        expected = self._angle + dt * self.rate
        error = angle - expected
        self._angle = expected + (1 - z * z) * error
        # a new array: who kept the last one keeps its values
        self.rate = self.rate + (1 - z) ** 2 / dt * error
        return self.rate
