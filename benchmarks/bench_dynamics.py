# SPDX-License-Identifier: Apache-2.0
"""
Speed of the caster dynamics, beside MuJoCo and Pinocchio, in one run.

``python benchmarks/bench_dynamics.py`` from the root of the repository prints medians of the time
of one call, taken in turns, and the ratios. The robot is robots/c3p.yaml for everybody. The peers
solve it as a tree (MuJoCo with contacts), ours in the three freedoms that rolling leaves; the
ratio says what that is worth, not who programs better. Pinocchio's inverse dynamics are timed
thrice: whole (constraints from its own Jacobians), with Jacobians in closed form, and with all but
``rnea``, the projection and the share over the wheels given beforehand. The lines "by libm" are
the same kernels with sine, cosine and tanh of the mathematics library: the end-to-end gain of the
tables of `circle` and `level`.
"""

from __future__ import annotations

import importlib
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numba
import numpy as np
import pinocchio as pin
from measuring import Figure, beside, python, turns

from c3p_description import load
from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics._caster_equations import caster_model, forward_derivatives
from c3p_dynamics._caster_inverse_kernels import share_packed
from c3p_dynamics._caster_motion_kernels import advance, runge_kutta
from c3p_dynamics.caster_dynamics import (
    VIRTUAL_STEERING_WEIGHT,
    forward_dynamics,
    inverse_dynamics,
)
from c3p_dynamics.caster_states import InverseState
from c3p_dynamics.prepared import InverseDynamics
from c3p_kernels.compiled import inlined, kernel
from c3p_kinematics.casters import (
    inverse_acceleration,
    steering_jacobian,
    wheel_jacobian,
)
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant
from c3p_simulation.plants.plant import AnalyticPlant

ROBOT = load('c3p')
STEERING, TWIST, ACCEL = np.array([0.3, 1.0, -2.0]), np.array([0.3, -0.2, 0.5]), np.ones(3)
TORQUE = np.array([0.1, -0.1, 0.05])
ROUNDS, RUN = 101, 5e-4
# rows of the sweep, many enough that the call itself does not count
ROWS = 5000
# robots of a batch
MANY = 8
DOWN = np.array([0.0, 0.0, -1.0])


class Tree:
    """The robot as Pinocchio's tree on a planar base, and inverse dynamics by it."""

    def __init__(self, robot: CasterRobot) -> None:
        """Build the tree, depth first."""
        self.robot, self.model = robot, pin.Model()
        self.model.gravity.linear = np.zeros(3)
        base = self.model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), 'base')
        self._body(base, robot.platform_mass, robot.platform_com, robot.platform_inertia)
        for i, hip in enumerate(robot.hip_position):
            at = pin.SE3(np.eye(3), np.array([*hip, 0.0]))
            steer = self.model.addJoint(base, pin.JointModelRZ(), at, f'steering_{i}')
            self._body(steer, robot.link_mass[i], (0, -robot.link_com[i]), robot.link_inertia[i])
            at = pin.SE3(np.eye(3), np.array([0, -robot.caster_offset[i], 0.0]))
            wheel = self.model.addJoint(steer, pin.JointModelRX(), at, f'wheel_{i}')
            yaw = robot.wheel_yaw_inertia[i]
            self.model.appendBodyToJoint(wheel, pin.Inertia(
                robot.wheel_mass[i], np.zeros(3),
                np.diag([robot.wheel_spin_inertia[i], yaw, yaw])), pin.SE3.Identity())
        self.data, self.q = self.model.createData(), pin.neutral(self.model)
        self.wheels = [self.model.getJointId(f'wheel_{i}') for i in range(robot.count)]

    def _body(self, joint: int, mass: float, com: tuple[float, float], yaw: float) -> None:
        self.model.appendBodyToJoint(joint, pin.Inertia(
            mass, np.array([*com, 0.0]), np.diag([1.0, 1.0, yaw])), pin.SE3.Identity())

    def whole(self, steering: Array, twist: Array, accel: Array) -> Array:
        """Return the wheel torques, with rolling constraints from Pinocchio's Jacobians."""
        robot, model, data, q = self.robot, self.model, self.data, self.q
        q[4::2] = steering
        pin.computeJointJacobians(model, data, q)
        rows = np.empty((2 * robot.count, model.nv))
        for i, wheel in enumerate(self.wheels):
            jacobian = pin.getJointJacobian(model, data, wheel, pin.LOCAL_WORLD_ALIGNED)
            down = robot.wheel_radius[i] * DOWN
            rows[2 * i:2 * i + 2] = (jacobian[:3] - pin.skew(down) @ jacobian[3:])[:2]
        full = np.vstack([np.eye(3), np.linalg.solve(rows[:, 3:], -rows[:, :3])])
        rates = full @ twist
        pin.forwardKinematics(model, data, q, rates, np.zeros(model.nv))
        drift = np.empty(2 * robot.count)
        for i, wheel in enumerate(self.wheels):
            centre = pin.getClassicalAcceleration(model, data, wheel, pin.LOCAL_WORLD_ALIGNED)
            below = np.cross(centre.angular, robot.wheel_radius[i] * DOWN)
            drift[2 * i:2 * i + 2] = (centre.linear + below)[:2]
        accels = full @ accel
        accels[3:] -= np.linalg.solve(rows[:, 3:], drift)
        return self.shared(q, rates, accels, full)

    def closed_form(self, steering: Array, twist: Array, accel: Array) -> Array:
        """Return the wheel torques, with rates and Jacobians by c3p_kinematics."""
        robot, q = self.robot, self.q
        q[4::2] = steering
        full = np.zeros((self.model.nv, 3))
        full[:3] = np.eye(3)
        full[3::2], full[4::2] = steering_jacobian(robot, steering), -wheel_jacobian(robot,
                                                                                     steering)
        rates, accels = full @ twist, np.zeros(self.model.nv)
        wheel, steer = inverse_acceleration(robot, steering, twist, accel)
        accels[:3], accels[3::2], accels[4::2] = accel, steer, -wheel
        return self.shared(q, rates, accels, full)

    def shared(self, q: Array, rates: Array, accels: Array, full: Array) -> Array:
        """Return the torques: rnea, projection, and the share with virtual steering motors."""
        force = full.T @ pin.rnea(self.model, self.data, q, rates, accels)
        wheels, pivots = -full[4::2], full[3::2]
        share = wheels.T @ wheels + VIRTUAL_STEERING_WEIGHT * pivots.T @ pivots
        return wheels @ np.linalg.solve(share, force)


