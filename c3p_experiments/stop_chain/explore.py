# SPDX-License-Identifier: Apache-2.0
"""
Enumeration of all reachable states of a machine, breadth first, against promises.

The machine steps objects of the suite. Its state is what they remember, with ages instead of
times, each up to where it makes no difference, and what the promises remember. Events fall on a
grid of time; every order of them is tried, so that the first broken promise has the shortest way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

from c3p_controller.stop_promises import Promise, StopEvent


class Machine(Protocol):
    """Objects of the suite that an event steps; `now` is 0 after `restore`."""

    events: Sequence[str]
    now: float

    def begin(self) -> Sequence[StopEvent]:
        """Start anew; return what is seen."""

    def state(self) -> Hashable:
        """Return what is remembered, relative to `now`."""

    def restore(self, state: Any) -> None:
        """Become what `state` describes."""

    def step(self, event: str) -> Sequence[StopEvent]:
        """Let `event` happen; return what is seen."""


class Counterexample(NamedTuple):
    """A way to a broken promise: its identity, the evidence, and the events."""

    promise: str
    evidence: str
    events: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as lines."""
        return f'{self.promise}: {self.evidence}\n  ' + '\n  '.join(self.events)


class Exploration(NamedTuple):
    """
    Result of an enumeration.

    Attributes
    ----------
    states, pairs : int
        Distinct states, and pairs of a state and an event that were stepped.
    depth : int
        Events of the longest of the shortest ways.
    complete : bool
        Every reachable state was stepped by every event.
    counterexample : Counterexample or None
        The shortest, at which the enumeration ends.
    """

    states: int
    pairs: int
    depth: int
    complete: bool
    counterexample: Counterexample | None


def explore(machine: Machine, promises: Sequence[Promise], most_pairs: int,
            progress: Callable[[int, int, int], object] = lambda depth, states, pairs: None
            ) -> Exploration:
    """
    Step every state of `machine` by every event against `promises`, at most `most_pairs` times.

    `progress` receives depth, states and pairs of each completed depth.
    """
    for event in machine.begin():
        for promise in promises:
            promise.see(event)

    remembering = [promise for promise in promises if promise.moments or promise.flags]

    def snapshot() -> tuple[Hashable, ...]:
        now = machine.now
        return (machine.state(), *[promise.state(now) for promise in remembering])

    first = snapshot()
    # the number of each state, and by which event from which one it was reached first
    number: dict[Hashable, int] = {first: 0}
    origin: list[tuple[int, int]] = [(-1, -1)]
    layer: list[tuple[Any, ...]] = [first]
    pairs = 0
    depth = 0
    while layer:
        following: list[tuple[Any, ...]] = []
        for state in layer:
            if pairs >= most_pairs:
                return Exploration(len(number), pairs, depth, False, None)
            for index, name in enumerate(machine.events):
                machine.restore(state[0])
                for promise, remembered in zip(remembering, state[1:], strict=True):
                    promise.restore(remembered, machine.now)
                pairs += 1
                for event in machine.step(name):
                    for promise in promises:
                        if evidence := promise.see(event):
                            way = (*_way(machine, origin, number[state]), name)
                            return Exploration(len(number), pairs, depth + 1, False,
                                               Counterexample(promise.identity, evidence, way))
                reached = snapshot()
                if reached not in number:
                    number[reached] = len(origin)
                    origin.append((number[state], index))
                    following.append(reached)
        if following:
            depth += 1
        layer = following
        progress(depth, len(number), pairs)
    return Exploration(len(number), pairs, depth, True, None)


def _way(machine: Machine, origin: Sequence[tuple[int, int]], state: int) -> tuple[str, ...]:
    """Return the events from the start to the state with this number."""
    names = []
    while state:
        state, index = origin[state]
        names.append(machine.events[index])
    return tuple(reversed(names))
