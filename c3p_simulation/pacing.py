# SPDX-License-Identifier: Apache-2.0
"""
When the next cycle of a simulated robot begins, and which stamp it has. Time comes from outside.

``strict`` follows the clock, as a robot does: a late cycle advances by all periods that passed,
and the watchdogs see the delay. ``wait`` follows the clock while the computer keeps up, and
otherwise waits: a cycle begins after the answer to the cycle before, so that the robot never runs
ahead of its controllers. Robot time then falls behind the clock, and catches up at 1.25 times the
pace at most.
"""

from __future__ import annotations

import math
from typing import Any

from c3p_ros.cycle import LatencyHistogram

STRICT, WAIT = 'strict', 'wait'

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
    Begins cycles at a pace, and waits for their answers where that is asked for.

    Parameters
    ----------
    period : float, s
        Of a cycle, in robot time.
    factor : float
        Robot time per real time.
    waits : bool
        ``wait``; else ``strict``.
    now : float, s
        Of a monotonic clock; the first cycle is due.

    Attributes
    ----------
    wall : float, s
        Of a cycle, in real time.
    waits : bool
        As given.
    deadline : float, s
        When the next cycle is due.
    cycles, overruns, answered : int
        Cycles begun, periods that have begun late, and answers, since `count_afresh`.
    latency, lateness : LatencyHistogram
        From a cycle to its answer, and from a deadline to its cycle, both by the monotonic clock.

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
        """Be due at `now`."""
        self._period, self.wall, self.waits = period, period / factor, waits
        self.deadline = self._schedule = self._begun = now
        # without a first answer there is no controller to wait for
        self._heard, self._newest = -math.inf, -1
        self._waiting, self._sent = False, dict[int, float]()
        self.count_afresh(now)

    def start(self, now: float) -> None:
        """Be due at `now`, s: what came before was no delay."""
        self.deadline = self._schedule = self._begun = now

    def count_afresh(self, now: float) -> None:
        """Begin the statistics again at `now`, s; what robot time is behind by then stays so."""
        self.latency, self.lateness = LatencyHistogram(), LatencyHistogram()
        self.overruns = self.answered = self.cycles = self._periods = 0
        self._since = self._until = now
        self._schedule = max(self._schedule, now)

    def left(self, now: float) -> float:
        """Return how long the next cycle has to wait at `now`, s; an answer may shorten it."""
        if self.waits and self._waiting and now - self._heard < PATIENCE:
            return max(self.deadline - now, self._begun + CYCLE_PATIENCE - now, 0.0)
        return max(self.deadline - now, 0.0)

    def periods(self, now: float) -> int:
        """Return how many periods a cycle at `now` moves on by, s; counts those that are late."""
        late = now - self.deadline
        self.lateness.add(late)
        missed = int(late / self.wall) if late > self.wall else 0
        self.overruns += missed
        if self.waits:
            self._schedule += self.wall
            self.deadline = max(self._schedule, now + CATCH_UP * self.wall)
            return 1
        self._schedule = self.deadline = self.deadline + (1 + missed) * self.wall
        # the rest is dropped: catching up with an hour would block the node
        return 1 + min(missed, int(LONGEST / self.wall))

    def sent(self, stamp: int, periods: int, now: float, answerable: bool = True) -> None:
        """
        Take note that a cycle has been sent.

        Parameters
        ----------
        stamp : int, ns
        periods : int
            By which it moved on.
        now : float, s
        answerable : bool
            There is a sample; one that was lost is not answered.
        """
        self._newest, self._begun, self._until = stamp, now, now
        self._waiting = answerable
        self.cycles += 1
        self._periods += periods
        self._sent[stamp] = now
        if len(self._sent) > 64:
            del self._sent[next(iter(self._sent))]

    def answer(self, stamp: int, now: float) -> bool:
        """Take the answer to the cycle with this stamp, ns; return whether it is the newest's."""
        sent = self._sent.pop(stamp, None)
        if sent is not None:
            self.answered += 1
            self.latency.add(now - sent)
        if stamp != self._newest:
            return False
        self._heard, self._waiting = now, False
        return True

    def lag(self, now: float) -> str:
        """Return how far robot time is behind at `now`, s, in words; empty while it keeps up."""
        behind = now - self._schedule if self.waits else 0.0
        return (f'{behind:.1f} s behind the clock: the computer is busy, and the robot waits for '
                'its controllers') if behind > BEHIND else ''

    @property
    def achieved(self) -> float:
        """Return robot time per real time since `count_afresh`; NaN before the first cycle."""
        real = self._until - self._since
        return self._period * self._periods / real if real > 0.0 else math.nan

    def metrics(self) -> dict[str, str | int]:
        """Return the figures for diagnostics."""
        shown = self.latency.metrics('latency')
        shown['late_p99_ms'] = f'{1e3 * self.lateness.quantile(0.99):.4f}'
        return {'cycles': self.cycles, 'answered': self.answered, 'overruns': self.overruns,
                'realtime_factor': f'{self.achieved:.4f}', **shown}


class Stamps:
    """
    Stamps that go on by whole periods, and with the system clock where they are to follow it.

    A system clock may be set: by an hour when a laptop finds its network, or by parts of a second.
    Stamps that merely counted on would be refused as stale or as ahead for ever.

    Parameters
    ----------
    period_ns : int, ns
    start : int, ns
        The stamp before the first.
    follows : bool
        The stamps are the system's time; else they are a clock of their own.

    Attributes
    ----------
    now : int, ns
        The newest stamp.
    resets : int
        How often it was set anew.

    Examples
    --------
    >>> stamps = Stamps(5_000_000, 0, follows=True)
    >>> stamps.advance(1, 5_100_000), stamps.advance(2, 17_000_000)
    (5000000, 15000000)
    >>> stamps.advance(1, 3_600_000_000_000), stamps.resets
    (3600000000000, 1)
    """

    def __init__(self, period_ns: int, start: int, follows: bool) -> None:
        """Stand at `start`."""
        self._period, self.now, self.follows, self.resets = period_ns, start, follows, 0
        self._most = round(1e9 * OFF) + 2 * period_ns

    def advance(self, periods: int, clock: int) -> int:
        """Go on by some periods and return the stamp, ns; `clock` is the system's time, ns."""
        self.now += periods * self._period
        if self.follows and abs(clock - self.now) > self._most:
            self.now, self.resets = clock, self.resets + 1
        return self.now


def pace_of_parameters(values: Any, now: float, clock: int) -> tuple[Pacing, Stamps]:
    """
    Return pace and stamps as the parameters of the simulation say.

    Parameters
    ----------
    values : namespace
        rate, realtime, realtime_factor, lockstep, publish_clock.
    now : float, s
        Of a monotonic clock.
    clock : int, ns
        The system's time.

    Raises
    ------
    ValueError
        What needs a clock of its own has none.
    """
    waits = values.realtime == WAIT and not values.lockstep
    real = values.realtime_factor == 1.0 and not values.lockstep
    if not values.publish_clock and (waits or not real):
        raise ValueError(f'simulation: realtime {values.realtime}, realtime_factor '
                         f'{values.realtime_factor:g}, lockstep {values.lockstep}: anything but '
                         'strict, 1 and false needs publish_clock: true, and use_sim_time in the '
                         'other nodes')
    # a clock that keeps pace with the system's begins with it: RViz need not follow /clock
    start = SIMULATED_START if values.publish_clock and not (waits and real) else clock
    return (Pacing(1.0 / values.rate, values.realtime_factor, waits, now),
            Stamps(round(1e9 / values.rate), start, follows=not values.publish_clock))
