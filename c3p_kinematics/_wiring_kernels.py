# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled comparison of wirings over a window of motion; no checks. Public side: wiring_monitor.py.

A caster moves its contact point c by u = r Δθ_x e − d Δθ_s a. A platform that moves rigidly by
(p, ω) moves all of them by u = p + ω ẑ×c, so that the least squares have a closed form,

    ω = Σ (c − c̄)×(u − ū) / Σ |c − c̄|²,    χ² σ² = Σ |u − ū|² − ω² Σ |c − c̄|².

Under a hypothesis c and u are those of its rearranged angles. Its cost is −2 ln of a likelihood
and adds up over the windows; that of a window is the least of

    no fault: χ²;   caster k at fault: χ² without it + FAULT;   several at fault: SEVERAL

with BEGIN more in the window where a fault begins.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kinematics._fault_alarm_kernels import SURE
from c3p_kinematics._wiring_fit_kernels import (
    BEGIN,
    EXCLUDED,
    FORGIVEN,
    misfit_without,
    place_contacts,
)
from c3p_kinematics._wiring_side_kernels import compare_sides, open_sides
from c3p_kinematics.wiring_states import WiringCosts, WiringWindow

cut_costs = WiringCosts.cut
cut_window = WiringWindow.cut

# cost of the two free components of one caster's fault, and of faults of several
FAULT = 10.0
SEVERAL = 24.0

# a description that is wrong in another manner contradicts in each window; it overtakes lasting
# faults of several casters by this per window
LASTING = 2.0

# a window ends when a contact has moved by LONGEST wheel radii or a caster has steered by FARTHEST
# [rad]: the error of the mean angle is then 0.4 % of the path
LONGEST = 0.6
FARTHEST = 0.3

# least path of a contact in a window, wheel radii
SHORTEST = 0.05

# steps of the odometry in a window
FEWEST = 5

# windows in a row in which the description is the less likely one, until it is doubted
REPEATED = 3.0

# a wrong wiring explains a window better with less than this part of the χ² of the description
BETTER = 0.9

# ln of the growth of a caster's angle by a hypothesis that is excluded then: it would have been
# right to 0.003°, with creep and side slip of 1 % beside it
LED = 10.0

# values of `alarm`: none, one that begins if its condition lasts, one whose first window is not
# judged yet, or later
NEAR, BEGINS, LASTS = 1.0, 2.0, 3.0


@inner
def watch_window(motion, window, alarm, near, dt):
    """
    Add a step to the window; mark it as due when it is long enough, or an alarm has begun.

    A window that ends while an alarm is `near`, which begins if its condition lasts, and shows no
    other wiring, is the first one of that alarm: until another has `FEWEST` steps no caster would
    be named.
    """
    farthest = 0.0
    longest = 0.0
    n = len(window.begun)
    radius = 0.0
    if window.steps[0] == 0.0:
        for i in range(n):
            window.begun[i] = motion.steering[i] - 0.5 * motion.steering_rate[i] * dt
            window.turned[0, i] = 0.0
            window.turned[1, i] = 0.0
        window.time[0] = 0.0
    for i in range(n):
        window.turned[0, i] += motion.steering_rate[i] * dt
        window.turned[1, i] += motion.wheel_rate[i] * dt
        radius += window.length[1, i] / n
        farthest = max(farthest, abs(window.turned[0, i]))
        longest = max(longest, window.length[0, i] * abs(window.turned[0, i])
                      + window.length[1, i] * abs(window.turned[1, i]))
    window.steps[0] += 1.0
    window.time[0] += dt
    if not alarm:
        window.proved[0] = 0.0
    if alarm and window.alarm[0] < BEGINS:
        window.alarm[0] = BEGINS
        window.judged[0] = 0.0
    elif near and window.alarm[0] == 0.0:
        window.alarm[0] = NEAR
    elif not (alarm or near):
        window.alarm[0] = 0.0
    begins = window.alarm[0] == BEGINS
    if (window.steps[0] >= FEWEST and longest > SHORTEST * radius
            and (longest > LONGEST * radius or farthest > FARTHEST or begins)):
        window.due[0] = 1.0


@inner
def share_of_caster(window, caster):
    """
    Return the factor of the probability that `caster` is at fault, −1 for none.

    Where its own joints alone are wrongly described it is at fault as well.
    """
    if window.open[0] == 0.0:
        return 1.0
    right = window.right[0] + (window.own[caster] if caster >= 0 else 0.0)
    # a lasting fault adds to the cost of the description in each window, until another wiring
    # costs less: the caster stays named until that one is sure
    if window.proved[0] != 0.0 and right > 1.0 - SURE:
        return 1.0
    # no caster is accused in an alarm that a wrong wiring may explain as well
    return right if right >= SURE and window.judged[0] != 0.0 else min(0.5, right)


@inner
def add_cost(costs, k, precision):
    """Add the cost of the window to hypothesis `k`, whose contacts are placed; return its χ²."""
    n = len(costs.contact)
    plain = precision * misfit_without(costs, -1)
    begin = 0.0 if costs.faulty[k] > 0.0 else BEGIN
    fault = SEVERAL
    # two casters do not show which of them is at fault
    if n > 2 and plain > FAULT:
        for i in range(n):
            fault = min(fault, FAULT + precision * misfit_without(costs, i))
    costs.faulty[k] = 1.0 if fault + begin < plain else 0.0
    costs.cost[k] += min(plain, fault + begin)
    costs.fault[k] = fault
    costs.misfit[k] += plain
    return plain


