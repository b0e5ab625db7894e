# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled evidence of faults that last: a constant ratio of a wheel, play and noise of a steering.

Public side: faults.py. A fault of size b adds ``b x`` to a row of measurement, with x known from
the motion of the others. With the whitened residual z of the row, of variance S, and ``g = x/σ``
every independent sample adds to

    A = Σ g² S,   B = Σ g z,   E = Σ z²/S,   and   b = B/A ± 1/√A.

B²/A is the part of E that a constant b explains. ``lasting_memory`` of the state `Faults` has
these sums; they fade over a path. The ratio of a wheel has ``x = v``, its speed along by the
others. A play b of a steering gear lets the encoder lag by b/2 behind its joint, ``x = ½ s v``
across with s = ±1 the sense in which the encoder last turned; a wrong zero, x = v across, is a
second unknown.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel

# columns of the memory: of the ratio information, score, energy, number of windows, χ² of all; of
# the play information, score, energy; of the zero information and score, and information of both;
# energies by noise of the ratio and of the play; place of the encoder within the play; products of
# innovations across, with themselves and with those before, and what is expected of the former
(INFORMATION, SCORE, ENERGY, WINDOWS, TOTAL, PLAY_INFORMATION, PLAY_SCORE, PLAY_ENERGY,
 ZERO_INFORMATION, ZERO_SCORE, BOTH_INFORMATION, NOISE, PLAY_NOISE, SENSE, ROUGH, ALTERNATING,
 EXPECTED) = range(17)

# correlation time of creep behind the low-pass, s: samples within it are one
CREEP_TIME = 0.35

# speed below which nothing is learned, in those of a platform that stands
LEAST_SPEED = 2.0

# path over which the sums fade, in those over which integrated angles do
FADING_PATH = 2.5

# play of the gear that is expected, and least turn that shows the sense of turning, rad
PLAY = 0.005
TURNED = 0.02

# zero of a steering encoder that is expected, rad: real ones are 1 to 4 degrees off
ZERO = 0.03

# squared deviations beyond which a lasting fault exceeds the expected errors
CONTRADICTS = 16.0

# part of the energy beyond noise that a constant ratio and a play must explain, and largest mean
# χ² that may remain, in degrees of freedom; while a play is taken up its encoder stands
EXPLAINED = 0.6
PLAY_EXPLAINED = 0.4
REMAINS = 4.0

# error of a fault's trace per its size
OF_FAULT = 0.05

# part of a wrong zero that shows along the wheels, by the other casters
ZERO_ALONG = 0.5

# least number of independent windows
LEAST_WINDOWS = 4.0

# a ratio that is typical, and how much rarer one is than slip, −ln of its odds
TYPICAL = 0.1
RARER = 3.0

# squared deviations from 1 of a ratio that may be the cause of an alarm
SIGNIFICANT = 9.0

# time over which the innovations of single samples are compared, s, their correlation if the noise
# of an angle makes them, and size against the timing and rounding that are expected
ROUGH_TIME = 0.3
WHITE = -0.25
ROUGHER = 9.0


@inner
def add_lasting(faults, i, residual, variance, left, speed, dt):
    """
    Add a sample to the sums of caster `i`.

    Parameters
    ----------
    faults : Faults
        With the χ² of all casters, and variances of residuals that do not take themselves back: a
        wrong time or count does.
    i : int
    residual : (2,) array, m/s
        Low-passed, of the fit to all casters.
    variance : (2,) array, m²/s²
        Of the residual.
    left : (2,) tuple
        Part S of each row that the others can check.
    speed : float, m/s
        Along the wheel by the others.
    dt : float, s
        Since the sample before.
    """
    if abs(speed) < LEAST_SPEED * faults.standing:
        return
    row = faults.lasting_memory[i]
    lasting = faults.work.lasting[i]
    weight = 0.5 * dt / CREEP_TIME
    keep = math.exp(-abs(speed) * dt * faults.leak / FADING_PATH)
    for k in range(SENSE):
        row[k] *= keep
    deviation = math.sqrt(lasting[0])
    gain = speed / deviation
    z = residual[0] / deviation
    row[INFORMATION] += weight * gain * gain * left[0]
    row[SCORE] += weight * gain * z
    row[ENERGY] += weight * z * z / max(left[0], 1e-3)
    row[WINDOWS] += weight
    row[NOISE] += weight * variance[0] / lasting[0]
    row[PLAY_NOISE] += weight * variance[1] / lasting[1]
    row[TOTAL] += weight * faults.total[0]
    deviation = math.sqrt(lasting[1])
    gain = speed / deviation
    half = 0.5 * row[SENSE] / TURNED * gain
    z = residual[1] / deviation
    row[PLAY_INFORMATION] += weight * half * half * left[1]
    row[PLAY_SCORE] += weight * half * z
    row[PLAY_ENERGY] += weight * z * z / max(left[1], 1e-3)
    row[ZERO_INFORMATION] += weight * gain * gain * left[1]
    row[ZERO_SCORE] += weight * gain * z
    row[BOTH_INFORMATION] += weight * half * gain * left[1]


