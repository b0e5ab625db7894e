# SPDX-License-Identifier: Apache-2.0
"""Vehicles with masses, motors and springs: the tricycle in three forms, and any other vehicle."""

from __future__ import annotations

import math
from collections.abc import Sequence

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_rough_ground.closed_chain.description import PRISMATIC
from c3p_rough_ground.closed_chain.vehicle import Vehicle
from c3p_rough_ground.dynamics.bodies import tricycle_bodies, uniform_bodies
from c3p_rough_ground.dynamics.heavy_vehicle import HeavyVehicle, Servo, Tyre, balanced
from c3p_rough_ground.vehicles import pvc_tricycle, rigid_tricycle, vla_tricycle

STEERING, DRIVE_1, CAMBER_2, DRIVE_2, CAMBER_3, DRIVE_3 = JOINTS
DRIVES = (DRIVE_1, DRIVE_2, DRIVE_3)
# forms of the rear axle
CAMBER = 'camber'
LOCKED = 'locked'
AXLE = 'axle'

# speed controller of a wheel: its motor alone settles in 1/80 s, its integral in 1/5 s
DRIVE = Servo(gain=20.0, integral=100.0, limit=60.0, viscous=0.05)
# the steering holds its angle against the tread, whose torque is some N·m
STEER = Servo(gain=50.0, integral=400.0, limit=30.0, viscous=0.1)
# a wheel on a camber joint falls over with N R = 50 N·m/rad; the spring is four times as stiff
TILT = Servo(spring=200.0, viscous=5.0)
# half axles hold the platform over them on a slope of 30° with 3 cm
SLIDE = Servo(spring=5000.0, viscous=200.0)


def heavy_tricycle(model: PvcTricycle, form: str = CAMBER, differential: bool = False,
                   tyre: Tyre | None = None) -> HeavyVehicle:
    """
    Return the tricycle of a `model` with masses.

    Parameters
    ----------
    model : PvcTricycle
    form : {'camber', 'locked', 'axle'}
        Passive variable camber with preloaded springs; camber locked upright; variable length
        axle, whose sliding parts are the arms. All have the same mass.
    differential : bool
        The three motors share their torque; else each keeps its own rate.
    tyre : Tyre, optional

    Raises
    ------
    ValueError
        An unknown form.

    Examples
    --------
    >>> from c3p_description import load
    >>> [heavy_tricycle(load('pvc'), form).mass for form in ('camber', 'locked', 'axle')]
    [61.0, 61.0, 61.0]
    """
    servos = {STEERING: STEER, **dict.fromkeys(DRIVES, DRIVE)}
    if form == CAMBER:
        vehicle = pvc_tricycle(model)
        bodies = tricycle_bodies(model)
        servos |= dict.fromkeys((CAMBER_2, CAMBER_3), TILT)
    elif form == LOCKED:
        vehicle = rigid_tricycle(model)
        bodies = tricycle_bodies(model, {CAMBER_2: None, CAMBER_3: None})
    elif form == AXLE:
        vehicle = vla_tricycle(model)
        bodies = tricycle_bodies(model, {CAMBER_2: 'axle_joint_2', CAMBER_3: 'axle_joint_3'})
        servos |= {'axle_joint_2': SLIDE, 'axle_joint_3': SLIDE}
    else:
        raise ValueError(f'form = {form!r}: must be {CAMBER!r}, {LOCKED!r} or {AXLE!r}')
    return balanced(HeavyVehicle(vehicle, bodies, servos, tyre or Tyre(),
                                 (DRIVES,) if differential else ()))


def heavy(vehicle: Vehicle, passive: Sequence[str] = (), tyre: Tyre | None = None) -> HeavyVehicle:
    """
    Return any `vehicle` with uniform bodies, motors, and springs in its camber joints.

    Camber and sliding joints are on springs; settling and `passive` joints are free with a little
    friction; spins and all others have a motor.

    Examples
    --------
    >>> from c3p_rough_ground.vehicles import four_wheel_rover
    >>> heavy(four_wheel_rover()).mass
    70.0
    """
    bodies = uniform_bodies(vehicle)
    spins = {vehicle.joints[k].name for k in vehicle.spins}
    servos = {}
    for joint in vehicle.joints:
        if joint.name in (*vehicle.settling, *passive):
            servos[joint.name] = Servo(viscous=0.1)
        elif joint.name in spins:
            servos[joint.name] = DRIVE
        elif joint.name in vehicle.camber:
            servos[joint.name] = TILT
        elif joint.kind == PRISMATIC:
            servos[joint.name] = SLIDE
        else:
            servos[joint.name] = Servo(STEER.gain, STEER.integral, math.inf, viscous=0.1)
    return balanced(HeavyVehicle(vehicle, bodies, servos, tyre or Tyre()))
