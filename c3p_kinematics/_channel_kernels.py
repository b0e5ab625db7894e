# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled comparison of the two channels of each joint, angle and rate; no checks.

Public side: joint_channels.py. `c` is the state `Channels` of odometry_states.py; row 0 of its
arrays is of the steering axes, row 1 of the wheels. A sample (4, n) has steering and wheel angles,
then the rates of both.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics.odometry_states import Channels

cut_channels = Channels.cut

# time constants over which angles and rates are compared, and of the present rate by angles, s:
# sums of a turn that fade differ by e^(LAG/WINDOW) − 1 if one is late, less than a contradiction
WINDOW = 0.4
NEAR = 0.04

# largest lag of rates behind the angles: the filter of a drive, s
LAG = 0.1

# time constant of the low-pass that gives the change of a rate, s
SLOW = 0.02

# memory of the lag in motion, s, and its square, relative to its variance, from which on it shows
LAG_MEMORY = 60.0
SHOWN = 4.0

# mean rate below which channels are not compared, rad/s
LEAST = 0.2

# difference of both channels, relative to the larger turn without its senses: in agreement,
# ignored in the covariance, and in contradiction. A clock that is wrong by a quarter is not a
# contradiction
AGREES = 0.15
IGNORED = 0.05
CONTRADICTS = 0.35

# angle in which agreement counts as proved, rad
PROOF = 0.05

# durations of a contradiction before rates are not used, and of agreement before they are again, s
PERSISTENCE = 0.2
RELEASE = 1.0

# change of an angle beyond the motion that counts as a leap, rad: of a steering axis with and
# without rates, and of a wheel
LEAP = 0.05
UNRATED_LEAP = 0.15
WHEEL_LEAP = 0.1

# acceleration that no steering motor has, rad/s²: where an axis arrives exactly at the zero of its
# encoder, what exceeds a start with it, dt²/2 of it, is a leap as with rates
FASTEST = 1000.0

# a caster that turns round turns by at most this times the largest of its recent steps
GROWS = 3.0

# a wheel may exceed its limit by this factor when it spins
SPIN = 1.5

# rate, rad/s, and turn, rad, below which a wheel stands
STANDS = 0.05
STILL = 0.05

# leaps of different casters within this time have one cause, s
TOGETHER = 0.1

# part of a new sample in the usual time between samples
USUAL = 0.1

# usual times beyond which samples were lost: nothing is compared over such a step
LOST = 5.0

# time that is known with the first sample, s
FIRST = 1e-9


@inner
def correct_leaps(c, latch, sample, dt):
    """
    Subtract from the angles of `sample` what leaps of several casters have added.

    No motion turns several axes in one sample by more than their rates: the board that counts them
    has restarted. The angles before the leap are continued until they leap back.

    Parameters
    ----------
    c : Channels
    latch : (3, n) array
        Angles of the sample before, as of `_odometry_kernels.increments`.
    sample : (4, n) array
    dt : float, s
        Since the sample of the latch. Over a gap only the axes of a robot that stands leap.
    """
    n = len(c.offset)
    c.leapt[0] = 0.0
    for i in range(n):
        sample[0, i] -= c.offset[i]
    if not dt > 0.0 or c.known[0] == 0.0:
        return
    if dt > c.max_gap:
        correct_gap(c, latch, sample)
        return
    # what the casters do must be known
    if c.known[0] < TOGETHER or dt > LOST * c.usual[0]:
        return
    casters = 0
    alone = False
    for i in range(n):
        for k in range(2):
            c.since[k, i] += dt
            change = wrap_angle(sample[k, i] - latch[k, i])
            lone = k == 0 and c.length[0, i] == 0.0
            if leaps(c, k, i, change, sample[2 + k, i], dt) or (
                    lone and leaps_to_zero(c, i, sample[0, i], change, dt)):
                note_leap(c, k, i, change, dt)
                alone = alone or restarts_alone(c, k, i, sample[k, i], dt)
        casters += c.since[0, i] < TOGETHER or c.since[1, i] < TOGETHER
    if casters < 2 and not alone:
        return
    note_others(c, latch, sample, dt)
    for i in range(n):
        take_leap(c, latch, sample, i)


