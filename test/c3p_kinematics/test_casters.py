# SPDX-License-Identifier: Apache-2.0
"""Properties that the caster kinematics of every robot must have."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import C3P, caster_robots, robots_in_motion, vectors

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import (
    contact_jacobian,
    inverse,
    inverse_acceleration,
    sensed_forward,
    steering_jacobian,
    wheel_jacobian,
)
from c3p_kinematics.singularity import length_scale

# rounding of a few dozen operations on numbers up to about 100
ROUNDING = 1e-11


def changed(robot, **fields):
    keep = {name: getattr(robot, name) for name in (
        'name', 'hip_position', 'caster_offset', 'wheel_radius', 'platform_mass',
        'platform_inertia', 'platform_com', 'link_mass', 'link_com', 'link_inertia', 'wheel_mass',
        'wheel_spin_inertia', 'wheel_yaw_inertia')}
    return CasterRobot(**{**keep, **fields})


@given(robots_in_motion())
def test_sensed_forward_undoes_inverse(case):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    sensed = sensed_forward(robot, steering, wheel, steer)
    np.testing.assert_allclose(sensed.twist, twist, atol=1e-10)
    np.testing.assert_allclose(sensed.residual, 0.0, atol=1e-10)


@given(robots_in_motion())
def test_rates_are_jacobians_times_twist(case):
    robot, steering, twist, _ = case
    jacobians = (wheel_jacobian, steering_jacobian, contact_jacobian)
    for rate, jacobian in zip(inverse(robot, steering, twist), jacobians, strict=True):
        np.testing.assert_allclose(jacobian(robot, steering) @ twist, rate,
                                   atol=ROUNDING, rtol=ROUNDING)


@given(robots_in_motion())
def test_contact_rate_is_yaw_rate_plus_steering_rate(case):
    robot, steering, twist, _ = case
    _, steer, contact = inverse(robot, steering, twist)
    np.testing.assert_allclose(contact, twist[2] + steer, atol=ROUNDING, rtol=ROUNDING)


@given(robots_in_motion())
def test_inverse_acceleration_is_the_derivative_of_inverse_along_the_motion(case):
    robot, steering, twist, accel = case
    rate = inverse(robot, steering, twist)[1]
    # central difference: truncation h²/6 × third derivative, which grows with rate³
    h = 1e-4 / (1.0 + np.abs(rate).max())
    ahead = inverse(robot, steering + h * rate, twist + h * accel)
    behind = inverse(robot, steering - h * rate, twist - h * accel)
    wheel, steer = inverse_acceleration(robot, steering, twist, accel)
    size = 1.0 + np.abs(wheel).max() + np.abs(steer).max()
    np.testing.assert_allclose(wheel, (ahead[0] - behind[0]) / (2 * h), atol=1e-6 * size)
    np.testing.assert_allclose(steer, (ahead[1] - behind[1]) / (2 * h), atol=1e-6 * size)


@given(robots_in_motion(), st.floats(-4, 4))
def test_turned_base_link_gives_the_same_rates(case, angle):
    robot, steering, twist, accel = case
    c, s = np.cos(angle), np.sin(angle)
    turned = changed(robot, hip_position=robot.hip_position @ np.array([[c, s], [-s, c]]))
    spin = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for got, expected in zip(inverse(turned, steering + angle, spin @ twist),
                             inverse(robot, steering, twist), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-10, rtol=1e-10)
    for got, expected in zip(
            inverse_acceleration(turned, steering + angle, spin @ twist, spin @ accel),
            inverse_acceleration(robot, steering, twist, accel), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-8, rtol=1e-8)


@given(robots_in_motion())
def test_mirrored_robot_steers_the_other_way(case):
    robot, steering, twist, _ = case
    mirrored = changed(robot, hip_position=robot.hip_position * [-1, 1])
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel_m, steer_m, _ = inverse(mirrored, -steering, twist * [-1, 1, -1])
    np.testing.assert_allclose(wheel_m, wheel, atol=1e-10, rtol=1e-10)
    np.testing.assert_allclose(steer_m, -steer, atol=1e-10, rtol=1e-10)


@given(robots_in_motion(), st.randoms(use_true_random=False))
def test_renumbered_casters_give_renumbered_rates_and_the_same_twist(case, random):
    robot, steering, twist, _ = case
    order = list(range(robot.count))
    random.shuffle(order)
    other = changed(robot, **{name: getattr(robot, name)[order] for name in (
        'hip_position', 'caster_offset', 'wheel_radius')})
    wheel, steer, _ = inverse(robot, steering, twist)
    np.testing.assert_allclose(inverse(other, steering[order], twist)[0], wheel[order])
    # an inconsistent measurement, so that the fit matters
    wheel = wheel + np.arange(robot.count)
    np.testing.assert_allclose(
        sensed_forward(other, steering[order], wheel[order], steer[order]).twist,
        sensed_forward(robot, steering, wheel, steer).twist, atol=1e-9)


@given(robots_in_motion(), st.floats(0.1, 10))
def test_a_scaled_robot_at_scaled_speed_turns_its_joints_alike(case, scale):
    robot, steering, twist, _ = case
    scaled = changed(robot, hip_position=robot.hip_position * scale,
                     caster_offset=robot.caster_offset * scale,
                     wheel_radius=robot.wheel_radius * scale)
    for got, expected in zip(inverse(scaled, steering, twist * [scale, scale, 1]),
                             inverse(robot, steering, twist), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-10, rtol=1e-10)


@given(caster_robots(), st.integers(0, 2**32 - 1))
def test_leading_dimensions_equal_a_loop(robot, seed):
    rng = np.random.default_rng(seed)
    steering = rng.uniform(-4, 4, (4, 1, robot.count))
    twist, accel = rng.normal(size=(5, 3)), rng.normal(size=(4, 5, 3))
    rates = inverse(robot, steering, twist)
    accels = inverse_acceleration(robot, steering, twist, accel)
    noisy = rates[0] + rng.normal(size=rates[0].shape)
    weight = rng.uniform(0.1, 1, (robot.count, 1))
    fits = sensed_forward(robot, steering, noisy, rates[1], weight)
    assert rates[0].shape == (4, 5, robot.count)
    assert fits.residual.shape == (4, 5, robot.count, 2)
    for i in range(4):
        np.testing.assert_array_equal(wheel_jacobian(robot, steering)[i, 0],
                                      wheel_jacobian(robot, steering[i, 0]))
        for j in range(5):
            row = i, j
            one = inverse(robot, steering[i, 0], twist[j])
            two = inverse_acceleration(robot, steering[i, 0], twist[j], accel[row])
            fit = sensed_forward(robot, steering[i, 0], noisy[row], rates[1][row], weight)
            for many, single in zip((*rates, *accels, *fits), (*one, *two, *fit), strict=True):
                np.testing.assert_array_equal(many[row], single)


@given(robots_in_motion(min_casters=3), vectors(6, 1.0))
def test_sensed_forward_solves_the_weighted_normal_equations(case, noise):
    robot, steering, twist, _ = case
    n = robot.count
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel = wheel + np.resize(noise, n)
    weight = 0.1 + np.abs(np.resize(noise[::-1], (n, 2)))
    # the six-by-three problem written out and given to LAPACK
    c, s, (x, y) = np.cos(steering), np.sin(steering), robot.hip_position.T
    d, r = robot.caster_offset, robot.wheel_radius
    rows = np.concatenate([np.column_stack([-s, c, s * y + c * x]),
                           np.column_stack([c, s, s * x - c * y + d])])
    right, root = np.concatenate([r * wheel, -d * steer]), np.sqrt(weight.T.ravel())
    expected = np.linalg.lstsq(rows * root[:, None], right * root, rcond=None)[0]
    got = sensed_forward(robot, steering, wheel, steer, weight)
    np.testing.assert_allclose(got.twist, expected, atol=1e-9)
    np.testing.assert_allclose(got.residual.T.ravel(), right - rows @ expected, atol=1e-9)


def test_sensed_problem_of_the_c3p_is_well_conditioned_at_every_steering_angle():
    grid = np.linspace(0, 2 * np.pi, 19)[:-1]
    steering = np.stack(np.meshgrid(grid, grid, grid), axis=-1)
    zeros = np.zeros_like(steering)
    information = sensed_forward(C3P, steering, zeros, zeros).information
    scale = np.array([1, 1, 1 / length_scale(C3P)])
    eigenvalues = np.linalg.eigvalsh(information * scale * scale[:, None])
    assert np.sqrt(eigenvalues.max(-1) / eigenvalues.min(-1)).max() <= 10.0
    # and by far: the contact points stay within 4 cm of the pivots
    assert np.sqrt(eigenvalues.max(-1) / eigenvalues.min(-1)).max() <= 1.5


def test_two_contact_points_in_one_place_give_nan_and_no_number():
    robot = CasterRobot.regular(0.1, [0.0, np.pi], 0.1, 0.04, 10.0, 1.0)
    # both casters trail to the origin of base_link
    steering = [-np.pi / 2, np.pi / 2]
    sensed = sensed_forward(robot, steering, [1.0, 1.0], [0.0, 0.0])
    assert np.all(np.isnan(sensed.twist))


@pytest.mark.parametrize('call, name', [
    (lambda: inverse(C3P, [0, 0], [0, 0, 0]), 'steering'),
    (lambda: inverse(C3P, [0, 0, 0], [0, 0]), 'twist'),
    (lambda: inverse_acceleration(C3P, [0, 0, 0], [0, 0, 0], [0]), 'accel'),
    (lambda: sensed_forward(C3P, [0, 0, 0], [0, 0, 0, 0], [0, 0, 0]), 'wheel_rate'),
    (lambda: wheel_jacobian(C3P, 0.0), 'steering'),
])
def test_wrong_shape_is_named(call, name):
    with pytest.raises(ValueError, match=f'{name} has shape'):
        call()


@pytest.mark.parametrize('call, text', [
    (lambda: inverse(C3P, [0, np.nan, 0], [0, 0, 0]), r'steering = \[0.0, nan, 0.0\]'),
    (lambda: inverse(C3P, [0, 0, 0], [[0, 0, 0], [0, np.inf, 0]]), r'twist\[1\] = '),
    (lambda: contact_jacobian(C3P, np.full((2, 4, 3), np.nan)), r'steering\[0, 0\] = '),
    (lambda: inverse(C3P, [[0, 0, 0], [0, 0, -np.inf]], np.zeros((4, 2, 3))),
     r'steering\[0, 1\] = \[0.0, 0.0, -inf\]'),
    (lambda: inverse(C3P, np.zeros((2, 3)), np.zeros((4, 3))), 'twist .* must broadcast'),
    (lambda: sensed_forward(C3P, [0] * 3, [0] * 3, [0] * 3, -1.0), 'weight = -1.0'),
    (lambda: sensed_forward(C3P, [0] * 3, [0] * 3, [0] * 3, np.inf), 'weight = inf'),
    (lambda: sensed_forward(C3P, [0] * 3, [0] * 3, [0] * 3, np.ones(4)), 'weight has shape'),
])
def test_what_is_no_number_or_does_not_fit_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@given(robots_in_motion(min_casters=3, max_casters=3))
def test_equal_weights_are_the_default(case):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    assume(np.all(np.isfinite(wheel)))
    fits = [sensed_forward(robot, steering, wheel + 1, steer, w).twist for w in (1.0, 7.0)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-10)
