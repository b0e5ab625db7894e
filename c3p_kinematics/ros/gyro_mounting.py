# SPDX-License-Identifier: Apache-2.0
"""Vertical axis of a gyro: by its parameter, by its frame, or by the description of the robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.urdf_xml import read_tree
from c3p_kinematics.calibration.gyro import AXES


class MountingError(ValueError):
    """The axis of a gyro is not known; the text has the frame and the remedy."""


def vertical_axis(axis: str, frame: str, base_frame: str, description: str = '') -> Array:
    """
    Return the vertical (3,) of the robot in the frame of the messages of a gyro, of length 1.

    Parameters
    ----------
    axis : str
        One of `AXES`; empty for that by the frame.
    frame : str
        Of the messages, with or without the namespace of the robot.
    base_frame : str
    description : str
        URDF with fixed joints between both frames.

    Raises
    ------
    MountingError
        Without an axis: a frame that is not `base_frame`, nor one on fixed joints in the URDF.

    Examples
    --------
    >>> vertical_axis('x-down', 'imu_link', 'base_link').tolist()
    [-1.0, 0.0, 0.0]
    >>> urdf = '''<robot name="r"><link name="base_link"/><link name="imu_link"/>
    ...   <joint name="imu" type="fixed"><parent link="base_link"/><child link="imu_link"/>
    ...     <origin rpy="3.14159265 0 0"/></joint></robot>'''
    >>> (vertical_axis('', 'imu_link', 'base_link', urdf).round(6) + 0.0).tolist()
    [0.0, 0.0, -1.0]
    """
    if axis:
        number, sign = AXES[axis]
        vertical = np.zeros(3)
        vertical[number] = sign
        return vertical
    if frame == base_frame:
        return np.array([0.0, 0.0, 1.0])
    if description:
        found = _by_description(frame.rpartition('/')[2], base_frame.rpartition('/')[2],
                                description)
        if found is not None:
            return found
    raise MountingError(f'frame {frame!r}: must be {base_frame!r}; for another set imu.axis to '
                        'its vertical axis, or give a robot_description with fixed joints '
                        'between both')


def rate_about(up: Array, x: Any, y: Any, z: Any) -> Any:
    """
    Return angular velocities about `up` (3,) from those about `x`, `y` and `z` of the gyro.

    Numbers and arrays give the same bits.
    """
    return up[0] * x + up[1] * y + up[2] * z


def variance_about(up: Array, covariance: Array) -> Array:
    """Return the variances about `up` (3,) by a `covariance` (…, 9); 0 where unknown."""
    spread = np.asarray(covariance, float)
    total = np.zeros(spread.shape[:-1])
    for i in range(3):
        for j in range(3):
            total = total + up[i] * up[j] * spread[..., 3 * i + j]
    return np.where((total > 0.0) & np.isfinite(total), total, 0.0)


def _by_description(frame: str, base_frame: str, description: str) -> Array | None:
    """Return the vertical of `base_frame` in `frame`; None if no fixed joints connect them."""
    try:
        tree = read_tree(description)
    except ModelError:
        return None
    moving = [joint.name for joint in tree.joints if joint.kind != 'fixed']
    poses = tree.body(tree.root, moving)
    # the platform may be below a footprint
    if base_frame not in poses or frame not in poses:
        return None
    turn = poses[frame][:3, :3].T @ poses[base_frame][:3, :3]
    return np.asarray(turn[:, 2], float)