@inner
def restarts_alone(c, k, i, angle, dt):
    """
    Return whether an encoder that has leapt to `angle` of the sample has restarted on its own.

    A leap of one caster is left to the fault monitor. A wheel below its pivot has one spare
    equation fewer, and a single steered wheel none, so that the monitor finds it late or not at
    all: there a leap to where the encoder begins to count is enough, and one back.
    """
    if c.length[0, i] > 0.0:
        return False
    near = STILL + abs(c.last[k, i]) * dt
    if k == 1:
        return abs(angle) < near
    return (abs(wrap_angle(angle + c.offset[i] - c.zero[i])) < near
            or (c.offset[i] != 0.0 and abs(wrap_angle(c.offset[i] + c.leap[0, i])) < LEAP))


@inner
def note_others(c, latch, sample, dt):
    """Note leaps of the other encoders of a board that are too small to show alone."""
    n = len(c.offset)
    axes = 0
    for k in range(2):
        now = 0
        for i in range(n):
            now += c.since[k, i] == 0.0
        for i in range(n):
            change = wrap_angle(sample[k, i] - latch[k, i])
            # a wheel does not spin in the sample in which axes leap
            alike = now > 1 or (axes > 1 and abs(change) > GROWS * c.most[k, i] + WHEEL_LEAP)
            if alike and c.since[k, i] > 0.0:
                note_leap(c, k, i, change, dt)
        axes = now


@inner
def note_leap(c, k, i, change, dt):
    """Keep the leap of an angle: its `change` in `dt` beyond the motion."""
    c.leap[k, i] = change - c.last[k, i] * dt
    c.since[k, i] = 0.0


@inner
def correct_gap(c, latch, sample):
    """Correct leaps within a gap: axes that turned although the wheels stood at both ends."""
    n = len(c.offset)
    turned = 0
    back = 0
    stood = True
    for i in range(n):
        # nan is not below either
        if not max(abs(c.rate[1, i]), abs(sample[3, i])) < STANDS:
            return
        # a wheel has not rolled, or its count began again at zero
        rolled = abs(wrap_angle(sample[1, i] - latch[1, i]))
        stood = stood and min(rolled, abs(sample[1, i])) < STILL
        change = abs(wrap_angle(sample[0, i] - latch[0, i]))
        # an encoder that has restarted counts from zero; other axes may have been turned by hand
        began = abs(wrap_angle(sample[0, i] + c.offset[i] - c.zero[i])) < STILL
        turned += change > UNRATED_LEAP and began
        back += change > LEAP and abs(wrap_angle(
            sample[0, i] + c.offset[i] - latch[0, i])) < LEAP
    if back < 2 and not (stood and turned > 1):
        return
    for i in range(n):
        c.since[0, i] = 0.0
        c.leap[0, i] = wrap_angle(sample[0, i] - latch[0, i])
        take_leap(c, latch, sample, i)


@inner
def leaps(c, k, i, change, rate, dt):
    """Return whether the `change` of an angle in `dt`, rad, exceeds every motion."""
    beyond = abs(change) - GROWS * c.most[k, i] - 2.0 * c.step[k]
    if k == 1:
        return beyond > WHEEL_LEAP + SPIN * c.limit[i] * dt
    if not math.isfinite(rate) or c.wrong[k, i] != 0.0:
        return beyond > UNRATED_LEAP
    expected = 0.5 * (c.rate[k, i] + rate) * dt
    return min(beyond, abs(change - expected) - abs(expected)) > LEAP


@inner
def leaps_to_zero(c, i, angle, change, dt):
    """
    Return whether a small `change` in `dt`, rad, of the axis above a wheel is that of a restart.

    A wheel below its pivot that stands near the zero of its encoder leaps by little, and steers
    wrongly by that from then on. A motor that steers it to zero arrives there slowly.
    """
    near = 2.0 * c.step[0] + abs(c.last[0, i]) * dt
    beyond = abs(change) - GROWS * c.most[0, i] - 2.0 * c.step[0]
    return (abs(wrap_angle(angle + c.offset[i] - c.zero[i])) <= near
            and beyond > LEAP + 0.5 * FASTEST * dt * dt)


@inner
def take_leap(c, latch, sample, i):
    """Continue the angles of caster `i` as they were before its leap."""
    if c.since[1, i] < TOGETHER and c.leap[1, i] != 0.0:
        # a count has no zero: its increments go on
        if c.since[1, i] == 0.0:
            latch[1, i] += c.leap[1, i]
        c.restarted[1, i] = 1.0
        c.leap[1, i] = 0.0
        c.leapt[0] = 1.0
    if c.since[0, i] >= TOGETHER or c.leap[0, i] == 0.0:
        return
    c.leapt[0] = 1.0
    leap = c.leap[0, i]
    if abs(wrap_angle(c.offset[i] + leap)) < LEAP:
        # it has leapt back
        leap = -c.offset[i]
        c.restarted[0, i] = 0.0
        c.restarted[1, i] = 0.0
    else:
        c.restarted[0, i] = 1.0
    c.leap[0, i] = 0.0
    c.offset[i] += leap
    sample[0, i] -= leap
    if c.since[0, i] > 0.0:
        latch[0, i] -= leap


