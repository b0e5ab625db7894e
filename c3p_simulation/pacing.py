# SPDX-License-Identifier: Apache-2.0
"""
Pace and stamps of the cycles of a simulated robot; times are arguments.

``strict`` follows the clock, as a robot does: a late cycle advances by all missed periods, and the
watchdogs see the delay. ``wait`` also waits for the answer to the previous cycle, so that robot
time never runs ahead of the controllers: on a busy computer it falls behind the clock, and catches
up at 1.25 times the pace at most.
"""

from __future__ import annotations

import math
from typing import Any

from c3p_ros.cycle import LatencyHistogram
from c3p_simulation import WAIT

# a clock of its own starts here, because a stamp of zero means "not set", ns
SIMULATED_START = 1_000_000_000

# a period may be shortened to this part while robot time is behind the clock
CATCH_UP = 0.8

# longest wait of one cycle for its answer, and the cost of a lost message, s
CYCLE_PATIENCE = 0.25

# silence after which cycles no longer wait, until the next answer, s: the controller has ended
# and the gate has to close
PATIENCE = 2.0

# delay that ``strict`` makes up for in one step, s of real time; more is dropped
LONGEST = 2.0

# delay of robot time behind the clock above which `lag` reports it, s
BEHIND = 1.0

# stamps that are further off the system clock than this and two periods are set anew, s
OFF = 0.05


class Pacing:
    """
    Schedule of cycles by the clock and, with `waits`, by their answers.

    Parameters
    ----------
    period : float, s
        Of a cycle, in robot time.
    factor : float
        Robot time per real time.
    waits : bool
        ``wait``, else ``strict``.
    now : float, s
        Monotonic time; the first cycle is due.

    Attributes
    ----------
    wall : float, s
        Of a cycle, in real time.
    waits : bool
        As given.
    deadline : float, s
        Due time of the next cycle.
    cycles, overruns, answered : int
        Cycles, late periods and answers since `count_afresh`.
    latency, lateness : LatencyHistogram
        From a cycle to its answer, and from a deadline to its cycle.

    Examples
    --------
    >>> pace = Pacing(0.005, 1.0, waits=True, now=0.0)
    >>> pace.periods(0.0), pace.sent(7, 1, 0.0), pace.answer(7, 0.001), round(pace.left(0.002), 6)
    (1, None, True, 0.003)
    >>> pace.periods(0.005), pace.sent(8, 1, 0.005), round(pace.left(0.1), 6)  # not answered yet
    (1, None, 0.155)
    >>> pace.answer(8, 0.1), pace.left(0.1), pace.periods(0.1), pace.overruns
    (True, 0.0, 1, 18)
    """

    def __init__(self, period: float, factor: float, waits: bool, now: float) -> None:
        """Set the first cycle due at `now`."""
        self._period = period
        self.wall = period / factor
        self.waits = waits
        self.deadline = self._schedule = self._begun = now
        # no controller to wait for before the first answer
        self._answered = -math.inf
        self._newest = -1
        self._waiting, self._sent = False, dict[int, float]()
        self.count_afresh(now)

    def start(self, now: float) -> None:
        """Set the next cycle due at `now`, s, and forget earlier delays."""
        self.deadline = self._schedule = self._begun = now

    def count_afresh(self, now: float) -> None:
        """Reset the statistics at `now`, s; the present lag of robot time stays."""
        self.latency, self.lateness = LatencyHistogram(), LatencyHistogram()
        self.overruns = self.answered = self.cycles = self._periods = 0
        self._since = self._until = now
        self._schedule = max(self._schedule, now)

    def left(self, now: float) -> float:
        """Return the waiting time of the next cycle at `now`, s; an answer may shorten it."""
        if self.waits and self._waiting and now - self._answered < PATIENCE:
            return max(self.deadline - now, self._begun + CYCLE_PATIENCE - now, 0.0)
        return max(self.deadline - now, 0.0)

    def periods(self, now: float) -> int:
        """Return the number of periods of a cycle at `now`, s; counts late ones."""
        late = now - self.deadline
        self.lateness.add(late)
        missed = int(late / self.wall) if late > self.wall else 0
        self.overruns += missed
        if self.waits:
            self._schedule += self.wall
            self.deadline = max(self._schedule, now + CATCH_UP * self.wall)
            return 1
        self._schedule = self.deadline = self.deadline + (1 + missed) * self.wall
        # longer delays are dropped: catching up with them would block the node
        return 1 + min(missed, int(LONGEST / self.wall))

    def sent(self, stamp: int, periods: int, now: float, answerable: bool = True) -> None:
        """
        Record a sent cycle.

        Parameters
        ----------
        stamp : int, ns
        periods : int
            Number of periods of the cycle.
        now : float, s
        answerable : bool
            False for a lost sample, which has no answer.
        """
        self._newest = stamp
        self._begun = now
        self._until = now
        self._waiting = answerable
        self.cycles += 1
        self._periods += periods
        self._sent[stamp] = now
        if len(self._sent) > 64:
            del self._sent[next(iter(self._sent))]

    def answer(self, stamp: int, now: float) -> bool:
        """Record the answer to the cycle with this stamp, ns; return True for the newest cycle."""
        sent = self._sent.pop(stamp, None)
        if sent is not None:
            self.answered += 1
            self.latency.add(now - sent)
        if stamp != self._newest:
            return False
        self._answered = now
        self._waiting = False
        return True

    def lag(self, now: float) -> str:
        """Return the text of the lag of robot time at `now`, s; empty while it keeps up."""
        behind = now - self._schedule if self.waits else 0.0
        return (f'{behind:.1f} s behind the clock: the computer is busy, and the robot waits for '
                'its controllers') if behind > BEHIND else ''

    @property
    def achieved(self) -> float:
        """Return robot time per real time since `count_afresh`; NaN before the first cycle."""
        real = self._until - self._since
        return self._period * self._periods / real if real > 0.0 else math.nan

    def metrics(self) -> dict[str, str | int]:
        """Return the metrics for diagnostics."""
        shown = self.latency.metrics('latency')
        shown['late_p99_ms'] = f'{1e3 * self.lateness.quantile(0.99):.4f}'
        return {'cycles': self.cycles, 'answered': self.answered, 'overruns': self.overruns,
                'realtime_factor': f'{self.achieved:.4f}', **shown}