@inner
def add_turn(row, steered, news, before, error, dt):
    """
    Add the turn of an encoder, rad, and innovations across of this sample and the one before.

    The encoder is somewhere within the play; at an end of it the sense of turning is known.
    `error` is the variance of a path that rounding and times make, m².
    """
    row[SENSE] = min(max(row[SENSE] + steered, -TURNED), TURNED)
    # of position increments: weighted by the time they are of, m²
    part = min(dt / ROUGH_TIME, 1.0)
    now = news * dt
    last = before * dt
    row[ROUGH] += part * (now * now - row[ROUGH])
    row[ALTERNATING] += part * (now * last - row[ALTERNATING])
    row[EXPECTED] += part * (2.0 * error - row[EXPECTED])


@kernel
def estimate(information, score):
    """Return a size and its deviation by the information and score of its samples."""
    if not information > 0.0:
        return 0.0, math.inf
    return score / information, 1.0 / math.sqrt(information)


@kernel
def remains(row, explained):
    """Return the mean χ² that remains without what is `explained`; errors grow with the fault."""
    total = row[TOTAL] / row[WINDOWS]
    return (total - explained / row[WINDOWS]) / (1.0 + OF_FAULT**2 * total)


@inner
def judge_lasting(faults):
    """
    Write sizes, deviations and evidence of the lasting faults of each caster.

    The evidence is the squared size by its variance and that of expected errors, per its limit;
    0 where a constant size does not explain what contradicts.
    """
    n = len(faults.lasting)
    expected = faults.noise[2] ** 2 + (ZERO_ALONG * faults.noise[4]) ** 2
    degrees = 2.0 * n - 3.0
    most = 0.0
    rough = roughest(faults.lasting_memory)
    for i in range(n):
        row = faults.lasting_memory[i]
        size = faults.lasting_size[i]
        for k in range(3):
            faults.lasting[i, k] = 0.0
        ratio, deviation = estimate(row[INFORMATION], row[SCORE])
        size[0] = ratio
        size[1] = deviation
        # without the zero, which is unknown
        zero = row[ZERO_INFORMATION] + 1.0 / ZERO**2
        play_information = row[PLAY_INFORMATION] - row[BOTH_INFORMATION] ** 2 / zero
        play_score = row[PLAY_SCORE] - row[BOTH_INFORMATION] * row[ZERO_SCORE] / zero
        play, play_deviation = estimate(play_information, play_score)
        size[2] = play
        size[3] = play_deviation
        if row[WINDOWS] < LEAST_WINDOWS:
            continue
        explained = row[SCORE] * ratio
        free = row[ENERGY] - row[NOISE]
        rest = remains(row, explained)
        if explained > EXPLAINED * free and rest < REMAINS * degrees:
            faults.lasting[i, 0] = (ratio * ratio / (deviation * deviation + expected)
                                    / CONTRADICTS)
        explained = play_score * play
        free = row[PLAY_ENERGY] - row[PLAY_NOISE] - row[ZERO_SCORE] ** 2 / zero
        rest = remains(row, explained)
        if play > 0.0 and explained > PLAY_EXPLAINED * free and rest < REMAINS * degrees:
            faults.lasting[i, 1] = (play * play / (play_deviation**2 + PLAY**2) / CONTRADICTS)
        if i == rough and white(faults, i):
            faults.lasting[i, 2] = row[ROUGH] / (ROUGHER * row[EXPECTED])
        for k in range(3):
            most = max(most, faults.lasting[i, k])
    return most


@kernel
def roughest(memory):
    """Return the caster with the largest errors of single samples; others show a part of them."""
    best = 0
    for i in range(1, len(memory)):
        if memory[i, ROUGH] * memory[best, EXPECTED] > memory[best, ROUGH] * memory[i, EXPECTED]:
            best = i
    return best


@inner
def white(faults, i):
    """Return whether the innovations of caster `i` across alternate as noise of its angle does."""
    row = faults.lasting_memory[i]
    return row[ALTERNATING] < WHITE * row[ROUGH]


@inner
def odds_of_ratio(faults, i):
    """
    Return the odds of a constant ratio of wheel `i` against slips of any size.

    A free size in each of N windows explains all of E, a constant one B²/A; each free size costs a
    factor √(A b₀²/N), b₀ a typical ratio.
    """
    row = faults.lasting_memory[i]
    if row[WINDOWS] < 1.0 or not row[INFORMATION] > 0.0:
        return 0.0
    explained = row[SCORE] ** 2 / row[INFORMATION]
    if explained < SIGNIFICANT:
        return 0.0
    # errors of the trace grow with the fault
    reduced = 1.0 / (1.0 + OF_FAULT**2 * row[ENERGY] / row[WINDOWS])
    late = row[NOISE] - row[WINDOWS]
    left = max(reduced * (row[ENERGY] - explained - late), 0.0)
    cost = math.log1p(TYPICAL**2 * row[INFORMATION] / row[WINDOWS])
    return math.exp(min(max(0.5 * ((row[WINDOWS] - 1.0) * cost - left) - RARER, -50.0), 50.0))
