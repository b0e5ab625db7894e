# SPDX-License-Identifier: Apache-2.0
"""Messages of an IMU in a bag, as the node uses them in the odometry."""

from __future__ import annotations

import numpy as np

from c3p_bags.runs.columns import read_columns
from c3p_bags.runs.recompute import GyroRows
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import imu_spread
from c3p_bags.storage.recorded_robot import NODE
from c3p_kinematics.gyro_mounting import (
    MountingError,
    rate_about,
    variance_about,
    vertical_axis,
)
from c3p_kinematics.odometry import OdometrySettings

TOPIC = 'imu/data'


def read_gyro(bag: Bag, settings: OdometrySettings, space: str = '') -> GyroRows | None:
    """
    Return the messages of the IMU of a robot, None if its odometry uses none or the bag has none.

    Parameters
    ----------
    bag : Bag
    settings : OdometrySettings
        Of the odometry.
    space : str
        Namespace of the robot.

    Raises
    ------
    BagError
        The bag cannot be read.
    """
    wanted = settings.gyro
    if not (wanted.enabled and wanted.odometry):
        return None
    topic = f'{space}/{TOPIC}'
    column = read_columns(bag, {topic: imu_spread}).get(topic)
    if column is None:
        bag.remark(f'imu.enabled is true, and the bag has no rates on {topic}: the odometry is '
                   'computed from the joints alone')
        return None
    rates, spread, frames = column.values
    node = bag.parameters.get(f'{space}/{NODE}', {})
    base = f'{node.get("base_frame", "base_link")}'
    description = f'{node.get("robot_description", "")}'
    rate = np.full(len(rates), np.nan)
    variance = np.zeros(len(rates))
    for frame in sorted({str(f) for f in frames}):
        some = frames == frame
        try:
            up = vertical_axis(wanted.axis, frame, base, description)
        except MountingError as error:
            bag.remark(f'{topic}: {error}')
            continue
        rate[some] = rate_about(up, *rates[some].T)
        variance[some] = variance_about(up, spread[some])
    known = np.isfinite(rate)
    return GyroRows(column.recorded[known], column.stamp[known], rate[known], variance[known])
