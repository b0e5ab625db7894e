# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled measurement of the times of joint samples; no checks. Public side: joint_times.py.

A joint whose age in a sample is a has the angle of t − a. With s, u the measured contact velocity
along and across its wheel, θ the steering angle, ω the yaw rate, and ages a_s, a_x of the steering
and of the wheel, the equations of the caster have the residuals

    along:  −a_x r θ̈_x + a_s θ̇ d (θ̇ + ω),   across:  a_s (d θ̈ + θ̇ r θ̇_x)

less what the motion of the platform takes of them. An age that all joints share is an earlier
motion, and does not show. Zeros, radii and offsets are unknowns beside the ages, so that a wrong
description is not taken for one. Sums over `SPAN` give velocities and their changes without the
rounding of single samples; sums of these over `WINDOW` are the equations of weighted least squares
with a prior. What the ages leave, in differences of spans, is of times that change.

`t` is the state `SampleTimes` of time_states.py.
"""

from __future__ import annotations

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.small import put
from c3p_kinematics._age_kernels import MEMORY, OFFSET, RADIUS, TAIL, ZERO, end_window
from c3p_kinematics.time_states import SampleTimes

cut_times = SampleTimes.cut

# times of the sums, s, see above
SPAN = 0.04
WINDOW = 0.24

# part of an equation that the others must check
CHECKED = 0.02

# memory of the deviation of the stamps, samples
STEPS = 2000.0

# time constant of the rates by which an age is corrected, s
RECENT = 0.012

# rate above which a wheel or an axis moves by several encoder steps in a sample, steps
CLEAR = 3.0


@inner
def watch_samples(t, channels, sample, latch, dt):
    """
    Take the time between two stamps, `dt` [s], and count angles that are those before in motion.

    Parameters
    ----------
    t : SampleTimes
    channels : Channels
        Before it compares the sample.
    sample : (4, n) array
    latch : (3, n) array
        Angles of the sample before.
    dt : float, s
    """
    if t.age_prior == 0.0:
        return
    t.steps[0] = min(t.steps[0] + 1.0, STEPS)
    part = 1.0 / t.steps[0]
    apart = dt - t.step[0]
    t.step[0] += part * apart
    t.jitter[0] += part * ((1.0 - part) * apart * apart - t.jitter[0])
    for k in range(2):
        for i in range(t.age.shape[1]):
            if abs(channels.recent[k, i]) * dt > CLEAR * channels.step[k]:
                t.moved[k, i] += 1.0
                t.repeats[k, i] += 1.0 if sample[k, i] == latch[k, i] else 0.0


@inner
def correct_ages(t, motion, dt):
    """Carry the angles of the increments in `motion` to one instant, by the ages applied."""
    if t.corrects[0] == 0.0:
        return
    gain = dt / (dt + RECENT)
    for i in range(t.age.shape[1]):
        for k in range(2):
            rate = motion.steering_rate[i] if k == 0 else motion.wheel_rate[i]
            t.recent[k, i] += gain * (rate - t.recent[k, i])
            before = t.shift[k, i]
            now = t.applied[k, i] * t.recent[k, i]
            t.shift[k, i] = now
            if k == 0:
                motion.steering_rate[i] += (now - before) / dt
                motion.steering[i] += 0.5 * (now + before)
            else:
                motion.wheel_rate[i] += (now - before) / dt


@inner
def watch_times(geometry, t, motion, rows, usual, dt):
    """
    Add a step to the present span; at its end measure by the one before it.

    Parameters
    ----------
    geometry : (n, 7) array
    t : SampleTimes
    motion : RigidFit
        The fit of the step.
    rows : RowErrors
    usual : bool
        All casters roll.
    dt : float, s
    """
    if t.age_prior == 0.0:
        return
    if not usual:
        leave_spans(t)
        return
    if rows.moves[0] == 0.0 and t.newest.time[0] == 0.0:
        leave_spans(t)
        return
    span = t.newest
    span.time[0] += dt
    span.yaw[0] += dt * motion.twist[2]
    for i in range(len(geometry)):
        span.turned[0, i] += dt * motion.steering_rate[i]
        span.turned[1, i] += dt * motion.wheel_rate[i]
        span.path[i, 0] += dt * motion.residual[i, 0]
        span.path[i, 1] += dt * motion.residual[i, 1]
    if span.time[0] < SPAN:
        return
    for i in range(len(geometry)):
        put(rows.power[i], span.power[i])
        put(rows.expected[i], span.expected[i])
        put(motion.weight[i], span.weight[i])
        put(motion.rolling[i], span.rolling[i])
        put(motion.axle[i], span.axle[i])
    for k in range(3):
        put(motion.unit[k], span.unit[k])
    t.spans[0] = min(t.spans[0] + 1.0, 3.0)
    if t.spans[0] == 3.0:
        measure(geometry, t)
    put(t.middle.block, t.oldest.block)
    put(t.newest.block, t.middle.block)
    clear_span(t.newest)


@inner
def clear_span(span):
    """Begin a span."""
    for k in range(len(span.block)):
        span.block[k] = 0.0


@inner
def leave_spans(t):
    """Compare nothing with the motion before."""
    if t.spans[0] > 0.0 or t.newest.time[0] > 0.0:
        clear_span(t.newest)
        t.spans[0] = 0.0
        leave_window(t)


@inner
def forget_motion(t):
    """Begin anew after a gap: the present correction of the angles is not a motion."""
    leave_spans(t)
    for k in range(2):
        for i in range(t.age.shape[1]):
            t.recent[k, i] = 0.0
            t.shift[k, i] = 0.0


@kernel
def begin_motion(block, n):
    """Do as `forget_motion` with a block of SampleTimes of `n` casters."""
    forget_motion(cut_times(block, n))


@inner
def leave_window(t):
    """Begin a window."""
    t.window[0] = 0.0
    for i in range(t.path.shape[0]):
        for j in range(2):
            t.path[i, j] = 0.0
            t.variance[i, j] = 0.0
    for k in range(t.signature.shape[0]):
        for c in range(t.signature.shape[1]):
            t.signature[k, c] = 0.0


@inner
def measure(geometry, t):
    """Measure by the middle of three spans."""
    n = len(geometry)
    span = t.middle
    time = span.time[0]
    later = time + t.newest.time[0]
    earlier = time + t.oldest.time[0]
    for i in range(n):
        radius = geometry[i, 3]
        offset = geometry[i, 2]
        swung = span.turned[0, i]
        rolled = span.turned[1, i]
        steered = ((t.newest.turned[0, i] + swung) / later
                   - (t.oldest.turned[0, i] + swung) / earlier)
        spun = ((t.newest.turned[1, i] + rolled) / later
                - (t.oldest.turned[1, i] + rolled) / earlier)
        about = offset * (swung + span.yaw[0])
        add_column(geometry, t, i, t.age_prior * swung / time * about,
                   t.age_prior * (offset * steered + swung / time * radius * rolled), i)
        add_column(geometry, t, n + i, -t.age_prior * radius * spun, 0.0, i)
        add_column(geometry, t, 2 * n + i, ZERO * about, ZERO * radius * rolled, i)
        add_column(geometry, t, 3 * n + i, -RADIUS * radius * rolled, 0.0, i)
        add_column(geometry, t, 4 * n + i, 0.0, OFFSET * about, i)
    for i in range(n):
        for j in range(2):
            t.path[i, j] += span.path[i, j]
            t.variance[i, j] += time * span.expected[i, j]
    measure_changes(t)
    t.window[0] += time
    if t.window[0] >= WINDOW:
        anew = end_window(geometry, t)
        leave_window(t)
        if anew:
            leave_spans(t)


@inner
def add_column(geometry, t, c, along, across, i):
    """Add the unknown `c`, of caster `i`, to the signature: its residuals less their motion."""
    span = t.middle
    along *= geometry[i, 4]
    across *= geometry[i, 5]
    twist0 = 0.0
    twist1 = 0.0
    twist2 = 0.0
    for k in range(3):
        pull = (span.weight[i, 0] * along * span.rolling[i, k]
                + span.weight[i, 1] * across * span.axle[i, k])
        twist0 += span.unit[0, k] * pull
        twist1 += span.unit[1, k] * pull
        twist2 += span.unit[2, k] * pull
    for m in range(len(geometry)):
        t.column[2 * m] = -(span.rolling[m, 0] * twist0 + span.rolling[m, 1] * twist1
                            + span.rolling[m, 2] * twist2)
        t.column[2 * m + 1] = -(span.axle[m, 0] * twist0 + span.axle[m, 1] * twist1
                                + span.axle[m, 2] * twist2)
    t.column[2 * i] += along
    t.column[2 * i + 1] += across
    for k in range(2 * len(geometry)):
        t.signature[k, c] += t.column[k]


@inner
def measure_changes(t):
    """Add the difference of two spans to the evidence of times that change."""
    span = t.middle
    keep = 1.0 - 1.0 / (6.0 * MEMORY)
    t.evidence[0] *= keep
    t.count[0] *= keep
    for i in range(t.path.shape[0]):
        for j in range(2):
            known = 0.0
            for k in range(3):
                for m in range(3):
                    a = span.rolling[i, k] if j == 0 else span.axle[i, k]
                    b = span.rolling[i, m] if j == 0 else span.axle[i, m]
                    known += a * span.unit[k, m] * b
            checked = 1.0 - span.weight[i, j] * known
            apart = span.path[i, j] - t.before[i, j]
            t.before[i, j] = span.path[i, j]
            if known == 0.0 or checked < CHECKED:
                continue
            # three ends of two spans, with the weights 1, −2, 1: six variances
            power = span.power[i, j]
            total = t.path_noise**2 + t.changing[0]**2 * power
            own = t.changing[0]**2 * power / total
            if not own > 0.0:
                continue
            square = min(apart * apart / (6.0 * checked), TAIL * total)
            weight = checked * own**2
            t.evidence[0] += weight * (square - t.path_noise**2) / power
            t.count[0] += weight
