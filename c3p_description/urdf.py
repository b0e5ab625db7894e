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
  when no wheel joint has an effort limit, always. A positive effort limit is the torque limit.
- Everything that does not turn with a caster is platform, everything else on a steering joint its
  link; other movable joints (an arm, a scanner) stand at zero.
- ``<dynamics>`` gives viscous and Coulomb friction; URDF has no word for the scrub of a tyre,
  which is the parameter `scrub_coulomb` of the wheel joint in ros2_control (`friction_smoothing` too).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot, Friction, ModelError
from c3p_description.urdf_tree import Inertial, Joint, Tree, numbers, read_tree

# how far from vertical or horizontal an axis may be, rad: files write 1.57 for π/2
ANGLE_TOLERANCE = 2e-3
# m; smaller lateral and caster offsets count as zero: files are written to 0.1 mm
LENGTH_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class _Caster:
    """One caster; poses (4, 4) are in `base_link`, the link poses in the body's first link."""

    steering: Joint
    wheel: Joint
    steering_pose: Array
    wheel_pose: Array
    link_body: dict[str, Array]
    wheel_body: dict[str, Array]


def from_urdf(xml_text: str, *, base_link: str | None = None, driven: ArrayLike | None = None,
              wheel_radius: ArrayLike | None = None, ignore: Iterable[str] = (),
              tolerance: float = LENGTH_TOLERANCE) -> CasterRobot:
    """
    Return the model of the caster robot that a URDF describes.

    Parameters
    ----------
    xml_text : str
        URDF (after xacro). Casters are numbered in the order of their steering joints.
    base_link : str, optional
        Frame of the model; else the link so called (or the one whose name ends so), else the root.
    driven : (n,) array_like of bool, optional
        Which wheels are driven, instead of what the URDF says.
    wheel_radius : (n,) array_like, m, optional
        Instead of what the URDF says.
    ignore : iterable of str
        Movable joints which look like those of a caster and are none.
    tolerance : float, m
        Lateral offsets of wheels and of centres of mass up to this are neglected; their share of
        the moments of inertia is kept.

    Returns
    -------
    CasterRobot
        In SI units and radians.

    Raises
    ------
    ModelError
        Malformed XML, fewer than two casters, tilted axes, a lateral wheel offset, no caster
        offset, missing inertials, an unknown radius; the text says what to change.
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
    casters = [_caster(tree, pair, platform, moving) for pair in pairs]
    fields = [_geometry(tree, caster, platform, tolerance, wheel_radius is None)
              | _masses(tree, caster, tolerance) for caster in casters]
    columns = {name: [values[name] for values in fields] for name in fields[0]}
    if wheel_radius is not None:
        columns['wheel_radius'] = wheel_radius
    whole = tree.inertial(platform, f'platform {base}')
    wheels = [caster.wheel for caster in casters]
    return CasterRobot(
        name=tree.name, platform_mass=whole.mass, platform_inertia=whole.inertia[2, 2],
        platform_com=whole.centre[:2], friction=_friction(tree, casters),
        driven=_driven(tree, wheels) if driven is None else driven,
        torque_limit=[wheel.effort if wheel.effort else math.inf for wheel in wheels],
        steering_joints=tuple(caster.steering.name for caster in casters),
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
                             'name those that are none in ignore')
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
                             f'{joint.parent}; such a robot is none on casters. If it is no '
                             f'wheel: ignore=({joint.name!r},)')
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


def _caster(tree: Tree, pair: tuple[Joint, Joint], platform: dict[str, Array],
            moving: set[str]) -> _Caster:
    steering, wheel = pair
    steering_pose = platform[steering.parent] @ steering.origin
    link_body = tree.body(steering.child, moving)
    wheel_pose = steering_pose @ link_body[wheel.parent] @ wheel.origin
    return _Caster(steering, wheel, steering_pose, wheel_pose, link_body,
                   tree.body(wheel.child, moving))


def _horizontal(caster: _Caster) -> Array:
    """Return the wheel's axis (3,) in base_link after checking both axes."""
    up = caster.steering_pose[:3, :3] @ caster.steering.axis
    axle = caster.wheel_pose[:3, :3] @ caster.wheel.axis
    for joint, angle, wanted, axis in (
            (caster.steering, math.asin(min(1.0, math.hypot(up[0], up[1]))), 'vertical', up),
            (caster.wheel, abs(math.asin(max(-1.0, min(1.0, axle[2])))), 'horizontal', axle)):
        if angle > ANGLE_TOLERANCE:
            raise ModelError(f'joint {joint.name}: axis {axis.round(6).tolist()} in base_link is '
                             f'{math.degrees(angle):.3g}° from {wanted}; the planar model needs '
                             'vertical steering axes and horizontal axles: correct rpy and axis, '
                             'or name the joint in ignore when it is not part of a caster')
    return np.array([axle[0], axle[1], 0.0]) / math.hypot(axle[0], axle[1])


