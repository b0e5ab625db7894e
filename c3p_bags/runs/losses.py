# SPDX-License-Identifier: Apache-2.0
"""
Messages that are missing in a bag although another topic has their stamp.

All messages of a control cycle carry the stamp of its joint states. A stamp that only one topic
has belongs to a message that was published and not recorded: ``ros2 bag record`` drops messages
when its queue, 10 messages of a topic by default, overflows on a busy computer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_description.model import Array

# smallest fraction of common stamps, of the shorter topic, of topics of the same cycles; clocks of
# independent sources agree to the nanosecond by chance only
RELATED = 0.1

# an interval longer than this multiple of the usual one may lack samples
LONG = 1.5

# cause of losses between recorded messages
QUEUE = ('recorded with too small a queue? `ros2 bag record` keeps 10 messages of a topic by '
         'default')


class Losses(NamedTuple):
    """
    Missing messages of a topic.

    Attributes
    ----------
    lost : int
        Between the first and the last message of the topic.
    gaps : int
        Places at which these are missing.
    before, after : int
        Before the first message and after the last one: recorded later or ended earlier than the
        other topic.
    """

    lost: int = 0
    gaps: int = 0
    before: int = 0
    after: int = 0

    def text(self, what: str, evidence: str) -> str:
        """
        Return a sentence on the missing messages, empty without any between the others.

        Examples
        --------
        >>> Losses(3, 1).text('joint state', 'odometry').partition(':')[0]
        '3 joint states are not in the bag (odometry has their stamps), in 1 gap'
        """
        if not self.lost:
            return ''
        return (absent(self.lost, what, evidence)
                + f', in {self.gaps} gap{"" if self.gaps == 1 else "s"}: {QUEUE}')


def absent(count: int, what: str, evidence: str) -> str:
    """
    Return a sentence on `count` missing messages; `what` is one of them.

    Examples
    --------
    >>> absent(1, 'joint state', 'odometry')
    '1 joint state is not in the bag (odometry has its stamp)'
    """
    one = count == 1
    return (f'{count} {what}{"" if one else "s"} {"is" if one else "are"} not in the bag '
            f'({evidence} has {"its stamp" if one else "their stamps"})')


def related(a: Array, b: Array) -> bool:
    """Return whether topics with the stamps `a` and `b` are of the same cycles."""
    a = distinct(a)
    b = distinct(b)
    return int(within(a, b).sum()) > RELATED * min(len(a), len(b))


def distinct(stamps: Array) -> Array:
    """Return stamps in order, each once: themselves where they are, without a copy."""
    return stamps if (stamps[1:] > stamps[:-1]).all() else np.unique(stamps)


def within(stamps: Array, others: Array) -> Array:
    """
    Return which of `stamps` are among `others`, which are `distinct`.

    Examples
    --------
    >>> within(np.array([3, 4, 9]), np.array([3, 9])).tolist()
    [True, False, True]
    """
    if not len(others):
        return np.zeros(len(stamps), bool)
    return mapped.computed(lambda part: others[np.minimum(
        np.searchsorted(others, part), len(others) - 1)] == part, stamps)


def missing(stamps: Array, evidence: Array) -> Array:
    """Return the stamps in `evidence` without a message of the topic with `stamps`, in order."""
    evidence = distinct(evidence)
    return evidence[~within(evidence, distinct(stamps))]


def losses(stamps: Array, evidence: Array) -> Losses:
    """
    Return the losses of a topic with `stamps`, by those of another topic, both in ns.

    Topics of unrelated sources have no losses.

    Examples
    --------
    >>> losses(np.array([3, 4, 7, 9]), np.array([1, 3, 4, 5, 6, 8, 9, 10]))
    Losses(lost=3, gaps=2, before=1, after=1)
    """
    if not len(stamps) or not len(evidence) or not related(stamps, evidence):
        return Losses()
    lost = missing(stamps, evidence)
    present = distinct(stamps)
    # number of recorded messages before each missing one: the same within a gap
    place = np.searchsorted(present, lost)
    inside = place[(place > 0) & (place < len(present))]
    return Losses(len(inside), len(np.unique(inside)), int(np.sum(place == 0)),
                  int(np.sum(place == len(present))))


def usual_step(stamps: Array) -> float:
    """
    Return the median time between samples in the unit of `stamps`; 0 without two of them.

    Examples
    --------
    >>> usual_step(np.array([0, 5, 10, 30, 30, 2]))
    5.0
    """
    step = steps(stamps)
    forward = step[mapped.where(step > 0)]
    return float(np.median(forward)) if len(forward) else 0.0


def steps(stamps: Array) -> Array:
    """Return the times (k − 1,) between `stamps` (k,)."""
    return mapped.computed(lambda before, after: after - before, stamps[:-1], stamps[1:])


def gaps(stamps: Array, evidence: Array) -> Array:
    """
    Return for each of `stamps` whether samples may be missing before it.

    Either the other topic has stamps in `evidence` that are missing, or the time since the sample
    before is longer than usual, and both may be missing.

    Examples
    --------
    >>> gaps(np.array([0, 5, 10, 15, 30, 35]), np.array([0, 5, 7, 10, 15])).tolist()
    [False, False, True, False, True, False]
    """
    step = steps(stamps)
    known = np.searchsorted(
        missing(stamps, evidence) if related(stamps, evidence) else np.zeros(0), stamps)
    # a stamp that goes back begins a new time line, which no sample precedes
    return np.append(False, (step > LONG * usual_step(stamps))
                     | ((step > 0) & (np.diff(known) > 0)))


def last_rows(stamps: Array, recorded: Array) -> Array:
    """Return for each of `stamps` where `recorded` has it last, -1 where it does not."""
    order = np.argsort(recorded, kind='stable')
    place = np.searchsorted(recorded[order], stamps, side='right') - 1
    found = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (recorded[found] == stamps), found, -1)
