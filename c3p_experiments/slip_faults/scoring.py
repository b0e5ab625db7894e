# SPDX-License-Identifier: Apache-2.0
"""Reports of the fault monitor on recorded joints, scored against what truly happened."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.closed_loop import timed_odometry
from c3p_kinematics.fault_report import KINDS, SURE
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.slip import SlipSettings, thresholds
from c3p_simulation.plants.timing import SampleTiming

# names that residuals distinguish: faults that share a direction have one
LABELS = ('along the wheel', 'wheel encoder jump', 'side slip', 'steering encoder stuck',
          'steering encoder jump', 'steering encoder drift', 'steering backlash',
          'steering encoder noise')
LABEL_OF = (0, 0, 1, 0, 2, 3, 4, 5, 0, 0, 6, 7)

# a slip begins at this speed [m/s], among faults as in driving without them, and counts from this
# distance [m] on; gaps shorter than this are part of it [s]; other wheels slip less than this part
# of it
SLIPPING = 0.03
COUNTED = 0.003
GAP = 0.3
ALONE = 0.15

# time after the end of a slip in which it may still be named, s
AFTER = 0.1


class Watched(NamedTuple):
    """
    Reports over time.

    Attributes
    ----------
    alarm : (k,) bool array
    probability : (k, n, 12) array
    statistic : (k,) array
        χ² per its alarm limit.
    before : (k,) array
        The same of the slip monitor, which does not name kinds.
    suspect : (k,) int array
        Wheel that the slip monitor suspects; −1 for none.
    slipping : (k,) bool array
        Alarm of the slip monitor.
    """

    alarm: Array
    probability: Array
    statistic: Array
    before: Array
    suspect: Array
    slipping: Array


class FaultCase(NamedTuple):
    """
    Detection and naming of one fault.

    Attributes
    ----------
    kind : str
    found, named_after : float, s
        Time until the alarm, and until a name with `SURE`; inf for never.
    wheel, name : bool or None
        The name is right; None without a name.
    named : int
        Its index in `LABELS`; −1 without.
    largest : float
        Largest statistic that holds for the persistence within 0.1 s, per its limit.
    before : float
        The same of the slip monitor.
    wheel_before : bool or None
        The slip monitor named the right wheel.
    """

    kind: str
    found: float
    named_after: float
    wheel: bool | None
    name: bool | None
    named: int
    largest: float
    before: float
    wheel_before: bool | None


def odometry_settings(steps: tuple[float, float], timing: SampleTiming, **more: Any
                      ) -> OdometrySettings:
    """
    Return the settings of an odometry for joints with encoders of `steps` [rad] and a `timing`.

    `more` are other settings.
    """
    return OdometrySettings(wheel_resolution=steps[0], steering_resolution=steps[1],
                            **timed_odometry(timing), **more)


def watch(robot: CasterRobot, joints: Joints, steps: tuple[float, float], timing: SampleTiming,
          begin: int = 0, end: int | None = None) -> Watched:
    """
    Return the reports of an odometry on the samples `begin` to `end`.

    Parameters
    ----------
    robot : CasterRobot
        Description.
    joints : Joints
    steps : (2,) tuple, rad
        Of wheel and steering encoders.
    timing : SampleTiming
        Of the sensors; the odometry expects joints of one instant where they are.
    begin, end : int
    """
    n = robot.count
    end = len(joints.time) if end is None else end
    odometry = Odometry(robot, odometry_settings(steps, timing))
    alarm = np.zeros(end - begin, bool)
    probability = np.zeros((end - begin, n, len(KINDS)))
    statistic = np.zeros(end - begin)
    before = np.zeros(end - begin)
    suspect = np.full(end - begin, -1)
    slipping = np.zeros(end - begin, bool)
    for k in range(begin, end):
        found = odometry.step(joints.time[k], joints.steering[k], joints.wheel_angle[k],
                              joints.wheel_rate[k], joints.steering_rate[k])
        faults = found.faults
        statistic[k - begin] = faults.statistic / faults.threshold
        if faults.alarm:
            alarm[k - begin] = True
            probability[k - begin] = faults.probability
        before[k - begin] = found.slip.statistic / found.slip.threshold
        if found.slip.slipping:
            slipping[k - begin] = True
            suspect[k - begin] = found.slip.suspect
    return Watched(alarm, probability, statistic, before, suspect, slipping)


def labelled(probability: Array) -> Array:
    """Return probabilities (k, n, 8) of `LABELS`."""
    out = np.zeros((*probability.shape[:2], len(LABELS)))
    for kind, label in enumerate(LABEL_OF):
        out[..., label] += probability[..., kind]
    return out


def score(kind: str, label: int, caster: int, seen: Watched, begin: int, end: int, dt: float
          ) -> FaultCase:
    """
    Return what became of a fault of `caster` that lasts from sample `begin` to `end` of `seen`.

    Parameters
    ----------
    kind : str
    label : int
        Of `LABELS`.
    caster : int
    seen : Watched
    begin, end : int
    dt : float, s
        Period of the samples.
    """
    part = slice(begin, end)
    alarms = np.flatnonzero(seen.alarm[part])
    chance = labelled(seen.probability[part]).reshape(end - begin, -1)
    sure = np.flatnonzero(chance.max(1) >= SURE)
    wheel = name = None
    named = -1
    if len(sure):
        who, named = divmod(int(np.argmax(chance[sure[0]])), len(LABELS))
        wheel = who == caster
        name = who == caster and named == label
    tenth = slice(begin, begin + max(1, round(0.1 / dt)))
    old = seen.suspect[part][seen.suspect[part] >= 0]
    return FaultCase(kind, dt * alarms[0] if len(alarms) else np.inf,
                     dt * sure[0] if len(sure) else np.inf, wheel, name, named,
                     lasting(seen.statistic[tenth]), lasting(seen.before[tenth]),
                     bool(old[0] == caster) if len(old) else None)


def lasting(statistic: Array, count: int = 3) -> float:
    """Return the largest value that `count` consecutive ones reach."""
    if len(statistic) < count:
        return 0.0
    return float(np.lib.stride_tricks.sliding_window_view(statistic, count).min(1).max())


class TrueSlip(NamedTuple):
    """A slip of one wheel: first and last sample, wheel, and its part across."""

    begin: int
    end: int
    wheel: int
    across: float


def true_slips(slip: Array, dt: float) -> list[TrueSlip]:
    """Return the slips in the true velocities (k, n, 2) in which one wheel slips alone."""
    speed = np.hypot(slip[..., 0], slip[..., 1])
    fast = np.flatnonzero((speed > SLIPPING).any(1))
    out = []
    for group in np.split(fast, np.flatnonzero(np.diff(fast) > GAP / dt) + 1):
        if not len(group):
            continue
        part = slice(group[0], group[-1] + 1)
        distance = speed[part].sum(0) * dt
        wheel = int(np.argmax(distance))
        others = np.delete(distance, wheel)
        if distance[wheel] >= COUNTED and others.max() < max(ALONE * distance[wheel], 1e-3):
            share = np.abs(slip[part, wheel]).sum(0)
            out.append(TrueSlip(part.start, part.stop, wheel, float(share[1] / share.sum())))
    return out


def false_alarms(statistic: Array, dt: float, limits: Array, count: int = 3,
                 release: float = 0.2) -> Array:
    """
    Return the number of alarms at each of `limits` of a `statistic` without fault.

    Samples are `dt` apart [s]. `count` is that of consecutive samples above the limit, `release`
    the time below a quarter of it before the alarm ends [s].
    """
    out = np.zeros(len(limits), int)
    wait = round(release / dt)
    for j, limit in enumerate(limits):
        above = np.flatnonzero(statistic > limit)
        if not len(above):
            continue
        low = statistic < SlipSettings.clear_fraction * limit
        since = above[0]
        while since < len(statistic):
            run = np.flatnonzero(statistic[since:] > limit)
            if not len(run):
                break
            begin = since + run[0]
            if (statistic[begin:begin + count] > limit).sum() < count:
                since = begin + 1
                continue
            out[j] += 1
            quiet = np.convolve(low[begin:], np.ones(wait), 'valid') >= wait
            ended = np.flatnonzero(quiet)
            since = begin + (ended[0] + wait if len(ended) else len(statistic))
    return out


def limit_of(count: int) -> float:
    """Return the alarm limit of `count` casters."""
    return thresholds(count)[0]
