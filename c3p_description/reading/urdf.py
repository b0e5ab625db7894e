# SPDX-License-Identifier: Apache-2.0
"""
The URDF of any caster robot → its model.

A caster is a pair of joints: a steering joint (continuous or revolute, vertical) on the platform
and a continuous wheel joint (horizontal) behind it, with any fixed joints between. What the joints
are called, how their frames are turned and which way their axes point does not matter.

How each number is found, all in the frame of `base_link` with every joint at zero:

- Angles in rpy that are rounded multiples of π/2, such as 3.14, are taken as what they mean; axes
  may be off by as much as such an angle.
- Axle a and rolling direction e are horizontal and at right angles; the wheel stands at
  ``hip − d e``. From this offset follow d > 0, e = (−sin θ, cos θ), a = (cos θ, sin θ) and
  `steering_zero` = θ. `steering_sign` is the sign of the steering axis' z.
- A positive θ_x rolls along +e, which is a spin about −a: `wheel_sign` is +1 for the axis −a.
- The middle of the wheel is the middle of its round collision shape (else of its visual shape,
  else the origin of the wheel link); its radius that of the largest collision cylinder (along the
  axle), sphere or capsule, else of such a visual, else the height of the axle above the frame
  `base_footprint`.
- Twin wheels, two wheel joints on one axle, are one wheel in their middle. It has the sum of their
  torques and masses; that they turn against each other when the caster steers is in its yaw
  inertia: Σ m b² + I (b/r)² with b the distance of each from the middle.
- A wheel is driven when it has a ``<transmission>`` or a ros2_control command interface, provided
  the URDF names any wheel joint in one of the two; else when its effort limit is positive; else,
  when no wheel joint has a positive effort limit, always. A positive effort limit is the torque
  limit, a positive velocity limit the wheel rate limit, unless they are beyond what a wheel can
  do: some files have 10000 or 1e16 there for no limit.
- A steering joint has a motor when it has one of the two; its limits then count alike. Without, it
  steers passively.
- Everything that does not turn with a caster is platform, everything else on a steering joint its
  link; other movable joints (an arm, a scanner) stand at zero.
- ``<dynamics>`` gives viscous and Coulomb friction. URDF has no element for the scrub and the grip
  of a tyre: `scrub_coulomb`, `friction_smoothing`, `tyre_friction` and `traction_margin` are
  parameters of the wheel joint in ros2_control. Gazebo's ``<mu1>`` is not used: many files hold a
  value there that no floor has.
- Settings in an element ``<c3p>`` take precedence (`urdf_settings`).
"""

from __future__ import annotations

from collections.abc import Mapping
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
from c3p_description.reading.parameters import checked, overridden
from c3p_description.reading.robot_options import UrdfOptions
from c3p_description.reading.urdf_casters import (
    Neglected,
    caster_of,
    check_neglected,
    geometry,
    masses,
)
from c3p_description.reading.urdf_motors import (
    driven_wheels,
    encoders,
    rate_limits,
    steering_motors,
    torque_limits,
)
from c3p_description.reading.urdf_notes import (
    note_assumed,
    note_other_wheels,
    note_rounded,
    note_spin,
    note_stiff,
    note_stops,
    remaining,
)
from c3p_description.reading.urdf_pairs import Pair, known_joints, wheel_pairs
from c3p_description.reading.urdf_settings import fields_of, options_of
from c3p_description.reading.urdf_tree import Inertial, UrdfTree
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
    rounded: dict[str, list[str]] = {}
    notes = Notes()
    tree = read_tree(xml_text, rounded)
    note_rounded(rounded, notes)
    settings = overridden(tree.settings, settings or {})
    options = options_of(settings)
    tree, pairs = wheel_pairs(tree, known_joints(tree, options.ignore), options.twins, notes)
    moving = {joint.name for pair in pairs for joint in pair.joints()}
    platform = tree.body(tree.root, moving)
    base = _base(tree, platform, options.base_link)
    # everything in the frame of base_link
    to_base = np.linalg.inv(platform[base])
    platform = {name: to_base @ pose for name, pose in platform.items()}
    columns = _columns(tree, pairs, platform, moving, options, notes)
    whole = tree.inertial(platform, f'platform {base}', _trails(columns))
    if whole.mass == 0.0 and not _trails(columns):
        whole = _without_mass(notes)
    driven = driven_wheels(tree, pairs, options.driven, notes)
    radii = columns['wheel_radius']
    mass = whole.mass + sum(map(sum, (columns['link_mass'], columns['wheel_mass'])))
    given, friction = fields_of(settings, len(pairs))
    motors = steering_motors(tree, pairs, options.steered, columns['caster_offset'], radii, mass,
                             notes)
    # settings may state that a wheel with a steering joint is fixed
    motors['steered'] = motors['steered'] & ~np.asarray(given.get('fixed', False), bool)
    values = {
        'name': tree.name, 'platform_mass': whole.mass, 'platform_inertia': whole.inertia[2, 2],
        'platform_com': whole.centre[:2], 'driven': driven,
        'torque_limit': torque_limits(pairs, driven, radii, mass, notes),
        'tyre_friction': _parameter(tree, pairs[0], 'tyre_friction', TYRE_FRICTION),
        'traction_margin': _parameter(tree, pairs[0], 'traction_margin', TRACTION_MARGIN),
        'wheel_rate_limit': rate_limits(pairs, radii, notes),
        **motors, **encoders(tree, pairs, np.asarray(driven) | motors['steered'], notes),
        'steering_joints': tuple(pair.pivot for pair in pairs),
        'wheel_joints': tuple(pair.wheels[0].name for pair in pairs), **columns}
    losses = _friction(tree, pairs)
    note_assumed(tree, pairs, base, losses, options, notes)
    robot = CasterRobot(friction=replace(losses, **friction), **{**values, **given})
    note_stiff(robot, notes)
    return Reading(robot, remaining(notes, settings))