cut_inverse = InverseState.cut


@kernel
def inverse_loop(pack, count):
    """Compiled loop over the prepared inverse dynamics; the state changes each time."""
    for k in range(count):
        cut_inverse(pack, 3).demand[3] = 0.3 + 1e-9 * k
        share_packed(pack)


def derivative_loop(derivatives: Callable[..., object]) -> Callable[..., None]:
    """Return a compiled loop over the forward dynamics with their derivatives."""
    @numba.njit(error_model='numpy')
    def loop(model, vectors, out, count):
        for _ in range(count):
            derivatives(model, vectors[0], vectors[1], vectors[2], vectors[3], out)
            vectors[1][0] = 0.3 + 1e-9 * out[0][0]
    return loop


def by_libm() -> list[Callable[..., object]]:
    """Return `runge_kutta` and `forward_derivatives`, compiled without tables and lanes."""
    names = ['c3p_dynamics._caster_equations', 'c3p_dynamics._caster_motion_kernels']
    ours = {name: sys.modules.pop(name) for name in names}
    try:
        # machine code is kept by file, so these need a place of their own
        numba.config.CACHE_DIR = tempfile.mkdtemp()
        equations, motion = (importlib.import_module(name) for name in names)
        # before the first call compiles them
        equations.circle = motion.circle = inlined(lambda angle: (math.cos(angle),
                                                                  math.sin(angle)))
        equations.tanh = inlined(lambda x: math.tanh(x))
        # casters side by side know the tables alone
        motion.march_few = motion.march
        return [motion.runge_kutta, equations.forward_derivatives]
    finally:
        numba.config.CACHE_DIR = ''
        sys.modules.update(ours)


