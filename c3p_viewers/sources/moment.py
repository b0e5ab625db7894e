# SPDX-License-Identifier: Apache-2.0
"""
State of a robot at one time, and its scene: what every viewer draws.

A bag (`bag_source`) and live topics (`live`) give the same `Moment` to every viewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_viewers.scene.caster_scene import caster_scene
from c3p_viewers.scene.settings import DEFAULT_SETTINGS, SceneSettings
from c3p_viewers.scene.shapes import Shape
from c3p_viewers.scene.trail import planned_line, uncertainty


class Moment(NamedTuple):
    """
    A robot at one time; unknown values are None.

    Attributes
    ----------
    time : float, s
        Since the first joint states.
    steering, steering_rate, wheel_angle, wheel_rate : (n,) arrays
        θ_s and θ_x, rad, and their rates, rad/s.
    pose, twist : (3,) arrays, optional
        By odometry: x, y [m] and yaw [rad] in its frame; vx, vy, ω in ``base_link``.
    truth : (3,) array, optional
        The true pose in the odometry's frame.
    command : (3,) array, optional
        Commanded twist, ``base_link``.
    torque : (n,) array, N·m, optional
        Commanded torque of the wheels, else measured there.
    residual : (n, 2) array, m/s, optional
        Slip of each contact along and across its wheel.
    suspect : int, optional
        The wheel that most likely slips, from 0.
    goal : (3,) array, optional
        In the odometry's frame.
    stamp : int, ns
        Of the joint states.
    frame : str
        Of the odometry.
    planned : (k, 2) array, m, optional
        The path ahead of a controller, in the odometry's frame.
    covariance : (3, 3) array, optional
        Of x, y and yaw of `pose`, m² and rad².
    steering_torque : (n,) array, N·m, optional
        Commanded torque of the steering axes, of robots with steering motors.
    """

    time: float
    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    pose: Array | None = None
    twist: Array | None = None
    truth: Array | None = None
    command: Array | None = None
    torque: Array | None = None
    residual: Array | None = None
    suspect: int | None = None
    goal: Array | None = None
    stamp: int = 0
    frame: str = 'odom'
    planned: Array | None = None
    covariance: Array | None = None
    steering_torque: Array | None = None

    @property
    def place(self) -> Array:
        """Pose at which the robot is drawn: odometry, else the truth, else the origin, (3,)."""
        for pose in (self.pose, self.truth):
            if pose is not None:
                return pose
        return np.zeros(3)


def scene_of(robot: CasterRobot, moment: Moment,
             settings: SceneSettings = DEFAULT_SETTINGS) -> tuple[Shape, ...]:
    """Return the shapes that explain a moment, in ``base_link``."""
    # a motor that measures no torque reports nan
    torque = None if moment.torque is None else np.nan_to_num(moment.torque)
    residual = moment.residual
    if residual is not None and not np.isfinite(residual).all():
        residual = None
    return caster_scene(robot, moment.steering, twist=moment.twist, wheel_torque=torque,
                        residual=residual, suspect=moment.suspect,
                        slipping=moment.suspect is not None, settings=settings)


def odometry_scene(robot: CasterRobot, moment: Moment,
                   settings: SceneSettings = DEFAULT_SETTINGS) -> tuple[Shape, ...]:
    """Return the uncertainty of the pose and the path ahead, in the odometry's frame."""
    shapes: tuple[Shape, ...] = ()
    if moment.pose is not None and moment.covariance is not None:
        shapes = uncertainty(robot, moment.pose, moment.covariance, moment.frame, settings)
    return shapes if moment.planned is None else (*shapes, *planned_line(
        robot, moment.planned, moment.frame, settings))


def joint_positions(robot: CasterRobot, steering: Array, wheel_angle: Array) -> dict[str, float]:
    """
    Return the positions of the joints in the convention of the description, rad.

    Parameters
    ----------
    robot : CasterRobot
    steering, wheel_angle : (n,) arrays, rad
        In the convention of the model.

    Returns
    -------
    dict
        Joint name → position.
    """
    values = np.concatenate([robot.steering_sign * (steering - robot.steering_zero),
                             robot.wheel_sign * wheel_angle])
    return dict(zip((*robot.steering_joints, *robot.wheel_joints), values.tolist(), strict=True))
