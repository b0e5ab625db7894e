# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled alarm of the fault monitor, and what odometry does without; no checks.

Public side: faults.py. `faults` is the state `Faults` of odometry_states.py.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kinematics._fault_kernels import (
    ACROSS,
    LEAPT,
    ROLLED,
    TOWED,
    hypotheses,
)
from c3p_kinematics._fault_kind_kernels import (
    SIDE_SLIP,
    SLIP_TIME,
    STEERING_NOISE,
    STEERING_PLAY,
    STEERING_STUCK,
    WHEEL_RATIO,
    kinds,
    put_ratio,
    sum_of,
    weigh,
)
from c3p_kinematics._lasting_kernels import CONTRADICTS, judge_lasting
from c3p_kinematics._slip_kernels import ROUNDING, lengths
from c3p_kinematics.odometry_states import KINDS, Faults, RigidFit

cut_faults = Faults.cut
cut_fit = RigidFit.cut

# probabilities before any evidence: along, across, steering encoder, both components
PRIOR = np.log([0.5, 0.1, 0.1, 0.3])

# probability of slip against a wheel encoder that drifts, at the begin; its odds fall with time
SLIPS = 0.9

# odds of side slip of a caster without motor on a platform that stands, as nothing pushes it; and
# of another caster's fault at a jump
UNLIKELY = 0.05

# a jump so long before or after the begin of an alarm is its cause, s
SUDDEN = 0.1

# fraction of the largest statistic that is evidence, and the time in which that fades, s
FADED = 0.1
FADING = 0.1

# windows of the low-pass over which evidence adds up: another wheel may slip next
EVIDENCE = 2.5

# evidence of a lasting fault, per its limit, below which its alarm ends
LASTING_CLEAR = 0.5

# confidence from which a fault is named alone
SURE = 0.95

# probability of a wrong wheel encoder from which odometry does without the row along, and of any
# fault of a wheel or its angle from which it does without the caster
DOUBTED = 0.6


@inner
def watch_faults(geometry, motion, faults, dt):
    """Test the residuals of a step, start or end the alarm, and name the fault."""
    faults.total[0] = hypotheses(geometry, motion, faults, dt)
    faults.lasts[0] = judge_lasting(faults)
    lengths(faults.innovation, faults.speed)
    judge_faults(motion.wheel_rate, faults, dt)


@inner
def judge_faults(wheel_rate, faults, dt):
    """Start and end the alarm by the present χ²; during an alarm name the fault."""
    n = len(faults.trust)
    alarm = faults.alarm[0] != 0.0
    statistic = faults.total[0]
    lasts = faults.lasts[0]
    calm = statistic < faults.clear_below and lasts < LASTING_CLEAR
    if calm if alarm else statistic > faults.alarm_above or lasts > 1.0:
        change_alarm(wheel_rate, faults, dt)
    else:
        faults.held[0] = 0.0
        faults.path[0] = 0.0
    # two casters contradict each other, without a third that shows which is right
    if faults.alarm[0] != 0.0 and n > 2:
        name_fault(faults, dt)
        find_caster(faults)
    else:
        faults.caster[0] = -1.0
        faults.suspect[0] = -1.0
        for i in range(n):
            faults.trust[i, 0] = 1.0
            faults.trust[i, 1] = 1.0


@inner
def change_alarm(wheel_rate, faults, dt):
    """Start the alarm, or end it, once its condition has lasted."""
    alarm = faults.alarm[0] != 0.0
    trusted = True
    for i in range(len(wheel_rate)):
        trusted = trusted and faults.trusted[i] != 0.0
    wait = faults.release if alarm else faults.persistence
    # one sample alone is not enough, however long it lasts
    faults.held[0] += min(dt, max(wait, 2.0 * ROUNDING))
    faults.path[0] += fastest_wheel(wheel_rate, faults) * dt
    if faults.held[0] < wait + ROUNDING:
        return
    # a wrong steering angle contradicts nothing while the robot drives straight ahead
    if alarm and not trusted and faults.path[0] < faults.released_after:
        return
    faults.alarm[0] = 0.0 if alarm else 1.0
    faults.held[0] = 0.0
    faults.path[0] = 0.0
    faults.since[0] = 0.0
    faults.peak[0] = 0.0
    faults.windows[0] = 0.0
    for i in range(len(wheel_rate)):
        faults.trusted[i] = 1.0
        for k in range(2):
            faults.jumped[i, k] = 0.0
        for k in range(4):
            faults.evidence[i, k] = 0.0
        faults.unexplained[i] = 0.0


@inner
def fastest_wheel(wheel_rate, faults):
    """Return the speed of the fastest wheel, m/s."""
    fastest = 0.0
    for i in range(len(wheel_rate)):
        fastest = max(fastest, abs(wheel_rate[i] * faults.radius[i]))
    return fastest


