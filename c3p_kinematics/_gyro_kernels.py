# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled fusion of a gyro with the joints, after each sample of the odometry.

    sample of the joints ─► motion of the open span ─► span full? ─► waits for the gyro ─► fused
                                                                              pose at its end

The pose is that at the begin of the first span which is not fused, and from there on by the
joints: a gyro whose messages are late changes no pose that was published. `step_gyro` is called
after `_odometry_step.step`, and reads its state. No checks; public: gyro_fusion.py.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._gyro_fusion_kernels import (
    compare_turn,
    correct,
    end_variance,
    predict,
    propagate,
    reach_end,
    renew_gyro,
)
from c3p_kinematics._gyro_sample_kernels import integrals_at, newest_time
from c3p_kinematics._gyro_watch_kernels import DRIFTED, SLIPPED, UNUSED, judge, miss_turn
from c3p_kinematics._held_kernels import put_rows
from c3p_kinematics._planar_kernels import product
from c3p_kinematics._uncertainty_kernels import add_slopes
from c3p_kinematics.gyro_states import ERRORS, GyroFilter
from c3p_kinematics.odometry_states import CAPACITY, OdometryState

cut_filter = GyroFilter.cut
cut_state = OdometryState.cut

# shortest span whose turns by gyro and joints are compared, s
SPAN = 0.1

# a span for which the gyro has no samples after so long, besides `wait`, is by the joints alone, s
LATE = 0.15


@kernel
def start_gyro(block, n):
    """Take the gyro as unknown, but for its priors, and as trusted."""
    f = cut_filter(block, n)
    renew_gyro(f)
    f.watch.trusted[0] = 1.0
    f.watch.ratio[0] = math.nan


@kernel
def begin_gyro(block, odometry, n, time):
    """Begin at the pose of the odometry, whose covariance is that of a new pose; keep the gyro."""
    f = cut_filter(block, n)
    s = cut_state(odometry, n)
    put(s.place.pose, f.base)
    for i in range(ERRORS):
        for j in range(3):
            f.covariance[i, j] = f.covariance[j, i] = 0.0
    for i in range(3):
        for j in range(3):
            f.covariance[i, j] = s.place.covariance[i, j]
        for j in range(5 * n):
            f.cross[i, j] = 0.0
        for j in range(n):
            f.rounded[i, j] = 0.0
    # the pose was set, whatever the angles are
    reach_end(f, 0.0)
    f.waits[0] = 0.0
    f.began[0] = math.nan
    latch(f, s)
    clear_span(f.open)
    open_span(f.open, s, time)
    put(s.place.pose, f.pose)
    put_rows(s.out.pose_covariance, f.pose_covariance)


@kernel
def interrupt_gyro(block, odometry, spread):
    """Take the motion so far as it is by the joints, before stamps of another time line."""
    spread = borrowed(spread)
    n = len(spread) // 5
    f = cut_filter(block, n)
    s = cut_state(odometry, n)
    if f.waits[0] != 0.0:
        move_base(f, spread, s.lasting.resolution)
        reach_end(f, span_end(f, f.pending))
    put(f.open.block, f.pending.block)
    move_base(f, spread, s.lasting.resolution)
    reach_end(f, span_end(f, f.pending))
    f.began[0] = math.nan
    clear_span(f.open)


@kernel
def resume_gyro(block, odometry, n, time):
    """Go on at the first sample of another time line."""
    f = cut_filter(block, n)
    s = cut_state(odometry, n)
    latch(f, s)
    open_span(f.open, s, time)


@kernel
def step_gyro(block, odometry, geometry, spread, time, moved):
    """
    Follow a sample of the joints; write ``pose`` and ``pose_covariance`` of the filter.

    Parameters
    ----------
    block : array
        Of GyroFilter.
    odometry : array
        Of OdometryState, after its step.
    geometry : (n, 7) array
    spread : (5n, 5n) array
        Of LastingErrors.
    time : float, s
        Stamp of the sample.
    moved : bool
        The step was integrated as usual.
    """
    geometry = borrowed(geometry)
    spread = borrowed(spread)
    n = len(geometry)
    f = cut_filter(block, n)
    s = cut_state(odometry, n)
    add_motion(f, s, geometry, moved)
    f.open.time[1] = time
    f.open.rate[1] = s.out.twist[2]
    put(s.place.pose, f.open.end)
    if f.waits[0] == 0.0 and time - f.open.time[0] >= SPAN:
        put(f.open.block, f.pending.block)
        f.waits[0] = 1.0
        clear_span(f.open)
        open_span(f.open, s, time)
    if f.waits[0] != 0.0:
        end = f.pending.time[1]
        arrived = newest_time(f.samples) >= end and time >= end + f.wait
        if arrived or time >= end + f.wait + LATE:
            fuse_pending(f, spread, s.lasting.resolution)
    write_pose(f, s, spread)


@inner
def latch(f, s):
    """Keep what the next sample is compared with."""
    put(s.place.anchor, f.anchor)
    put_rows(s.place.covariance, f.grown)
    put(s.place.pose, f.joints)
    put(s.latch[0], f.steered)


@inner
def clear_span(span):
    """Set everything to zero."""
    for i in range(len(span.block)):
        span.block[i] = 0.0


@inner
def open_span(span, s, time):
    """Begin a span at the present sample."""
    span.time[0] = span.time[1] = time
    span.rate[0] = span.rate[1] = s.out.twist[2]
    put(s.place.pose, span.begin)
    put(s.place.pose, span.end)