def _geometry(tree: Tree, caster: _Caster, platform: dict[str, Array], tolerance: float,
              radius_needed: bool) -> dict[str, object]:
    """Return the fields of the class that lengths and axes give."""
    spin = _horizontal(caster)
    centre, radius = _round(tree, caster, spin)
    if radius is None and radius_needed:
        radius = _height(caster, platform)
    hip = caster.steering_pose[:3, 3]
    offset = centre - hip
    lateral = float(offset @ spin)
    if abs(lateral) > tolerance:
        raise ModelError(f'joint {caster.wheel.name}: the wheel stands {abs(lateral):.6g} m '
                         f'beside its pivot {caster.steering.name}, along the axle; the model '
                         'has no lateral offset: move the wheel into the plane of the pivot, or pass a '
                         'greater tolerance to neglect it')
    trail = (offset - lateral * spin)[:2]
    d = math.hypot(*trail)
    if d <= LENGTH_TOLERANCE:
        raise ModelError(f'joint {caster.wheel.name}: caster offset {d:.6g} m; the wheel stands '
                         f'below its pivot {caster.steering.name} and cannot steer passively: '
                         'move it behind the pivot')
    e = -trail / d
    axle = np.array([e[1], -e[0]])
    return {'hip_position': hip[:2], 'caster_offset': d, 'wheel_radius': radius,
            # + 0.0 turns -0.0 into 0.0
            'steering_zero': math.atan2(-e[0] + 0.0, e[1]),
            'steering_sign': math.copysign(
                1.0, (caster.steering_pose[:3, :3] @ caster.steering.axis)[2]),
            'wheel_sign': math.copysign(1.0, -spin[:2] @ axle)}


def _round(tree: Tree, caster: _Caster, spin: Array) -> tuple[Array, float | None]:
    """Return the middle of the wheel in base_link and its radius, None where no shape tells."""
    found = []
    for name, pose in caster.wheel_body.items():
        for shape in tree.links[name].shapes:
            place = caster.wheel_pose @ pose @ shape.pose
            # a cylinder across the axle is a spoke or a bolt
            if shape.kind == 'sphere' or abs(place[:3, 2] @ spin) > math.cos(ANGLE_TOLERANCE):
                found.append((shape.collision, shape.radius, place[:3, 3]))
    if not found:
        return caster.wheel_pose[:3, 3], None
    _, radius, middle = max(found, key=lambda entry: entry[:2])
    # the axle passes through the wheel's joint; only the place along it is the shape's
    origin = caster.wheel_pose[:3, 3]
    return origin + ((middle - origin) @ spin) * spin, radius


