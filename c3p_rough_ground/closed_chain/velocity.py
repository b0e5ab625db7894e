# SPDX-License-Identifier: Apache-2.0
"""
Velocities of a vehicle that rolls without slip: the whole system of the paper, in plain numpy.

The twist of wheel i relative to the ground, at the contact point and in contW, is that of the
platform carried there and what its joints add. Rolling leaves three of its six components,
``Ṽ_c = (ωx, ωy, ωz)``, so that with ``V_GC = (V_PG, Ṽ_c1 … Ṽ_cn)`` the 6n equations

    J_GC V_GC = J_R θ̇                                  (6)

hold, with V_PG = −V_GP, both resolved in {P}. The null space Q₂ of J_GCᵀ (by QR) leaves the
constraints ``C θ̇ = Q₂ᵀ J_R θ̇ = 0`` (7); the joint rates nearest to the desired ones are
``θ̇ = W^-½ Q_C2 Q_C2ᵀ W^½ θ̇_d`` (10) with Q_C2 the null space of ``C W^-½``, computed as
``θ̇_d − W^-½ (C W^-½)⁺ C θ̇_d``, which infinite weights do not hurt; V_GC follows from (6) and the
contact rates from Montana's equations (3).

The kernels solve the same in a reduced form and share no code with it. Auchter and Moore,
eqs (3) to (10), with the errata of docs/papers/auchter_moore.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_rough_ground.closed_chain.description import PRISMATIC, Array, axis_rotation
from c3p_rough_ground.closed_chain.vehicle import State, Vehicle
from c3p_rough_ground.rolling_contact import Ground, contact_rates
from c3p_rough_ground.terrain import Terrain

# fraction of the largest singular value below which one counts as zero, as in the kernels
RANK_TOLERANCE = 1e-8


class Velocity(NamedTuple):
    """
    Motion of a vehicle, and its conditioning.

    Attributes
    ----------
    platform_twist : (6,) array, m/s and rad/s
        V_GP: velocity of the origin of {P}, then angular velocity, both in {P}.
    joint_rates : (m,) array
        θ̇, the rates nearest to the desired ones that the contacts allow.
    contact_rates : (n, 5) array
        η̇ = (u̇, v̇, ẋ, ẏ, ψ̇).
    contact_spin : (n, 3) array, rad/s
        Ṽ_c of each wheel, in contW.
    desired : (m,) array
        θ̇_d.
    free : int
        Number of input rates that can be chosen, m − rank C.
    rank, condition : int, float
        Of J_GC: 6 + 3n unless the contacts are on one line.
    singular_values : (6 + 3n,) array
        Of J_GC, decreasing.
    input_singular_values : array
        Of C W^-½, decreasing: those near zero are constraints about to be lost.
    """

    platform_twist: Array
    joint_rates: Array
    contact_rates: Array
    contact_spin: Array
    desired: Array
    free: int
    rank: int
    condition: float
    singular_values: Array
    input_singular_values: Array


def transform(rotation: ArrayLike, position: ArrayLike) -> Array:
    """Return the (4, 4) homogeneous transform of a `rotation` and a `position`."""
    out = np.eye(4)
    out[:3, :3] = rotation
    out[:3, 3] = position
    return out


def joint_frames(vehicle: Vehicle, wheel: int, joint: ArrayLike) -> list[Array]:
    """
    Return the transforms from {P} to the frames of the joints of one wheel, each after its motion.

    ``T_k = T_{k−1} Trans(origin) rotation exp(axis q)``; the last one is T_PW.

    `wheel` counts from 0; `joint` is θ (m,), rad or m.
    """
    theta = np.asarray(joint, float)
    frames = []
    here = np.eye(4)
    for name in vehicle.wheels[wheel].joints:
        part = vehicle.joints[vehicle.index(name)]
        q = theta[vehicle.index(name)]
        here = here @ transform(part.rotation, part.origin)
        here = here @ (transform(np.eye(3), q * part.axis) if part.kind == PRISMATIC
                       else transform(axis_rotation(part.axis, q), np.zeros(3)))
        frames.append(here)
    return frames


def twist_at(frame: Array) -> Array:
    """
    Return the map of a twist (v, ω) in {P}, v of its origin, to a `frame` (4, 4) in {P}.

    ``[[Rᵀ, −Rᵀ [p]×], [0, Rᵀ]]``: velocity of the point at the frame's origin, in its axes.
    """
    turn = frame[:3, :3].T
    p = frame[:3, 3]
    cross = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    return np.block([[turn, -turn @ cross], [np.zeros((3, 3)), turn]])


def contact_jacobians(vehicle: Vehicle, state: State) -> tuple[Array, Array]:
    """
    Return J_GC (6n, 6 + 3n) and J_R (6n, m) of ``J_GC V_GC = J_R θ̇``.

    Six rows a wheel, velocity of the touching point and angular velocity, in contW; the columns
    of J_GC are V_PG in {P} and the Ṽ_c of the wheels.

    Examples
    --------
    >>> from c3p_description.pvc_model import PvcTricycle
    >>> from c3p_rough_ground.vehicles import pvc_tricycle
    >>> from c3p_rough_ground.terrain import Flat
    >>> from c3p_rough_ground.closed_chain.placement import place
    >>> tricycle = pvc_tricycle(PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05))
    >>> [j.shape for j in contact_jacobians(tricycle, place(tricycle, Flat(), 0, 0, 0).state)]
    [(18, 15), (18, 6)]
    """
    m, n = vehicle.size
    grasp = np.zeros((6 * n, 6 + 3 * n))
    reach = np.zeros((6 * n, m))
    for i, wheel in enumerate(vehicle.wheels):
        frames = joint_frames(vehicle, i, state.joint)
        rows = slice(6 * i, 6 * i + 6)
        u_v = state.contact[i, :2]
        contact = frames[-1] @ transform(wheel.surface.frame(u_v), wheel.surface.point(u_v))
        carry = twist_at(contact)
        # V_GP carried to the contact, moved to the left: V_PG = −V_GP
        grasp[rows, :6] = carry
        grasp[6 * i + 3:6 * i + 6, 6 + 3 * i:9 + 3 * i] = np.eye(3)
        for name, frame in zip(wheel.joints, frames, strict=True):
            part = vehicle.joints[vehicle.index(name)]
            axis = frame[:3, :3] @ part.axis
            screw = (np.concatenate([axis, np.zeros(3)]) if part.kind == PRISMATIC
                     else np.concatenate([np.cross(frame[:3, 3], axis), axis]))
            reach[rows, vehicle.index(name)] = carry @ screw
    return grasp, reach


def checked_weights(vehicle: Vehicle, weights: ArrayLike | None) -> Array:
    """Return the `weights` (m,) of the projection, one by default; ValueError unless positive."""
    m = vehicle.size[0]
    out = np.ones(m) if weights is None else np.array(weights, float)
    if out.shape != (m,) or not np.all(out > 0.0):
        raise ValueError(f'weights = {out.tolist()}: expected {m} numbers greater than zero, one '
                         f'for each of {[joint.name for joint in vehicle.joints]}')
    return out


def velocity(vehicle: Vehicle, terrain: Terrain, state: State, desired: ArrayLike,
             weights: ArrayLike | None = None) -> Velocity:
    """
    Return the motion of a vehicle for desired joint rates.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    state : State
        Closed: `place` or `simulate` made it.
    desired : (m,) array_like, rad/s or m/s
        θ̇_d.
    weights : (m,) array_like, optional
        Of the squared differences θ̇ − θ̇_d; greater than zero, one by default. A joint of large
        weight keeps its desired rate; the others deviate.

    Returns
    -------
    Velocity

    Raises
    ------
    ContactError
        The ground is sharper than a tyre at a contact; the text names the place.
    ValueError
        A vector of the wrong size or with numbers that are not finite.
    """
    m, n = vehicle.size
    given = np.array(desired, float)
    if given.shape != (m,) or not np.all(np.isfinite(given)):
        raise ValueError(f'desired = {given.tolist()}: expected {m} finite rates, of '
                         f'{[joint.name for joint in vehicle.joints]}')
    scale = 1.0 / np.sqrt(checked_weights(vehicle, weights))
    grasp, reach = contact_jacobians(vehicle, state)
    values = np.linalg.svd(grasp, compute_uv=False)
    rank = int(np.sum(values > RANK_TOLERANCE * values[0]))
    # columns of Q beyond the rank span what V_GC cannot reach
    q, _ = np.linalg.qr(grasp, mode='complete')
    constraint = q[:, 6 + 3 * n:].T @ reach
    left, input_values, right = np.linalg.svd(constraint * scale, full_matrices=False)
    count = int(np.sum(input_values > RANK_TOLERANCE * input_values[0]))
    excess = left[:, :count].T @ constraint @ given / input_values[:count]
    rates = given - scale * (right[:count].T @ excess)
    motion = np.linalg.lstsq(grasp, reach @ rates, rcond=None)[0]
    spin = motion[6:].reshape(n, 3)
    surface = Ground(terrain)
    eta_rates = [contact_rates(wheel.surface, surface, state.contact[i], spin[i])
                 for i, wheel in enumerate(vehicle.wheels)]
    return Velocity(-motion[:6], rates, np.array(eta_rates), spin, given, m - count, rank,
                    float(values[0] / values[-1]), values, input_values)
