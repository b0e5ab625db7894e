# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled odometry: increments, gaps, covariance, slip isolation, plausibility; no checks.

Public sides: odometry.py, slip.py and grip.py. `contact` (n, 2) is the velocity of each contact
point [along, across] its wheel, `variance` (n,) the noise variance of both, m²/s².
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._planar_kernels import (
    contact_rows,
    fit,
    integrate_row,
    log_row,
    measured,
    put,
    solve,
    solve3,
    wrap_angle,
)
from c3p_kinematics.compiled import kernel

# intervals into which a gap is divided: casters may swing by a radian in one
BRIDGE_STEPS = 32

# eigenvalue of the fraction of a caster's velocity that the others can check, below which it is
# rounding: the others leave that direction open
CHECKABLE = 1e-9

# fraction of its weight that a caster keeps however certain its slip is: the fit stays well posed
LEAST_TRUST = 1e-3

# verdicts of `judge`: all casters plausible, some left out, all wheels slowed down together, held
ROLLING, PARTLY, SLOWED, HELD = 0, 1, 2, 3

# error of a time that is still plausible, in deviations
LARGEST_TIME = 4.0


@kernel
def increments(latch, steering, wheel, dt, middle, wheel_rate, steering_rate):
    """
    Write the steering halfway and the mean rates since `latch` (3, n); renew the latch.

    Its last row is 1 for wheels whose positions wrap at a turn.
    """
    for i in range(len(steering)):
        turned = wrap_angle(steering[i] - latch[0, i])
        rolled = wrap_angle(wheel[i] - latch[1, i])
        if abs(wheel[i] - latch[1, i]) > math.pi:
            latch[2, i] = 1.0
        middle[i] = latch[0, i] + 0.5 * turned
        steering_rate[i], wheel_rate[i] = turned / dt, rolled / dt
        latch[0, i], latch[1, i] = steering[i], wheel[i]


@kernel
def advance(pose, twist, dt):
    """Move `pose` by exp(twist dt)."""
    step = np.empty(3)
    for j in range(3):
        step[j] = twist[j] * dt
    integrate_row(pose, step, pose)


@kernel
def refit(geometry, casters, steps, count, span, wheel, pose):
    """
    Undo the newest steps of a ring up to the age `span` [s] and repeat them without `wheel`.

    Arguments as of `repeat`.
    """
    repeat(geometry, casters, steps, first_within(steps, count, span), count, wheel, False, pose)


@kernel
def first_within(steps, count, span):
    """Return the number of the oldest step of a ring that began at most `span` [s] ago."""
    used, age = 0, 0.0
    while used < min(count, len(steps)):
        age += steps[(count - 1 - used) % len(steps), 3]
        if age > span:
            break
        used += 1
    return count - used


@kernel
def hold_back(steps, first, count, reference, before, pose):
    """
    Undo the steps of a ring from number `first` on, and hold the twist since; return its duration.

    Wheels that spin are recognised after some samples, and have moved the pose meanwhile.
    `reference` (3,) becomes the plausible twist before step `first`, as it is now in
    ``base_link``, and `before` (3,) the pose there; `steps` (k, 11) as of `repeat`.
    """
    size, age = len(steps), 0.0
    for k in range(count - 1, first - 1, -1):
        advance(pose, steps[k % size, :3], -steps[k % size, 3])
    put(pose, before)
    put(steps[first % size, 5:8], reference)
    for k in range(first, count):
        step = steps[k % size]
        put(reference, step[5:8])
        put(pose, step[8:])
        coast(reference, step[3])
        put(reference, step[:3])
        step[4] = 1.0
        advance(pose, reference, step[3])
        age += step[3]
    return age


@kernel
def coast(twist, dt):
    """Turn a `twist` (3,) into the axes of the platform after `dt` [s] at that velocity."""
    c, s = math.cos(twist[2] * dt), math.sin(twist[2] * dt)
    twist[0], twist[1] = c * twist[0] + s * twist[1], c * twist[1] - s * twist[0]


