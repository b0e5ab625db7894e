# SPDX-License-Identifier: Apache-2.0
"""
Conversion between joint commands of ros2_control and torques of the model, in both directions.

A group controller takes efforts without names, in the order of its parameter ``joints``. The topic
system (``joint_state_topic_hardware_interface/JointStateTopicSystem``) sends a JointState with the
names of *all* joints of its ``<ros2_control>`` block, but efforts only for joints with an effort
command interface: driven wheels, and steering axes with a motor. The efforts are assigned to the
joints by names and counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array, CasterRobot

# expected form of the block, in errors
ONE_BLOCK = ('put the driven joints into a <ros2_control> block of their own, each with one '
             'effort command interface')


class JointCommandError(ValueError):
    """An invalid joint command or order of joints."""


class GroupCommand:
    """
    Torques as the data of a group effort controller.

    Parameters
    ----------
    robot : CasterRobot
        For names, signs and motors.
    joints : sequence of str
        Parameter ``joints`` of the controller: every joint with a motor once, in any order. Empty
        for the order of the robot.

    Raises
    ------
    JointCommandError
        A missing or doubled joint, or one without a motor.

    Examples
    --------
    >>> from c3p_description import load
    >>> turned = GroupCommand(load('c3p'), ['wheel_joint_3', 'wheel_joint_1', 'wheel_joint_2'])
    >>> turned.encode(np.array([0.1, 0.2, 0.3]))
    [0.3, 0.1, 0.2]
    """

    def __init__(self, robot: CasterRobot, joints: Sequence[str] = ()) -> None:
        """Check the order."""
        driven = driven_joints(robot)
        self.joints = list(joints) or driven
        if sorted(self.joints) != sorted(driven):
            raise JointCommandError(f'joints = {self.joints}: must be the driven joints {driven}, '
                                    "each once, in the order of the controller's own joints")
        places = robot.effort_places
        self._order = np.array([places[joint] for joint in self.joints])
        self._sign = robot.effort_sign[self._order]

    def encode(self, torque: Array) -> list[float]:
        """Return the efforts of the controller's joints for torques (efforts,), N·m."""
        return (torque[self._order] * self._sign).tolist()


def driven_joints(robot: CasterRobot) -> list[str]:
    """Return the names of the joints that have motors: wheels, then steering axes."""
    return [joint for joint, motor in zip(robot.effort_joints, robot.actuated, strict=True)
            if motor]


class TopicCommand:
    """
    Torques in the JointState messages of the topic system.

    With one effort per name they are assigned one by one. With fewer, the joints without an effort
    command interface are left out, and the efforts are those of the driven joints in the order of
    their names. This requires as many efforts as driven joints, and that every other joint is a
    passive one of this robot. Any other message is ambiguous and rejected.

    Parameters
    ----------
    robot : CasterRobot
        For names, signs and motors.

    Examples
    --------
    >>> from c3p_description import load
    >>> names = ['steering_joint_1', 'wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3']
    >>> TopicCommand(load('c3p')).read(names, [0.1, 0.2, 0.3])
    array([0.1, 0.2, 0.3])
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Store names and signs."""
        self._robot = robot
        self._driven = driven_joints(robot)
        # a block may have the axis of a fixed wheel
        self._passive = {*robot.steering_joints, *robot.wheel_joints} - set(self._driven)
        self._known: tuple[list[str], int] = ([], -1)
        self._places: list[tuple[int, int]] = []
        self._idle: list[int] = []

    def read(self, names: Sequence[str], efforts: Sequence[float]) -> Array | None:
        """
        Return the torques (efforts,), N·m; None without a command of a controller.

        Parameters
        ----------
        names : sequence of str
            Joints of the block.
        efforts : sequence of float, N·m
            A value that is not finite is not a command: interfaces hold NaN until the first one.

        Raises
        ------
        JointCommandError
            Missing or doubled joints, ambiguous counts, torque for a passive joint.
        """
        if (names, len(efforts)) != self._known:
            self._assign(list(names), len(efforts))
        for place in self._idle:
            # NaN, an unclaimed interface, compares false
            if abs(efforts[place]) > 0.0:
                raise JointCommandError(f'effort {efforts[place]} for {names[place]}, which is '
                                        'passive; give it no command interface')
        torque = np.zeros(self._robot.efforts)
        for wheel, place in self._places:
            torque[wheel] = efforts[place]
        # one missing torque would change the direction of the wrench
        return torque * self._robot.effort_sign if np.all(np.isfinite(torque)) else None

    def _assign(self, names: list[str], count: int) -> None:
        """Assign efforts to joints, once per layout of the message."""
        owners = self._owners(names, count)
        missing = [joint for joint in self._driven if joint not in owners]
        if missing:
            raise JointCommandError(f'no effort for {missing}; efforts belong to {owners[:12]}: '
                                    f'{ONE_BLOCK}')
        doubled = sorted({joint for joint in self._driven if owners.count(joint) > 1})
        if doubled:
            raise JointCommandError(f'joints {doubled} are named more than once')
        places = self._robot.effort_places
        self._places = [(places[joint], owners.index(joint)) for joint in self._driven]
        self._idle = [place for place, joint in enumerate(owners) if joint in self._passive]
        self._known = (names, count)

    def _owners(self, names: list[str], count: int) -> list[str]:
        """Return the joint of each of `count` efforts."""
        if count == len(names):
            return names
        driven = [name for name in names if name in self._driven]
        counts = f'{count} efforts for {len(names)} joints, {len(driven)} of them driven'
        if count == 0:
            raise JointCommandError(f'{counts}: {ONE_BLOCK}; joint_state_topic_hardware_interface '
                                    'sends bare efforts from version 1.1.0 on')
        strange = [name for name in names if name not in self._driven
                   and name not in self._passive]
        if strange:
            raise JointCommandError(f'{counts}, and {strange[:6]} may own an effort: '
                                    f'{ONE_BLOCK}')
        if count != len(driven):
            raise JointCommandError(f'{counts}: ambiguous; {ONE_BLOCK}')
        return driven


class FrozenCommand:
    """
    Detects a command that is held by a forward controller without commands.

    A forward controller keeps its last command; when its client has died, the topic system still
    sends that command with new stamps. While a robot moves, no controller repeats torques bit for
    bit, unless they are zero.

    Parameters
    ----------
    timeout : float, s
        Longest time of equal torques that are not zero; 0 is unlimited.

    Examples
    --------
    >>> frozen = FrozenCommand(0.5)
    >>> torque = np.array([0.1, 0.0, 0.0])
    >>> [frozen.age(torque, now) for now in (0.0, 0.4, 0.6)]
    [0.0, 0.0, 0.6]
    >>> frozen.age(0.5 * torque, 0.7)
    0.0
    """

    def __init__(self, timeout: float) -> None:
        """Start without a command."""
        if not timeout >= 0:
            raise JointCommandError(f'frozen_timeout = {timeout}: must not be negative')
        self._timeout = timeout if timeout > 0 else math.inf
        self._torque: Array | None = None
        self._since = 0.0

    def age(self, torque: Array, now: float) -> float:
        """
        Return the time since which a command is frozen, s; 0 for a live one.

        Parameters
        ----------
        torque : (n,) array, N·m
        now : float, s
            Any steady clock.
        """
        if self._torque is None or not np.array_equal(torque, self._torque) or not np.any(torque):
            self._torque = torque.copy()
            self._since = now
        age = now - self._since
        return age if age > self._timeout else 0.0
