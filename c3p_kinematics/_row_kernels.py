# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled variances of the equations of a drive along and across its wheels; no checks.

Along a wheel tyres creep by a part c of its speed; across they slip sideways by an angle a:

    σ² along = c² s² + a² u²,  σ² across = a² (s² + u²)

with s and u the speeds of the contact along and across the wheel. Both are deviations of a mean
over `WINDOW`, in which encoder steps and late angles cancel. The residuals of the drive state
them: the expected square of the mean residual i is ρ_i σ_i², ρ_i the part of the equation that the
others check (variance components, Förstner 1979). They contain errors of lengths and zeros, which
last: a description that is wrong along the wheels lowers the weights along them.

`rows` is the state `RowErrors` of odometry_states.py; row_errors.py has its constants.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kinematics._odometry_kernels import add_slip

# time over which residuals are summed, s: less, and encoder steps do not cancel; more, and a drive
# of some metres has too few of them
WINDOW = 0.25

# time constant of the speeds by which equations are weighted, s: a wheel of which the angle is
# late has made a short step, and makes a long one next. Rounding and ages of angles cancel over a
# drive only to the extent that weights do not follow them
SLOW = 0.6

# time over which the rounding of a path counts as a speed, s: it makes slow wheels equal
ROUNDING = 0.1

# windows after which an older one counts 1/e, and weight of the prior in independent equations:
# when casters swing, late angles look like side slip for a few windows
MEMORY = 240.0
PRIOR = 10.0

# variance of the creep of a moment, relative to its mean over a window, for an exponential decay
# over 0.25 s
MOMENT = 1.36

# largest squared residual of a window, relative to the expected one: tails are heavy
TAIL = 9.0

# part of an equation that the others must check before it states a variance
CHECKED = 0.02

# variance of a long mean relative to that of independent windows. Creep is correlated beyond one,
# with a factor of 2.7 for an exponential decay over 0.25 s; but estimates contain rounding and
# ages of angles as well, which cancel over a drive. With 1 the mean squared error of drives with
# creep, and of all that real sensors do, is 0.3 to 0.7 of the covariance
CORRELATED = 1.0

# longest time of which the errors are added to the pose, s: a robot that stands adds none
LONGEST_DUE = 0.1

# part of the mean square speed of all casters in that of each: a wheel that stands by its encoder
# is not exact
SHARED = 0.1


@inner
def expect_errors(rows, motion, reference, dt):
    """
    Write the variance of each equation, and its weight, of mean 1.

    Parameters
    ----------
    rows : RowErrors
    motion : RigidFit
        With the rows of the contact velocities at the present steering.
    reference : (3,) array
        Twist before the step: weights by the speeds that are measured in it would prefer short
        increments.
    """
    n = len(rows.weight)
    gain = -math.expm1(-dt / SLOW)
    for k in range(3):
        rows.twist[k] += gain * (reference[k] - rows.twist[k])
    speeds = 0.0
    for i in range(n):
        for j in range(2):
            speed = 0.0
            for k in range(3):
                row = motion.rolling[i, k] if j == 0 else motion.axle[i, k]
                speed += row * rows.twist[k]
            rows.power[i, j] = speed * speed
            speeds += speed * speed / n
    shared = SHARED * speeds
    creep = rows.variance[0]
    slip = rows.variance[1]
    floor = (rows.path_noise / ROUNDING)**2
    mean = 0.0
    for i in range(n):
        along = rows.power[i, 0] + shared
        across = rows.power[i, 1]
        rows.expected[i, 0] = floor + creep * along + slip * across
        rows.expected[i, 1] = floor + slip * (along + across)
        mean += (1.0 / rows.expected[i, 0] + 1.0 / rows.expected[i, 1]) / (2 * n)
    rows.scale[0] = 1.0 / mean
    fastest = 0.0
    for i in range(n):
        fastest = max(fastest, rows.power[i, 0] + rows.power[i, 1])
    rows.moves[0] = 1.0 if fastest > rows.standing**2 else 0.0
    # of a robot that has stood, the equations are still equal
    part = (rows.scale[0] - floor) / speeds if rows.moves[0] != 0.0 else creep
    rows.moment[0] = MOMENT * part
    for i in range(n):
        for j in range(2):
            rows.weight[i, j] = rows.scale[0] / rows.expected[i, j]


@inner
def add_creep(rows, motion, place, dt):
    """Add the errors of the motion of `place` to its covariance; at standstill it stays."""
    if rows.most[0] == 0.0 or rows.moves[0] == 0.0:
        return
    rows.due[0] = min(rows.due[0] + dt, LONGEST_DUE)
    if place.moved[0] == place.time[0]:
        add_slip(place.covariance, place.pose[2], motion.unit,
                 CORRELATED * WINDOW * rows.due[0] * rows.scale[0])
        rows.due[0] = 0.0


@inner
def learn_errors(rows, motion, usual, dt):
    """
    Add a step to the present window; at its end update both variances.

    Parameters
    ----------
    rows : RowErrors
    motion : RigidFit
        The fit of the step.
    usual : bool
        False: a wheel slips, or is wrong; the window is left out.
    dt : float, s
    """
    n = len(rows.weight)
    if not usual or rows.most[0] == 0.0:
        leave_window(rows)
        return
    if rows.moves[0] == 0.0:
        return
    unit = motion.unit
    rows.time[0] += dt
    for i in range(n):
        for j in range(2):
            row = motion.rolling[i] if j == 0 else motion.axle[i]
            known = 0.0
            for k in range(3):
                column = unit[k, 0] * row[0] + unit[k, 1] * row[1] + unit[k, 2] * row[2]
                known += row[k] * column
            # without an encoder there is no row
            if known > 0.0:
                rows.checked[i, j] += dt * (1.0 - motion.weight[i, j] * known)
            rows.path[i, j] += dt * motion.residual[i, j]
            rows.square[i, j] += dt * rows.expected[i, j]
            rows.swept[i, j] += dt * rows.power[i, j]
    if rows.time[0] >= WINDOW:
        end_window(rows)
        leave_window(rows)


@inner
def leave_window(rows):
    """Begin a window."""
    rows.time[0] = 0.0
    for i in range(len(rows.weight)):
        for j in range(2):
            rows.checked[i, j] = 0.0
            rows.path[i, j] = 0.0
            rows.square[i, j] = 0.0
            rows.swept[i, j] = 0.0


@inner
def end_window(rows):
    """Update both variances by the residuals of a window."""
    time = rows.time[0]
    keep = math.exp(-1.0 / MEMORY)
    for j in range(2):
        rows.evidence[j] *= keep
        rows.count[j] *= keep
    for j in range(2):
        variance = rows.variance[j]
        for i in range(len(rows.weight)):
            checked = rows.checked[i, j] / time
            # squared path by a part of 1 of the class
            size = time * (rows.swept[i, 0] if j == 0 else rows.swept[i, 0] + rows.swept[i, 1])
            # rounding and times of both ends
            ends = 2.0 * (rows.path_noise**2 + rows.skew**2 * rows.swept[i, j] / time)
            total = time * rows.square[i, j] + ends
            own = variance * size / total
            if checked < CHECKED:
                continue
            square = min(rows.path[i, j]**2, TAIL * checked * total)
            weight = checked * own**2
            rows.evidence[j] += weight * (variance + (square / checked - total) / size)
            rows.count[j] += weight
    for j in range(2):
        found = (PRIOR * rows.prior[j] + rows.evidence[j]) / (PRIOR + rows.count[j])
        rows.variance[j] = min(max(found, rows.least[j]), rows.most[j])
