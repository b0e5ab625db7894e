# SPDX-License-Identifier: Apache-2.0
"""Tyres of the contact plant: stiffness, sinkage and loads, from the compiled MuJoCo model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_simulation.contact_plant.mujoco_model import TYRE_IMPEDANCE
from c3p_simulation.plants.checks import PlantError

# sinkage of a tyre under an equal fraction of the weight, m: the smallest that steps of `TIMESTEP`
# allow, a tenth of the deflection of polyurethane
SINKAGE = 2.5e-5

# largest (ω·timestep)² of bouncing on the tyres, ω in rad/s; the integration is unstable beyond
# about 1.5. Steps too long for SINKAGE make the tyres softer
STIFFEST = 0.5

# weight of force balance against equality of loads in `stand`; fraction of the weight that counts
# as a load, and as the tolerance of the balance
STRICT = 1e3
SUPPORT = 1e-4

# damping ratio of bouncing
TYRE_DAMPING = 0.6

# indices of height, roll and pitch in coordinates and rates
VERTICAL = [2, 4, 5]

# coordinates of the platform, the first ones
BASE = 6


def set_tyres(mj: Any, model: Any, data: Any, robot: CasterRobot, timestep: float
              ) -> float:
    """
    Set spring and damper of each tyre, and compensate its sinkage.

    The effective rolling radius is reduced by half the sinkage, so the tyre is enlarged by it.
    Stiffness is an equal fraction of the weight per SINKAGE, or less where `timestep` is too long
    for the fastest bouncing mode.

    Parameters
    ----------
    mj : module
        mujoco.
    model, data : MjModel, MjData
        From `mujoco_model.mjcf`; at rest, all coordinates 0.
    robot : CasterRobot
    timestep : float, s

    Returns
    -------
    float, N/m
        Stiffness of each tyre.
    """
    tyres = tyre_geoms(model, robot.count)
    weight = robot.total_mass * GRAVITY / robot.count
    stiffness = weight / SINKAGE
    mj.mj_forward(model, data)
    inertia = np.zeros((model.nv, model.nv))
    mj.mj_fullM(model, data, inertia)
    # rows: lift of each tyre by height, roll and pitch
    x, y = data.geom_xpos[tyres, :2].T
    raised = np.stack([np.ones(robot.count), y, -x])
    moving = inertia[np.ix_(VERTICAL, VERTICAL)]
    if _held(model):
        # a high or distant centre of mass bounces about itself: the base gives way on the floor
        moving = np.linalg.inv(np.linalg.inv(inertia[:BASE, :BASE])[np.ix_(VERTICAL, VERTICAL)])
    root = np.linalg.cholesky(moving)
    fastest = math.sqrt(stiffness) * float(np.linalg.norm(np.linalg.solve(root, raised), 2))
    softer = min(1.0, STIFFEST / (fastest * timestep) ** 2)
    stiffness = softer * stiffness
    fastest = math.sqrt(softer) * fastest
    damping = 2 * TYRE_DAMPING * stiffness / fastest
    for i, tyre in enumerate(tyres):
        # MuJoCo scales by its regularisation R = (1 − d)/d · (inverse inertia)
        loose = (1 - TYRE_IMPEDANCE) * model.body_invweight0[model.geom_bodyid[tyre], 0]
        pair = model.pair(f'tyre_{i + 1}').id
        model.pair_solref[pair] = -stiffness * loose, -damping * loose
        model.geom_size[tyre, 1:] += weight / stiffness / 2
        # bounds for MuJoCo's collision detection
        model.geom_rbound[tyre] = model.geom_size[tyre].max()
        model.geom_aabb[tyre, 3:] = model.geom_size[tyre]
    return stiffness


def stand(mj: Any, model: Any, data: Any, stiffness: float) -> None:
    """
    Set height and tilt so that the tyres in contact carry the weight.

    At height and tilts q tyre i sinks in by ``half a sinkage − u_i·q``, ``u_i = (1, y_i, −x_i)``;
    its load f is k times that, or 0. Of all loads f ≥ 0 with ``Σ f_i u_i = W u_c``, where the
    weight W meets the ground at c, springs choose those nearest to equal (least squares).

    Parameters
    ----------
    mj : module
        mujoco.
    model, data : MjModel, MjData
        At rest, at the pose and the steering angles in question.
    stiffness : float, N/m
        From `set_tyres`.

    Raises
    ------
    PlantError
        The robot would fall over.
    """
    data.qpos[VERTICAL] = 0
    mj.mj_kinematics(model, data)
    mj.mj_comPos(model, data)
    # body 1 is the platform, root of all others
    down = model.opt.gravity
    com = data.subtree_com[1]
    weight = -down[2] * model.body_subtreemass[1]
    tyres = tyre_geoms(model, model.npair)
    # where gravity through the centre of mass meets the ground, then the contacts, in base_link
    points = np.array([com - down * com[2] / down[2], *data.geom_xpos[tyres]]) - data.xpos[1]
    points = points @ data.xmat[1].reshape(3, 3)
    levers = np.stack([np.ones(len(points)), points[:, 1], -points[:, 0]])
    everything = levers
    held = _held(model)
    if held:
        # its tilts are
        levers = levers[:1]
    wrench = weight * levers[:, 0]
    levers = levers[:, 1:]
    half = model.geom_size[tyres, 1] - data.geom_xpos[tyres, 2]
    load = nonnegative_least_squares(np.vstack([STRICT * levers, np.eye(len(tyres))]),
                                     np.concatenate([STRICT * wrench, stiffness * half]))
    if np.abs(levers @ load - wrench).max() > SUPPORT * np.abs(wrench).max():
        raise PlantError(f'the robot would fall over at once: its weight meets the ground at '
                         f'{points[0, :2].round(3).tolist()} m in base_link, outside of its '
                         f'contacts {points[1:, :2].round(3).tolist()}')
    if held:
        # of the moments that the tyres leave, at level
        rest = weight * everything[1:, 0] - everything[1:, 1:] @ load
        model.qpos_spring[VERTICAL[1:]] = rest / model.jnt_stiffness[VERTICAL[1]]
    # linear for known tyres in contact
    bearing = levers[:, load > SUPPORT * weight]
    data.qpos[VERTICAL[:len(levers)]] = np.linalg.lstsq(
        bearing @ bearing.T, bearing @ half[load > SUPPORT * weight] - wrench / stiffness,
        rcond=None)[0]


def _held(model: Any) -> bool:
    """Return whether springs hold the tilts of the robot."""
    return bool(model.jnt_stiffness[VERTICAL[1]] > 0.0)


def nonnegative_least_squares(rows: Array, values: Array) -> Array:
    """Return the x ≥ 0 of least ``|rows x − values|``."""
    load = np.linalg.lstsq(rows, values, rcond=None)[0]
    if load.min() >= 0:
        return load
    # some tyre is off the ground, which is seldom: scipy.optimize takes half a second to import
    from scipy.optimize import nnls

    return nnls(rows, values)[0]


def tyre_geoms(model: Any, count: int) -> list[int]:
    """Return the geoms of the `count` tyres, in the order of the casters."""
    return [model.geom(f'tyre_{i + 1}').id for i in range(count)]


def wheel_loads(mj: Any, model: Any, data: Any, tyres: list[int]) -> Array:
    """
    Return the normal force on each wheel, N; 0 where one is off the ground.

    Parameters
    ----------
    mj : module
        mujoco.
    model, data : MjModel, MjData
        After a step.
    tyres : list of int
        From `tyre_geoms`.
    """
    load = np.zeros(len(tyres))
    force = np.zeros(6)
    for k, contact in enumerate(data.contact[:data.ncon]):
        mj.mj_contactForce(model, data, k, force)
        # the other geom is the ground, index 0
        load[tyres.index(max(contact.geom))] = force[0]
    return load
