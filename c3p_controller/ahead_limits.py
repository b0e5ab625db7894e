# SPDX-License-Identifier: Apache-2.0
"""
A reference ahead made one that the robot may follow: not too fast, not far away, and to a stop.

Whatever makes the reference, the limits of speed and yaw rate hold for what a law is given. The
path stays; only the time along it is stretched.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.law import Ahead
from c3p_controller.reference import ReferenceLimits
from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# a reference that takes longer at the limits is none, s
LONGEST = 1000.0

# how far from the robot a reference may be: what the limits allow in this time, s. A law pulls in
# proportion to the gap and knows no limit of its own
REACH = 0.3

# distance in time of the points of a stop, and the most of them, s and 1
STOP_SPACING, STOP_POINTS = 0.05, 100


def limit_ahead(ahead: Ahead, limits: ReferenceLimits) -> Ahead:
    """
    Return `ahead` with its time stretched where it is faster than the limits allow.

    With n the velocity as a multiple of the limits, v ← v / max(n, 1) at each point, and a gap
    between points takes as much longer as the mean velocity over it is lower, and at least as long
    as the distance of its ends takes at the limits. So the points stay where they are.

    Parameters
    ----------
    ahead : Ahead
    limits : ReferenceLimits
        Speed and yaw rate are used.

    Raises
    ------
    ValueError
        A reference that takes longer than LONGEST at the limits: its points do not belong
        together.

    Examples
    --------
    >>> pose, velocity = np.zeros((3, 3)), np.zeros((3, 3))
    >>> pose[:, 0], velocity[:, 0] = [0.0, 0.1, 0.2], 2.0
    >>> slow = limit_ahead(Ahead(np.array([0.0, 0.05, 0.1]), pose, velocity), ReferenceLimits(0.5))
    >>> slow.time.tolist(), slow.velocity[:, 0].tolist()
    ([0.0, 0.2, 0.4], [0.5, 0.5, 0.5])
    """
    with np.errstate(over='ignore', invalid='ignore'):
        excess = np.maximum(np.hypot(ahead.velocity[:, 0], ahead.velocity[:, 1]) / limits.speed,
                            np.abs(ahead.velocity[:, 2]) / limits.yaw_rate)
        gaps, steps = np.diff(ahead.time), np.abs(np.diff(ahead.pose, axis=0))
        least = np.maximum(np.hypot(steps[:, 0], steps[:, 1]) / limits.speed,
                           steps[:, 2] / limits.yaw_rate)
        if (excess <= 1.0).all() and (least <= gaps).all():
            return ahead
        allowed = np.minimum(excess, 1.0)
        before, after = excess[1:] + excess[:-1], allowed[1:] + allowed[:-1]
        stretch = np.divide(before, after, out=np.ones(len(gaps)), where=after > 0.0)
        time = np.concatenate(([0.0], np.cumsum(np.maximum(gaps * stretch, least))))
    if not time[-1] <= LONGEST:
        raise ValueError(f'reference ahead takes {time[-1]:.3g} s at the limits of speed and yaw '
                         f'rate: must take at most {LONGEST:g} s')
    return Ahead(time, ahead.pose, ahead.velocity / np.maximum(excess, 1.0)[:, None])


def stay_near(ahead: Ahead, time: float, pose: Array, limits: ReferenceLimits) -> Ahead:
    """
    Return `ahead` moved towards the robot where it is further away than the limits reach.

    A robot that was pushed far from its path, or a reference that belongs elsewhere, pulls no
    harder than one that is REACH ahead.

    Parameters
    ----------
    ahead : Ahead
    time : float, s
        Now, in the time of `ahead`.
    pose : (3,) array
        Of the robot.
    limits : ReferenceLimits
    """
    gap = np.array([np.interp(time, ahead.time, ahead.pose[:, j]) for j in range(3)]) - pose
    gap[2] = float(wrap(gap[2]))
    distance, reach = math.hypot(gap[0], gap[1]), REACH * limits.speed
    turn, most = abs(gap[2]), REACH * limits.yaw_rate
    if distance <= reach and turn <= most:
        return ahead
    beyond = np.array([max(0.0, 1.0 - reach / distance) if distance > 0.0 else 0.0] * 2
                      + [max(0.0, 1.0 - most / turn) if turn > 0.0 else 0.0])
    return ahead._replace(pose=ahead.pose - beyond * gap)


def stop_time(twist: Array, lever: float, deceleration: float) -> float:
    """
    Return how long a stop takes, s: ``T = max(|v₀|, lever |ω₀|) / deceleration``.

    Parameters
    ----------
    twist, lever, deceleration
        As for `stop_ahead`.

    Examples
    --------
    >>> stop_time(np.array([0.3, 0.4, 1.0]), 0.3, 1.0)
    0.5
    """
    return float(max(math.hypot(twist[0], twist[1]), lever * abs(twist[2])) / deceleration)


def stop_ahead(pose: Array, twist: Array, lever: float, deceleration: float) -> Ahead:
    """
    Return the way to rest from a motion: along its arc, slowing down evenly.

        ν(t) = ν₀ (1 − t/T)     T = max(|v₀|, lever |ω₀|) / deceleration

    Parameters
    ----------
    pose : (3,) array
        Of the robot.
    twist : (3,) array
        ν₀, ``base_link``.
    lever : float, m
        How far the outermost wheel is from the centre; its speed counts, too.
    deceleration : float, m/s²

    Examples
    --------
    >>> way = stop_ahead(np.zeros(3), np.array([0.5, 0.0, 0.0]), 0.3, 1.0)
    >>> float(way.time[-1]), float(way.pose[-1, 0].round(9)), way.velocity[-1].tolist()
    (0.5, 0.125, [0.0, 0.0, 0.0])
    """
    duration = stop_time(twist, lever, deceleration)
    if not 0.0 < duration < math.inf:
        return Ahead(np.zeros(1), np.array([pose], float), np.zeros((1, 3)))
    count = min(max(2, 1 + math.ceil(duration / STOP_SPACING)), STOP_POINTS)
    time = np.linspace(0.0, duration, count)
    way, rate = time - time**2 / (2.0 * duration), 1.0 - time / duration
    yaw = pose[2] + way * twist[2]
    # the chord of an arc points half the turn aside, and is shorter by a sinc
    half = 0.5 * way * twist[2]
    chord, angle = way * np.sinc(half / math.pi), pose[2] + half
    place = np.column_stack([
        pose[0] + chord * (np.cos(angle) * twist[0] - np.sin(angle) * twist[1]),
        pose[1] + chord * (np.sin(angle) * twist[0] + np.cos(angle) * twist[1]), yaw])
    velocity = rate[:, None] * np.column_stack([
        np.cos(yaw) * twist[0] - np.sin(yaw) * twist[1],
        np.sin(yaw) * twist[0] + np.cos(yaw) * twist[1], np.full(count, twist[2])])
    return Ahead(time, place, velocity)
