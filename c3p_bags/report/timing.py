# SPDX-License-Identifier: Apache-2.0
"""Whether the loop kept time: cycles, gaps, and how long each wheel command took."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.metrics import latency as told_latency
from c3p_bags.runs.run_log import RunLog
from c3p_description.model import Array

# a pause between two samples that is so many times the usual one is a lost sample
LOST = 1.5

# part of all commands that the recorder may have in the instant of their sample before its clock
# is known to stand still within a cycle
INSTANT = 0.9


class Timing(NamedTuple):
    """
    How the control loop kept time.

    Attributes
    ----------
    period : float, s
        Usual time between two joint states, by their stamps.
    interval : (k − 1,) array, s
        Each of these times.
    lost : int
        Samples that are missing in the gaps.
    longest_gap, longest_gap_time : float, s
    asked, answered : int
        Joint states between the first and the last wheel command; those with a command of their
        stamp.
    time, latency : (m,) arrays, s
        Of the answered ones: from joint states to wheel command, as the recorder had them; empty
        where its clock is simulated, and stands still meanwhile.
    late : int
        Commands that came later than one period.
    told : dict
        Latency [ms], cycles and overruns that the owner of the cycle reported last.
    """

    period: float
    interval: Array
    lost: int
    longest_gap: float
    longest_gap_time: float
    asked: int
    answered: int
    time: Array
    latency: Array
    late: int
    told: dict[str, Any]


def timing(log: RunLog) -> Timing:
    """Return how the loop of a run kept time."""
    time = log.joints.time
    interval = np.diff(time)
    forward = interval[interval > 0.0]
    period = float(np.median(forward)) if len(forward) else 0.0
    gaps = interval[interval > LOST * period]
    worst = int(np.argmax(interval)) if len(interval) else 0
    asked, answered, at, latency = _answers(log)
    return Timing(
        period, interval, int(np.sum(np.rint(gaps / period) - 1)) if period else 0,
        float(interval[worst]) if len(interval) else 0.0, float(time[worst]), asked, answered, at,
        latency, int(np.sum(latency > period)), told_latency(log))


def _answers(log: RunLog) -> tuple[int, int, Array, Array]:
    none = np.zeros(0)
    if log.wheel_effort is None or not len(log.wheel_effort.time):
        return 0, 0, none, none
    time, sent = log.joints.time, log.wheel_effort.time
    during = (time >= sent.min()) & (time <= sent.max())
    order = np.argsort(time, kind='stable')
    place = np.minimum(np.searchsorted(time, sent, sorter=order), len(time) - 1)
    cycle = order[place]
    # stamps are compared as the same whole nanoseconds
    same = np.abs(time[cycle] - sent) < 0.5e-9
    answered = len(np.unique(cycle[same]))
    if not {'joint_states', 'wheel_effort'} <= set(log.recorded):
        return int(during.sum()), answered, none, none
    took = log.recorded['wheel_effort'][same] - log.recorded['joint_states'][cycle[same]]
    if not len(took) or np.mean(took == 0.0) > INSTANT:
        return int(during.sum()), answered, none, none
    # written down in the order of arrival from two topics, some answers come before their sample
    return int(during.sum()), answered, sent[same], np.maximum(took, 0.0)
