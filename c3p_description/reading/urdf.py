# SPDX-License-Identifier: Apache-2.0
"""
The URDF of any caster robot → its model.

A caster is a pair of joints: a steering joint (continuous or revolute, vertical) on the platform
and a continuous wheel joint (horizontal) behind it, with any fixed joints between. What the joints
are called, how their frames are turned and which way their axes point does not matter.

How each number is found, all in the frame of `base_link` with every joint at zero:

- Axle a and rolling direction e are horizontal and at right angles; the wheel stands at
  ``hip − d e``. From this offset follow d > 0, e = (−sin θ, cos θ), a = (cos θ, sin θ) and
  `steering_zero` = θ. `steering_sign` is the sign of the steering axis' z.
- A positive θ_x rolls along +e, which is a spin about −a: `wheel_sign` is +1 for the axis −a.
- The middle of the wheel is the middle of its round collision shape (else of its visual shape,
  else the origin of the wheel link); its radius that of the largest collision cylinder (along the
  axle), sphere or capsule, else of such a visual, else the height of the axle above the frame
  `base_footprint`.
- A wheel is driven when it has a ``<transmission>`` or a ros2_control command interface, provided
  the URDF names any wheel joint in one of the two; else when its effort limit is positive; else,
  when no wheel joint has an effort limit, always. A positive effort limit is the torque limit,
  a positive velocity limit the wheel rate limit.
- A steering joint has a motor when it has one of the two; its limits then count alike. Without, it
  steers passively.
- Everything that does not turn with a caster is platform, everything else on a steering joint its
  link; other movable joints (an arm, a scanner) stand at zero.
- ``<dynamics>`` gives viscous and Coulomb friction. URDF has no element for the scrub and the grip
  of a tyre: `scrub_coulomb`, `friction_smoothing`, `tyre_friction` and `traction_margin` are
  parameters of the wheel joint in ros2_control. Gazebo's ``<mu1>`` is not used: many files hold a
  value there that no floor has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from c3p_description.model import (
    TRACTION_MARGIN,
    TYRE_FRICTION,
    Array,
    CasterRobot,
    Friction,
    ModelError,
)
from c3p_description.reading.notes import Notes, Reading
from c3p_description.reading.parameters import overridden
from c3p_description.reading.robot_options import remedy
from c3p_description.reading.urdf_casters import Caster, caster_of, geometry, masses
from c3p_description.reading.urdf_settings import fields_of, options_of
from c3p_description.reading.urdf_tree import Joint, Tree
from c3p_description.reading.urdf_xml import numbers, read_tree


def from_urdf(xml_text: str, **options: Any) -> CasterRobot:
    """
    Return the model of the caster robot that a URDF describes.

    Parameters
    ----------
    xml_text : str
        URDF (after xacro). Casters are numbered in the order of their steering joints.
    **options
        As of `UrdfOptions`, and sections of a robot file such as ``casters={'torque_limit': 4}``;
        they take precedence over those in the text.

    Returns
    -------
    CasterRobot
        In SI units and radians.

    Raises
    ------
    ModelError
        Malformed XML, fewer than two casters, tilted axes, a lateral wheel offset, no caster
        offset, missing inertials, an unknown radius, a wrong option; the text names the remedy.
    """
    return read_urdf(xml_text, options).robot


def read_urdf(xml_text: str, settings: Mapping[str, Any] | None = None) -> Reading:
    """
    Return the caster robot that a URDF describes, and what was doubtful or assumed.

    Parameters
    ----------
    xml_text : str
        As for `from_urdf`, which also has the errors.
    settings : mapping, optional
        The options of `from_urdf`.
    """
    tree, notes = read_tree(xml_text), Notes()
    settings = overridden(tree.settings, settings or {})
    options = options_of(settings)
    ignore = _known_joints(tree, options.ignore)
    pairs = _pairs(tree, ignore)
    moving = {joint.name for pair in pairs for joint in pair}
    platform = tree.body(tree.root, moving)
    base = _base(tree, platform, options.base_link)
    # everything in the frame of base_link
    to_base = np.linalg.inv(platform[base])
    platform = {name: to_base @ pose for name, pose in platform.items()}
    casters = [caster_of(tree, pair, platform, moving) for pair in pairs]
    fields = [geometry(tree, caster, platform, options.tolerance, options.wheel_radius is None)
              | masses(tree, caster, options.tolerance) for caster in casters]
    columns = {name: [values[name] for values in fields] for name in fields[0]}
    if options.wheel_radius is not None:
        columns['wheel_radius'] = options.wheel_radius
    whole = tree.inertial(platform, f'platform {base}')
    wheels, pivots = [c.wheel for c in casters], [c.steering for c in casters]
    given, friction = fields_of(settings, len(casters))
    values = {
        'name': tree.name, 'platform_mass': whole.mass, 'platform_inertia': whole.inertia[2, 2],
        'platform_com': whole.centre[:2],
        'driven': driven_wheels(tree, wheels, options.driven),
        'steered': (named('steered', options.steered, pivots) if options.steered is not None
                    else [pivot.name in tree.control.commanded for pivot in pivots]),
        'steering_torque_limit': [pivot.effort or math.inf for pivot in pivots],
        'steering_rate_limit': [pivot.velocity or math.inf for pivot in pivots],
        'torque_limit': [wheel.effort if wheel.effort else math.inf for wheel in wheels],
        'tyre_friction': _parameter(tree, casters[0], 'tyre_friction', TYRE_FRICTION),
        'traction_margin': _parameter(tree, casters[0], 'traction_margin', TRACTION_MARGIN),
        'wheel_rate_limit': [wheel.velocity if wheel.velocity else math.inf for wheel in wheels],
        'steering_joints': tuple(pivot.name for pivot in pivots),
        'wheel_joints': tuple(wheel.name for wheel in wheels), **columns, **given}
    return Reading(CasterRobot(friction=replace(_friction(tree, casters), **friction), **values),
                   tuple(notes.found))


def _known_joints(tree: Tree, names: Iterable[str]) -> frozenset[str]:
    names, known = frozenset(names), {joint.name for joint in tree.joints}
    if names - known:
        raise ModelError(f'ignore = {sorted(names - known)}: no such joints; there are '
                         + ', '.join(sorted(known)))
    return names


def _pairs(tree: Tree, ignore: frozenset[str]) -> list[tuple[Joint, Joint]]:
    """Return the (steering, wheel) joints in the order of the file."""
    turning = {joint.name for joint in tree.joints
               if joint.kind in ('continuous', 'revolute')} - ignore
    on_platform = tree.body(tree.root, turning)
    pairs, alone = [], []
    for joint in tree.joints:
        if joint.name not in turning or joint.parent not in on_platform:
            continue
        behind = [other for part in tree.body(joint.child, turning) for other in tree.below(part)
                  if other.name in turning and other.kind == 'continuous']
        if len(behind) > 1:
            raise ModelError(f'joint {joint.name} carries {len(behind)} wheel joints '
                             f'({", ".join(j.name for j in behind)}): a caster has one wheel; '
                             'for those that are no wheels '
                             + remedy('ignore', behind[-1].name))
        if behind:
            pairs.append((joint, behind[0]))
        elif joint.kind == 'continuous':
            alone.append((joint, on_platform[joint.parent]))
    if len(pairs) < 2:
        found = ', '.join(f'{s.name} → {w.name}' for s, w in pairs) or 'none'
        raise ModelError(f'{len(pairs)} casters found ({found}): a caster robot needs two or more '
                         'pairs of a steering joint (continuous or revolute) on the platform and '
                         'a continuous wheel joint behind it')
    up = on_platform[pairs[0][0].parent]
    for joint, pose in alone:
        # a wheel that cannot steer forbids motion along its axle
        axis = (pose @ joint.origin)[:3, :3] @ joint.axis
        vertical = (up @ pairs[0][0].origin)[:3, :3] @ pairs[0][0].axis
        if abs(axis @ vertical) < 0.5:
            raise ModelError(f'joint {joint.name} is a wheel that does not steer, on '
                             f'{joint.parent}; not a caster robot. If it is not a '
                             f'wheel, {remedy("ignore", joint.name)}')
    return pairs


def _base(tree: Tree, platform: dict[str, Array], name: str | None) -> str:
    """Return the link whose frame the model is in."""
    if name is not None:
        if name not in platform:
            raise ModelError(f'base_link = {name!r}: not a link of the platform; those are '
                             + ', '.join(platform))
        return name
    ending = sorted((link for link in platform if link.endswith('base_link')), key=len)
    return ending[0] if ending else tree.root


def driven_wheels(tree: Tree, wheels: list[Joint], given: Any) -> Any:
    """Return which wheels have a motor, see the rule in the module's text; `given`: the option."""
    if given is not None:
        return named('driven', given, wheels)
    if any(wheel.name in tree.control.named for wheel in wheels):
        return [wheel.name in tree.control.commanded for wheel in wheels]
    if all(wheel.effort is None for wheel in wheels):
        return [True] * len(wheels)
    return [bool(wheel.effort and wheel.effort > 0) for wheel in wheels]


