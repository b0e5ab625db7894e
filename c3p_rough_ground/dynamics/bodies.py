# SPDX-License-Identifier: Apache-2.0
"""Masses of vehicles: those of the tricycle's description, and of any other by rules."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_multibody.trees import Body
from c3p_rough_ground.closed_chain.vehicle import Vehicle

# name of the platform among the bodies
PLATFORM = 'platform'
# radius of a thin rod, m: a body needs some inertia about its axis
ROD = 0.03


def solid_torus(name: str, mass: float, radius: float, tube: float) -> Body:
    """
    Return a wheel called `name`: a solid torus with its axle along y.

    ``I_y = m (R² + 3ρ²/4)``, ``I_x = I_z = m (R²/2 + 5ρ²/8)``; `mass` in kg, `radius` R of the
    centre circle and `tube` ρ in m.

    Examples
    --------
    >>> solid_torus('wheel', 4.0, 0.25, 0.05).inertia.diagonal().round(5)
    array([0.13125, 0.2575 , 0.13125])
    """
    across = mass * (radius**2 / 2 + 5 / 8 * tube**2)
    return Body(name, mass, np.zeros(3),
                np.diag([across, mass * (radius**2 + 3 / 4 * tube**2), across]))


def rod(name: str, mass: float, end: np.ndarray) -> Body:
    """Return a rod of `mass` kg between the origin and its `end` (3,), m; no thinner than 3 cm."""
    length = float(np.linalg.norm(end))
    along = end / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
    across = mass * (3 * ROD**2 + length**2) / 12
    axis = np.outer(along, along)
    return Body(name, mass, end / 2, across * (np.eye(3) - axis) + mass * ROD**2 / 2 * axis)


def tricycle_bodies(model: PvcTricycle, joints: Mapping[str, str | None] | None = None
                    ) -> list[Body]:
    """
    Return platform and bodies of a tricycle, named after the joints that move them.

    The fork is a rod from the wheel centre to the tread above it, an arm one from its joint to the
    wheel centre, as in the URDF within the thickness of the fork.

    Parameters
    ----------
    model : PvcTricycle
    joints : mapping, optional
        Other names of joints, or None for one that is rigid: its body belongs to the platform.

    Examples
    --------
    >>> from c3p_description import load
    >>> sum(body.mass for body in tricycle_bodies(load('pvc')))
    61.0
    """
    names: dict[str, str | None] = {**dict(zip(JOINTS, JOINTS, strict=True)), **(joints or {})}
    steering, drive_1, camber_2, drive_2, camber_3, drive_3 = JOINTS
    out = [Body(PLATFORM, model.platform_mass, model.platform_com,
                np.diag(model.platform_inertia)),
           rod(steering, model.fork_mass, np.array([0.0, 0.0, model.outer_radius]))]
    for name, side in ((camber_2, 1.0), (camber_3, -1.0)):
        arm = rod(name, model.camber_arm_mass, np.array([0.0, side * model.camber_offset, 0.0]))
        if names[name] is None:
            inboard = side * (model.half_track - model.camber_offset)
            arm = Body(name, arm.mass, arm.com + [0.0, inboard, 0.0], arm.inertia)
        out.append(arm)
    out += [solid_torus(name, model.wheel_mass, model.wheel_radius, model.tube_radius)
            for name in (drive_1, drive_2, drive_3)]
    # several bodies of one name move as one
    return [Body(names.get(body.name, body.name) or PLATFORM, body.mass, body.com, body.inertia)
            for body in out]


def uniform_bodies(vehicle: Vehicle, platform_mass: float = 40.0, arm_mass: float = 2.0,
                   wheel_mass: float = 4.0) -> list[Body]:
    """
    Return bodies for any `vehicle`: a box between its joints, rods to the next joints, solid tori.

    The box of `platform_mass` spans the origins of the joints on the platform, 0.2 m high; each
    joint other than a spin carries a rod of `arm_mass` to the joint after it, each spin a torus of
    `wheel_mass`; masses in kg.

    Examples
    --------
    >>> from c3p_rough_ground.vehicles import four_wheel_rover
    >>> [body.name for body in uniform_bodies(four_wheel_rover())][:2]
    ['platform', 'front_axle']
    """
    after: dict[str, np.ndarray] = {}
    first = []
    for wheel in vehicle.wheels:
        origins = [vehicle.joints[vehicle.index(name)].origin for name in wheel.joints]
        first.append(origins[0])
        for name, origin in zip(wheel.joints[:-1], origins[1:], strict=True):
            after.setdefault(name, origin)
    low = np.min(first, axis=0)
    high = np.max(first, axis=0)
    sides = np.maximum(high - low, 0.2)
    moments = platform_mass / 12 * (np.sum(sides**2) - sides**2)
    out = [Body(PLATFORM, platform_mass, (low + high) / 2, np.diag(moments))]
    spins = {wheel.joints[-1]: wheel.surface for wheel in vehicle.wheels}
    for joint in vehicle.joints:
        if joint.name in spins:
            radius = spins[joint.name].outer_radius
            out.append(solid_torus(joint.name, wheel_mass, 0.8 * radius, 0.2 * radius))
        else:
            out.append(rod(joint.name, arm_mass, np.asarray(after[joint.name])))
    return out
