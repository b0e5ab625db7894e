# SPDX-License-Identifier: Apache-2.0
"""States of the nodes over time, from their diagnostics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from c3p_bags.runs.run_log import Health
from c3p_ros.fault_codes.code import FAULT_CODES

LEVELS = ('OK', 'WARN', 'ERROR', 'STALE')

# a node without a status for longer is stale, s; each publishes once a second
SILENCE = 3.0

# a warning that begins and ends so soon after the first status of a node, s, is part of its start:
# the lock until a zero command or silence, the brakes until the first wheel command
START_BEGINS = 1.0
START = 5.0

# the pace of a run in real time differs from 1 by less
REAL_TIME = 1.1


class Span(NamedTuple):
    """
    An interval in which a node's level and message did not change; times in s.

    `codes` are its fault codes, empty in a bag of an older version.
    """

    name: str
    level: int
    message: str
    begin: float
    end: float
    codes: str = ''


def spans(diagnostics: Iterable[Health], end: float, pace: float = 1.0) -> tuple[Span, ...]:
    """
    Return the states of all nodes until the `end` [s] of the run, by name, then by time.

    A silence of more than 3 s is STALE, unless `pace`, robot time per real time, is above 1: nodes
    publish once a second of real time, and the pace of a simulation varies.
    """
    of: dict[str, list[Health]] = {}
    for health in diagnostics:
        of.setdefault(health.name, []).append(health)
    found: list[Span] = []
    for name in sorted(of):
        found += _of_node(name, of[name], end, SILENCE if pace <= REAL_TIME else math.inf)
    return tuple(found)


def _of_node(name: str, statuses: list[Health], end: float, silence: float) -> list[Span]:
    found: list[Span] = []
    for health, after in zip(statuses, [*(h.time for h in statuses[1:]), end], strict=True):
        until = min(after, health.time + silence)
        last = found[-1] if found else None
        codes = health.values.get(FAULT_CODES, '')
        if (last and (last.level, last.message) == (health.level, health.message)
                and last.end >= health.time):
            found[-1] = last._replace(end=until)
        else:
            found.append(Span(name, health.level, health.message, health.time, until,
                              codes))
        if after > until:
            found.append(Span(name, 3, f'silent for {after - health.time:.1f} s', until, after))
    return found


def complaints(states: Iterable[Span]) -> tuple[Span, ...]:
    """Return the states other than OK, in the order of time."""
    return tuple(sorted((s for s in states if s.level), key=lambda s: (s.begin, -s.level)))


def while_starting(states: Iterable[Span], moves: float) -> frozenset[Span]:
    """
    Return the warnings of the start: from the first second of a node on, OK again in 5 s.

    They end before the robot `moves` first, s. A bag that begins during a drive has none.
    """
    of: dict[str, list[Span]] = {}
    for state in states:
        of.setdefault(state.name, []).append(state)
    return frozenset(
        state for mine in of.values() for state, after in pairwise(mine)
        if state.level == 1 and after.level == 0 and state.begin - mine[0].begin <= START_BEGINS
        and state.end <= min(mine[0].begin + START, moves))
