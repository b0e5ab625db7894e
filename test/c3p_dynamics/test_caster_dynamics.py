# SPDX-License-Identifier: Apache-2.0
"""Properties of the reduced caster dynamics over robots with unequal casters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import robots_in_motion, vectors
from unequal_casters import FRICTION, papers_robot, random_robot, random_state

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import (
    bias,
    forward_dynamics,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    unreached_acceleration,
)
from c3p_kinematics.casters import inverse, steering_jacobian, wheel_jacobian

RNG = np.random.default_rng(7)


def turned(robot, angle, mirror=1.0):
    """Return the robot described in a ``base_link`` turned by −`angle` and mirrored in X."""
    c, s = np.cos(angle), np.sin(angle)
    move = np.array([[c, -s], [s, c]]) @ np.diag([mirror, 1.0])
    return replace(robot, hip_position=robot.hip_position @ move.T,
                   platform_com=move @ robot.platform_com), move


# --- structure of M and G -------------------------------------------------------------------

@given(robots_in_motion())
def test_mass_matrix_is_symmetric_and_positive_definite(drawn):
    robot, steering, _, _ = drawn
    mass = mass_matrix(robot, steering)
    np.testing.assert_array_equal(mass, mass.T)
    # never lighter than the platform alone, in whatever direction
    m, (cx, cy) = robot.platform_mass, robot.platform_com
    alone = np.array([[m, 0, -m * cy], [0, m, m * cx],
                      [-m * cy, m * cx, robot.platform_inertia + m * (cx**2 + cy**2)]])
    assert np.linalg.eigvalsh(mass - alone).min() > -1e-12 * np.linalg.norm(mass)
    assert np.linalg.eigvalsh(mass).min() > 0


@given(robots_in_motion())
def test_bias_does_no_work_beyond_the_change_of_inertia(drawn):
    robot, steering, nu, _ = drawn
    _, rate, _ = inverse(robot, steering, nu)
    # central difference over 2e-5 rad of the fastest caster: truncation 4e-10, rounding 1e-11,
    # both of the power that the kinetic energy would have at that rate
    fastest = 1 + np.abs(rate).max()
    h = 2e-5 / fastest
    slope = (mass_matrix(robot, steering + h * rate) - mass_matrix(robot, steering - h * rate))
    power = nu @ bias(robot, steering, nu)
    scale = np.abs(nu) @ np.abs(mass_matrix(robot, steering)) @ np.abs(nu) * fastest
    assert abs(power - 0.5 * nu @ (slope / (2 * h)) @ nu) <= 1e-8 * scale


@given(robots_in_motion(), st.floats(-3, 3))
def test_equations_do_not_depend_on_the_direction_of_base_link(drawn, angle):
    robot, steering, nu, _ = drawn
    other, move = turned(robot, angle)
    torque = np.linspace(-1, 1, robot.count)
    expected = forward_dynamics(robot, steering, nu, torque)
    got = forward_dynamics(other, steering + angle, np.array([*(move @ nu[:2]), nu[2]]), torque)
    np.testing.assert_allclose(got, [*(move @ expected[:2]), expected[2]], rtol=0,
                               atol=1e-10 * (1 + np.abs(expected).max()))


@given(robots_in_motion())
def test_mirrored_robot_moves_in_the_mirror(drawn):
    robot, steering, nu, _ = drawn
    other, _ = turned(robot, 0.0, mirror=-1.0)
    flip, torque = np.array([-1, 1, -1]), np.linspace(-1, 1, robot.count)
    expected = flip * forward_dynamics(robot, steering, nu, torque)
    np.testing.assert_allclose(forward_dynamics(other, -steering, flip * nu, torque), expected,
                               rtol=0, atol=1e-10 * (1 + np.abs(expected).max()))


@given(robots_in_motion(), st.randoms())
def test_order_of_the_casters_does_not_matter(drawn, random):
    robot, steering, nu, accel = drawn
    order = list(range(robot.count))
    random.shuffle(order)
    names = ('hip_position', 'caster_offset', 'wheel_radius', 'link_mass', 'link_com',
             'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia')
    other = replace(robot, **{name: getattr(robot, name)[order] for name in names})
    torque = inverse_dynamics(robot, steering, nu, accel)
    np.testing.assert_allclose(inverse_dynamics(other, steering[order], nu, accel), torque[order],
                               rtol=0, atol=1e-9 * (1 + np.abs(torque).max()))


# --- inverse and forward --------------------------------------------------------------------

@given(robots_in_motion())
def test_exact_inverse_then_forward_gives_the_acceleration_back(drawn):
    robot, steering, nu, accel = drawn
    condition = np.linalg.cond(wheel_jacobian(robot, steering))
    assume(robot.count > 2 and condition < 1e3)
    torque = inverse_dynamics(robot, steering, nu, accel, virtual_steering_weight=0.0)
    # rounding grows with the torques that cancel and with the condition of the share
    missed = unreached_acceleration(robot, steering, nu, accel, torque)
    np.testing.assert_allclose(missed, 0, atol=1e-9)


def test_error_of_the_damped_inverse_is_proportional_to_the_weight():
    robot = papers_robot()
    steering, nu, accel = [1.0, 0.2, -2.0], [0.3, -0.2, 0.5], [0.5, 0.2, 1.0]
    missed = [np.linalg.norm(unreached_acceleration(
        robot, steering, nu, accel, inverse_dynamics(robot, steering, nu, accel, w)))
        for w in (1e-3, 1e-4, 1e-5, 1e-6)]
    np.testing.assert_allclose(np.diff(np.log10(missed)), -1, atol=0.02)


@given(robots_in_motion(), st.floats(1e-6, 2))
def test_share_is_the_least_effort_of_wheels_and_virtual_steering_motors(drawn, weight):
    robot, steering, nu, accel = drawn
    rolling, pivot = wheel_jacobian(robot, steering), steering_jacobian(robot, steering)
    # the same least-norm problem by a pseudo-inverse of all 2n motors
    _, steer_rate, _ = inverse(robot, steering, nu)
    across = -(steer_rate + nu[2]) * robot.caster_offset
    wheel_accel = rolling @ accel - steer_rate * across / robot.wheel_radius
    own = robot.wheel_radius**2 * robot.caster_inertia[:, 0] * wheel_accel
    force = mass_matrix(robot, steering) @ accel + bias(robot, steering, nu) - rolling.T @ own
    motors = np.vstack([rolling, np.sqrt(weight) * pivot])
    shared = np.linalg.pinv(motors.T, rcond=1e-12) @ force
    expected = own + shared[:robot.count]
    # normal equations square the condition of the motors
    slack = 1e-14 * np.linalg.cond(motors)**2 * np.linalg.norm(shared)
    np.testing.assert_allclose(inverse_dynamics(robot, steering, nu, accel, weight), expected,
                               rtol=0, atol=1e-10 + slack)


@given(robots_in_motion(), st.integers(0, 5), st.sampled_from([0.0, 0.01, 1.0]))
def test_casters_without_a_motor_get_no_torque(drawn, first, weight):
    robot, steering, nu, accel = drawn
    driven = np.arange(robot.count) != first % robot.count
    torque = inverse_dynamics(replace(robot, driven=driven), steering, nu, accel, weight)
    assert np.all(torque[~driven] == 0.0)
    assert np.all(np.isfinite(torque))


def test_three_driven_of_four_casters_reach_every_acceleration():
    robot = replace(random_robot(RNG, 4), driven=[True, True, False, True])
    steering, nu, accel = random_state(RNG, robot)
    torque = inverse_dynamics(robot, steering, nu, accel, 0.0)
    np.testing.assert_allclose(forward_dynamics(robot, steering, nu, torque), accel, atol=1e-9)


@given(robots_in_motion())
def test_casters_without_mass_leave_the_platform_alone(drawn):
    robot, steering, nu, accel = drawn
    light = replace(robot, **dict.fromkeys(('link_mass', 'link_inertia', 'wheel_mass',
                                            'wheel_spin_inertia', 'wheel_yaw_inertia'), 0.0))
    # Newton and Euler for the platform's centre of mass, and the moment moved to the origin
    m, c, w = robot.platform_mass, robot.platform_com, nu[2]
    at_com = accel[:2] + w * np.array([-nu[1], nu[0]]) + accel[2] * np.array([-c[1], c[0]]) - (
        w**2 * c)
    force = np.array([*(m * at_com), robot.platform_inertia * accel[2]
                      + m * (c[0] * at_com[1] - c[1] * at_com[0])])
    got = mass_matrix(light, steering) @ accel + bias(light, steering, nu)
    np.testing.assert_allclose(got, force, rtol=0, atol=1e-12 * (1 + np.abs(force).max()))
    torque = inverse_dynamics(light, steering, nu, accel)
    back = mass_matrix(light, steering) @ forward_dynamics(light, steering, nu, torque)
    pushed = wheel_jacobian(light, steering).T @ torque
    np.testing.assert_allclose(back + bias(light, steering, nu), pushed, rtol=0,
                               atol=1e-10 * (1 + np.abs(pushed).max()))


@given(robots_in_motion())
def test_friction_always_takes_power(drawn):
    free, steering, nu, _ = drawn
    robot = replace(free, friction=FRICTION)
    idle = np.zeros(robot.count)
    gain = forward_dynamics(robot, steering, nu, idle) - forward_dynamics(free, steering, nu, idle)
    assert nu @ mass_matrix(robot, steering) @ gain <= 1e-12


def test_power_of_the_torques_is_the_growth_of_the_energy():
    robot = random_robot(RNG)
    steering, nu, _ = random_state(RNG, robot)
    torque = np.array([0.3, -0.8, 0.5])
    wheel_rate, rate, _ = inverse(robot, steering, nu)
    accel = forward_dynamics(robot, steering, nu, torque)
    h = 1e-5
    grown = (kinetic_energy(robot, steering + h * rate, nu + h * accel)
             - kinetic_energy(robot, steering - h * rate, nu - h * accel)) / (2 * h)
    # central difference: h² ≈ 1e-10 of a third derivative of some 1e3 W/s²
    power = torque * wheel_rate
    assert grown == pytest.approx(power.sum(), abs=1e-6 * np.abs(power).sum())


# --- singular poses -------------------------------------------------------------------------

@pytest.mark.parametrize('steering', [(0, 0, 0), (0.3, 0.3, 0.3 + np.pi),
                                      np.radians([-60, 60, 180])])
@pytest.mark.parametrize('weight', [0.0, 1e-20, 1e-16, 1e-12])
def test_at_a_singular_pose_the_least_norm_share_stays_small(steering, weight):
    # parallel and concurrent rolling lines: rank two but for rounding, which must not be inverted
    torque = inverse_dynamics(papers_robot(), steering, [0, 0, 0], [0.5, 0.2, 1.0], weight)
    assert np.abs(torque).max() < 1.0


@pytest.mark.parametrize(('weight', 'share'), [(1.0, 0.539), (0.1, 0.916), (0.01, 0.991)])
def test_with_parallel_casters_yaw_is_realised_in_part(weight, share):
    # the numbers that VIRTUAL_STEERING_WEIGHT is chosen by
    robot = papers_robot()
    torque = inverse_dynamics(robot, [0, 0, 0], [0, 0, 0], [0, 0, 0.5], weight)
    got = forward_dynamics(robot, [0, 0, 0], [0, 0, 0], torque)
    np.testing.assert_allclose(got, [0, 0, share * 0.5], atol=5e-4)


def test_side_force_at_parallel_casters_becomes_a_yaw_moment_of_minus_d():
    robot = papers_robot()
    asked = np.array([0.5, 0, 0])
    torque = inverse_dynamics(robot, [0, 0, 0], [0, 0, 0], asked, 1e-8)
    moment = wheel_jacobian(robot, [0, 0, 0]).T @ torque
    force = mass_matrix(robot, [0, 0, 0]) @ asked
    np.testing.assert_allclose(moment, [0, 0, -0.04 * force[0] + force[2]], atol=1e-6)


# --- the edge -------------------------------------------------------------------------------

def test_sweep_equals_loop():
    robot = random_robot(RNG, 4)
    steering = RNG.uniform(-3, 3, (5, 2, 4))
    nu, accel = RNG.normal(size=(2, 3)), RNG.normal(size=3)
    torque = inverse_dynamics(robot, steering, nu, accel)
    back = forward_dynamics(robot, steering, nu, torque)
    mass, force = mass_matrix(robot, steering), bias(robot, steering, nu)
    assert torque.shape == (5, 2, 4) and mass.shape == (5, 2, 3, 3) and force.shape == (5, 2, 3)
    for i, j in np.ndindex(5, 2):
        one = steering[i, j], nu[j]
        np.testing.assert_array_equal(torque[i, j], inverse_dynamics(robot, *one, accel))
        np.testing.assert_array_equal(back[i, j], forward_dynamics(robot, *one, torque[i, j]))
        np.testing.assert_array_equal(mass[i, j], mass_matrix(robot, one[0]))
        np.testing.assert_array_equal(force[i, j], bias(robot, *one))


@pytest.mark.parametrize(('call', 'name'), [
    (lambda r: mass_matrix(r, [0, 0]), 'steering'),
    (lambda r: bias(r, [0, 0, 0], [0, 0]), 'twist'),
    (lambda r: inverse_dynamics(r, [0, 0, 0], [0, 0, 0], 1.0), 'accel'),
    (lambda r: forward_dynamics(r, [0, 0, 0], [0, 0, 0], [1, 1, 1, 1]), 'wheel_torque'),
    (lambda r: inverse_dynamics(r, [0] * 3, [0] * 3, [0] * 3, -1), 'virtual_steering_weight'),
    (lambda r: inverse_dynamics(r, [0] * 3, [0] * 3, [0] * 3, np.nan), 'virtual_steering_weight'),
    (lambda r: inverse_dynamics(r, [0] * 3, [0] * 3, [0] * 3, np.inf), 'virtual_steering_weight'),
    (lambda r: mass_matrix(r, [0, np.nan, 0]), 'steering = .*must be finite'),
    (lambda r: bias(r, [0, 0, 0], [0, 0, -np.inf]), 'twist = .*must be finite'),
    (lambda r: inverse_dynamics(r, [0] * 3, [0] * 3, [np.nan, 0, 0]), 'accel = .*must be finite'),
    (lambda r: forward_dynamics(r, [0] * 3, [0] * 3, [[0] * 3, [0, 0, np.inf]]),
     r'wheel_torque\[1\] = .*must be finite'),
    (lambda r: kinetic_energy(r, [0] * 3, [0, 0]), 'twist has shape'),
    (lambda r: unreached_acceleration(r, [0] * 3, [0] * 3, [0, 0], [0] * 3), 'accel has shape'),
])
def test_wrong_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call(papers_robot())


# --- friction, by virtual power -------------------------------------------------------------

@given(robots_in_motion(), vectors(3, 1.0), st.integers(0, 4))
def test_power_of_each_friction_in_a_virtual_motion_is_torque_times_rate(drawn, virtual, kind):
    free, steering, nu, _ = drawn
    fields = ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb',
              'scrub_coulomb')
    value = np.linspace(0.01, 0.05, free.count)
    robot = replace(free, friction=Friction(**{fields[kind]: value}, smoothing=0.1))
    idle = np.zeros(free.count)
    gain = forward_dynamics(robot, steering, nu, idle) - forward_dynamics(free, steering, nu, idle)
    # what each rate is in the motion, and what it would be in the virtual one
    wheel, steer, contact = ((rate, virtual_rate) for rate, virtual_rate in zip(
        inverse(robot, steering, nu), inverse(robot, steering, virtual), strict=True))
    rate, virtual_rate = (steer, steer, wheel, wheel, contact)[kind]
    level = rate if 'viscous' in fields[kind] else np.tanh(rate / 0.1)
    expected = -np.sum(value * level * virtual_rate)
    mass = mass_matrix(robot, steering)
    # 1e-300: products of the smallest numbers have few digits left
    slack = 1e-300 + 1e-11 * (np.abs(virtual) @ np.abs(mass) @ (1 + np.abs(gain))
                     + np.abs(value * level * virtual_rate).sum())
    assert virtual @ mass @ gain == pytest.approx(expected, abs=slack)
