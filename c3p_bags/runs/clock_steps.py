# SPDX-License-Identifier: Apache-2.0
"""
StampSteps of a clock that was set while a bag was recorded.

A step divides the stamps into lines of time. Every line is shifted so that it follows the one
before by a usual period:

    t' = t − Σ b_j,        over the steps j before the message, in the order of recording

so that no duration spans a step, and nothing that is computed grows with its size. A step back is
a step of the clock if at least two samples are older than the one before. A step forward is one
if the positions contradict the time that it claims, or if it is longer than `PAUSE`: then nothing
may have been recorded instead, which has the same consequence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array

# time without any sample that ends a line of time, ns: no computer stalls for so long
PAUSE = 60_000_000_000

# a step forward is looked at from this multiple of the usual period
USUAL = 10.0

# a wheel that would have turned by MOVED in the claimed time, and has turned by less than the
# fraction STOOD of it, contradicts the time; rad
MOVED = 0.5
STOOD = 0.2

# messages beside a step among which some may be recorded on its other side: of all topics, and of
# one
NEAR = 1000
BESIDE = 3


class ClockStep(NamedTuple):
    """
    A step of the clock: when on the axis of the run, s; by how much, s.

    `certain` is False for a step forward that may be a time without recording.
    """

    time: float
    by: float
    certain: bool

    def text(self) -> str:
        """
        Return a sentence.

        Examples
        --------
        >>> ClockStep(2.5, -3600.0, True).text()
        'the clock was set by -3600.000 s at 2.50 s'
        """
        doubt = '' if self.certain else ', or nothing was recorded for this time'
        return f'the clock was set by {self.by:+.3f} s at {self.time:.2f} s{doubt}'


class StampSteps(NamedTuple):
    """StampSteps of times (k,): before which samples, by how much [ns], and which are certain."""

    sample: Array
    by: Array
    certain: Array


def _usual(step: Array) -> float:
    forward = step[step > 0]
    return float(np.median(forward)) if len(forward) else 0.0


def find_steps(time: Array, angle: Array | None = None, rate: Array | None = None) -> StampSteps:
    """
    Return the steps of a clock in `time` (k,) [ns], in the order of recording.

    Wheel angles and rates (k, n) [rad and rad/s] decide on steps forward; without them only those
    longer than `PAUSE` count.

    Examples
    --------
    >>> time = 5 * np.arange(10)
    >>> find_steps(np.append(time, time + 20)).by.tolist()
    [-30]
    """
    step = np.diff(time)
    usual = _usual(step)
    # a single late message is not a step
    back = np.append((step[:-1] < 0) & (time[2:] <= time[:-2]), False)[:len(step)]
    long = (step > max(USUAL * usual, 0.0)) & (step > 0)
    certain = np.zeros(len(step), bool)
    if angle is not None and rate is not None:
        some = np.flatnonzero(long)
        speed = 0.5 * (_rate_at(some, -1, time, angle, rate)
                       + _rate_at(some + 1, 1, time, angle, rate))
        claimed = np.abs(speed) * (1e-9 * step[some])[:, None]
        turned = np.abs(angle[some + 1] - angle[some])
        # the wheel that would have turned most
        most = np.argmax(claimed, axis=1)
        rows = np.arange(len(some))
        certain[some] = (claimed[rows, most] > MOVED) & (
            turned[rows, most] < STOOD * claimed[rows, most])
    index = np.flatnonzero(back | certain | (step > PAUSE))
    return StampSteps(index + 1, step[index] - int(usual), (back | certain)[index])


def _rate_at(sample: Array, way: int, time: Array, angle: Array, rate: Array) -> Array:
    """Return rates at samples; those that are not known from the neighbour before or after."""
    other = np.clip(sample + way, 0, len(time) - 1)
    passed = 1e-9 * (time[sample] - time[other])
    passed = np.where(passed == 0, np.inf, passed)[:, None]
    known = rate[sample]
    return np.where(np.isfinite(known), known, (angle[sample] - angle[other]) / passed)


class TimeLines:
    """
    The lines of time of one clock, by the joint states of a run.

    Parameters
    ----------
    place : (k,) int array
        Where each joint state is in the order of recording, rising.
    time : (k,) int array, ns
    steps : StampSteps
        Of `time`.
    """

    def __init__(self, place: Array, time: Array, steps: StampSteps) -> None:
        """Compute the times without steps."""
        self._place = place
        self._begin = place[steps.sample]
        self._by = steps.by
        shift = np.zeros(len(time), np.int64)
        np.add.at(shift, steps.sample, steps.by)
        self.even = time - np.cumsum(shift) if len(steps.sample) else time

    def corrected(self, place: Array, time: Array) -> Array:
        """
        Return times (m,) [ns] of another topic, at `place` in the order of recording, evenly.

        Times that do not step where the joint states do are of another clock, and stay.
        """
        if not len(self._begin) or not len(time):
            return time
        expected = np.interp(place, self._place, self.even)
        shift = np.concatenate([[0], np.cumsum(np.where(
            self._affected(place, time, expected), self._by, 0))])
        line = np.searchsorted(self._begin, place, side='right')
        found = time - shift[line]
        # a message of the cycle before the step may be recorded after it
        for neighbour in (line - 1, line + 1):
            there = np.clip(neighbour, 0, len(self._begin))
            edge = self._begin[np.clip(np.minimum(line, there), 0, len(self._begin) - 1)]
            other = time - shift[there]
            closer = (np.abs(place - edge) < NEAR) & (
                np.abs(other - expected) < np.abs(found - expected))
            found = np.where(closer, other, found)
        return found

    def _affected(self, place: Array, time: Array, expected: Array) -> Array:
        """Return at which steps the times of a topic step as well."""
        first = np.searchsorted(place, self._begin)
        inside = (first > 0) & (first < len(place))
        # not the nearest ones, which may be on the other side
        after = np.clip(first + BESIDE, 0, len(place) - 1)
        before = np.clip(first - 1 - BESIDE, 0, len(place) - 1)
        passed = expected[after] - expected[before]
        step = (time[after] - time[before]).astype(float)
        return ~inside | (np.abs(step - self._by - passed) < np.abs(step - passed))
