# SPDX-License-Identifier: Apache-2.0
"""
Frames of a robot from its URDF text and joint positions, as robot_state_publisher has them.

A transform is a translation [m] and a unit quaternion (x, y, z, w): the pose of the child frame in
its parent: ``p_parent = R p_child + t``. Plain floats: for a dozen joints faster than arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree

from c3p_description.model import ModelError
from c3p_description.reading.xml_files import parse_xml
from c3p_description.texts import brief, one_line

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

TURNING = ('revolute', 'continuous')
MOVABLE = (*TURNING, 'prismatic')


class Transform(NamedTuple):
    """Pose of a child frame in its parent."""

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)


class Frame(NamedTuple):
    """A frame, its parent and its pose in it."""

    parent: str
    child: str
    transform: Transform


@dataclass(frozen=True)
class Joint:
    """
    One joint of a URDF.

    Attributes
    ----------
    name, kind, parent, child : str
    origin : Transform
        Pose of the child at joint position zero.
    axis : (float, float, float)
        Unit vector.
    mimic : (str, float, float) or None
        Joint that it follows, multiplier and offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Transform
    axis: Vector
    mimic: tuple[str, float, float] | None = None


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def _rotate(q: Quaternion, v: Vector) -> Vector:
    # v + 2 w (u × v) + 2 u × (u × v)
    x, y, z, w = q
    cx, cy, cz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
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


def from_roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the rotation about the fixed axes x, y, z in this order (URDF's ``rpy``)."""
    return _product(about((0, 0, 1), yaw), _product(about((0, 1, 0), pitch),
                                                    about((1, 0, 0), roll)))


def _numbers(element: ElementTree.Element | None, attribute: str, default: str) -> Vector:
    text = default if element is None else element.get(attribute, default)
    values = [float(v) for v in text.split()]
    if len(values) != 3 or not all(math.isfinite(v) for v in values):
        raise ValueError(f'{attribute} = {brief(text)}: expected 3 finite numbers')
    x, y, z = values
    return x, y, z


def _joint(element: ElementTree.Element) -> Joint:
    origin = element.find('origin')
    axis = _numbers(element.find('axis'), 'xyz', '1 0 0')
    length = math.hypot(*axis) or 1.0
    mimic = element.find('mimic')
    return Joint(
        element.get('name', ''), element.get('type', ''), element.find('parent').get('link'),
        element.find('child').get('link'),
        Transform(_numbers(origin, 'xyz', '0 0 0'),
                  from_roll_pitch_yaw(*_numbers(origin, 'rpy', '0 0 0'))),
        (axis[0] / length, axis[1] / length, axis[2] / length),
        None if mimic is None else (mimic.get('joint'), float(mimic.get('multiplier', '1')),
                                    float(mimic.get('offset', '0'))))


class FrameTree:
    """
    The tree of frames of a URDF.

    Parameters
    ----------
    urdf : str
        XML text.

    Raises
    ------
    ModelError
        The text is not a URDF with exactly one root link.

    Examples
    --------
    >>> tree = FrameTree('''<robot name="a"><link name="base"/><link name="arm"/>
    ...   <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    ...   <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>''')
    >>> tree.movable({'j': 0.0})
    [Frame(parent='base', child='arm', \
transform=Transform(translation=(1.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0, 1.0)))]
    """

    def __init__(self, urdf: str) -> None:
        """Read links and joints."""
        try:
            robot = parse_xml(urdf)
            self.joints = tuple(_joint(j) for j in robot.findall('joint'))
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelError(f'robot_description is not a URDF: {one_line(error)}') from error
        self._to = {joint.child: joint for joint in self.joints}
        roots = [name for name in (link.get('name', '') for link in robot.findall('link'))
                 if name not in self._to]
        if len(roots) != 1:
            raise ModelError(f'robot_description has root links {brief(roots)}: exactly one is '
                             'needed')
        self.root = roots[0]

    def fixed(self) -> list[Frame]:
        """Return the frames that never move in their parents."""
        return [Frame(j.parent, j.child, j.origin) for j in self.joints if j.kind == 'fixed']

    def movable(self, positions: Mapping[str, float]) -> list[Frame]:
        """
        Return the frames of the moving joints.

        Parameters
        ----------
        positions : mapping
            Joint name → position, rad or m. Joints without a finite position are left out.
        """
        frames = []
        for joint in self.joints:
            if joint.kind not in MOVABLE:
                continue
            leader, factor, offset = joint.mimic or (joint.name, 1.0, 0.0)
            position = factor * positions.get(leader, math.nan) + offset
            if not math.isfinite(position):
                continue
            if joint.kind in TURNING:
                motion = Transform(rotation=about(joint.axis, position))
            else:
                x, y, z = joint.axis
                motion = Transform((x * position, y * position, z * position))
            frames.append(Frame(joint.parent, joint.child, compose(joint.origin, motion)))
        return frames

    def from_root(self, link: str) -> Transform | None:
        """Return the pose of `link` in the root where only fixed joints lie between, else None."""
        pose, left = Transform(), len(self.joints)
        while link != self.root:
            # links that hang on each other never lead to the root
            joint, left = self._to.get(link) if left else None, left - 1
            if joint is None or joint.kind != 'fixed':
                return None
            pose, link = compose(joint.origin, pose), joint.parent
        return pose
