# SPDX-License-Identifier: Apache-2.0
"""What messages of the suite say about wheels, as the scene takes it."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray

from c3p_description.model import Array, CasterRobot
from c3p_ros.messages import MessageError
from c3p_ros.wire import COVARIANCE, HEADER, POSE, aligned, byte_order, text

# x, y and yaw of six
PLANAR = np.ix_([0, 1, 5], [0, 1, 5])


class SlipReading(NamedTuple):
    """
    One message of ``sensed_kinematics/wheel_slip``.

    Attributes
    ----------
    residual : (n, 2) array, m/s
        Slip along and across each wheel.
    suspect : int
        Index of the wheel that slips, from 0; −1 for none.
    """

    residual: Array
    suspect: int


def slip_of(message: DiagnosticArray, robot: CasterRobot) -> SlipReading:
    """
    Return the slip of every wheel of a robot.

    Raises
    ------
    MessageError
        A wheel without status, or a speed that is no finite number.
    """
    statuses = {status.name: {pair.key: pair.value for pair in status.values}
                for status in message.status}
    residual, suspect = np.empty((robot.count, 2)), -1
    for i, joint in enumerate(robot.wheel_joints):
        values = statuses.get(joint)
        if values is None:
            raise MessageError(f'no status of {joint}; the message has {sorted(statuses)}')
        for k, key in enumerate(('along', 'across')):
            residual[i, k] = _number(values.get(key, ''), f'{joint}: {key}')
        if values.get('suspect') == 'true':
            suspect = i
    return SlipReading(residual, suspect)


def pose_covariance(data: bytes) -> Array:
    """
    Return the covariance (3, 3) of x, y and yaw of a serialized Odometry.

    Raises
    ------
    MessageError
        It is no serialized Odometry, or its numbers are not finite.
    """
    order = byte_order(data)
    try:
        _, place = text(data, HEADER + 8, order)
        _, place = text(data, place, order)
        full = np.frombuffer(data, f'{order}f8', COVARIANCE, aligned(place, 8) + 8 * POSE)
    except (struct.error, ValueError) as error:
        raise MessageError(f'cut off: {error}') from error
    planar = full.reshape(6, 6)[PLANAR]
    if not np.isfinite(planar).all():
        raise MessageError(f'pose.covariance = {planar.tolist()}: must be finite')
    return planar


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise MessageError(f'{where} is {text!r}: must be a speed in m/s')
    return value
