# SPDX-License-Identifier: Apache-2.0
"""Patterns of torques with which motors push alone and together, while the wiring is unknown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import channels_of, joint_of_motors

# travel of a radian of the steering of wheels without offset, m: that of their tyres
LEAST_ARM = 0.02

# torque of a motor that turns a wheel about its contact, per limit: little friction holds it
TURNING = 0.2


class WiringMotion(NamedTuple):
    """
    A motion.

    Attributes
    ----------
    pattern : (m,) ndarray, N·m
        Largest torques of the motors; a motion uses a fraction of them.
    label : str
        In words.
    returns : bool
        The next motion reverses it.
    """

    pattern: Array
    label: str
    returns: bool = False


def planned_motions(robot: CasterRobot, together: int, seed: int = 0) -> list[WiringMotion]:
    """
    Return the motions: each motor alone and back, then `together` ones of all with drawn torques.

    Torques of a pattern make equal forces at the floor, about: wheel motors by r, those of
    steering axes by d. With steering motors the wheels push together without them, and then with
    them. Wheels below their pivots would hold each other: each motor pushes alone only, the wheels
    first, while they are still parallel.
    """
    motors = channels_of(robot).motors
    limit = robot.effort_limit[robot.actuated]
    arm = arms_of(robot)[joint_of_motors(robot)]
    count = len(motors)
    wheels = joint_of_motors(robot) >= robot.count
    mixed = bool(wheels.any() and not wheels.all())
    below = not np.any(robot.caster_offset > 0.0)
    motions = []
    for k, joint in enumerate(motors):
        alone = np.eye(count)[k] * limit * (TURNING if below and not wheels[k] else 1.0)
        label = f'motor of {joint} alone'
        # with many motors the time does not suffice for a reversed one: the next reverses the sign
        motions += ([WiringMotion((-1.0) ** k * alone, label)] if mixed else
                    [WiringMotion(alone, label, True), WiringMotion(-alone, f'{label}, back')])
    for k in range(0 if below else together + mixed):
        motions += drawn_motions(arm, limit, wheels if mixed and k % 3 < 2 else wheels >= 0,
                                 f'pattern {k + 1}', seed + k)
    return motions


def arms_of(robot: CasterRobot) -> Array:
    """
    Return the travel of a radian of each joint (2n,), m: d of steering axes and r of wheels.

    It is the largest of all, because a channel may belong to each.
    """
    n = robot.count
    return np.repeat([max(float(robot.caster_offset.max()), LEAST_ARM),
                      float(robot.wheel_radius.max())], n)


def drawn_motions(arm: Array, limit: Array, used: Array, name: str, seed: int
                  ) -> list[WiringMotion]:
    """
    Return a motion with drawn torques of some motors, and the reversed one.

    Parameters
    ----------
    arm : (m,) ndarray, m
        Travel of a radian of the joint of each motor.
    limit : (m,) ndarray, N·m
        Largest torque of each.
    used : (m,) ndarray of bool
    name : str
        In the labels.
    seed : int
    """
    rng = np.random.default_rng(seed)
    pattern = rng.choice([-1.0, 1.0], len(arm)) * rng.uniform(0.4, 1.0, len(arm)) * arm * used
    pattern *= np.min(limit[used] / np.abs(pattern[used]))
    return [WiringMotion(pattern, f'motors together, {name}', True),
            WiringMotion(-pattern, f'motors together, {name}, back')]
