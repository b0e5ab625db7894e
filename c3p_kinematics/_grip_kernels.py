# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled plausibility of contact velocities and of the path of the platform; no checks.

Public side: grip.py. `contact` (n, 2) is the velocity of each contact point [along, across] its
wheel, m/s.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._odometry_kernels import LEAST_TRUST, turn
from c3p_kinematics._planar_kernels import contact_rows, fit, log_row
from c3p_kinematics._step_kernels import coast

# verdicts of `judge`: all casters plausible, some left out, all wheels slowed down together, held
ROLLING, PARTLY, SLOWED, HELD = 0, 1, 2, 3

# error of a time that is still plausible, in deviations
LARGEST_TIME = 6.0

# longest path that is judged, in windows: slow spins show in the long ones
LONGEST_PATH = 4.0


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
    plausible = 0
    slower, spun = True, False
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

    The path since each of the poses 1, 2, 4, ... steps ago, up to some windows, may
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
    time = dt
    back, due = 0, 0
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
        if time > LONGEST_PATH * grip.window or step[4] != 0.0:
            return -1


@kernel
def believed(weight, trust, trusted):
    """Write the weights (n, 2) of rows from those of casters (n,) and the `trust` (n, 2)."""
    for i in range(len(weight)):
        for j in range(2):
            trusted[i, j] = max(weight[i] * trust[i, j], LEAST_TRUST)