@kernel
def repeat(geometry, casters, steps, first, count, wheel, free, pose):
    """
    Undo the steps of a ring from number `first` on, and repeat them.

    Parameters
    ----------
    geometry : (n, 4) array
    casters : (k, 5, n) array
        Rows of each step: steering, wheel rate, steering rate, and weight along and across.
    steps : (k, 11) array
        Twist, duration, 1 for a held twist, and plausible twist and pose before the step; is
        updated.
    first, count : int
        First step to repeat; `count` steps have been written, at most the last k of them are kept.
    wheel : int
        Caster to do without; −1 for none.
    free : bool
        Steps with a held twist are repeated by what the wheels rolled; else they stay.
    pose : (3,) array
        Updated.
    """
    n, size = casters.shape[2], len(steps)
    weight, residual = np.empty((n, 2)), np.empty((n, 2))
    twist, unit = np.empty(3), np.empty((3, 3))
    # backwards to the pose before the oldest of them
    for k in range(count - 1, first - 1, -1):
        advance(pose, steps[k % size, :3], -steps[k % size, 3])
    for k in range(first, count):
        step, caster = steps[k % size], casters[k % size]
        put(step[:3], twist)
        held = step[4] != 0.0
        if free if held else wheel >= 0:
            put(caster[3], weight[:, 0])
            put(caster[4], weight[:, 1])
            if wheel >= 0:
                for j in range(2):
                    weight[wheel, j] = min(weight[wheel, j], LEAST_TRUST)
            solve(geometry, caster[0], caster[1], caster[2], weight, twist, residual, unit)
            if math.isfinite(twist[0] + twist[1] + twist[2]):
                put(twist, step[:3])
                step[4] = 0.0
            else:
                put(step[:3], twist)
        put(pose, step[8:])
        advance(pose, twist, step[3])


@kernel
def bridge(geometry, latch, steering, wheel, before, after, dt, largest, lever, pose):
    """
    Move `pose` over a gap by positions alone and renew the latch; return the path length, m.

    A wheel may have made whole turns. Multi-turn positions include them; for positions that wrap
    they follow from the rates `before` and `after` the gap (nan: unknown). Both angles are assumed
    to change evenly within the gap. If a wheel would have turned faster than `largest` [rad/s] and
    than 1.5 times its rates, its counter was reset: the pose stays and −1 is returned. `lever` [m]
    converts yaw to metres.
    """
    n = len(steering)
    rolled, turned, rolling, turning = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    # increment of each angle, whole turns of the wheels included
    for i in range(n):
        turned[i] = wrap_angle(steering[i] - latch[0, i])
        raw = wheel[i] - latch[1, i]
        near, expected = wrap_angle(raw), 0.5 * (before[i] + after[i]) * dt
        rolled[i] = near
        if latch[2, i] != 0.0:
            if math.isfinite(expected):
                rolled[i] += 2.0 * math.pi * round((expected - near) / (2.0 * math.pi))
        elif abs(raw) > 2.0 * math.pi or abs(raw - expected) < abs(near - expected):
            rolled[i] = raw
        fastest = largest
        for rate in (abs(before[i]), abs(after[i])):
            if 1.5 * rate > fastest:
                fastest = 1.5 * rate
        if abs(rolled[i]) > math.pi + fastest * dt:
            return -1.0
        rolling[i], turning[i] = rolled[i] / dt, turned[i] / dt
    # one constant twist per interval, at the steering halfway
    middle, weight, twist = np.empty(n), np.ones((n, 2)), np.empty(3)
    spare, unit = np.empty((n, 2)), np.empty((3, 3))
    place, length, part = pose.copy(), 0.0, dt / BRIDGE_STEPS
    for k in range(BRIDGE_STEPS):
        for i in range(n):
            middle[i] = latch[0, i] + turned[i] * (k + 0.5) / BRIDGE_STEPS
        solve(geometry, middle, rolling, turning, weight, twist, spare, unit)
        if not math.isfinite(twist.sum()):
            return -1.0
        advance(place, twist, part)
        length += part * (math.hypot(twist[0], twist[1]) + lever * abs(twist[2]))
    put(place, pose)
    put(steering, latch[0])
    put(wheel, latch[1])
    return length


