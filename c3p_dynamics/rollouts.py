# SPDX-License-Identifier: Apache-2.0
"""
Many motions of a caster robot at once: one after the other, or in the threads that are given.

Each has the bits of `AnalyticPlant` with the same torques. The kernel releases the GIL: the caller
provides threads, ``rollouts(…, spread=ThreadPoolExecutor(2).map)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._caster_equations import caster_model
from c3p_dynamics._caster_motion_kernels import advance

# runs of one call: with fewer the pool of threads takes more time than short runs
TOGETHER = 16


def _fitting(name: str, given: ArrayLike, shape: tuple[int | str, ...]) -> Array:
    """Return an array of floats; numbers in `shape` are sizes, names stand for any."""
    array = np.array(given, float, order='C')
    if array.ndim != len(shape) or any(
            isinstance(wanted, int) and size != wanted
            for size, wanted in zip(array.shape, shape, strict=True)):
        raise ValueError(f'{name} of shape {array.shape}: expected '
                         f'({", ".join(map(str, shape))})')
    if not np.all(np.isfinite(array)):
        raise ValueError(f'{name} has numbers that are not finite')
    return array


def rollouts(robot: CasterRobot, states: ArrayLike, torques: ArrayLike, step: float, count: int,
             wrenches: ArrayLike | None = None, keep: bool = False,
             spread: Callable[..., Iterable[Any]] = map) -> Array:
    """
    Integrate a robot B times: its N torques, each held for `count` classical steps of `step`.

    Parameters
    ----------
    robot : CasterRobot
    states : (B, 8 + 2 n) array_like
        Start of each: ``[X, Y, φ, vx, vy, ω, θ_s…, θ_x…, work, dissipated]``, m, rad, s, J.
    torques : (B, N, robot.efforts) array_like, N·m
    step : float, s
    count : int
        Steps under each row of torques.
    wrenches : (B, 3) array_like, N and N·m, optional
        Constant, at the origin of the platform and in its axes.
    keep : bool
        Return the states at the end of each row of torques instead of the last ones alone.
    spread : callable
        Calls a function for parts of the runs, 16 at a time: `map` sequentially, the ``map`` of a
        ThreadPoolExecutor in parallel.

    Returns
    -------
    (B, 8 + 2 n) array, or (B, N, 8 + 2 n) with `keep`
        Not finite where a motion diverges.

    Raises
    ------
    ValueError
        An array of the wrong shape, a number that is not finite, or a step or count that is not
        greater than zero; the text names it.

    Examples
    --------
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> forces = np.array([1.0, 2.0])[:, None, None] * [0.2, 0.2, 0.2]  # 15 and 30 N on 30 kg
    >>> ends = rollouts(robot, np.zeros((2, 14)), forces, 1e-3, 1000)
    >>> ends[:, 1].round(6).tolist()
    [0.25, 0.5]
    """
    size = 8 + 2 * robot.count
    after = _fitting('states', states, ('B', size))
    batch = len(after)
    forces = _fitting('torques', torques, (batch, 'N', robot.efforts))
    pushes = (np.zeros((batch, 3)) if wrenches is None
              else _fitting('wrenches', wrenches, (batch, 3)))
    for name, value in (('step', step), ('count', count)):
        if not 0 < value < np.inf:
            raise ValueError(f'{name} = {value}: must be finite and greater than zero')
    kept = np.empty((batch, forces.shape[1] if keep else 0, size))

    def work(first: int) -> None:
        some = slice(first, first + TOGETHER)
        advance(caster_model(robot), after[some], forces[some], pushes[some], float(step),
                int(count), kept[some])

    for _ in spread(work, range(0, batch, TOGETHER)):
        pass
    return kept if keep else after
