# SPDX-License-Identifier: Apache-2.0
"""
First guesses of a plan: wheels against each other, or inverse dynamics.

The latter is for motors that never lose a direction.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.limits import limit_torque
from c3p_controller.predictive.motion_observer import MotionObserver
from c3p_description.model import Array
from c3p_dynamics.prepared import InverseDynamics

# first guesses from standstill: fraction of the largest torque, on one wheel against another, and
# its duration, s
GUESS_TORQUE = 0.3
GUESS_TIME = 0.15

# first guesses of a stalled robot: fractions of the largest torque and of the horizon
BOLD = ((0.4, 0.2), (0.6, 0.5), (1.0, 1.0))


def first_guesses(limit: Array, times: Array) -> list[Array]:
    """
    Return first guesses of the torques (steps, n) at standstill.

    One wheel pulls against the next, in both senses, so that the platform yaws; and zero, which
    is best away from singular configurations.
    """
    n = len(limit)
    guesses = [np.zeros((len(times), n))]
    for i in range(n):
        for sign in (1.0, -1.0):
            guess = np.zeros((len(times), n))
            guess[times < GUESS_TIME, i] = sign * GUESS_TORQUE
            guess[times < GUESS_TIME, (i + 1) % n] = -sign * GUESS_TORQUE
            guesses.append(guess * limit)
    return guesses


def bold_guesses(limit: Array, times: Array) -> list[Array]:
    """
    Return first guesses of the torques (steps, efforts) of a robot that has stalled.

    Each motor alone, and against the next one, in both senses, up to the whole horizon: the
    manoeuvre that leaves a local minimum may need large motions.
    """
    motors = np.flatnonzero(limit > 0.0)
    guesses = [np.zeros((len(times), len(limit)))]
    for part, duration in BOLD:
        begin = times < duration * times[-1]
        for number, first in enumerate(motors):
            for against in (0.0, 1.0):
                pattern = np.zeros(len(limit))
                pattern[first] = part * limit[first]
                other = motors[(number + 1) % len(motors)]
                pattern[other] -= against * part * limit[other]
                guesses += [sign * begin[:, None] * pattern for sign in (1.0, -1.0)]
    return guesses


def straight_guess(observer: MotionObserver, state: Array, rows: Array, dt: Array, limit: Array,
                   accelerations: tuple[float, float]) -> Array:
    """
    Return torques (steps, efforts) that accelerate from `state` to the reference `rows`.

    Along the missing velocity, with at most `accelerations`, m/s² and rad/s², and torques within
    `limit`, scaled by one factor. From zero torques the iterations of the plan may end where the
    robot first goes back to turn a caster.

    Parameters
    ----------
    observer : MotionObserver
        Of the robot that the torques are for; predicts the states.
    state : (6 + n,) array
    rows : (steps + 1, 7) array
        Reference, as in the predictive controller.
    dt : (steps,) array, s
    limit : (efforts,) array, N·m
    accelerations : tuple of two float
    """
    solve = InverseDynamics(observer.robot)
    guess = np.empty((len(dt), len(limit)))
    for k, step in enumerate(dt):
        c, s = math.cos(state[2]), math.sin(state[2])
        vx, vy, w = rows[k + 1, 3:6]
        missing = np.array([c * vx + s * vy, c * vy - s * vx, w]) - state[3:6]
        time = max(math.hypot(missing[0], missing[1]) / accelerations[0],
                   abs(missing[2]) / accelerations[1], step)
        torque = solve(np.concatenate([state[6:], state[3:6], missing / time]))
        guess[k] = limit_torque(torque, limit)
        state = observer.predict(state, guess[k], step)
    return guess
