# SPDX-License-Identifier: Apache-2.0
"""States of the nodes over time, from their diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from c3p_bags.runs.run_log import Health

LEVELS = ('OK', 'WARN', 'ERROR', 'STALE')

# a node without a status for longer is stale, s; each publishes once a second
SILENCE = 3.0


class Span(NamedTuple):
    """An interval in which a node's level and message did not change; times in s."""

    name: str
    level: int
    message: str
    begin: float
    end: float


def spans(diagnostics: Iterable[Health], end: float) -> tuple[Span, ...]:
    """
    Return the states of all nodes until the `end` [s] of the run, by name, then by time.

    A silence of more than 3 s is STALE.
    """
    of: dict[str, list[Health]] = {}
    for health in diagnostics:
        of.setdefault(health.name, []).append(health)
    found: list[Span] = []
    for name in sorted(of):
        found += _of_node(name, of[name], end)
    return tuple(found)


def _of_node(name: str, statuses: list[Health], end: float) -> list[Span]:
    found: list[Span] = []
    for health, after in zip(statuses, [*(h.time for h in statuses[1:]), end], strict=True):
        until = min(after, health.time + SILENCE)
        last = found[-1] if found else None
        if (last and (last.level, last.message) == (health.level, health.message)
                and last.end >= health.time):
            found[-1] = last._replace(end=until)
        else:
            found.append(Span(name, health.level, health.message, health.time, until))
        if after > until:
            found.append(Span(name, 3, f'silent for {after - health.time:.1f} s', until, after))
    return found


def complaints(states: Iterable[Span]) -> tuple[Span, ...]:
    """Return the states other than OK, in the order of time."""
    return tuple(sorted((s for s in states if s.level), key=lambda s: (s.begin, -s.level)))
