# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled line of a bare twist, on a ReferenceLine of states.py; public side: reference.py."""

from __future__ import annotations

import math

from c3p_controller.predictive.states import ReferenceLine
from c3p_kernels.compiled import inner, kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put

# a robot that is faster has not stopped yet, m/s
STOPPING_SPEED = 0.02

cut_line = ReferenceLine.cut


@inner
def follow_twist(line, twist, pose, velocity, times, dt, rows_out):
    """
    Execute a cycle of `TwistReference` on its ReferenceLine.

    Parameters as of its `step`.
    """
    here = line.pose
    if line.begun[0] == 0.0:
        put(pose, here)
        line.begun[0] = 1.0
    most = line.yaw_acceleration * dt
    line.yaw_rate[0] += min(max(twist[2] - line.yaw_rate[0], -most), most)
    yaw = here[2] + line.yaw_rate[0] * dt
    yaw += wrap_angle(yaw - pose[2]) - (yaw - pose[2])
    here[2] = min(max(yaw, pose[2] - line.yaw_leash), pose[2] + line.yaw_leash)
    # travel: along the line the pose is at the robot, across it up to the leash away
    leash = line.leash
    speed = math.hypot(twist[0], twist[1])
    if speed > 0.0:
        begin = pose[2] + math.atan2(twist[1], twist[0])
        c, s = math.cos(begin), math.sin(begin)
        across = (pose[1] - here[1]) * c - (pose[0] - here[0]) * s
        across = min(max(across, -leash), leash)
        here[0], here[1] = pose[0] + across * s, pose[1] - across * c
        now = min(max(velocity[0] * c + velocity[1] * s, 0.0), speed)
    else:
        # stop along the present motion; then hold the place
        now = 0.0
        begin = math.atan2(velocity[1], velocity[0])
        x, y = here[0] - pose[0], here[1] - pose[1]
        going = math.hypot(velocity[0], velocity[1])
        distance = math.hypot(x, y)
        if going > STOPPING_SPEED:
            now = going
            here[0], here[1] = pose[0], pose[1]
        elif distance > leash:
            here[0] = pose[0] + x * leash / distance
            here[1] = pose[1] + y * leash / distance
    _ramps(line, (speed, twist[2]), now, begin, times, rows_out)


@inner
def _ramps(line, desired, now, begin, times, rows_out):
    # rows from ramps of speed and yaw rate to those desired, integrated by the trapezoidal rule
    speed, turn = desired
    here = line.pose
    x = 0.0
    y = 0.0
    yaw = 0.0
    gap = 0.0
    for k in range(len(times)):
        reach = line.acceleration * times[k]
        v = min(now + reach, speed) if speed > now else max(now - reach, speed)
        reach = line.yaw_acceleration * times[k]
        w = min(max(turn, line.yaw_rate[0] - reach), line.yaw_rate[0] + reach)
        if k > 0:
            gap = times[k] - times[k - 1]
            yaw += 0.5 * (w + rows_out[k - 1, 5]) * gap
        angle = begin + yaw
        vx, vy = v * math.cos(angle), v * math.sin(angle)
        if k > 0:
            x += 0.5 * (vx + rows_out[k - 1, 3]) * gap
            y += 0.5 * (vy + rows_out[k - 1, 4]) * gap
        rows_out[k, 0] = here[0] + x
        rows_out[k, 1] = here[1] + y
        rows_out[k, 2] = here[2] + yaw
        rows_out[k, 3] = vx
        rows_out[k, 4] = vy
        rows_out[k, 5] = w
        rows_out[k, 6] = angle


@kernel
def follow_alone(block, motion, times, dt, rows_out):
    """Execute `follow_twist` on a line in a block of its own; `motion`: twist, pose, velocity."""
    twist, pose, velocity = motion
    follow_twist(cut_line(block, 0), twist, pose, velocity, times, dt, rows_out)