def named(option: str, given: Any, joints: list[Joint]) -> Any:
    """Return an option as true or false for each of the joints, which it may name."""
    if not isinstance(given, tuple) or not isinstance(given[0], str):
        return given
    names = [joint.name for joint in joints]
    if unknown := sorted(set(given) - set(names)):
        raise ModelError(f'{option} = {unknown}: no such joints; there are {", ".join(names)}')
    return [name in given for name in names]


def _parameter(tree: Tree, caster: Caster, name: str, default: float) -> float:
    """Return a ros2_control parameter of the wheel joint."""
    text = tree.control.parameters.get(caster.wheel.name, {}).get(name)
    what = f'ros2_control joint {caster.wheel.name} param {name}'
    return float(numbers(text, 1, what, str(default))[0])


def _friction(tree: Tree, casters: list[Caster]) -> Friction:
    return Friction(
        pivot_viscous=np.array([caster.steering.damping for caster in casters]),
        pivot_coulomb=np.array([caster.steering.friction for caster in casters]),
        rolling_viscous=np.array([caster.wheel.damping for caster in casters]),
        rolling_coulomb=np.array([caster.wheel.friction for caster in casters]),
        scrub_coulomb=np.array([_parameter(tree, c, 'scrub_coulomb', 0.0) for c in casters]),
        smoothing=_parameter(tree, casters[0], 'friction_smoothing', Friction.smoothing))
