# SPDX-License-Identifier: Apache-2.0
"""
Odometry and slip of a recorded run from its joint states alone: evidence, and slip events.

A robot reports slip twenty times a second, and only where one wheel explains the measurements; a
robot without the suite reports nothing. The odometry is therefore recomputed at the full rate of
the joint states, in the same way for every bag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.run_log import Joints, Motion, Slip
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.fault_report import KINDS
from c3p_kinematics.joint_times import TimesReport
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.slip import SlipSettings, measured_rows, thresholds


class SlipReplay(NamedTuple):
    """
    Slip evidence of the wheels, sample by sample.

    Attributes
    ----------
    time : (k,) array, s
    statistic : (k,) array
        χ² of the filtered residuals.
    threshold : float
        Limit above which it counts as slip.
    slipping : (k,) bool array
        The alarm, with persistence at its begin and end.
    suspect : (k,) int array
        The wheel; −1 without an alarm, or where no single wheel explains the residuals.
    without : (k, n) array
        χ² without a wheel: the smaller, the likelier this wheel slips.
    several : float
        Limit of the smallest of these above which more than one wheel slips.
    slip : (k, n, 2) array, m/s
        Velocity of each contact point over the floor [along, across] relative to the trusted
        wheels: the residual of ``wheel_slip``. During an alarm the suspect is not trusted.
    path : (k, n) array, m
        Path of each contact point over the floor since the sample before, by its angles: the rates
        of a wheel that grips again are late.
    kinds : (k, n, 12) array
        Probability of each kind of fault (`c3p_kinematics.fault_report.KINDS`) of each caster;
        zero without an alarm of the fault monitor.
    time_constant : float, s
        Of the low-pass over the residuals: samples so far apart are independent.
    times : TimesReport or None
        Times of the joint samples, None where they are taken as of one instant, or without
        enough motion.
    """

    time: Array
    statistic: Array
    threshold: float
    slipping: Array
    suspect: Array
    without: Array
    several: float
    slip: Array
    path: Array
    kinds: Array | None = None
    time_constant: float = SlipSettings.time_constant
    times: TimesReport | None = None


def replay(robot: CasterRobot, joints: Joints, settings: OdometrySettings | None = None,
           progress: Callable[[float], object] = lambda part: None) -> tuple[Motion, SlipReplay]:
    """
    Step an `Odometry` of `robot` through the states of `joints`; return its motion and slip.

    The pose begins at (0, 0, 0); the covariances are zero. `settings` default to those of the
    odometry. `progress` receives the fraction done, 0 to 1.
    """
    odometry = Odometry(robot, settings)
    count = len(joints.time)
    n = robot.count
    columns = [mapped.GrowingRows() for _ in range(9)]
    for begin in range(0, count, mapped.ROWS):
        size = min(mapped.ROWS, count - begin)
        part = tuple(value[begin:begin + size] for value in joints)
        rows: tuple[Array, ...] = (
            np.zeros((size, 3)), np.zeros((size, 3)), np.zeros(size), np.zeros(size, bool),
            np.full(size, -1), np.zeros((size, n)), np.zeros((size, n, 2)),
            np.zeros((size, n)), np.zeros((size, n, len(KINDS)), np.float32))
        _replay(odometry, part, rows)
        for column, some in zip(columns, rows, strict=True):
            column.append(some)
        mapped.give_back(*joints)
        progress((begin + size) / count)
    pose, twist, statistic, slipping, suspect, without, slip, path, kinds = (
        c.array() for c in columns)
    unknown = np.broadcast_to(np.zeros((3, 3)), (count, 3, 3))
    used = odometry.settings.slip
    limit, several = thresholds(n, used.false_alarm, measured_rows(odometry.robot))
    return (Motion(joints.time, pose, twist, unknown, unknown, 'odom', 'base_link'),
            SlipReplay(joints.time, statistic, limit, slipping, suspect, without, several,
                       slip, path, kinds, used.time_constant, odometry.times))


def _replay(odometry: Odometry, joints: Sequence[Array], rows: Sequence[Array]) -> None:
    """Step through a part of the joint states, and write the rows of the results."""
    time, steering, steering_rate, wheel_angle, wheel_rate = joints[:5]
    pose, twist, statistic, slipping, suspect, without, slip, path, kinds = rows
    for k in range(len(time)):
        found = odometry.step(time[k], steering[k], wheel_angle[k], wheel_rate[k],
                              steering_rate[k])
        pose[k], twist[k], slip[k] = found.pose, found.twist, found.residual
        statistic[k], without[k] = found.slip.statistic, odometry.without
        slipping[k], suspect[k] = found.slip.slipping, found.slip.suspect
        path[k] = np.hypot(*odometry.step_paths().T)
        if found.faults.alarm:
            kinds[k] = found.faults.probability


# a shorter suspicion is noise at the edge of another one, s
SHORTEST_EVENT = 0.05

# fraction of its largest speed at which a slip ends
FADED = 0.1

# mean probability from which a kind is named alone, and from which it is mentioned
ALONE = 0.75
MENTIONED = 0.2

# confidence from which a wheel is named without reserve (see SlipReport)
SURE = 0.9


class SlipEvent(NamedTuple):
    """
    One slip.

    Attributes
    ----------
    wheel : int
        From 0; −1 where more than one wheel slips, or one of two, which are not isolated.
    begin, end : float, s
        From the rise of χ² until the slip is last faster than a tenth of its peak. The alarm lasts
        up to half a second longer: its low-pass decays, and it waits.
    peak_time : float, s
        Time of the fastest slip.
    along, across : float, m/s
        The slip then, in and across the rolling direction; of the fastest wheel where several
        slip.
    distance : float, m
        Path of the contact over the floor in the event, by the angles of its wheel.
    confidence : float
        Probability of this wheel, from all evidence during the slip; for −1, of more than one
        wheel. 0.5 means that two wheels explain it equally well.
    reported : bool or None
        The robot reported this wheel at the time; None without reports, or where several slipped.
    kind : str
        Slip or wrong encoder that explains the event best; two kinds that are not distinguishable
        are both named. Empty if no single wheel explains it.
    """

    wheel: int
    begin: float
    end: float
    peak_time: float
    along: float
    across: float
    distance: float
    confidence: float
    reported: bool | None
    kind: str = ''


def runs_of(value: Array) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of each run of equal values."""
    if not len(value):
        return []
    edges = np.flatnonzero(value[1:] != value[:-1]) + 1
    return list(zip([0, *edges.tolist()], [*edges.tolist(), len(value)], strict=True))


