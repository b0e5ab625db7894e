# SPDX-License-Identifier: Apache-2.0
"""
Many independent runs: one after the other, or in the threads that are given.

Each has the bits of a run of `simulate`. The kernel releases the GIL: the caller provides threads,
``rollouts(…, RolloutOptions(spread=ThreadPoolExecutor(2).map))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_rough_ground.closed_chain._plan import records_for
from c3p_rough_ground.closed_chain.description import Array
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.motion import Stepping, drive, plan, rate_table
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.closed_chain.run import WHAT
from c3p_rough_ground.closed_chain.vehicle import POSE, State, Vehicle
from c3p_rough_ground.terrain import Terrain


class RolloutOptions(NamedTuple):
    """
    Records of many runs, and how the runs are done.

    Attributes
    ----------
    step : float, s
        Period of the records, and of the method.
    every : int
        Keep the first and then each `every`-th record; 0 keeps the last alone.
    spread : callable
        Calls a function for each run: `map` sequentially, the ``map`` of a ThreadPoolExecutor in
        parallel.
    """

    step: float = Stepping().step
    every: int = 0
    spread: Callable[..., Iterable[Any]] = map


LAST_ALONE = RolloutOptions()


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
             desired: ArrayLike, duration: float, options: RolloutOptions = LAST_ALONE,
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
    duration : float, s
    options : RolloutOptions
        Step, records that are kept, and threads.
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
    step, every, spread = options
    given = np.array(desired, float)
    if given.ndim not in (2, 3) or len(given) == 0:
        raise ValueError(f'desired of shape {given.shape}: expected (B, m) or (B, N, m)')
    starts = [states] if isinstance(states, State) else list(states)
    if not isinstance(states, State) and len(starts) != len(given):
        raise ValueError(f'{len(starts)} states and {len(given)} rows of desired rates: give '
                         'equally many, or one state for all')
    if every < 0:
        raise ValueError(f'every = {every}: must not be negative')
    checked = plan(vehicle, terrain, given[_worst(vehicle, given)], duration, Stepping(step),
                   weights, camber_gain)
    packed = [vehicle.pack_state(one) for one in starts]
    ground = ground_arrays(terrain)
    batch = len(given)
    kept = checked.periods // every + 1 if every else 1
    ends = np.empty((batch, kept, len(packed[0])))
    time = np.empty(batch)
    codes = np.empty(batch, int)

    def work(b: int) -> None:
        memory = memory_of(vehicle, len(checked.tableau.b))
        records = records_for(kept + 1, *vehicle.size)
        # of B states its own, or the one for all
        memory.state[:] = packed[b % len(packed)]
        table = rate_table(vehicle, given[b], checked.periods, checked.settings.period)
        run = checked._replace(inputs=checked.inputs._replace(table=table))
        # without records the last state alone is kept
        count, time[b], codes[b], _, _ = drive(vehicle, ground, run, memory,
                                               every or max(checked.periods, 1), records)
        have = count // every + 1 if every else 0
        ends[b, :have] = records.states[:have]
        ends[b, have:] = memory.state

    for _ in spread(work, range(batch)):
        pass
    return Rollouts(ends, time, tuple(WHAT[code] for code in codes))


def _worst(vehicle: Vehicle, given: Array) -> int:
    """Return the run whose desired rates are the fastest, or not finite: if it passes, all do."""
    radii = [wheel.surface.outer_radius for wheel in vehicle.wheels]
    flat = given.reshape(len(given), -1, given.shape[-1])
    wrong = np.flatnonzero(~np.isfinite(flat).all(axis=(1, 2)))
    if len(wrong) or flat.shape[-1] != vehicle.size[0]:
        return int(wrong[0]) if len(wrong) else 0
    return int(np.argmax(np.max(np.abs(flat[..., list(vehicle.spins)]) * radii, axis=(1, 2))))
