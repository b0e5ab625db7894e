# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled observer of pose, twist and disturbance, and the torques under way.

On a MotionEstimate and PendingTorques of states.py; equations and public side: motion_observer.py.
"""

from __future__ import annotations

import math

from c3p_controller.predictive._kernels import advance
from c3p_controller.predictive.states import MotionEstimate, PendingTorques
from c3p_dynamics._caster_equations import mass_times
from c3p_kernels.compiled import borrowed, inner, kernel, spliced
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put

# odometry further from the prediction was set from outside: restart, m and rad
JUMP = 0.05

# longest prediction step, s
SUBSTEP = 0.0101

# a torque that acts for less than this is left out, s
SHORTEST = 1e-9

cut_estimate = MotionEstimate.cut
cut_pending = PendingTorques.cut


@spliced
def carry(model, observer, torque, duration, state_out):
    """Predict a state `duration` seconds later, in place, under one torque and the disturbance."""
    steps = max(1, math.ceil(duration / SUBSTEP))
    for _ in range(steps):
        advance(model, state_out, torque, observer.wrench, duration / steps, observer.rate,
                observer.after)
        put(observer.after, state_out)


@inner
def carry_through(model, observer, line, end, state_out):
    """Predict a state at `end`, s from now, in place, under PendingTorques."""
    count = int(line.count[0])
    for k in range(count):
        stop = line.begins[k + 1] if k + 1 < count else math.inf
        # for which torque k acts from now to the end
        duration = min(stop, end) - max(line.begins[k], 0.0)
        if duration > SHORTEST:
            carry(model, observer, line.torques[k], duration, state_out)


@inner
def pass_time(line, dt):
    """Advance the time of PendingTorques by `dt`, s: drop the torques that are over then."""
    count = int(line.count[0])
    for k in range(count):
        line.begins[k] -= dt
    over = 0
    while over < count - 1 and line.begins[over + 1] <= 0.0:
        over += 1
    if over > 0:
        for k in range(count - over):
            line.begins[k] = line.begins[k + over]
            put(line.torques[k + over], line.torques[k])
    line.count[0] = count - over


@inner
def add_torque(line, begin, torque):
    """Append a torque that acts from `begin` on, s from now, to PendingTorques with a row left."""
    count = int(line.count[0])
    line.begins[count] = begin
    put(torque, line.torques[count])
    line.count[0] = count + 1


@inner
def drop_torques(line):
    """Drop all PendingTorques; zero acts."""
    line.begins[0] = -math.inf
    for j in range(line.torques.shape[1]):
        line.torques[0, j] = 0.0
    line.count[0] = 1.0


@inner
def observer_gains(bandwidth, disturbance_bandwidth, dt):
    """Return l₁, l₂/dt and l₃/dt² of the observer with these poles, rad/s."""
    beta = math.exp(-bandwidth * dt)
    slow = math.exp(-disturbance_bandwidth * dt)
    first = 1.0 - beta * beta * slow
    third = (1.0 - beta)**2 * (1.0 - slow)
    second = 3.0 - 2.0 * beta - slow - first - 0.5 * third
    return first, second / dt, third / (dt * dt)


@inner
def correct(model, observer, pose, steering, dt):
    """Correct a predicted MotionEstimate by a sample; return False where the odometry was set."""
    state = observer.state
    error = observer.error
    ex, ey = pose[0] - state[0], pose[1] - state[1]
    turn = wrap_angle(pose[2] - state[2])
    if math.hypot(ex, ey) > JUMP or abs(turn) > JUMP:
        return False
    c, s = math.cos(state[2]), math.sin(state[2])
    error[0] = c * ex + s * ey
    error[1] = c * ey - s * ex
    error[2] = turn
    first, second, third = observer_gains(observer.bandwidth, observer.disturbance_bandwidth, dt)
    state[0] += first * ex
    state[1] += first * ey
    state[2] += first * turn
    for j in range(3):
        state[3 + j] += second * error[j]
        error[j] *= third
    put(steering, state[6:])
    mass_times(model, state[6:], error, observer.pull)
    limit = observer.limit
    for j in range(3):
        observer.wrench[j] = min(max(observer.wrench[j] + observer.pull[j], -limit[j]), limit[j])
    return True


@inner
def restart(observer, pose, twist, steering):
    """Begin a MotionEstimate with the measurement, without disturbance."""
    put(pose, observer.state)
    put(twist, observer.state[3:])
    put(steering, observer.state[6:])
    for j in range(3):
        observer.wrench[j] = 0.0


@spliced
def observe(model, observer, line, sensed, dt):
    """
    Process a sample: predict and correct; the time of PendingTorques passes.

    `sensed` has pose, twist and steering of the sample, `dt` s after the last one.
    """
    carry_through(model, observer, line, dt, observer.state)
    pass_time(line, dt)
    if not correct(model, observer, sensed.pose, sensed.steering, dt):
        restart(observer, sensed.pose, sensed.twist, sensed.steering)
    state = observer.state
    wrench = observer.wrench
    limit = observer.limit
    observer.speed[0] = math.hypot(state[3], state[4])
    observer.saturation[0] = max(abs(wrench[0]) / limit[0], abs(wrench[1]) / limit[1])


@spliced
def foresee(model, observer, line):
    """Predict the state at which a torque that is sent now begins to act."""
    put(observer.state, observer.ahead)
    carry_through(model, observer, line, line.latency[0], observer.ahead)


@kernel
def observe_alone(block, model, pending, sizes, sensed, dt):
    """Execute `observe` and `foresee` on an observer and torques in blocks of their own."""
    observer = cut_estimate(block, len(model[0]))
    line = cut_pending(pending, sizes)
    model = borrowed(model)
    observe(model, observer, line, borrowed(sensed), dt)
    foresee(model, observer, line)


@kernel
def predict_alone(block, model, torque, duration, state_out):
    """Execute `carry` on an observer in a block of its own."""
    carry(borrowed(model), cut_estimate(block, len(model[0])), borrowed(torque), duration,
          borrowed(state_out))


@kernel
def pass_alone(pending, sizes, dt):
    """Execute `pass_time` on torques in a block of their own."""
    pass_time(cut_pending(pending, sizes), dt)
