# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled slip monitor: residuals, alarm, and the wheel that slips; no checks.

Public side: slip.py. `slip` is the state `SlipWatch` of odometry_states.py; `steering` (n,) is
halfway along a step, rad.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.small import put, solve3
from c3p_kinematics._odometry_kernels import LEAST_TRUST
from c3p_kinematics._planar_kernels import fit, measured, pivot_speed
from c3p_kinematics.odometry_states import RigidFit, SlipWatch

cut_slip = SlipWatch.cut
cut_fit = RigidFit.cut

# eigenvalue of the fraction of a caster's velocity that the others can check, below which it is
# rounding: the others leave that direction open
CHECKABLE = 1e-9

# error of what a slip leaves at the other casters per its size
OF_SLIP = 0.05

# time in which fades what a caster left unexplained, s
LASTING = 1.0

# time in which the χ² that stands for several casters falls to 1/e, s: no slip lasts for ever, and
# with three casters a single equation is left, which exchanged casters may fulfil
SLIP_TIME = 2.0

# margin by which a change must outlast its time, s: where that is a multiple of the period, the
# last bit of a stamp must not shift the alarm by a sample
ROUNDING = 1e-6


@kernel
def turn(steering, vectors, out):
    """Turn [along, across] into (x, y) of ``base_link``, or back: it is a reflection."""
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        p = vectors[i, 0]
        q = vectors[i, 1]
        out[i, 0] = -s * p + c * q
        out[i, 1] = c * p + s * q


@kernel
def clear_unmeasured(geometry, vectors):
    """Set [along, across] without a row of measurement to zero, into which `turn` mixes."""
    for i in range(len(vectors)):
        for j in range(2):
            if geometry[i, 4 + j] == 0.0:
                vectors[i, j] = 0.0


@inner
def leave_one_out(geometry, steering, slip):
    """
    Fit the contact velocities of all casters, then of all but one; return the χ² of all.

    The χ² of the others is written to ``slip.without``. Leaving caster k out lowers χ² by
    ``w rᵀ S⁻¹ r`` with r its residual and ``S = 1 − w J N⁻¹ Jᵀ`` the fraction of its velocity that
    the others can check: no second fit is needed. Where S is singular (two casters) the open
    direction explains nothing.
    """
    n = len(steering)
    put(steering, slip.fit.steering)
    variance = slip.variance
    weight = slip.fit.weight
    for i in range(n):
        weight[i, 0] = 1.0 / variance[i]
        weight[i, 1] = 1.0 / variance[i]
    fit(geometry, slip.fit)
    residual = slip.fit.residual
    rolling = slip.fit.rolling
    axle = slip.fit.axle
    total = 0.0
    for i in range(n):
        total += (residual[i, 0] ** 2 + residual[i, 1] ** 2) / variance[i]
    # N⁻¹ Jᵀ of one caster, column by column, and from it S
    p = slip.fit.column[0]
    q = slip.fit.column[1]
    for i in range(n):
        solve3(slip.fit.information, rolling[i], p)
        solve3(slip.fit.information, axle[i], q)
        s00 = 1.0
        s01 = 0.0
        s11 = 1.0
        for j in range(3):
            s00 -= weight[i, 0] * rolling[i, j] * p[j]
            s01 -= weight[i, 0] * rolling[i, j] * q[j]
            s11 -= weight[i, 0] * axle[i, j] * q[j]
        a = residual[i, 0]
        b = residual[i, 1]
        trace = s00 + s11
        det = s00 * s11 - s01 * s01
        drop = 0.0
        if det > CHECKABLE * trace * trace and trace > CHECKABLE:
            drop = (s11 * a * a - 2.0 * s01 * a * b + s00 * b * b) / det
        elif trace > CHECKABLE:
            drop = (s00 * a * a + 2.0 * s01 * a * b + s11 * b * b) / (trace * trace)
        slip.without[i] = max(total - weight[i, 0] * drop, 0.0)
    return total


@kernel
def posterior(without, several, likelihood):
    """
    Write the probability of each caster to be the one that slips, given that at least one does.

    Equal priors, Gaussian noise; the hypothesis "more than one" competes with the χ² `several`.
    """
    # relative to the best χ², so that the exponentials do not underflow together
    best = several
    for value in without:
        best = min(best, value)
    total = math.exp(0.5 * (best - several))
    for i in range(len(without)):
        likelihood[i] = math.exp(0.5 * (best - without[i]))
        total += likelihood[i]
    for i in range(len(without)):
        likelihood[i] /= total


@inner
def track(geometry, motion, slip, dt):
    """
    Low-pass the residuals of a step in ``base_link`` axes and test them; return the χ² of all.

    `motion` is the RigidFit of the increments. The filtered residuals become the contact
    velocities of ``slip.fit``, and what does not fit its residuals.
    """
    n = len(geometry)
    gain = -math.expm1(-dt / slip.time_constant) if dt > 0.0 else 0.0
    late = slip.skew[0] / slip.time_constant
    fraction = slip.fraction * slip.fraction + late * late
    contact = slip.fit.contact
    residual = slip.fit.residual
    put(motion.steering, slip.fit.steering)
    # noise of a contact velocity: constant, and in proportion to the speed by wrong lengths
    measured(geometry, motion.wheel_rate, motion.steering_rate, contact)
    for i in range(n):
        slip.fit.weight[i, 0] = 1.0
        slip.fit.weight[i, 1] = 1.0
    fit(geometry, slip.fit)
    for i in range(n):
        rolled = contact[i, 0]
        # the speed of a wheel without encoder is that of its pivot
        if geometry[i, 4] == 0.0 and math.isfinite(slip.fit.twist[2]):
            rolled = pivot_speed(geometry, motion.steering, slip.fit.twist, i)
        speed = rolled ** 2 + contact[i, 1] ** 2
        slip.power[i] += gain * (speed - slip.power[i])
        slip.variance[i] = slip.noise * slip.noise + fraction * slip.power[i]
    # in base_link axes, in which errors of position increments cancel from sample to sample
    turn(motion.steering, residual, contact)
    for i in range(n):
        for j in range(2):
            # a fit that failed (all contact points in one place) is not evidence
            new = contact[i, j] if math.isfinite(contact[i, j]) else 0.0
            slip.mean[i, j] += gain * (new - slip.mean[i, j])
    turn(motion.steering, slip.mean, contact)
    clear_unmeasured(geometry, contact)
    statistic = leave_one_out(geometry, motion.steering, slip)
    if not math.isfinite(statistic):
        for i in range(n):
            slip.without[i] = 0.0
            residual[i, 0] = 0.0
            residual[i, 1] = 0.0
        return 0.0
    return statistic


