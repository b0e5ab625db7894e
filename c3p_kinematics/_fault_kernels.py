# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled comparison of fault hypotheses; no checks. Public side: faults.py.

A row of measurement is along or across a wheel (columns 0 and 1), m/s. ``N`` is the matrix of the
normal equations of the weighted fit, ``R_i`` the two rows of caster i and ``D_i`` their weights.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import solve3
from c3p_kinematics._lasting_kernels import add_lasting, add_turn
from c3p_kinematics._planar_kernels import contact_rows, measured, pivot_speed
from c3p_kinematics._slip_kernels import CHECKABLE, clear_unmeasured, turn

# measurements that a hypothesis leaves out: along, across, across with another angle, both
ALONG, ACROSS, ANGLE, BOTH = 0, 1, 2, 3

# places in the memory of a caster: low-passed residual x, y; squared speeds along, across, of the
# steering axis, and of yaw; error of the angle by its integral; residual along at that angle;
# low-passed innovation along, across; innovations of the last sample, and of that before; time
# since a jump along, across; predicted turn since the wheel, the steering encoder last moved;
# low-passed predicted speed along; deviation of the integrated angle; usual speed at the last
# sample and at that before; gain of the last sample; squared rate of the steering angle
RX = 0
RY = 1
ROLLED = 2
TOWED = 3
STEERED = 4
YAWED = 5
OFF = 6
HELD = 7
IN = 8
LAST = 10
BEFORE = 12
LEAPT = 14
UNSEEN = 16
AHEAD = 18
UNSURE = 19
USUAL = 20
EARLIER = 21
GAIN = 22
SWUNG = 23

# window of the low-pass per deviation of the times of the joints: the path that a wrong time makes
# is the same in a longer window, that of a slip grows
WINDOW = 50.0

# a jump is a sample whose innovation is this many times those beside it, and this many deviations
# of the low-passed one
ALONE = 4.0
LEAP = 8.0
LATE_LEAP = 9.0

# least size of noise of an angle, in the errors of a wrong time, per deviation of the low-passed
# test: they have long tails and take themselves back as well
LATE_NOISE = 3.0

# largest statistic: beyond, exponentials are zero
LARGEST = 1e6


