# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled plausibility of contact velocities and of the path of the platform; no checks.

Public side: grip.py. `contact` (n, 2) is the velocity of each contact point [along, across]
its wheel, m/s.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._odometry_kernels import LEAST_TRUST
from c3p_kinematics._planar_kernels import contact_rows, fit, log_row, measured
from c3p_kinematics._ring_kernels import coast, from_pose
from c3p_kinematics._slip_kernels import turn
from c3p_kinematics.odometry_states import CAPACITY, Grip, RigidFit

cut_grip = Grip.cut
cut_fit = RigidFit.cut

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
        along = 0.0
        across = 0.0
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


@inner
def plausibility(geometry, motion, dt, trust, grip):
    """
    Judge the step of `motion`, a RigidFit; return the verdict, and count how long a hold lasts.

    `trust` (n, 2) is 0 for a row along or across that is wrong whatever it measures, else 1.
    """
    measured(geometry, motion.wheel_rate, motion.steering_rate, grip.contact)
    age = grip.age[0]
    verdict = judge(geometry, motion.steering, dt, age if age < grip.longest_hold else math.inf,
                    trust, grip)
    # the first window shows the velocity from which the others are judged
    begins = age == math.inf and grip.time_error > 0.0
    if verdict == HELD:
        grip.age[0] = age + dt
    elif not (begins and grip.elapsed[0] < grip.window):
        grip.age[0] = 0.0
    grip.verdict[0] = verdict
    return verdict


@inner
def judge(geometry, steering, dt, age, trust, grip):
    """
    Compare contact velocities with those of the reference twist; return the verdict.

    A caster is plausible if its velocity in this step is, or its mean over the window: a wrong
    time between two samples spoils the former only. The reference follows the twist fitted to the
    means by no more than the acceleration allows, so that the noise of one sample does not let a
    lasting implausible acceleration through.

    Parameters
    ----------
    geometry, steering : arrays
    dt, age : float, s
        Time since the sample before; time for which the twist has been held.
    trust : (n, 2) array
    grip : Grip
        `contact` are the velocities in this step. `reference` is the plausible twist after the
        last sample, and is updated; `twist` becomes the one fitted to the plausible casters, or
        the reference while it is held; `weight` 1 for a plausible caster, LEAST_TRUST for another;
        `excess` the deviation of each contact velocity from the prediction.
    """
    n = len(steering)
    timed = grip.time_error == 0.0
    rolling = grip.fit.rolling
    axle = grip.fit.axle
    put(steering, grip.fit.steering)
    contact_rows(geometry, steering, rolling, axle)
    reference = grip.reference
    weight = grip.weight
    contact = grip.contact
    recent = grip.fit.contact
    # errors of a velocity in this step, and in that over the window: constant, and per speed
    noise = grip.noise + grip.resolution / dt
    mean_noise = noise
    late = 0.0
    if timed:
        for i in range(n):
            recent[i, 0] = contact[i, 0]
            recent[i, 1] = contact[i, 1]
    else:
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
    slower = True
    spun = False
    for i in range(n):
        along = 0.0
        across = 0.0
        for j in range(3):
            along += rolling[i, j] * reference[j]
            across += axle[i, j] * reference[j]
        grip.excess[i] = deviation(contact[i], along, across, trust[i])
        expected = math.hypot(along, across)
        speed = math.hypot(contact[i, 0], contact[i, 1])
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
    if plausible >= 2 and fit_recent(geometry, trust, grip):
        put(grip.fit.twist, grip.twist)
        follow(rolling, axle, reach, grip.fit.twist, reference)
        return ROLLING if plausible == n else PARTLY
    # wheels that agree with each other and have slowed down: the robot met an obstacle
    if slower:
        for i in range(n):
            weight[i] = 1.0
        agree = fit_recent(geometry, trust, grip)
        for i in range(n):
            speed = math.hypot(recent[i, 0], recent[i, 1])
            agree = agree and deviation(grip.fit.residual[i], 0.0, 0.0, trust[i]) <= (
                mean_noise + (grip.fraction + late) * speed)
        if agree:
            put(grip.fit.twist, grip.twist)
            put(grip.fit.twist, reference)
            return SLOWED
    for i in range(n):
        weight[i] = LEAST_TRUST
    put(reference, grip.twist)
    return HELD


@inner
def fit_recent(geometry, trust, grip):
    """Fit a twist to the velocities over the window; return whether it is determined."""
    least = LEAST_TRUST
    for i in range(len(trust)):
        # where rows are missing the others may not measure what an implausible wheel does
        if geometry[i, 4] == 0.0 or geometry[i, 5] == 0.0:
            least = 0.0
    for i in range(len(trust)):
        for j in range(2):
            believed = grip.weight[i] * trust[i, j]
            grip.fit.weight[i, j] = believed if believed > LEAST_TRUST else least
    fit(geometry, grip.fit)
    return math.isfinite(grip.fit.twist[0] + grip.fit.twist[1] + grip.fit.twist[2])


@inner
def departs(rolled, dt, lever, grip, ring):
    """
    Return how many steps of a ring belong to a motion beyond friction, −1 if none.

    The path since each of the poses 1, 2, 4, ... steps ago, up to some windows, may
    differ from that of the plausible twist there by ½ a t², by errors of velocities times t, and
    by the speed times the errors of the stamps at both ends: whatever the stamps between were.
    Wheels that have slowed down are those of a robot that met an obstacle.

    Parameters
    ----------
    rolled : (3,) array
        Pose after the present step, which is the next one of the ring.
    dt, lever : float, s and m
    grip : Grip
    ring : Ring
    """
    steps = ring.steps
    count = int(ring.count[0])
    went = ring.went
    time = dt
    back = 0
    due = 0
    while True:
        row = (count - back) % CAPACITY
        if back == due:
            reference = steps.reference[row]
            from_pose(steps.pose[row], rolled, went)
            log_row(went, went)
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
        if back > min(count, CAPACITY - 1):
            return -1
        row = (count - back) % CAPACITY
        time += steps.duration[row]
        if time > LONGEST_PATH * grip.window or steps.held[row] != 0.0:
            return -1


@kernel
def monitor_grip(block, geometry, motion, dt, trust):
    """Do as `plausibility`; `block` and `motion` are blocks of Grip and RigidFit."""
    n = len(geometry)
    plausibility(borrowed(geometry), cut_fit(motion, n), dt, borrowed(trust), cut_grip(block, n))
