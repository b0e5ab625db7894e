# SPDX-License-Identifier: Apache-2.0
"""
The tyres of the contact plant: how stiff they are, how deep they stand, what they carry.

Kept apart from `mujoco_model`, because it needs the compiled model: masses as they add up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_simulation.contact_plant.mujoco_model import TYRE_IMPEDANCE
from c3p_simulation.plants.checks import PlantError

# how deep a tyre stands in the ground under an equal share of the weight, m: as little as steps of
# `TIMESTEP` allow, a tenth of what polyurethane yields
SINKAGE = 2.5e-5

# largest (ω·timestep)² of a robot that bounces on its tyres, ω in rad/s; beyond about 1.5 the
# integration is unstable. A step too long for SINKAGE makes the tyres softer
STIFFEST = 0.5

# weight of the balance of forces against the equality of loads in `stand`; the share of the weight
# that counts as a load, and that may be missing in a balance
STRICT, SUPPORT = 1e3, 1e-4

# damping of that bouncing, per critical damping
TYRE_DAMPING = 0.6

# places in coordinates and rates of what the tyres' springs move: height, roll, pitch
VERTICAL = [2, 4, 5]


def set_tyres(mj: Any, model: Any, data: Any, robot: CasterRobot, timestep: float
              ) -> float:
    """
    Set the spring and the damper that each tyre is, and make up for its sinkage.

    A tyre rolls about the middle of what it shares with the ground, so it is made larger by half
    of that. Stiffness is an equal share of the weight per SINKAGE, or less where `timestep` would
    be too long for the fastest way in which the robot can bounce.

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
    # rows: how height, roll and pitch raise each tyre
    x, y = data.geom_xpos[tyres, :2].T
    raised = np.stack([np.ones(robot.count), y, -x])
    fastest = math.sqrt(eigh(stiffness * raised @ raised.T, inertia[np.ix_(VERTICAL, VERTICAL)],
                             eigvals_only=True)[-1])
    softer = min(1.0, STIFFEST / (fastest * timestep) ** 2)
    stiffness, fastest = softer * stiffness, math.sqrt(softer) * fastest
    damping = 2 * TYRE_DAMPING * stiffness / fastest
    for i, tyre in enumerate(tyres):
        # MuJoCo's numbers are per unit of its regularisation R = (1 − d)/d · (inverse inertia)
        loose = (1 - TYRE_IMPEDANCE) * model.body_invweight0[model.geom_bodyid[tyre], 0]
        pair = model.pair(f'tyre_{i + 1}').id
        model.pair_solref[pair] = -stiffness * loose, -damping * loose
        model.geom_size[tyre, 1:] += weight / stiffness / 2
        # the bounds by which MuJoCo looks for contacts
        model.geom_rbound[tyre] = model.geom_size[tyre].max()
        model.geom_aabb[tyre, 3:] = model.geom_size[tyre]
    return stiffness


def stand(mj: Any, model: Any, data: Any, stiffness: float) -> None:
    """
    Set height and tilt so that the tyres bear the weight, whichever of them touch.

    At height and tilts q tyre i stands ``half a sinkage − u_i·q`` deep, ``u_i = (1, y_i, −x_i)``;
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
    # body 1 is the platform, from which everything else hangs
    down, com = model.opt.gravity, data.subtree_com[1]
    weight = -down[2] * model.body_subtreemass[1]
    tyres = tyre_geoms(model, model.npair)
    # where gravity through the centre of mass meets the ground, then the contacts, in base_link
    points = np.array([com - down * com[2] / down[2], *data.geom_xpos[tyres]]) - data.xpos[1]
    points = points @ data.xmat[1].reshape(3, 3)
    levers = np.stack([np.ones(len(points)), points[:, 1], -points[:, 0]])
    asked, levers = weight * levers[:, 0], levers[:, 1:]
    half = model.geom_size[tyres, 1] - data.geom_xpos[tyres, 2]
    load = nnls(np.vstack([STRICT * levers, np.eye(len(tyres))]),
                np.concatenate([STRICT * asked, stiffness * half]))[0]
    if np.abs(levers @ load - asked).max() > SUPPORT * np.abs(asked).max():
        raise PlantError(f'the robot would fall over at once: its weight meets the ground at '
                         f'{points[0, :2].round(3).tolist()} m in base_link, outside of its '
                         f'contacts {points[1:, :2].round(3).tolist()}')
    # with the tyres that bear known, the equation is linear
    bearing = levers[:, load > SUPPORT * weight]
    data.qpos[VERTICAL] = np.linalg.lstsq(
        bearing @ bearing.T, bearing @ half[load > SUPPORT * weight] - asked / stiffness,
        rcond=None)[0]


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
    load, force = np.zeros(len(tyres)), np.zeros(6)
    for k, contact in enumerate(data.contact[:data.ncon]):
        mj.mj_contactForce(model, data, k, force)
        # the other one is the ground, which comes first
        load[tyres.index(max(contact.geom))] = force[0]
    return load
