# SPDX-License-Identifier: Apache-2.0
"""
Other vehicles for uneven ground: descriptions, and no equation.

What the paper calls adaptability: `place`, `velocity` and `simulate` take them as they are.
"""

from __future__ import annotations

import math

from c3p_kinematics.closed_chain_vehicle.description import Joint, Wheel
from c3p_kinematics.closed_chain_vehicle.vehicle import Vehicle
from c3p_kinematics.rolling_contact import Torus

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
# rad; beyond this a leaning wheel lies on its side
MOST_CAMBER = math.radians(60.0)


def four_wheel_rover(wheelbase: float = 1.2, half_track: float = 0.5, camber_offset: float = 0.1,
                     wheel_radius: float = 0.2, tube_radius: float = 0.06) -> Vehicle:
    """
    Return a rover with four driven wheels, a swinging front axle and passive camber.

    The front axle swings about x of the platform, as the ground wants it (`settling`); its wheels
    steer about z and lean about x, ``Trans(L, 0, 0) Rx(σ) Trans(0, ±(b − e), 0) Rz(φ) Rx(γ)
    Trans(0, ±e, 0) Ry(α)``. The rear wheels lean as those of the tricycle. Wheels are numbered
    front left, front right, rear left, rear right.

    Parameters
    ----------
    wheelbase, half_track : float, m
    camber_offset : float, m
        How far the camber axes are inboard of the wheel centres.
    wheel_radius, tube_radius : float, m
        Of the tyres.

    Examples
    --------
    >>> rover = four_wheel_rover()
    >>> rover.size, rover.settling
    ((11, 4), ('front_axle',))
    """
    joints, wheels = [Joint('front_axle', X, (wheelbase, 0.0, 0.0))], []
    tyre = Torus(wheel_radius, tube_radius)
    for name, side, front in (('front_left', 1.0, True), ('front_right', -1.0, True),
                              ('rear_left', 1.0, False), ('rear_right', -1.0, False)):
        pivot = (0.0, side * (half_track - camber_offset), 0.0)
        chain = ['front_axle'] if front else []
        if front:
            joints.append(Joint(f'{name}_steering', Z, pivot))
            chain.append(f'{name}_steering')
        joints += [Joint(f'{name}_camber', X, (0.0, 0.0, 0.0) if front else pivot,
                         lower=-MOST_CAMBER, upper=MOST_CAMBER),
                   Joint(f'{name}_drive', Y, (0.0, side * camber_offset, 0.0))]
        chain += [f'{name}_camber', f'{name}_drive']
        wheels.append(Wheel(name, chain, tyre))
    return Vehicle('four_wheel_rover', joints, wheels, settling=('front_axle',),
                   camber=tuple(j.name for j in joints if j.name.endswith('_camber')))


def caster_vehicle(half_track: float = 0.4, caster_distance: float = 0.8,
                   caster_offset: float = 0.1, camber_offset: float = 0.08,
                   wheel_radius: float = 0.2, caster_radius: float = 0.1,
                   tube_radius: float = 0.04) -> Vehicle:
    """
    Return an AGV for uneven ground: two driven wheels that lean, and a caster in front.

    The caster turns about z of the platform and trails when the vehicle moves along +x,
    ``Trans(c, 0, −h) Rz(ψ) Trans(−d, 0, 0) Ry(α)``, h the difference of the wheels' radii.

    Parameters
    ----------
    half_track, camber_offset : float, m
        Of the driven wheels.
    caster_distance, caster_offset : float, m
        c from the driven axle to the pivot, d from the pivot to the caster's wheel centre.
    wheel_radius, caster_radius, tube_radius : float, m
        Of the tyres.

    Examples
    --------
    >>> [wheel.name for wheel in caster_vehicle().wheels]
    ['left', 'right', 'caster']
    """
    joints, wheels = [], []
    for name, side in (('left', 1.0), ('right', -1.0)):
        joints += [Joint(f'{name}_camber', X, (0.0, side * (half_track - camber_offset), 0.0),
                         lower=-MOST_CAMBER, upper=MOST_CAMBER),
                   Joint(f'{name}_drive', Y, (0.0, side * camber_offset, 0.0))]
        wheels.append(Wheel(name, (f'{name}_camber', f'{name}_drive'),
                            Torus(wheel_radius, tube_radius)))
    joints += [Joint('caster_pivot', Z, (caster_distance, 0.0, caster_radius - wheel_radius)),
               Joint('caster_wheel', Y, (-caster_offset, 0.0, 0.0))]
    wheels.append(Wheel('caster', ('caster_pivot', 'caster_wheel'),
                        Torus(caster_radius, tube_radius)))
    return Vehicle('caster_vehicle', joints, wheels, camber=('left_camber', 'right_camber'))