def _columns(tree: UrdfTree, pairs: list[Pair], platform: dict[str, Array], moving: set[str],
             options: UrdfOptions, notes: Notes) -> dict[str, Any]:
    """Return the fields of the casters, one entry each."""
    casters = [caster_of(tree, pair, platform, moving, notes) for pair in pairs]
    neglected: list[Neglected] = []
    fields = [geometry(tree, caster, platform, options, notes) for caster in casters]
    columns: dict[str, Any] = {name: [values[name] for values in fields] for name in fields[0]}
    if options.wheel_radius is not None:
        radius = options.wheel_radius
        columns['wheel_radius'] = checked('wheel_radius', list(radius) if isinstance(
            radius, tuple) else [radius] * len(pairs), 'per caster', len(pairs))
    inertials = [masses(tree, caster, radius, _trails(columns), neglected)
                 for caster, radius in zip(casters, columns['wheel_radius'], strict=True)]
    note_other_wheels(casters, columns, notes)
    note_stops(casters, columns, notes)
    # masses are of robots that are driven
    if _trails(columns):
        check_neglected(neglected, options.tolerance, notes)
    columns |= {name: [values[name] for values in inertials] for name in inertials[0]}
    note_spin(casters, columns, notes)
    return columns


def _trails(columns: Mapping[str, Any]) -> bool:
    """Return whether all wheels are casters, which a motion of the platform steers."""
    return (all(columns['caster_offset']) and not any(columns['fixed'])
            and not any(columns['lateral_offset']))


def _without_mass(notes: Notes) -> Inertial:
    """Return what stands for the masses of a robot that is not driven, and note it."""
    notes.assume('platform.mass', 1.0, 'the platform has no <inertial>: a mass of 1 kg and an '
                 'inertia of 1 kg·m², which odometry does not use; platform.mass and '
                 'platform.inertia replace them')
    return Inertial(1.0, np.zeros(3), np.eye(3))


def _base(tree: UrdfTree, platform: dict[str, Array], name: str | None) -> str:
    """Return the link whose frame the model is in."""
    if name is not None:
        if name not in platform:
            raise ModelError(f'base_link = {name!r}: not a link of the platform; those are '
                             + ', '.join(platform))
        return name
    ending = sorted((link for link in platform if link.endswith('base_link')), key=len)
    return ending[0] if ending else tree.root


def _parameter(tree: UrdfTree, pair: Pair, name: str, default: float) -> float:
    """Return a ros2_control parameter of the wheel joint."""
    wheel = pair.wheels[0].name
    text = tree.control.parameters.get(wheel, {}).get(name)
    what = f'ros2_control joint {wheel} param {name}'
    return float(numbers(text, 1, what, str(default))[0])


def _friction(tree: UrdfTree, pairs: list[Pair]) -> Friction:
    return Friction(
        pivot_viscous=np.array([pair.steering.damping if pair.steering else 0.0
                                for pair in pairs]),
        pivot_coulomb=np.array([pair.steering.friction if pair.steering else 0.0
                                for pair in pairs]),
        # of twin wheels both
        rolling_viscous=np.array([sum(w.damping for w in pair.wheels) for pair in pairs]),
        rolling_coulomb=np.array([sum(w.friction for w in pair.wheels) for pair in pairs]),
        scrub_coulomb=np.array([_parameter(tree, p, 'scrub_coulomb', 0.0) for p in pairs]),
        smoothing=_parameter(tree, pairs[0], 'friction_smoothing', Friction.smoothing))
