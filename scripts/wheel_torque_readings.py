# SPDX-License-Identifier: Apache-2.0
"""
Compare readings of the papers' wheel torque and steering dynamics, as tables for the docs.

``python scripts/wheel_torque_readings.py`` from the root of the repository. Forms are
those of scripts/wheel_torque_dynamics.py; the robot is robots/c3p.yaml
without friction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from c3p_description import load
from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics.caster_dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from c3p_experiments.el_shenawy.wheel_torque_dynamics import (
    WheelTorqueSimulation,
    joint_forward,
    joint_inverse,
)
from c3p_kinematics.casters import inverse, inverse_acceleration
from c3p_kinematics.singularity import singularity

DRAWS, SEED = 2000, 7
# paper II, Fig. 6: a ramp along Y until 3.2 s, then constant speed; 0.17 of a wheel times r
RAMP, UNTIL, END = 6.8e-3, 3.2, 6.0
STARTS = {'0°, 0°, 0°': (0.0, 0.0, 0.0), '45°, −45°, 90°': (45.0, -45.0, 90.0)}


def quantiles(values: list[float]) -> str:
    """Return 'median (10 % … 90 %)'."""
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    if high < 1e-6:
        return f'{middle:.0e} ({low:.0e} … {high:.0e})'
    return f'{middle:.2f} ({low:.2f} … {high:.2f})'


def draws(robot: CasterRobot, speed: float) -> list[tuple[Array, Array, Array]]:
    """Return steering, twist and torque of poses that are not nearly singular."""
    rng, out = np.random.default_rng(SEED), []
    while len(out) < DRAWS:
        steering = rng.uniform(-np.pi, np.pi, robot.count)
        twist = speed * rng.uniform(-1, 1, 3) * [0.5, 0.5, 1.5]
        torque = rng.uniform(-0.5, 0.5, robot.count)
        if singularity(robot, steering).sigma_min > 0.1:
            out.append((steering, twist, torque))
    return out


def forward_row(robot: CasterRobot, speed: float, form: str) -> str:
    """Return the table row of (13)-(14) compared with the reduced form."""
    platform, steer, tear = [], [], []
    for steering, twist, torque in draws(robot, speed):
        wheel_rate, steering_rate, _ = inverse(robot, steering, twist)
        true = forward_dynamics(robot, steering, twist, torque)
        _, true_steer = inverse_acceleration(robot, steering, twist, true)
        got = joint_forward(robot, steering, wheel_rate, steering_rate, torque, form)
        root = np.linalg.cholesky(mass_matrix(robot, steering)).T
        platform.append(np.linalg.norm(root @ got.twist) / np.linalg.norm(root @ true))
        steer.append(np.linalg.norm(got.steering) / np.linalg.norm(true_steer))
        tear.append(np.linalg.norm(root @ (got.twist - true)) / np.linalg.norm(root @ true))
    return f'| {quantiles(platform)} | {quantiles(tear)} | {quantiles(steer)} |'


def inverse_row(robot: CasterRobot, speed: float, form: str, weight: float) -> str:
    """Return the table row of an inverse, evaluated with the reduced forward dynamics."""
    missed, circle = [], []
    rng = np.random.default_rng(SEED)
    for steering, twist, _ in draws(robot, speed):
        asked = rng.uniform(-1, 1, 3) * [0.5, 0.5, 1.0]
        if form == 'ours':
            torque = inverse_dynamics(robot, steering, twist, asked, weight)
        else:
            matrix = joint_inverse(robot, steering, twist, form, weight)
            torque = matrix.mass @ asked + matrix.bias
        root = np.linalg.cholesky(mass_matrix(robot, steering)).T
        given = forward_dynamics(robot, steering, twist, torque)
        missed.append(np.linalg.norm(root @ (asked - given)) / np.linalg.norm(root @ asked))
        rates = inverse(robot, steering, twist)
        back = joint_forward(robot, steering, rates[0], rates[1], torque,
                             form if form != 'ours' else 'constrained', weight)
        circle.append(np.linalg.norm(root @ (asked - back.twist)) / np.linalg.norm(root @ asked))
    return f'| {quantiles(missed)} | {quantiles(circle)} |'


def ramp(robot: CasterRobot, start: tuple[float, ...], form: str, delay: bool, dt: float) -> str:
    """Return the table row of paper II, Fig. 6: feed-forward only on the papers' plant."""
    plant = WheelTorqueSimulation(robot, form, delay)
    plant.reset(np.radians(start))
    worst = 0.0
    if form == 'wheels' and singularity(robot, plant.steering).sigma_min < 1e-9:
        return '| does not exist: J_x is singular | | |'
    with np.errstate(all='ignore'):
        for k in range(round(END / dt)):
            reference = np.array([0.0, RAMP * min(k * dt, UNTIL), 0.0])
            accel = np.array([0.0, RAMP if k * dt < UNTIL else 0.0, 0.0])
            matrix = joint_inverse(robot, plant.steering, reference, form)
            try:
                plant.step(matrix.mass @ accel + matrix.bias, dt)
                worst = max(worst, plant.closure_error)
            except ValueError:
                # its own rates are no longer numbers
                worst = np.inf
            if worst > 1e6:
                return f'| diverges at {k * dt:.2f} s | | |'
    turned = np.degrees(plant.steering)
    return (f'| {", ".join(f"{1e3 * v:.1f}" for v in plant.twist)} '
            f'| {", ".join(f"{v:.0f}°" for v in turned)} | {worst:.1e} |')


def main() -> None:
    """Print the tables."""
    robot = replace(load('c3p'), friction=Friction())
    print('| form | twist | platform, form/true | error/true | steering, form/true |')
    print('|---|---|---|---|---|')
    for form in ('wheels', 'blocks'):
        for name, speed in (('at rest', 0.0), ('moving', 1.0)):
            print(f'| {form} | {name} {forward_row(robot, speed, form)}')
    print()
    print('| inverse | twist | relative error on the robot | with its own forward form |')
    print('|---|---|---|---|')
    for form, weight in (('wheels', 1.0), ('blocks', 1.0), ('constrained', 1.0),
                         ('ours', 0.023)):
        for name, speed in (('at rest', 0.0), ('moving', 1.0)):
            label = form if form != 'ours' else f'constrained, w_s = {weight}'
            print(f'| {label} | {name} {inverse_row(robot, speed, form, weight)}')
    print()
    print('| steering at start | plant | ν at the end [mm/s, mrad/s] | steering at the end '
          '| closure error [rad/s] |')
    print('|---|---|---|---|---|')
    for name, start in STARTS.items():
        for form, delay, dt in (('constrained', False, 5e-3), ('constrained', True, 5e-3),
                                ('constrained', True, 5e-4), ('wheels', False, 5e-3),
                                ('wheels', True, 5e-3), ('wheels', True, 5e-4),
                                ('blocks', False, 5e-3),
                                ('blocks', True, 5e-3), ('blocks', True, 5e-4)):
            plant = f'{form}, {"unit delay" if delay else "Runge-Kutta"}, {1e3 * dt:g} ms'
            print(f'| {name} | {plant} {ramp(robot, start, form, delay, dt)}')


if __name__ == '__main__':
    main()
