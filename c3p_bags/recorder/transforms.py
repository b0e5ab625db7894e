# SPDX-License-Identifier: Apache-2.0
"""
Frames of a robot from its URDF and joint positions, as robot_state_publisher computes them.

A transform is a translation [m] and a unit quaternion (x, y, z, w): the pose of the child frame in
its parent: ``p_parent = R p_child + t``. Plain floats: for a dozen joints faster than arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from c3p_description.model import Array, ModelError
from c3p_description.reading.urdf_xml import read_tree

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

TURNING = ('revolute', 'continuous')
MOVABLE = (*TURNING, 'prismatic')


class Transform(NamedTuple):
    """Pose of a child frame in its parent."""

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)


class TransformFrame(NamedTuple):
    """A frame, its parent and its pose in it."""

    parent: str
    child: str
    transform: Transform


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def _rotate(q: Quaternion, v: Vector) -> Vector:
    # v + 2 w (u × v) + 2 u × (u × v)
    x, y, z, w = q
    cx = 2 * (y * v[2] - z * v[1])
    cy = 2 * (z * v[0] - x * v[2])
    cz = 2 * (x * v[1] - y * v[0])
    return (v[0] + w * cx + y * cz - z * cy, v[1] + w * cy + z * cx - x * cz,
            v[2] + w * cz + x * cy - y * cx)


def compose(a: Transform, b: Transform) -> Transform:
    """Return the transform that applies `b` first and `a` then, ``X_AC = X_AB X_BC``."""
    x, y, z = _rotate(a.rotation, b.translation)
    return Transform((a.translation[0] + x, a.translation[1] + y, a.translation[2] + z),
                     _product(a.rotation, b.rotation))


def inverse(a: Transform) -> Transform:
    """Return the pose of the parent in the child."""
    x, y, z, w = a.rotation
    back = (-x, -y, -z, w)
    tx, ty, tz = _rotate(back, a.translation)
    return Transform((-tx, -ty, -tz), back)


def about(axis: Vector, angle: float) -> Quaternion:
    """Return the rotation by `angle` [rad] about the unit vector `axis`."""
    s = math.sin(0.5 * angle)
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(0.5 * angle))


def from_matrix(pose: Array) -> Transform:
    """Return the transform of a homogeneous matrix (4, 4)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = pose[:3, :3].tolist()
    # 4 times the squares of x, y, z and w: the largest is well above zero
    squares = (1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz)
    rows = ((squares[0], xy + yx, xz + zx, zy - yz), (xy + yx, squares[1], yz + zy, xz - zx),
            (xz + zx, yz + zy, squares[2], yx - xy), (zy - yz, xz - zx, yx - xy, squares[3]))
    largest = max(range(4), key=squares.__getitem__)
    row = rows[3] if squares[3] >= 1.0 else rows[largest]
    length = math.hypot(*row)
    x, y, z, w = (value / length for value in row)
    tx, ty, tz = pose[:3, 3].tolist()
    return Transform((tx, ty, tz), (x, y, z, w))


class FrameTree:
    """
    The tree of frames of a URDF.

    Parameters
    ----------
    urdf : str
        XML text.

    Attributes
    ----------
    root : str
    joints : tuple of urdf_tree.Joint

    Raises
    ------
    ModelError
        The text is not a valid URDF.

    Examples
    --------
    >>> tree = FrameTree('''<robot name="a"><link name="base"/><link name="arm"/>
    ...   <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    ...   <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>''')
    >>> tree.movable({'j': 0.0})
    [TransformFrame(parent='base', child='arm', \
transform=Transform(translation=(1.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0, 1.0)))]
    """

    def __init__(self, urdf: str) -> None:
        """Read links and joints."""
        try:
            tree = read_tree(urdf)
        except ModelError as error:
            raise ModelError(f'robot_description is not a URDF: {error}') from error
        self.root, self.joints = tree.root, tree.joints
        # as plain numbers: the frames of a dozen joints are computed for every message
        self._joints = [(joint, from_matrix(joint.origin), tuple(joint.axis.tolist()))
                        for joint in tree.joints]
        self._fixed_to_root = {link: from_matrix(pose) for link, pose in tree.body(
            tree.root, (j.name for j in tree.joints if j.kind != 'fixed')).items()}

    def fixed(self) -> list[TransformFrame]:
        """Return the frames of the fixed joints."""
        return [TransformFrame(joint.parent, joint.child, origin) for joint, origin,
                _ in self._joints
                if joint.kind == 'fixed']

    def movable(self, positions: Mapping[str, float]) -> list[TransformFrame]:
        """Return the frames of the joints with a finite position, rad or m, by joint name."""
        frames = []
        for joint, origin, axis in self._joints:
            if joint.kind not in MOVABLE:
                continue
            # a mimic joint has no position of its own
            leader, factor, offset = joint.mimic or (joint.name, 1.0, 0.0)
            position = factor * positions.get(leader, math.nan) + offset
            if not math.isfinite(position):
                continue
            x, y, z = axis
            motion = (Transform(rotation=about(axis, position)) if joint.kind in TURNING
                      else Transform((x * position, y * position, z * position)))
            frames.append(TransformFrame(joint.parent, joint.child, compose(origin, motion)))
        return frames

    def from_root(self, link: str) -> Transform | None:
        """Return the pose of `link` in the root if only fixed joints connect them, else None."""
        return self._fixed_to_root.get(link)
