# SPDX-License-Identifier: Apache-2.0
"""Records of random robots that roll without slip, through a wiring that is known."""

from dataclasses import replace

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse
from c3p_kinematics.commissioning.assignment import WiringRecord

STEP = 0.02


def uneven_robot(rng, count):
    """Return a robot without symmetry, of unequal casters."""
    angles = 2.0 * np.pi * (np.arange(count) + rng.uniform(-0.25, 0.25, count)) / count
    regular = CasterRobot.regular(0.35, angles, 0.04, 0.05, 40.0, 4.5, torque_limit=1.2)
    hips = regular.hip_position * rng.uniform(0.8, 1.2, (count, 1))
    return replace(regular, hip_position=hips, caster_offset=rng.uniform(0.03, 0.05, count),
                   wheel_radius=rng.uniform(0.04, 0.06, count))


def rolled_joints(robot, rng, strokes=14):
    """Return joints (T, 2n) of a robot that rolls with drawn twists, forth and back."""
    steering = rng.uniform(-np.pi, np.pi, robot.count)
    wheels = np.zeros(robot.count)
    rows = [np.concatenate([steering, wheels])]
    for _ in range(strokes):
        twist = np.append(rng.uniform(-0.05, 0.05, 2), rng.uniform(-0.15, 0.15))
        for _ in range(45):
            # a midpoint step of the casters' equation
            _, rate, _ = inverse(robot, steering, twist)
            rolling, rate, _ = inverse(robot, steering + 0.5 * STEP * rate, twist)
            steering = steering + STEP * rate
            wheels = wheels + STEP * rolling
            rows.append(np.concatenate([steering, wheels]))
    return np.array(rows)


def measured_record(wiring, joints, rng, creep=0.0, noise=0.0, counts=0):
    """Return the record of channels with errors of real encoders, without torques."""
    n = joints.shape[1] // 2
    steps = np.diff(joints[:, n:], axis=0)
    # creep of the contacts lasts about a window
    lasting = np.repeat(rng.normal(0.0, creep, (len(steps) // 12 + 1, n)), 12, axis=0)
    wheels = joints[0, n:] + np.concatenate(
        [np.zeros((1, n)), np.cumsum(steps * (1.0 + lasting[:len(steps)]), axis=0)])
    joints = np.concatenate([joints[:, :n] + rng.normal(0.0, noise, (len(joints), n)), wheels], 1)
    measured = np.empty_like(joints)
    measured[:, wiring.encoder_of] = (joints - wiring.zero) / wiring.gear
    if counts:
        quantum = 2.0 * np.pi / counts
        measured = quantum * np.floor(measured / quantum)
    return WiringRecord(STEP * np.arange(len(joints)), measured, np.zeros((len(joints), n)))
