# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled comparison of fault hypotheses; no checks. Public side: faults.py.

A row of measurement is along or across a wheel (columns 0 and 1), m/s. ``N`` is the matrix of the
normal equations of the weighted fit, ``R_i`` the two rows of caster i and ``D_i`` their weights.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import solve3
from c3p_kinematics._odometry_kernels import CHECKABLE, turn
from c3p_kinematics._planar_kernels import contact_rows, measured

# measurements that a hypothesis leaves out: along, across, across with another angle, both
ALONG, ACROSS, ANGLE, BOTH = 0, 1, 2, 3

# places in the memory of a caster: low-passed residual x, y; squared speeds along, across, of the
# steering axis, and of yaw; error of the angle by its integral; residual along at that angle;
# low-passed innovation along, across; innovations of the last sample, and of that before; time
# since a jump along, across; predicted turn since the wheel, the steering encoder last moved;
# low-passed predicted speed along; deviation of the integrated angle
(RX, RY, ROLLED, TOWED, STEERED, YAWED, OFF, HELD, IN, LAST, BEFORE, LEAPT, UNSEEN, AHEAD,
 UNSURE) = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 19)

# kinds of faults, columns of a table of probabilities
(ROLLING_SLIP, ROLLING_STUCK, ROLLING_JUMP, ROLLING_DRIFT, SIDE_SLIP, STEERING_STUCK,
 STEERING_JUMP, STEERING_DRIFT) = range(8)
KINDS = 8

# a jump is a sample whose innovation is so many times those beside it, and so many deviations of
# the low-passed one
ALONE, LEAP = 4.0, 8.0

# rolling speed per speed of the pivot up to which another steering angle explains it
FASTER = 1.05

# error of a fault's trace per its size, by the turning of the casters within the window
OF_FAULT = 0.05

# odds of side slip if the steering encoder has no count: its pivot must be jammed
JAMMED = 0.2

# largest statistic: beyond, exponentials are zero
LARGEST = 1e6


@kernel
def hypotheses(geometry, steering, wheel_rate, steering_rate, dt, gain, noise, leak, trusted,
               memory, statistic, innovation):
    """
    Add a sample to the memory; write χ² without what each hypothesis leaves out. Return χ² of all.

    Parameters
    ----------
    geometry, steering, wheel_rate, steering_rate : arrays
        As in `_planar_kernels`; rates are increments / `dt`.
    dt, gain : float
        Time since the sample before [s], and gain of the low-pass in [0, 1].
    noise : (7,) array
        Deviations: constant along and across, m/s; radius and offset, 1; zero, rad; hip, m; creep,
        1.
    leak : float, 1/m
        Rate at which an integrated angle returns to the measured one, per path.
    trusted : (n,) array
        0 for a caster whose steering encoder is known to be wrong: its integrated angle stays.
    memory : (n, MEMORY) array
        Updated.
    statistic : (n, 4) array
        χ² under each hypothesis, in the order of the constants above; written.
    innovation : (n, 2) array, m/s
        Low-passed velocity of each contact against the prediction of the others; written.
    """
    n = len(steering)
    rolling, axle, contact = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 2))
    variance, raw, value = np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2))
    measured(geometry, wheel_rate, steering_rate, contact)
    contact_rows(geometry, steering, rolling, axle)
    normal, right = np.zeros((3, 3)), np.zeros(3)
    for i in range(n):
        memory[i, ROLLED] += gain * (contact[i, 0] ** 2 - memory[i, ROLLED])
        memory[i, STEERED] += gain * (contact[i, 1] ** 2 - memory[i, STEERED])
        noise_of(memory[i], noise, variance[i])
        add(normal, right, rolling[i], axle[i], contact[i], variance[i], 1.0)
    twist = np.empty(3)
    solve3(normal, right, twist)
    if not math.isfinite(twist[0] + twist[1] + twist[2]):
        statistic[:] = 0.0
        innovation[:] = 0.0
        return 0.0
    without, towed, less = np.empty(3), np.empty(3), np.empty((3, 3))
    for i in range(n):
        raw[i, 0], raw[i, 1] = contact[i, 0], contact[i, 1]
        across = 0.0
        for j in range(3):
            raw[i, 0] -= rolling[i, j] * twist[j]
            raw[i, 1] -= axle[i, j] * twist[j]
            across += axle[i, j] * twist[j]
        across -= geometry[i, 2] * twist[2]
        memory[i, TOWED] += gain * (across ** 2 - memory[i, TOWED])
        memory[i, YAWED] += gain * (twist[2] ** 2 - memory[i, YAWED])
    # in base_link axes, in which errors of position increments cancel from sample to sample
    turn(steering, raw, value)
    for i in range(n):
        for j in range(2):
            memory[i, RX + j] += gain * (value[i, j] - memory[i, RX + j])
            value[i, j] = memory[i, RX + j]
    turn(steering, value, raw)
    # fit of the low-passed residuals
    right[:] = 0.0
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
    p, q = np.empty(3), np.empty(3)
    other = np.empty((1, 3)), np.empty((1, 3))
    for i in range(n):
        va, vc = variance[i, 0], variance[i, 1]
        solve3(normal, rolling[i], p)
        solve3(normal, axle[i], q)
        saa, sac, scc = 1.0, 0.0, 1.0
        for j in range(3):
            saa -= rolling[i, j] * p[j] / va
            sac -= rolling[i, j] * q[j] / math.sqrt(va * vc)
            scc -= axle[i, j] * q[j] / vc
        a, c = raw[i, 0] / math.sqrt(va), raw[i, 1] / math.sqrt(vc)
        statistic[i, ALONG] = total - a * a / saa if saa > CHECKABLE else total
        statistic[i, ACROSS] = total - c * c / scc if scc > CHECKABLE else total
        det = saa * scc - sac * sac
        if not det > CHECKABLE:
            # two casters: the others predict nothing
            statistic[i, ANGLE], statistic[i, BOTH] = total, total
            innovation[i] = 0.0
            continue
        left = total - (scc * a * a - 2.0 * sac * a * c + saa * c * c) / det
        statistic[i, BOTH] = left
        # the motion by the other casters, of this sample
        less[:], without[:] = 0.0, 0.0
        for k in range(n):
            if k != i:
                add(less, without, rolling[k], axle[k], contact[k], variance[k], 1.0)
        solve3(less, without, towed)
        follow_caster(geometry[i], steering[i], steering_rate[i], contact[i], towed, dt, gain,
                      leak * trusted[i], noise, rolling[i], axle[i], memory[i], other)
        solve3(less, other[0][0], p)
        spread = va + memory[i, UNSURE] ** 2 * memory[i, TOWED]
        for j in range(3):
            spread += other[0][0, j] * p[j]
        statistic[i, ANGLE] = left + memory[i, HELD] ** 2 / spread + math.log(
            spread / va)
        innovation[i, 0], innovation[i, 1] = memory[i, IN], memory[i, IN + 1]
    for i in range(n):
        for k in range(4):
            statistic[i, k] = min(max(statistic[i, k], 0.0), LARGEST)
    return min(total, LARGEST)


