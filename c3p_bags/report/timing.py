# SPDX-License-Identifier: Apache-2.0
"""Timing of the control loop: cycles, gaps, and latency of each wheel command."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.losses import (
    LONG,
    Losses,
    distinct,
    losses,
    related,
    steps,
    usual_step,
    within,
)
from c3p_bags.runs.metrics import latency as reported_latency
from c3p_bags.runs.run_log import RunLog
from c3p_description.model import Array

# fraction of commands recorded whole periods after their sample, mostly none, above which the
# clock of the recorder is simulated: it does not advance within a cycle. The least deviation of a
# real clock, s
INSTANT = 0.9
WHOLE = 1e-6


class Timing(NamedTuple):
    """
    Timing of a control loop.

    Attributes
    ----------
    period : float, s
        Usual time between two joint states, by their stamps.
    interval : (k − 1,) array, s
        Each of these times.
    unrecorded : Losses
        Joint states that are not in the bag although odometry has their stamps: the recorder lost
        them, not the loop.
    unanswered : Losses
        Odometry that is not in the bag although joint states have its stamps: the recorder lost
        it, or the node rejected the joint states.
    lost : int
        Samples missing in the gaps of joint states, odometry and wheel commands together.
    longest_gap, longest_gap_time : float, s
        Of the same.
    cycles, answered : int
        Joint states between the first and the last wheel command; those with a command of their
        stamp.
    time, latency : (m,) arrays, s
        Of the answered ones: from the recording of the joint states to that of the command; empty
        for a simulated clock, which does not advance within a cycle.
    late : int
        Commands later than one period.
    reported : dict
        Latency [ms], cycles and overruns in the last report of the cycle's owner.
    """

    period: float
    interval: Array
    unrecorded: Losses
    unanswered: Losses
    lost: int
    longest_gap: float
    longest_gap_time: float
    cycles: int
    answered: int
    time: Array
    latency: Array
    late: int
    reported: dict[str, Any]


def timing(log: RunLog) -> Timing:
    """Return the timing of the control loop in a run."""
    time = log.joints.time
    interval = steps(time)
    period = usual_step(time)
    known = _cycles(log)
    step = steps(known)
    gaps = step[step > LONG * period]
    worst = int(np.argmax(step)) if len(step) else 0
    cycles, answered, at, latency = _answers(log, period)
    unrecorded, unanswered = recording_losses(log)
    return Timing(
        period, interval, unrecorded, unanswered,
        int(np.sum(np.rint(gaps / period) - 1)) if period else 0,
        float(step[worst]) if len(step) else 0.0, float(known[worst]), cycles, answered, at,
        latency, int(np.sum(latency > period)), reported_latency(log))


def recording_losses(log: RunLog) -> tuple[Losses, Losses]:
    """Return the losses of joint states by odometry, and of odometry by joint states."""
    if log.odom is None:
        return Losses(), Losses()
    joints = _stamps(log.joints.time)
    odom = _stamps(log.odom.time)
    return losses(joints, odom), losses(odom, joints)


def _stamps(time: Array) -> Array:
    """Return times [s] as whole nanoseconds, as they were stamped."""
    return mapped.computed(lambda part: np.rint(1e9 * part).astype(np.int64), time)


def _cycles(log: RunLog) -> Array:
    """Return the times of all cycles of which any message was recorded, s."""
    joints = log.joints.time
    known = distinct(_stamps(joints))
    begin = joints.min()
    end = joints.max()
    absent = [np.zeros(0)]
    for series in (log.odom, log.wheel_effort):
        if series is not None and len(series.time) and related(known, _stamps(series.time)):
            # before the first joint states and after the last ones, only the recording differs
            absent.append(series.time[~within(_stamps(series.time), known)
                                      & (series.time > begin) & (series.time < end)])
    found = np.unique(np.concatenate(absent))
    return np.sort(np.append(joints, found)) if len(found) else joints


def _answers(log: RunLog, period: float) -> tuple[int, int, Array, Array]:
    none = np.zeros(0)
    if log.wheel_effort is None or not len(log.wheel_effort.time):
        return 0, 0, none, none
    time = log.joints.time
    sent = log.wheel_effort.time
    during = (time >= sent.min()) & (time <= sent.max())
    order = np.argsort(time, kind='stable') if (time[1:] < time[:-1]).any() else None

    def before(part: Array) -> Array:
        place = np.minimum(np.searchsorted(time, part, sorter=order), len(time) - 1)
        return place if order is None else order[place]

    cycle = mapped.computed(before, sent)
    # stamps are compared as the same whole nanoseconds
    same = mapped.computed(lambda k, part: np.abs(time[k] - part) < 0.5e-9, cycle, sent)
    some = mapped.where(same)
    sent = sent[some]
    cycle = cycle[some]
    answered = len(distinct(cycle))
    if not {'joint_states', 'wheel_effort'} <= set(log.recorded):
        return int(during.sum()), answered, none, none
    took = mapped.computed(lambda at, k: at - log.recorded['joint_states'][k],
                           log.recorded['wheel_effort'][some], cycle)
    # a single sample has no period
    step = period or 1.0
    whole = mapped.computed(lambda part: np.abs(part - step * np.rint(part / step)) < WHOLE, took)
    if not len(took) or np.mean(whole) > INSTANT:
        return int(during.sum()), answered, none, none
    # two topics are recorded in the order of arrival: some commands precede their sample
    return (int(during.sum()), answered, mapped.kept(sent),
            mapped.computed(lambda part: np.maximum(part, 0.0), took))