class Stamps:
    """
    Stamps in steps of whole periods that follow the system clock or are simulated time.

    A system clock may be set, by hours or by milliseconds. Without following, stamps would then be
    rejected as stale or as ahead for ever.

    Parameters
    ----------
    period_ns : int, ns
    start : int, ns
        The stamp before the first.
    follows : bool
        Stamps follow the system clock; else they are simulated time.

    Attributes
    ----------
    now : int, ns
        The newest stamp.
    resets : int
        Number of jumps to the system clock.

    Examples
    --------
    >>> stamps = Stamps(5_000_000, 0, follows=True)
    >>> stamps.advance(1, 5_100_000), stamps.advance(2, 17_000_000)
    (5000000, 15000000)
    >>> stamps.advance(1, 3_600_000_000_000), stamps.resets
    (3600000000000, 1)
    """

    def __init__(self, period_ns: int, start: int, follows: bool) -> None:
        """Start at `start`."""
        self._period = period_ns
        self.now = start
        self.follows = follows
        self.resets = 0
        self._most = round(1e9 * OFF) + 2 * period_ns

    def advance(self, periods: int, clock: int) -> int:
        """Advance by `periods` and return the stamp, ns; `clock` is the system time, ns."""
        self.now += periods * self._period
        if self.follows and abs(clock - self.now) > self._most:
            self.now, self.resets = clock, self.resets + 1
        return self.now


def pace_of_parameters(values: Any, now: float, clock: int) -> tuple[Pacing, Stamps]:
    """
    Return pace and stamps from the parameters of the simulation.

    Parameters
    ----------
    values : namespace
        rate, realtime, realtime_factor, lockstep, publish_clock.
    now : float, s
        Monotonic time.
    clock : int, ns
        System time.

    Raises
    ------
    ValueError
        A setting needs ``publish_clock``.
    """
    waits = values.realtime == WAIT and not values.lockstep
    real = values.realtime_factor == 1.0 and not values.lockstep
    if not values.publish_clock and (waits or not real):
        raise ValueError(f'simulation: realtime {values.realtime}, realtime_factor '
                         f'{values.realtime_factor:g}, lockstep {values.lockstep}: values '
                         'other than strict, 1 and False need publish_clock: true, and '
                         'use_sim_time in the other nodes')
    # simulated time at real-time pace starts at system time: RViz need not follow /clock
    start = SIMULATED_START if values.publish_clock and not (waits and real) else clock
    return (Pacing(1.0 / values.rate, values.realtime_factor, waits, now),
            Stamps(round(1e9 / values.rate), start, follows=not values.publish_clock))
