# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
One cycle of the predictive law, from the sample to the torques.

    predict_step:  observe ─► learn the delay ─► rests? ─► stalled? ─► reference
    drive_step:    solution, if one is due ─► torque of the plan ─► bounds ─► sent

In between the priority of a robot with fewer motors than freedoms may change the reference
(priority.py), and first guesses compete where there is no plan (planner.py). The state is that of
states.py, `sizes` are the values of its sizes, `pending` is the block of PendingTorques, with a
row left. Nothing is checked here: controller.py does that.
"""

from __future__ import annotations

import math

from c3p_controller.predictive._box_ddp import improve
from c3p_controller.predictive._delay_kernels import learn_delay, resend
from c3p_controller.predictive._kernels import calm, dither_at, on_piece, piece_of
from c3p_controller.predictive._line_kernels import follow_twist
from c3p_controller.predictive._observer_kernels import (
    SHORTEST,
    add_torque,
    carry,
    foresee,
    observe,
)
from c3p_controller.predictive._stall_kernels import forget_stall, watch_stall
from c3p_controller.predictive.reference import sample
from c3p_controller.predictive.states import PendingTorques, PredictiveState
from c3p_kernels.compiled import borrowed, kernel, spliced
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put

cut_state = PredictiveState.cut
cut_pending = PendingTorques.cut

# for three casters that are all driven, the usual robot, the sizes are constants of the compiler,
# which saves a fifth of the time of a solution; one more robot would cost seconds of compilation
USUAL = 3
cut_usual = PredictiveState.cut_for(n=USUAL, efforts=USUAL)

# verdicts of `predict_step`
RESTS, DRIVES = 0, 1

# motion is commanded above these, m/s and rad/s
MOTION_SPEED, MOTION_YAW_RATE = 1e-3, 1e-3

# angular frequency of the dither of the reference, rad/s
SWAY = 2.0 * math.pi * 0.3

# relative decrease of the cost that ends the iterations
TOLERANCE = 1e-4


@kernel
def predict_step(block, sizes, model, pending, preview, clock):
    """
    Process a sample and write the reference of the plan; return RESTS or DRIVES.

    The torque of this cycle acts after the input delay: there the reference begins, and the plan.

    Parameters
    ----------
    block : array
        Of PredictiveState; pose to limit are those of the cycle.
    sizes : tuple of int
    model : tuple
        Of `packed_model`.
    pending : array
        Block of PendingTorques.
    preview : tuple of arrays
        Those of a Preview; empty for a bare twist.
    clock : tuple of float, s
        Time of the sample, time since the last one, and time of the preview's begin.
    """
    s = cut_state(block, sizes)
    line = cut_pending(pending, (sizes[1], int(pending[0])))
    model = borrowed(model)
    now, dt, begin = clock
    observe(model, s.observer, line, s, dt)
    if s.estimates > 0.0 and learn_delay(model, s.evidence, s.observer.state, s.pose, s.last, dt,
                                         grips(s)):
        resend(s.evidence, line)
    foresee(model, s.observer, line)
    if rests(s):
        rest(s)
        return RESTS
    put(s.observer.ahead, s.start)
    watch_progress(s, now, dt)
    refer(s, model[0], borrowed(preview), now + line.latency[0] - begin, now, dt)
    return DRIVES


@spliced
def grips(s):
    """Return whether no wheel slips: traction control lowers no limit."""
    for i in range(len(s.bound)):
        if s.limit[i] < s.bound[i]:
            return False
    return True


@spliced
def rests(s):
    """Return whether the robot rests as commanded, and nothing pushes it."""
    observer = s.observer
    if (observer.speed[0] >= s.standstill_speed
            or abs(observer.state[5]) >= s.standstill_yaw_rate):
        return False
    # without torque the robot would roll down a slope, and return to its place again and again
    if math.hypot(observer.wrench[0], observer.wrench[1]) > s.slack:
        return False
    return (math.hypot(s.command[0], s.command[1]) < MOTION_SPEED
            and abs(s.command[2]) < MOTION_YAW_RATE)


@spliced
def rest(s):
    """Forget plan, line of a twist, and stall."""
    s.ready[0] = 0.0
    s.line.yaw_rate[0] = 0.0
    s.line.begun[0] = 0.0
    forget_stall(s.stall)
    stretch_horizon(s)


@spliced
def watch_progress(s, now, dt):
    """Drop the plan after a stall, and plan with a longer horizon; restore it when it moves."""
    if s.ready[0] == 0.0 or s.watches == 0.0:
        return
    # dry friction of casters that rest shows as a moment; what blocks the path is a force. The
    # reference is that of the last cycle
    if watch_stall(s.stall, s.start, s.plan.rows, s.times[-1], s.observer.saturation[0], dt):
        s.ready[0] = 0.0
    if stretch_horizon(s):
        # the next plan begins in this cycle
        s.begin[0] = min(s.begin[0], now - s.period)


@spliced
def stretch_horizon(s):
    """Set the steps of the horizon; return whether they have changed."""
    if s.stretched[0] == s.stall.stretch[0]:
        return False
    s.stretched[0] = s.stall.stretch[0]
    put(s.times, s.times_before)
    steps = len(s.plan.dt)
    for k in range(steps):
        s.plan.dt[k] = s.step * s.stretched[0]
        s.times[k + 1] = s.times[k] + s.plan.dt[k]
    if s.ready[0] > 0.0:
        resample_plan(s, s.times_before[:steps], 0.0)
    return True


@spliced
def resample_plan(s, times, passed):
    """Replace the torques at `times` by those at the times of the horizon, `passed` s later."""
    torques = s.plan.torques
    for k in range(len(torques)):
        then = s.times[k] + passed
        piece = piece_of(then, times)
        for i in range(torques.shape[1]):
            s.shifted[k, i] = on_piece(piece, then, times, torques, i)
    for k in range(len(torques)):
        put(s.shifted[k], torques[k])


@spliced
def refer(s, geometry, preview, passed, now, dt):
    """
    Write the reference from ``start`` on, the weights of ripple, and the torques that are sent.

    A preview is sampled from `passed` on, s after its begin; without one the line of a bare twist
    advances by `dt`.
    """
    time, pose, velocity = preview
    rows = s.plan.rows
    x = s.start
    put(s.last, s.plan.before)
    if len(time) > 0:
        sample(time, pose, velocity, s.times, passed, x[2], rows)
    else:
        c, sine = math.cos(x[2]), math.sin(x[2])
        s.line.velocity[0] = c * x[3] - sine * x[4]
        s.line.velocity[1] = sine * x[3] + c * x[4]
        s.line.velocity[2] = x[5]
        follow_twist(s.line, s.command, x[:3], s.line.velocity, s.times, dt, rows)
    dither_at(now, s.times, s.dither, SWAY, s.sway)
    calm(geometry, x, s.full, s.sway, rows, s.plan.weights)


@kernel
def drive_step(block, sizes, model, pending, now, dt):
    """Solve if it is due, and send the torque of the plan; parameters as of `predict_step`."""
    drive(cut_state(block, sizes), borrowed(model),
          cut_pending(pending, (sizes[1], int(pending[0]))), now, dt)


@kernel
def drive_usual_step(block, sizes, model, pending, now, dt):
    """Execute `drive_step` of the usual robot."""
    drive(cut_usual(block, sizes), borrowed(model),
          cut_pending(pending, (sizes[1], int(pending[0]))), now, dt)


@spliced
def drive(s, model, line, now, dt):
    """Solve if it is due, and send the torque of the plan at time `now`, s."""
    if due(s, now, dt):
        if s.fresh[0] == 0.0:
            improve_plan(s, model, now - s.begin[0])
        s.begin[0] = now
    s.fresh[0] = 0.0
    follow(s, now - s.begin[0])
    if s.lag > 0.0:
        # towards the torque of the plan by a first-order lag
        for i in range(len(s.torque)):
            s.torque[i] = s.last[i] + dt / (dt + s.lag) * (s.torque[i] - s.last[i])
    send(s, line, dt)


@spliced
def due(s, now, dt):
    """Return whether a solution is due in the cycle at `now`, s, of `dt` s."""
    return now - s.begin[0] >= s.period - 0.5 * dt


@spliced
def improve_plan(s, model, passed):
    """Improve the plan as it is `passed` s later, from ``start`` on."""
    resample_plan(s, s.times[:len(s.plan.dt)], passed)
    improve(model, s.plan, s.start, s.observer.wrench, s.limit, int(s.most_iterations), TOLERANCE)


@spliced
def follow(s, passed):
    """
    Write the torque of the plan `passed` s after its begin, with its feedback.

    ``τ = τ_k + K_k e`` with e the deviation of ``start`` from the plan.
    """
    plan = s.plan
    step = plan.dt[0]
    k = min(int(passed / step), len(plan.dt) - 1)
    part = passed / step - k
    for j in range(len(s.error)):
        near = plan.states[k, j]
        s.error[j] = s.start[j] - (near + part * (plan.states[k + 1, j] - near))
    s.error[2] = wrap_angle(s.error[2])
    for i in range(len(s.torque)):
        total = 0.0
        for j in range(len(s.error)):
            total += plan.gains[k, i, j] * s.error[j]
        s.torque[i] = plan.torques[k, i] + total


@spliced
def bound_torque(s, change):
    """
    Bound the change of the torque from the last, by `change` and the pace, and then its size.

    Returns False for torques that are not finite.
    """
    finite = True
    for i in range(len(s.torque)):
        finite = finite and math.isfinite(s.torque[i])
        most = change * s.pace[i]
        bounded = min(max(s.torque[i], s.last[i] - most), s.last[i] + most)
        s.torque[i] = min(max(bounded, -s.limit[i]), s.limit[i])
    return finite


@spliced
def send(s, line, dt):
    """Bound and send the torque; zero, and no plan, where the plan has diverged."""
    change = s.torque_rate * dt
    if not bound_torque(s, change):
        s.ready[0] = 0.0
        for i in range(len(s.torque)):
            s.torque[i] = 0.0
        bound_torque(s, change)
    put(s.torque, s.last)
    add_torque(line, line.latency[0], s.last)


@kernel
def send_nothing(block, sizes, pending, dt):
    """Send zero, at the bounded rate, in a cycle without a plan."""
    s = cut_state(block, sizes)
    for i in range(len(s.torque)):
        s.torque[i] = 0.0
    send(s, cut_pending(pending, (sizes[1], int(pending[0]))), dt)


@kernel
def solve_step(block, sizes, model, iterations):
    """Improve the torques of the plan as they are, from ``start`` on."""
    s = cut_state(block, sizes)
    improve(borrowed(model), s.plan, s.start, s.observer.wrench, s.limit, iterations, TOLERANCE)


@kernel
def solve_usual_step(block, sizes, model, iterations):
    """Execute `solve_step` of the usual robot."""
    s = cut_usual(block, sizes)
    improve(borrowed(model), s.plan, s.start, s.observer.wrench, s.limit, iterations, TOLERANCE)


@kernel
def prepare_step(block, sizes, model, pending, preview, clock):
    """Solve for the next cycle if a solution is due then; parameters as of `predict_step`."""
    prepare(cut_state(block, sizes), borrowed(model),
            cut_pending(pending, (sizes[1], int(pending[0]))), borrowed(preview), clock)


@kernel
def prepare_usual_step(block, sizes, model, pending, preview, clock):
    """Execute `prepare_step` of the usual robot."""
    prepare(cut_usual(block, sizes), borrowed(model),
            cut_pending(pending, (sizes[1], int(pending[0]))), borrowed(preview), clock)


@spliced
def prepare(s, model, line, preview, clock):
    """Solve for the predicted state of the next cycle if a solution is due then."""
    now, dt, begin = clock
    then = now + dt
    if not due(s, then, dt):
        return
    put(s.observer.ahead, s.start)
    if dt > SHORTEST:
        carry(model, s.observer, s.last, dt, s.start)
    # the cycle itself advances the line of a bare twist
    x = s.line.pose[0]
    y = s.line.pose[1]
    yaw = s.line.pose[2]
    yaw_rate = s.line.yaw_rate[0]
    begun = s.line.begun[0]
    refer(s, model[0], preview, then + line.latency[0] - begin, then, dt)
    s.line.pose[0], s.line.pose[1], s.line.pose[2] = x, y, yaw
    s.line.yaw_rate[0] = yaw_rate
    s.line.begun[0] = begun
    improve_plan(s, model, then - s.begin[0])
    s.begin[0] = then