@inner
def add_motion(f, s, geometry, moved):
    """Add the motion of a sample to the open span: slopes, noise and turn."""
    span = f.open
    place = s.place
    ring = s.ring
    motion = s.motion
    n = len(geometry)
    turned = wrap_angle(place.pose[2] - f.joints[2])
    held = s.grip.age[0] > 0.0
    if moved and not held:
        row = (int(ring.count[0]) - 1) % CAPACITY
        dt = ring.steps.duration[row]
        add_slopes(geometry, motion, s.lasting, f.pose[2] + 0.5 * turned, dt, span.slopes)
        most = 0.0
        for i in range(n):
            most = max(most, abs(motion.wheel_rate[i]) * geometry[i, 3]
                       + abs(motion.steering_rate[i]) * geometry[i, 2])
        span.path[0] += most * dt
    for i in range(n):
        span.swept[i] += abs(wrap_angle(s.latch[0, i] - f.steered[i]))
    span.turned[0] += turned
    add_noise(f, place)
    if (held or s.slip.slipping[0] != 0.0 or s.faults.alarm[0] != 0.0 or not moved):
        span.doubted[0] = 1.0
    latch(f, s)


@inner
def add_noise(f, place):
    """Add what the covariance of the path has grown by, from the axes of the joints' pose."""
    dx = place.anchor[0] - f.anchor[0]
    dy = place.anchor[1] - f.anchor[1]
    old = f.grown
    new = place.covariance
    c = math.cos(f.pose[2] - f.joints[2])
    s = math.sin(f.pose[2] - f.joints[2])
    # P' − F P Fᵀ with F of `_odometry_kernels.grow`
    xz = new[0, 2] - (old[0, 2] - dy * old[2, 2])
    yz = new[1, 2] - (old[1, 2] + dx * old[2, 2])
    zz = new[2, 2] - old[2, 2]
    xx = new[0, 0] - (old[0, 0] + dy * (dy * old[2, 2] - 2.0 * old[0, 2]))
    yy = new[1, 1] - (old[1, 1] + dx * (dx * old[2, 2] + 2.0 * old[1, 2]))
    xy = new[0, 1] - (old[0, 1] + dx * old[0, 2] - dy * old[1, 2] - dx * dy * old[2, 2])
    # what is taken back of the doubt of a hold was fused already: it is left in
    if xx < 0.0 or yy < 0.0 or zz < 0.0:
        return
    q = f.open.noise
    q[0, 0] += c * c * xx - 2.0 * c * s * xy + s * s * yy
    q[1, 1] += s * s * xx + 2.0 * c * s * xy + c * c * yy
    q[0, 1] += c * s * (xx - yy) + (c * c - s * s) * xy
    q[0, 2] += c * xz - s * yz
    q[1, 2] += s * xz + c * yz
    q[2, 2] += zz
    q[1, 0] = q[0, 1]
    q[2, 0] = q[0, 2]
    q[2, 1] = q[1, 2]


@inner
def moved_by(pose, begin, end, out):
    """Write `pose` moved as from the pose `begin` to `end`."""
    c = math.cos(begin[2])
    s = math.sin(begin[2])
    dx = end[0] - begin[0]
    dy = end[1] - begin[1]
    out[0], out[1], out[2] = product(pose, c * dx + s * dy, c * dy - s * dx, end[2] - begin[2])


@inner
def move_base(f, spread, count):
    """Move the base over the pending span, by the joints."""
    span = f.pending
    x = f.base[0]
    y = f.base[1]
    moved_by(f.base, span.begin, span.end, f.base)
    propagate(f, span, spread, f.base[0] - x, f.base[1] - y, count)
    f.waits[0] = 0.0


@inner
def span_end(f, span):
    """Return the variance of the yaw by the angles at the end of a span alone, rad²."""
    duration = span.time[1] - span.time[0]
    speed = span.path[0] / duration if duration > 0.0 else 0.0
    return end_variance(f, speed, span.rate[1])


@inner
def fuse_pending(f, spread, count):
    """Move the base over the pending span, and compare its turns by gyro and joints."""
    span = f.pending
    move_base(f, spread, count)
    angle, noise = integrals_at(f.samples, span.time[1])
    began = f.began[0]
    noise_began = f.began[1]
    if began != began:
        began, noise_began = integrals_at(f.samples, span.time[0])
    f.began[0] = angle
    f.began[1] = noise
    gyro = angle - began
    noise -= noise_began
    # not known at both ends
    if gyro != gyro:
        miss_turn(f, span)
        reach_end(f, span_end(f, span))
        return
    value, variance = compare_turn(f, span, gyro, noise)
    verdict = judge(f, span, gyro, value, variance)
    if verdict == DRIFTED:
        # with the bias that may have changed
        value, variance = compare_turn(f, span, gyro, noise)
    reach_end(f, span_end(f, span))
    if verdict == UNUSED:
        f.left_out[0] += 1.0
        return
    f.fused[0] += 1.0
    correct(f, value, variance, value**2 if verdict == SLIPPED else 0.0)


@inner
def write_pose(f, s, spread):
    """Write the present pose and its covariance: of the base, and of the joints since then."""
    total = f.total
    put(f.open.block, total.block)
    begin = f.open.begin
    if f.waits[0] != 0.0:
        begin = f.pending.begin
        more = f.pending.slopes.block
        for i in range(len(more)):
            total.slopes.block[i] += more[i]
        for i in range(3):
            for j in range(3):
                total.noise[i, j] += f.pending.noise[i, j]
        total.time[0] = f.pending.time[0]
        total.path[0] += f.pending.path[0]
    moved_by(f.base, begin, f.open.end, f.pose)
    predict(f, total, f.pose[0] - f.base[0], f.pose[1] - f.base[1], spread)
    for i in range(3):
        for j in range(3):
            f.pose_covariance[i, j] += s.place.ends[i, j]
    f.pose_covariance[2, 2] += span_end(f, total)
