# SPDX-License-Identifier: Apache-2.0
"""
Joints of a robot on modules that are commanded by angle or rate: names, order, units of joints.

The order is that of the description: of the steering axes with a motor, and of the driven wheels.
Wheels on one pivot have one steering joint. Commands are positions and rates of the joints, with
the signs and zeros of the description.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.module_commands import ModuleCommand
from c3p_kinematics.module_settings import two_wheels


class ModuleRobotError(ValueError):
    """Robot that is not driven by angles and rates; the text has the reason and the remedy."""


class JointCommands(NamedTuple):
    """
    Commands of the joints, in their order.

    Attributes
    ----------
    steering_position, steering_velocity : (m,) array, rad and rad/s
    wheel_velocity : (k,) array, rad/s
    """

    steering_position: Array
    steering_velocity: Array
    wheel_velocity: Array


class ModuleJoints:
    """
    Commanded joints of a robot.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    steering, wheels : tuple of str
        Names of the commanded joints, in the order of their commands.

    Raises
    ------
    ModuleRobotError
        No wheel is driven, or one is a caster.

    Examples
    --------
    >>> from c3p_description import load
    >>> joints = ModuleJoints(load('tricycle_agv'))
    >>> joints.steering, joints.wheels
    (('steering_joint_1',), ('wheel_joint_1',))
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Check the robot."""
        check_robot(robot)
        self._robot = robot
        names = list(robot.steering_joints)
        # once for each pivot
        self._steered = np.array([i for i in np.flatnonzero(robot.steered & ~robot.fixed)
                                  if names.index(names[i]) == i], int)
        self._driven = np.flatnonzero(robot.driven)
        self.steering = tuple(robot.steering_joints[i] for i in self._steered)
        self.wheels = tuple(robot.wheel_joints[i] for i in self._driven)

    def commands(self, command: ModuleCommand) -> JointCommands:
        """Return the commands of the joints."""
        sign = self._robot.steering_sign[self._steered]
        zero = self._robot.steering_zero[self._steered]
        wheels = self._robot.wheel_sign[self._driven] * command.wheel_rate[self._driven]
        return JointCommands(sign * (command.steering[self._steered] - zero),
                             sign * command.steering_rate[self._steered], wheels)

    def stops(self, lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array]:
        """
        Return the stops (n,) as steering angles, rad: the narrower of those given and the robot's.

        Parameters
        ----------
        lower, upper : (1,) or (m,) array_like, rad
            Joint positions, one for all steering joints or one for each.

        Raises
        ------
        ModuleRobotError
            Another number of values, or nothing is between the stops.
        """
        robot = self._robot
        found = np.array([robot.steering_lower, robot.steering_upper])
        m = len(self._steered)
        for name, given in (('steering_lower', lower), ('steering_upper', upper)):
            if np.size(given) not in (1, m):
                raise ModuleRobotError(f'{name} has {np.size(given)} values: must be one, or '
                                       f'{m}, one for each of {", ".join(self.steering)}')
        i = self._steered
        # a joint that turns against the model exchanges them
        ends = np.sort([robot.steering_sign[i] * np.broadcast_to(end, m) + robot.steering_zero[i]
                        for end in (lower, upper)], axis=0)
        found[:, i] = np.maximum(found[0, i], ends[0]), np.minimum(found[1, i], ends[1])
        if np.any(found[0] >= found[1]):
            raise ModuleRobotError(f'steering_lower = {np.asarray(lower).tolist()}, '
                                   f'steering_upper = {np.asarray(upper).tolist()}: nothing is '
                                   "between them and the robot's own stops")
        return found[0], found[1]


def check_robot(robot: CasterRobot) -> None:
    """Raise ModuleRobotError for a robot that is not driven by angles and rates of joints."""
    if not robot.driven.any():
        raise ModuleRobotError(f'robot {robot.name}: no wheel is driven; name the motors with '
                               'the option `driven`')
    below = (robot.caster_offset == 0.0) & robot.steered
    casters = robot.driven & ~robot.fixed & ~below & ~two_wheels(robot)
    if casters.any():
        names = ', '.join(robot.wheel_joints[i] for i in np.flatnonzero(casters))
        raise ModuleRobotError(
            f'robot {robot.name}: {names}: driven wheels behind their pivots, or without a '
            'steering motor; casters are driven by torques: use velocity_controller. Modules '
            'have caster_offset 0 and `steered`, or two driven wheels on a pivot')
    blind = robot.steered & ~robot.fixed & ~robot.steering_encoder
    blind |= two_wheels(robot) & ~robot.steering_encoder
    if blind.any():
        names = ', '.join(robot.steering_joints[i] for i in np.flatnonzero(blind))
        raise ModuleRobotError(f'robot {robot.name}: {names} without an encoder: the angles of '
                               'modules must be measured')
