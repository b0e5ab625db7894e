# SPDX-License-Identifier: Apache-2.0
"""
Vehicles for uneven ground as descriptions: the tricycle of Auchter and Moore, a rover, an AGV.

`place`, `velocity` and `simulate` apply to all of them: the adaptability of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.vehicle_model import RoughVehicle
from c3p_rough_ground.closed_chain.description import PRISMATIC, ChainJoint, Wheel, axis_rotation
from c3p_rough_ground.closed_chain.vehicle import Vehicle
from c3p_rough_ground.rolling_contact import CappedCylinder, Ellipsoid, Torus, WheelSurface, sphere

X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
SURFACES: dict[str, Callable[..., WheelSurface]] = {
    'torus': Torus, 'sphere': sphere, 'ellipsoid': Ellipsoid, 'cylinder': CappedCylinder}
# camber beyond which a wheel is flat on the ground, rad
MOST_CAMBER = math.radians(60.0)


def closed_chain(model: PvcTricycle | RoughVehicle) -> Vehicle:
    """
    Return the vehicle that a `model` describes.

    Raises
    ------
    DescriptionError
        The joints do not form a tree that ends in wheels, or the wheels are too few or too many.

    Examples
    --------
    >>> from c3p_description.reading.vehicle_files import load_vehicle
    >>> closed_chain(load_vehicle('rover')).size
    (11, 4)
    """
    if isinstance(model, PvcTricycle):
        return pvc_tricycle(model)
    joints = []
    for name, joint in model.joints.items():
        roll, pitch, yaw = (axis_rotation(axis, angle)
                            for axis, angle in zip((X, Y, Z), joint.rpy, strict=True))
        joints.append(ChainJoint(name, joint.axis, joint.origin, yaw @ pitch @ roll, joint.kind,
                                 joint.lower, joint.upper))
    wheels = [Wheel(name, wheel.joints, SURFACES[wheel.surface](*wheel.numbers))
              for name, wheel in model.wheels.items()]
    return Vehicle(model.name, joints, wheels, model.settling, model.camber)


def pvc_tricycle(model: PvcTricycle) -> Vehicle:
    """
    Return the tricycle with passive variable camber of a `model`.

    ``T_PW1 = Trans(L, 0, 0) Rz(φ₁) Ry(α₁)`` and
    ``T_PW2,3 = Trans(0, ±(b − e), 0) Rx(γ) Trans(0, ±e, 0) Ry(α)``; θ = (φ₁, α₁, γ₂, α₂, γ₃, α₃)
    as in the paper, wheel 2 left, wheel 3 right.

    Examples
    --------
    >>> tricycle = pvc_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> [joint.name for joint in tricycle.joints][:3]
    ['steering_joint_1', 'wheel_joint_1', 'camber_joint_2']
    """
    steering, drive_1, camber_2, drive_2, camber_3, drive_3 = JOINTS
    inboard = model.half_track - model.camber_offset
    arm = model.camber_offset
    camber = model.camber_limit
    joints = (
        ChainJoint(steering, Z, (model.wheelbase, 0.0, 0.0), lower=-model.steering_limit,
                   upper=model.steering_limit),
        ChainJoint(drive_1, Y),
        ChainJoint(camber_2, X, (0.0, inboard, 0.0), lower=-camber, upper=camber),
        ChainJoint(drive_2, Y, (0.0, arm, 0.0)),
        ChainJoint(camber_3, X, (0.0, -inboard, 0.0), lower=-camber, upper=camber),
        ChainJoint(drive_3, Y, (0.0, -arm, 0.0)),
    )
    tyre = Torus(model.wheel_radius, model.tube_radius)
    wheels = (Wheel('1', (steering, drive_1), tyre), Wheel('2', (camber_2, drive_2), tyre),
              Wheel('3', (camber_3, drive_3), tyre))
    return Vehicle(model.name, joints, wheels, camber=(camber_2, camber_3))


def vla_tricycle(model: PvcTricycle) -> Vehicle:
    """
    Return the tricycle with a variable length axle, the paper's alternative to camber.

    The rear wheels slide along the axle, ``T_PW2,3 = Trans(0, ±b + s, 0) Ry(α)``, within the
    camber offset e; θ = (φ₁, α₁, s₂, α₂, s₃, α₃). The `model` gives all else.

    Examples
    --------
    >>> tricycle = vla_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> [joint.name for joint in tricycle.joints if joint.kind == 'prismatic']
    ['axle_joint_2', 'axle_joint_3']
    """
    reach = model.camber_offset
    return _tricycle(model, 'vla_tricycle', [
        (ChainJoint(f'axle_joint_{k}', Y, (0.0, side * model.half_track, 0.0), kind=PRISMATIC,
                    lower=-reach, upper=reach), ChainJoint(JOINTS[2 * k - 1], Y))
        for k, side in ((2, 1.0), (3, -1.0))])


def rigid_tricycle(model: PvcTricycle) -> Vehicle:
    """
    Return the tricycle of a `model` with its camber locked upright: θ = (φ₁, α₁, α₂, α₃).

    Examples
    --------
    >>> rigid_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05)).size
    (4, 3)
    """
    return _tricycle(model, 'rigid_tricycle', [
        (ChainJoint(JOINTS[2 * k - 1], Y, (0.0, side * model.half_track, 0.0)),)
        for k, side in ((2, 1.0), (3, -1.0))])


def _tricycle(model: PvcTricycle, name: str, rear: list[tuple[ChainJoint, ...]]) -> Vehicle:
    """Return a tricycle with the front wheel of a model and the chains of the rear wheels."""
    steering, drive_1 = JOINTS[:2]
    front = (ChainJoint(steering, Z, (model.wheelbase, 0.0, 0.0), lower=-model.steering_limit,
                        upper=model.steering_limit), ChainJoint(drive_1, Y))
    tyre = Torus(model.wheel_radius, model.tube_radius)
    chains = (front, *rear)
    return Vehicle(name, [joint for chain in chains for joint in chain], [
        Wheel(str(k), [joint.name for joint in chain], tyre) for k, chain in enumerate(chains, 1)])


def four_wheel_rover(wheelbase: float = 1.2, half_track: float = 0.5, camber_offset: float = 0.1,
                     wheel_radius: float = 0.2, tube_radius: float = 0.06) -> Vehicle:
    """
    Return a rover with four driven wheels, a rocking front axle and passive camber.

    The front axle settles on the ground about x of the platform; its wheels have steering about z
    and camber about x, ``Trans(L, 0, 0) Rx(σ) Trans(0, ±(b − e), 0) Rz(φ) Rx(γ) Trans(0, ±e, 0)
    Ry(α)``. The rear wheels have camber as those of the tricycle. Order of the wheels: front left,
    front right, rear left, rear right.

    Lengths in m: `wheelbase` L, `half_track` b, `camber_offset` e of the camber axes inboard of
    the wheel centres, `wheel_radius` and `tube_radius` of the tyres.

    Examples
    --------
    >>> rover = four_wheel_rover()
    >>> rover.size, rover.settling
    ((11, 4), ('front_axle',))
    """
    joints = [ChainJoint('front_axle', X, (wheelbase, 0.0, 0.0))]
    wheels = []
    tyre = Torus(wheel_radius, tube_radius)
    for name, side, front in (('front_left', 1.0, True), ('front_right', -1.0, True),
                              ('rear_left', 1.0, False), ('rear_right', -1.0, False)):
        pivot = (0.0, side * (half_track - camber_offset), 0.0)
        chain = ['front_axle'] if front else []
        if front:
            joints.append(ChainJoint(f'{name}_steering', Z, pivot))
            chain.append(f'{name}_steering')
        joints += [ChainJoint(f'{name}_camber', X, (0.0, 0.0, 0.0) if front else pivot,
                              lower=-MOST_CAMBER, upper=MOST_CAMBER),
                   ChainJoint(f'{name}_drive', Y, (0.0, side * camber_offset, 0.0))]
        chain += [f'{name}_camber', f'{name}_drive']
        wheels.append(Wheel(name, chain, tyre))
    return Vehicle('four_wheel_rover', joints, wheels, settling=('front_axle',),
                   camber=tuple(j.name for j in joints if j.name.endswith('_camber')))


def caster_vehicle(half_track: float = 0.4, caster_distance: float = 0.8,
                   caster_offset: float = 0.1, camber_offset: float = 0.08,
                   wheel_radius: float = 0.2, caster_radius: float = 0.1,
                   tube_radius: float = 0.04) -> Vehicle:
    """
    Return an AGV for uneven ground: two driven wheels with camber, and a caster in front.

    The caster turns about z of the platform and trails when the vehicle moves along +x,
    ``Trans(c, 0, −h) Rz(ψ) Trans(−d, 0, 0) Ry(α)``, h the difference of the wheels' radii.

    Lengths in m: `half_track` and `camber_offset` of the driven wheels, `caster_distance` c from
    their axle to the pivot, `caster_offset` d from the pivot to the caster's wheel centre,
    `wheel_radius`, `caster_radius` and `tube_radius` of the tyres.

    Examples
    --------
    >>> [wheel.name for wheel in caster_vehicle().wheels]
    ['left', 'right', 'caster']
    """
    joints = []
    wheels = []
    for name, side in (('left', 1.0), ('right', -1.0)):
        joints += [ChainJoint(f'{name}_camber', X, (0.0, side * (half_track - camber_offset), 0.0),
                              lower=-MOST_CAMBER, upper=MOST_CAMBER),
                   ChainJoint(f'{name}_drive', Y, (0.0, side * camber_offset, 0.0))]
        wheels.append(Wheel(name, (f'{name}_camber', f'{name}_drive'),
                            Torus(wheel_radius, tube_radius)))
    joints += [ChainJoint('caster_pivot', Z, (caster_distance, 0.0, caster_radius - wheel_radius)),
               ChainJoint('caster_wheel', Y, (-caster_offset, 0.0, 0.0))]
    wheels.append(Wheel('caster', ('caster_pivot', 'caster_wheel'),
                        Torus(caster_radius, tube_radius)))
    return Vehicle('caster_vehicle', joints, wheels, camber=('left_camber', 'right_camber'))
