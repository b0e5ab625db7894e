# SPDX-License-Identifier: Apache-2.0
"""Slip isolation against truss edges and second fits; invariances; ambiguous cases."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots, robots_in_motion, vectors

from c3p_kinematics._planar_kernels import measured
from c3p_kinematics._slip_kernels import leave_out_each
from c3p_kinematics.casters import inverse, sensed_forward
from c3p_kinematics.odometry_states import SlipWatch
from c3p_kinematics.slip import SlipMonitor, SlipSettings, detect_slip, thresholds, within


def contact_points(robot, steering):
    along = np.column_stack([-np.sin(steering), np.cos(steering)])
    return robot.hip_position - robot.caster_offset[:, None] * along


def edge_rates(robot, steering, wheel_rate, steering_rate):
    """Return how fast the measured distances between contact points change, by pair."""
    e = np.column_stack([-np.sin(steering), np.cos(steering)])
    a = np.column_stack([np.cos(steering), np.sin(steering)])
    velocity = (e * (robot.wheel_radius * wheel_rate)[:, None]
                - a * (robot.caster_offset * steering_rate)[:, None])
    points, rates = contact_points(robot, steering), {}
    for i, j in combinations(range(robot.count), 2):
        edge = points[i] - points[j]
        rates[i, j] = edge @ (velocity[i] - velocity[j]) / np.linalg.norm(edge)
    return rates


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
    assert max(map(abs, edge_rates(robot, steering, wheel, steer).values())) < 1e-12
    report = detect_slip(robot, steering, wheel, steer)
    assert not report.slipping and report.suspect == -1 and report.confidence == 0.0


@given(robots_in_motion(min_casters=3, max_casters=3), st.integers(0, 2), vectors(2, 1.0))
def test_with_three_casters_the_others_agree_without_the_slipping_wheel(case, wheel, slip):
    robot, steering, twist, _ = case
    rates = slipped(robot, steering, twist, wheel, slip)
    # the edge opposite the wheel does not stretch
    others = [rate for pair, rate in edge_rates(robot, steering, *rates).items()
              if wheel not in pair]
    np.testing.assert_allclose(others, 0.0, atol=1e-12)
    assert without_each(robot, steering, *rates, np.ones(3))[wheel] < 1e-12


def without_each(robot, steering, wheel, steer, variance):
    """Return χ² without each caster."""
    n = robot.count
    slip = SlipWatch.new(n)
    measured(robot.geometry, wheel, steer, slip.fit.contact)
    slip.variance[:] = variance
    leave_out_each(slip.block, robot.geometry, steering)
    return slip.without


@given(robots_in_motion(min_casters=3, max_casters=3), vectors(6, 1.0))
def test_with_three_casters_leaving_one_out_leaves_the_opposite_edge(case, noise):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + noise[:3], steer + noise[3:]
    variance = np.array([1.0, 0.5, 2.0]) * 1e-4
    without = without_each(robot, steering, wheel, steer, variance)
    # two rigid points have one equation too many: their distance, of variance v_i + v_j
    expected = [rate**2 / (variance[i] + variance[j])
                for (i, j), rate in edge_rates(robot, steering, wheel, steer).items()]
    np.testing.assert_allclose(without, expected[::-1], rtol=1e-7,
                               atol=1e-9 * (1 + np.sum(expected)))


@given(robots_in_motion(min_casters=4), vectors(12, 1.0))
def test_deletion_formula_equals_a_second_fit(case, noise):
    robot, steering, twist, _ = case
    n = robot.count
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + np.resize(noise, n), steer + np.resize(noise[::-1], n)
    without = without_each(robot, steering, wheel, steer, np.ones(n))
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


@given(robots_in_motion(min_casters=3), st.integers(0, 2**32 - 1))
def test_a_slip_test_does_not_depend_on_frame_order_mirror_or_size(case, seed):
    robot, steering, twist, _ = case
    n, rng = robot.count, np.random.default_rng(seed)
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + rng.normal(size=n), steer + rng.normal(size=n)
    expected = detect_slip(robot, steering, wheel, steer, 0.02, 0.0)

    def compare(robot, steering, wheel, steer, noise=0.02, order=slice(None)):
        got = detect_slip(robot, steering, wheel, steer, noise, 0.0)
        assert got.statistic == pytest.approx(expected.statistic, rel=1e-6)
        np.testing.assert_allclose(got.likelihood, expected.likelihood[order], atol=1e-6)
        assert got.slipping == expected.slipping

    # base_link elsewhere and turned by 0.7 rad: the steering angles turn with the pivots
    c, s = np.cos(0.7), np.sin(0.7)
    hips = robot.hip_position @ np.array([[c, s], [-s, c]]) + [0.3, -0.2]
    compare(replace(robot, hip_position=hips), steering + 0.7, wheel, steer)
    # mirrored in the XZ plane: θ → π − θ makes e → (e_x, −e_y), the wheels roll as before
    compare(replace(robot, hip_position=robot.hip_position * [1, -1]), np.pi - steering, wheel,
            -steer)
    order = rng.permutation(n)
    compare(replace(robot, hip_position=robot.hip_position[order],
                    caster_offset=robot.caster_offset[order],
                    wheel_radius=robot.wheel_radius[order]),
            steering[order], wheel[order], steer[order], order=order)
    compare(replace(robot, hip_position=3 * robot.hip_position,
                    caster_offset=3 * robot.caster_offset, wheel_radius=3 * robot.wheel_radius),
            steering, wheel, steer, 0.06)


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
    (lambda: detect_slip(C3P, [0] * 3, [0] * 3, [0, 0, np.inf]), 'steering_rate = '),
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


def test_monitor_ignores_a_single_wild_sample_however_long_it_lasts():
    monitor = SlipMonitor(C3P)
    report = spin(monitor, 0.03, 10.0, dt=0.03)
    assert report.statistic > report.threshold and not report.slipping
    assert not spin(monitor, 1.0, 0.0).slipping
    assert spin(monitor, 0.06, 10.0, dt=0.03).slipping
    # and one sample does not end it
    assert spin(monitor, 3.0, 0.0, dt=3.0).slipping
    assert not spin(monitor, 3.0, 0.0, dt=3.0).slipping
    # where no time is demanded one is enough
    assert spin(SlipMonitor(C3P, SlipSettings(persistence=0.0)), 0.03, 10.0, dt=0.03).slipping


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


@pytest.mark.parametrize('values, limit, inside', [
    ([0.0, 0.0, 0.0], 0.0, True), ([1.0, -1.0, 0.5], 1.0, True), ([0.5, 1.1, 0.5], 1.0, False),
    ([0.5, 0.5, -1.1], 1.0, False), ([1.1, 0.0, 0.0], 1.0, False),
    ([0.0, np.nan, 0.0], 1.0, False), ([], 1.0, True)])
def test_vectors_are_within_a_limit_with_every_component(values, limit, inside):
    assert within(np.array(values), limit) is inside


@given(robots_in_motion())
def test_without_slip_all_casters_are_equally_likely_and_nothing_is_said(case):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    report = detect_slip(robot, steering, wheel, steer)
    assert report.likelihood == pytest.approx(np.full(robot.count, 1.0 / robot.count))
    assert report.text(robot.wheel_joints) == '' and not report.probability.any()
    # one array for all reports
    with pytest.raises(ValueError, match='read-only'):
        report.likelihood[0] = 1.0


def test_the_text_of_a_slip_names_its_wheel_speed_and_confidence():
    steering = np.array([0.3, -0.4, 0.9])
    rolling, steer = slipped(C3P, steering, [0.3, 0.1, 0.2], 1, [0.2, 0.0])
    report = detect_slip(C3P, steering, rolling, steer)
    names = C3P.wheel_joints
    assert report.suspect == 1
    assert report.text(names) == (f'{names[1]} slips at {report.residual[1]:.3f} m/s, confidence '
                                  f'{report.confidence:.2f}')
    several = report._replace(suspect=-1)
    assert several.text(names) == 'more than one wheel slips'
    assert np.isnan(several.probability).all()
    assert several.text(names[:2]) == (f'{names[0]} or {names[1]} slips: two casters do not '
                                       'isolate it')