def runs() -> tuple[dict[str, Callable[[int], object]], dict[str, Any]]:
    """Return what is timed, name to a function of the number of calls; and objects to report."""
    smooth = replace(ROBOT, friction=Friction())
    plant, smooth_plant = AnalyticPlant(ROBOT), AnalyticPlant(smooth)
    contact = MujocoPlant(ROBOT)
    for one in (plant, smooth_plant, contact):
        one.reset(steering=STEERING, twist=TWIST)
    contact.data.ctrl[:3] = TORQUE
    tree, prepared = Tree(ROBOT), InverseDynamics(ROBOT)
    state = np.concatenate([STEERING, TWIST, ACCEL])
    full = np.zeros((tree.model.nv, 3))
    full[:3], full[3::2] = np.eye(3), steering_jacobian(ROBOT, STEERING)
    full[4::2] = -wheel_jacobian(ROBOT, STEERING)
    rates, accels = full @ TWIST, full @ ACCEL
    model = caster_model(ROBOT)
    vectors = STEERING.copy(), TWIST.copy(), TORQUE, np.zeros(3)
    out = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    forward_derivatives(model, *vectors, out)
    batch = np.tile(STEERING, (ROWS, 1))
    states = [np.zeros(14) for _ in range(3)]
    ours, libm = derivative_loop(forward_derivatives), by_libm()
    theirs = derivative_loop(libm[1])
    for one in states:
        one[3:6], one[6:9] = TWIST, STEERING

    def integrate(robot: CasterRobot, at: Array, kernel: Callable[..., object] = runge_kutta
                  ) -> Callable[[int], object]:
        numbers = caster_model(robot)
        return lambda count: kernel(numbers, at, TORQUE, np.zeros(3), 1e-3, count)

    many = np.tile(states[0], (MANY, 1))
    held, still = np.tile(TORQUE, (MANY, 1, 1)), np.zeros((MANY, 3))

    def together(count: int) -> int:
        # the steps of all robots count
        steps = -(-count // MANY)
        advance(model, many, held, still, 1e-3, steps, np.empty((MANY, 0, 14)))
        return steps * MANY

    return {
        'RK4 step with friction': integrate(ROBOT, states[0]),
        'RK4 step with friction, of many robots': together,
        'RK4 step with friction, by libm': integrate(ROBOT, states[2], libm[0]),
        'RK4 step without friction': integrate(smooth, states[1]),
        'mj_step': lambda count: mujoco.mj_step(contact.model, contact.data, count),
        'plant.step(5 ms), call': python(lambda: plant.step(TORQUE, 0.005)),
        'inverse, prepared call': python(lambda: prepared(state)),
        'inverse, prepared, state in place': python(prepared.solve),
        'inverse, compiled loop': lambda count: inverse_loop(
            prepared.pack, count),
        'inverse_dynamics, call': python(lambda: inverse_dynamics(ROBOT, STEERING, TWIST, ACCEL)),
        'inverse_dynamics, row of a sweep': lambda count: inverse_dynamics(
            ROBOT, batch[:count], TWIST, ACCEL),
        'pinocchio rnea': python(lambda: pin.rnea(tree.model, tree.data, tree.q, rates, accels)),
        'pinocchio rnea + projection, all given': python(
            lambda: tree.shared(tree.q, rates, accels, full)),
        'pinocchio rnea + projection, J closed form': python(
            lambda: tree.closed_form(STEERING, TWIST, ACCEL)),
        'pinocchio rnea + projection, whole': python(
            lambda: tree.whole(STEERING, TWIST, ACCEL)),
        'forward_dynamics, call': python(
            lambda: forward_dynamics(ROBOT, STEERING, TWIST, TORQUE)),
        'forward with derivatives, compiled loop': lambda count: ours(
            model, vectors, out, count),
        'forward with derivatives, loop, by libm': lambda count: theirs(
            model, vectors, out, count),
    }, {'tree': tree, 'prepared': prepared, 'state': state, 'contact': contact}


def measured(what: dict[str, Callable[[int], object]]) -> dict[str, Array]:
    """Return the times of one call of each in all rounds, s."""
    return turns(what, ROUNDS, RUN, {name: ROWS for name in what if 'sweep' in name})


def figures(quick: bool = False) -> list[Figure]:
    """Return the figures that are compared over versions; all of them need half a minute."""
    what, _ = runs()
    wanted = ('RK4 step with friction', 'mj_step', 'inverse, prepared call',
              'inverse, compiled loop', 'pinocchio rnea + projection, whole',
              'pinocchio rnea + projection, all given', 'forward_dynamics, call',
              'RK4 step with friction, of many robots')
    times = measured({name: what[name] for name in wanted} if quick else what)
    whole, given = wanted[4:6]
    return [
        beside('dynamics of the C3P with friction, RK4 step', times, wanted[0], 'mj_step', 35.0),
        beside(f'the same, each of {MANY} robots', times, wanted[7], 'mj_step',
               35.0, unit='ns'),
        beside('inverse dynamics of the C3P, call', times, wanted[2], whole),
        beside('inverse dynamics of the C3P, call', times, wanted[2], given,
               24.0),
        beside('inverse dynamics of the C3P, compiled loop', times, wanted[3], given, unit='ns')]


def main() -> None:
    """Measure and print."""
    what, objects = runs()
    ours = objects['prepared'](np.concatenate([STEERING, TWIST, ACCEL])).copy()
    # rolling masses are the wheels' own here, and shared there: compare what the platform feels
    for torque in (objects['tree'].whole(STEERING, TWIST, ACCEL),
                   objects['tree'].closed_form(STEERING, TWIST, ACCEL)):
        reached = [forward_dynamics(replace(ROBOT, friction=Friction()), STEERING, TWIST, t)
                   for t in (ours, torque)]
        print('accelerations given to 1, 1, 1:', *(np.round(r, 3) for r in reached))
    times = {name: float(np.median(row)) for name, row in measured(what).items()}
    print(f'\n{"":44}{"µs":>9}{"per second":>14}')
    for name, seconds in times.items():
        print(f'{name:44}{1e6 * seconds:9.3f}{1 / seconds:14,.0f}')
    print(f'MuJoCo had {objects["contact"].data.ncon} contacts at the end\n')
    for peer, one in (('mj_step', 'RK4 step with friction'),
                      ('mj_step', 'RK4 step with friction, of many robots'),
                      ('mj_step', 'RK4 step without friction'),
                      ('RK4 step with friction, by libm', 'RK4 step with friction'),
                      ('forward with derivatives, loop, by libm',
                       'forward with derivatives, compiled loop'),
                      ('pinocchio rnea', 'inverse, prepared call'),
                      ('pinocchio rnea + projection, all given', 'inverse, prepared call'),
                      ('pinocchio rnea + projection, J closed form', 'inverse, prepared call'),
                      ('pinocchio rnea + projection, whole', 'inverse, prepared call'),
                      ('pinocchio rnea', 'inverse, compiled loop')):
        print(f'{peer} takes {times[peer] / times[one]:.1f} times as long as {one}')


if __name__ == '__main__':
    main()
