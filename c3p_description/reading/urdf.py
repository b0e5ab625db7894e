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
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import (
    TRACTION_MARGIN,
    TYRE_FRICTION,
    Array,
    CasterRobot,
    Friction,
    ModelError,
)
from c3p_description.reading.urdf_casters import (
    LENGTH_TOLERANCE,
    Caster,
    caster_of,
    geometry,
    masses,
)
from c3p_description.reading.urdf_tree import Joint, Tree
from c3p_description.reading.urdf_xml import numbers, read_tree


def from_urdf(xml_text: str, *, base_link: str | None = None, driven: ArrayLike | None = None,
              wheel_radius: ArrayLike | None = None, ignore: Iterable[str] = (),
              tolerance: float = LENGTH_TOLERANCE,
              steered: ArrayLike | None = None) -> CasterRobot:
    """
    Return the model of the caster robot that a URDF describes.

    Parameters
    ----------
    xml_text : str
        URDF (after xacro). Casters are numbered in the order of their steering joints.
    base_link : str, optional
        Frame of the model; else the link so called (or the one whose name ends so), else the root.
    driven : (n,) array_like of bool, optional
        Driven wheels, instead of those in the URDF.
    wheel_radius : (n,) array_like, m, optional
        Instead of the radii in the URDF.
    ignore : iterable of str
        Movable joints that resemble caster joints but are not.
    tolerance : float, m
        Lateral offsets of wheels and of centres of mass up to this are neglected;
        their contribution to the moments of inertia is kept.
    steered : (n,) array_like of bool, optional
        Steering axes with a motor, instead of those in the URDF.

    Returns
    -------
    CasterRobot
        In SI units and radians.

    Raises
    ------
    ModelError
        Malformed XML, fewer than two casters, tilted axes, a lateral wheel offset, no caster
        offset, missing inertials, an unknown radius; the text names the remedy.
    """
    tree = read_tree(xml_text)
    ignore = _known_joints(tree, ignore)
    pairs = _pairs(tree, ignore)
    moving = {joint.name for pair in pairs for joint in pair}
    platform = tree.body(tree.root, moving)
    base = _base(tree, platform, base_link)
    # everything in the frame of base_link
    to_base = np.linalg.inv(platform[base])
    platform = {name: to_base @ pose for name, pose in platform.items()}
    casters = [caster_of(tree, pair, platform, moving) for pair in pairs]
    fields = [geometry(tree, caster, platform, tolerance, wheel_radius is None)
              | masses(tree, caster, tolerance) for caster in casters]
    columns = {name: [values[name] for values in fields] for name in fields[0]}
    if wheel_radius is not None:
        columns['wheel_radius'] = wheel_radius
    whole = tree.inertial(platform, f'platform {base}')
    wheels, pivots = [c.wheel for c in casters], [c.steering for c in casters]
    if steered is None:
        steered = [pivot.name in tree.control.commanded for pivot in pivots]
    return CasterRobot(
        name=tree.name, platform_mass=whole.mass, platform_inertia=whole.inertia[2, 2],
        platform_com=whole.centre[:2], friction=_friction(tree, casters),
        driven=_driven(tree, wheels) if driven is None else driven,
        torque_limit=[wheel.effort if wheel.effort else math.inf for wheel in wheels],
        steered=steered, steering_torque_limit=[pivot.effort or math.inf for pivot in pivots],
        steering_rate_limit=[pivot.velocity or math.inf for pivot in pivots],
        tyre_friction=_parameter(tree, casters[0], 'tyre_friction', TYRE_FRICTION),
        traction_margin=_parameter(tree, casters[0], 'traction_margin', TRACTION_MARGIN),
        wheel_rate_limit=[wheel.velocity if wheel.velocity else math.inf for wheel in wheels],
        steering_joints=tuple(pivot.name for pivot in pivots),
        wheel_joints=tuple(wheel.name for wheel in wheels), **columns)


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
                             'name the others in ignore')
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
                             f'wheel, pass ignore=({joint.name!r},)')
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


def _driven(tree: Tree, wheels: list[Joint]) -> list[bool]:
    """Return which wheels have a motor, see the rule in the module's text."""
    if any(wheel.name in tree.control.named for wheel in wheels):
        return [wheel.name in tree.control.commanded for wheel in wheels]
    if all(wheel.effort is None for wheel in wheels):
        return [True] * len(wheels)
    return [bool(wheel.effort and wheel.effort > 0) for wheel in wheels]


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