@kernel
def noise_of(row, noise, variance):
    """Write the variances of a contact velocity along and across by the speeds in memory."""
    creep = noise[6] ** 2 * (row[ROLLED] + row[TOWED]) + noise[5] ** 2 * row[YAWED]
    variance[0] = (noise[0] ** 2 + noise[2] ** 2 * row[ROLLED] + noise[4] ** 2 * row[TOWED]
                   + creep)
    variance[1] = (noise[1] ** 2 + noise[3] ** 2 * row[STEERED] + noise[4] ** 2 * row[ROLLED]
                   + creep)


@kernel
def add(normal, right, rolling, axle, contact, variance, sign):
    """Add the two measurements of a caster to the normal equations."""
    for j in range(3):
        right[j] += sign * (rolling[j] * contact[0] / variance[0]
                            + axle[j] * contact[1] / variance[1])
        for k in range(3):
            normal[j, k] += sign * (rolling[j] * rolling[k] / variance[0]
                                    + axle[j] * axle[k] / variance[1])


@kernel
def follow_caster(geometry, steering, steering_rate, contact, twist, dt, gain, leak, noise,
                  rolling, axle, row, other):
    """
    Integrate the angle of a caster that the others tow with `twist`, beside its encoder.

    A trailing caster turns towards the true angle by itself, one that is pushed turns away from
    it: there the leak grows with the speed. Updates its memory `row`; writes the rows of
    measurement at the integrated angle to `other`.
    """
    angle = np.array([steering - row[OFF]])
    contact_rows(geometry.reshape(1, 4), angle, other[0], other[1])
    along, ahead, predicted, expected = 0.0, 0.0, 0.0, 0.0
    across = contact[1]
    for j in range(3):
        along += other[0][0, j] * twist[j]
        predicted -= other[1][0, j] * twist[j] / geometry[2]
        ahead += rolling[j] * twist[j]
        across -= axle[j] * twist[j]
    expected = ahead
    # its error grows by those of offset and zero, and with the motion of the caster itself
    speed = math.hypot(contact[0], contact[1])
    pushed = 0.0 if leak == 0.0 else leak * speed + max(0.0, -along) / geometry[2]
    back = math.exp(-pushed * dt)
    row[OFF] = wrap_angle(back * (row[OFF] + (steering_rate - predicted) * dt))
    more = noise[3] * abs(predicted) + (noise[4] + noise[6]) * speed / geometry[2]
    row[UNSURE] = min(back * math.exp(-along / geometry[2] * dt) * row[UNSURE] + more * dt, 1.0)
    row[HELD] += gain * (contact[0] - along - row[HELD])
    # what was seen of this caster beyond the others
    for k in range(2):
        news = contact[0] - ahead if k == 0 else across
        row[IN + k] += gain * (news - row[IN + k])
        row[LEAPT + k] += dt
        last = abs(row[LAST + k])
        if gain * last > LEAP * noise[0] and last > ALONE * max(abs(news), abs(row[BEFORE + k])):
            row[LEAPT + k] = 0.0
        row[BEFORE + k], row[LAST + k] = row[LAST + k], news
    row[AHEAD] += gain * (ahead - row[AHEAD])
    # turns predicted since the encoders last moved
    row[UNSEEN] = 0.0 if contact[0] != 0.0 else row[UNSEEN] + expected / geometry[3] * dt
    row[UNSEEN + 1] = 0.0 if steering_rate != 0.0 else row[UNSEEN + 1] + predicted * dt