@inner
def name_fault(faults, dt):
    """Write the probability of each kind of fault at each caster."""
    n = len(faults.memory)
    memory = faults.memory
    statistic = faults.total[0]
    faults.since[0] += dt
    faults.peak[0] = max(statistic, faults.peak[0] * math.exp(-dt / FADING))
    if faults.since[0] < SUDDEN:
        for i in range(n):
            for k in range(2):
                if memory[i, LEAPT + k] < SUDDEN:
                    faults.jumped[i, k] = 1.0
    # what decays behind the low-pass is weaker evidence than what began it
    least = faults.alarm_above
    if faults.since[0] > faults.window[0]:
        least = max(least, FADED * faults.peak[0])
    if statistic < least:
        if faults.lasts[0] > LASTING_CLEAR:
            name_lasting(faults)
        return
    fastest = 0.0
    leapt = False
    for i in range(n):
        fastest = max(fastest, memory[i, ROLLED] + memory[i, TOWED])
        leapt = leapt or faults.jumped[i, 0] + faults.jumped[i, 1] > 0.0
    for k in range(4):
        faults.prior[k] = PRIOR[k]
    # a wheel that stands on a standing platform is not pushed sideways
    if math.sqrt(fastest) < faults.standing and faults.all_free != 0.0:
        faults.prior[ACROSS] += math.log(UNLIKELY)
    # samples within the window of the low-pass are one
    weigh(faults, math.exp(-dt / (EVIDENCE * faults.window[0])), dt / faults.window[0])
    odds = SLIPS / (1.0 - SLIPS) * math.exp(-faults.since[0] / SLIP_TIME)
    kinds(faults, odds / (1.0 + odds))
    if leapt:
        doubt_others(faults)
    # an angle that is wrong is not integrated back to the encoder
    for i in range(n):
        wrong = 0.0
        for k in range(STEERING_STUCK, WHEEL_RATIO):
            wrong += faults.table[i, k]
        if wrong > 0.5:
            faults.trusted[i] = 0.0


@inner
def name_lasting(faults):
    """Write the probabilities of lasting faults, which contradict by their sum alone."""
    table = faults.table
    for i in range(len(table)):
        for k in range(KINDS):
            table[i, k] = 0.0
        for k in range(3):
            evidence = 0.5 * CONTRADICTS * (faults.lasting[i, k] - faults.lasts[0])
            chance = math.exp(evidence) if faults.lasting[i, k] > 0.0 else 0.0
            if k == 0:
                put_ratio(faults, i, chance)
            else:
                table[i, STEERING_PLAY if k == 1 else STEERING_NOISE] = chance
    # beside them: none of these, to the extent that the evidence is small
    whole = sum_of(table) + math.exp(-0.5 * CONTRADICTS * faults.lasts[0])
    for i in range(len(table)):
        for k in range(KINDS):
            table[i, k] /= whole


@inner
def doubt_others(faults):
    """Lower the probability of casters without a jump: no slip of them begins at once."""
    table = faults.table
    several = 1.0 - sum_of(table)
    for i in range(len(table)):
        if faults.jumped[i, 0] == 0.0 and faults.jumped[i, 1] == 0.0:
            for k in range(KINDS):
                table[i, k] *= UNLIKELY
    whole = sum_of(table) + several
    for i in range(len(table)):
        for k in range(KINDS):
            table[i, k] /= whole


@inner
def find_caster(faults):
    """Write the most probable caster, and the measurements that odometry does without."""
    caster = -1
    most = 0.0
    whole = 0.0
    for i in range(len(faults.table)):
        here = 0.0
        for k in range(KINDS):
            here += faults.table[i, k]
        faults.trust[i, 0] = 1.0
        faults.trust[i, 1] = 1.0
        whole += here
        if here > most:
            caster = i
            most = here
    # the rest to 1 is several casters
    if caster >= 0 and most <= 1.0 - whole:
        caster = -1
    faults.caster[0] = caster
    faults.suspect[0] = -1.0
    if caster >= 0 and most >= SURE and leave_out(faults.table[caster], faults.trust[caster]):
        faults.suspect[0] = caster


@kernel
def leave_out(probability, trust):
    """
    Write 0 into the rows `trust` (2,) that odometry does without; return whether there is one.

    `probability` (KINDS,) is of each kind at the caster. A wrong wheel encoder spoils the row
    along alone. A wrong steering angle spoils both, and a tyre that spins does not hold the wheel
    sideways either; they are left out too where it is not known which of the three it is.
    """
    rolling = 0.0
    rest = 0.0
    for k in range(KINDS):
        if 0 < k < SIDE_SLIP or WHEEL_RATIO <= k < STEERING_PLAY:
            rolling += probability[k]
        # an angle with play or noise is right on the average
        if k != SIDE_SLIP and k < STEERING_PLAY:
            rest += probability[k]
    if rolling < DOUBTED and rest < DOUBTED:
        return False
    trust[0] = 0.0
    if rolling < DOUBTED:
        trust[1] = 0.0
    return True


@kernel
def monitor_faults(block, geometry, motion, dt):
    """Do as `watch_faults`; `block` and `motion` are blocks of Faults and RigidFit."""
    n = len(geometry)
    watch_faults(borrowed(geometry), cut_fit(motion, n), cut_faults(block, n), dt)


@kernel
def decide_faults(block, wheel_rate, dt):
    """Do as `judge_faults`; `block` is one of Faults."""
    judge_faults(borrowed(wheel_rate), cut_faults(block, len(wheel_rate)), dt)