@kernel
def add_slip(covariance, yaw, unit, amount):
    """Add `amount` times the body-frame covariance `unit` to the floor-frame `covariance`."""
    c, s = math.cos(yaw), math.sin(yaw)
    xx, xy, yy = unit[0, 0], unit[0, 1], unit[1, 1]
    xz, yz = c * unit[0, 2] - s * unit[1, 2], s * unit[0, 2] + c * unit[1, 2]
    covariance[0, 0] += amount * (c * c * xx - 2.0 * c * s * xy + s * s * yy)
    covariance[1, 1] += amount * (s * s * xx + 2.0 * c * s * xy + c * c * yy)
    covariance[2, 2] += amount * unit[2, 2]
    covariance[0, 1] += amount * (c * s * (xx - yy) + (c * c - s * s) * xy)
    covariance[0, 2] += amount * xz
    covariance[1, 2] += amount * yz
    covariance[1, 0] = covariance[0, 1]
    covariance[2, 0], covariance[2, 1] = covariance[0, 2], covariance[1, 2]


@kernel
def grow(covariance, anchor, pose, growth, lever, least):
    """
    Transport `covariance` to `pose` and add the growth of the path; return its length.

    ``P ← F P Fᵀ + Q`` with F = [[1, 0, −Δy], [0, 1, Δx], [0, 0, 1]], the first order of the
    adjoint of SE(2) for errors along floor axes. `growth` holds the variances of position per
    metre and per radian, of yaw per metre and per radian. Below a motion of `least` [m] (`lever`
    converts yaw to metres) the covariance and the anchor stay and −1 is returned: encoders that
    flicker at standstill add nothing.
    """
    dx, dy, turned = pose[0] - anchor[0], pose[1] - anchor[1], wrap_angle(pose[2] - anchor[2])
    length, angle = math.hypot(dx, dy), abs(turned)
    if length + lever * angle < least:
        return -1.0
    p02, p12, p22 = covariance[0, 2], covariance[1, 2], covariance[2, 2]
    covariance[0, 0] += dy * (dy * p22 - 2.0 * p02)
    covariance[1, 1] += dx * (dx * p22 + 2.0 * p12)
    covariance[0, 1] += dx * p02 - dy * p12 - dx * dy * p22
    covariance[0, 2] -= dy * p22
    covariance[1, 2] += dx * p22
    place = growth[0] * length + growth[1] * angle
    covariance[0, 0] += place
    covariance[1, 1] += place
    covariance[2, 2] += growth[2] * length + growth[3] * angle
    covariance[1, 0] = covariance[0, 1]
    covariance[2, 0], covariance[2, 1] = covariance[0, 2], covariance[1, 2]
    put(pose, anchor)
    return length


@kernel
def turn(steering, vectors, out):
    """Turn [along, across] into (x, y) of ``base_link``, or back: it is a reflection."""
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        p, q = vectors[i, 0], vectors[i, 1]
        out[i, 0], out[i, 1] = -s * p + c * q, c * p + s * q


