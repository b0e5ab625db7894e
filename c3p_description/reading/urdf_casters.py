# SPDX-License-Identifier: Apache-2.0
"""One caster of a URDF: its two axes, lengths, signs and masses (rules: reading.urdf)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.robot_options import LENGTH_TOLERANCE, remedy
from c3p_description.reading.urdf_tree import Joint, Tree

# how far from vertical or horizontal an axis may be, rad: files write 1.57 for π/2
ANGLE_TOLERANCE = 2e-3
# of lengths after a few rotations, m
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Caster:
    """One caster; poses (4, 4) are in `base_link`, the link poses in the body's first link."""

    steering: Joint
    wheel: Joint
    steering_pose: Array
    wheel_pose: Array
    link_body: dict[str, Array]
    wheel_body: dict[str, Array]


def caster_of(tree: Tree, pair: tuple[Joint, Joint], platform: dict[str, Array],
            moving: set[str]) -> Caster:
    """Return the poses and bodies of a (steering, wheel) pair; `moving` are all pairs' joints."""
    steering, wheel = pair
    steering_pose = platform[steering.parent] @ steering.origin
    link_body = tree.body(steering.child, moving)
    wheel_pose = steering_pose @ link_body[wheel.parent] @ wheel.origin
    return Caster(steering, wheel, steering_pose, wheel_pose, link_body,
                   tree.body(wheel.child, moving))


def _horizontal(caster: Caster) -> Array:
    """Return the wheel's axis (3,) in base_link after checking both axes."""
    up = caster.steering_pose[:3, :3] @ caster.steering.axis
    axle = caster.wheel_pose[:3, :3] @ caster.wheel.axis
    for joint, angle, wanted, axis in (
            (caster.steering, math.asin(min(1.0, math.hypot(up[0], up[1]))), 'vertical', up),
            (caster.wheel, abs(math.asin(max(-1.0, min(1.0, axle[2])))), 'horizontal', axle)):
        if angle > ANGLE_TOLERANCE:
            raise ModelError(f'joint {joint.name}: axis {axis.round(6).tolist()} in base_link is '
                             f'{math.degrees(angle):.3g}° from {wanted}; the planar model needs '
                             'vertical steering axes and horizontal axles: correct rpy and axis; '
                             'if the joint is not part of a caster, '
                             + remedy('ignore', joint.name))
    return np.array([axle[0], axle[1], 0.0]) / math.hypot(axle[0], axle[1])


def _above(length: float) -> str:
    """Return a tolerance that neglects `length`, rounded up to two digits."""
    size = abs(length) - ROUNDING
    digits = 1 - math.floor(math.log10(size))
    return f'{math.ceil(size * 10**digits) / 10**digits:g}'


def geometry(tree: Tree, caster: Caster, platform: dict[str, Array], tolerance: float,
              radius_needed: bool) -> dict[str, object]:
    """Return the fields of the class that lengths and axes give."""
    spin = _horizontal(caster)
    centre, radius = _round(tree, caster, spin)
    if radius is None and radius_needed:
        radius = _height(caster, platform)
    hip = caster.steering_pose[:3, 3]
    offset = centre - hip
    lateral = float(offset @ spin)
    if abs(lateral) > tolerance + ROUNDING:
        raise ModelError(f'joint {caster.wheel.name}: the wheel stands {abs(lateral):.6g} m '
                         f'beside its pivot {caster.steering.name}, along the axle; the '
                         'model has no lateral offset: move the wheel into the plane of the '
                         'pivot, or, to neglect it, '
                         + remedy('tolerance', _above(lateral)))
    trail = (offset - lateral * spin)[:2]
    d = math.hypot(*trail)
    if d <= LENGTH_TOLERANCE:
        raise ModelError(f'joint {caster.wheel.name}: caster offset {d:.6g} m; the wheel is '
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


def _round(tree: Tree, caster: Caster, spin: Array) -> tuple[Array, float | None]:
    """Return the middle of the wheel in base_link and its radius, None without a round shape."""
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


def _height(caster: Caster, platform: dict[str, Array]) -> float:
    """Return the height of the axle above the ground frame."""
    ground = sorted((name for name in platform if name.endswith('base_footprint')), key=len)
    if not ground:
        raise ModelError(f'link {caster.wheel.child}: its radius is unknown; give the wheel a '
                         'collision cylinder or sphere, or the URDF a base_footprint on the '
                         f'ground, or {remedy("wheel_radius", "0.05")}')
    return float(caster.wheel_pose[2, 3] - platform[ground[0]][2, 3])


def masses(tree: Tree, caster: Caster, tolerance: float) -> dict[str, float]:
    """Return the fields of the class that inertials give."""
    spin = _horizontal(caster)
    link = tree.inertial(caster.link_body, f'caster link {caster.steering.child}').placed(
        caster.steering_pose)
    wheel = tree.inertial(caster.wheel_body, f'wheel {caster.wheel.child}').placed(
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
        if abs(length) > tolerance + ROUNDING:
            raise ModelError(f'link {part}: its centre of mass is {abs(length):.6g} m {way}; the '
                             'model has no such offset: correct the inertials, or, to neglect it, '
                             + remedy('tolerance', _above(length)))
    about_axle = spin @ wheel.inertia @ spin
    return {
        'link_mass': link.mass, 'link_com': float((link.centre - hip) @ back),
        'link_inertia': link.inertia[2, 2] + link.mass * beside**2,
        'wheel_mass': wheel.mass,
        'wheel_spin_inertia': about_axle + wheel.mass * eccentric**2,
        # about a vertical diameter: the mean of the two, for they change places as it rolls
        'wheel_yaw_inertia': (np.trace(wheel.inertia) - about_axle) / 2 + wheel.mass * along**2}