@inner
def hypotheses(geometry, motion, faults, dt):
    """
    Add a step to the memory; write χ² without what each hypothesis leaves out. Return χ² of all.

    Parameters
    ----------
    geometry : (n, 7) array
    motion : RigidFit
        Steering halfway and rates of the increments; its `contact` is written.
    faults : Faults
        `noise` has the deviations: constant along and across, m/s; radius and offset, 1; zero,
        rad; hip, m; creep, 1. At `leak` an integrated angle returns to the measured one; that of
        a caster without `trusted` stays. `memory`, `statistic` (in the order of the constants
        above) and `innovation` are written.
    dt : float, s
        Time since the sample before.
    """
    n = len(geometry)
    faults.window[0] = max(faults.time_constant, WINDOW * faults.skew[0])
    gain = -math.expm1(-dt / faults.window[0])
    steering = motion.steering
    contact = motion.contact
    memory = faults.memory
    statistic = faults.statistic
    innovation = faults.innovation
    rolling = motion.rolling
    axle = motion.axle
    work = faults.work
    variance = work.variance
    raw = work.raw
    value = work.value
    normal = work.normal
    right = work.right
    twist = work.twist
    measured(geometry, motion.wheel_rate, motion.steering_rate, contact)
    contact_rows(geometry, steering, rolling, axle)
    clear(normal, right)
    for i in range(n):
        if geometry[i, 4] != 0.0:
            memory[i, ROLLED] += gain * (contact[i, 0] ** 2 - memory[i, ROLLED])
        memory[i, STEERED] += gain * (contact[i, 1] ** 2 - memory[i, STEERED])
        if faults.steers[i] != 0.0:
            swung = motion.steering_rate[i] ** 2
            memory[i, SWUNG] += gain * (swung - memory[i, SWUNG])
        noise_of(memory[i], faults, geometry[i, 5], variance[i], work.lasting[i])
        add(normal, right, rolling[i], axle[i], contact[i], variance[i])
    solve3(normal, right, twist)
    if not math.isfinite(twist[0] + twist[1] + twist[2]):
        # all contact points coincide
        for i in range(n):
            for k in range(4):
                statistic[i, k] = 0.0
            for k in range(2):
                innovation[i, k] = 0.0
        return 0.0
    for i in range(n):
        raw[i, 0] = contact[i, 0]
        raw[i, 1] = contact[i, 1]
        across = 0.0
        for j in range(3):
            raw[i, 0] -= rolling[i, j] * twist[j]
            raw[i, 1] -= axle[i, j] * twist[j]
            across += axle[i, j] * twist[j]
        across -= geometry[i, 2] * twist[2] * geometry[i, 5]
        # the speed of a wheel without encoder is that of its pivot
        if geometry[i, 4] == 0.0:
            rolled = pivot_speed(geometry, steering, twist, i)
            memory[i, ROLLED] += gain * (rolled ** 2 - memory[i, ROLLED])
        memory[i, TOWED] += gain * (across ** 2 - memory[i, TOWED])
        memory[i, YAWED] += gain * (twist[2] ** 2 - memory[i, YAWED])
    # in base_link axes, in which errors of position increments cancel from sample to sample
    turn(steering, raw, value)
    for i in range(n):
        for j in range(2):
            memory[i, RX + j] += gain * (value[i, j] - memory[i, RX + j])
            value[i, j] = memory[i, RX + j]
    turn(steering, value, raw)
    clear_unmeasured(geometry, raw)
    # fit of the low-passed residuals
    for j in range(3):
        right[j] = 0.0
    for i in range(n):
        for j in range(3):
            right[j] += (rolling[i, j] * raw[i, 0] / variance[i, 0]
                         + axle[i, j] * raw[i, 1] / variance[i, 1])
    solve3(normal, right, twist)
    total = 0.0
    for i in range(n):
        for j in range(3):
            raw[i, 0] -= rolling[i, j] * twist[j]
            raw[i, 1] -= axle[i, j] * twist[j]
        total += raw[i, 0] ** 2 / variance[i, 0] + raw[i, 1] ** 2 / variance[i, 1]
    faults.total[0] = total
    p = work.column[0]
    q = work.column[1]
    other = work.rows[0, 0]
    for i in range(n):
        va = variance[i, 0]
        vc = variance[i, 1]
        solve3(normal, rolling[i], p)
        solve3(normal, axle[i], q)
        saa = 1.0
        sac = 0.0
        scc = 1.0
        for j in range(3):
            saa -= rolling[i, j] * p[j] / va
            sac -= rolling[i, j] * q[j] / math.sqrt(va * vc)
            scc -= axle[i, j] * q[j] / vc
        a = raw[i, 0] / math.sqrt(va)
        c = raw[i, 1] / math.sqrt(vc)
        statistic[i, ALONG] = total - a * a / saa if saa > CHECKABLE else total
        statistic[i, ACROSS] = total - c * c / scc if scc > CHECKABLE else total
        det = saa * scc - sac * sac
        if not det > CHECKABLE:
            # two casters: the others predict nothing
            statistic[i, ANGLE] = total
            statistic[i, BOTH] = total
            innovation[i, 0] = 0.0
            innovation[i, 1] = 0.0
            continue
        add_lasting(faults, i, raw[i], variance[i], (saa, scc), memory[i, AHEAD], dt)
        left = total - (scc * a * a - 2.0 * sac * a * c + saa * c * c) / det
        statistic[i, BOTH] = left
        # the motion by the other casters, of this sample
        clear(work.less, right)
        for k in range(n):
            if k != i:
                add(work.less, right, rolling[k], axle[k], contact[k], variance[k])
        solve3(work.less, right, work.towed)
        follow_caster(geometry, motion, faults, i, dt)
        speed = memory[i, ROLLED] + memory[i, TOWED] + memory[i, STEERED]
        error = ((LATE_NOISE * faults.skew[0]) ** 2 * speed + faults.rounding**2
                 + (faults.noise[4] * geometry[i, 2]) ** 2)
        add_turn(faults.lasting_memory[i], motion.steering_rate[i] * dt, memory[i, LAST + 1],
                 memory[i, BEFORE + 1], error, dt)
        # χ² along at the integrated angle, with its uncertainty and that of the others' motion
        solve3(work.less, other, p)
        spread = va + memory[i, UNSURE] ** 2 * memory[i, TOWED]
        for j in range(3):
            spread += other[j] * p[j]
        # the motion of the others does not turn a wheel below its pivot, or a fixed one; within
        # rounding of a singular posture of theirs it is unknown, with any sign of its variance
        if geometry[i, 5] != 1.0 or not spread >= va:
            statistic[i, ANGLE] = total
        else:
            statistic[i, ANGLE] = left + memory[i, HELD] ** 2 / spread + math.log(spread / va)
        innovation[i, 0] = memory[i, IN]
        innovation[i, 1] = memory[i, IN + 1]
    for i in range(n):
        for k in range(4):
            statistic[i, k] = min(max(statistic[i, k], 0.0), LARGEST)
    return min(total, LARGEST)


@kernel
def clear(normal, right):
    """Set normal equations to zero."""
    for j in range(3):
        right[j] = 0.0
        for k in range(3):
            normal[j, k] = 0.0