@kernel
def leave_one_out(geometry, steering, contact, variance, residual, without):
    """
    Fit all casters, then all but one; return the χ² of all, write that of the others in `without`.

    Leaving caster k out lowers χ² by ``w rᵀ S⁻¹ r`` with r its residual and ``S = 1 − w J N⁻¹ Jᵀ``
    the fraction of its velocity that the others can check: no second fit is needed. Where S is
    singular (two casters) the open direction explains nothing.
    """
    n = len(steering)
    weight, twist, information = np.empty((n, 2)), np.empty(3), np.empty((3, 3))
    for i in range(n):
        weight[i, 0] = weight[i, 1] = 1.0 / variance[i]
    fit(geometry, steering, contact, weight, twist, residual, information)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    contact_rows(geometry, steering, rolling, axle)
    total = 0.0
    for i in range(n):
        total += (residual[i, 0] ** 2 + residual[i, 1] ** 2) / variance[i]
    # N⁻¹ Jᵀ of one caster, column by column, and from it S
    p, q = np.empty(3), np.empty(3)
    for i in range(n):
        solve3(information, rolling[i], p)
        solve3(information, axle[i], q)
        s00, s01, s11 = 1.0, 0.0, 1.0
        for j in range(3):
            s00 -= weight[i, 0] * rolling[i, j] * p[j]
            s01 -= weight[i, 0] * rolling[i, j] * q[j]
            s11 -= weight[i, 0] * axle[i, j] * q[j]
        a, b = residual[i, 0], residual[i, 1]
        trace, det = s00 + s11, s00 * s11 - s01 * s01
        drop = 0.0
        if det > CHECKABLE * trace * trace and trace > CHECKABLE:
            drop = (s11 * a * a - 2.0 * s01 * a * b + s00 * b * b) / det
        elif trace > CHECKABLE:
            drop = (s00 * a * a + 2.0 * s01 * a * b + s11 * b * b) / (trace * trace)
        without[i] = max(total - weight[i, 0] * drop, 0.0)
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


@kernel
def track(geometry, steering, wheel_rate, steering_rate, gain, noise, speed_fraction, mean, power,
          variance, contact, residual, without):
    """
    Low-pass the residuals in ``base_link`` axes and test them; return the χ² of all.

    `gain` in [0, 1] is that of the low-pass; `mean` (n, 2) and `power` (n,) are its memory: mean
    residual and mean squared contact speed. The filtered residuals are written to `contact`.
    """
    n = len(steering)
    twist, information = np.empty(3), np.empty((3, 3))
    measured(geometry, wheel_rate, steering_rate, contact)
    for i in range(n):
        speed = contact[i, 0] ** 2 + contact[i, 1] ** 2
        power[i] += gain * (speed - power[i])
        variance[i] = noise * noise + speed_fraction * speed_fraction * power[i]
    fit(geometry, steering, contact, np.ones((n, 2)), twist, residual, information)
    # in base_link axes, in which errors of position increments cancel from sample to sample
    turn(steering, residual, contact)
    for i in range(n):
        for j in range(2):
            # a fit that failed (all contact points in one place) is no evidence
            new = contact[i, j] if math.isfinite(contact[i, j]) else 0.0
            mean[i, j] += gain * (new - mean[i, j])
    turn(steering, mean, contact)
    statistic = leave_one_out(geometry, steering, contact, variance, residual, without)
    if not math.isfinite(statistic):
        residual[:] = 0.0
        without[:] = 0.0
        return 0.0
    return statistic


@kernel
def lengths(vectors, length):
    """Write the lengths (n,) of `vectors` (n, 2)."""
    for i in range(len(vectors)):
        length[i] = math.sqrt(vectors[i, 0] * vectors[i, 0] + vectors[i, 1] * vectors[i, 1])


@kernel
def follow(rolling, axle, reach, target, reference):
    """Move `reference` towards `target`, no contact point by more than `reach`, m/s."""
    fastest = 0.0
    for i in range(len(rolling)):
        along, across = 0.0, 0.0
        for j in range(3):
            change = target[j] - reference[j]
            along += rolling[i, j] * change
            across += axle[i, j] * change
        fastest = max(fastest, math.hypot(along, across))
    part = 1.0 if fastest <= reach else reach / fastest
    for j in range(3):
        reference[j] += part * (target[j] - reference[j])


