# SPDX-License-Identifier: Apache-2.0
"""
A Path written straight to the wire.

rclpy takes 25 µs for each pose, a thousand of which would hold a viewer's message up longer than a
control cycle. A path is a header, a count and poses with a header of their own, all alike.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import ArrayLike

from c3p_ros.wire import aligned

# plain CDR, little endian
ENCAPSULATION = b'\x00\x01\x00\x00'


def path_bytes(poses: ArrayLike, frame: str, stamp: int) -> bytes:
    """
    Return a serialized nav_msgs/Path through planar poses, all of one frame and stamp.

    Parameters
    ----------
    poses : (k, 3) array_like, m and rad
        X, Y, yaw.
    frame : str
    stamp : int, ns
    """
    values = np.reshape(np.asarray(poses, float), (-1, 3))
    name = frame.encode() + b'\0'
    header = (struct.pack('<iII', stamp // 1_000_000_000, stamp % 1_000_000_000, len(name))
              + name)
    data = bytearray(ENCAPSULATION + header)
    data += bytes(aligned(len(data), 4) - len(data)) + struct.pack('<I', len(values))
    if not len(values):
        return bytes(data)
    # a pose begins with its header, and its numbers at a multiple of 8; all but the first, which
    # follows the count, begin there as well
    numbers = _numbers(values)
    data += header
    data += bytes(aligned(len(data), 8) - len(data)) + numbers[0].tobytes()
    padded = header + bytes(-len(header) % 8)
    rows = np.empty((len(values) - 1, len(padded) + numbers[0].nbytes), np.uint8)
    rows[:, :len(padded)] = np.frombuffer(padded, np.uint8)
    rows[:, len(padded):] = numbers[1:].view(np.uint8)
    return bytes(data) + rows.tobytes()


def _numbers(poses: np.ndarray) -> np.ndarray:
    """Return position and quaternion (k, 7) of planar poses (k, 3)."""
    out = np.zeros((len(poses), 7), '<f8')
    out[:, :2] = poses[:, :2]
    out[:, 5], out[:, 6] = np.sin(poses[:, 2] / 2), np.cos(poses[:, 2] / 2)
    return out