@inner
def compare_channels(c, latch, sample, dt):
    """
    Compare angles and rates over the window; return whether the rates can be used.

    The turns of each joint by its angles and by its rates are summed with weights that fade. They
    may differ by a lag of the rates, and by encoder steps. Arguments as of `correct_leaps`; `dt`
    is that of the stamps, and the latch is still that of the sample before.
    """
    n = len(c.offset)
    timed = True
    for i in range(n):
        timed = timed and math.isfinite(sample[2, i] + sample[3, i])
    had_rates = c.has_rates[0] != 0.0
    c.has_rates[0] = 1.0 if timed else 0.0
    lost = c.usual[0] > 0.0 and dt > LOST * c.usual[0]
    if 0.0 < dt <= c.max_gap:
        c.usual[0] = dt if c.usual[0] == 0.0 else c.usual[0] + USUAL * (dt - c.usual[0])
    if c.known[0] == 0.0 or lost or not 0.0 < dt <= c.max_gap:
        begin_anew(c, sample, timed)
        return timed and not contradicted(c)
    if not timed:
        forget_turns(c)
    keep = math.exp(-dt / WINDOW)
    fade = math.exp(-dt / TOGETHER)
    c.known[0] += dt
    near = -math.expm1(-dt / NEAR)
    slow = math.exp(-dt / SLOW)
    c.span[0] = keep * c.span[0] + dt
    excess = 0.0
    for k in range(2):
        for i in range(n):
            turned = wrap_angle(sample[k, i] - latch[k, i])
            c.last[k, i] = turned / dt
            c.most[k, i] = max(fade * c.most[k, i], abs(turned))
            c.recent[k, i] += near * (turned / dt - c.recent[k, i])
            if not timed:
                c.change[k, i] = 0.0
                c.carried[k, i] = 0.0
                continue
            now = sample[2 + k, i]
            if not had_rates:
                # it has not changed at once since the last known one
                c.rate[k, i] = now
            expected = 0.5 * (c.rate[k, i] + now) * dt
            c.gained[k, i] = keep * c.gained[k, i] + now - c.rate[k, i]
            step = now - c.rate[k, i]
            before = c.change[k, i]
            c.change[k, i] = slow * (before + step / SLOW)
            step += c.lag[k] * (c.change[k, i] - before)
            c.carried[k, i] = slow * (c.carried[k, i] + step / SLOW)
            if c.since[k, i] == 0.0:
                # a leap is not a turn
                turned = expected
            c.turned[k, i] = keep * c.turned[k, i] + turned
            c.rated[k, i] = keep * c.rated[k, i] + expected
            c.swept[k, i] = keep * c.swept[k, i] + max(abs(turned), abs(expected))
            c.rate[k, i] = now
            c.swing[k, i] = max(keep * c.swing[k, i],
                                abs(c.recent[k, i] - c.turned[k, i] / c.span[0]))
            excess = max(excess, judge_channels(c, k, i, dt) * c.length[k, i] / c.span[0])
    if timed:
        measure_lag(c, dt)
    # it is common to the casters: no mean of them is more certain
    c.excess[0] = math.sqrt(n) * excess
    return timed and not contradicted(c)


@inner
def judge_channels(c, k, i, dt):
    """Judge the two channels of a joint; return the turn that contradicts the angles, rad."""
    size = c.swept[k, i]
    apart = abs(c.turned[k, i] - c.rated[k, i]) - LAG * c.swing[k, i] - 2.0 * c.step[k]
    moves = size > LEAST * c.span[0]
    wrong = c.wrong[k, i] != 0.0
    changing = moves and (apart <= AGREES * size if wrong else apart > CONTRADICTS * size)
    c.held[k, i] = c.held[k, i] + dt if changing else 0.0
    if c.held[k, i] > (RELEASE if wrong else PERSISTENCE):
        c.held[k, i] = 0.0
        c.wrong[k, i] = 0.0 if wrong else 1.0
    if moves:
        turned = c.turned[k, i]
        c.ratio[k, i] = c.rated[k, i] / turned if abs(turned) > c.step[k] else math.inf
    if size > PROOF:
        if apart > CONTRADICTS * size:
            c.proved[0] = -1.0
        elif apart <= AGREES * size:
            c.proved[0] = 1.0
    return abs(c.turned[k, i] - c.rated[k, i]) if apart > IGNORED * size else 0.0


