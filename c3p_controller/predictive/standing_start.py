# SPDX-License-Identifier: Apache-2.0
"""
Starts from standstill of robots with fewer motors than freedoms: first guesses, and no way out.

Where all rolling lines of the driven wheels are one line through the centre of mass, no torque
ever leaves it: the motion along the line turns no caster. `escapes` finds such starts from
simulated random torques. Beside them wheels against each other yaw the platform slowly, and
casters that are pushed over their unstable side flip: the first guesses contain these pushes.
"""

from __future__ import annotations

import numpy as np

from c3p_controller.predictive._kernels import roll_out
from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics._caster_equations import packed_model
from c3p_dynamics.freedoms import driven_freedoms, motors
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.singularity import length_scale

# random torques: number of runs, pieces of a run, steps of a piece, s of a step; and their seed
RUNS = 16
PIECES = 3
STEPS = 10
STEP = 0.02
SEED = 0

# directions whose travel in the runs is below this part of the largest are not reached; where all
# but one are below the second part, they are not left in practice: casters of two driven wheels
# within about 7° of their common line (measured: up to 0.25 plans may not find the way out; all
# starts beyond were left)
LEAST_PART = 1e-6
LINE_PART = 0.25

# least part of yaw in a push with which it is not a push along the line
LEAST_YAW = 0.1

# part of the needed motion, of its size, that must be reachable
MISSING = 0.05

# first guesses: parts of the largest torque, and durations, s
PUSHES = ((0.4, 0.15), (0.4, 0.45), (1.0, 0.9))


class StartError(ValueError, ArithmeticError):
    """No torque moves the robot from its standstill as commanded; the text contains the reason."""


def escapes(robot: CasterRobot, steering: Array) -> Array:
    """
    Return the displacements that torques can reach from a standstill, (m, 3), orthonormal.

    Rows are (x, y, L φ) in ``base_link``, m, with L the size of the robot; three rows where
    every direction can be reached, be it by a manoeuvre.

    Examples
    --------
    >>> duo = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 20.0, 0.8, (0.0, 0.0),
    ...                   0.0, 0.0, 0.0, 0.0, 0.0, 0.0, torque_limit=2.5)
    >>> np.abs(escapes(duo, np.zeros(2))).round(6).tolist()  # along the common line alone
    [[0.0, 1.0, 0.0]]
    >>> len(escapes(duo, np.radians([10.0, 10.0])))
    3
    """
    n = robot.count
    size = length_scale(robot)
    none = np.full((n, 6), [0.0, 0.0, 0.0, 0.0, 0.0, Friction().smoothing])
    model = packed_model(robot.geometry, robot.caster_inertia, robot.platform, none)
    random = np.random.default_rng(SEED)
    bound = torque_bounds(robot)
    count = PIECES * STEPS
    start = np.zeros(6 + n)
    wrench = np.zeros(3)
    dt = np.full(count, STEP)
    start[6:] = steering
    states = np.empty((count + 1, 6 + n))
    rate = np.empty(6 + n)
    moved = np.empty((RUNS, 3))
    for run in range(RUNS):
        pieces = random.uniform(-1.0, 1.0, (PIECES, robot.efforts)) * bound
        roll_out(model, start, np.repeat(pieces, STEPS, axis=0), wrench, dt, rate, states)
        moved[run] = states[-1, :3] * [1.0, 1.0, size]
    _, reached, directions = np.linalg.svd(moved)
    # a push that also yaws the platform turns the casters without help
    on_line = reached[1] <= LINE_PART * reached[0] and abs(directions[0, 2]) < LEAST_YAW
    least = 0.5 if on_line else LEAST_PART
    return directions[:len(reached)][reached > least * max(reached[0], 1e-300)]


def check_start(robot: CasterRobot, steering: Array, needed: Array) -> None:
    """
    Raise StartError where no torque moves the robot from standstill by `needed`.

    Parameters
    ----------
    robot : CasterRobot
        On casters, and one that `driven_freedoms` finds short of motors; others pass.
    steering : (n,) array, rad
    needed : (3,) array, m and rad
        Displacement in ``base_link``; zero needs nothing.
    """
    if robot.other_wheels or driven_freedoms(robot) == 3:
        return
    scaled = np.asarray(needed, float) * [1.0, 1.0, length_scale(robot)]
    length = float(np.linalg.norm(scaled))
    reached = escapes(robot, steering)
    missed = scaled - reached.T @ (reached @ scaled)
    if np.linalg.norm(missed) <= MISSING * length:
        return
    joints = ', '.join((robot.wheel_joints + robot.steering_joints)[i] for i in motors(robot))
    x, y, turn = needed
    raise StartError(
        f'the start cannot be left: the rolling lines of the driven wheels ({joints}) are one '
        f'line or nearly so, and no torque moves the robot by ({x:.2f} m, {y:.2f} m, '
        f'{turn:.2f} rad) in base_link; turn a caster by hand, or push the robot')


def check_reference(robot: CasterRobot, state: Array, rows: Array) -> None:
    """
    Check the start from `state` (6 + n,) at rest along `rows` (k, 7) as `check_start` does.

    Both are those of _kernels.py.
    """
    c, s = np.cos(state[2]), np.sin(state[2])
    x, y, turn = (rows[-1] - rows[0])[:3]
    check_start(robot, state[6:], np.array([c * x + s * y, c * y - s * x, turn]))


def push_guesses(robot: CasterRobot, times: Array) -> list[Array]:
    """
    Return first guesses of the torques (steps, efforts): each motor, and all pairs of them.

    Short pushes yaw the platform; long ones drive casters over their unstable side.
    """
    pushing = motors(robot)
    bound = torque_bounds(robot)
    patterns = []
    for number, first in enumerate(pushing):
        patterns.append(np.eye(robot.efforts)[first])
        for second in pushing[number + 1:]:
            for sign in (1.0, -1.0):
                patterns.append(np.eye(robot.efforts)[first]
                                + sign * np.eye(robot.efforts)[second])
    guesses = [np.zeros((len(times), robot.efforts))]
    for pattern in patterns:
        for part, duration in PUSHES:
            for sign in (1.0, -1.0):
                guess = np.zeros((len(times), robot.efforts))
                guess[times < duration] = sign * part * pattern * bound
                guesses.append(guess)
    return guesses
