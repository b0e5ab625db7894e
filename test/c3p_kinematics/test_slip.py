# SPDX-License-Identifier: Apache-2.0
"""Slip isolation: truss edges, leave-one-out fits, honesty where the data cannot decide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots, robots_in_motion, vectors

from c3p_kinematics import _slip_kernels as kernels
from c3p_kinematics.casters import inverse, sensed_forward
from c3p_kinematics.slip import detect_slip, edge_rates, edges, thresholds
from c3p_kinematics.slip_monitor import SlipMonitor, SlipSettings


def contact_points(robot, steering):
    along = np.column_stack([-np.sin(steering), np.cos(steering)])
    return robot.hip_position - robot.caster_offset[:, None] * along


def slipped(robot, steering, twist, wheel, velocity):
    """Return the rates with `velocity` [along, across] added at the contact of `wheel`."""
    rolling, steer, _ = inverse(robot, steering, twist)
    rolling[wheel] += velocity[0] / robot.wheel_radius[wheel]
    steer[wheel] -= velocity[1] / robot.caster_offset[wheel]
    return rolling, steer


def slip_along(robot, steering, wheel, direction, speed):
    """Return [along, across] of a slip in a base_link `direction`."""
    c, s = np.cos(steering[wheel]), np.sin(steering[wheel])
    return speed * np.array([direction @ [-s, c], direction @ [c, s]])


@given(robots_in_motion())
def test_rigid_motion_stretches_no_edge_and_raises_no_alarm(case):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    assert np.abs(edge_rates(robot, steering, wheel, steer)).max() < 1e-12
    report = detect_slip(robot, steering, wheel, steer)
    assert not report.slipping and report.suspect == -1 and report.confidence == 0.0


@given(robots_in_motion(min_casters=3, max_casters=3), st.integers(0, 2), vectors(2, 1.0))
def test_with_three_casters_the_edge_opposite_the_slipping_wheel_stays_zero(case, wheel, slip):
    robot, steering, twist, _ = case
    rates = slipped(robot, steering, twist, wheel, slip)
    stretch = edge_rates(robot, steering, *rates)
    opposite = [i for i, pair in enumerate(edges(3)) if wheel not in pair]
    np.testing.assert_allclose(stretch[opposite], 0.0, atol=1e-12)


@given(robots_in_motion(min_casters=3, max_casters=3), vectors(6, 1.0))
def test_with_three_casters_leaving_one_out_leaves_the_opposite_edge(case, noise):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + noise[:3], steer + noise[3:]
    variance = np.array([1.0, 0.5, 2.0]) * 1e-4
    contact, residual, without = np.empty((3, 2)), np.empty((3, 2)), np.empty(3)
    kernels.measured(robot.geometry, wheel, steer, contact)
    total = kernels.leave_one_out(robot.geometry, steering, contact, variance, residual, without)
    # two rigid points have one equation too many: their distance, of variance v_i + v_j
    stretch = edge_rates(robot, steering, wheel, steer)
    expected = [stretch[k]**2 / (variance[i] + variance[j]) for k, (i, j) in enumerate(edges(3))]
    np.testing.assert_allclose(without, expected[::-1], rtol=1e-7, atol=1e-9 * (1 + total))


@given(robots_in_motion(min_casters=4), vectors(12, 1.0))
def test_deletion_formula_equals_a_second_fit(case, noise):
    robot, steering, twist, _ = case
    n = robot.count
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + np.resize(noise, n), steer + np.resize(noise[::-1], n)
    contact, residual, without = np.empty((n, 2)), np.empty((n, 2)), np.empty(n)
    kernels.measured(robot.geometry, wheel, steer, contact)
    kernels.leave_one_out(robot.geometry, steering, contact, np.ones(n), residual, without)
    for k in range(n):
        keep = np.arange(n) != k
        fit = sensed_forward(robot, steering, wheel, steer, keep[:, None] * 1.0)
        np.testing.assert_allclose(without[k], np.sum(fit.residual[keep]**2), atol=1e-9)


def edge_angle(robot, steering, wheel, direction):
    """Return the smallest |cosine| between `direction` and the edges at `wheel`."""
    points = contact_points(robot, steering)
    to = np.delete(points, wheel, axis=0) - points[wheel]
    return np.abs(to @ direction / np.linalg.norm(to, axis=1)).min()


@given(caster_robots(min_casters=3), st.integers(0, 2**32 - 1))
def test_slipping_wheel_is_named_unless_an_edge_hides_it(robot, seed):
    rng = np.random.default_rng(seed)
    steering, twist = rng.uniform(-4, 4, robot.count), rng.uniform(-0.3, 0.3, 3)
    wheel, angle = rng.integers(robot.count), rng.uniform(0, 2 * np.pi)
    direction = np.array([np.cos(angle), np.sin(angle)])
    slip = slip_along(robot, steering, wheel, direction, 1.0)
    report = detect_slip(robot, steering, *slipped(robot, steering, twist, wheel, slip))
    assert report.slipping
    # 0.3 m/s of stretch is many deviations of 5 mm/s, or of 1 % of about 1 m/s, on every edge
    if edge_angle(robot, steering, wheel, direction) > 0.3:
        assert report.suspect == wheel and report.confidence > 0.9
        assert report.residual[wheel] == pytest.approx(1.0, abs=0.05)


def test_slip_perpendicular_to_an_edge_leaves_two_equal_suspects():
    steering = np.array([0.4, 0.2, -2.0])
    points = contact_points(C3P, steering)
    edge = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    slip = slip_along(C3P, steering, 0, np.array([-edge[1], edge[0]]), 0.2)
    report = detect_slip(C3P, steering, *slipped(C3P, steering, [0.3, 0, 0.1], 0, slip),
                         speed_fraction=0.0)
    # edge 0-1 stays; edge 0-2 alone stretches: wheel 0 or wheel 2
    assert report.slipping and report.suspect in (0, 2)
    assert report.confidence == pytest.approx(0.5, abs=1e-3)
    np.testing.assert_allclose(report.likelihood, [0.5, 0.0, 0.5], atol=1e-3)


def test_two_slipping_wheels_have_no_single_suspect():
    steering = np.array([0.4, 0.2, -2.0])
    wheel, steer, _ = inverse(C3P, steering, [0.3, 0.0, 0.1])
    wheel[0] += 10.0
    wheel[1] += 10.0
    report = detect_slip(C3P, steering, wheel, steer)
    assert report.slipping and report.suspect == -1 and report.confidence == 0.0


@given(robots_in_motion(min_casters=2, max_casters=2))
def test_two_casters_detect_but_never_isolate(case):
    robot, steering, twist, _ = case
    points = contact_points(robot, steering)
    edge = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    slip = slip_along(robot, steering, 0, edge, 2.0)
    report = detect_slip(robot, steering, *slipped(robot, steering, twist * 0.1, 0, slip))
    assert report.slipping and report.suspect == -1 and report.confidence == 0.0
    np.testing.assert_array_equal(report.likelihood, 0.5)


def test_false_alarms_of_gaussian_noise_are_as_rare_as_the_threshold_says():
    rng = np.random.default_rng(0)
    steering, limit = np.array([0.4, 0.2, -2.0]), 0
    wheel, steer, _ = inverse(C3P, steering, [0.3, 0.0, 0.1])
    statistics = []
    for _ in range(20_000):
        noise = 0.005 / 0.04 * rng.normal(size=(2, 3))
        report = detect_slip(C3P, steering, wheel + noise[0], steer + noise[1], 0.005, 0.0)
        limit += report.slipping
        statistics.append(report.statistic)
    assert limit == 0
    # χ² with 3 degrees: mean 3, standard error √6/√20000 = 0.017
    assert np.mean(statistics) == pytest.approx(3.0, abs=0.07)
    assert thresholds(3)[0] == pytest.approx(30.66, abs=0.01)


@pytest.mark.parametrize('call, text', [
    (lambda: detect_slip(C3P, [0, 0], [0, 0, 0], [0, 0, 0]), 'steering has shape'),
    (lambda: detect_slip(C3P, [0] * 3, [0] * 3, [0] * 3, noise_std=0.0), 'noise_std = 0.0'),
    (lambda: detect_slip(C3P, [0] * 3, [0] * 3, [0] * 3, noise_std=-0.1), 'noise_std = -0.1'),
    (lambda: detect_slip(C3P, [0] * 3, [0] * 3, [0] * 3, noise_std=[0.1] * 2), 'noise_std = '),
    (lambda: detect_slip(C3P, [0] * 3, [0] * 3, [0] * 3, speed_fraction=-1.0), 'speed_fraction'),
    (lambda: detect_slip(C3P, [0] * 3, [0, np.nan, 0], [0] * 3), 'wheel_rate = '),
    (lambda: edge_rates(C3P, [0] * 3, [0] * 3, [0, 0, np.inf]), 'steering_rate = '),
    (lambda: SlipSettings(time_constant=0.0), 'time_constant = 0.0'),
    (lambda: SlipSettings(release=-1.0), 'release = -1.0'),
])
def test_wrong_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def spin(monitor, duration, wheel_rate, dt=0.005):
    for _ in range(round(duration / dt)):
        report = monitor.step(dt, [0.4, 0.2, -2.0], [0.0, wheel_rate, 0.0], np.zeros(3))
    return report


def test_monitor_raises_the_alarm_soon_and_withdraws_it_when_the_slip_ends():
    monitor = SlipMonitor(C3P)
    # 0.2 m/s: the filter passes the threshold within a few samples, persistence adds 20 ms
    assert not spin(monitor, 0.01, 5.0).slipping
    report = spin(monitor, 0.05, 5.0)
    assert report.slipping and report.suspect == 1
    assert spin(monitor, 0.2, 0.0).slipping
    assert not spin(monitor, 1.0, 0.0).slipping


def test_monitor_ignores_a_single_wild_sample_and_one_that_is_no_number():
    monitor = SlipMonitor(C3P)
    assert not spin(monitor, 0.005, 10.0).slipping
    assert not spin(monitor, 1.0, 0.0).slipping
    report = monitor.step(0.005, [0.4, np.nan, 0], [np.inf, 0, 0], np.zeros(3))
    assert np.isfinite(report.statistic) and not report.slipping
    assert not spin(monitor, 0.1, 0.0).slipping


def test_monitor_does_not_flicker_near_the_threshold():
    rng, monitor, changes, last = np.random.default_rng(4), SlipMonitor(C3P), 0, False
    # find the rate whose filtered statistic is just at the threshold
    level = spin(SlipMonitor(C3P, SlipSettings(speed_fraction=0)), 3.0, 1.0).statistic
    rate = np.sqrt(thresholds(3)[0] / level)
    monitor = SlipMonitor(C3P, SlipSettings(speed_fraction=0))
    for _ in range(4000):
        noise = 1 + 0.5 * rng.normal()
        report = monitor.step(0.005, [0.4, 0.2, -2.0], [0, rate * noise, 0], np.zeros(3))
        changes, last = changes + (report.slipping != last), report.slipping
    assert changes <= 1
