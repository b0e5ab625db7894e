# SPDX-License-Identifier: Apache-2.0
"""
The wheels of a URDF with their steering joints.

A caster is a steering joint with a wheel joint behind it, or with two on one axle. Two wheels on
one axle of a robot that is driven are one wheel in their middle; of others both are wheels. A
wheel without a steering joint is fixed to the platform.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.notes import Notes
from c3p_description.reading.robot_options import LENGTH_TOLERANCE, remedy
from c3p_description.reading.urdf_chains import (
    TurningTree,
    WheelChain,
    chains,
    turning_tree,
    with_drawn_wheels,
)
from c3p_description.reading.urdf_tree import UrdfJoint, UrdfTree

# of the sine of the angle between the axles of twin wheels
PARALLEL = 2e-3
# across the common axle of twin wheels, m
ALIGNED = 1e-3
# of fixed wheels that have one axle: distance across it, m, and sine of an angle
ONE_AXLE = 0.01
ONE_DIRECTION = 0.02
NEEDED = ('a robot needs wheel joints (continuous, about a horizontal axis) on the platform or '
          'behind steering joints (continuous or revolute, vertical): two casters, or two wheels '
          'that do not steer, or one of each')


class Pair(NamedTuple):
    """
    A steering joint, None for a fixed wheel, and a wheel joint, or two taken as one.

    Of two that are taken apart, `shared`, `twin` is the number on the pivot: only the first one
    carries the fork.
    """

    steering: UrdfJoint | None
    wheels: tuple[UrdfJoint, ...]
    shared: bool = False
    twin: int = 0

    @property
    def pivot(self) -> str:
        """Name of the steering joint, or a name in its place for a fixed wheel."""
        return self.steering.name if self.steering else f'{self.wheels[0].name} (fixed)'

    def joints(self) -> tuple[UrdfJoint, ...]:
        """Return the steering joint, if there is one, and the wheel joints."""
        return self.wheels if self.steering is None else (self.steering, *self.wheels)


def known_joints(tree: UrdfTree, names: Iterable[str]) -> frozenset[str]:
    """Return the names of joints in ``ignore``; ModelError names those that do not exist."""
    names = frozenset(names)
    known = {joint.name for joint in tree.joints}
    if names - known:
        raise ModelError(f'ignore = {sorted(names - known)}: no such joints; there are '
                         + ', '.join(sorted(known)))
    return names


def wheel_pairs(tree: UrdfTree, ignore: frozenset[str], twins: str | None, notes: Notes
                ) -> tuple[UrdfTree, list[Pair]]:
    """
    Return the tree in which the wheels turn, and the wheels in the order of the file.

    Joints in `ignore` do not turn; `twins` is the option of the reader. What is interpreted is
    added to `notes`.

    Raises
    ------
    ModelError
        Too few wheels, fixed wheels on several axles, wheels beside each other that are not
        twins; the text names the joints and the remedy.
    """
    known = turning_tree(tree, ignore)
    found = chains(known)
    if not found and (drawn := with_drawn_wheels(known, ignore, notes)) is not None:
        known = drawn
        found = chains(known)
    groups: dict[str, list[WheelChain]] = {}
    for chain in found:
        groups.setdefault((chain.steering or chain.wheel).name, []).append(chain)
    pairs = [Pair(group[0].steering, tuple(chain.wheel for chain in group))
             for group in groups.values()]
    for pair in pairs:
        _check_wheels(known, pair)
    if not pairs or (len(pairs) == 1 and len(pairs[0].wheels) == 1):
        raise ModelError(_too_few(known.tree, pairs))
    _check_axles(known, pairs)
    if twins == 'apart' or (twins is None and not _driven_alone(known, pairs)):
        pairs = [Pair(pair.steering, (wheel,), len(pair.wheels) > 1, number) for pair in pairs
                 for number, wheel in enumerate(pair.wheels)]
    _note(known.tree, pairs, ignore, notes)
    _note_between(found, notes)
    return known.tree, pairs


def _driven_alone(known: TurningTree, pairs: list[Pair]) -> bool:
    """Return whether all wheels trail behind two or more pivots, so that the robot is driven."""
    return len(pairs) > 1 and all(
        pair.steering is not None and _trail(known, pair) > LENGTH_TOLERANCE for pair in pairs)


def _trail(known: TurningTree, pair: Pair) -> float:
    """Return the distance of the middle of the wheels from their pivot, across the axle, m."""
    assert pair.steering is not None
    link = known.tree.body(pair.steering.child, known.turning)
    places = _behind(known, pair, link)
    middle = sum(place[:3, 3] for place in places) / len(places)
    axle = places[0][:3, :3] @ pair.wheels[0].axis
    up = pair.steering.axis
    flat = middle - (middle @ up) * up
    return float(np.linalg.norm(flat - (flat @ axle) * axle))


def _behind(known: TurningTree, pair: Pair, link: dict[str, Array]) -> list[Array]:
    """Return the poses of wheel joints in the steering link, `link` or a link behind it."""
    if all(wheel.parent in link for wheel in pair.wheels):
        return [link[wheel.parent] @ wheel.origin for wheel in pair.wheels]
    assert pair.steering is not None
    to_link = np.linalg.inv(known.poses[pair.steering.child])
    return [to_link @ known.poses[wheel.parent] @ wheel.origin for wheel in pair.wheels]


def _check_wheels(known: TurningTree, pair: Pair) -> None:
    """Refuse wheels of one caster that are not twins."""
    if len(pair.wheels) == 1:
        return
    assert pair.steering is not None
    names = ', '.join(wheel.name for wheel in pair.wheels)
    poses = _behind(known, pair, known.tree.body(pair.steering.child, known.turning))
    axles = [pose[:3, :3] @ wheel.axis for pose, wheel in zip(poses, pair.wheels, strict=True)]
    if len(poses) == 2 and _one_axle(poses, axles):
        return
    raise ModelError(f'joint {pair.steering.name} carries {len(pair.wheels)} wheel joints '
                     f'({names}), which are not two wheels on one axle: a caster has one wheel or '
                     'twin wheels; if some are not wheels, '
                     + remedy('ignore', pair.wheels[-1].name))


def _one_axle(poses: list[Array], axles: list[Array]) -> bool:
    apart = poses[1][:3, 3] - poses[0][:3, 3]
    across = apart - (apart @ axles[0]) * axles[0]
    turned = np.linalg.norm(np.cross(axles[0], axles[1]))
    return bool(turned <= PARALLEL and np.linalg.norm(across) <= ALIGNED)


def _check_axles(known: TurningTree, pairs: list[Pair]) -> None:
    """Refuse fixed wheels that do not stand on one axle: they slide when the robot turns."""
    fixed = [pair.wheels[0] for pair in pairs if pair.steering is None]
    places = [(known.poses[wheel.parent] @ wheel.origin)[:2, 3] for wheel in fixed]
    axles = [known.axis(wheel)[:2] for wheel in fixed]
    for place, axle in zip(places, axles, strict=True):
        turned = abs(axles[0][0] * axle[1] - axles[0][1] * axle[0])
        apart = place - places[0]
        across = abs(apart[0] * axles[0][1] - apart[1] * axles[0][0])
        if turned > ONE_DIRECTION or across > ONE_AXLE:
            names = ', '.join(wheel.name for wheel in fixed)
            what = ('they point in different directions' if turned > ONE_DIRECTION
                    else f'their axles are {across:.3g} m apart')
            raise ModelError(
                f'joints {names} are wheels that do not steer, and {what}: the robot turns by '
                'sliding (skid steering), or they are mecanum or omni wheels; rolling wheels do '
                'not determine its motion, and it is not supported. If some of them are free '
                'casters, ' + remedy('ignore', fixed[-1].name))


def _too_few(tree: UrdfTree, pairs: list[Pair]) -> str:
    """Return why there are too few wheels."""
    found = ', '.join(f'{pair.pivot} → {pair.wheels[0].name}' for pair in pairs) or 'none'
    fixed = [joint.name for joint in tree.joints if joint.kind == 'fixed'
             and any(word in joint.name.lower() for word in ('wheel', 'caster', 'steer'))]
    text = f'{len(pairs)} wheels found ({found}): {NEEDED}'
    slides = [joint.name for joint in tree.joints if joint.kind in ('prismatic', 'planar')]
    if slides and not pairs:
        text += (f'; joints {", ".join(slides[:3])} slide: if they move the base, the file has no '
                 'wheels, and a robot file with their places does: extends: powered_caster')
    if fixed:
        text += (f'; {len(fixed)} joints with such names are fixed ({", ".join(fixed[:4])}'
                 f'{", ..." if len(fixed) > 4 else ""}): give them their type')
    return text


def _note_between(found: list[WheelChain], notes: Notes) -> None:
    """Warn of joints between the platform and wheels, which are read at zero."""
    between = list(dict.fromkeys(joint.name for chain in found for joint in chain.between))
    if between:
        wheels = ', '.join(chain.wheel.name for chain in found if chain.between)
        names = ','.join(between)
        notes.warn('ignore', between, f'joints {", ".join(between)} are between the platform and '
                   f'the wheels {wheels}: taken at zero, as rockers or springs at rest; to '
                   f'confirm, {remedy("ignore", f"[{names}]" if len(between) > 1 else names)}')


def _note(tree: UrdfTree, pairs: list[Pair], ignore: frozenset[str], notes: Notes) -> None:
    """Note twin wheels, joints without effective stops, and those that stand at zero."""
    of_wheels = {joint.name for pair in pairs for joint in pair.joints()}
    if twins := [pair.wheels for pair in pairs if len(pair.wheels) == 2]:
        notes.warn('twin wheels', [[wheel.name for wheel in wheels] for wheels in twins],
                   'twin wheels ' + '; '.join(f'{one.name} and {two.name}' for one, two in twins)
                   + ': each pair is taken as one wheel in its middle with the torque of both; '
                   'joint_states and efforts have the first name only, whose rate differs while '
                   'the caster turns; for odometry of both wheels, ' + remedy('twins', 'apart'))
    joints = [joint for pair in pairs for joint in pair.joints()]
    if free := [joint for joint in joints if joint.kind == 'revolute' and joint.turns_freely()]:
        notes.assume('joint type', 'continuous',
                     f'joints {_names(free)}: revolute with stops at {_stops(free[0])}: taken as '
                     'continuous')
    still = [joint.name for joint in tree.joints if joint.name not in of_wheels
             and joint.kind != 'fixed']
    if still:
        notes.assume('ignore', sorted(ignore), f'joints {", ".join(still)} are not of casters: '
                     'they stand at zero, and what they carry is platform')


def _names(joints: list[UrdfJoint]) -> str:
    return ', '.join(joint.name for joint in joints)


def _stops(joint: UrdfJoint) -> str:
    return ' and '.join(f'{stop or 0.0:g}' for stop in joint.stops)
