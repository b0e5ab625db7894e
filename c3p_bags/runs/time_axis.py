# SPDX-License-Identifier: Apache-2.0
"""Time axis of a run: seconds since the first joint states, by stamps, without steps of clocks."""

from __future__ import annotations

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.clock_steps import ClockStep, StampSteps, TimeLines, find_steps
from c3p_bags.runs.columns import Column
from c3p_description.model import Array


class TimeAxis:
    """
    Axis of the joint states of a run.

    Parameters
    ----------
    joints : Column
        Of joint states: steering, its rate, wheel angle, its rate, torque.

    Attributes
    ----------
    start : int
        Stamp of the first joint states, ns.
    steps : tuple of ClockStep
        Of the clock by which joint states are stamped.
    unstamped : int
        Joint states without a stamp of their own: not set, or the same for all.
    """

    def __init__(self, joints: Column) -> None:
        """Find the steps of both clocks."""
        stamp, self.unstamped = _stamps(joints)
        # what else carries such stamps has them from the joint states
        self._stamped = self.unstamped < len(stamp) or not joints.stamp.any()
        self.start = int(stamp[0])
        found = find_steps(stamp, *joints.values[2:4])
        self._stamps = TimeLines(joints.place, stamp, found)
        # a recorder on the same computer steps with it
        together = _common(joints.recorded, found)
        self._recordings = TimeLines(joints.place, joints.recorded, together)
        self.origin = int(joints.recorded[0])
        self._recorded = self._recordings.even
        self._on_recording = mapped.computed(self._arrived, self._recorded)
        self._on_stamps = mapped.computed(lambda part: (part - self.start) * 1e-9,
                                          self._stamps.even)
        self.steps = tuple(
            ClockStep(float(self._on_stamps[index]), 1e-9 * float(by), bool(certain))
            for index, by, certain in zip(*found, strict=True))

    def _arrived(self, recorded: Array) -> Array:
        return (recorded - self.origin) * 1e-9

    def arrival(self, column: Column) -> Array:
        """Return when messages were recorded since the first joint states, s."""
        return mapped.computed(self._arrived,
                               self._recordings.corrected(column.place, column.recorded))

    def place(self, column: Column, stamped: bool = True) -> Array:
        """Return the times of messages, s: their stamps, else the times of recording."""
        # the robot's clock may be simulated: interpolate between the joint states recorded around
        # a message, and extrapolate at the pace of the recording
        def time(recorded: Array, stamp: Array, known: Array) -> Array:
            at = np.clip(recorded, self._recorded[0], self._recorded[-1])
            arrived = (recorded - at) * 1e-9 + np.interp(
                (at - self.origin) * 1e-9, self._on_recording, self._on_stamps)
            return np.where(known, (stamp - self.start) * 1e-9, arrived)

        recorded = self._recordings.corrected(column.place, column.recorded)
        stamp = self._stamps.corrected(column.place, column.stamp)
        known = (column.stamp > 0) & (stamped and self._stamped)
        found = mapped.computed(time, recorded, stamp, known)
        mapped.give_back(column.recorded, column.stamp, self._recorded, self._on_recording,
                         self._on_stamps)
        return found


def _stamps(joints: Column) -> tuple[Array, int]:
    """Return the stamps of joint states, and how many were replaced by times of recording."""
    known = joints.stamp > 0
    count = int(np.sum(known))
    # a driver without a clock, or with one that stands
    if not count or (count > 1 and not np.ptp(joints.stamp[known]) and np.ptp(joints.recorded)):
        return joints.recorded, len(known)
    if count == len(known):
        return joints.stamp, 0
    # the clock of the stamps is ahead of that of the recorder as in the messages beside them
    ahead = (joints.stamp - joints.recorded)[known]
    place = np.arange(len(known))
    found = joints.recorded + ahead[0] + np.rint(np.interp(
        place, place[known], (ahead - ahead[0]).astype(float))).astype(np.int64)
    return np.where(known, joints.stamp, found), len(known) - count


def _common(recorded: Array, stamped: StampSteps) -> StampSteps:
    """Return the steps of the recorder's clock: its own, and those that it shares with stamps."""
    own = find_steps(recorded)
    step = np.diff(recorded)
    shared = stamped.sample[np.abs(step[stamped.sample - 1] - stamped.by)
                           < np.abs(step[stamped.sample - 1])]
    index = np.union1d(own.sample, shared).astype(int)
    forward = step[step > 0]
    usual = int(np.median(forward)) if len(forward) else 0
    return StampSteps(index, step[index - 1] - usual, np.ones(len(index), bool))
