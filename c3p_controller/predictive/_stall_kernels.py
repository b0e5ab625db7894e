# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled watch of progress, on a StallMemory of states.py; public side: stall.py."""

from __future__ import annotations

import math

from c3p_controller.predictive.states import StallMemory
from c3p_kernels.compiled import inner, kernel
from c3p_kernels.elementary import wrap_angle

# size with which yaw counts as a displacement, m/rad: that of the C3P
LEVER = 0.343

# a required speed below this is holding a place, m/s: 2.4 cm or 0.07 rad in a horizon of 0.8 s
REQUIRED = 0.03

# progress is a mean with this time constant, s, of the fraction of the required speed; below LEAST
# the robot is stalled, 1.2 s after it has stopped. Slowest manoeuvre of the C3P: 0.8 s
MEMORY = 0.5
LEAST = 0.1

# above this progress, again for the time constant, the horizon is restored
MOVES = 0.5

# factor by which a stall lengthens the horizon, and how often in succession
STRETCH = 2.0
LEVELS = 2

# attempts without progress in between: what does not move then is held
ATTEMPTS = 8

# fraction of the limits of the disturbing force above which something blocks the robot: a wall
# takes all of it, the slope of 4° that the C3P just climbs 0.6
HELD = 0.75


cut_memory = StallMemory.cut


@kernel
def progress_part(state, rows, horizon):
    """Return the speed towards the end of the horizon by the required one, 0 to 1."""
    x, y = rows[-1, 0] - state[0], rows[-1, 1] - state[1]
    turn = LEVER * wrap_angle(rows[-1, 2] - state[2])
    required = math.sqrt(x * x + y * y + turn * turn) / horizon
    if not required > REQUIRED:
        return 1.0
    c, s = math.cos(state[2]), math.sin(state[2])
    along = (x * (c * state[3] - s * state[4]) + y * (s * state[3] + c * state[4])
             + turn * LEVER * state[5]) / (required * horizon)
    return min(max(along / required, 0.0), 1.0)


@inner
def forget_stall(stall):
    """Begin a StallMemory with progress."""
    stall.progress[0] = 1.0
    stall.attempts[0] = 0.0
    stall.stretch[0] = 1.0


@inner
def watch_stall(stall, state, rows, horizon, disturbance, dt):
    """Process a cycle of `StallWatch`; return whether the robot has just stalled."""
    part = progress_part(state, rows, horizon)
    stall.progress[0] += min(dt / MEMORY, 1.0) * (part - stall.progress[0])
    if stall.progress[0] > MOVES and stall.attempts[0] > 0.0:
        forget_stall(stall)
    if stall.progress[0] >= LEAST or disturbance > HELD or stall.attempts[0] >= ATTEMPTS:
        return False
    stall.attempts[0] += 1.0
    stall.stretch[0] = STRETCH ** min(int(stall.attempts[0]), LEVELS)
    # the same patience for each attempt
    stall.progress[0] = MOVES
    return True


@kernel
def watch_alone(block, state, rows, horizon, disturbance, dt):
    """Execute `watch_stall` on a memory in a block of its own."""
    return watch_stall(cut_memory(block, 0), state, rows, horizon, disturbance, dt)
