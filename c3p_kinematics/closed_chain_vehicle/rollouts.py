# SPDX-License-Identifier: Apache-2.0
"""
Many independent runs at once: the kernels release the GIL, so that threads run in parallel.

The caller provides threads, ``rollouts(…, workers=2, spread=ThreadPoolExecutor(2).map)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_kinematics.closed_chain_vehicle import _motion_kernels as kernels
from c3p_kinematics.closed_chain_vehicle._plan import records_for
from c3p_kinematics.closed_chain_vehicle.description import Array
from c3p_kinematics.closed_chain_vehicle.ground import ground_arrays
from c3p_kinematics.closed_chain_vehicle.motion import plan
from c3p_kinematics.closed_chain_vehicle.placement import memory_of
from c3p_kinematics.closed_chain_vehicle.run import WHAT
from c3p_kinematics.closed_chain_vehicle.vehicle import POSE, State, Vehicle
from c3p_kinematics.terrain import Terrain


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
        Event that ended each run early (`Event.what`), or empty.
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
    starts = [states] * len(given) if isinstance(states, State) else list(states)
    if len(starts) != len(given):
        raise ValueError(f'{len(starts)} states and {len(given)} rows of desired rates: give '
                         'equally many, or one state for all')
    if every < 0 or workers < 1:
        raise ValueError(f'every = {every}, workers = {workers}: every must not be negative, '
                         'workers at least 1')
    plans = [plan(vehicle, terrain, one, duration, step, weights=weights,
                  camber_gain=camber_gain) for one in given]
    count = plans[0].periods
    kept = count // every + 1 if every else 1
    packed = np.stack([vehicle.pack_state(start) for start in starts])
    out, time = np.empty((len(given), kept, packed.shape[1])), np.empty(len(given))
    codes = np.empty(len(given), int)
    ground = ground_arrays(terrain)

    def work(first: int) -> None:
        memory = memory_of(vehicle, len(plans[0].tableau.b))
        records = records_for(kept + 1, *vehicle.size)
        for b in range(first, len(given), workers):
            memory.state[:] = packed[b]
            reached, time[b], codes[b], _, _ = kernels.drive(
                vehicle.packed, ground, plans[b], memory, every or max(count, 1), records)
            have = reached // every + 1 if every else 0
            out[b, :have] = records.states[:have]
            out[b, have:] = memory.state

    for _ in spread(work, range(workers)):
        pass
    return Rollouts(out, time, tuple(WHAT[code] for code in codes))