def blame(found: SlipReplay, part: slice) -> tuple[int, float]:
    """
    Return the wheel that slipped during a part of the run, −1 for several, and its probability.

    The evidence of the part adds up: ``p_i ∝ exp(−½ Σ χ²_i dt/τ)`` with χ²_i the residual without
    wheel i, of samples that are independent after the low-pass' time constant τ; "several"
    competes with its limit in the place of χ²_i. Of two wheels none is isolated: −1, and 0.5.
    """
    if found.without.shape[1] == 2:
        return -1, 0.5
    time = found.time[part]
    weight = np.minimum(np.diff(time, append=time[-1]) / found.time_constant, 1.0)
    left = np.append(found.without[part].T @ weight, found.several * weight.sum())
    chance = np.exp(0.5 * (left.min() - left))
    chance /= chance.sum()
    best = int(np.argmax(chance))
    return (best if best < len(left) - 1 else -1), float(chance[best])


def parts_of(found: SlipReplay) -> list[slice]:
    """Return the slips: alarms, each from the rise of χ² on, cut where the wheel changes."""
    parts: list[slice] = []
    for begin, end in runs_of(found.slipping):
        if not found.slipping[begin]:
            continue
        # the alarm requires that χ² persists; the slip begins with its rise
        first = begin
        while first and found.statistic[first - 1] > found.threshold and not found.slipping[
                first - 1]:
            first -= 1
        whole = slice(first, end)
        parts += [whole] if blame(found, whole)[0] >= 0 else _cut(found, whole)
    return parts


def _cut(found: SlipReplay, whole: slice) -> list[slice]:
    """Return the parts of an alarm in which consecutive wheels slip, or the whole."""
    lasting = [(a, b) for a, b in ((whole.start + a, whole.start + b)
                                   for a, b in runs_of(found.suspect[whole]))
               if found.suspect[a] >= 0 and found.time[b - 1] - found.time[a] >= SHORTEST_EVENT]
    if len({int(found.suspect[a]) for a, _ in lasting}) < 2:
        return [whole]
    merged = [lasting[0]]
    for a, b in lasting[1:]:
        if found.suspect[a] == found.suspect[merged[-1][0]]:
            merged[-1] = (merged[-1][0], b)
        else:
            merged.append((a, b))
    starts = [whole.start, *(a for a, _ in merged[1:]), whole.stop]
    parts = [slice(a, b) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    return parts if all(blame(found, part)[0] >= 0 for part in parts) else [whole]


def slip_events(found: SlipReplay, reported: Slip | None = None) -> tuple[SlipEvent, ...]:
    """Return the slips of a run by their begin; `reported` is the robot's own wheel slip."""
    return tuple(_event(found, part, reported) for part in parts_of(found))


def _event(found: SlipReplay, part: slice, reported: Slip | None) -> SlipEvent:
    wheel, sure = blame(found, part)
    time = found.time[part]
    slip = found.slip[part]
    speed = np.hypot(slip[..., 0], slip[..., 1])
    fastest = wheel if wheel >= 0 else int(np.argmax(speed.max(axis=0)))
    peak = int(np.argmax(speed[:, fastest]))
    faded = np.flatnonzero(speed[:, fastest] > FADED * speed[peak, fastest])[-1]
    begin = float(time[0])
    end = float(time[faded])
    named = None
    if reported is not None:
        suspected = reported.suspect[(reported.time >= begin) & (reported.time <= time[-1])]
        named = bool(suspected[:, wheel].any()) if wheel >= 0 else None
    return SlipEvent(wheel, begin, end, float(time[peak]), float(slip[peak, fastest, 0]),
                     float(slip[peak, fastest, 1]),
                     float(found.path[part, fastest].sum()), sure, named,
                     kind_of(found, slice(part.start, part.start + int(faded) + 1), wheel))


def kind_of(found: SlipReplay, part: slice, wheel: int) -> str:
    """Return the kinds of faults of a wheel in a part that explain most, at most two of them."""
    if found.kinds is None or wheel < 0:
        return ''
    mean = found.kinds[part, wheel].sum(0)
    if not mean.sum() > 0.0:
        return ''
    mean /= mean.sum()
    best = [k for k in np.argsort(-mean)[:2] if mean[k] >= MENTIONED]
    return ' or '.join(KINDS[k] for k in (best[:1] if mean[best[0]] >= ALONE else best))
