# SPDX-License-Identifier: Apache-2.0
"""
Odometry methods on wrong descriptions: true final error after the triangle, and time per cycle.

A minute of random goals and the triangle of 11 m are driven once on the contact plant; each method
computes the triangle with wrong descriptions, those that learn after the minute. Run from the root
of the repository: ``python benchmarks/bench_odometry.py`` (some minutes).

- plain: least squares of all rolling equations of each sample; without slip it is Muir and
  Neuman's closed form.
- reweighted: the same, five times with weights exp(−|residual|²/2σ²), as the base of the PR2 does.
- ours: `Odometry`, with slip isolation.
- ekf: `Odometry` by an extended Kalman filter of the parameters that takes the increments of each
  sample, with rounding as white noise.
- self-calibrating: `CalibratingOdometry`, by windows of positions.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.self_calibration.draws import ERRORS
from c3p_experiments.self_calibration.drives import CalibrationDrive, minute, triangle
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration import _online_kernels, _window_kernels
from c3p_kinematics.calibration.parameters import Prior, calibrated, parameters_of
from c3p_kinematics.casters import sensed_forward
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.se2 import integrate
from c3p_simulation.plants.parameter_errors import perturbed

# first seed of the descriptions
FIRST = 90_000

# iterations of the reweighting, and σ of its weights, m of a step of 5 ms
ITERATIONS, SIGMA = 5, 2e-4

STEPS = np.array([2 * np.pi / 2000, 2 * np.pi / 4096])


class Plain:
    """Least squares of each sample; `iterations` with weights of the residuals."""

    def __init__(self, robot, iterations=0):
        self.robot, self.iterations, self.last = robot, iterations, None

    def reset(self, pose):
        """Start at a pose."""
        self.pose, self.last = np.array(pose, float), None

    def step(self, _, steering, wheel):
        """Process one sample."""
        if self.last is not None:
            turned, rolled = steering - self.last[0], wheel - self.last[1]
            middle, weight = self.last[0] + 0.5 * turned, 1.0
            for _ in range(self.iterations + 1):
                found = sensed_forward(self.robot, middle, rolled, turned, weight)
                weight = np.maximum(np.exp(-0.5 * (found.residual / SIGMA)**2), 1e-3)
            self.pose = integrate(self.pose, found.twist)
        self.last = steering, wheel


class ParameterFilter:
    """Extended Kalman filter of the parameters, by the increments of each sample."""

    def __init__(self, robot):
        self.robot, self.described = robot, parameters_of(robot)
        self.units = Prior().deviations(robot)
        self.unknown, self.covariance = np.zeros(len(self.units)), np.eye(len(self.units))
        self.last, n = None, robot.count
        self.out = (np.empty(3), np.empty((n, 2)), np.empty((n, 2, 5)), np.empty((n, 2, 3)))

    @property
    def parameters(self):
        """The estimate (n, 5)."""
        return self.described + (self.unknown * self.units).reshape(self.described.shape)

    def step(self, steering, wheel):
        """Process one sample."""
        if self.last is not None:
            turned, rolled = steering - self.last[0], wheel - self.last[1]
            twist, residual, own, rows = self.out
            n = self.robot.count
            _window_kernels.rate_rows(np.ascontiguousarray(self.parameters),
                                      self.last[0] + 0.5 * turned, (rolled, turned),
                                      np.ascontiguousarray(self.robot.geometry[:, 4:]), twist,
                                      residual, own, rows)
            full = np.zeros((n, 2, n, 5))
            full[np.arange(n), :, np.arange(n)] = own
            # both ends of a step are rounded
            noise = np.sqrt((STEPS * [0.04, 0.04])**2 / 6.0)
            white = (rows / noise[:, None]).reshape(2 * n, 3)
            basis = np.linalg.qr(white, mode='complete')[0][:, 3:]
            value = basis.T @ (residual / noise).ravel()
            slope = basis.T @ (full / noise[:, None, None]).reshape(2 * n, -1) * self.units
            if np.abs(rolled).max() > 0.0:
                _online_kernels.fuse(value, np.ascontiguousarray(slope), self.unknown,
                                     self.covariance, np.zeros((0, len(self.unknown))),
                                     np.inf, 0.0, 1e3)
        self.last = steering, wheel


def final(method, drive, zero):
    """Return the error at the end of a drive, m, and the time per cycle, µs."""
    joints, truth = drive.log.joints, drive.log.ground_truth.pose
    method.reset(truth[0])
    begin = time.process_time()
    for t, steering, wheel in zip(joints.time, joints.steering - zero, joints.wheel_angle,
                                  strict=True):
        method.step(t, steering, wheel)
    cost = 1e6 * (time.process_time() - begin) / len(joints.time)
    return float(np.hypot(*(method.pose - truth[-1])[:2])), cost


def fixed(robot, parameters):
    """Return odometry with these parameters."""
    odometry = CalibratingOdometry(robot)
    odometry.calibration.adopt(parameters, limited=False)
    odometry.follow()
    odometry.calibration.frozen = True
    return odometry


def compare(bench: Bench, loop: CalibrationDrive, lesson: CalibrationDrive, seed: int):
    """Yield name, error, cost, and errors of ratios and of the mean radius, by method."""
    off = perturbed(bench.robot, seed, ERRORS)
    zero = bench.robot.steering_zero - off.steering_zero
    robot, true = calibrated(bench.robot, parameters_of(off)), bench.robot.wheel_radius
    joints = lesson.log.joints

    def ratio(parameters):
        r = parameters[:, 0] / true
        return float(np.abs(r / r.mean() - 1.0).max()), float(abs(r.mean() - 1.0))

    before = ratio(parameters_of(robot))
    for name, method in (('plain', Plain(robot)), ('reweighted', Plain(robot, ITERATIONS)),
                         ('ours', Odometry(robot))):
        yield name, *final(method, loop, zero), *before
    ekf = ParameterFilter(robot)
    begin = time.process_time()
    for steering, wheel in zip(joints.steering - zero, joints.wheel_angle, strict=True):
        ekf.step(steering, wheel)
    cost = 1e6 * (time.process_time() - begin) / len(joints.time)
    error, own = final(fixed(robot, ekf.parameters), loop, zero)
    yield 'ekf', error, cost + own, *ratio(ekf.parameters)
    pupil = CalibratingOdometry(robot)
    _, cost = final(pupil, lesson, zero)
    learned = pupil.calibration.parameters
    yield 'self-calibrating', final(fixed(robot, learned), loop, zero)[0], cost, *ratio(learned)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--draws', type=int, default=20, help='(default: %(default)s)')
    parser.add_argument('--plant', default='mujoco', help='(default: %(default)s)')
    arguments = parser.parse_args()
    bench = Bench(Conditions(plant=arguments.plant), 'c3p')
    loop, lesson = triangle(bench), minute(bench, 77)
    found = {}
    for k in range(arguments.draws + 1):
        for name, *values in compare(bench, loop, lesson, FIRST + k):
            found.setdefault(name, []).append(values)
    print('| method | triangle, true final error: median, p90 | ratios of radii, p90 | '
          'mean radius, median | per cycle, median |\n|---|---|---|---|---|')
    for name, values in found.items():
        # the first draw compiles
        error, cost, ratio, scale = np.array(values[1:]).T
        middle, high = np.percentile(100 * error, [50, 90])
        print(f'| {name} | {middle:.2f}, {high:.2f} cm | {100 * np.percentile(ratio, 90):.3f} % | '
              f'{100 * np.median(scale):.2f} % | {np.median(cost):.0f} µs |')


if __name__ == '__main__':
    main()
