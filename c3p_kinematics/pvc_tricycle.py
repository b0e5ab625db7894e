# SPDX-License-Identifier: Apache-2.0
"""The tricycle with passive variable camber as a closed-chain vehicle."""

from __future__ import annotations

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_kinematics.closed_chain_vehicle.description import Joint, Wheel
from c3p_kinematics.closed_chain_vehicle.vehicle import Vehicle
from c3p_kinematics.rolling_contact import Torus

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def vehicle(model: PvcTricycle) -> Vehicle:
    """
    Return the vehicle of a `model`.

    ``T_PW1 = Trans(L, 0, 0) Rz(φ₁) Ry(α₁)`` and
    ``T_PW2,3 = Trans(0, ±(b − e), 0) Rx(γ) Trans(0, ±e, 0) Ry(α)``; θ = (φ₁, α₁, γ₂, α₂, γ₃, α₃)
    as in the paper, wheel 2 left, wheel 3 right.

    Examples
    --------
    >>> tricycle = vehicle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> [joint.name for joint in tricycle.joints][:3]
    ['steering_joint_1', 'wheel_joint_1', 'camber_joint_2']
    """
    steering, drive_1, camber_2, drive_2, camber_3, drive_3 = JOINTS
    inboard, arm = model.half_track - model.camber_offset, model.camber_offset
    lean = {'lower': -model.camber_limit, 'upper': model.camber_limit}
    joints = (
        Joint(steering, Z, (model.wheelbase, 0.0, 0.0), lower=-model.steering_limit,
              upper=model.steering_limit),
        Joint(drive_1, Y),
        Joint(camber_2, X, (0.0, inboard, 0.0), **lean),
        Joint(drive_2, Y, (0.0, arm, 0.0)),
        Joint(camber_3, X, (0.0, -inboard, 0.0), **lean),
        Joint(drive_3, Y, (0.0, -arm, 0.0)),
    )
    tyre = Torus(model.wheel_radius, model.tube_radius)
    wheels = (Wheel('1', (steering, drive_1), tyre), Wheel('2', (camber_2, drive_2), tyre),
              Wheel('3', (camber_3, drive_3), tyre))
    return Vehicle(model.name, joints, wheels, camber=(camber_2, camber_3))
