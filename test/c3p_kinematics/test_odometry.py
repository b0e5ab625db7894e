# SPDX-License-Identifier: Apache-2.0
"""Odometry against towed casters, arcs, encoder steps, slip, and everything that can go wrong."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots
from tractrix import Path, drive

from c3p_kinematics import se2
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings

PERIOD = 0.005
WHEEL_STEP, STEERING_STEP = 2 * np.pi / 2000, 2 * np.pi / 4096


def relative(start, pose):
    return se2.compose(se2.inverse(start), pose)


def feed(odometry, times, steering, wheel, **more):
    return [odometry.step(*row, **more) for row in zip(times, steering, wheel, strict=True)]


def towed(robot, seed, duration, period=PERIOD, tolerance=1e-11):
    times = np.arange(round(duration / period) + 1) * period
    steering0 = np.random.default_rng(seed).uniform(-3, 3, robot.count)
    return times, *drive(robot, Path(seed), times, steering0, tolerance)[:3]


def steady(robot, twist, times):
    """Return angles of a constant twist with casters settled: they no longer turn."""
    vx, vy, w = twist
    x, y = robot.hip_position.T
    # the contact point d behind the pivot moves along e; so θ solves u + d ω = 0
    px, py = vx - w * y, vy + w * x
    size = np.hypot(px, py)
    steering = np.arctan2(-px, py) - np.arcsin(robot.caster_offset * w / size)
    wheel, steer, _ = inverse(robot, steering, twist)
    assert np.abs(steer).max() < 1e-12
    return np.tile(steering, (len(times), 1)), np.outer(times, wheel)


@pytest.mark.parametrize('twist', [[0.3, 0, 0], [0, -0.3, 0], [0.2, 0.1, 0.4], [0.1, 0.2, -1.0]])
def test_arcs_are_exact(twist):
    times = np.arange(401) * 0.02
    steering, wheel = steady(C3P, twist, times)
    estimate = feed(Odometry(C3P), times, steering, wheel)[-1]
    np.testing.assert_allclose(estimate.pose, se2.exp(np.array(twist) * times[-1]), atol=1e-10)
    np.testing.assert_allclose(estimate.twist, twist, atol=1e-10)
    assert estimate.distance == pytest.approx(np.hypot(*twist[:2]) * times[-1], rel=1e-3)


@settings(max_examples=6)
@given(caster_robots(), st.integers(0, 1000))
def test_random_motion_is_followed_to_a_tenth_of_a_millimetre(robot, seed):
    times, steering, wheel, poses = towed(robot, seed, 5.0)
    estimate = feed(Odometry(robot), times, steering, wheel)[-1]
    error = relative(relative(poses[0], poses[-1]), estimate.pose)
    # midpoint rule: θ̇² dt²/24 of the speed while casters flip; stated bound for 200 Hz
    assert np.abs(error).max() < 2e-4


def test_error_is_of_second_order_in_the_period():
    errors = []
    for period in (0.02, 0.01, 0.005):
        times, steering, wheel, poses = towed(C3P, 5, 4.0, period)
        estimate = feed(Odometry(C3P), times, steering, wheel)[-1]
        errors.append(np.linalg.norm(relative(relative(poses[0], poses[-1]), estimate.pose)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.4)


@given(st.lists(st.floats(-1e4, 1e4), min_size=6, max_size=6))
def test_first_sample_moves_nothing_wherever_the_encoders_stand(angles):
    odometry = Odometry(C3P)
    odometry.reset((1.0, 2.0, 3.0))
    estimate = odometry.step(5.0, angles[:3], angles[3:])
    np.testing.assert_array_equal(estimate.pose, [1.0, 2.0, 3.0])
    assert estimate.reason == 'first sample' and estimate.accepted and estimate.skipped == 0
    np.testing.assert_array_equal(odometry.step(5.01, angles[:3], angles[3:]).pose, [1, 2, 3])


def test_wrapped_encoders_give_the_same_pose():
    times, steering, wheel, _ = towed(C3P, 7, 5.0)
    plain = feed(Odometry(C3P), times, steering, wheel)[-1]
    wrapped = feed(Odometry(C3P), times, se2.wrap(steering), np.mod(wheel, 2 * np.pi))[-1]
    np.testing.assert_allclose(wrapped.pose, plain.pose, atol=1e-9)


def test_pose_comes_from_positions_and_twist_from_rates():
    times, steering, wheel, _ = towed(C3P, 7, 1.0)
    plain = feed(Odometry(C3P), times, steering, wheel)[-1]
    rates = inverse(C3P, steering[-1], [0.1, 0.2, 0.3])

    def last_with(wheel_rate, steering_rate):
        odometry = Odometry(C3P)
        feed(odometry, times[:-1], steering[:-1], wheel[:-1])
        return odometry.step(times[-1], steering[-1], wheel[-1], wheel_rate, steering_rate)

    estimate = last_with(*rates[:2])
    np.testing.assert_array_equal(estimate.pose, plain.pose)
    np.testing.assert_allclose(estimate.twist, [0.1, 0.2, 0.3], atol=1e-12)
    # one rate that is no number: the increments serve
    rates[1][0] = np.nan
    estimate = last_with(*rates[:2])
    np.testing.assert_array_equal(estimate.twist, plain.twist)


def test_a_clock_that_was_set_back_only_latches_and_says_so():
    odometry = Odometry(C3P)
    feed(odometry, [0.0, 0.01], np.zeros((2, 3)), [[0] * 3, [0.1] * 3])
    before = odometry.pose
    estimate = odometry.step(-0.09, np.zeros(3), np.full(3, 1.0))
    np.testing.assert_array_equal(estimate.pose, before)
    assert 'must advance' in estimate.reason and estimate.accepted and estimate.skipped == 1
    # the next one integrates from the new latch
    estimate = odometry.step(-0.08, np.zeros(3), np.full(3, 1.1))
    np.testing.assert_allclose(estimate.pose - before, [0, 0.1 * 0.04, 0], atol=1e-12)
    assert estimate.reason == ''


@pytest.mark.parametrize('dt', [0.0, -0.001, -0.049])
def test_what_a_sample_with_a_late_stamp_tells_is_in_the_next_one(dt):
    odometry = Odometry(C3P)
    feed(odometry, [0.0, 0.01], np.zeros((2, 3)), [[0] * 3, [0.1] * 3])
    before = odometry.pose
    estimate = odometry.step(0.01 + dt, np.zeros(3), np.full(3, 0.15))
    np.testing.assert_array_equal(estimate.pose, before)
    assert 'must advance' in estimate.reason and estimate.accepted and estimate.skipped == 1
    estimate = odometry.step(0.02, np.zeros(3), np.full(3, 0.2))
    np.testing.assert_allclose(estimate.pose - before, [0, 0.1 * 0.04, 0], atol=1e-12)
    assert estimate.reason == ''


@pytest.mark.parametrize('time, steering, wheel, named', [
    (np.nan, [0] * 3, [0] * 3, 'time'), (np.inf, [0] * 3, [0] * 3, 'time'),
    (0.02, [0, np.nan, 0], [0] * 3, 'steering'), (0.02, [0] * 3, [0, 0, np.inf], 'wheel_angle'),
    (0.02, [1e300] * 3, [0] * 3, 'steering')])
def test_sample_that_is_no_number_is_refused_with_its_reason(time, steering, wheel, named):
    odometry = Odometry(C3P)
    good = feed(odometry, [0.0, 0.01], np.zeros((2, 3)), [[0] * 3, [0.1] * 3])[-1]
    estimate = odometry.step(time, steering, wheel)
    assert not estimate.accepted and estimate.reason.startswith(named)
    assert estimate.rejected == 1 and estimate.time == good.time
    np.testing.assert_array_equal(estimate.pose, good.pose)
    # nothing was lost: the next good sample covers the time between
    estimate = odometry.step(0.03, np.zeros(3), np.full(3, 0.3))
    np.testing.assert_allclose(estimate.pose, [0, 0.3 * 0.04, 0], atol=1e-12)
    assert estimate.accepted


def test_sample_of_wrong_size_is_an_error():
    with pytest.raises(ValueError, match='wheel_angle has shape'):
        Odometry(C3P).step(0.0, [0] * 3, [0] * 2)
    with pytest.raises(ValueError, match='pose = '):
        Odometry(C3P).reset((0, 0, np.nan))


def assert_sound(estimate):
    for name in ('pose', 'twist', 'pose_covariance', 'twist_covariance', 'residual'):
        assert np.all(np.isfinite(getattr(estimate, name))), name
    assert np.isfinite(estimate.time) and np.isfinite(estimate.distance)
    assert np.all(np.isfinite(estimate.slip.residual)) and np.isfinite(estimate.slip.statistic)
    assert 0.0 <= estimate.slip.confidence <= 1.0
    for covariance in (estimate.pose_covariance, estimate.twist_covariance):
        np.testing.assert_array_equal(covariance, covariance.T)
        # without units, so that metres and radians compare
        scale = np.sqrt(np.diag(covariance))
        assert np.linalg.eigvalsh(covariance / np.outer(scale, scale)).min() > 0.0


anything = st.one_of(st.floats(-20, 20), st.floats(allow_nan=True, allow_infinity=True))


@given(caster_robots(), st.lists(
    st.tuples(anything, st.lists(anything, min_size=24, max_size=24)), max_size=12))
def test_whatever_comes_in_every_output_is_finite_and_every_covariance_definite(robot, samples):
    odometry, time, n = Odometry(robot), 0.0, robot.count
    for dt, values in samples:
        time = time + dt if abs(dt) < 1.0 else dt
        rates = np.array(values[2 * n:4 * n])
        assert_sound(odometry.step(time, values[:n], values[n:2 * n], rates[:n], rates[n:]))
        time = time if np.isfinite(time) else 0.0


@given(caster_robots(), st.integers(0, 1000))
@settings(max_examples=20)
def test_covariances_stay_definite_over_wild_increments(robot, seed):
    rng, odometry = np.random.default_rng(seed), Odometry(robot)
    for k in range(300):
        estimate = odometry.step(0.01 * k, rng.uniform(-9, 9, robot.count),
                                 rng.uniform(-9, 9, robot.count))
    assert_sound(estimate)


def test_pose_covariance_grows_along_the_way_and_not_at_standstill():
    times = np.arange(801) * PERIOD
    steering, wheel = steady(C3P, [0, 0.5, 0], times)
    odometry = Odometry(C3P, OdometrySettings(prior=None, steering_resolution=0.0,
                                              tyre_creep=0.0, side_slip=0.0))
    estimates = feed(odometry, times, steering, wheel)
    trace = np.array([np.trace(e.pose_covariance) for e in estimates])
    assert np.all(np.diff(trace[1:]) >= 0) and trace[-1] > trace[400] > trace[1]
    # 2 m: own growth along the way; across it the yaw variance adds ∫ k (L − s)² ds = k L³/3
    s, start, length = odometry.settings, 1e-6, 2.0
    along = start + s.position_variance_per_metre * length
    across = along + length**2 * start + s.yaw_variance_per_metre * length**3 / 3
    got = np.diag(estimates[-1].pose_covariance)
    np.testing.assert_allclose(got, [across, along, start + s.yaw_variance_per_metre * length],
                               rtol=1e-2)
    still = feed(odometry, times[-1] + times[1:], steering[1:], np.tile(wheel[-1], (800, 1)))
    np.testing.assert_array_equal(still[0].pose_covariance, still[-1].pose_covariance)


def test_flickering_encoders_at_standstill_add_neither_variance_nor_distance():
    rng, odometry = np.random.default_rng(3), Odometry(C3P)
    first = odometry.step(0.0, np.zeros(3), np.zeros(3))
    for k in range(1, 20_000):
        estimate = odometry.step(PERIOD * k, STEERING_STEP * rng.integers(0, 2, 3),
                                 WHEEL_STEP * rng.integers(0, 2, 3))
    assert estimate.distance == 0.0 and not estimate.slip.slipping
    np.testing.assert_array_equal(estimate.pose_covariance, first.pose_covariance)
    # flicker may leave one encoder step, 0.13 mm, and the second order of 1e5 steering flicks
    assert np.abs(estimate.pose).max() < 1e-3


def test_pose_covariance_does_not_depend_on_the_sampling():
    covariances = []
    for period in (0.005, 0.02):
        times = np.arange(round(6.0 / period) + 1) * period
        steering, wheel = steady(C3P, [0.3, 0.2, 0.5], times)
        covariances.append(feed(Odometry(C3P), times, steering, wheel)[-1].pose_covariance)
    np.testing.assert_allclose(covariances[0], covariances[1], rtol=0.02, atol=1e-6)


def test_twist_covariance_keeps_its_moving_value_for_a_second_after_the_stop():
    times = np.arange(201) * PERIOD
    steering, wheel = steady(C3P, [0, 1.0, 0], times)
    # of the tyres: errors of the description end with the motion
    odometry = Odometry(C3P, OdometrySettings(prior=None, steering_resolution=0.0, creep=0.02))
    moving = feed(odometry, times, steering, wheel)[-1].twist_covariance
    later = times[-1] + np.arange(1, 401) * PERIOD
    still = feed(odometry, later, np.tile(steering[-1], (400, 1)), np.tile(wheel[-1], (400, 1)))
    np.testing.assert_array_equal(still[199].twist_covariance, moving)
    assert np.trace(still[-1].twist_covariance) < 0.9 * np.trace(moving)


@pytest.mark.parametrize('again', [copy.deepcopy, lambda odometry: pickle.loads(
    pickle.dumps(odometry))], ids=['copy', 'pickle'])
def test_a_copy_goes_on_alone_with_the_same_bits(again):
    """Its arrays are parts of blocks of its own; a slipping wheel has every part in use."""
    odometry = Odometry(C3P)

    def drive(each, first, last):
        for k in range(first, last):
            wheel = np.array([0.02, 0.02, 0.02 + 0.05 * (k > 40)]) * k
            estimate = each.step(0.005 * k, [0.1, 0.1, 0.1], wheel, [4.0, 4.0, 4.0], np.zeros(3))
        return estimate

    drive(odometry, 0, 50)
    other = again(odometry)
    ahead = drive(other, 50, 150)
    assert ahead.slip.slipping and odometry.pose[1] < 0.8 * ahead.pose[1]
    for mine, theirs in zip(drive(odometry, 50, 150)[:6], ahead[:6], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_reset_starts_again():
    odometry = Odometry(C3P)
    feed(odometry, [0.0, 0.01], np.zeros((2, 3)), [[0] * 3, [0.1] * 3])
    odometry.reset((1, 2, 7))
    np.testing.assert_allclose(odometry.pose, [1, 2, 7 - 2 * np.pi])
    estimate = odometry.step(-5.0, np.ones(3), np.ones(3))
    assert estimate.reason == 'first sample' and estimate.distance == 0.0
    odometry.pose[:] = 9.0
    np.testing.assert_array_equal(odometry.pose, estimate.pose)