@kernel
def smooth(steering, contact, gain, mean, recent):
    """
    Low-pass contact velocities into `mean` (n, 2), and write them to `recent` [along, across].

    The low-pass is in ``base_link`` axes, in which errors of position increments cancel from
    sample to sample; with a gain in proportion to the time so do those of the stamps.
    """
    turn(steering, contact, recent)
    for i in range(len(steering)):
        for j in range(2):
            mean[i, j] += gain * (recent[i, j] - mean[i, j])
    turn(steering, mean, recent)


@kernel
def deviation(contact, along, across, trust):
    """Return the distance of a contact velocity from [along, across] in trusted rows."""
    return math.hypot(trust[0] * (contact[0] - along), trust[1] * (contact[1] - across))


@kernel
def judge(geometry, steering, contact, dt, age, trust, grip):
    """
    Compare contact velocities with those of the reference twist; return the verdict.

    A caster is plausible if its velocity in this step is, or its mean over the window: a wrong
    time between two samples spoils the former only. The reference follows the twist fitted to the
    means by no more than the acceleration allows, so that the noise of one sample does not let a
    lasting implausible acceleration through.

    Parameters
    ----------
    geometry, steering, contact : arrays
    dt, age : float, s
        Time since the sample before; time for which the twist has been held.
    trust : (n, 2) array
        0 for a row along or across that is wrong whatever it measures, else 1.
    grip : GripState
        `reference` is the plausible twist after the last sample, in ``base_link``, and is updated;
        `twist` becomes the one fitted to the plausible casters, or the reference while it is held;
        `weight` 1 for a plausible caster, LEAST_TRUST for another; `excess` the deviation of each
        contact velocity from the prediction.
    """
    n, timed = len(steering), grip.time_error == 0.0
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    contact_rows(geometry, steering, rolling, axle)
    reference, weight = grip.reference, grip.weight
    recent = contact
    # errors of a velocity in this step, and in that over the window: constant, and per speed
    noise = mean_noise = grip.noise + grip.resolution / dt
    late = 0.0
    if not timed:
        recent = np.empty((n, 2))
        grip.elapsed[0] += dt
        gain = max(-math.expm1(-dt / grip.window), dt / grip.elapsed[0])
        smooth(steering, contact, gain, grip.mean, recent)
        mean_noise = grip.noise + grip.resolution / grip.window
        late = LARGEST_TIME * grip.time_error / grip.window
    # a constant velocity over the floor, seen from the turning platform
    coast(reference, dt)
    # the bound of each contact velocity
    reach = grip.acceleration * (age + dt)
    held = 0.0 < age < math.inf
    plausible, slower, spun = 0, True, False
    for i in range(n):
        along, across = 0.0, 0.0
        for j in range(3):
            along += rolling[i, j] * reference[j]
            across += axle[i, j] * reference[j]
        grip.excess[i] = deviation(contact[i], along, across, trust[i])
        speed, expected = math.hypot(contact[i, 0], contact[i, 1]), math.hypot(along, across)
        within = grip.excess[i] <= reach + noise + grip.fraction * max(speed, expected)
        speed = math.hypot(recent[i, 0], recent[i, 1])
        allowed = reach + mean_noise + grip.fraction * max(speed, expected) + (
            late * (expected + reach) if late > 0.0 else 0.0)
        # a held twist waits for a step that is plausible: the mean still has the spin in it
        calm = deviation(recent[i], along, across, trust[i]) <= allowed
        within = within or (calm and not held and not timed)
        spun = spun or not calm
        # a caster without a row to trust is not plausible either
        within = within and trust[i, 0] + trust[i, 1] > 0.0
        weight[i] = 1.0 if within else LEAST_TRUST
        whole = trust[i, 0] == 1.0 and trust[i, 1] == 1.0
        plausible += within and whole
        slower = slower and (speed <= expected + reach + mean_noise
                             + grip.fraction * max(speed, expected) or not whole)
    if held and spun and not timed:
        # the mean begins anew after the spin
        smooth(steering, contact, 1.0, grip.mean, recent)
        grip.elapsed[0] = dt
    # two plausible casters determine the twist
    trusted = np.empty((n, 2))
    fitted, residual, information = np.empty(3), np.empty((n, 2)), np.empty((3, 3))
    if plausible >= 2:
        believed(weight, trust, trusted)
        fit(geometry, steering, recent, trusted, fitted, residual, information)
        if math.isfinite(fitted[0] + fitted[1] + fitted[2]):
            put(fitted, grip.twist)
            follow(rolling, axle, reach, fitted, reference)
            return ROLLING if plausible == n else PARTLY
    # wheels that agree with each other and have slowed down: the robot met an obstacle
    if slower:
        weight[:] = 1.0
        believed(weight, trust, trusted)
        fit(geometry, steering, recent, trusted, fitted, residual, information)
        agree = math.isfinite(fitted[0] + fitted[1] + fitted[2])
        for i in range(n):
            speed = math.hypot(recent[i, 0], recent[i, 1])
            agree = agree and deviation(residual[i], 0.0, 0.0, trust[i]) <= (
                mean_noise + (grip.fraction + late) * speed)
        if agree:
            put(fitted, grip.twist)
            put(fitted, reference)
            return SLOWED
    weight[:] = LEAST_TRUST
    put(reference, grip.twist)
    return HELD


