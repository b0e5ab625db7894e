# SPDX-License-Identifier: Apache-2.0
"""
Two publishers of the same joints in one bag: two robots, or a simulation beside a robot.

A bag does not store which publisher sent a message. Where two take turns, the angles or the stamps
leap to the other line and back,

    d_j ≈ −d_{j+1}     for most of the leaps d_j,

and both lines have many messages. Leaps of a single encoder do not count.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError
from c3p_description.model import Array

# samples that are looked at together: bounded memory
BLOCK = 100_000

# fewest leaps, fraction of them that are followed by their opposite, and fraction of the samples
# of the rarer publisher
FEWEST = 20
OPPOSITE = 0.8
RARER = 0.1

# a leap is longer than this multiple of the usual change, and than these; rad and s
USUAL = 10.0
LEAST_ANGLE = 0.05
LEAST_TIME = 0.5


def refuse_two_publishers(bag: Bag, topic: str, stamp: Array, angles: Iterable[Array]) -> None:
    """
    Refuse joint states in which two publishers take turns.

    Parameters
    ----------
    bag : Bag
    topic : str
    stamp : (k,) int array, ns
        Of the messages, in the order of recording.
    angles : (2, k, n) array, or two of (k, n), rad
        Of their steering joints and wheels.

    Raises
    ------
    BagError
        It has an example of both, and the remedy.
    """
    for begin in range(0, len(stamp), BLOCK):
        part = slice(begin, begin + BLOCK)
        time = 1e-9 * (stamp[part] - stamp[begin])
        every = np.hstack([some[part] for some in angles])
        for values, least, fewest, period in ((time[:, None], LEAST_TIME, 1, np.inf),
                                              (every, LEAST_ANGLE, 2, 2.0 * np.pi)):
            leap = turn_of(values, least, fewest, period)
            if leap is not None:
                raise BagError(_text(bag, topic, stamp[part], every, leap))


def turn_of(values: Array, least: float, fewest: int = 1, period: float = np.inf) -> int | None:
    """
    Return a sample before which the other of two publishers takes its turn, None without two.

    Parameters
    ----------
    values : (k, m) array
        In the order of recording.
    least : float
        Shortest leap.
    fewest : int
        Number of values that leap together, in most leaps.
    period : float
        By which values wrap.

    Examples
    --------
    >>> line = 0.001 * np.arange(100.0)
    >>> turn_of(np.column_stack([line, line + 1.0]).reshape(-1, 1), 0.05)
    99
    >>> turn_of(line[:, None], 0.05) is None
    True
    """
    if len(values) < 4:
        return None
    step = _apart(values, 1, period)
    size = np.abs(step).max(axis=1)
    # of the same publisher, whatever the turns are
    near = [np.abs(_apart(values, lag, period)).max(axis=1)[:len(values) - 3]
            for lag in (1, 2, 3)]
    leaps = np.flatnonzero(size > max(least, USUAL * float(np.median(np.min(near, axis=0)))))
    if len(leaps) < FEWEST:
        return None
    taken = step[leaps]
    if np.median(np.sum(np.abs(taken) > least, axis=1)) < fewest:
        return None
    back = np.abs(_wrapped(taken[1:] + taken[:-1], period)).max(axis=1) < 0.3 * size[leaps[:-1]]
    # samples of every second line, between the first leap and the last one
    length = np.diff(leaps)
    other = float(np.sum(length[::2])) / float(np.sum(length))
    if np.mean(back) < OPPOSITE or min(other, 1.0 - other) < RARER:
        return None
    return int(leaps[len(leaps) // 2])


def _apart(values: Array, lag: int, period: float) -> Array:
    """Return the changes over `lag` samples, the shortest ones of values that wrap."""
    return _wrapped(values[lag:] - values[:-lag], period)


def _wrapped(change: Array, period: float) -> Array:
    return change if np.isinf(period) else change - period * np.rint(change / period)


def _text(bag: Bag, topic: str, stamp: Array, angles: Array, k: int) -> str:
    """Return the reason, with the messages at both sides of sample `k`, and the remedy."""
    joint = int(np.argmax(np.abs(angles[k + 1] - angles[k])))
    one, other = (f'stamp {1e-9 * int(stamp[i]):.3f} s, angle {float(angles[i, joint]):.3f} rad'
                  for i in (k, k + 1))
    count = len(bag.qos(topic))
    stated = f' ({count} are stated)' if count > 1 else ''
    return (f'bag {bag}: two publishers{stated} on {topic} take turns with other angles of the '
            f'same joints, such as {one}, then {other}: two robots, or a simulation beside one. A '
            'bag does not store which of them sent a message: stop one of them, or give it a '
            'namespace (--ros-args -r __ns:=/NAME), and record again')
