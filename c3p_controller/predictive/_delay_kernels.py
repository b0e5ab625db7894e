# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled estimate of the input delay.

On a DelayEvidence of states.py; equations and public side: delay_estimator.py.
"""

from __future__ import annotations

import math

from c3p_controller.predictive._observer_kernels import (
    add_torque,
    drop_torques,
    observer_gains,
    pass_time,
)
from c3p_controller.predictive.states import SAMPLES, DelayEvidence, PendingTorques
from c3p_dynamics._caster_equations import forward_derivatives
from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.elementary import wrap_angle

# between candidates, s
SPACING = 0.005

# poles of the filter, rad/s, and time constant of the sums, s
FAST = 15.0
SLOW = 5.0
MEMORY = 1.0

# limits of the gain g: masses and moments of inertia by up to a factor of 2 off
G_LEAST = 0.5
G_MOST = 2.0

# the estimate moves by no less than the spacing, s, where the best candidate explains this part
# of Σ|y|², and the present delay costs this many times as much
CHANGE = 0.005
EXPLAINED = 0.8
CONTRAST = 2.0

# and where the difference is this part of Σ|y|², and of the motion that b alone explains: so far
# off may b be, most of which is friction where torques are small
WRONG = 0.005
FREE_WRONG = 0.1

# least duration of the torques that are compared, s
SEEN = 0.1

# after a restart in motion the filters settle, s: the velocity after a pause is a mean of the
# pause, and other torques acted in it, as of the brakes
SETTLE = 0.8
MOVING = 0.01

cut_evidence = DelayEvidence.cut
cut_pending = PendingTorques.cut


@inner
def impulse_at(evidence, when, place, impulse_out):
    """
    Write the impulse of the torques sent before `when`; return the place of its sample.

    The search in the ring begins `place` samples before the newest.
    """
    times = evidence.time
    impulses = evidence.impulse
    newest = int(evidence.newest[0])
    filled = int(evidence.filled[0])
    back = place
    while back < filled - 1 and times[(newest - back) & (SAMPLES - 1)] > when:
        back += 1
    early = (newest - back) & (SAMPLES - 1)
    late = (early + 1) & (SAMPLES - 1)
    part = 0.0
    if back > 0 and when > times[early]:
        part = (when - times[early]) / (times[late] - times[early])
    for j in range(impulses.shape[1]):
        impulse_out[j] = impulses[early, j]
        if part > 0.0:
            impulse_out[j] += part * (impulses[late, j] - impulses[early, j])
    return back


@inner
def linearise_on_floor(model, evidence, state, yaw):
    """Write b and the columns of A at a `state`, on the floor."""
    accel = evidence.accel
    matrix = evidence.torque_slope
    forward_derivatives(model, state[6:], state[3:6], evidence.no_torque, evidence.no_wrench,
                        (accel, evidence.steering_slope, evidence.twist_slope, matrix))
    vx = state[3]
    vy = state[4]
    w = state[5]
    c, s = math.cos(yaw), math.sin(yaw)
    bx, by = accel[0] - w * vy, accel[1] + w * vx
    accel[0] = c * bx - s * by
    accel[1] = s * bx + c * by
    for j in range(matrix.shape[1]):
        ax, ay = matrix[0, j], matrix[1, j]
        matrix[0, j] = c * ax - s * ay
        matrix[1, j] = s * ax + c * ay


@inner
def filter_motion(evidence, pose, gains, dt):
    """Advance the filters of the pose and of the part of b; return the sums of their squares."""
    first, second, third = gains
    free = evidence.free
    motion = evidence.motion
    accel = evidence.accel
    half = 0.5 * dt * dt
    total = 0.0
    forced = 0.0
    for i in range(3):
        weight = evidence.scale if i == 2 else 1.0
        # the part of b alone
        push = accel[i] + free[i, 2]
        part = free[i, 0] + dt * free[i, 1] + half * push
        free[i, 1] += dt * push - second * part
        free[i, 0] = part - first * part
        free[i, 2] -= third * part
        forced += weight * part * part
        # innovation of the pose
        push = accel[i] + motion[i, 2]
        motion[i, 0] += dt * motion[i, 1] + half * push
        motion[i, 1] += dt * push
        y = pose[i] - motion[i, 0]
        if i == 2:
            y = wrap_angle(y)
        motion[i, 0] += first * y
        motion[i, 1] += second * y
        motion[i, 2] += third * y
        evidence.innovation[i] = y
        total += weight * y * y
    return total, forced


@inner
def filter_torques(evidence, k, gains, dt):
    """Advance the filter of candidate k; return its products with the pose and with itself."""
    first, second, third = gains
    bank = evidence.bank
    matrix = evidence.torque_slope
    half = 0.5 * dt * dt
    cross = 0.0
    own = 0.0
    for i in range(3):
        push = bank[k, i, 2]
        for j in range(matrix.shape[1]):
            push += matrix[i, j] * (evidence.late[j] - evidence.early[j]) / dt
        u = bank[k, i, 0] + dt * bank[k, i, 1] + half * push
        bank[k, i, 1] += dt * push - second * u
        bank[k, i, 0] = u - first * u
        bank[k, i, 2] -= third * u
        weight = evidence.scale if i == 2 else 1.0
        cross += weight * evidence.innovation[i] * u
        own += weight * u * u
    return cross, own


@inner
def compare_candidates(model, evidence, state, pose, dt, seen):
    """
    Advance all filters and sums of DelayEvidence to a sample; without `seen` nothing is summed.

    Arguments are those of `learn`.
    """
    linearise_on_floor(model, evidence, state, pose[2])
    gains = observer_gains(FAST, SLOW, dt)
    keep = math.exp(-dt / MEMORY)
    total, forced = filter_motion(evidence, pose, gains, dt)
    if seen:
        evidence.total[0] = keep * evidence.total[0] + dt * total
        evidence.forced[0] = keep * evidence.forced[0] + dt * forced
    now = evidence.time[int(evidence.newest[0])]
    recent = 0
    older = 0
    for k in range(len(evidence.bank)):
        recent = impulse_at(evidence, now - k * SPACING, recent, evidence.late)
        older = impulse_at(evidence, now - k * SPACING - dt, older, evidence.early)
        cross, own = filter_torques(evidence, k, gains, dt)
        if seen:
            evidence.cross[k] = keep * evidence.cross[k] + dt * cross
            evidence.own[k] = keep * evidence.own[k] + dt * own


@inner
def cost(evidence, k):
    """Return J of candidate k with its best gain."""
    cross = evidence.cross[k]
    own = evidence.own[k]
    if own <= 0.0:
        return evidence.total[0]
    gain = min(max(cross / own, G_LEAST), G_MOST)
    return evidence.total[0] - gain * (2.0 * cross - gain * own)


@inner
def least_cost(evidence):
    """Return the delay of least cost, s, and that cost."""
    best = 0
    least = cost(evidence, 0)
    count = len(evidence.own)
    for k in range(1, count):
        value = cost(evidence, k)
        if value < least:
            best = k
            least = value
    # the parabola through three neighbours
    delay = SPACING * best
    if 0 < best < count - 1:
        left = cost(evidence, best - 1) - least
        right = cost(evidence, best + 1) - least
        if left + right > 0.0:
            delay += 0.5 * SPACING * (left - right) / (left + right)
    return delay, least


@inner
def better_delay(evidence):
    """Return the delay of least cost, s; the present one unless the motion contradicts it."""
    used = evidence.latency[0]
    delay, least = least_cost(evidence)
    count = len(evidence.own)
    at = min(used / SPACING, count - 1.0)
    k = min(int(at), count - 2)
    present = cost(evidence, k) + (at - k) * (cost(evidence, k + 1) - cost(evidence, k))
    total = evidence.total[0]
    if (abs(delay - used) < CHANGE or least > (1.0 - EXPLAINED) * total
            or present < CONTRAST * least
            or present - least < max(WRONG * total, FREE_WRONG * evidence.forced[0])):
        return used
    return delay


@inner
def store_torque(evidence, torque, dt):
    """Put a torque that acted for `dt` s into the ring; return whether it pushes."""
    last = int(evidence.newest[0])
    newest = (last + 1) & (SAMPLES - 1)
    evidence.newest[0] = newest
    evidence.filled[0] = min(evidence.filled[0] + 1.0, SAMPLES)
    evidence.time[newest] = evidence.time[last] + dt
    pushed = False
    for j in range(len(torque)):
        evidence.impulse[newest, j] = evidence.impulse[last, j] + dt * torque[j]
        pushed = pushed or torque[j] != 0.0
    return pushed


@inner
def begin_evidence(evidence, state, pose):
    """Begin with a robot at rest, or one that moves as estimated."""
    evidence.newest[0] = 0.0
    evidence.filled[0] = 1.0
    evidence.time[0] = 0.0
    for j in range(evidence.impulse.shape[1]):
        evidence.impulse[0, j] = 0.0
    for i in range(3):
        for j in range(3):
            evidence.free[i, j] = 0.0
            evidence.motion[i, j] = 0.0
            for k in range(len(evidence.bank)):
                evidence.bank[k, i, j] = 0.0
        evidence.motion[i, 0] = pose[i]
    vx = state[3]
    vy = state[4]
    w = state[5]
    c, s = math.cos(pose[2]), math.sin(pose[2])
    evidence.motion[0, 1] = c * vx - s * vy
    evidence.motion[1, 1] = s * vx + c * vy
    evidence.motion[2, 1] = w
    moves = max(abs(vx), abs(vy), abs(w)) > MOVING
    evidence.settling[0] = SETTLE if moves else 0.0


@inner
def learn_delay(model, evidence, state, pose, torque, dt, trusted):
    """
    Process a sample; return whether the estimate in DelayEvidence has changed.

    Parameters are those of `DelayEstimator.step`. The delay stays until there is enough to judge
    it by.
    """
    if evidence.filled[0] == 0.0:
        begin_evidence(evidence, state, pose)
        return False
    pushed = store_torque(evidence, torque, dt)
    evidence.settling[0] = max(evidence.settling[0] - dt, 0.0)
    trusted = trusted and evidence.settling[0] == 0.0
    compare_candidates(model, evidence, state, pose, dt, trusted)
    if trusted and pushed:
        evidence.seen[0] += dt
    if not (trusted and evidence.seen[0] >= SEEN):
        return False
    used = evidence.latency[0]
    evidence.latency[0] = better_delay(evidence)
    return evidence.latency[0] != used


@inner
def resend(evidence, line):
    """Replace PendingTorques by those of the ring that act at the delay of DelayEvidence."""
    times = evidence.time
    impulses = evidence.impulse
    newest = int(evidence.newest[0])
    latency = evidence.latency[0]
    line.latency[0] = latency
    # back to the torque that acts already
    back = 0
    while back < int(evidence.filled[0]) - 1:
        back += 1
        if times[newest] - times[(newest - back) & (SAMPLES - 1)] > latency:
            break
    drop_torques(line)
    while back > 0:
        early = (newest - back) & (SAMPLES - 1)
        late = (early + 1) & (SAMPLES - 1)
        length = times[late] - times[early]
        for j in range(impulses.shape[1]):
            evidence.late[j] = (impulses[late, j] - impulses[early, j]) / length
        add_torque(line, latency - (times[newest] - times[early]), evidence.late)
        back -= 1
    pass_time(line, 0.0)


@kernel
def learn_alone(block, sizes, model, samples, dt, trusted):
    """Execute `learn_delay` on evidence in a block of its own."""
    state, pose, torque = samples
    return learn_delay(borrowed(model), cut_evidence(block, sizes), borrowed(state),
                       borrowed(pose), borrowed(torque), dt, trusted)


@kernel
def resend_alone(block, sizes, pending, pending_sizes):
    """Execute `resend` on evidence and torques in blocks of their own."""
    resend(cut_evidence(block, sizes), cut_pending(pending, pending_sizes))
