# SPDX-License-Identifier: Apache-2.0
"""
Motors of robots whose wheels are below their pivots, from motions of one motor at a time.

Their encoders are as described: found by hand before (`by_hand`). A motor that steers turns its
module about its own contact, so that one steering encoder moves; the sign of its turn is that of
the leads. A wheel motor drives the robot while all wheels are parallel, and all wheels roll alike;
where the wheels hold each other, its own one slips alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import (
    FoundWiring,
    WiringRecord,
    as_described,
    channels_of,
    joint_of_motors,
)
from c3p_kinematics.commissioning.patterns import arms_of
from c3p_kinematics.commissioning.search import WiringError

# travel of a joint that has been moved, and part of it that others of its kind have at most, m
MOVED = 2e-3
OTHERS_MOVE = 0.5

ROLL_ALIKE = ('which wheel each drive turns: parallel wheels roll alike; each drive is taken to '
              'have the encoder of its own motor')


class SingleMotion(NamedTuple):
    """
    Motion by one motor.

    Attributes
    ----------
    motor : int
        Channel.
    sign : float
        Of its torque.
    moved : (k,) ndarray, m
        Travel of the encoder channels until the next motion.
    """

    motor: int
    sign: float
    moved: Array


def single_motions(robot: CasterRobot, record: WiringRecord) -> Iterator[SingleMotion]:
    """Yield the motions in which one motor pushed alone."""
    pushing = np.abs(record.ordered) > 0.0
    rows = np.flatnonzero(pushing.any(axis=1))
    arm = arms_of(robot)
    begin = 0
    while begin < len(rows):
        pattern = np.sign(record.ordered[rows[begin]])
        end = begin
        while end < len(rows) and np.array_equal(np.sign(record.ordered[rows[end]]), pattern):
            end += 1
        last = rows[end] if end < len(rows) else len(record.time) - 1
        if np.sum(np.abs(pattern)) == 1:
            motor = int(np.argmax(np.abs(pattern)))
            moved = (record.measured[last] - record.measured[rows[begin]]) * arm
            yield SingleMotion(motor, float(pattern[motor]), moved)
        begin = end


def find_motors(robot: CasterRobot, record: WiringRecord) -> FoundWiring:
    """
    Return the joints and leads of the motors; the encoders are as described.

    Parameters
    ----------
    robot : CasterRobot
        Its wheels are below their pivots, and were set parallel.
    record : WiringRecord
        Of `WiringMotions`.

    Returns
    -------
    FoundWiring
        Its `residual` is the largest part of a motion that another joint had, its `probability`
        the rest.

    Raises
    ------
    WiringError
        A motor moved nothing, several joints alike, or that of another motor.
    """
    n = robot.count
    channels = channels_of(robot)
    own = joint_of_motors(robot)
    wiring = as_described(robot)
    taken: dict[int, int] = {}
    leads = np.ones(2 * n)
    alike = False
    largest = 0.0
    for motion in single_motions(robot, record):
        name = channels.motors[motion.motor]
        kind = slice(n, 2 * n) if own[motion.motor] >= n else slice(0, n)
        travel = np.abs(motion.moved[kind])
        joint = kind.start + int(np.argmax(travel))
        rest = float(np.sort(travel)[-2]) if n > 1 else 0.0
        if travel.max() < MOVED:
            raise WiringError(f'the motor of {name} moved nothing: check its supply and its '
                              'cable, and whether the torque limit exceeds the friction')
        if rest > OTHERS_MOVE * travel.max():
            if kind.start == 0:
                raise WiringError(
                    f'the motor of {name} turned several steering axes, '
                    f'{channels.encoders[joint]} by {travel.max():.3f} m of its tyre and another '
                    f'by {rest:.3f} m: run the motions again, nothing else may turn them')
            # the robot rolled: the sign is that of its own wheel
            alike = True
            joint = int(own[motion.motor])
        else:
            largest = max(largest, rest / float(travel.max()))
        if taken.setdefault(joint, motion.motor) != motion.motor:
            raise WiringError(
                f'the motors of {channels.motors[taken[joint]]} and {name} both moved '
                f'{channels.encoders[joint]}: find the encoders with `c3p commission --by-hand`')
        leads[joint] = np.sign(motion.moved[joint] * motion.sign)
    missing = [name for m, name in enumerate(channels.motors) if m not in taken.values()]
    if missing:
        raise WiringError(f'the motor of {missing[0]} did not push alone: run all motions')
    motor_of = wiring.motor_of.copy()
    motor_of[list(taken)] = list(taken.values())
    found = wiring._replace(motor_of=motor_of, leads=leads)
    still = found._replace(gear=np.zeros(2 * n), zero=np.zeros(2 * n))
    return FoundWiring(found, 1.0 - largest, still, (), (ROLL_ALIKE,) if alike else (), largest,
                       record)
