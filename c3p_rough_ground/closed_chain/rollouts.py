# SPDX-License-Identifier: Apache-2.0
"""
Many independent runs at once: in the lanes of vector registers, and in threads.

Vehicles on three tori run LANES at a time, with the bits of single runs; a run that ends early, or
has to look for second contacts, is repeated alone. The kernels release the GIL: the caller
provides threads, ``rollouts(…, workers=2, spread=ThreadPoolExecutor(2).map)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_kernels.compiled import COMPILED
from c3p_rough_ground.closed_chain import _motion_kernels as kernels
from c3p_rough_ground.closed_chain._geometry_kernels import Work
from c3p_rough_ground.closed_chain._plan import March, RunPlan, records_for
from c3p_rough_ground.closed_chain.description import Array, GroundArrays
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.motion import drive, plan, rate_table
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.closed_chain.run import WHAT
from c3p_rough_ground.closed_chain.vehicle import POSE, State, Vehicle
from c3p_rough_ground.rolling_contact._kernels import TORUS
from c3p_rough_ground.terrain import Terrain

if COMPILED:
    from c3p_kernels.lanes import LANES
    from c3p_rough_ground.closed_chain import _lane_kernels as lane_kernels
else:
    LANES = 1


class Rollouts(NamedTuple):
    """
    Results of many runs.

    Attributes
    ----------
    states : (B, K, 7 + m + 5 n) array
        Kept records of each run, for `Vehicle.unpack_state`; after an early end the last state is
        repeated.
    time : (B,) array, s
        End of each run.
    ended : tuple of str
        Event that ended each run early (`RunEvent.what`), or empty.
    """

    states: Array
    time: Array
    ended: tuple[str, ...]

    @property
    def position(self) -> Array:
        """Origin of {P} in {G} (B, K, 3), m."""
        return self.states[..., :3]

    def joint(self, vehicle: Vehicle) -> Array:
        """Return θ of the `vehicle` (B, K, m)."""
        return self.states[..., POSE:POSE + vehicle.size[0]]


def rollouts(vehicle: Vehicle, terrain: Terrain, states: State | Sequence[State],
             desired: ArrayLike, duration: float, step: float = 0.02, every: int = 0,
             workers: int = 1, spread: Callable[..., Iterable[Any]] = map,
             weights: ArrayLike | None = None, camber_gain: float = 0.0) -> Rollouts:
    """
    Simulate a vehicle B times from given states, projected fourth-order steps.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    states : State or sequence of State
        Start of each run; one for all, or B.
    desired : (B, m) or (B, N, m) array_like
        θ̇_d of each run: constant, or one row for each of the N = duration/step + 1 records.
    duration, step : float, s
    every : int
        Keep the first and then each `every`-th record; 0 keeps the last alone.
    workers : int
        Number of parts into which the runs are divided.
    spread : callable
        Calls a function for each part: `map` sequentially, the ``map`` of a ThreadPoolExecutor in
        parallel.
    weights, camber_gain
        As in `simulate`.

    Returns
    -------
    Rollouts

    Raises
    ------
    StepError, ValueError
        As `simulate`.
    """
    given = np.array(desired, float)
    if given.ndim not in (2, 3) or len(given) == 0:
        raise ValueError(f'desired of shape {given.shape}: expected (B, m) or (B, N, m)')
    starts = [states] if isinstance(states, State) else list(states)
    if not isinstance(states, State) and len(starts) != len(given):
        raise ValueError(f'{len(starts)} states and {len(given)} rows of desired rates: give '
                         'equally many, or one state for all')
    if every < 0 or workers < 1:
        raise ValueError(f'every = {every}, workers = {workers}: every must not be negative, '
                         'workers at least 1')
    checked = plan(vehicle, terrain, given[_worst(vehicle, given)], duration, step,
                   weights=weights, camber_gain=camber_gain)
    packed = np.array([vehicle.pack_state(one) for one in starts])
    runs = _Runs(vehicle, ground_arrays(terrain), given, checked,
                 np.broadcast_to(packed, (len(given), packed.shape[1])), every)
    size = LANES if fits_lanes(vehicle) else 1

    def work(part: int) -> None:
        for first in range(size * part, len(given), size * workers):
            runs.together(range(first, min(first + size, len(given))))

    for _ in spread(work, range(workers)):
        pass
    return Rollouts(runs.states, runs.time, tuple(WHAT[code] for code in runs.codes))


def fits_lanes(vehicle: Vehicle) -> bool:
    """Return whether `vehicle` has the three tori that the kernels for lanes are for."""
    kinds = vehicle.packed.wheel[:, 2]
    return lane_kernels is not None and len(kinds) == 3 and bool(np.all(kinds == TORUS))


def _worst(vehicle: Vehicle, given: Array) -> int:
    """Return the run whose desired rates are the fastest, or not finite: if it passes, all do."""
    radii = [wheel.surface.outer_radius for wheel in vehicle.wheels]
    flat = given.reshape(len(given), -1, given.shape[-1])
    wrong = np.flatnonzero(~np.isfinite(flat).all(axis=(1, 2)))
    if len(wrong) or flat.shape[-1] != vehicle.size[0]:
        return int(wrong[0]) if len(wrong) else 0
    return int(np.argmax(np.max(np.abs(flat[..., list(vehicle.spins)]) * radii, axis=(1, 2))))


class _Runs:
    """Runs to be done and their results."""

    def __init__(self, vehicle: Vehicle, ground: GroundArrays, given: Array, checked: RunPlan,
                 packed: Array, every: int) -> None:
        self.vehicle = vehicle
        self.ground = ground
        self.given = given
        self.checked = checked
        self.packed = packed
        self.kept = checked.periods // every + 1 if every else 1
        self.recorded = every > 0
        # without records the last state alone is kept
        self.every = every or max(checked.periods, 1)
        self.states = np.empty((len(given), self.kept, packed.shape[1]))
        self.time, self.codes = np.empty(len(given)), np.empty(len(given), int)

    def _table(self, b: int) -> Array:
        """Return the desired rates of run b for the kernels."""
        return rate_table(self.vehicle, self.given[b], self.checked.periods,
                          self.checked.settings.period)

    def together(self, which: range) -> None:
        """Do some runs: in lanes, and what needs more than steps there alone."""
        left = list(which)
        if len(which) > 1:
            reached = self._in_lanes(which)
            left = [b for b in which if not reached[b - which.start]]
        if not left:
            return
        memory = memory_of(self.vehicle, len(self.checked.tableau.b))
        records = records_for(self.kept + 1, *self.vehicle.size)
        for b in left:
            memory.state[:] = self.packed[b]
            inputs = self.checked.inputs._replace(table=self._table(b))
            count, self.time[b], self.codes[b], _, _ = drive(
                self.vehicle, self.ground, self.checked._replace(inputs=inputs), memory,
                self.every, records)
            have = count // self.every + 1 if self.recorded else 0
            self.states[b, :have] = records.states[:have]
            self.states[b, have:] = memory.state

    def _in_lanes(self, which: range) -> Array:
        """Do some runs at once; return whether each reached its end."""
        # lanes that are left over repeat the last run
        rows = [min(which.start + k, which.stop - 1) for k in range(LANES)]
        memory = widened(memory_of(self.vehicle, len(self.checked.tableau.b)))
        memory.state[:] = self.packed[rows].T
        tables = np.stack([self._table(b) for b in rows], axis=-1)
        records = np.empty((self.kept + 1, self.packed.shape[1], LANES))
        succeeded = np.zeros((1, LANES))
        lane_kernels.drive(self.vehicle.packed, self.ground, self.checked, memory, tables,
                           self.every, records, succeeded)
        reached = succeeded[0] > 0.0
        for k, b in enumerate(which):
            if reached[k]:
                self.states[b] = records[:self.kept, :, k] if self.recorded else memory.state[:, k]
                self.time[b] = self.checked.periods * self.checked.settings.period
                self.codes[b] = kernels.NOTHING
        return reached


def widened(memory: March) -> March:
    """Return memory for LANES runs: all arrays with a last axis more."""
    return March(Work(*(np.zeros((*one.shape, LANES)) for one in memory.work)),
                 *(np.zeros((*part.shape, LANES)) for part in memory[1:]))
