# SPDX-License-Identifier: Apache-2.0
"""
Joint commands of ros2_control, both ways, against the torques of the model.

A group controller takes efforts without names, in the order of its parameter ``joints``. The topic
system (``joint_state_topic_hardware_interface/JointStateTopicSystem``) sends a JointState that
names *every* joint of its ``<ros2_control>`` block, and an effort only for joints that own an
effort command interface; which effort is whose must be found out by names and counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array, CasterRobot

# what a block must look like, in errors
ONE_BLOCK = ('put the driven wheels into a <ros2_control> block of their own, each with one '
             'effort command interface')


class JointCommandError(ValueError):
    """A joint command, or an order of joints, that cannot be used; the text says why."""


class GroupCommand:
    """
    Torques of the wheels as the data of a group effort controller.

    Parameters
    ----------
    robot : CasterRobot
        Gives names, signs and which wheels are driven.
    joints : sequence of str
        The controller's parameter ``joints``: every driven wheel once, in any order. Empty: the
        driven wheels in the order of the robot.

    Raises
    ------
    JointCommandError
        Joints that are missing, doubled, or no driven wheels.

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
            raise JointCommandError(f'joints = {self.joints}: must be the driven wheels {driven}, '
                                    "each once, in the order of the controller's own joints")
        names = list(robot.wheel_joints)
        self._order = np.array([names.index(joint) for joint in self.joints])
        self._sign = robot.wheel_sign[self._order]

    def encode(self, torque: Array) -> list[float]:
        """Return the efforts of the controller's joints for the wheels' torques (n,), N·m."""
        return (torque[self._order] * self._sign).tolist()


def driven_joints(robot: CasterRobot) -> list[str]:
    """Return the names of the wheel joints that have motors."""
    return [name for name, driven in zip(robot.wheel_joints, robot.driven, strict=True) if driven]


class TopicCommand:
    """
    Torques of the wheels in the JointState messages of the topic system.

    With one effort per name they belong together one by one. With fewer, each joint without an
    effort command interface has been left out, and the rest are the driven wheels in the order of
    their names: provided that they are as many, and that every other joint is a passive one of
    this robot. Everything else would be a guess and is refused.

    Parameters
    ----------
    robot : CasterRobot
        Gives names, signs and which wheels are driven.

    Examples
    --------
    >>> from c3p_description import load
    >>> names = ['steering_joint_1', 'wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3']
    >>> TopicCommand(load('c3p')).read(names, [0.1, 0.2, 0.3])
    array([0.1, 0.2, 0.3])
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Remember names and signs."""
        self._robot = robot
        self._driven = driven_joints(robot)
        self._passive = {*robot.steering_joints, *robot.wheel_joints} - set(self._driven)
        self._known: tuple[list[str], int] = ([], -1)
        self._places: list[tuple[int, int]] = []
        self._idle: list[int] = []

    def read(self, names: Sequence[str], efforts: Sequence[float]) -> Array | None:
        """
        Return the wheels' torques (n,), N·m; None when no controller has given a command.

        Parameters
        ----------
        names : sequence of str
            Joints of the block.
        efforts : sequence of float, N·m
            A value that is not finite is none: interfaces hold NaN until a controller writes.

        Raises
        ------
        JointCommandError
            Missing or doubled wheels, counts that fit nothing, torque for a passive joint.
        """
        if (names, len(efforts)) != self._known:
            self._learn(list(names), len(efforts))
        for place in self._idle:
            # NaN compares false: an interface that nobody has claimed
            if abs(efforts[place]) > 0.0:
                raise JointCommandError(f'effort {efforts[place]} for {names[place]}, which is '
                                        'passive; give it no command interface')
        torque = np.zeros(self._robot.count)
        for wheel, place in self._places:
            torque[wheel] = efforts[place]
        # one missing torque would turn the wrench of the others
        return torque * self._robot.wheel_sign if np.all(np.isfinite(torque)) else None

    def _learn(self, names: list[str], count: int) -> None:
        """Find out which effort is whose, once per layout."""
        owners = self._owners(names, count)
        missing = [joint for joint in self._driven if joint not in owners]
        if missing:
            raise JointCommandError(f'no effort for {missing}; efforts belong to {owners[:12]}: '
                                    f'{ONE_BLOCK}')
        doubled = sorted({joint for joint in self._driven if owners.count(joint) > 1})
        if doubled:
            raise JointCommandError(f'joints {doubled} are named more than once')
        wheels = list(self._robot.wheel_joints)
        self._places = [(wheels.index(joint), owners.index(joint)) for joint in self._driven]
        self._idle = [place for place, joint in enumerate(owners) if joint in self._passive]
        self._known = (names, count)

    def _owners(self, names: list[str], count: int) -> list[str]:
        """Return whose the `count` efforts are."""
        if count == len(names):
            return names
        driven = [name for name in names if name in self._driven]
        counts = f'{count} efforts for {len(names)} joints, {len(driven)} of them driven wheels'
        if count == 0:
            raise JointCommandError(f'{counts}: {ONE_BLOCK}; joint_state_topic_hardware_interface '
                                    'sends bare efforts from version 1.1.0 on')
        strange = [name for name in names if name not in self._driven
                   and name not in self._passive]
        if strange:
            raise JointCommandError(f'{counts}, and whether {strange[:6]} own an effort is not '
                                    f'said: {ONE_BLOCK}')
        if count != len(driven):
            raise JointCommandError(f'{counts}: whose they are is not said; {ONE_BLOCK}')
        return driven


class FrozenCommand:
    """
    Tells a command that is held from one that is given anew.

    A forward controller keeps its last command for ever; when who commanded it has died, the topic
    system goes on sending that, with fresh stamps. While a robot moves, no law gives the same
    torques bit for bit for long, unless they are zero.

    Parameters
    ----------
    timeout : float, s
        How long a torque that is not zero may stay the same; 0 is for ever.

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
        Return for how long a command has been frozen, s; 0 while it is alive.

        Parameters
        ----------
        torque : (n,) array, N·m
        now : float, s
            Any steady clock.
        """
        if self._torque is None or not np.array_equal(torque, self._torque) or not np.any(torque):
            self._torque, self._since = torque.copy(), now
        age = now - self._since
        return age if age > self._timeout else 0.0
