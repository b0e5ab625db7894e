# SPDX-License-Identifier: Apache-2.0
"""URDF text → tree, with every number checked."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.urdf_settings import settings_in
from c3p_description.reading.urdf_tree import Control, Inertial, Link, Shape, UrdfJoint, UrdfTree
from c3p_description.reading.xml_files import parse_xml
from c3p_description.texts import brief

# of a number in a description, in SI units: what is beyond overflows in the equations
LARGEST = 1e9
ROUND_SHAPES = ('cylinder', 'sphere', 'capsule')


# An angle is a rounded multiple of π/2 when it differs from it by at most this many units of its
# last digit: rounded or cut off, and also where a file halves or doubles such a π (3.1415/2) …
UNITS = 5
# … and by no more than two digits of 2π leave (6.28), rad
ROUNDED = 3.2e-3
# and by so much that it matters: 1 µm at a distance of 1 m
EXACT = 1e-6


def read_tree(xml_text: str, rounded: dict[str, list[str]] | None = None) -> UrdfTree:
    """
    Return the tree of a URDF.

    With a dict `rounded`, angles in rpy that are rounded multiples of π/2, such as 3.14, are taken
    as what they mean; the dict then has these angles and the elements that have them.

    Raises
    ------
    ModelError
        Malformed XML or URDF, with element, name, value and remedy.
    """
    robot = parse_xml(xml_text)
    if robot.tag != 'robot':
        raise ModelError(f'the root element is <{robot.tag}>: a URDF starts with <robot>'
                         + ('' if 'xacro' not in xml_text else '; process xacro first'))
    links: dict[str, Link] = {}
    joints: list[UrdfJoint] = []
    below: dict[str, list[UrdfJoint]] = {}
    for element in robot.findall('link'):
        link = _link(element, rounded)
        if link.name in links:
            raise ModelError(f'link {link.name} is given twice; rename one')
        links[link.name] = link
    parents: dict[str, str] = {}
    for element in robot.findall('joint'):
        joint = _joint(element, rounded)
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
    if not links:
        # xacro leaves unknown elements as they are
        others = ', '.join(sorted({element.tag for element in robot})) or 'none'
        raise ModelError(f'no links; elements of <robot> are: {others}. Macros of xacro are '
                         'called with its prefix, <xacro:name/>')
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        raise ModelError(f'{len(roots)} root links ({", ".join(roots)}): exactly one link must '
                         'have no parent; join the others to it')
    if len({joint.name for joint in joints}) != len(joints):
        raise ModelError('two joints share one name; rename one of '
                         + ', '.join(joint.name for joint in joints))
    tree = UrdfTree(robot.get('name', 'robot'), roots[0], links, tuple(joints), _control(robot),
                    below, settings_in(robot))
    lost = sorted(set(links) - set(tree.body(roots[0], ())))
    if lost:
        raise ModelError(f'links {", ".join(lost)} form a loop apart from {roots[0]}; a URDF is a '
                         'tree, join them to it')
    return tree


def _control(robot: ElementTree.Element) -> Control:
    """Return which joints are commanded: by a transmission, or a ros2_control interface."""
    commanded = {joint.get('name', '') for joint in robot.iterfind('transmission/joint')}
    named = {*commanded}
    parameters = {}
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
    if len(values) != count or not np.all(np.abs(values) <= LARGEST):
        raise ModelError(f'{what} = {brief(text)}: expected {count} finite number'
                         + ('s' if count > 1 else '') + f', at most {LARGEST:g}')
    return values


def _attribute(element: ElementTree.Element | None, name: str, what: str,
               default: str | None = None) -> float:
    """Return one number of an element that may be missing."""
    text = None if element is None else element.get(name)
    return float(numbers(text, 1, f'{what} {name}', default)[0])


def pose_of(element: ElementTree.Element, what: str,
            rounded: dict[str, list[str]] | None = None) -> Array:
    """Return ``<origin>`` of an element as (4, 4): ``R = Rz(yaw) Ry(pitch) Rx(roll)``."""
    origin = element.find('origin')
    origin = ElementTree.Element('origin') if origin is None else origin
    angles = numbers(origin.get('rpy'), 3, f'{what} origin rpy', '0 0 0')
    if rounded is not None:
        angles = np.array([_meant(angle, what, rounded) for angle in angles])
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in angles)
    pose = np.eye(4)
    pose[:3, :3] = [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                    [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                    [-sp, cp * sr, cp * cr]]
    pose[:3, 3] = numbers(origin.get('xyz'), 3, f'{what} origin xyz', '0 0 0')
    return pose


def _meant(angle: float, what: str, rounded: dict[str, list[str]]) -> float:
    """Return the multiple of π/2 that `angle` is a rounding of, and note it; else `angle`."""
    turns = round(angle / (math.pi / 2))
    exact = turns * (math.pi / 2)
    # fewer digits than a double has: sums of rounded numbers are not exact
    text = f'{angle:.10g}'
    digits = len(text.partition('.')[2])
    off = abs(angle - exact)
    if turns == 0 or off < EXACT or off > min(ROUNDED, UNITS * 10.0**-digits):
        return angle
    rounded.setdefault(text, []).append(what)
    return exact


def _link(element: ElementTree.Element, rounded: dict[str, list[str]] | None) -> Link:
    name = _name(element)
    what = f'link {name} inertial'
    inertial = None
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
        inertial = Inertial(mass, np.zeros(3), tensor).placed(pose_of(own, what, rounded))
    return Link(name, inertial, tuple(_shapes(element, name, rounded)))


def _shapes(element: ElementTree.Element, name: str,
            rounded: dict[str, list[str]] | None) -> Iterator[Shape]:
    """Yield the round shapes of a link, collisions first."""
    for tag in ('collision', 'visual'):
        for shape in element.findall(tag):
            for kind in ROUND_SHAPES:
                found = shape.find(f'geometry/{kind}')
                if found is not None:
                    what = f'link {name} {tag} {kind}'
                    yield Shape(kind, _attribute(found, 'radius', what),
                                pose_of(shape, what, rounded), tag == 'collision')


def _joint(element: ElementTree.Element, rounded: dict[str, list[str]] | None) -> UrdfJoint:
    name = _name(element)
    what = f'joint {name}'
    ends = []
    for role in ('parent', 'child'):
        end = element.find(role)
        link = '' if end is None else end.get('link', '')
        if not link:
            raise ModelError(f'{what} has no <{role} link="..."/>; add it')
        ends.append(link)
    along = element.find('axis')
    axis = numbers(None if along is None else along.get('xyz'), 3, f'{what} axis', '1 0 0')
    length = float(np.linalg.norm(axis))
    kind = element.get('type', '')
    if length == 0.0 and kind not in ('fixed', 'floating'):
        raise ModelError(f'{what} axis = 0 0 0: give the direction the joint turns about')
    limit = element.find('limit')
    dynamics = element.find('dynamics')
    mimic = element.find('mimic')
    return UrdfJoint(
        name, kind, parent=ends[0], child=ends[1], origin=pose_of(element, what, rounded),
        axis=axis / length if length else axis,
        effort=_limit(limit, 'effort', what), velocity=_limit(limit, 'velocity', what),
        damping=_attribute(dynamics, 'damping', f'{what} dynamics', '0'),
        friction=_attribute(dynamics, 'friction', f'{what} dynamics', '0'),
        mimic=None if mimic is None else (
            mimic.get('joint', ''), _attribute(mimic, 'multiplier', f'{what} mimic', '1'),
            _attribute(mimic, 'offset', f'{what} mimic', '0')),
        stops=(_limit(limit, 'lower', what), _limit(limit, 'upper', what)))


def _limit(limit: ElementTree.Element | None, name: str, what: str) -> float | None:
    """Return a limit of a joint, None where it is missing; numbers such as 1e16 are infinite."""
    text = None if limit is None else limit.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ModelError(f'{what} limit {name} = {brief(text)}: expected a number')
    return value if abs(value) <= LARGEST else math.copysign(math.inf, value)