@kernel
def departs(rolled, dt, lever, grip, steps, count):
    """
    Return how many steps of a ring belong to a motion beyond friction, −1 if none.

    The path since each of the poses 1, 2, 4, ... steps ago, up to the duration of the window, may
    differ from that of the plausible twist there by ½ a t², by errors of velocities times t, and
    by the speed times the errors of the stamps at both ends: whatever the stamps between were.
    Wheels that have slowed down are those of a robot that met an obstacle.

    Parameters
    ----------
    rolled : (3,) array
        Pose after the present step, which is number `count`.
    dt, lever : float, s and m
    grip : GripState
    steps : (k, 11) array
        As of `repeat`.
    count : int
    """
    went, undo = np.empty(3), np.empty(3)
    time, back, due = dt, 0, 0
    while True:
        step = steps[(count - back) % len(steps)]
        if back == due:
            reference, pose = step[5:8], step[8:]
            c, s = math.cos(pose[2]), math.sin(pose[2])
            dx, dy = rolled[0] - pose[0], rolled[1] - pose[1]
            undo[0], undo[1], undo[2] = c * dx + s * dy, c * dy - s * dx, rolled[2] - pose[2]
            log_row(undo, went)
            speed = math.hypot(reference[0], reference[1]) + lever * abs(reference[2])
            path = math.hypot(went[0], went[1]) + lever * abs(went[2])
            apart = math.hypot(went[0] - time * reference[0], went[1] - time * reference[1])
            apart += lever * abs(wrap_angle(went[2] - time * reference[2]))
            velocity = 0.5 * grip.acceleration * time + grip.noise + grip.fraction * speed
            late = LARGEST_TIME * grip.time_error * (speed + grip.acceleration * time)
            allowed = grip.resolution + velocity * time + late
            if apart > allowed and path > time * speed + allowed:
                return back
            due = 2 * due + 1
        back += 1
        if back > min(count, len(steps) - 1):
            return -1
        step = steps[(count - back) % len(steps)]
        time += step[3]
        if time > grip.window or step[4] != 0.0:
            return -1


@kernel
def believed(weight, trust, trusted):
    """Write the weights (n, 2) of rows from those of casters (n,) and the `trust` (n, 2)."""
    for i in range(len(weight)):
        for j in range(2):
            trusted[i, j] = max(weight[i] * trust[i, j], LEAST_TRUST)
