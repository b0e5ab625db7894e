# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled probabilities of hypotheses of _fault_kernels.py, and kinds of faults by them; no checks.

Public side: faults.py and fault_report.py.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel
from c3p_kinematics._fault_kernels import ACROSS, AHEAD, ALONG, ANGLE, BOTH, IN, TOWED, UNSEEN
from c3p_kinematics._lasting_kernels import odds_of_ratio, white
from c3p_kinematics.odometry_states import KINDS

# error of a fault's trace per its size, by the turning of the casters within the window
OF_FAULT = 0.05

# cost of a second free component in each window, as −2 ln of a likelihood: of one wheel more names
# the fault of one measurement. Between wheels it costs no more than this: where a slip in both
# directions explains the same as another wheel, it may do so in all windows
OCCAM = 5.0
OCCAM_OF_WHEELS = 4.0

# rate at which fades what a caster left unexplained, per that of the evidence: another wheel may
# slip next, but which one is wrong does not change from moment to moment
LAPSE = 0.1

# time in which the odds of slip fall to 1/e, s: none lasts for ever
SLIP_TIME = 3.0

# kinds of faults, columns of a table of probabilities
(ROLLING_SLIP, ROLLING_STUCK, ROLLING_JUMP, ROLLING_DRIFT, SIDE_SLIP, STEERING_STUCK,
 STEERING_JUMP, STEERING_DRIFT, WHEEL_RATIO, LOST_COUNTS, STEERING_PLAY,
 STEERING_NOISE) = range(KINDS)

# odds that counts are lost where a wheel turns less than the platform moves; else it is larger
LOSSES = 0.6

# rolling speed per speed of the pivot up to which another steering angle explains it
FASTER = 1.05

# evidence of a play of the steering, per its limit, from which it is the cause of an alarm
PLAYS = 0.25

# odds of side slip if the steering encoder has no count: its pivot must be jammed
JAMMED = 0.2


@inner
def weigh(faults, keep, part):
    """
    Add a sample to the evidence; write the probability of each hypothesis, given a fault.

    Parameters
    ----------
    faults : Faults
        `prior` has the logarithms before this evidence. Written are `evidence`, −2 ln of
        likelihoods, its `windows`, and `posterior`.
    keep, part : float
        Of the evidence to the next sample, and part of a new sample in it.
    """
    n = len(faults.evidence)
    prior = faults.prior
    posterior = faults.posterior
    lasts = keep**LAPSE
    # a slip of a second or two in any direction is as usual as one along a wheel
    later = -math.expm1(-((faults.since[0] / SLIP_TIME) ** 2))
    evidence = faults.evidence
    # errors grow with the fault, and all statistics are reduced accordingly
    reduced = 1.0 / (1.0 + OF_FAULT**2 * faults.total[0])
    for i in range(n):
        for k in range(4):
            evidence[i, k] = keep * evidence[i, k] + part * reduced * faults.statistic[i, k]
        # the residual that remains without this caster, and by and by that of the best fault of
        # one of its encoders, since no slip lasts for ever
        one = min(faults.statistic[i, ALONG], min(faults.statistic[i, ACROSS],
                                                  faults.statistic[i, ANGLE]))
        more = (max(reduced * faults.statistic[i, BOTH] - faults.several, 0.0)
                + later * max(reduced * one - faults.several, 0.0))
        faults.unexplained[i] = lasts * faults.unexplained[i] + part * more
    faults.windows[0] = keep * faults.windows[0] + part
    several = faults.several * faults.windows[0]
    occam = OCCAM * faults.windows[0]
    spared = max(occam - OCCAM_OF_WHEELS, 0.0)
    # relative to the best, so that the exponentials do not underflow together
    best = several
    for i in range(n):
        for k in range(4):
            cost = evidence[i, k] + faults.unexplained[i] - 2.0 * prior[k]
            best = min(best, cost + occam - spared if k == BOTH else cost)
    total = math.exp(0.5 * (best - several))
    for i in range(n):
        of_wheel = 0.0
        of_kinds = 0.0
        for k in range(4):
            cost = evidence[i, k] + faults.unexplained[i] + (occam if k == BOTH else 0.0)
            posterior[i, k] = math.exp(0.5 * (best - cost) + prior[k])
            of_kinds += posterior[i, k]
            of_wheel += posterior[i, k] * (math.exp(0.5 * spared) if k == BOTH else 1.0)
        total += of_wheel
        for k in range(4):
            posterior[i, k] *= of_wheel / of_kinds if of_kinds > 0.0 else 0.0
    for i in range(n):
        for k in range(4):
            posterior[i, k] /= total


