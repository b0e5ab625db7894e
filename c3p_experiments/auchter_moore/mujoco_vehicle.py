# SPDX-License-Identifier: Apache-2.0
"""
The same vehicle, ground and servos in MuJoCo: an independent check of the motion with masses.

MuJoCo has its own equations of motion, contact law, friction and integrator. Its collision search
has no torus and no smooth ground: on a grid of heights a wheel of facets touches in several places
at once, whose damping takes 2 b N v²/(3 k R) W from each wheel, more than a tyre does. So the
contacts that it finds are moved to where the torus is deepest in the ground, by a search of its
own: the circle in the middle of the tube and the ground at their least distance.

What differs: the normal force is that of a soft constraint, slip is resisted without a memory by a
regularised elliptic cone, the integrator is implicit in the velocity. Rolling resistance is left
out: the friction of the hubs takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_rough_ground.closed_chain.description import PRISMATIC, Array, predecessors
from c3p_rough_ground.closed_chain.placement import place
from c3p_rough_ground.closed_chain.vehicle import quaternion
from c3p_rough_ground.dynamics import HeavyVehicle
from c3p_rough_ground.dynamics.bodies import PLATFORM
from c3p_rough_ground.rolling_contact._kernels import TORUS
from c3p_rough_ground.terrain import Terrain

STEP = 1e-3
# contacts: fraction of the force that the constraint takes at once, stiffness and damping in
# MuJoCo's units (1/s² and 1/s), damping of slip, and ratio of frictional to normal impedance
IMPEDANCE = 0.9
STIFFNESS = 500.0
DAMPING = 10.0
SLIDING = 100.0
RATIO = 30.0
# a sphere around each wheel that always meets the plane below all: one contact each, m
REACH = 1e3
# Newton steps of the search, and what they leave, m
MOST_STEPS = 20
CLOSED = 1e-12


class MujocoRun(NamedTuple):
    """
    A motion in MuJoCo, N records.

    Attributes
    ----------
    time : (N,) array, s
    position : (N, 3) array, m
        Origin of {P} in {G}.
    joint, joint_rates, motor_torque : (N, m) arrays
    work : (N, m) array, J
        Of each motor, summed over all steps.
    """

    time: Array
    position: Array
    joint: Array
    joint_rates: Array
    motor_torque: Array
    work: Array


class Search:
    """
    Least distance between the centre circles of all wheels and the ground.

    Parameters
    ----------
    radius, tube : (w,) arrays, m
    terrain : Terrain
    """

    def __init__(self, radius: Array, tube: Array, terrain: Terrain) -> None:
        """Begin without a guess."""
        self._radius = radius
        self._tube = tube
        self._terrain = terrain
        self._place: Array | None = None

    def deepest(self, center: Array, axle: Array) -> tuple[Array, Array, Array]:
        """
        Return depths (w,), points half-way (w, 3) and normals of the ground (w, 3).

        Parameters
        ----------
        center, axle : (w, 3) arrays
        """
        ahead = np.cross(axle, [0.0, 0.0, 1.0])
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        down = np.cross(ahead, axle)
        down *= np.where(down[:, 2:] > 0.0, -1.0, 1.0)
        r = self._radius[:, None]
        if self._place is None:
            self._place = np.column_stack([np.zeros(len(center)), center[:, :2]])
        p = self._place
        lines = np.empty((len(center), 3, 3))
        for _ in range(MOST_STEPS):
            g, gx, gy, gxx, gxy, gyy = self._terrain.derivatives(p[:, 1], p[:, 2])
            c, s = np.cos(p[:, :1]), np.sin(p[:, :1])
            circle = center + r * (c * down + s * ahead)
            along = r * (c * ahead - s * down)
            d = circle - np.column_stack([p[:, 1:], g])
            one = np.ones_like(g)
            zero = np.zeros_like(g)
            tx, ty = np.column_stack([one, zero, gx]), np.column_stack([zero, one, gy])
            # gradient and Hessian of half the squared distance
            slope = np.column_stack([np.sum(along * d, 1), -np.sum(tx * d, 1),
                                     -np.sum(ty * d, 1)])
            lines[:, 0, 0] = np.sum(along**2, 1) + np.sum((center - circle) * d, 1)
            lines[:, 0, 1] = lines[:, 1, 0] = -np.sum(along * tx, 1)
            lines[:, 0, 2] = lines[:, 2, 0] = -np.sum(along * ty, 1)
            lines[:, 1, 1] = 1.0 + gx**2 - gxx * d[:, 2]
            lines[:, 1, 2] = lines[:, 2, 1] = gx * gy - gxy * d[:, 2]
            lines[:, 2, 2] = 1.0 + gy**2 - gyy * d[:, 2]
            p = p - np.linalg.solve(lines, slope[:, :, None])[:, :, 0]
            if np.abs(slope).max() < CLOSED:
                break
        self._place = p
        normal = np.column_stack([-gx, -gy, one]) / np.sqrt(1.0 + gx**2 + gy**2)[:, None]
        depth = self._tube - np.sum(d * normal, axis=1)
        return depth, circle - d + -0.5 * depth[:, None] * normal, normal


def model_of(heavy: HeavyVehicle) -> Any:
    """
    Return the MuJoCo model of a vehicle with masses, `heavy`.

    Each wheel has a sphere that always meets a plane far below: a contact to be moved.
    """
    import mujoco as mj

    spec = mj.MjSpec()
    option = spec.option
    option.timestep, option.integrator = STEP, mj.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.impratio = RATIO
    option.gravity = [0.0, 0.0, -heavy.gravity]
    # the platform is as in our equations, without the checks of joint limits
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, name='ground', size=[1.0, 1.0, 1.0],
                            pos=[0.0, 0.0, 0.0], contype=0, conaffinity=0)
    tree = heavy.tree
    vehicle = heavy.vehicle
    parents = predecessors(vehicle.joints, vehicle.wheels)
    bodies = {PLATFORM: spec.worldbody.add_body(name=PLATFORM)}
    bodies[PLATFORM].add_freejoint()
    _inertia(bodies[PLATFORM], next(b for b in tree.bodies if b.name.startswith(PLATFORM)
                                    and b.mass > 0.0))
    spins = {w.joints[-1] for w in vehicle.wheels}
    todo = list(vehicle.joints)
    while todo:
        joint = todo.pop(0)
        above = parents[joint.name] or PLATFORM
        if above not in bodies:
            todo.append(joint)
            continue
        body = bodies[above].add_body(name=joint.name, pos=joint.origin,
                                      quat=quaternion(joint.rotation))
        slides = joint.kind == PRISMATIC
        body.add_joint(name=joint.name, axis=joint.axis, type=(
            mj.mjtJoint.mjJNT_SLIDE if slides else mj.mjtJoint.mjJNT_HINGE))
        _inertia(body, tree.bodies[tree.names.index(joint.name)])
        if joint.name in spins:
            body.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, name=joint.name, size=[REACH, 0.0, 0.0],
                          mass=0.0, contype=0, conaffinity=0)
            spec.add_pair(geomname1='ground', geomname2=joint.name, condim=3,
                          friction=[heavy.tyre.friction] * 2 + [0.0] * 3, margin=0.0,
                          solref=[-STIFFNESS, -DAMPING], solreffriction=[-1.0, -SLIDING],
                          solimp=[IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0])
        bodies[joint.name] = body
    model = spec.compile()
    for name, servo in heavy.servos.items():
        joint = model.joint(name)
        model.dof_damping[joint.dofadr[0]] = servo.viscous
        if servo.spring > 0.0:
            model.jnt_stiffness[joint.id] = servo.spring
            model.qpos_spring[joint.qposadr[0]] = servo.preload / servo.spring
    return model


def _inertia(body: Any, part: Any) -> None:
    i = part.inertia
    body.mass, body.ipos, body.explicitinertial = part.mass, part.com, True
    body.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]


def drive_mujoco(heavy: HeavyVehicle, terrain: Terrain, desired: Sequence[float], duration: float,
                 start: Sequence[float] = (0.0, 0.0, 0.0), period: float = 0.01,
                 settling: float = 2.0) -> MujocoRun:
    """
    Drive a vehicle in MuJoCo; parameters as for `c3p_rough_ground.dynamics.drive` and its times.

    Raises
    ------
    ValueError
        A wheel other than a torus, or a motion that is not finite.
    """
    import mujoco as mj

    vehicle = heavy.vehicle
    for wheel in vehicle.wheels:
        if wheel.surface.kind != TORUS:
            raise ValueError(f'wheel {wheel.name}: only a torus or a sphere is searched for')
    model = model_of(heavy)
    data = mj.MjData(model)
    state = place(vehicle, terrain, *start).require()
    names = [joint.name for joint in vehicle.joints]
    at = np.array([model.joint(name).qposadr[0] for name in names])
    dof = np.array([model.joint(name).dofadr[0] for name in names])
    data.qpos[:3], data.qpos[3:7] = state.position, quaternion(state.rotation)
    data.qpos[at] = state.joint
    shape = np.array([wheel.surface.parameters[:2] for wheel in vehicle.wheels], float)
    search = Search(shape[:, 0], shape[:, 1], terrain)
    spins = [model.body(wheel.joints[-1]).id for wheel in vehicle.wheels]
    servos = heavy.system.servo
    gain = servos[:, 0]
    integral = servos[:, 1]
    limit = servos[:, 2]
    summed = np.zeros(len(names))
    work = np.zeros(len(names))
    wanted = np.zeros(len(names))
    steps = round(period / STEP)
    count = round(duration / period)
    rows = []
    for k in range(-round(settling / period), count + 1):
        if k == 0:
            wanted = np.asarray(desired, float)
            work = np.zeros(len(names))
        for step in range(steps):
            rate = data.qvel[dof].copy()
            error = heavy.system.share @ (wanted - rate)
            free = gain * error + integral * summed
            torque = np.clip(free, -limit, limit)
            summed += np.where(free == torque, STEP * error, 0.0)
            if step == 0 and k >= 0:
                rows.append((k * period, data.qpos[:3].copy(), data.qpos[at].copy(), rate, torque,
                             work.copy()))
            data.qfrc_applied[dof] = torque
            _step(mj, model, data, search, spins)
            work += STEP * torque * 0.5 * (rate + data.qvel[dof])
    if not math.isfinite(float(np.sum(data.qpos))):
        raise ValueError('MuJoCo: the state is not finite')
    return MujocoRun(*(np.array(column) for column in zip(*rows, strict=True)))


def _step(mj: Any, model: Any, data: Any, search: Search, spins: Sequence[int]) -> None:
    """Take one step of MuJoCo with its contacts moved to where the wheels touch."""
    mj.mj_kinematics(model, data)
    mj.mj_comPos(model, data)
    mj.mj_makeM(model, data)
    mj.mj_factorM(model, data)
    mj.mj_collision(model, data)
    turn = data.xmat[spins].reshape(-1, 3, 3)
    depth, point, normal = search.deepest(data.xpos[spins], turn[:, :, 1])
    for contact in data.contact:
        i = spins.index(model.geom_bodyid[contact.geom2])
        contact.dist, contact.pos[:] = -depth[i], point[i]
        across = np.cross(normal[i], [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        contact.frame[:] = [*normal[i], *across, *np.cross(normal[i], across)]
    mj.mj_makeConstraint(model, data)
    mj.mj_projectConstraint(model, data)
    mj.mj_fwdVelocity(model, data)
    mj.mj_step2(model, data)
