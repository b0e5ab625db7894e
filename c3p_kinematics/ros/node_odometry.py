# SPDX-License-Identifier: Apache-2.0
"""Odometry of the node, with the services of its calibration where that is enabled."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import yaml
from std_srvs.srv import Trigger

from c3p_description.reading.parameters import is_robot_name
from c3p_description.reading.robot_files import base_of
from c3p_description.reading.written import replace_text, write_robot
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.kept import (
    REMEDY,
    kept_covariance,
    kept_name,
    kept_text,
)
from c3p_kinematics.calibration.parameters import (
    FIELDS,
    CalibrationSettings,
    LearningSettings,
    Prior,
    parameters_of,
)
from c3p_kinematics.calibration.recording import CalibrationError
from c3p_kinematics.calibration.words import file_text
from c3p_kinematics.odometry import PARAMETERS, Odometry, odometry_settings
from c3p_ros.node import SuiteNode
from c3p_ros.schema import ParameterError

# libyaml where it is installed: a covariance of 40 rows is read in milliseconds
FAST = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

DISABLED = 'calibration.enabled is false: set it to true at the start of the node'


def make_odometry(node: SuiteNode) -> Odometry:
    """Return the odometry of `node` by its parameters; create the services of a calibration."""
    values = node.parameters.value
    settings = odometry_settings(**{name: attrgetter(name)(values) for name in PARAMETERS})
    if values.calibration.enabled:
        learning = CalibratingOdometry(node.robot, settings, LearningSettings(
            CalibrationSettings(
                prior=settings.prior or Prior(), wheel_resolution=settings.wheel_resolution,
                steering_resolution=settings.steering_resolution,
                creep=values.calibration.creep), memory=values.calibration.memory))
        _continue(node, learning)
        retune(learning, values)
        odometry: Odometry = learning
    elif values.imu.enabled and not values.imu.odometry:
        raise ParameterError('imu.enabled: with imu.odometry = false an IMU teaches the '
                             'calibration alone: set calibration.enabled to true as well')
    else:
        odometry = Odometry(node.robot, settings)
    if values.imu.enabled:
        # a node without an IMU does not import it
        from c3p_kinematics.ros.imu import ImuSubscription
        ImuSubscription(node, odometry)
    CalibrationServices(node, odometry)
    return odometry


def _continue(node: SuiteNode, odometry: CalibratingOdometry) -> None:
    """Continue from the covariance beside the robot file, if there is one."""
    values = node.parameters.value
    if values.robot_description or is_robot_name(values.robot):
        return
    path = Path(values.robot).expanduser()
    path = path.with_name(kept_name(path.name))
    if not path.is_file():
        return
    try:
        content = yaml.load(path.read_text(encoding='utf-8'), FAST)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CalibrationError(f'{path}: {" ".join(f"{error}".split())}; {REMEDY}') from None
    covariance = kept_covariance(content, node.robot, str(path))
    try:
        odometry.adopt(parameters_of(node.robot), covariance)
    except ValueError as error:
        raise CalibrationError(f'{path}: {error}; {REMEDY}') from None
    node.get_logger().info(f'calibration continues with {path}')


def calibration_metrics(odometry: Odometry) -> Mapping[str, str]:
    """Return the estimate of a calibration in words, empty without one."""
    if not isinstance(odometry, CalibratingOdometry):
        return {}
    learned = odometry.calibration.metrics()
    return learned if odometry.yaw is None else learned | odometry.yaw.metrics()


def retune(odometry: Odometry, values: Any) -> None:
    """Follow changed parameters of the calibration."""
    if isinstance(odometry, CalibratingOdometry):
        odometry.calibration.frozen = values.calibration.frozen


class CalibrationServices:
    """
    Services ``~/save_calibration`` and ``~/forget_calibration`` of a node.

    Without a calibration they fail, with the parameter that enables it.

    Parameters
    ----------
    node : SuiteNode
    odometry : Odometry
    """

    def __init__(self, node: SuiteNode, odometry: Odometry) -> None:
        """Create the services."""
        self._node = node
        self._odometry = odometry
        node.create_service(Trigger, '~/save_calibration', self._on_save)
        node.create_service(Trigger, '~/forget_calibration', self._on_forget)

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            path = self._save()
            response.success = True
            response.message = f'{path}, with its covariance: give it as robot at the next start'
        except (OSError, ValueError) as error:
            response.success, response.message = False, ' '.join(f'{error}'.split())
        return response

    def _on_forget(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if isinstance(self._odometry, CalibratingOdometry):
            self._odometry.forget()
            response.success = True
            response.message = 'lengths and zeros are those of the description'
        else:
            response.success = False
            response.message = DISABLED
        return response

    def _save(self) -> Path:
        """Write the robot file; return its path."""
        values = self._node.parameters.value
        if not isinstance(self._odometry, CalibratingOdometry):
            raise ValueError(DISABLED)
        if not values.calibration.file:
            raise ValueError('calibration.file is empty: set it to the path of the robot file to '
                             'write, such as /etc/robot/calibrated.yaml')
        path = Path(values.calibration.file).expanduser().resolve()
        if path.suffix not in ('.yaml', '.yml'):
            raise ValueError(f'calibration.file = {path}: must end with .yaml')
        learned = self._odometry.calibration
        if contradiction := learned.contradiction():
            raise CalibrationError(contradiction)
        base = self._base(values, path)
        text = file_text(learned.robot, learned.parameters, learned.covariance, base,
                         f'by {self._node.get_fully_qualified_name()}, '
                         f'{learned.learned} windows')
        write_robot(path, text, learned.calibrated_robot, FIELDS)
        # the lengths in the covariance show if a power cut came between both
        replace_text(path.with_name(kept_name(path.name)),
                     kept_text(path.name, learned.parameters, learned.covariance))
        return path

    def _base(self, values: Any, path: Path) -> str:
        """Return the line that names the description, which may become a file beside `path`."""
        if values.robot_description:
            urdf = path.with_suffix('.urdf')
            replace_text(urdf, values.robot_description)
            return f'urdf: {urdf.name}'
        if is_robot_name(values.robot):
            return f'extends: {values.robot}'
        described = Path(values.robot).expanduser().resolve()
        if described == path:
            raise ValueError(f'calibration.file = {path}: is the description in use, which the '
                             'new file extends; name another file')
        (key, base), = base_of(described, path).items()
        return f'{key}: {base}'
