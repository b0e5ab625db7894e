# SPDX-License-Identifier: Apache-2.0
"""Inputs of the odometry of a bag: joint states, and messages of an IMU."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_bags.runs.columns import read_columns
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import imu_spread
from c3p_bags.storage.recorded_robot import NODE
from c3p_description.model import Array
from c3p_kinematics.gyro_fusion import GyroFusion
from c3p_kinematics.odometry import OdometrySettings
from c3p_kinematics.ros.gyro_mounting import (
    MountingError,
    rate_about,
    variance_about,
    vertical_axis,
)

TOPIC = 'imu/data'

# a message that was recorded so long before a sample of the joints precedes it whatever its stamp
# is, ns
LONG_PAST = 1_000_000_000


class GyroRows(NamedTuple):
    """
    Messages of an IMU as inputs of the odometry, in the order of recording.

    Times of recording and stamps (k,) [ns]; rates about the vertical and their variances (k,)
    [rad/s and rad²/s²].
    """

    recorded: Array
    stamp: Array
    rate: Array
    variance: Array


class Samples(NamedTuple):
    """
    Joint states of a bag as inputs of the odometry.

    Times of recording and stamps (k,) [ns]; steering, steering rate, wheel angle and wheel rate
    (k, 4, n) [rad and rad/s]. Messages of an IMU, if the odometry uses them.
    """

    recorded: Array
    stamp: Array
    angles: Array
    gyro: GyroRows | None = None


class GyroFeed:
    """
    Messages of an IMU on their path to an odometry, in the order of recording.

    Parameters
    ----------
    samples : Samples
    """

    def __init__(self, samples: Samples) -> None:
        """Start before the first message."""
        self._samples = samples
        self._next = 0

    def give(self, fusion: GyroFusion | None, k: int) -> None:
        """
        Give `fusion` the messages of the time before sample `k`, and its stamp.

        The fusion depends on stamps alone, unless messages are later than its `wait`; a recorder
        may have received them later than the node.
        """
        if fusion is None:
            return
        rows = self._samples.gyro
        now = self._samples.stamp[k]
        past = self._samples.recorded[k] - LONG_PAST
        while rows is not None and self._next < len(rows.stamp):
            of = self._next
            # stamps of a clock that was set back afterwards
            if rows.stamp[of] > now and rows.recorded[of] > past:
                break
            fusion.measure(int(rows.stamp[of]), float(rows.rate[of]), float(rows.variance[of]))
            self._next += 1
        fusion.at(int(self._samples.stamp[k]))


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