@inner
def kinds(faults, slips):
    """
    Write the probabilities of kinds of faults, `table`, from those of hypotheses, `posterior`.

    `slips` is the probability of a slip against a drifting encoder where neither can be excluded.
    """
    table = faults.table
    posterior = faults.posterior
    memory = faults.memory
    whole = 0.0
    for i in range(len(posterior)):
        for k in range(KINDS):
            table[i, k] = 0.0
        along = posterior[i, ALONG]
        across = posterior[i, ACROSS]
        angle = posterior[i, ANGLE]
        # both components contradict: by a slip, or by an angle that could not be integrated,
        # unless the wheel rolls faster than its pivot moves
        both = posterior[i, BOTH]
        speed = math.hypot(memory[i, AHEAD], math.sqrt(memory[i, TOWED]))
        if abs(memory[i, AHEAD] + memory[i, IN]) < FASTER * speed:
            both *= 0.5
            # a fixed wheel has no angle that is wrong
            if faults.steers[i] != 0.0:
                angle += both
            else:
                across += both
        # the larger one names a slip
        if abs(memory[i, IN]) > abs(memory[i, IN + 1]):
            along += both
        else:
            across += both
        if faults.jumped[i, 0] != 0.0:
            table[i, ROLLING_JUMP] = along
        elif abs(memory[i, UNSEEN]) > faults.unmoved[0]:
            # a blocked wheel slides without a count as well
            table[i, ROLLING_SLIP] = 0.5 * along
            table[i, ROLLING_STUCK] = 0.5 * along
        elif faults.driven[i] == 0.0 and memory[i, IN] * memory[i, AHEAD] > 0.0:
            # without a motor it is not faster than the floor
            table[i, ROLLING_DRIFT] = along
        else:
            table[i, ROLLING_SLIP] = slips * along
            table[i, ROLLING_DRIFT] = (1 - slips) * along
        if faults.jumped[i, 0] == 0.0 and abs(memory[i, UNSEEN]) <= faults.unmoved[0]:
            # in proportion to the path all the time, which no slip is
            odds = odds_of_ratio(faults, i)
            kept = 1.0 / (1.0 + odds)
            table[i, ROLLING_SLIP] *= kept
            table[i, ROLLING_DRIFT] *= kept
            put_ratio(faults, i, (1.0 - kept) * along)
        if faults.jumped[i, 1] != 0.0:
            # no contact moves sideways for one sample only; behind the low-pass the jump is
            # across the wheel halfway, not as it is now
            for k in range(KINDS):
                table[i, k] = 0.0
            table[i, STEERING_JUMP] = angle + across + along
        else:
            stuck = abs(memory[i, UNSEEN + 1]) > faults.unmoved[1]
            table[i, SIDE_SLIP] = across * JAMMED if stuck else across
            table[i, STEERING_STUCK if stuck else STEERING_DRIFT] = angle
            if faults.lasting[i, 2] > 1.0 and white(faults, i):
                move_kinds(table[i], STEERING_NOISE)
            elif faults.lasting[i, 1] > PLAYS:
                move_kinds(table[i], STEERING_PLAY)
    for i in range(len(posterior)):
        for k in range(4):
            whole += posterior[i, k]
    whole = 1.0 - whole + sum_of(table)
    if whole > 0.0:
        for i in range(len(posterior)):
            for k in range(KINDS):
                table[i, k] /= whole


@inner
def put_ratio(faults, i, probability):
    """Give the ratio of wheel `i` a `probability`; below one counts may be lost as well."""
    lost = LOSSES if faults.lasting_size[i, 0] < 0.0 else 0.0
    faults.table[i, WHEEL_RATIO] = (1.0 - lost) * probability
    faults.table[i, LOST_COUNTS] = lost * probability


@kernel
def move_kinds(row, kind):
    """Take side slip and a drifting steering encoder of a table `row` for `kind`."""
    row[kind] = row[SIDE_SLIP] + row[STEERING_DRIFT]
    row[SIDE_SLIP] = 0.0
    row[STEERING_DRIFT] = 0.0


@kernel
def sum_of(table):
    """Return the sum of all numbers of a `table` (n, KINDS)."""
    total = 0.0
    for i in range(len(table)):
        for k in range(KINDS):
            total += table[i, k]
    return total
