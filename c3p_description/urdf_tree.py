# SPDX-License-Identifier: Apache-2.0
"""
URDF text → tree of links and joints as plain numbers, and bodies that move as one.

Only what a mass model needs is read: inertials, joint frames, and round shapes (for wheel radii).
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from c3p_description.model import Array, ModelError

ROUND_SHAPES = ('cylinder', 'sphere', 'capsule')


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass [kg], centre (3,) [m] and inertia (3, 3) about it [kg·m²], in one frame."""

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Shape:
    """A round shape: kind, radius [m], pose (4, 4) in its link; a cylinder's axis is its z."""

    kind: str
    radius: float
    pose: Array
    collision: bool


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `inertial` is None where the URDF gives none."""

    name: str
    inertial: Inertial | None
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint; `origin` (4, 4) is the pose of its frame in the parent, `effort` None or [N·m]."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    effort: float | None
    damping: float
    friction: float


@dataclass(frozen=True, eq=False)
class Control:
    """What ``<transmission>`` and ``<ros2_control>`` say: commanded joints, joint parameters."""

    commanded: frozenset[str]
    named: frozenset[str]
    parameters: dict[str, dict[str, str]]


@dataclass(frozen=True, eq=False)
class Tree:
    """Links by name, joints in the order of the file."""

    name: str
    root: str
    links: dict[str, Link]
    joints: tuple[Joint, ...]
    control: Control
    _below: dict[str, list[Joint]] = field(repr=False)

    def below(self, link: str) -> list[Joint]:
        """Return the joints whose parent is `link`."""
        return self._below.get(link, [])

    def body(self, link: str, moving: Iterable[str]) -> dict[str, Array]:
        """
        Return the poses (4, 4), in `link`, of all links which move with it as one body.

        `moving` names the joints which end the body; all others stand at zero.
        """
        moving, poses, todo = frozenset(moving), {link: np.eye(4)}, [link]
        while todo:
            parent = todo.pop()
            for joint in self.below(parent):
                if joint.name not in moving:
                    poses[joint.child] = poses[parent] @ joint.origin
                    todo.append(joint.child)
        return poses

    def inertial(self, poses: dict[str, Array], what: str) -> Inertial:
        """
        Return the inertial of links lumped to one body.

        ``m = Σ m_k``, ``m c = Σ m_k c_k``, ``I = Σ R_k I_k R_kᵀ + m_k (|s_k|² 1 − s_k s_kᵀ)`` with
        ``s_k = c_k − c``.

        Raises
        ------
        ModelError
            When no link of the body has an ``<inertial>``.
        """
        parts = []
        for name, pose in poses.items():
            own = self.links[name].inertial
            if own is not None:
                turn = pose[:3, :3]
                parts.append((own.mass, turn @ own.centre + pose[:3, 3],
                              turn @ own.inertia @ turn.T))
        if not parts:
            raise ModelError(f'{what}: none of its links ({", ".join(poses)}) has an <inertial>; '
                             'add mass and inertia to the URDF')
        mass = sum(part[0] for part in parts)
        centre = (sum(m * c for m, c, _ in parts) / mass if mass > 0 else parts[0][1])
        inertia = np.zeros((3, 3))
        for m, c, about_own in parts:
            s = c - centre
            inertia += about_own + m * ((s @ s) * np.eye(3) - np.outer(s, s))
        return Inertial(mass, centre, inertia)


def read_tree(xml_text: str) -> Tree:
    """
    Return the tree of a URDF.

    Raises
    ------
    ModelError
        Malformed XML or URDF, with element, name, value and remedy.
    """
    try:
        robot = ElementTree.fromstring(xml_text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ModelError(f'the URDF is not well-formed XML: {error}') from None
    if robot.tag != 'robot':
        raise ModelError(f'the root element is <{robot.tag}>: a URDF starts with <robot>'
                         + ('' if 'xacro' not in xml_text else '; process xacro first'))
    links, joints, below = {}, [], {}
    for element in robot.findall('link'):
        link = _link(element)
        if link.name in links:
            raise ModelError(f'link {link.name} is given twice; rename one')
        links[link.name] = link
    parents = {}
    for element in robot.findall('joint'):
        joint = _joint(element)
        for role, name in (('parent', joint.parent), ('child', joint.child)):
            if name not in links:
                raise ModelError(f'joint {joint.name}: {role} link {name!r} does not exist; '
                                 f'links are {", ".join(links)}')
        if joint.child in parents:
            raise ModelError(f'link {joint.child} hangs on two joints, {parents[joint.child]} and '
                             f'{joint.name}; a URDF is a tree, remove one')
        parents[joint.child] = joint.name
        joints.append(joint)
        below.setdefault(joint.parent, []).append(joint)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        raise ModelError(f'{len(roots)} root links ({", ".join(roots)}): exactly one link must '
                         'have no parent; join the others to it')
    if len({joint.name for joint in joints}) != len(joints):
        raise ModelError('two joints share one name; rename one of '
                         + ', '.join(joint.name for joint in joints))
    tree = Tree(robot.get('name', 'robot'), roots[0], links, tuple(joints), _control(robot), below)
    lost = sorted(set(links) - set(tree.body(roots[0], ())))
    if lost:
        raise ModelError(f'links {", ".join(lost)} form a loop apart from {roots[0]}; a URDF is a '
                         'tree, join them to it')
    return tree


def _control(robot: ElementTree.Element) -> Control:
    """Return which joints are commanded: by a transmission, or a ros2_control interface."""
    commanded, named, parameters = set(), set(), {}
    for joint in robot.iterfind('transmission/joint'):
        commanded.add(joint.get('name', ''))
    named |= commanded
    for joint in robot.iterfind('ros2_control/joint'):
        name = joint.get('name', '')
        named.add(name)
        if joint.find('command_interface') is not None:
            commanded.add(name)
        parameters[name] = {p.get('name', ''): (p.text or '').strip()
                            for p in joint.findall('param')}
    return Control(frozenset(commanded), frozenset(named), parameters)


def _name(element: ElementTree.Element) -> str:
    name = element.get('name')
    if not name:
        raise ModelError(f'a <{element.tag}> has no name; every link and joint needs one')
    return name


def numbers(text: str | None, count: int, what: str, default: str | None = None) -> Array:
    """Return `count` finite numbers of a URDF attribute, `what` names it in the error."""
    text = default if text is None else text
    if text is None:
        raise ModelError(f'{what} is missing; add it to the URDF')
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.array([math.nan])
    if len(values) != count or not np.all(np.isfinite(values)):
        raise ModelError(f'{what} = {text!r}: expected {count} finite number'
                         + ('s' if count > 1 else ''))
    return values


def _attribute(element: ElementTree.Element | None, name: str, what: str,
               default: str | None = None) -> float:
    """Return one number of an element that may be missing."""
    text = None if element is None else element.get(name)
    return float(numbers(text, 1, f'{what} {name}', default)[0])


def _pose(element: ElementTree.Element, what: str) -> Array:
    """Return ``<origin>`` as (4, 4): ``R = Rz(yaw) Ry(pitch) Rx(roll)``."""
    origin = element.find('origin')
    origin = ElementTree.Element('origin') if origin is None else origin
    roll, pitch, yaw = numbers(origin.get('rpy'), 3, f'{what} origin rpy', '0 0 0')
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    pose = np.eye(4)
    pose[:3, :3] = [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                    [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                    [-sp, cp * sr, cp * cr]]
    pose[:3, 3] = numbers(origin.get('xyz'), 3, f'{what} origin xyz', '0 0 0')
    return pose


def _link(element: ElementTree.Element) -> Link:
    name = _name(element)
    what, inertial = f'link {name} inertial', None
    own = element.find('inertial')
    if own is not None:
        mass = _attribute(own.find('mass'), 'value', f'{what} mass')
        if mass < 0:
            raise ModelError(f'{what} mass = {mass}: must not be negative')
        terms = {key: _attribute(own.find('inertia'), key, f'{what} inertia', default)
                 for key, default in (('ixx', None), ('iyy', None), ('izz', None),
                                      ('ixy', '0'), ('ixz', '0'), ('iyz', '0'))}
        tensor = np.array([[terms['ixx'], terms['ixy'], terms['ixz']],
                           [terms['ixy'], terms['iyy'], terms['iyz']],
                           [terms['ixz'], terms['iyz'], terms['izz']]])
        pose = _pose(own, what)
        turn = pose[:3, :3]
        inertial = Inertial(mass, pose[:3, 3], turn @ tensor @ turn.T)
    return Link(name, inertial, tuple(_shapes(element, name)))


def _shapes(element: ElementTree.Element, name: str) -> Iterator[Shape]:
    """Yield the round shapes of a link, collisions first."""
    for tag in ('collision', 'visual'):
        for shape in element.findall(tag):
            for kind in ROUND_SHAPES:
                found = shape.find(f'geometry/{kind}')
                if found is not None:
                    what = f'link {name} {tag} {kind}'
                    yield Shape(kind, _attribute(found, 'radius', what), _pose(shape, what),
                                tag == 'collision')


def _joint(element: ElementTree.Element) -> Joint:
    name = _name(element)
    what = f'joint {name}'
    ends = []
    for role in ('parent', 'child'):
        end = element.find(role)
        if end is None or not end.get('link'):
            raise ModelError(f'{what} has no <{role} link="..."/>; add it')
        ends.append(end.get('link'))
    axis = element.find('axis')
    axis = numbers(None if axis is None else axis.get('xyz'), 3, f'{what} axis', '1 0 0')
    length = float(np.linalg.norm(axis))
    kind = element.get('type', '')
    if length == 0.0 and kind not in ('fixed', 'floating'):
        raise ModelError(f'{what} axis = 0 0 0: give the direction the joint turns about')
    limit = element.find('limit')
    effort = None if limit is None else limit.get('effort')
    dynamics = element.find('dynamics')
    return Joint(
        name, kind, *ends, origin=_pose(element, what),
        axis=axis / length if length else axis,
        # .inf is how "no limit" is written
        effort=None if effort is None or effort.strip() == 'inf'
        else _attribute(limit, 'effort', f'{what} limit'),
        damping=_attribute(dynamics, 'damping', f'{what} dynamics', '0'),
        friction=_attribute(dynamics, 'friction', f'{what} dynamics', '0'))
