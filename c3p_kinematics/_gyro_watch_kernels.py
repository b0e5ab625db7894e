# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled comparison of a gyro with the joints: which of them is used; no checks.

A gyro that turns otherwise than the joints while no wheel slips is left out, until it has agreed
with them for a while. Smaller differences than that are slip which the joints do not show: the
heading is by the gyro then.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kinematics._gyro_fusion_kernels import renew_gyro

# what becomes of a compared turn
UNUSED, USED, SLIPPED, DRIFTED = 0, 1, 2, 3

# difference beyond which a gyro contradicts the joints: in deviations; rad/s; and per turn
CONTRADICTS = 5.0
OFFSET = 0.05
PART = 0.1

# difference per turn that contradicts if it lasts, the fraction of all differences that it
# explains, and the least turn, rad²
LASTING_PART = 0.08
EXPLAINED = 0.9
LEAST_TURNS = 0.1

# time of contradiction before the gyro is left out, and of agreement before it is used again, s
PERSISTENCE = 0.15
RETURNS = 2.0

# yaw rate from which an agreement counts, rad/s, and turn in which a gyro has proved itself, rad
TURNING = 0.1
PROVED = 0.5

# deviations beyond which a wheel slips, or a bias has changed
SLIPS = 3.0

# time constants of the compared turns, and of a drift of the bias that was seen, s
FADES = 3.0
DRIFTS = 300.0

# time for which wheels are doubted after a slip, s: a second fit corrects them up to 0.2 s later
DOUBTED = 0.3

# motion of the contacts that counts as none, m
STANDING = 1e-4


@inner
def miss_turn(f, span):
    """Count a span without samples of the gyro."""
    f.watch.silent[0] += span.time[1] - span.time[0]
    f.left_out[0] += 1.0


@inner
def clear_sums(watch):
    """Forget the compared turns."""
    for j in range(len(watch.sums)):
        watch.sums[j] = 0.0


@inner
def add_sums(watch, kept, gyro, turned, value, deviation):
    """Add a compared turn to the fading sums of products of turns and differences."""
    sums = watch.sums
    for j in range(len(sums)):
        sums[j] *= kept
    sums[0] += gyro * turned
    sums[1] += turned * turned
    sums[2] += value * turned
    sums[3] += value * value
    sums[4] += deviation * abs(turned)


@inner
def proportional(watch):
    """Return whether the differences are proportional to the turns, by more than is expected."""
    sums = watch.sums
    if sums[1] < LEAST_TURNS:
        return False
    part = abs(sums[2]) / sums[1]
    expected = max(LASTING_PART, CONTRADICTS * sums[4] / sums[1])
    return part > expected and sums[2]**2 > EXPLAINED * sums[3] * sums[1]


@inner
def judge(f, span, gyro, value, variance):
    """
    Return `USED`, `UNUSED`, `SLIPPED` or `DRIFTED` for a turn of the `gyro` off by `value`.

    `variance` is that of `value`.
    """
    watch = f.watch
    duration = span.time[1] - span.time[0]
    turned = span.turned[0]
    watch.silent[0] = 0.0
    deviation = math.sqrt(variance)
    gross = abs(value) > OFFSET * duration + PART * abs(turned)
    against = gross and abs(value) > CONTRADICTS * deviation
    turning = abs(turned) >= TURNING * duration
    watch.doubt[0] = DOUBTED if span.doubted[0] != 0.0 else watch.doubt[0] - duration
    doubted = watch.doubt[0] > 0.0
    stands = span.path[0] <= STANDING
    watch.drift[0] *= math.exp(-duration / DRIFTS)
    if not doubted:
        if against and watch.trusted[0] != 0.0 and watch.against[0] == 0.0:
            # the ratio is that of the contradiction, not of the time before
            clear_sums(watch)
        add_sums(watch, math.exp(-duration / FADES), gyro - duration * f.estimate[0], turned,
                 value, deviation)
    if watch.trusted[0] == 0.0:
        return watch_left_out(f, duration, gross, against, turning, stands)
    if doubted:
        # a gyro that was never compared may be wrong as well
        if gross and watch.proved[0] < PROVED:
            return UNUSED
        return SLIPPED if abs(value) > SLIPS * deviation else USED
    lasting = proportional(watch)
    if against or lasting:
        watch.against[0] += duration
        if lasting or watch.against[0] >= PERSISTENCE:
            leave_out(f, value / duration)
        return UNUSED
    watch.against[0] = 0.0
    if turning:
        watch.proved[0] += abs(turned)
    slipped = abs(value) > SLIPS * deviation
    if stands:
        if slipped:
            drifted(f, value / duration)
        watch.stood[0] = 0.0
        return DRIFTED if slipped else USED
    watch.stood[0] += duration
    return SLIPPED if slipped else USED


@inner
def watch_left_out(f, duration, gross, against, turning, stands):
    """Judge a turn of a gyro that is left out: at standstill it shows its bias all the same."""
    watch = f.watch
    if watch.sums[1] >= LEAST_TURNS**2:
        watch.ratio[0] = watch.sums[0] / watch.sums[1]
    if gross or proportional(watch):
        watch.agreed[0] = 0.0
    elif turning or watch.ratio[0] != watch.ratio[0]:
        watch.agreed[0] += duration
        if watch.agreed[0] >= RETURNS:
            watch.trusted[0] = 1.0
            watch.against[0] = 0.0
    return USED if stands and not against else UNUSED


@inner
def leave_out(f, offset):
    """Leave the gyro out; what it deviated by remains for the report."""
    watch = f.watch
    watch.trusted[0] = 0.0
    watch.against[0] = 0.0
    watch.agreed[0] = 0.0
    watch.proved[0] = 0.0
    watch.ratio[0] = watch.sums[0] / watch.sums[1] if watch.sums[1] > LEAST_TURNS**3 else math.nan
    watch.offset[0] = offset
    watch.constant[0] = 1.0 if f.samples.same[0] > PERSISTENCE else 0.0
    clear_sums(watch)
    renew_gyro(f)


@inner
def drifted(f, rate):
    """Let a bias that has changed by `rate` [rad/s] since the last standstill be learned again."""
    watch = f.watch
    f.covariance[3, 3] += rate**2
    since = watch.stood[0]
    if since > 0.0:
        watch.drift[0] = max(watch.drift[0], rate**2 / since)
