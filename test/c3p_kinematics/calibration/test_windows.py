# SPDX-License-Identifier: Apache-2.0
"""Rolling equations over windows, against a robot that is towed by positions alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots
from tractrix import Path, drive

from c3p_kinematics.calibration import _window_kernels as kernels
from c3p_kinematics.calibration.parameters import gauge, parameters_of

EXACT = np.array([1e-4, 1e-4, 0.0])


def compute(parameters, steering, wheel, cut, noise=EXACT):
    return kernels.compute_windows(
        np.ascontiguousarray(parameters), np.ascontiguousarray(steering),
        np.ascontiguousarray(wheel), np.array(cut), noise)


def towed(robot, seed, duration=2.0, rate=1000.0):
    path, times = Path(seed), np.arange(0.0, duration, 1.0 / rate)
    start = np.random.default_rng(seed).uniform(-1, 1, robot.count)
    steering, wheel, *_ = drive(robot, path, times, start)
    return path, times, (np.unwrap(steering, axis=0), wheel)


@settings(max_examples=10, deadline=None)
@given(robot=caster_robots(min_casters=3), seed=st.integers(0, 1000))
def test_a_window_of_a_towed_robot_has_no_residual_and_the_true_motion(robot, seed):
    path, times, towing = towed(robot, seed)
    steering, wheel = towing
    value, _, step, *_ = compute(parameters_of(robot), steering, wheel, [[0, len(times) - 1]],
                                 np.array([1.0, 1.0, 0.0]))
    begin, end = path.pose(times[0]), path.pose(times[-1])
    c, s = np.cos(begin[2]), np.sin(begin[2])
    moved = end - begin
    true = [c * moved[0] + s * moved[1], c * moved[1] - s * moved[0], moved[2]]
    # of third order in the steps of 1 ms, in which casters turn by up to 0.05 rad
    np.testing.assert_allclose(step[0], true, atol=2e-4)
    assert np.abs(value).max() < 2e-3


def test_derivatives_of_a_window_are_those_of_differences():
    _, times, (steering, wheel) = towed(C3P, 3)
    parameters, cut = parameters_of(C3P), [[0, 900], [900, len(times) - 1]]
    value, jacobian, step, of, *_ = compute(parameters, steering, wheel, cut)
    for k in range(15):
        change = np.zeros(15)
        change[k] = 1e-6
        above, below = (compute(parameters + sign * change.reshape(3, 5), steering, wheel, cut)
                        for sign in (1, -1))
        scale = np.abs(jacobian).max()
        # the residuals of the steps of 1 ms enter the derivative in second order
        np.testing.assert_allclose((above[0] - below[0]) / 2e-6, jacobian[:, :, k],
                                   atol=3e-4 * scale)
        np.testing.assert_allclose((above[2] - below[2]) / 2e-6, of[:, :, k], atol=2e-3)


def test_a_window_does_not_observe_the_gauge():
    _, times, (steering, wheel) = towed(C3P, 4)
    parameters = parameters_of(C3P)
    _, jacobian, *_ = compute(parameters, steering, wheel, [[0, len(times) - 1]])
    directions = gauge(parameters) / np.linalg.norm(gauge(parameters), axis=0)
    seen = jacobian[0] @ directions
    # 1e-4 of what the window observes of other directions: the discretisation of the steps
    assert np.abs(seen).max() < 1e-4 * np.abs(jacobian).max()


def test_variance_of_whitened_residuals_is_one_with_rounded_angles():
    wheel_step, steering_step = 2 * np.pi / 2000, 2 * np.pi / 4096
    values, rng = [], np.random.default_rng(0)
    for seed in range(6):
        _, times, (steering, wheel) = towed(C3P, seed, duration=10.0, rate=200.0)
        phase = rng.uniform(size=3)
        rounded = steering_step * np.round(steering / steering_step)
        counted = wheel_step * (np.floor(wheel / wheel_step + phase) - phase + 0.5)
        cut = np.column_stack([np.arange(0, 1900, 100), np.arange(100, 2000, 100)])
        values.append(compute(parameters_of(C3P), rounded, counted, cut,
                              np.array([wheel_step, steering_step, 0.0]))[0])
    # 6 · 19 windows of 3 numbers: 4 % of standard deviation, and the model is a rough one
    assert np.sqrt(np.mean(np.concatenate(values)**2)) == pytest.approx(1.0, abs=0.3)


def test_spread_is_the_root_of_the_covariance_of_the_motion():
    _, times, (steering, wheel) = towed(C3P, 5)
    parameters, cut = parameters_of(C3P), [[0, len(times) - 1]]
    noise = np.array([1e-3, 0.0, 0.0])
    *_, spread, _ = compute(parameters, steering, wheel, cut, noise)
    # three points with errors σ in both components: position σ/√3 at their middle
    sigma = 0.04 * 1e-3 / np.sqrt(12.0)
    covariance = spread[0] @ spread[0].T
    assert np.sqrt(np.linalg.eigvalsh(np.linalg.inv(covariance))[-1]) > 1.0
    assert np.linalg.det(covariance[:2, :2])**0.25 == pytest.approx(sigma / np.sqrt(3), rel=0.1)


def test_contacts_that_coincide_make_a_window_without_a_solution():
    parameters = parameters_of(C3P)
    parameters[:, 2:4] = 0.0
    steering, wheel = np.zeros((10, 3)), np.zeros((10, 3)) + np.arange(10)[:, None]
    *_, travel = compute(parameters, steering, wheel, [[0, 9]])
    assert travel[0] == -1.0