def _height(caster: _Caster, platform: dict[str, Array]) -> float:
    """Return the height of the axle above the ground frame."""
    ground = sorted((name for name in platform if name.endswith('base_footprint')), key=len)
    if not ground:
        raise ModelError(f'link {caster.wheel.child}: its radius is unknown; give the wheel a '
                         'collision cylinder or sphere, or the URDF a base_footprint on the '
                         'ground, or pass wheel_radius')
    return float(caster.wheel_pose[2, 3] - platform[ground[0]][2, 3])


def _masses(tree: Tree, caster: _Caster, tolerance: float) -> dict[str, float]:
    """Return the fields of the class that inertials give."""
    spin = _horizontal(caster)
    link = _placed(tree.inertial(caster.link_body, f'caster link {caster.steering.child}'),
                   caster.steering_pose)
    wheel = _placed(tree.inertial(caster.wheel_body, f'wheel {caster.wheel.child}'),
                    caster.wheel_pose)
    centre, _ = _round(tree, caster, spin)
    hip = caster.steering_pose[:3, 3]
    offset = centre - hip
    back = np.array([offset[0], offset[1], 0.0])
    back -= (back @ spin) * spin
    back /= np.linalg.norm(back)
    # beside the line through pivot and contact the model has no mass
    beside = float((link.centre - hip) @ spin)
    off_axle = wheel.centre - centre
    along = float(off_axle @ spin)
    eccentric = float(np.linalg.norm(off_axle - along * spin))
    for part, length, way in ((caster.steering.child, beside, 'beside the wheel plane'),
                              (caster.wheel.child, along, 'beside the wheel plane'),
                              (caster.wheel.child, eccentric, 'off the axle')):
        if abs(length) > tolerance:
            raise ModelError(f'link {part}: its centre of mass is {abs(length):.6g} m {way}; the '
                             'model has no such offset: correct the inertials, or pass a greater '
                             'tolerance to neglect it')
    about_axle = spin @ wheel.inertia @ spin
    return {
        'link_mass': link.mass, 'link_com': float((link.centre - hip) @ back),
        'link_inertia': link.inertia[2, 2] + link.mass * beside**2,
        'wheel_mass': wheel.mass,
        'wheel_spin_inertia': about_axle + wheel.mass * eccentric**2,
        # about a vertical diameter: the mean of the two, for they change places as it rolls
        'wheel_yaw_inertia': (np.trace(wheel.inertia) - about_axle) / 2 + wheel.mass * along**2}


def _placed(own: Inertial, pose: Array) -> Inertial:
    """Return an inertial in the frame in which `pose` is given."""
    turn = pose[:3, :3]
    return Inertial(own.mass, turn @ own.centre + pose[:3, 3], turn @ own.inertia @ turn.T)


def _driven(tree: Tree, wheels: list[Joint]) -> list[bool]:
    """Return which wheels have a motor, see the rule in the module's text."""
    if any(wheel.name in tree.control.named for wheel in wheels):
        return [wheel.name in tree.control.commanded for wheel in wheels]
    if all(wheel.effort is None for wheel in wheels):
        return [True] * len(wheels)
    return [bool(wheel.effort and wheel.effort > 0) for wheel in wheels]


def _friction(tree: Tree, casters: list[_Caster]) -> Friction:
    def parameter(caster: _Caster, name: str, default: float) -> float:
        text = tree.control.parameters.get(caster.wheel.name, {}).get(name)
        what = f'ros2_control joint {caster.wheel.name} param {name}'
        return float(numbers(text, 1, what, str(default))[0])
    return Friction(
        pivot_viscous=np.array([caster.steering.damping for caster in casters]),
        pivot_coulomb=np.array([caster.steering.friction for caster in casters]),
        rolling_viscous=np.array([caster.wheel.damping for caster in casters]),
        rolling_coulomb=np.array([caster.wheel.friction for caster in casters]),
        scrub_coulomb=np.array([parameter(c, 'scrub_coulomb', 0.0) for c in casters]),
        smoothing=parameter(casters[0], 'friction_smoothing', Friction.smoothing))