@kernel
def weigh(statistic, total, several, occam, prior, evidence, keep, add_part, posterior):
    """
    Add a sample to the evidence; write the probability of each hypothesis, given a fault.

    Parameters
    ----------
    statistic : (n, 4) array
        Of `hypotheses`.
    total : float
        χ² of all: errors grow with the fault, and all statistics are reduced accordingly.
    several, occam : float
        χ² that stands for faults of more than one caster, and what a second free component costs.
    prior : (4,) array
        Logarithms.
    evidence : (n + 1, 4) array
        −2 ln of the likelihoods, decaying by `keep`; the last row is for several. Updated.
    keep, add_part : float
        Of `evidence` to the next sample, and part of a new sample in it.
    posterior : (n, 4) array
        Written; the rest to 1 is several.
    """
    n, part = len(statistic), 1.0 / (1.0 + OF_FAULT**2 * total)
    for i in range(n):
        for k in range(4):
            cost = part * statistic[i, k] + (occam if k == BOTH else 0.0)
            evidence[i, k] = keep * evidence[i, k] + add_part * cost
    evidence[n, 0] = keep * evidence[n, 0] + add_part * several
    best = evidence[n, 0]
    for i in range(n):
        for k in range(4):
            best = min(best, evidence[i, k] - 2.0 * prior[k])
    total = math.exp(0.5 * (best - evidence[n, 0]))
    for i in range(n):
        for k in range(4):
            posterior[i, k] = math.exp(0.5 * (best - evidence[i, k]) + prior[k])
            total += posterior[i, k]
    for i in range(n):
        for k in range(4):
            posterior[i, k] /= total


@kernel
def kinds(posterior, memory, unmoved, jumped, driven, slips, table):
    """
    Write the probabilities (n, KINDS) of kinds of faults from those of hypotheses (n, 4).

    Parameters
    ----------
    posterior : (n, 4) array
    memory : (n, MEMORY) array
    unmoved : (2,) array, rad
        Predicted turns of wheel and steering axis without a count from which an encoder counts as
        stuck.
    jumped : (n, 2) bool array
    driven : (n,) bool array
    slips : float
        Probability of a slip against a drifting encoder, where neither can be excluded.
    table : (n, KINDS) array
        Written.
    """
    table[:] = 0.0
    for i in range(len(posterior)):
        along, across, angle = posterior[i, ALONG], posterior[i, ACROSS], posterior[i, ANGLE]
        # both components contradict: by a slip, or by an angle that could not be integrated,
        # unless the wheel rolls faster than its pivot moves
        both = posterior[i, BOTH]
        speed = math.hypot(memory[i, AHEAD], math.sqrt(memory[i, TOWED]))
        if abs(memory[i, AHEAD] + memory[i, IN]) < FASTER * speed:
            both *= 0.5
            angle += both
        # the larger one names a slip
        if abs(memory[i, IN]) > abs(memory[i, IN + 1]):
            along += both
        else:
            across += both
        if jumped[i, 0]:
            table[i, ROLLING_JUMP] = along
        elif abs(memory[i, UNSEEN]) > unmoved[0]:
            # a blocked wheel slides without a count as well
            table[i, ROLLING_SLIP] = table[i, ROLLING_STUCK] = 0.5 * along
        elif not driven[i] and memory[i, IN] * memory[i, AHEAD] > 0.0:
            # without a motor it is not faster than the floor
            table[i, ROLLING_DRIFT] = along
        else:
            table[i, ROLLING_SLIP], table[i, ROLLING_DRIFT] = slips * along, (1 - slips) * along
        if jumped[i, 1]:
            # no contact moves sideways for one sample only; behind the low-pass the jump lies
            # across the wheel halfway, not as it is now
            table[i, :] = 0.0
            table[i, STEERING_JUMP] = angle + across + along
        else:
            stuck = abs(memory[i, UNSEEN + 1]) > unmoved[1]
            table[i, SIDE_SLIP] = across * JAMMED if stuck else across
            table[i, STEERING_STUCK if stuck else STEERING_DRIFT] = angle
    whole = 1.0 - posterior.sum() + table.sum()
    if whole > 0.0:
        table /= whole
