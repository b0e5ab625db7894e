# SPDX-License-Identifier: Apache-2.0
"""Odometry is invariant to frame, numbering, handedness and units; loops close; growth adds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_kinematics.casters import inverse
from c3p_kinematics.faults import FaultSettings
from c3p_kinematics.grip import GripSettings
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import compose
from c3p_kinematics.slip import SlipSettings

DT = 0.01
SEEDS = st.integers(0, 2**32 - 1)


def samples(robot, seed, count=60, slip=0.3):
    """Return (steering, wheel angle) of a smooth drive; one wheel slips in its second half."""
    rng = np.random.default_rng(seed)
    n, size = robot.count, np.abs(robot.hip_position).max()
    steering, wheel = rng.uniform(-3, 3, (2, n))
    phase, slipping = rng.uniform(0, 6, 3), rng.integers(n)
    out = []
    for k in range(count):
        out.append((steering, wheel))
        twist = size * np.array([0.5, 0.5, 0.5 / size]) * np.sin(phase + 0.05 * k)
        rates, turning, _ = inverse(robot, steering, twist)
        rates[slipping] += slip * size / robot.wheel_radius[slipping] * (k > count // 2)
        steering, wheel = steering + DT * turning, wheel + DT * rates
    return out


def run(robot, angles, pose=(0.0, 0.0, 0.0), settings=None):
    """Return all estimates."""
    odometry = Odometry(robot, settings)
    odometry.reset(pose)
    return [odometry.step(DT * k, *sample) for k, sample in enumerate(angles)]


def poses(estimates):
    """Return the poses (k, 3)."""
    return np.array([estimate.pose for estimate in estimates])


def assert_same_pose(got, expected, size=1.0):
    """Compare poses up to whole turns."""
    off = got - expected
    off[..., 2] = np.angle(np.exp(1j * off[..., 2]))
    np.testing.assert_allclose(off, 0.0, atol=1e-8 * max(size, 1.0))


@given(robot=caster_robots(min_casters=3), seed=SEEDS, start=st.tuples(*[st.floats(-3, 3)] * 3))
@settings(max_examples=8)
def test_a_start_elsewhere_moves_and_turns_the_path_with_its_covariance(robot, seed, start):
    angles = samples(robot, seed)
    here, there = run(robot, angles), run(robot, angles, start)
    assert_same_pose(poses(there), compose(start, poses(here)))
    c, s = np.cos(start[2]), np.sin(start[2])
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for one, other in zip(here, there, strict=True):
        expected = turn @ one.pose_covariance @ turn.T
        np.testing.assert_allclose(other.pose_covariance, expected, atol=1e-9,
                                   rtol=1e-6)
        np.testing.assert_allclose(other.twist, one.twist, atol=1e-9)
        assert other.distance == pytest.approx(one.distance, abs=1e-9)


@given(robot=caster_robots(min_casters=3), seed=SEEDS)
@settings(max_examples=8)
def test_numbering_of_the_casters_does_not_matter(robot, seed):
    order = np.random.default_rng(seed).permutation(robot.count)
    other = replace(robot, hip_position=robot.hip_position[order],
                    caster_offset=robot.caster_offset[order],
                    wheel_radius=robot.wheel_radius[order])
    angles = samples(robot, seed)
    one = run(robot, angles)
    two = run(other, [(steering[order], wheel[order]) for steering, wheel in angles])
    assert_same_pose(poses(two), poses(one))
    assert [e.slip.slipping for e in two] == [e.slip.slipping for e in one]
    np.testing.assert_allclose(two[-1].residual, one[-1].residual[order], atol=1e-8)


@given(robot=caster_robots(min_casters=3), seed=SEEDS, base=st.tuples(*[st.floats(-1, 1)] * 3))
@settings(max_examples=8)
def test_the_choice_of_base_link_does_not_matter(robot, seed, base):
    # a held twist keeps the velocity of base_link, which depends on its place
    settings = OdometrySettings(grip=GripSettings(acceleration=np.inf))
    # it turns the zeros of the joints, and with them what a reversed encoder would read: one that
    # is not excluded yet shares the probability of a slip
    for at, slip in (((*base[:2], 0.0), 0.3), (base, 0.0)):
        c, s = np.cos(at[2]), np.sin(at[2])
        hips = (robot.hip_position - at[:2]) @ np.array([[c, -s], [s, c]])
        angles = samples(robot, seed, slip=slip)
        expected = compose(poses(run(robot, angles, settings=settings)), at)
        moved = run(replace(robot, hip_position=hips),
                    [(steering - at[2], wheel) for steering, wheel in angles], at, settings)
        assert_same_pose(poses(moved), expected)


@given(robot=caster_robots(min_casters=3), seed=SEEDS)
@settings(max_examples=8)
def test_a_mirrored_robot_drives_the_mirrored_path(robot, seed):
    angles = samples(robot, seed)
    mirrored = run(replace(robot, hip_position=robot.hip_position * [1, -1]),
                   [(np.pi - steering, wheel) for steering, wheel in angles])
    one = run(robot, angles)
    assert_same_pose(poses(mirrored), poses(one) * [1, -1, -1])
    flip = np.diag([1.0, -1.0, -1.0])
    np.testing.assert_allclose(mirrored[-1].pose_covariance, flip @ one[-1].pose_covariance @ flip,
                               rtol=1e-6, atol=1e-9)


@given(robot=caster_robots(min_casters=3), seed=SEEDS, scale=st.floats(0.3, 3.0))
@settings(max_examples=8)
def test_all_settings_scale_with_their_units(robot, seed, scale):
    """A robot of twice the size with settings in half-metres drives the same path."""
    larger = replace(robot, hip_position=scale * robot.hip_position,
                     caster_offset=scale * robot.caster_offset,
                     wheel_radius=scale * robot.wheel_radius)
    one = OdometrySettings()
    slip, grip, faults = SlipSettings(), GripSettings(), FaultSettings()
    other = OdometrySettings(
        rate_noise_std=scale * one.rate_noise_std,
        position_variance_per_metre=scale * one.position_variance_per_metre,
        position_variance_per_radian=scale**2 * one.position_variance_per_radian,
        yaw_variance_per_metre=one.yaw_variance_per_metre / scale,
        initial_position_std=scale * one.initial_position_std,
        prior=replace(one.prior, hip=scale * one.prior.hip),
        standing_distance=scale * one.standing_distance,
        slip=replace(slip, noise_std=scale * slip.noise_std),
        grip=replace(grip, acceleration=scale * grip.acceleration, noise=scale * grip.noise),
        faults=replace(faults, **{name: scale * getattr(faults, name) for name in (
            'released_after', 'noise_std', 'hip', 'standing', 'memory')}))
    angles = samples(robot, seed)
    small, large = run(robot, angles, settings=one), run(larger, angles, settings=other)
    units = np.array([scale, scale, 1.0])
    assert_same_pose(poses(large), poses(small) * units, scale)
    for a, b in zip(small, large, strict=True):
        assert b.slip.slipping == a.slip.slipping
        np.testing.assert_allclose(b.pose_covariance, a.pose_covariance * np.outer(units, units),
                                   rtol=1e-5, atol=1e-12)


@given(robot=caster_robots(), seed=SEEDS)
@settings(max_examples=8)
def test_driving_back_over_the_same_angles_returns_to_the_start(robot, seed):
    angles = samples(robot, seed)
    # weights that are learned differ on the way back
    there = OdometrySettings(robust=False, tyre_creep=0.0, side_slip=0.0)
    estimates = run(robot, angles + angles[-2::-1], settings=there)
    assert_same_pose(estimates[-1].pose, np.zeros(3))
    assert estimates[-1].distance > 0.0


def test_variance_of_a_straight_drive_is_that_of_its_random_walk():
    length, count = 4.0, 400
    # without the errors that last
    s = OdometrySettings(prior=None, wheel_resolution=0.0, steering_resolution=0.0,
                         tyre_creep=0.0, side_slip=0.0)
    step = length / count
    angles = [(np.zeros(3), np.full(3, k * step / 0.04)) for k in range(count + 1)]
    p = run(C3P, angles, settings=s)[-1].pose_covariance
    yaw0, a = s.initial_yaw_std**2, s.yaw_variance_per_metre
    place = s.initial_position_std**2 + s.position_variance_per_metre * length
    # along +Y the yaw error displaces across: ∫ (L − s)² a ds = a L³/3
    assert p[2, 2] == pytest.approx(yaw0 + a * length, rel=1e-9)
    assert p[1, 1] == pytest.approx(place, rel=1e-9)
    assert p[0, 0] == pytest.approx(place + yaw0 * length**2 + a * length**3 / 3, rel=1e-2)
    assert p[0, 2] == pytest.approx(-yaw0 * length - a * length**2 / 2, rel=1e-2)


def test_texts_and_metrics_of_an_estimate():
    estimate = run(C3P, samples(C3P, 1))[-1]
    assert set(estimate.metrics()) == {
        'distance driven [m]', 'position known to, 95 % [m]', 'yaw known to, 95 % [rad]',
        'samples only latched', 'gaps bridged',
        'samples repeated', 'side of a turn'}
    assert estimate.spin_text() == estimate.doubt_text(0.1) == ''
    spun = estimate._replace(grip=estimate.grip._replace(held=0.3), doubt=np.array([0.2, 0.1]))
    assert '0.30 s' in spun.spin_text() and '0.20 m and 0.10 rad' in spun.doubt_text(0.1)


def test_texts_and_probabilities_of_a_slip_report():
    names = ['a', 'b', 'c']
    slip = run(C3P, samples(C3P, 1))[-1].slip._replace(
        slipping=True, suspect=1, residual=np.array([0.0, 0.25, 0.0]), confidence=0.97)
    assert slip.text(names) == 'b slips at 0.250 m/s, confidence 0.97'
    assert slip.probability is slip.likelihood
    several = slip._replace(suspect=-1)
    assert several.text(names) == 'more than one wheel slips'
    assert np.isnan(several.probability).all()
    rolling = slip._replace(slipping=False)
    assert rolling.text(names) == '' and rolling.probability.tolist() == [0.0] * 3
