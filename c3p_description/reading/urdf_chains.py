# SPDX-License-Identifier: Apache-2.0
"""
Wheels among the joints of a URDF, and the joints between them and the platform.

A wheel is a joint without stops about a horizontal axis that carries no further turning joint. One
that hangs on the platform, or on a vertical joint of the platform, is a wheel as it is. Others
are behind rockers, swing arms or springs, or are the last joints of an arm: those on the floor are
wheels.

Descriptions for simulators that slide the base have wheels on fixed joints, with no sign of it but
their names. Where no wheel turns, these are taken as turning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.notes import Notes
from c3p_description.reading.robot_options import remedy
from c3p_description.reading.urdf_tree import UrdfJoint, UrdfTree

# of the vertical part of an axis of unit length: which side of 30° it is on
STEEP = 0.5
# height of a wheel above the floor, m, and relative to its radius: tyres, springs and careless
# numbers
ON_FLOOR = 0.02
ON_FLOOR_RADII = 0.25
WHEEL = re.compile(r'wheel|tyre|tire', re.IGNORECASE)
CASTER = re.compile(r'caster|castor|steer|rotation', re.IGNORECASE)
# wheels with rollers, which slide across by design
ROLLERS = re.compile(r'omni_?wheel|mecanum|meca_?wheel|swedish', re.IGNORECASE)


class WheelChain(NamedTuple):
    """A wheel, its steering joint (None if it does not steer), and the joints between."""

    wheel: UrdfJoint
    steering: UrdfJoint | None
    between: tuple[UrdfJoint, ...]


class TurningTree(NamedTuple):
    """A tree with its poses (4, 4) at zero, its turning joints by name, and the joint above."""

    tree: UrdfTree
    poses: dict[str, Array]
    turning: dict[str, UrdfJoint]
    above: dict[str, UrdfJoint]

    def axis(self, joint: UrdfJoint) -> Array:
        """Return the direction of the axis of a joint in the root."""
        turned: Array = (self.poses[joint.parent] @ joint.origin)[:3, :3] @ joint.axis
        return turned

    def upright(self, joint: UrdfJoint) -> bool:
        """Return whether the axis is nearer to the vertical than to the horizontal."""
        return bool(abs(self.axis(joint)[2]) >= STEEP)

    def carries(self, joint: UrdfJoint) -> list[UrdfJoint]:
        """Return the turning joints that `joint` carries directly."""
        return [other for part in self.tree.body(joint.child, self.turning)
                for other in self.tree.below(part) if other.name in self.turning]

    def turning_above(self, joint: UrdfJoint) -> list[UrdfJoint]:
        """Return the turning joints between a joint and the root, the nearest first."""
        found = []
        place: UrdfJoint | None = self.above.get(joint.parent)
        while place is not None:
            if place.name in self.turning:
                found.append(place)
            place = self.above.get(place.parent)
        return found


def turning_tree(tree: UrdfTree, ignore: frozenset[str]) -> TurningTree:
    """Return the tree with what is needed to find wheels; joints in `ignore` do not turn."""
    turning = {joint.name: joint for joint in tree.joints
               if joint.kind in ('continuous', 'revolute') and joint.name not in ignore}
    return TurningTree(tree, tree.body(tree.root, ()), turning,
                {joint.child: joint for joint in tree.joints})


def chains(known: TurningTree) -> list[WheelChain]:
    """
    Return the wheels in the order of the file.

    Raises
    ------
    ModelError
        Wheels with rollers.
    """
    plain = []
    doubtful = []
    for joint in known.turning.values():
        if not joint.turns_freely() or known.carries(joint):
            continue
        above = known.turning_above(joint)
        # behind an upright joint of the platform it is a wheel at any angle: see caster_of
        if len(above) == 1 and known.upright(above[0]):
            plain.append(WheelChain(joint, above[0], ()))
        elif known.upright(joint):
            if len(above) == 1:
                plain.append(WheelChain(joint, above[0], ()))
        elif above or not _named(joint):
            steering = next((one for one in above if known.upright(one)), None)
            doubtful.append(WheelChain(joint, steering, tuple(
                one for one in above if one is not steering)))
        else:
            plain.append(WheelChain(joint, None, ()))
    found = [*plain, *_on_floor(known, plain, doubtful)]
    for chain in found:
        if ROLLERS.search(chain.wheel.name) or ROLLERS.search(chain.wheel.child):
            raise ModelError(f'joint {chain.wheel.name}: an omni or mecanum wheel by its name: '
                             'its rollers slide across, and wheels of this model do not; robots '
                             'on such wheels are not supported')
    order = {joint.name: i for i, joint in enumerate(known.tree.joints)}
    return sorted(found, key=lambda chain: order[(chain.steering or chain.wheel).name])


def _named(joint: UrdfJoint) -> bool:
    """Return whether a joint or its link is called a wheel."""
    return bool(WHEEL.search(joint.name) or WHEEL.search(joint.child))


def _on_floor(known: TurningTree, plain: list[WheelChain], doubtful: list[WheelChain]
              ) -> Iterator[WheelChain]:
    """Yield those of the `doubtful` wheels that stand on the floor, as the `plain` ones do."""
    heights = {chain.wheel.name: _height(known, chain.wheel) for chain in (*plain, *doubtful)}
    ground = sorted((name for name in known.poses if name.endswith('base_footprint')), key=len)
    bottoms = [height - radius for height, radius in (
        heights[chain.wheel.name] for chain in plain or doubtful) if radius > 0.0]
    if not bottoms and not ground:
        return
    floor = min(bottoms) if bottoms else float(known.poses[ground[0]][2, 3])
    for chain in doubtful:
        height, radius = heights[chain.wheel.name]
        if radius > 0.0 and abs(height - radius - floor) <= max(ON_FLOOR,
                                                                ON_FLOOR_RADII * radius):
            yield chain


def _height(known: TurningTree, wheel: UrdfJoint) -> tuple[float, float]:
    """Return the height of an axle in the root and the radius of its wheel, 0 if unknown, m."""
    radii = [shape.radius for name in known.tree.body(wheel.child, known.turning)
             for shape in known.tree.links[name].shapes]
    height = float((known.poses[wheel.parent] @ wheel.origin)[2, 3])
    return height, max(radii, default=0.0)


def with_drawn_wheels(known: TurningTree, ignore: frozenset[str], notes: Notes
                      ) -> TurningTree | None:
    """
    Return the tree with the wheels turning that it has on fixed joints; None without any.

    A fixed joint that is called a caster and carries one that is called a wheel steers; one that
    is called a wheel, and no caster, rolls. Steering axes are z, and axles those of the file or y
    of the root.
    """
    changed: dict[str, UrdfJoint] = {}
    for joint in known.tree.joints:
        if joint.kind != 'fixed' or joint.name in ignore:
            continue
        wheels = [other for other in known.tree.below(joint.child)
                  if other.kind == 'fixed' and _named(other)]
        above = known.above.get(joint.parent)
        behind = (above is not None and above.kind == 'fixed' and above.name not in ignore
                  and (_named(above) or bool(CASTER.search(above.name))))
        caster = bool(CASTER.search(joint.name))
        if wheels and (caster or _named(joint)):
            changed[joint.name] = _about(known, joint, np.array([0.0, 0.0, 1.0]))
        elif _named(joint) and (behind or not caster):
            # the axis of a joint without <axis> is its x
            given = not known.upright(joint) and not np.array_equal(joint.axis, [1.0, 0.0, 0.0])
            changed[joint.name] = _about(known, joint, known.axis(joint) if given
                                         else np.array([0.0, 1.0, 0.0]))
    if not changed:
        return None
    names = ', '.join(changed)
    notes.warn('fixed joints', list(changed), f'joints {names} are fixed in the file, and wheels '
               'by their names: taken as turning about vertical pivots and horizontal axles; '
               f'{remedy("ignore", next(iter(changed)))} if they are not')
    joints = tuple(changed.get(joint.name, joint) for joint in known.tree.joints)
    children: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    return turning_tree(replace(known.tree, joints=joints, children=children), ignore)


def _about(known: TurningTree, joint: UrdfJoint, axis: Array) -> UrdfJoint:
    """Return a joint that turns about an `axis` in the root."""
    local = (known.poses[joint.parent] @ joint.origin)[:3, :3].T @ axis
    return replace(joint, kind='continuous', axis=local)
