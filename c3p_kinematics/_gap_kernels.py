# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled motion over a gap between two samples, by positions alone; no checks."""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._odometry_kernels import advance
from c3p_kinematics._planar_kernels import solve

# intervals into which a gap is divided: casters may swing by a radian in one
BRIDGE_STEPS = 32

# deviation of the motion over a gap per path length: between the positions before and after it
# anything may have happened
GAP_PART = 0.2

# lever that converts a path length to yaw where the casters stand close together, m
SHORTEST_LEVER = 0.05


@inner
def bridge(geometry, latch, sample, before, dt, largest, place, fit):
    """
    Move the pose over a gap by positions alone and renew the latch; return the path length, m.

    A wheel may have made whole turns. Multi-turn positions include them; for positions that wrap
    they follow from the rates before and after the gap. Both angles are assumed to change evenly
    within the gap. If a wheel would have turned faster than `largest` and than 1.5 times its
    rates, its counter was reset: the pose stays and −1 is returned.

    Parameters
    ----------
    geometry : (n, 7) array
    latch : (3, n) array
        As of `_odometry_kernels.increments`; is updated.
    sample : (4, n) array, rad and rad/s
        After the gap: steering, wheel angle, and rates of both, nan if unknown.
    before : (n,) array, rad/s
        Wheel rates before the gap; nan if unknown.
    dt, largest : float, s and rad/s
    place : Place
        `pose` is updated.
    fit : RigidFit
        Written.
    """
    n = len(geometry)
    after = sample[3]
    # increment of each angle, whole turns of the wheels included
    for i in range(n):
        raw = sample[1, i] - latch[1, i]
        near = wrap_angle(raw)
        expected = 0.5 * (before[i] + after[i]) * dt
        rolled = near
        if latch[2, i] != 0.0:
            if math.isfinite(expected):
                rolled += 2.0 * math.pi * round((expected - near) / (2.0 * math.pi))
        elif abs(raw) > 2.0 * math.pi or abs(raw - expected) < abs(near - expected):
            rolled = raw
        fastest = largest
        for rate in (abs(before[i]), abs(after[i])):
            if 1.5 * rate > fastest:
                fastest = 1.5 * rate
        if abs(rolled) > math.pi + fastest * dt:
            return -1.0
        fit.wheel_rate[i] = rolled / dt
        fit.steering_rate[i] = wrap_angle(sample[0, i] - latch[0, i]) / dt
        fit.weight[i, 0] = 1.0
        fit.weight[i, 1] = 1.0
    # one constant twist per interval, at the steering halfway
    pose = place.pose
    x = pose[0]
    y = pose[1]
    yaw = pose[2]
    twist = fit.twist
    length = 0.0
    part = dt / BRIDGE_STEPS
    for k in range(BRIDGE_STEPS):
        for i in range(n):
            turned = wrap_angle(sample[0, i] - latch[0, i])
            fit.steering[i] = latch[0, i] + turned * (k + 0.5) / BRIDGE_STEPS
        solve(geometry, fit)
        if not math.isfinite(twist[0] + twist[1] + twist[2]):
            pose[0] = x
            pose[1] = y
            pose[2] = yaw
            return -1.0
        advance(pose, twist, part)
        length += part * (math.hypot(twist[0], twist[1]) + place.lever * abs(twist[2]))
    put(sample[0], latch[0])
    put(sample[1], latch[1])
    return length


@inner
def add_gap(path, place):
    """Add the variance of a motion over a gap of `path` [m] to the covariance of the pose."""
    deviation = GAP_PART * path
    turn = GAP_PART * path / max(place.lever, SHORTEST_LEVER)
    place.covariance[0, 0] += deviation**2
    place.covariance[1, 1] += deviation**2
    place.covariance[2, 2] += turn**2