@kernel
def lengths(vectors, length):
    """Write the lengths (n,) of `vectors` (n, 2)."""
    for i in range(len(vectors)):
        length[i] = math.sqrt(vectors[i, 0] * vectors[i, 0] + vectors[i, 1] * vectors[i, 1])


@inner
def watch_slip(geometry, motion, slip, dt):
    """Test the residuals of a step, start or end the alarm, and isolate the wheel."""
    slip.statistic[0] = track(geometry, motion, slip, dt)
    lengths(slip.fit.residual, slip.speed)
    judge_slip(geometry, motion.steering, slip, max(dt, 0.0))


@inner
def judge_slip(geometry, steering, slip, dt):
    """Start and end the alarm by the present χ²; during an alarm isolate the wheel."""
    # hysteresis in level and time: the time before a change begins anew whenever χ² returns to
    # the other side of its limit
    slipping = slip.slipping[0] != 0.0
    statistic = slip.statistic[0]
    changing = statistic < slip.clear_below if slipping else statistic > slip.alarm_above
    wait = slip.release if slipping else slip.persistence
    # one sample alone is not enough, however long it lasts
    slip.held[0] = slip.held[0] + min(dt, max(wait, 2.0 * ROUNDING)) if changing else 0.0
    if changing and slip.held[0] >= wait + ROUNDING:
        slipping = not slipping
        slip.slipping[0] = 1.0 if slipping else 0.0
        slip.held[0] = 0.0
    slip.suspect[0] = -1.0
    slip.confidence[0] = 0.0
    if slipping:
        slip.since[0] += dt
        add_unexplained(slip, dt)
        isolate(geometry, steering, slip)
    else:
        # an alarm that begins soon again is the same
        keep = math.exp(-dt / LASTING)
        slip.since[0] *= keep
        for i in range(len(slip.unexplained)):
            slip.unexplained[i] *= keep


@inner
def add_unexplained(slip, dt):
    """
    Add up what is left without each caster beyond what a single slip leaves.

    For a moment any one of several wrong casters may explain all residuals; not for a second.
    """
    n = len(slip.unexplained)
    if n < 3:
        return
    keep = math.exp(-dt / LASTING)
    reduced = 1.0 / (1.0 + OF_SLIP**2 * slip.statistic[0])
    part = 2.0 * dt / slip.time_constant
    for i in range(n):
        more = max(reduced * slip.without[i] - slip.several, 0.0)
        slip.unexplained[i] = keep * slip.unexplained[i] + part * more


@inner
def isolate(geometry, steering, slip):
    """Write the probability of each wheel to slip, the suspect, and the speed of its slip."""
    n = len(geometry)
    for i in range(n):
        slip.likelihood[i] = 1.0 / n
    # with two casters either may slip
    if n > 2:
        for i in range(n):
            slip.speed[i] = slip.without[i] + slip.unexplained[i]
        several = slip.several * math.exp(-slip.since[0] / SLIP_TIME)
        posterior(slip.speed, several, slip.likelihood)
        best = 0
        for i in range(1, n):
            if slip.likelihood[i] > slip.likelihood[best]:
                best = i
        if slip.speed[best] < slip.several:
            slip.suspect[0] = best
            slip.confidence[0] = slip.likelihood[best]
    # each caster is de-weighted by its probability to slip: the residual of the suspect against
    # the others is its slip
    for i in range(n):
        weight = max(1.0 - slip.likelihood[i], LEAST_TRUST) / slip.variance[i]
        slip.fit.weight[i, 0] = weight
        slip.fit.weight[i, 1] = weight
    put(steering, slip.fit.steering)
    fit(geometry, slip.fit)
    lengths(slip.fit.residual, slip.speed)


@kernel
def monitor_slip(block, geometry, motion, dt):
    """Do as `watch_slip`; `block` and `motion` are blocks of SlipWatch and RigidFit."""
    n = len(geometry)
    watch_slip(borrowed(geometry), cut_fit(motion, n), cut_slip(block, n), dt)


@kernel
def leave_out_each(block, geometry, steering):
    """Do as `leave_one_out` and write ``slip.speed``; `block` is one of SlipWatch."""
    slip = cut_slip(block, len(geometry))
    statistic = leave_one_out(borrowed(geometry), borrowed(steering), slip)
    lengths(slip.fit.residual, slip.speed)
    return statistic


@kernel
def isolate_wheel(block, geometry, steering):
    """Do as `isolate`; `block` is one of SlipWatch."""
    isolate(borrowed(geometry), borrowed(steering), cut_slip(block, len(geometry)))


@kernel
def decide_slip(block, geometry, steering, dt):
    """Do as `judge_slip`; `block` is one of SlipWatch."""
    judge_slip(borrowed(geometry), borrowed(steering), cut_slip(block, len(geometry)), dt)
