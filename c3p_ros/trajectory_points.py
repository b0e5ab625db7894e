# SPDX-License-Identifier: Apache-2.0
"""Points of a trajectory message as numbers of the plane."""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array
from c3p_ros.cdr import MessageError
from c3p_ros.chain_messages import TrajectoryMessage
from c3p_ros.messages import LARGEST_VALUE, QUATERNION_TOLERANCE, planar, planar_pose


def planar_points(read: TrajectoryMessage, frame: str) -> tuple[Array, Array, Array]:
    """
    Return times (k,), poses (k, 3) with continuous yaw and velocities (k, 3) of a trajectory.

    Raises
    ------
    MessageError
        It is not in `frame`, has no points, or has an invalid number.
    """
    if read.frame_id != frame:
        raise MessageError(f'frame {read.frame_id!r}: must be that of the odometry, {frame!r}')
    if not len(read.time):
        raise MessageError('no points; a robot that stands still needs one')
    place = read.transforms
    rate = read.velocities
    x, y, z, w = place[:, 3:].T
    with np.errstate(over='ignore', invalid='ignore'):
        length = np.sqrt(x * x + y * y + z * z + w * w)
        if not ((abs(length - 1.0) <= QUATERNION_TOLERANCE).all()
                and (abs(place[:, 0]) + abs(place[:, 1]) <= LARGEST_VALUE).all()
                and (abs(rate).sum(axis=1) <= LARGEST_VALUE).all()):
            _name_culprit(read)
    yaw = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    # most have no jump, and to unwrap them would take a fifth of the time of this function
    if (abs(np.diff(yaw)) > np.pi).any():
        yaw = np.unwrap(yaw)
    # an array of its own: kernels are compiled for arrays that can be written
    return read.time.copy(), np.column_stack([place[:, :2], yaw]), rate[:, [0, 1, 5]]


def _name_culprit(read: TrajectoryMessage) -> None:
    for k, (place, rate) in enumerate(zip(read.transforms.tolist(), read.velocities.tolist(),
                                          strict=True)):
        planar_pose(place, f'points[{k}]')
        planar(rate, f'points[{k}]')
    raise MessageError('the points are not finite')