@inner
def noise_of(row, faults, factor, variance, lasting):
    """
    Write the variances of a contact velocity along and across by the speeds in memory.

    Creep of a tyre and its angle of side slip are unknown sizes of their own for each wheel,
    constant over the window and in proportion to the speed; without them, as of all unknown sizes
    with a prior, the test has their covariance, which is diagonal. Joints of other times are paths
    of the speed times the time, and other angles of the wheels: with any offset, and to the extent
    that the row across has its `factor`. `lasting` is without these and the rounding, which take
    themselves back.
    """
    noise = faults.noise
    window = faults.window[0]
    late = (faults.skew[0] / window) ** 2
    # turn of a steering angle within the error of the time
    angle = faults.skew[0] ** 2 * row[SWUNG]
    creep = noise[6] ** 2 * (row[ROLLED] + row[TOWED]) + noise[5] ** 2 * row[YAWED]
    rounding = (faults.rounding / window) ** 2
    lasting[0] = (noise[0] ** 2 + noise[2] ** 2 * row[ROLLED] + noise[4] ** 2 * row[TOWED]
                  + creep)
    lasting[1] = (noise[1] ** 2 + noise[3] ** 2 * row[STEERED] + noise[4] ** 2 * row[ROLLED]
                  + creep)
    variance[0] = lasting[0] + rounding + late * row[ROLLED] + angle * row[TOWED]
    variance[1] = lasting[1] + rounding + late * row[STEERED] + factor**2 * angle * row[ROLLED]


@kernel
def add(normal, right, rolling, axle, contact, variance):
    """Add the two measurements of a caster to the normal equations."""
    for j in range(3):
        right[j] += rolling[j] * contact[0] / variance[0] + axle[j] * contact[1] / variance[1]
        for k in range(3):
            normal[j, k] += (rolling[j] * rolling[k] / variance[0]
                             + axle[j] * axle[k] / variance[1])


@inner
def follow_caster(geometry, motion, faults, i, dt):
    """
    Integrate the angle of caster `i`, which the others tow, beside its encoder.

    A trailing caster turns towards the true angle by itself, one that is pushed turns away from
    it: there the leak grows with the speed. Updates its memory, and writes the rows of
    measurement at the integrated angle.
    """
    row = faults.memory[i]
    noise = faults.noise
    contact = motion.contact[i]
    trails = geometry[i, 5] == 1.0
    offset = geometry[i, 2] if trails else math.inf
    steering_rate = motion.steering_rate[i]
    gain = -math.expm1(-dt / faults.window[0])
    leak = faults.leak * faults.trusted[i]
    work = faults.work
    twist = work.towed
    other = work.rows[0]
    sideways = work.rows[1]
    work.angle[0] = motion.steering[i] - row[OFF]
    contact_rows(geometry[i:i + 1], work.angle, other, sideways)
    # of the caster in tow: speed along the integrated angle, turn of its axis; speed along the
    # measured angle; and what is measured across beyond it
    along = 0.0
    ahead = 0.0
    predicted = 0.0
    across = contact[1]
    for j in range(3):
        along += other[0, j] * twist[j]
        predicted -= sideways[0, j] * twist[j] / offset
        ahead += motion.rolling[i, j] * twist[j]
        across -= motion.axle[i, j] * twist[j]
    # its error grows by those of offset and zero, and with the motion of the caster itself
    speed = math.hypot(contact[0], contact[1])
    pushed = 0.0 if leak == 0.0 else leak * speed + max(0.0, -along) / offset
    back = math.exp(-pushed * dt)
    row[OFF] = wrap_angle(back * (row[OFF] + (steering_rate - predicted) * dt))
    more = noise[3] * abs(predicted) + (noise[4] + noise[6]) * speed / offset
    row[UNSURE] = min(back * math.exp(-along / offset * dt) * row[UNSURE] + more * dt, 1.0)
    row[HELD] += gain * (contact[0] - along - row[HELD])
    # what was seen of this caster beyond the others
    # by the speed before the last sample, whose innovation is judged: a jump raises its own speed
    late = faults.skew[0] / faults.window[0] * row[EARLIER]
    unusual = math.hypot(LEAP * noise[0], LATE_LEAP * late)
    row[EARLIER] = row[USUAL]
    row[USUAL] = math.sqrt(row[ROLLED] + row[TOWED] + row[STEERED])
    for k in range(2):
        news = contact[0] - ahead if k == 0 else across
        row[IN + k] += gain * (news - row[IN + k])
        row[LEAPT + k] += dt
        last = abs(row[LAST + k])
        if row[GAIN] * last > unusual and last > ALONE * max(abs(news), abs(row[BEFORE + k])):
            row[LEAPT + k] = 0.0
        row[BEFORE + k] = row[LAST + k]
        row[LAST + k] = news
    row[GAIN] = gain
    row[AHEAD] += gain * (ahead - row[AHEAD])
    # turns predicted since the encoders last moved
    row[UNSEEN] = 0.0 if contact[0] != 0.0 else row[UNSEEN] + ahead / geometry[i, 3] * dt
    row[UNSEEN + 1] = 0.0 if steering_rate != 0.0 else row[UNSEEN + 1] + predicted * dt
