# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled ring of the newest steps: they are made, undone, and repeated by other evidence.

No checks. `ring` is the state `Ring` of odometry_states.py; it keeps the last CAPACITY steps by
their numbers.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.small import put
from c3p_kinematics._odometry_kernels import LEAST_TRUST, advance
from c3p_kinematics._planar_kernels import solve
from c3p_kinematics.odometry_states import CAPACITY


@inner
def go(motion, dt, held, pose, ring):
    """Move the `pose` by the twist of a RigidFit, and keep the step in the ring."""
    row = int(ring.count[0]) % CAPACITY
    advance(pose, motion.twist, dt)
    put(motion.steering, ring.steering[row])
    put(motion.wheel_rate, ring.wheel_rate[row])
    put(motion.steering_rate, ring.steering_rate[row])
    for i in range(len(motion.steering)):
        put(motion.weight[i], ring.weight[row, i])
    put(motion.twist, ring.steps.twist[row])
    ring.steps.duration[row] = dt
    ring.steps.held[row] = 1.0 if held else 0.0
    ring.count[0] += 1.0


@inner
def refit(geometry, ring, span, wheel, pose):
    """Undo the newest steps up to the age `span` [s], and repeat them without `wheel`."""
    ring.refitted[0] = 1.0
    repeat(geometry, ring, first_within(ring, span), wheel, pose)


@inner
def first_within(ring, span):
    """Return the number of the oldest step of a ring that began at most `span` [s] ago."""
    count = int(ring.count[0])
    used = 0
    age = 0.0
    while used < min(count, CAPACITY):
        age += ring.steps.duration[(count - 1 - used) % CAPACITY]
        if age > span:
            break
        used += 1
    return count - used


@inner
def undo(steps, first, count, pose):
    """Take the `pose` back to that before step number `first` of `count`."""
    for k in range(count - 1, first - 1, -1):
        row = k % CAPACITY
        advance(pose, steps.twist[row], -steps.duration[row])


@inner
def repeat(geometry, ring, first, wheel, pose):
    """
    Undo the steps of a ring from number `first` on, and repeat them.

    Parameters
    ----------
    geometry : (n, 7) array
    ring : Ring
        At most the last CAPACITY steps are repeated; is updated.
    first : int
        First step to repeat.
    wheel : int
        Caster to do without, while steps with a held twist stay; −1: these steps are repeated by
        what the wheels rolled, and the others stay.
    pose : (3,) array
        Updated.
    """
    steps = ring.steps
    fit = ring.fit
    count = int(ring.count[0])
    undo(steps, first, count, pose)
    for k in range(first, count):
        row = k % CAPACITY
        held = steps.held[row] != 0.0
        if held == (wheel < 0):
            put(ring.steering[row], fit.steering)
            put(ring.wheel_rate[row], fit.wheel_rate)
            put(ring.steering_rate[row], fit.steering_rate)
            for i in range(len(fit.weight)):
                put(ring.weight[row, i], fit.weight[i])
            if wheel >= 0:
                for j in range(2):
                    fit.weight[wheel, j] = min(fit.weight[wheel, j], LEAST_TRUST)
            solve(geometry, fit)
            # a step whose twist is not determined stays as it was
            if math.isfinite(fit.twist[0] + fit.twist[1] + fit.twist[2]):
                put(fit.twist, steps.twist[row])
                steps.held[row] = 0.0
        put(pose, steps.pose[row])
        advance(pose, steps.twist[row], steps.duration[row])


@inner
def hold_back(steps, first, count, reference, pose):
    """
    Undo steps from number `first` on, and hold the twist since; return its duration, s.

    Wheels that spin are recognised after some samples, and have moved the pose meanwhile.
    `reference` (3,) becomes the plausible twist before step `first`, as it is now in
    ``base_link``.
    """
    undo(steps, first, count, pose)
    put(steps.reference[first % CAPACITY], reference)
    age = 0.0
    for k in range(first, count):
        row = k % CAPACITY
        put(reference, steps.reference[row])
        put(pose, steps.pose[row])
        coast(reference, steps.duration[row])
        put(reference, steps.twist[row])
        steps.held[row] = 1.0
        advance(pose, reference, steps.duration[row])
        age += steps.duration[row]
    return age


@inner
def path_of(steps, first, count):
    """Return the length of the path of steps number `first` to `count`, m."""
    length = 0.0
    for k in range(first, count):
        row = k % CAPACITY
        length += math.hypot(steps.twist[row, 0], steps.twist[row, 1]) * steps.duration[row]
    return length


@kernel
def coast(twist, dt):
    """Turn a `twist` (3,) into the axes of the platform after `dt` [s] at that velocity."""
    c, s = math.cos(twist[2] * dt), math.sin(twist[2] * dt)
    x, y = twist[0], twist[1]
    twist[0] = c * x + s * y
    twist[1] = c * y - s * x


@kernel
def from_pose(pose, other, seen):
    """Write the pose `other` (3,) as `seen` from `pose`; the yaw is not wrapped."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    dx, dy = other[0] - pose[0], other[1] - pose[1]
    seen[0] = c * dx + s * dy
    seen[1] = c * dy - s * dx
    seen[2] = other[2] - pose[2]