@inner
def leads(costs, k):
    """
    Return whether a caster has led for too long by hypothesis `k`, whose contacts are placed.

    A caster whose pivot moves by s against the direction in which it trails turns away from it by
    a factor of exp(s/d), whatever its friction is.
    """
    found = False
    for i in range(len(costs.ahead)):
        # the motion of a caster at fault is not known
        led = costs.led[k, i] - costs.unstable[i] * costs.ahead[i]
        costs.led[k, i] = max(led, 0.0) if costs.faulty[k] == 0.0 else 0.0
        found = found or costs.led[k, i] > LED
    return found


@inner
def add_lasting(costs, before):
    """Add to the last hypothesis, a description that is wrong in another manner."""
    k = len(costs.cost) - 1
    right = costs.cost[0]
    # it contradicts in each window, and needs no fault to begin
    spent = SEVERAL - LASTING
    if costs.faulty[0] > 0.0 and costs.faulty[k] == 0.0:
        spent += BEGIN
    costs.faulty[k] = costs.faulty[0]
    # from any time on, so that its distance does not grow
    costs.cost[k] = min(before + spent, right + costs.prior[k])


@kernel
def judge_window(block, sizes, geometry, window):
    """
    Add the costs of a window to those of all hypotheses, and begin the next.

    Parameters
    ----------
    block : array
        Of WiringCosts; hypothesis 0 is the description, the last is another wrong one.
    sizes : tuple of int
    geometry : (n, 7) array
    window : array
        Of WiringWindow.
    """
    geometry = borrowed(geometry)
    costs = cut_costs(block, sizes)
    n = len(geometry)
    window = cut_window(window, n)
    for i in range(n):
        middle = window.begun[i] + 0.5 * window.turned[0, i]
        costs.cosine[i] = math.cos(middle)
        costs.sine[i] = math.sin(middle)
        costs.turned[0, i] = window.turned[0, i]
        costs.turned[1, i] = window.turned[1, i]
    # the same variance for all hypotheses
    square = place_contacts(geometry, costs, 0) / n
    skewed = costs.skew / max(window.time[0], costs.skew)
    variance = costs.noise * costs.noise + square * (costs.fraction * costs.fraction
                                                     + skewed * skewed)
    last = len(costs.cost) - 1
    described = 0.0
    rival = math.inf
    for k in range(last):
        if costs.excluded[k] == 0.0:
            place_contacts(geometry, costs, k)
            plain = add_cost(costs, k, 1.0 / variance)
            if k == 0:
                described = plain
            elif leads(costs, k):
                costs.excluded[k] = 1.0
            else:
                rival = min(rival, plain)
    add_lasting(costs, costs.cost[last])
    costs.windows[0] += 1.0
    weigh(costs, window)
    # the window of a caster that is named does not show the side of a turn: its drift is like one
    if open_sides(costs) > 0 and window.proved[0] == 0.0:
        fine = costs.noise * costs.noise + square * (costs.creep * costs.creep + skewed * skewed)
        compare_sides(geometry, costs, 1.0 / fine)
    window.steps[0] = 0.0
    window.due[0] = 0.0
    # until the description needs a fault by these windows, too, or no wiring does better
    judged = costs.faulty[0] > 0.0 or rival >= BETTER * described
    if judged:
        window.judged[0] = 1.0
    if window.alarm[0] == BEGINS or (judged and window.alarm[0] == NEAR):
        window.alarm[0] = LASTS


@inner
def weigh(costs, window):
    """Exclude hypotheses, and write the probability of the description and of an open doubt."""
    last = len(costs.cost) - 1
    least = costs.cost[0]
    for k in range(1, last + 1):
        if costs.excluded[k] == 0.0:
            least = min(least, costs.cost[k])
    costs.cost[0] = min(costs.cost[0], least + FORGIVEN)
    whole = 0.0
    left = 0
    for k in range(last + 1):
        if costs.excluded[k] == 0.0 and k != last and costs.cost[k] > costs.cost[0] + EXCLUDED:
            costs.excluded[k] = 1.0
        if costs.excluded[k] == 0.0:
            costs.cost[k] = min(costs.cost[k] - least, FORGIVEN)
            left += 1 if 0 < k < last else 0
        costs.probability[k] = (math.exp(-0.5 * costs.cost[k]) if costs.excluded[k] == 0.0
                                else 0.0)
        whole += costs.probability[k]
    for k in range(last + 1):
        costs.probability[k] /= whole
    right = costs.probability[0]
    window.right[0] = right
    for i in range(len(window.own)):
        window.own[i] = 0.0
    for k in range(last + 1):
        if costs.caster[k] >= 0.0:
            window.own[int(costs.caster[k])] += costs.probability[k]
    window.open[0] = 1.0 if left > 0 or right < SURE else 0.0
    window.against[0] = window.against[0] + 1.0 if right < 0.5 else 0.0
    if window.against[0] >= REPEATED:
        window.doubted[0] = 1.0
    elif right > SURE:
        window.doubted[0] = 0.0
