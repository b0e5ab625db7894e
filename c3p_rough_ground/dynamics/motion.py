# SPDX-License-Identifier: Apache-2.0
"""Motion of a vehicle with masses on the ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_rough_ground.closed_chain._scan_kernels import scan
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.placement import memory_of, place
from c3p_rough_ground.closed_chain.vehicle import State, quaternion
from c3p_rough_ground.dynamics import _vehicle_kernels as kernels
from c3p_rough_ground.dynamics.heavy_vehicle import HeavyVehicle
from c3p_rough_ground.dynamics.run import DynamicRun
from c3p_rough_ground.terrain import Terrain

Desired = ArrayLike | Callable[[float], ArrayLike]

# s: period of the records, step of the method. The tread of a wheel swings with about 120 rad/s,
# and a step of 0.12 rad leaves 1e-7 of it
PERIOD = 0.01
STEP = 1e-3
# s of standing still before the start, in which tyres and springs take up the weight
SETTLING = 2.0
# s between two searches for a second contact, and how much deeper that must be, m
LOOK = 0.1
DEEPER = 1e-3


class DynamicError(ValueError):
    """A run that cannot begin; the text names value and remedy."""


def _table(heavy: HeavyVehicle, desired: Desired, count: int, period: float) -> np.ndarray:
    """Return the desired rates, one row or one per record."""
    m = heavy.vehicle.size[0]
    rates = ([np.asarray(desired(period * k), float) for k in range(count + 1)]
             if callable(desired) else desired)
    table = np.array(np.atleast_2d(np.asarray(rates, float)))
    if table.shape not in ((1, m), (count + 1, m)) or not np.all(np.isfinite(table)):
        raise DynamicError(f'desired of shape {table.shape}: expected finite rates of the {m} '
                           f'joints {[joint.name for joint in heavy.vehicle.joints]}: one row, or '
                           f'one for each of the {count + 1} records, or a function of time')
    return table


def start_state(heavy: HeavyVehicle, state: State) -> np.ndarray:
    """Return the state of the kernels at rest in a pose of the kinematic vehicle."""
    n = heavy.tree.count
    w = heavy.vehicle.size[1]
    out = np.zeros(kernels.state_size(n, w))
    out[:3] = state.position
    out[3:kernels.BASE] = heavy._angles(state.rotation)
    out[kernels.BASE:n] = state.joint
    return out


class HeavyDrive:
    """
    A vehicle with masses that moves on piece by piece.

    Parameters
    ----------
    heavy : HeavyVehicle
    terrain : Terrain
    start : (3,) sequence
        x, y, yaw of {P}, m and rad.
    joint : (m,) array_like, optional
        θ at the start.
    step : float, s
        Largest step of the method.

    Attributes
    ----------
    state : array
        Of the kernels.
    ended : str
        Reason of an early end, empty without one.

    Raises
    ------
    ContactError
        Not all wheels can touch the ground at the start.
    """

    def __init__(self, heavy: HeavyVehicle, terrain: Terrain,
                 start: Sequence[float] = (0.0, 0.0, 0.0), joint: ArrayLike | None = None,
                 step: float = STEP) -> None:
        """Place the vehicle without weight."""
        if not (math.isfinite(step) and step > 0.0):
            raise DynamicError(f'step = {step}: must be finite and greater than zero')
        self.heavy = heavy
        self.terrain = terrain
        self.step = step
        self.ended = ''
        self._ground = ground_arrays(terrain)
        x, y, yaw = start
        self.state = start_state(heavy, place(heavy.vehicle, terrain, x, y, yaw, joint).require())
        self._memory = kernels.memory_for(heavy.tree.count, heavy.vehicle.size[1])
        self._scan = memory_of(heavy.vehicle)
        kernels.guess(heavy.system, self._memory, self.state)

    def advance(self, table: np.ndarray, period: float, count: int) -> kernels.Records:
        """
        Move on by `count` periods with the desired rates of a `table`, (1, m) or (count + 1, m).

        Returns the records with the first state, fewer than ``count + 1`` where the run ends.
        """
        records = kernels.records_for(count + 1, self.heavy.tree.count,
                                      self.heavy.vehicle.size[1])
        steps = max(1, math.ceil(period / self.step - 1e-9))
        at = 0
        chunk = max(1, round(LOOK / period))
        while at < count and not self.ended:
            some = min(chunk, count - at)
            at, code, which = kernels.drive(
                self.heavy.system, self._ground, self.state, table,
                kernels.RunSpan(at, some, float(period), steps), self._memory, records)
            self.ended = self._reason(code, which) if code else self._watch()
        return kernels.Records(*(part[:at + 1] for part in records))

    def _reason(self, code: int, which: int) -> str:
        if code == kernels.NOT_FINITE:
            return 'the state is not finite; take a smaller step, or softer tyres'
        wheel = self.heavy.vehicle.wheels[which]
        return (f'wheel {wheel.name}: no single point of it faces the ground: it is on its side '
                'or the ground is too sharp for it; take a smaller wheel or a smoother ground, '
                'stiffer camber springs, or lower speed')

    def _watch(self) -> str:
        """Return why the run ends here: a joint limit, the border of a map, a second contact."""
        vehicle = self.heavy.vehicle
        n = self.heavy.tree.count
        theta = self.state[kernels.BASE:n]
        for joint, value in zip(vehicle.joints, theta, strict=True):
            if not joint.lower <= value <= joint.upper:
                return (f'joint {joint.name} = {value:.4g}: beyond its range [{joint.lower:.4g}, '
                        f'{joint.upper:.4g}]; take a stiffer spring, or a gentler ground')
        for i, wheel in enumerate(vehicle.wheels):
            x, y = self._memory.spot[i, :2]
            extent = getattr(self.terrain, 'extent', None)
            if extent is not None and not (extent[0][0] <= x <= extent[0][1]
                                           and extent[1][0] <= y <= extent[1][1]):
                return (f'wheel {wheel.name} at x = {x:.4g}, y = {y:.4g} m leaves the extent of '
                        'the ground; give a larger map, or one that repeats')
        return self._second()

    def _second(self) -> str:
        vehicle = self.heavy.vehicle
        n = self.heavy.tree.count
        position, (yaw, pitch, roll) = self.state[:3], self.state[3:6]
        packed = self._scan.state
        packed[:3], packed[3:7] = position, quaternion(_rotation(yaw, pitch, roll))
        packed[7:7 + n - kernels.BASE] = self.state[kernels.BASE:n]
        kernels.place_bodies(vehicle.packed, packed, self._scan.work.frame)
        scan(vehicle.packed, self._ground, self._scan.work.frame, self._scan.grid,
             self._scan.found)
        for i, wheel in enumerate(vehicle.wheels):
            deep = -self._scan.found[i, 0]
            known = max(0.0, self._memory.spot[i, 2])
            if deep > known + DEEPER:
                x, y = self._memory.spot[i, :2]
                return (f'second contact: wheel {wheel.name} at x = {x:.4g}, y = {y:.4g} m is '
                        f'{deep:.3g} m inside the ground at another place than its contact; take '
                        'a smaller wheel or a smoother ground')
        return ''


def _rotation(yaw: float, pitch: float, roll: float) -> np.ndarray:
    (c, b, a), (s, t, r) = np.cos([yaw, pitch, roll]), np.sin([yaw, pitch, roll])
    return np.array([[c * b, c * t * r - s * a, c * t * a + s * r],
                     [s * b, s * t * r + c * a, s * t * a - c * r], [-t, b * r, b * a]])


class DriveTimes(NamedTuple):
    """
    Times of a drive besides its duration.

    Attributes
    ----------
    period, step : float, s
        Of the records, and the largest of the method (classical Runge-Kutta, fourth order).
    settling : float, s
        Time at standstill before the start.
    """

    period: float = PERIOD
    step: float = STEP
    settling: float = SETTLING


USUAL_TIMES = DriveTimes()


def drive(heavy: HeavyVehicle, terrain: Terrain, desired: Desired, duration: float,
          start: Sequence[float] = (0.0, 0.0, 0.0), joint: ArrayLike | None = None,
          times: DriveTimes = USUAL_TIMES) -> DynamicRun:
    """
    Drive a vehicle with masses over the ground.

    Parameters
    ----------
    heavy : HeavyVehicle
    terrain : Terrain
    desired : (m,) or (N, m) array_like, or callable
        Desired joint rates, rad/s or m/s: constant; one row for each of the N records, joined by
        straight lines; or a function of the time since the start.
    duration : float, s
        A whole number of periods.
    start : (3,) sequence
        x, y, yaw of {P}, m and rad.
    joint : (m,) array_like, optional
        θ at the start; zeros by default.
    times : DriveTimes
        Period of the records, step of the method, and time before the start.

    Returns
    -------
    DynamicRun

    Raises
    ------
    ContactError
        Not all wheels can touch the ground at the start.
    DynamicError
        An invalid number or shape, or an end while the vehicle settles.
    """
    period, step, settling = times
    for name, value in (('period', period), ('duration', duration)):
        if not (math.isfinite(value) and value > 0.0):
            raise DynamicError(f'{name} = {value}: must be finite and greater than zero')
    count = round(duration / period)
    if count < 1 or abs(count * period - duration) > 1e-6 * period:
        raise DynamicError(f'duration = {duration} s is not a whole number of periods of {period} '
                           f's: take {max(1, count) * period:.9g} s')
    table = _table(heavy, desired, count, period)
    run = HeavyDrive(heavy, terrain, start, joint, step)
    if settling > 0.0:
        run.advance(np.zeros((1, heavy.vehicle.size[0])), period, max(1, round(settling / period)))
        if run.ended:
            raise DynamicError(f'{heavy.vehicle.name} does not stand: {run.ended}')
        run.state[2 * heavy.tree.count + 2 * heavy.vehicle.size[1]
                  + heavy.vehicle.size[0]:] = 0.0
    records = run.advance(table, period, count)
    return DynamicRun(heavy, terrain, period * np.arange(len(records.states)), records, run.ended)
