# SPDX-License-Identifier: Apache-2.0
"""Yaw of an IMU in bags, as references of a calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.columns import read_columns
from c3p_bags.runs.run_log import RunLog
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import imu
from c3p_description.model import Array
from c3p_description.settings import computed
from c3p_kinematics.calibration.gyro import AXES, GyroSettings, turns_of
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording
from c3p_kinematics.calibration.references import Turns

KIND = 'sensor_msgs/msg/Imu'
FRAME = 'base_link'

# largest difference of the turns by IMU and by joints, relative: a wrong axis is far beyond
AGREES = 0.1


@dataclass(frozen=True)
class ImuSource:
    """
    IMU whose yaw is used.

    Attributes
    ----------
    topic : str
        Absolute, or relative to the namespace of the robot.
    axis : str or None
        Vertical axis of the IMU, one of `AXES`: ``z`` points up, ``z-down`` down. None is z, and
        requires messages in ``base_link``.
    settings : GyroSettings
    """

    topic: str
    axis: str | None = None
    settings: GyroSettings = field(default_factory=GyroSettings)

    def __post_init__(self) -> None:
        """Reject an unknown axis."""
        if self.axis is not None and self.axis not in AXES:
            raise ValueError(f'axis {self.axis!r} of the IMU: must be one of {", ".join(AXES)}')


class Recorded(NamedTuple):
    """A bag as it was read: bag, run, joints and yaw by the described robot (k,) [rad]."""

    bag: Bag
    log: RunLog
    joints: JointRecording
    yaw: Array


def turns_by_imu(source: ImuSource, recorded: Sequence[Recorded], namespace: str | None,
                 resolution: float) -> tuple[list[Turns], list[dict[str, Any]]]:
    """
    Return the turns of each bag by its IMU, and their metrics.

    Parameters
    ----------
    source : ImuSource
    recorded : sequence of Recorded
    namespace : str, optional
        Of the robot.
    resolution : float, rad
        Largest step of the encoders.

    Raises
    ------
    CalibrationError
        No topic, another frame, no standstill, no turn, or turns that are not those of the joints.
    """
    # the scale error is the same in all bags: N independent ones determine it as well as one
    settings = computed(source.settings, scale=source.settings.scale * math.sqrt(len(recorded)))
    found = []
    metrics = []
    for number, one in enumerate(recorded):
        time, rate, left_out = _read(source, one, namespace)
        turns, still = turns_of(number, one.joints, time, rate, resolution, settings)
        ratio = _ratio(turns, one)
        if not abs(ratio - 1.0) <= AGREES:
            raise CalibrationError(
                f'bag {one.bag}: by {source.topic} the turns are {ratio:.2f} times those by '
                f'the joints: must be {1 - AGREES:g} to {1 + AGREES:g}; name the '
                f'vertical axis with --imu-axis (used: {source.axis or "z"})')
        found.append(turns)
        metrics.append({'bag': str(one.bag), 'standstill_s': still.duration,
                        'bias_rad_s': still.bias, 'bias_deviation_rad_s': still.deviation,
                        'turns': len(turns.yaw), 'turned_rad': float(np.abs(turns.yaw).sum()),
                        'ratio_to_described': ratio, 'messages_left_out': left_out})
    return found, metrics


def _ratio(turns: Turns, one: Recorded) -> float:
    """Return the turns by the IMU per turn by the joints, least squares."""
    joints = np.array([np.diff(np.interp(span, one.joints.time, one.yaw))[0]
                       for span in turns.spans])
    square = float(joints @ joints)
    return float(turns.yaw @ joints) / square if square > 0.0 else math.inf


def _read(source: ImuSource, one: Recorded, namespace: str | None) -> tuple[Array, Array, int]:
    """Return times and rates about the vertical axis, and the number of messages left out."""
    bag = one.bag
    topic = source.topic
    if not topic.startswith('/'):
        topic = f'{bag.namespace(namespace)}/{topic}'
    if topic not in bag.topics or bag.topics[topic].kind != KIND:
        known = sorted(t for t, of in bag.topics.items() if of.kind == KIND)
        raise CalibrationError(f'bag {bag}: no messages {KIND} on {topic}; it has '
                               f'{", ".join(known) or "no topic of this type"}')
    column = read_columns(bag, {topic: imu}).get(topic)
    count = bag.topics[topic].count
    if column is None or not len(column.stamp):
        raise CalibrationError(f'bag {bag}: none of {count} messages on {topic} has a rate (all '
                               'are NaN, or angular_velocity_covariance[0] is -1)')
    rates, frames = column.values
    other = sorted({str(f) for f in frames} - {FRAME})
    other = [f for f in other if not f.endswith(f'/{FRAME}')]
    if source.axis is None and other:
        raise CalibrationError(
            f'bag {bag}: {topic} is in the frame {", ".join(map(repr, other))}, not in {FRAME}: '
            'name its vertical axis, for example --imu-axis z, or --imu-axis z-down for an IMU '
            'upside down')
    axis, sign = AXES[source.axis or 'z']
    axis_of_run = one.log.axis
    time = ((column.stamp - one.log.start_ns) * 1e-9 if axis_of_run is None
            else axis_of_run.place(column))
    rate = sign * rates[:, axis]
    good = (column.stamp != 0) & np.concatenate(
        [[True], time[1:] > np.maximum.accumulate(time)[:-1]])
    return time[good], rate[good], count - int(np.count_nonzero(good))
