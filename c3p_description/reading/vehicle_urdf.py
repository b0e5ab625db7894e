# SPDX-License-Identifier: Apache-2.0
"""URDF of a vehicle for rough ground: its frames, and shapes to look at, without masses."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from c3p_description.vehicle_model import RoughVehicle, Triple, VehicleJoint, VehicleWheel

BASE = 'base_link'
# radius of the bars between joints, and half thickness of the spoke over the wheel radius, m
BAR = 0.02
SPOKE = 0.12
# limits of a slide without limits, m, and of efforts, which nothing reads
FAR = 10.0
EFFORT = 0.0
COLOURS = {'bars': '0.75 0.77 0.80 1', 'tyre': '0.13 0.14 0.16 1', 'spoke': '0.84 0.37 0 1'}


def vehicle_urdf(vehicle: RoughVehicle) -> str:
    """
    Return the URDF text of a `vehicle`: `base_link`, and a link for each of its joints.

    Joints have their names, axes, frames and limits. Bars lead from joint to joint, tyres are
    cylinders or spheres, with a spoke that shows their rotation. Order and tree are those of the
    file; the kinematics check whether they are a vehicle.

    Examples
    --------
    >>> from c3p_description.reading.vehicle_files import load_vehicle
    >>> vehicle_urdf(load_vehicle('rover')).count('<joint ')
    11
    """
    robot = ElementTree.Element('robot', name=vehicle.name)
    for name, colour in COLOURS.items():
        ElementTree.SubElement(ElementTree.SubElement(robot, 'material', name=name), 'color',
                               rgba=colour)
    parents = {joint: parent for wheel in vehicle.wheels.values() for parent, joint in zip(
        (BASE, *map(link_name, wheel.joints)), wheel.joints, strict=False)}
    links = {name: ElementTree.SubElement(robot, 'link', name=name)
             for name in (BASE, *map(link_name, vehicle.joints))}
    for name, joint in vehicle.joints.items():
        parent = parents.get(name, BASE)
        _joint(robot, name, joint, parent, math.inf if name not in vehicle.steering
               else vehicle.steering_rate_limit)
        _bar(links[parent], joint.origin)
    for wheel in vehicle.wheels.values():
        _wheel(links[link_name(wheel.joints[-1])], wheel)
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding='unicode')


def link_name(joint: str) -> str:
    """Return the name of the link that a `joint` moves."""
    return f'{joint}_link'


def _text(*numbers: float) -> str:
    return ' '.join(f'{number:.12g}' for number in numbers)


def _joint(robot: ElementTree.Element, name: str, joint: VehicleJoint, parent: str,
           rate: float) -> None:
    """Add a joint; a revolute joint without limits is continuous."""
    ends = joint.lower, joint.upper
    slides = joint.kind == 'prismatic'
    bounded = all(map(math.isfinite, ends))
    kind = 'prismatic' if slides else 'revolute' if bounded else 'continuous'
    element = ElementTree.SubElement(robot, 'joint', name=name, type=kind)
    ElementTree.SubElement(element, 'parent', link=parent)
    ElementTree.SubElement(element, 'child', link=link_name(name))
    ElementTree.SubElement(element, 'origin', xyz=_text(*joint.origin), rpy=_text(*joint.rpy))
    ElementTree.SubElement(element, 'axis', xyz=_text(*joint.axis))
    if kind != 'continuous':
        low, high = (min(max(end, -FAR), FAR) for end in ends)
        ElementTree.SubElement(element, 'limit', lower=_text(low), upper=_text(high),
                               effort=_text(EFFORT), velocity=_text(min(rate, FAR)))


def _visual(link: ElementTree.Element, colour: str, xyz: Triple, rpy: Triple
            ) -> ElementTree.Element:
    """Add a visual; return its geometry."""
    visual = ElementTree.SubElement(link, 'visual')
    ElementTree.SubElement(visual, 'origin', xyz=_text(*xyz), rpy=_text(*rpy))
    geometry = ElementTree.SubElement(visual, 'geometry')
    ElementTree.SubElement(visual, 'material', name=colour)
    return geometry


def _bar(link: ElementTree.Element, end: Triple) -> None:
    """Add a bar from the origin of a link to the frame of the next joint."""
    x, y, z = end
    length = math.hypot(x, y, z)
    if length:
        # its axis is z: pitched from it, then turned about it
        geometry = _visual(link, 'bars', (x / 2, y / 2, z / 2),
                           (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x)))
        ElementTree.SubElement(geometry, 'cylinder', radius=_text(BAR), length=_text(length))


def _wheel(link: ElementTree.Element, wheel: VehicleWheel) -> None:
    """Add tyre and spoke of a wheel about y."""
    radius = wheel.outer_radius
    numbers = wheel.numbers
    # half the width of the tyre
    half = {'torus': numbers[-1], 'sphere': radius, 'ellipsoid': numbers[-1],
            'cylinder': sum(numbers[1:])}[wheel.surface]
    tyre = _visual(link, 'tyre', (0.0, 0.0, 0.0), (math.pi / 2, 0.0, 0.0))
    if wheel.surface == 'sphere':
        ElementTree.SubElement(tyre, 'sphere', radius=_text(radius))
    else:
        ElementTree.SubElement(tyre, 'cylinder', radius=_text(radius), length=_text(2 * half))
    spoke = _visual(link, 'spoke', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    ElementTree.SubElement(spoke, 'box', size=_text(
        1.8 * radius, 2.4 * half, SPOKE * radius))
