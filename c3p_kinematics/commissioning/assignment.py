# SPDX-License-Identifier: Apache-2.0
"""
Wiring of a robot as the channels of its motors and encoders are joined to its joints.

Channels carry the names of the joints that the description takes them for. What is wired is a map
of them: the angle of joint k and the torque that acts on it are

    q_k = gear_k · measured[encoder_of_k] + zero_k,    τ_k = leads_k · ordered[motor_of_k].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot

# of robots whose wiring is not found: what remains
BY_EYE = ('turn each joint of this robot by hand, motors off, and compare it with joint_states: '
          'docs/hardware.md, Bring-up, "By eye"')

# place of a joint without a channel
NONE = -1


class ChannelNames(NamedTuple):
    """
    Names of the channels, each that of the joint which the description takes it for.

    Attributes
    ----------
    encoders : tuple of str
        Joints that are measured.
    motors : tuple of str
        Joints that are driven.
    """

    encoders: tuple[str, ...]
    motors: tuple[str, ...]


class Assignment(NamedTuple):
    """
    Wiring of the channels to the joints of a robot.

    Attributes
    ----------
    encoder_of : (j,) ndarray of int
        Encoder channel of each joint; `NONE` without one.
    gear : (j,) ndarray
        Factor of the measured angle, with its sign; 1 where the description is right.
    zero : (j,) ndarray, rad
        Added to the angle; 0 for wheels.
    motor_of : (j,) ndarray of int
        Motor channel of each joint; `NONE` without one.
    leads : (j,) ndarray
        Sign of the torque.
    """

    encoder_of: Array
    gear: Array
    zero: Array
    motor_of: Array
    leads: Array

    def angles(self, measured: Array) -> Array:
        """Return the angles (T, j) of the joints by those of the channels (T, k), rad."""
        angles = measured[:, self.encoder_of] * self.gear + self.zero
        angles[:, self.encoder_of == NONE] = np.nan
        return angles


class WiringRecord(NamedTuple):
    """
    Ordered torques and measured angles.

    Attributes
    ----------
    time : (T,) ndarray, s
    measured : (T, k) ndarray, rad
        Angles of the encoder channels, by the description's counts, gears, signs and zeros.
    ordered : (T, m) ndarray, N·m
        Torques of the motor channels, as they were sent.
    """

    time: Array
    measured: Array
    ordered: Array


class WiringPush(NamedTuple):
    """
    A push by hand, straight in a direction and without a turn.

    Attributes
    ----------
    measured : (T, k) ndarray, rad
        Angles of the encoder channels meanwhile.
    direction : (2,) ndarray
        In ``base_link``, of length 1: (0, 1) is along +Y.
    """

    measured: Array
    direction: Array


class FoundWiring(NamedTuple):
    """
    Result of a search.

    Attributes
    ----------
    assignment : Assignment
        The most probable wiring.
    probability : float
        Of its discrete part: orders and signs.
    deviation : Assignment
        Standard deviations of `gear` and `zero`; the rest is as in `assignment`.
    others : tuple of (Assignment, float)
        The next ones with their probabilities, falling.
    undecided : tuple of str
        What these motions do not decide, each with the measurement that settles it.
    residual : float
        Root mean square of the residuals of rolling by their noise; about 1 where it explains the
        record.
    record : WiringRecord, optional
        Motions that were searched.
    pushes : tuple of WiringPush
        By which it was settled.
    """

    assignment: Assignment
    probability: float
    deviation: Assignment
    others: tuple[tuple[Assignment, float], ...]
    undecided: tuple[str, ...]
    residual: float
    record: WiringRecord | None = None
    pushes: tuple[WiringPush, ...] = ()


def channels_of(robot: CasterRobot) -> ChannelNames:
    """
    Return the channels of a robot: encoders of all steering axes and wheels, and its motors.

    The motors are those of an effort vector: wheels first, then steering axes.

    Raises
    ------
    ValueError
        A joint without an encoder, a fixed wheel or two wheels on a pivot.
    """
    for wrong, what in (
            (robot.fixed, 'is fixed'),
            (~robot.steering_encoder, 'has no encoder'),
            (~robot.wheel_encoder, 'has no encoder at its wheel')):
        if np.any(wrong):
            joint = robot.steering_joints[int(np.argmax(wrong))]
            raise ValueError(f'{joint} {what}: the wiring is found for casters with encoders at '
                             f'both joints; {BY_EYE}')
    if len(set(robot.steering_joints)) < robot.count:
        raise ValueError(f'steering joints {", ".join(robot.steering_joints)}: the wiring is '
                         f'found for pivots with one wheel each; {BY_EYE}')
    motors = tuple(joint for joint, there in zip(robot.effort_joints, robot.actuated, strict=True)
                   if there)
    return ChannelNames((*robot.steering_joints, *robot.wheel_joints), motors)


def require_following(robot: CasterRobot) -> None:
    """
    Raise ValueError for wheels below their pivots.

    They keep their direction while the robot is pushed, and block each other at wrong zeros:
    three such wheels whose axles do not meet in a point hold the platform, so that the rolling
    that distinguishes wirings begins only when all zeros are known. A motor of a steering axis
    turns its module about its contact, which shows its own encoder alone.
    """
    if not np.all(robot.caster_offset > 0):
        joint = robot.steering_joints[int(np.argmin(robot.caster_offset))]
        raise ValueError(f'{joint}: its wheel is below its pivot and does not follow a motion: '
                         'with unknown zeros the wheels hold each other, and small motions do not '
                         'show where they are; use `c3p commission --by-hand`')


def joint_of_motors(robot: CasterRobot) -> Array:
    """Return the joint (m,) that the description takes each motor channel for, as an index."""
    n = robot.count
    efforts = np.flatnonzero(robot.actuated)
    # efforts are wheels and steering axes, joints are steering axes and wheels
    return (efforts + n) % (2 * n)


def as_described(robot: CasterRobot) -> Assignment:
    """Return the wiring of a robot that is wired as described."""
    joints = 2 * robot.count
    motor_of = np.full(joints, NONE)
    motors = joint_of_motors(robot)
    motor_of[motors] = np.arange(len(motors))
    return Assignment(np.arange(joints), np.ones(joints), np.zeros(joints), motor_of,
                      np.ones(joints))
