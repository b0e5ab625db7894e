# SPDX-License-Identifier: Apache-2.0
"""
Ways of modules: whether each rolls forward or backward, decided for the whole platform.

A wheel below its pivot points along a path in two ways. The nearer one is taken. Where both are
about as far, at a right angle, noise would turn some modules one way and some the other, and the
platform would swing: all modules in doubt decide together, and keep what they do unless the other
way is clearly shorter. A module with stops takes the way that ends between them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

# from a right angle, rad: modules within it decide together
DOUBT = math.radians(15.0)

# by which the other way must be shorter for them, rad
CLEARLY = math.radians(5.0)

# rounding of a turn to a stop, rad
AT_STOP = 1e-9


class ModuleTurns(NamedTuple):
    """
    Turns of modules to a direction.

    Attributes
    ----------
    turn : (n,) array, rad
        From the present angle. Beyond a stop where neither way ends between them.
    backward : (n,) bool array
        Modules that then roll backward.
    inside : (n,) bool array
        Turns that end between the stops.
    """

    turn: Array
    backward: Array
    inside: Array


def wrapped(angle: ArrayLike) -> Array:
    """
    Return angles in (−π, π].

    Examples
    --------
    >>> wrapped([3.5, -3.0]).round(4).tolist()
    [-2.7832, -3.0]
    """
    return np.asarray(np.pi - np.mod(np.pi - np.asarray(angle, float), 2.0 * np.pi))


def turns_to(ahead: Array, backward: Array, moves: Array, room: tuple[Array, Array],
             free: Array | bool = True) -> ModuleTurns:
    """
    Return the turns of all modules, of which those that do not move stay as they are.

    Parameters
    ----------
    ahead : (n,) array, rad
        Angle to the path of the pivot, rolling forward.
    backward : (n,) bool array
        Modules that roll backward at present.
    moves : (n,) bool array
        Modules that the direction concerns.
    room : (n,) array and (n,) array, rad
        Smallest and largest turn up to the stops; ±inf without.
    free : (n,) bool array or bool
        Modules that may take the other way; the others keep theirs unless a stop is in it.

    Examples
    --------
    >>> import numpy as np
    >>> everywhere = np.full(2, -np.inf), np.full(2, np.inf)
    >>> turns_to(np.radians([10.0, 170.0]), np.array([False, False]), np.array([True, True]),
    ...          everywhere).backward.tolist()
    [False, True]
    """
    forward, forward_inside = _within(wrapped(ahead), room)
    back, back_inside = _within(wrapped(ahead - np.pi), room)
    # lengths of the turns; one beyond a stop is longer than any
    lengths = (np.abs(forward) + np.where(forward_inside, 0.0, 10.0),
               np.abs(back) + np.where(back_inside, 0.0, 10.0))
    decided = _decided(lengths, backward, moves & free)
    # those that are not free leave a way with a stop only
    forced = moves & ~np.asarray(free) & (forward_inside != back_inside)
    chosen = np.where(forced, back_inside, decided)
    turn = np.where(moves, np.where(chosen, back, forward), 0.0)
    inside = ~moves | np.where(chosen, back_inside, forward_inside)
    return ModuleTurns(turn, chosen, inside)


def _decided(lengths: tuple[Array, Array], backward: Array, moves: Array) -> Array:
    """Return which modules roll backward: the nearer way, and one for those in doubt."""
    forward, back = lengths
    doubt = moves & (np.abs(forward - back) < 2.0 * DOUBT)
    kept = np.where(moves & ~doubt, back < forward, backward)
    if not doubt.any():
        return kept
    keep = np.where(kept, back, forward)[doubt].max()
    turn = np.where(kept, forward, back)[doubt].max()
    return np.where(doubt, ~kept, kept) if turn < keep - CLEARLY else kept


def _within(turn: Array, room: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the shortest equal turns between the stops, or the nearest to them; which are."""
    choices = turn + 2.0 * np.pi * np.array([[0.0], [-1.0], [1.0]])
    excess = np.maximum(np.maximum(room[0] - choices, choices - room[1]), 0.0)
    cost = np.where(excess <= AT_STOP, np.abs(choices), 100.0 + excess)
    best = np.argmin(cost, axis=0)
    columns = np.arange(len(turn))
    return choices[best, columns], excess[best, columns] <= AT_STOP
