# SPDX-License-Identifier: Apache-2.0
"""
Judge of the promises of safety.md on what is seen of a robot, in a bag or while it runs.

The predicates are those of the enumeration of all states. What is seen may begin in a drive, lack
messages, and have them in another order than they were sent in: the judge begins with the benefit
of the doubt, and gives the margins below.

Requests of services are not seen. A lock whose state is unknown, after a start of the mux, counts
as released when the mux states so (``twist_mux/locked``).
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from c3p_bags.promises.judged_parameters import JudgedParameters, MuxInputs, StopTimes
from c3p_bags.promises.promise_events import MASKED
from c3p_controller.motion_promises import CommandTimeout, GateOpens, TorqueLimits
from c3p_controller.stop_promises import (
    COMMAND,
    LOCK,
    MOTOR,
    PASSED,
    RELEASE,
    SPEED,
    START,
    TORQUE,
    LockMemory,
    LockStops,
    NoResume,
    Promise,
    SilenceCloses,
    StopEvent,
    UnknownCloses,
)

# a stop has at least half of the required deceleration, this long after its order at the latest,
# s (safety.md), and 0.5 s of patience before the brake
LEAST_EFFECT = 0.5
MARGIN = 1.2

# of a torque command that is late, and of a command in transit when a lock closed, s
GRACE = 0.1
MUX_GRACE = 0.2

# only time has passed
LOOK = 'look'

# kinds of events that each promise reads
READS = {
    TorqueLimits: (TORQUE, MOTOR), CommandTimeout: (PASSED, SPEED), GateOpens: (TORQUE, MOTOR),
    LockMemory: (LOCK, RELEASE, START), LockStops: (PASSED,), UnknownCloses: (PASSED,),
    SilenceCloses: (PASSED,), NoResume: (COMMAND, PASSED, LOCK, RELEASE, START, LOOK)}
OF_MUX = frozenset({COMMAND, PASSED, LOCK, RELEASE, START})


class BrokenPromise(NamedTuple):
    """
    A promise that was broken.

    Attributes
    ----------
    promise : str
        Its identity.
    time : float, s
        When it was seen first.
    evidence : str
    events : int
        Events that show it.
    """

    promise: str
    time: float
    evidence: str
    events: int = 1


class PromiseJudge:
    """
    Judge of one robot.

    Parameters
    ----------
    parameters : JudgedParameters
        What is None is not judged.
    begin : float, s
        Time from which the robot is seen.

    Attributes
    ----------
    broken : dict of str to BrokenPromise
        By the identity of the promise.
    """

    def __init__(self, parameters: JudgedParameters, begin: float) -> None:
        """Begin with the benefit of the doubt."""
        self.broken: dict[str, BrokenPromise] = {}
        self._readers: defaultdict[str, list[Promise]] = defaultdict(list)
        self._promises: list[Promise] = []
        self._seen: set[str] = set()
        self._locks: list[LockMemory] = []
        self._masked = False
        self._gate: GateOpens | None = None
        self._add(TorqueLimits())
        if parameters.times is not None:
            self._add_timeouts(parameters.times)
        if parameters.mux is not None:
            self._add_mux(parameters.mux, begin)

    def _add(self, promise: Promise) -> None:
        self._promises.append(promise)
        for kind in READS[type(promise)]:
            self._readers[kind].append(promise)

    def _add_timeouts(self, times: StopTimes) -> None:
        self._gate = GateOpens(times.command_timeout + GRACE)
        slowest = LEAST_EFFECT * times.stop_acceleration
        self._add(CommandTimeout(times.cmd_vel_timeout, slowest, MARGIN))
        self._add(self._gate)

    def _add_mux(self, mux: MuxInputs, begin: float) -> None:
        for given in (*mux.locks, *mux.enables):
            memory = LockMemory(given, mux.masked_by(given))
            memory.flags['unknown'] = False
            memory.moments['heard'] = begin
            self._locks.append(memory)
            self._add(memory)
        for memory in self._locks:
            self._add(LockStops(memory, MUX_GRACE))
            if memory.lock.timeout > 0.0:
                self._add(SilenceCloses(memory, MUX_GRACE))
            elif mux.suite:
                self._add(UnknownCloses(memory, MUX_GRACE))
        for source in mux.sources if mux.releases else ():
            above = [one.name for one in mux.sources if one.priority > source.priority]
            promise = NoResume(source, above, self._locks, MUX_GRACE)
            promise.flags['released'] = True
            self._add(promise)

    def judged(self) -> tuple[str, ...]:
        """Return the identities of the promises of which all that they need was seen."""
        return tuple(dict.fromkeys(
            one.identity for one in self._promises
            if one.identity and self._seen.issuperset({*one.needs} - {START})))

    def see(self, event: StopEvent) -> None:
        """Take an event; events come by time, as of `in_order`."""
        self._seen.add(event.kind)
        if event.kind == MASKED:
            self._take_masked(event)
            return
        if event.kind in OF_MUX:
            # a lock may have expired since the last event, until this one
            self._give(StopEvent(LOOK, event.at))
        if self._gate is not None and event.kind == TORQUE and not self._gate.flags['open']:
            self._open_gate(event.at)
        if (event.kind == MOTOR and self._gate is not None
                and self._gate.moments['received'] == -math.inf):
            # a gate is judged from the first torque on
            return
        self._give(event)

    def _open_gate(self, at: float) -> None:
        """Take a gate for open at the first torque: a bag may begin in a drive."""
        gate = self._gate
        if gate is not None and gate.moments['received'] == -math.inf:
            gate.flags['open'] = True
            gate.moments['received'] = at

    def _give(self, event: StopEvent) -> None:
        for promise in self._readers[event.kind]:
            if evidence := promise.see(event):
                name = promise.identity
                before = self.broken.get(name)
                self.broken[name] = (
                    BrokenPromise(name, event.at, evidence) if before is None
                    else before._replace(events=before.events + 1))

    def _take_masked(self, event: StopEvent) -> None:
        """
        Take the state of the mux: all sources are masked, or not.

        Masked without a lock that was pressed, or masked once more, is a start.
        """
        before = self._masked
        self._masked = bool(event.value)
        if not self._masked:
            self._give(StopEvent(RELEASE, event.at))
        elif before or not any('' in one.masks and one.closed(event.at) for one in self._locks):
            self._give(StopEvent(START, event.at, 'mux'))
            # it may not be a start: the mux states the same when enabling devices mask the rest
            for memory in self._locks:
                memory.moments['heard'] = event.at
