# SPDX-License-Identifier: Apache-2.0
"""
How fast the caster dynamics are, beside MuJoCo and Pinocchio, in one run.

``python benchmarks/bench_dynamics.py`` from the root of the repository prints medians of the time
of one call. The peers solve the robot as a tree (9 freedoms; MuJoCo with contacts), ours the three
freedoms that rolling leaves; the ratio says what that is worth, not who programs better.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np
import pinocchio as pin

from c3p_description.model import CasterRobot, Friction
from c3p_dynamics import _caster_dynamics_kernels as kernels
from c3p_dynamics.caster_dynamics import forward_dynamics, inverse_dynamics
from c3p_simulation.plant import AnalyticPlant

ANGLES = np.radians([30.0, 150.0, 270.0])
FRICTION = Friction(pivot_viscous=1e-3, pivot_coulomb=5e-3, rolling_coulomb=1e-2,
                    scrub_coulomb=1e-2)
ROBOT = CasterRobot.regular(0.343, ANGLES, 0.04, 0.04, 30.0, 3.51, link_mass=1.2, link_com=0.02,
                            link_inertia=1.5e-3, wheel_mass=0.4, wheel_spin_inertia=3.2e-4,
                            wheel_yaw_inertia=1.8e-4, friction=FRICTION)
STEERING, TWIST, ACCEL = np.array([0.3, 1.0, -2.0]), np.array([0.3, -0.2, 0.5]), np.ones(3)


def mjcf() -> str:
    """Return the robot on ellipsoid tyres over a plane, one step per millisecond."""
    casters = ''.join(f"""
      <body pos="{0.343 * np.cos(a)} {0.343 * np.sin(a)} 0"><joint axis="0 0 1"/>
        <inertial pos="0 -.02 0" mass="1.2" diaginertia="1e-3 1e-3 1.5e-3"/>
        <body pos="0 -.04 0"><joint name="w{i}" axis="-1 0 0"/>
          <geom type="ellipsoid" size=".0125 .04 .04" mass=".4" condim="4"/></body></body>"""
                      for i, a in enumerate(ANGLES))
    motors = ''.join(f'<motor joint="w{i}"/>' for i in range(3))
    return f"""<mujoco><option timestep="0.001"/><worldbody>
      <geom type="plane" size="50 50 1"/><body pos="0 0 .04"><freejoint/>
      <inertial pos="0 0 .1" mass="30" diaginertia="2 2 3.51"/>{casters}</body></worldbody>
      <actuator>{motors}</actuator></mujoco>"""


def tree() -> pin.Model:
    """Return the robot as Pinocchio's tree on a planar base."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), 'base')
    model.appendBodyToJoint(base, pin.Inertia(30.0, np.zeros(3), np.diag([2, 2, 3.51])),
                            pin.SE3.Identity())
    for i, hip in enumerate(ROBOT.hip_position):
        at = pin.SE3(np.eye(3), np.array([*hip, 0.0]))
        steer = model.addJoint(base, pin.JointModelRZ(), at, f'steering_{i}')
        model.appendBodyToJoint(steer, pin.Inertia(1.2, np.array([0, -0.02, 0]),
                                                   np.eye(3) * 1.5e-3), pin.SE3.Identity())
        at = pin.SE3(np.eye(3), np.array([0, -0.04, 0.0]))
        wheel = model.addJoint(steer, pin.JointModelRX(), at, f'wheel_{i}')
        model.appendBodyToJoint(wheel, pin.Inertia(0.4, np.zeros(3), np.eye(3) * 2e-4),
                                pin.SE3.Identity())
    return model


def median(call, inner: int, rounds: int = 15) -> float:
    """Return the median time of one `call`, s; `inner` is how many it stands for."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) / inner


def calls(call, count: int = 1000) -> float:
    """Return the median time of one `call` from Python, s."""
    return median(lambda: [call() for _ in range(count)], count)


def main() -> None:
    """Measure and print."""
    world = mujoco.MjModel.from_xml_string(mjcf())
    data = mujoco.MjData(world)
    data.ctrl[:] = 0.1
    plant = AnalyticPlant(ROBOT)
    plant.reset(steering=STEERING, twist=TWIST)
    model = tree()
    work, q, rates = model.createData(), pin.neutral(model), np.ones(model.nv)
    torque, torques = np.full(3, 0.1), np.empty((1, 3))
    rows = [np.ascontiguousarray(v[None]) for v in (STEERING, TWIST, ACCEL)]
    packed = ROBOT.geometry, ROBOT.caster_inertia, ROBOT.platform, ROBOT.driven
    batch = np.tile(STEERING, (2000, 1))
    times = {
        'RK4 step, 1 ms, compiled loop': median(lambda: plant.step(torque, 2.0), 2000),
        'mj_step, 1 ms, compiled loop': median(lambda: mujoco.mj_step(world, data, 2000), 2000, 5),
        'plant.step(5 ms), call': calls(lambda: plant.step(torque, 0.005)),
        'forward_dynamics, call': calls(lambda: forward_dynamics(ROBOT, STEERING, TWIST, torque)),
        'inverse_dynamics, call': calls(lambda: inverse_dynamics(ROBOT, STEERING, TWIST, ACCEL)),
        'inverse_dynamics, kernel call': calls(
            lambda: kernels.inverses(*packed, *rows, 0.01, 1e-9, torques)),
        'inverse_dynamics, row of a sweep': median(
            lambda: inverse_dynamics(ROBOT, batch, TWIST, ACCEL), len(batch)),
        'pinocchio.rnea, call': calls(lambda: pin.rnea(model, work, q, rates, rates)),
        'pinocchio.aba, call': calls(lambda: pin.aba(model, work, q, rates, rates)),
    }
    print(f'{"":34}{"µs":>9}{"per second":>14}')
    for name, seconds in times.items():
        print(f'{name:34}{1e6 * seconds:9.3f}{1 / seconds:14,.0f}')
    names = list(times)
    print(f'MuJoCo had {data.ncon} contacts at the end')
    for ours, peer in ((0, 1), (4, 7), (5, 7), (6, 7), (3, 8)):
        print(f'{names[peer]} takes {times[names[peer]] / times[names[ours]]:.2f} times as long '
              f'as {names[ours]}')


if __name__ == '__main__':
    main()
