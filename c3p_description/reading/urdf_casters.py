# SPDX-License-Identifier: Apache-2.0
"""One wheel of a URDF: its axes, lengths, signs and masses (rules: reading.urdf)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array, ModelError
from c3p_description.reading.notes import Notes
from c3p_description.reading.robot_options import LENGTH_TOLERANCE, UrdfOptions, remedy
from c3p_description.reading.urdf_pairs import Pair
from c3p_description.reading.urdf_tree import Inertial, UrdfTree
from c3p_description.reading.urdf_xml import ROUNDED

# how far from vertical or horizontal an axis may be, rad: axes come from the same rounded angles
ANGLE_TOLERANCE = ROUNDED
# that is reported to the user, rad: of six digits nothing is left at the end of a metre
ANGLE_NOTED = 1e-4
# of lengths after a few rotations, m
ROUNDING = 1e-9
# of a direction of unit length: smaller parts are rounding
ROLLS_ALONG = 1e-3
# twin wheels are equal to this fraction of their radius
TWIN_RADIUS = 0.01


class Neglected(NamedTuple):
    """A length [m] that the model leaves out, what may come from tilted axes, and a text."""

    length: float
    allowed: float
    text: str


@dataclass(frozen=True, eq=False)
class Caster:
    """
    One caster; poses (4, 4) are in `base_link`, those of bodies in the body's first link.

    The pivot of a fixed wheel is in its middle; it has no link.
    """

    pair: Pair
    steering_pose: Array
    wheel_poses: tuple[Array, ...]
    link_body: dict[str, Array]
    wheel_bodies: tuple[dict[str, Array], ...]
    # direction of the wheel's axis, and the angle by which the axes are off, rad
    spin: Array
    tilt: float

    @property
    def names(self) -> tuple[str, str]:
        """Names of the (first) wheel joint and of the steering joint."""
        return self.pair.wheels[0].name, self.pair.pivot

    @property
    def hip(self) -> Array:
        """Origin of the steering joint."""
        return self.steering_pose[:3, 3]


def caster_of(tree: UrdfTree, pair: Pair, platform: dict[str, Array], moving: set[str],
              notes: Notes) -> Caster:
    """
    Return the poses and bodies of a caster; `moving` are the joints of all casters.

    Raises
    ------
    ModelError
        A steering axis that is not vertical, or an axle that is not horizontal.
    """
    steering = pair.steering
    if steering is None:
        wheel = pair.wheels[0]
        steering_pose = platform[wheel.parent] @ wheel.origin
        link_body = {}
        wheel_poses: tuple[Array, ...] = (steering_pose,)
        up = np.array([0.0, 0.0, 1.0])
    else:
        steering_pose = platform[steering.parent] @ steering.origin
        link_body = tree.body(steering.child, moving)
        wheel_poses = tuple(steering_pose @ link_body[wheel.parent] @ wheel.origin
                            for wheel in pair.wheels)
        up = steering_pose[:3, :3] @ steering.axis
    axle = wheel_poses[0][:3, :3] @ pair.wheels[0].axis
    tilts = (math.asin(min(1.0, math.hypot(up[0], up[1]))),
             abs(math.asin(max(-1.0, min(1.0, axle[2])))))
    for joint, angle, wanted, axis in ((steering, tilts[0], 'vertical', up),
                                       (pair.wheels[0], tilts[1], 'horizontal', axle)):
        if joint is None:
            continue
        degrees = f'{math.degrees(angle):.3g}°'
        if angle > ANGLE_TOLERANCE:
            raise ModelError(f'joint {joint.name}: axis {axis.round(6).tolist()} in base_link is '
                             f'{degrees} from {wanted}; the planar model needs '
                             'vertical steering axes and horizontal axles: correct rpy and axis; '
                             'if the joint is not part of a caster, '
                             + remedy('ignore', joint.name))
        if angle > ANGLE_NOTED:
            notes.warn(f'joint {joint.name}', angle, f'joint {joint.name}: its axis is {degrees} '
                       f'from {wanted}: taken as {wanted}')
    spin = np.array([axle[0], axle[1], 0.0]) / math.hypot(axle[0], axle[1])
    return Caster(pair, steering_pose, wheel_poses, link_body,
                  tuple(tree.body(wheel.child, moving) for wheel in pair.wheels), spin, sum(tilts))


def geometry(tree: UrdfTree, caster: Caster, platform: dict[str, Array], options: UrdfOptions,
             notes: Notes) -> dict[str, Any]:
    """
    Return the fields of the class that lengths and axes of a `caster` in `tree` give.

    The radius may come from the height above `platform`, unless `options` give it; they also have
    the lateral offset that is neglected. Interpretations are added to `notes`.
    """
    name, _ = caster.names
    centre, radius = _middle(tree, caster)
    steers = caster.pair.steering is not None
    hip = caster.hip if steers else centre
    offset = centre - hip
    lateral = float(offset @ caster.spin)
    trail = (offset - lateral * caster.spin)[:2]
    d = math.hypot(*trail)
    allowed = caster.tilt * float(np.linalg.norm(offset))
    if d <= max(LENGTH_TOLERANCE, allowed):
        d = 0.0
    if radius is None and options.wheel_radius is None:
        radius = _height(caster, platform)
        notes.assume('casters.wheel_radius', radius, f'joint {name}: the wheel has no round '
                     f'shape; its radius {radius:.4g} m is the height of the axle above '
                     'base_footprint')
    if not _is_twin(caster) and abs(lateral) <= max(options.tolerance, allowed) + ROUNDING:
        _note_lateral(caster, lateral, allowed, notes)
        lateral = 0.0
    # without an offset the wheel rolls ahead with a positive rate
    e = -trail / d if d > 0.0 else np.array([caster.spin[1], -caster.spin[0]])
    # a fixed one rolls along x, or y, of the platform
    if not steers and e[np.argmax(np.abs(e) > ROLLS_ALONG)] < 0.0:
        e = -e
    axle = np.array([e[1], -e[0]])
    b = lateral * float(caster.spin[:2] @ axle)
    zero = math.atan2(-e[0] + 0.0, e[1])
    lower, upper = _stops(caster, zero)
    return {'hip_position': hip[:2], 'caster_offset': d, 'wheel_radius': radius,
            # + 0.0 turns -0.0 into 0.0
            'steering_zero': zero, 'steering_sign': _steering_sign(caster),
            'steering_lower': lower, 'steering_upper': upper,
            'wheel_sign': math.copysign(1.0, -caster.spin[:2] @ axle),
            'lateral_offset': b + 0.0, 'fixed': not steers}


def _stops(caster: Caster, zero: float) -> tuple[float, float]:
    """Return the stops of the steering angle, rad, whose joint is at zero there; ∓inf without."""
    steering = caster.pair.steering
    if steering is None or steering.kind != 'revolute' or steering.turns_freely():
        return -math.inf, math.inf
    # a joint that turns against the model exchanges them
    ends = sorted(_steering_sign(caster) * (stop or 0.0) for stop in steering.stops)
    return zero + ends[0], zero + ends[1]


def _is_twin(caster: Caster) -> bool:
    """Return whether the wheel is one of two on a pivot."""
    return len(caster.pair.wheels) == 1 and caster.pair.shared


def _steering_sign(caster: Caster) -> float:
    """Return the sign of the vertical part of the steering axis, 1 for a fixed wheel."""
    steering = caster.pair.steering
    if steering is None:
        return 1.0
    return math.copysign(1.0, (caster.steering_pose[:3, :3] @ steering.axis)[2])


def _note_lateral(caster: Caster, lateral: float, allowed: float, notes: Notes) -> None:
    """Warn of a lateral offset that is taken as zero."""
    name, pivot = caster.names
    if abs(lateral) > LENGTH_TOLERANCE + ROUNDING:
        notes.warn('tolerance', abs(lateral), f'joint {name}: the wheel stands '
                   f'{abs(lateral):.6g} m beside its pivot {pivot}, along the axle: taken as 0'
                   + (', because it comes from the tilted axes' if abs(lateral) <= allowed
                      else ''))


def rounded_up(length: float) -> str:
    """Return a length rounded up to two digits."""
    size = length - ROUNDING
    digits = 1 - math.floor(math.log10(size))
    return f'{math.ceil(size * 10**digits) / 10**digits:g}'


def check_neglected(neglected: list[Neglected], tolerance: float, notes: Notes) -> None:
    """
    Refuse lengths above `tolerance`, all at once; note those that are neglected.

    Raises
    ------
    ModelError
        With the greatest length, and the tolerance that is enough for all.
    """
    above = [one for one in neglected if one.length > max(tolerance, one.allowed) + ROUNDING]
    if above:
        worst = max(above, key=lambda one: one.length)
        others = f' (and {len(above) - 1} more such lengths)' if len(above) > 1 else ''
        raise ModelError(f'{worst.text}{others}: correct the URDF, or, to neglect it, '
                         + remedy('tolerance', rounded_up(worst.length)))
    for one in neglected:
        if one.length > LENGTH_TOLERANCE + ROUNDING:
            notes.warn('tolerance', one.length, f'{one.text}: taken as 0'
                       + (', because it comes from the tilted axes'
                          if one.length <= one.allowed else ''))


def _middle(tree: UrdfTree, caster: Caster) -> tuple[Array, float | None]:
    """Return the middle of the wheel, or of twin wheels, and the radius, None if unknown."""
    found = [_round(tree, pose, body, caster.spin)
             for pose, body in zip(caster.wheel_poses, caster.wheel_bodies, strict=True)]
    centres, radii = zip(*found, strict=True)
    known = [radius for radius in radii if radius is not None]
    if known and max(known) > (1 + TWIN_RADIUS) * min(known):
        names = ' and '.join(wheel.name for wheel in caster.pair.wheels)
        raise ModelError(f'joints {names}: twin wheels with the radii '
                         f'{" and ".join(f"{r:g}" for r in known)} m cannot roll as one; correct '
                         'the shapes, or ' + remedy('wheel_radius', f'{known[0]:g}'))
    return sum(centres) / len(centres), known[0] if known else None


def _round(tree: UrdfTree, pose: Array, body: dict[str, Array], spin: Array
           ) -> tuple[Array, float | None]:
    """Return the middle of one wheel in base_link and its radius, None without a round shape."""
    found = []
    for name, local in body.items():
        for shape in tree.links[name].shapes:
            place = pose @ local @ shape.pose
            # a cylinder across the axle is a spoke or a bolt
            if shape.kind == 'sphere' or abs(place[:3, 2] @ spin) > math.cos(ANGLE_TOLERANCE):
                found.append((shape.collision, shape.radius, place[:3, 3]))
    if not found:
        return pose[:3, 3], None
    _, radius, middle = max(found, key=lambda entry: entry[:2])
    # the axle passes through the wheel's joint; only the place along it is the shape's
    origin = pose[:3, 3]
    return origin + ((middle - origin) @ spin) * spin, radius


def _height(caster: Caster, platform: dict[str, Array]) -> float:
    """Return the height of the axle above the ground frame."""
    ground = sorted((name for name in platform if name.endswith('base_footprint')), key=len)
    if not ground:
        raise ModelError(f'link {caster.pair.wheels[0].child}: its radius is unknown; give the '
                         'wheel a collision cylinder or sphere, or the URDF a base_footprint on '
                         f'the ground, or {remedy("wheel_radius", "0.05")}')
    return float(caster.wheel_poses[0][2, 3] - platform[ground[0]][2, 3])


def masses(tree: UrdfTree, caster: Caster, radius: float, needed: bool,
           neglected: list[Neglected]) -> dict[str, float]:
    """
    Return the fields of the class that the inertials of a `caster` in `tree` give.

    Its wheels have the `radius`; offsets that the model leaves out are added to `neglected`.
    Masses are zero where the file has none, unless they are `needed`.
    """
    spin = caster.spin
    centre, _ = _middle(tree, caster)
    hip = centre if caster.pair.steering is None else caster.hip
    link = _link(tree, caster, hip, needed)
    back = centre - hip
    back[2] = 0.0
    back -= (back @ spin) * spin
    trail = float(np.linalg.norm(back))
    # behind a wheel below its pivot is where it comes from, with a positive rate
    back = back / trail if trail > ROUNDING else np.array([-spin[1], spin[0], 0.0])
    # beside the line through pivot and contact the model has no mass
    beside = float((link.centre - hip) @ spin)
    if caster.pair.steering is not None:
        neglected.append(_offset(caster, caster.pair.steering.child, beside,
                                 'beside the wheel plane', link.centre))
    mass: float = 0.0
    spinning: Any = 0.0
    yaw: Any = 0.0
    for joint, pose, body in zip(caster.pair.wheels, caster.wheel_poses, caster.wheel_bodies,
                                 strict=True):
        wheel = tree.inertial(body, f'wheel {joint.child}', needed).placed(pose)
        own, _ = _round(tree, pose, body, spin)
        off_axle = wheel.centre - own
        along = float(off_axle @ spin)
        eccentric = float(np.linalg.norm(off_axle - along * spin))
        neglected.append(_offset(caster, joint.child, along, 'beside the wheel plane',
                                 wheel.centre))
        neglected.append(_offset(caster, joint.child, eccentric, 'off the axle', wheel.centre))
        about_axle = spin @ wheel.inertia @ spin
        mass += wheel.mass
        spinning += about_axle + wheel.mass * eccentric**2
        # about a vertical diameter: the mean of the two, for they change places as it rolls
        yaw += (np.trace(wheel.inertia) - about_axle) / 2
        # of twin wheels each is beside the middle: it is moved, and rolls, with the yaw
        arm = float((own - centre) @ spin)
        yaw += wheel.mass * (arm + along)**2
        if radius > 0:  # which the model refuses
            yaw += about_axle * (arm / radius)**2
    # what was checked to be a rounding of zero
    return {'link_mass': link.mass, 'link_com': float((link.centre - hip) @ back),
            'link_inertia': max(link.inertia[2, 2] + link.mass * beside**2, 0.0),
            'wheel_mass': mass, 'wheel_spin_inertia': max(spinning, 0.0),
            'wheel_yaw_inertia': max(yaw, 0.0)}


def _link(tree: UrdfTree, caster: Caster, hip: Array, needed: bool) -> Inertial:
    """Return what steers with a wheel, in base_link: nothing of fixed and of second wheels."""
    steering = caster.pair.steering
    if steering is None or caster.pair.twin:
        return Inertial(0.0, hip, np.zeros((3, 3)))
    return tree.inertial(caster.link_body, f'caster link {steering.child}', needed).placed(
        caster.steering_pose)


def _offset(caster: Caster, link: str, length: float, where: str, centre: Array) -> Neglected:
    """Return an offset of a centre of mass."""
    return Neglected(abs(length), caster.tilt * float(np.linalg.norm(centre - caster.hip)),
                     f'link {link}: its centre of mass is {abs(length):.6g} m {where}; the model '
                     'has no such offset')