@inner
def measure_lag(c, dt):
    """
    Add the window to the evidence of the lag of the rates, of steering axes and of wheels.

    The turn by the angles exceeds that by rates which are late by L by L times the change of the
    rates in the window. L is that of least squares, with the variance σ² WINDOW / ∫ change² dt, σ²
    that of the turns, and with a prior around 0. What L² exceeds its variance by is added to the
    variance of the prior: a lag that shows is one of many, and does not contradict it. A lag that
    does not show is not applied: it shrinks by ``1 − SHOWN variance/L²`` or to zero, as that of
    James and Stein, and its deviation has what is left. The evidence fades in motion alone.
    """
    keep = math.exp(-dt / LAG_MEMORY)
    for k in range(2):
        evidence = c.lag_evidence[k]
        moves = False
        for i in range(len(c.offset)):
            if c.swept[k, i] > LEAST * c.span[0] and c.wrong[k, i] == 0.0:
                if not moves:
                    for j in range(4):
                        evidence[j] *= keep
                moves = True
                lead = c.turned[k, i] - c.rated[k, i]
                gained = c.gained[k, i]
                evidence[0] += dt * gained * gained
                evidence[1] += dt * gained * lead
                evidence[2] += dt * lead * lead
                evidence[3] += dt
        if not moves or c.lag_prior == 0.0 or evidence[0] == 0.0:
            continue
        found = evidence[1] / evidence[0]
        rest = max(evidence[2] - found * evidence[1], 0.0)
        # no turn is known better than to a step
        variance = WINDOW * (rest / evidence[3] + c.step[k]**2) / evidence[0]
        prior = c.lag_prior**2 + max(found * found - variance, 0.0)
        expected = found * prior / (prior + variance)
        shown = max(found * found - SHOWN * variance, 0.0)
        applied = expected * shown / (found * found) if shown > 0.0 else 0.0
        c.lag[k] = min(max(applied, 0.0), LAG)
        c.lag_deviation[k] = math.hypot(math.sqrt(prior * variance / (prior + variance)),
                                        expected - c.lag[k])


@inner
def contradicted(c):
    """Return whether the rates of any joint contradict its angles."""
    wrong = False
    for k in range(2):
        for i in range(len(c.offset)):
            wrong = wrong or c.wrong[k, i] != 0.0
    return wrong


@inner
def begin_anew(c, sample, timed):
    """Compare nothing with what was before `sample`."""
    forget_turns(c)
    c.has_rates[0] = 1.0 if timed else 0.0
    stands = timed
    for k in range(2):
        for i in range(len(c.offset)):
            c.last[k, i] = 0.0
            c.most[k, i] = 0.0
            c.rate[k, i] = sample[2 + k, i] if timed else 0.0
            c.recent[k, i] = c.rate[k, i]
            c.change[k, i] = 0.0
            c.carried[k, i] = 0.0
            stands = stands and abs(c.rate[k, i]) < STANDS
    # of a robot that stands it is known what the casters do
    c.known[0] = TOGETHER if stands else FIRST


@inner
def forget_turns(c):
    """Begin the sums of the window anew."""
    c.span[0] = 0.0
    c.excess[0] = 0.0
    for k in range(2):
        for i in range(len(c.offset)):
            c.turned[k, i] = 0.0
            c.rated[k, i] = 0.0
            c.gained[k, i] = 0.0
            c.swept[k, i] = 0.0
            c.swing[k, i] = 0.0
            c.held[k, i] = 0.0


@kernel
def watch_channels(block, latch, sample, dt):
    """
    Do as `correct_leaps` and `compare_channels`, and renew the latch (3, n).

    `block` is one of Channels; `sample` (4, n) is corrected. Returns whether its rates are usable.
    """
    c = cut_channels(block, sample.shape[1])
    angles = borrowed(latch)
    values = borrowed(sample)
    correct_leaps(c, angles, values, dt)
    usable = compare_channels(c, angles, values, dt)
    for k in range(2):
        put(values[k], angles[k])
    return usable
