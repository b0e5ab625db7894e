# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion while the twist is held: by the twist, and by what the wheels rolled meanwhile.

Position increments are evidence whatever the time between two samples was. A held twist is a guess
for wheels that spin; where only a stamp was wrong, the increments are right. This is decided
once the wheels are plausible again: the platform has moved for a known time at velocities between
that before the hold and the present one. If the increments agree with this motion the held steps
are repeated by them, and what the hold added to the covariance and the doubt is taken back.

No checks; `hold`, `grip`, `place` and `ring` are states of odometry_states.py.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.small import put
from c3p_kinematics._grip_kernels import LARGEST_TIME
from c3p_kinematics._planar_kernels import log_row
from c3p_kinematics._ring_kernels import coast, from_pose, hold_back, path_of, repeat
from c3p_kinematics.odometry_states import CAPACITY

# time after the begin of a hold for which its increments wait for a proof, s
PROOF = 0.25

# of `repeat`; a number of the type that a wheel has
NO_WHEEL = np.int64(-1)


@inner
def drop(hold):
    """Leave the steps of the present hold as they are."""
    hold.first[0] = -1.0
    hold.time[0] = 0.0
    hold.holds[0] = 0.0


@inner
def hold_twist(hold, motion, grip, place, ring, dt, back):
    """
    Begin or continue a hold, and give the twist that is held to the step of `motion`.

    The covariance grows by the motion that tyres allow. When a hold begins, the newest `back`
    steps belong to the spin and are held as well.
    """
    first = int(ring.count[0]) - back
    fresh = hold.first[0] < 0.0
    if fresh:
        # what is taken back if the increments turn out to be right
        put_rows(place.covariance, hold.covariance)
        put(hold.doubt, hold.doubted)
    if hold.holds[0] == 0.0:
        duration = hold_newest(hold, grip, place, ring, dt, first)
        if fresh:
            hold.first[0] = first
            hold.time[0] = duration
            put(ring.steps.pose[first % CAPACITY], hold.before)
            put(grip.reference, hold.twist)
    hold.holds[0] = 1.0
    for j in range(3):
        hold.apart[j] = dt * (motion.twist[j] - grip.twist[j])
    add_doubt(hold, place, grip.acceleration * grip.age[0] * dt)
    put(grip.twist, motion.twist)


@inner
def hold_newest(hold, grip, place, ring, dt, first):
    """Hold the steps from number `first` on as well, of the spin; return their duration, s."""
    count = int(ring.count[0])
    counted = path_of(ring.steps, first, count)
    put(place.pose, hold.rolled)
    back = hold_back(ring.steps, first, count, grip.reference, place.pose)
    coast(grip.reference, dt)
    put(grip.reference, grip.twist)
    grip.age[0] = back + dt
    place.distance[0] += path_of(ring.steps, first, count) - counted
    for j in range(3):
        place.anchor[j] += place.pose[j] - hold.rolled[j]
        hold.apart[j] = hold.rolled[j] - place.pose[j]
    add_doubt(hold, place, 0.5 * grip.acceleration * back**2)
    return back


@kernel
def put_rows(values, place):
    """Write the rows of `values` into those of `place`."""
    for j in range(len(values)):
        put(values[j], place[j])


@inner
def add_doubt(hold, place, most):
    """Add the deviation ``hold.apart``, up to `most` [m], to the doubt and to the covariance."""
    # errors of a held twist have one direction: deviations add up, not variances
    ahead = min(math.hypot(hold.apart[0], hold.apart[1]), most)
    variance = ahead * (2.0 * hold.doubt[0] + ahead)
    place.covariance[0, 0] += variance
    place.covariance[1, 1] += variance
    hold.doubt[0] += ahead
    turn = min(abs(hold.apart[2]), most / place.lever)
    place.covariance[2, 2] += turn * (2.0 * hold.doubt[1] + turn)
    hold.doubt[1] += turn


@inner
def prove(geometry, hold, grip, place, ring, dt, held):
    """
    Repeat held steps by their increments, once these are proved.

    Called after each step; `held` is that of the newest one. The path since the hold began is then
    counted by the next one.
    """
    hold.holds[0] = 1.0 if held else 0.0
    if hold.first[0] < 0.0:
        return
    hold.time[0] += dt
    if held:
        return
    first = int(hold.first[0])
    count = int(ring.count[0])
    if hold.time[0] > PROOF or count - first > CAPACITY:
        drop(hold)
        return
    put(ring.steps.block, hold.kept.block)
    put(place.pose, hold.rolled)
    repeat(geometry, ring, first, NO_WHEEL, hold.rolled)
    # what the wheels rolled, against a twist between that before the hold and the present one
    from_pose(hold.before, hold.rolled, hold.apart)
    log_row(hold.apart, hold.apart)
    for j in range(3):
        hold.mean[j] = 0.5 * (hold.twist[j] + grip.reference[j])
        hold.apart[j] -= hold.time[0] * hold.mean[j]
    speed = math.hypot(hold.mean[0], hold.mean[1]) + place.lever * abs(hold.mean[2])
    apart = math.hypot(hold.apart[0], hold.apart[1]) + place.lever * abs(hold.apart[2])
    allowed = (grip.resolution + hold.time[0] * (grip.noise + grip.fraction * speed)
               + LARGEST_TIME * grip.time_error * speed)
    if apart > allowed:
        put(hold.kept.block, ring.steps.block)
        return
    # covariance and length of the path begin again where the hold began
    place.distance[0] -= path_of(hold.kept, first, count)
    put_rows(hold.covariance, place.covariance)
    put(hold.before, place.anchor)
    put(hold.rolled, place.pose)
    put(hold.doubted, hold.doubt)
    drop(hold)
