# SPDX-License-Identifier: Apache-2.0
"""
The body-connection array L(k): checks, chains for joints of several freedoms, order of visits.

Kelly numbers bodies arbitrarily; ``L(k)`` is the neighbour of body k towards the world. Here the
world is −1 and bodies count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees.parts import CHAINS, Body, Joint, TreeError


def checked_connection(connection: ArrayLike, names: Sequence[str], first: int) -> list[int]:
    """
    Return L(k) with the world as −1, from a `connection` (N,) in which bodies count from `first`.

    TreeError names the body of a number that is not whole or has no body, or of a cycle.
    """
    given = np.asarray(connection)
    if given.shape != (len(names),):
        raise TreeError(f'connection has shape {given.shape}: expected one number for each of '
                        f'{len(names)} bodies')
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise TreeError(f'connection has type {given.dtype}: numbers of bodies are whole')
    lower = [int(k) - first for k in given]
    for row, k in enumerate(lower):
        if not -1 <= k < len(names):
            raise TreeError(f'body {names[row]} (row {row}): L(k) = {k + first}: must be '
                            f'{first - 1} for the world or a body from {first} to '
                            f'{len(names) - 1 + first}')
    visits(lower, names)
    return lower


def visits(lower: Sequence[int], names: Sequence[str]) -> list[int]:
    """
    Return the bodies of L(k) depth first: each before those above it, branch after branch.

    TreeError names bodies that form a loop and never reach the world.
    """
    above: list[list[int]] = [[] for _ in range(len(lower) + 1)]
    for k, low in enumerate(lower):
        above[low].append(k)
    order = []
    todo = above[-1][::-1]
    while todo:
        k = todo.pop()
        order.append(k)
        todo += above[k][::-1]
    lost = sorted(set(range(len(lower))) - set(order))
    if lost:
        loop = _loop(lower, lost[0])
        raise TreeError(f'body {names[loop[0]]} (row {loop[0]}): L(k) is cyclic: '
                        + ' → '.join(names[k] for k in [*loop, loop[0]])
                        + '; hang one of them on the world or on another body, and close the '
                        'loop by a constraint')
    return order


def _loop(lower: Sequence[int], start: int) -> list[int]:
    """Return the cycle that is reached from `start` towards the world."""
    seen = []
    while start not in seen:
        seen.append(start)
        start = lower[start]
    return seen[seen.index(start):]


def unique(names: Sequence[str], what: str) -> None:
    """Raise TreeError when two of the `names` are equal; the text names `what` they are."""
    for row, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise TreeError(f'{what} in row {row} has the name {name!r}: give each a name')
        if names.index(name) < row:
            raise TreeError(f'{what} {name} is named twice, in rows {names.index(name)} and '
                            f'{row}; rename one')


def without_chains(lower: Sequence[int], joints: Sequence[Joint], bodies: Sequence[Body]
                   ) -> tuple[list[int], list[Joint], list[Body], list[int]]:
    """
    Return the tree with each joint of several freedoms as a chain over massless bodies.

    In the place of a body are the links of its chain; the last list holds the row of each.
    """
    last = []
    count = 0
    for joint in joints:
        count += len(CHAINS.get(joint.kind, '1'))
        last.append(count - 1)
    new_lower: list[int] = []
    new_joints: list[Joint] = []
    new_bodies: list[Body] = []
    rows: list[int] = []
    for row, (low, joint, body) in enumerate(zip(lower, joints, bodies, strict=True)):
        below = last[low] if low >= 0 else -1
        if joint.kind not in CHAINS:
            links = [(joint, body)]
        else:
            links = [(Joint(f'{joint.name}.{suffix}', kind, np.array(axis), np.eye(3),
                            np.zeros(3)), _massless(f'{body.name}.{suffix}'))
                     for suffix, kind, axis in CHAINS[joint.kind]]
            links[0] = (replace(links[0][0], rotation=joint.rotation,
                                translation=joint.translation), links[0][1])
            links[-1] = links[-1][0], body
        for link, mass in links:
            new_lower.append(below)
            below = len(new_joints)
            new_joints.append(link)
            new_bodies.append(mass)
            rows.append(row)
    return new_lower, new_joints, new_bodies, rows


def _massless(name: str) -> Body:
    return Body(name, 0.0, np.zeros(3), np.zeros((3, 3)))
