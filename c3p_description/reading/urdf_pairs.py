# SPDX-License-Identifier: Apache-2.0
"""
The casters among the joints of a URDF.

A caster is a steering joint on the platform with a wheel joint behind it, or with two on one axle
(twin wheels). A wheel carries no further joint; a turning joint that does, as in an arm, is not
a wheel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.notes import Notes
from c3p_description.reading.robot_options import remedy
from c3p_description.reading.urdf_tree import UrdfJoint, UrdfTree

# of the sine of the angle between the axles of twin wheels
PARALLEL = 2e-3
# across the common axle of twin wheels, m
ALIGNED = 1e-3
NEEDED = ('a caster robot needs two or more pairs of a steering joint (continuous or revolute) on '
          'the platform and a continuous wheel joint behind it')


class Pair(NamedTuple):
    """A steering joint and its wheel joints: one, or two on one axle."""

    steering: UrdfJoint
    wheels: tuple[UrdfJoint, ...]


def known_joints(tree: UrdfTree, names: Iterable[str]) -> frozenset[str]:
    """Return the names of joints in ``ignore``; ModelError names those that do not exist."""
    names = frozenset(names)
    known = {joint.name for joint in tree.joints}
    if names - known:
        raise ModelError(f'ignore = {sorted(names - known)}: no such joints; there are '
                         + ', '.join(sorted(known)))
    return names


def caster_pairs(tree: UrdfTree, ignore: frozenset[str], notes: Notes) -> list[Pair]:
    """
    Return the casters in the order of the file.

    Raises
    ------
    ModelError
        Fewer than two casters, wheels that do not steer, wheels beside each other that are not
        twins; the text names the joints and the remedy.
    """
    turning = {joint.name for joint in tree.joints
               if joint.kind in ('continuous', 'revolute')} - ignore
    on_platform = tree.body(tree.root, turning)
    pairs = []
    alone = []
    for joint in tree.joints:
        if joint.name not in turning or joint.parent not in on_platform:
            continue
        behind = [other for other in _next(tree, joint, turning) if other.turns_freely()
                  and not _next(tree, other, turning)]
        if behind:
            pairs.append(Pair(joint, tuple(behind)))
        elif joint.kind == 'continuous':
            alone.append((joint, on_platform[joint.parent]))
    for pair in pairs:
        _check_wheels(tree, pair, turning)
    if len(pairs) < 2:
        raise ModelError(_too_few(tree, pairs, [
            joint.name for joint, pose in alone if not _next(tree, joint, turning)
            and abs(((pose @ joint.origin)[:3, :3] @ joint.axis)[2]) < 0.5]))
    up = on_platform[pairs[0].steering.parent]
    for joint, pose in alone:
        # a wheel that cannot steer forbids motion along its axle
        axis = (pose @ joint.origin)[:3, :3] @ joint.axis
        vertical = (up @ pairs[0].steering.origin)[:3, :3] @ pairs[0].steering.axis
        if abs(axis @ vertical) < 0.5:
            raise ModelError(f'joint {joint.name} is a wheel that does not steer, on '
                             f'{joint.parent}; not a caster robot. If it is not a '
                             f'wheel, {remedy("ignore", joint.name)}')
    _note(tree, pairs, ignore, notes)
    return pairs


def _next(tree: UrdfTree, joint: UrdfJoint, turning: Iterable[str]) -> list[UrdfJoint]:
    """Return the turning joints that `joint` carries directly."""
    return [other for part in tree.body(joint.child, turning) for other in tree.below(part)
            if other.name in turning]


def _check_wheels(tree: UrdfTree, pair: Pair, turning: Iterable[str]) -> None:
    """Refuse wheels of one caster that are not twins."""
    if len(pair.wheels) == 1:
        return
    names = ', '.join(wheel.name for wheel in pair.wheels)
    link = tree.body(pair.steering.child, turning)
    poses = [link[wheel.parent] @ wheel.origin for wheel in pair.wheels]
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


def _too_few(tree: UrdfTree, pairs: list[Pair], unsteered: list[str]) -> str:
    """Return why there are too few casters; `unsteered` are wheels on the platform."""
    found = ', '.join(f'{pair.steering.name} → {" and ".join(w.name for w in pair.wheels)}'
                      for pair in pairs) or 'none'
    fixed = [joint.name for joint in tree.joints if joint.kind == 'fixed'
             and any(word in joint.name.lower() for word in ('wheel', 'caster', 'steer'))]
    text = f'{len(pairs)} casters found ({found}): {NEEDED}'
    if unsteered:
        text += f'; wheels that do not steer: {", ".join(unsteered)}'
    if fixed:
        text += (f'; {len(fixed)} joints with such names are fixed ({", ".join(fixed[:4])}'
                 f'{", ..." if len(fixed) > 4 else ""}): give them their type')
    return text


def _note(tree: UrdfTree, pairs: list[Pair], ignore: frozenset[str], notes: Notes) -> None:
    """Note twin wheels, wheels with stops, and joints that stand at zero."""
    of_casters = {joint.name for pair in pairs for joint in (pair.steering, *pair.wheels)}
    if twins := [pair.wheels for pair in pairs if len(pair.wheels) == 2]:
        notes.warn('twin wheels', [[wheel.name for wheel in wheels] for wheels in twins],
                   'twin wheels ' + '; '.join(f'{one.name} and {two.name}' for one, two in twins)
                   + ': each pair is taken as one wheel in its middle with the torque of both; '
                   'joint_states and efforts have the first name only')
    joints = [joint for pair in pairs for joint in (pair.steering, *pair.wheels)]
    if free := [joint for joint in joints if joint.kind == 'revolute' and joint.turns_freely()]:
        notes.assume('joint type', 'continuous',
                     f'joints {_names(free)}: revolute with stops at {_stops(free[0])}: taken as '
                     'continuous')
    if stopped := [pair.steering for pair in pairs if not pair.steering.turns_freely()]:
        notes.warn('joint stops', [list(joint.stops) for joint in stopped],
                   f'joints {_names(stopped)}: a caster steers without end, and these stop at '
                   f'{_stops(stopped[0])} rad; the stops are neglected')
    still = [joint.name for joint in tree.joints if joint.name not in of_casters
             and joint.kind != 'fixed']
    if still:
        notes.assume('ignore', sorted(ignore), f'joints {", ".join(still)} are not of casters: '
                     'they stand at zero, and what they carry is platform')


def _names(joints: list[UrdfJoint]) -> str:
    return ', '.join(joint.name for joint in joints)


def _stops(joint: UrdfJoint) -> str:
    return ' and '.join(f'{stop or 0.0:g}' for stop in joint.stops)
