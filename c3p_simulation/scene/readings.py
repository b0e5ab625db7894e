# SPDX-License-Identifier: Apache-2.0
"""Covariance of the pose in a serialized Odometry."""

from __future__ import annotations

import struct

import numpy as np

from c3p_description.model import Array
from c3p_ros.messages import MessageError
from c3p_ros.wire import COVARIANCE, HEADER, POSE, aligned, byte_order, text

# x, y and yaw of six
PLANAR = np.ix_([0, 1, 5], [0, 1, 5])


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
