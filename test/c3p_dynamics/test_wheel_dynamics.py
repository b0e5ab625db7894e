# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse dynamics of every kind of wheel, against Lagrange's equations by SymPy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import powered_robots, vectors
from wheel_lagrange import lagrange
from wheel_mixes import mixed_robot

from c3p_description import load
from c3p_description.model import Friction, ModelError
from c3p_description.wheels import believed, first_on_pivot
from c3p_dynamics.caster_dynamics import (
    forward_dynamics,
    inverse_dynamics,
)
from c3p_dynamics.caster_dynamics import kinetic_energy as caster_energy
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.side_tyres import SideTyre, side_tyre
from c3p_dynamics.wheel_dynamics import forward, inverse, kinetic_energy
from c3p_kinematics.rolling import rolling_rates

# relative to the largest acceleration; random mixes have condition numbers up to 1e4
TOLERANCE = 1e-9

FRICTION = Friction(pivot_viscous=0.004, pivot_coulomb=0.02, rolling_viscous=0.002,
                    rolling_coulomb=0.05, scrub_coulomb=0.03, smoothing=0.2)


def heavy(robot, rng):
    """Return a robot with random inertias, friction and motors, which count at every wheel."""
    n = robot.count
    own = first_on_pivot(robot)
    return replace(
        robot, platform_com=rng.uniform(-0.1, 0.1, 2), link_com=rng.uniform(0.0, 0.04, n)[own],
        link_mass=rng.uniform(0.2, 2.0, n), link_inertia=rng.uniform(1e-3, 5e-3, n),
        wheel_mass=rng.uniform(0.2, 1.0, n), wheel_spin_inertia=rng.uniform(1e-4, 2e-3, n),
        wheel_yaw_inertia=rng.uniform(1e-4, 1e-3, n), friction=FRICTION,
        steered=~robot.fixed & (own == np.arange(n)), driven=True)


def motion(robot, rng):
    """Return random angles (equal on a pivot), a twist, steering rates and torques."""
    n = robot.count
    steering = np.where(robot.fixed, robot.steering_zero, rng.uniform(-3, 3, n))
    own = first_on_pivot(robot)
    return (steering[own], rng.normal(size=3), rng.normal(size=n)[own],
            rng.normal(size=robot.efforts))


def side_rows(robot, steering):
    """Return the rows of side slip of held wheels by the twist, (k, 3)."""
    slips = [rolling_rates(robot, steering, unit).side_slip for unit in np.eye(3)]
    return np.column_stack(slips)[believed(robot)]


def by_lagrange(robot, steering, twist, rates, torque):
    rolled = rolling_rates(robot, steering, twist, rates)
    return lagrange(robot, steering, twist, rolled.steering_rate, rolled.wheel_rate, torque)


def assert_same(found, expected):
    for got, wanted in zip(found, expected, strict=True):
        scale = max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE * scale)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_forward_and_inverse_of_random_mixes_are_those_of_lagrange(seed):
    rng = np.random.default_rng(seed)
    robot = heavy(mixed_robot(seed, most=4), rng)
    steering, twist, rates, torque = motion(robot, rng)
    rows = side_rows(robot, steering)
    if len(rows) and np.linalg.svd(rows, compute_uv=False)[-1] < 1e-2 or len(rows) > 3:
        # rows that contradict each other have no motion
        return
    accel = forward(robot, steering, twist, rates, torque)
    nudot, turned, left = by_lagrange(robot, steering, twist, rates, torque)
    np.testing.assert_allclose(left, 0.0, atol=1e-8)
    assert_same(accel, (nudot, turned))
    # what the torques of the inverse cause, by Lagrange too, is the acceleration
    back = inverse(robot, steering, twist, rates, nudot, turned)
    assert_same(by_lagrange(robot, steering, twist, rates, back)[:2], (nudot, turned))


def consistent(name, rng):
    """Return a robot and a motion in which no wheel slides, redundant rows included."""
    robot = replace(load(name), friction=FRICTION)
    twist = rng.normal(size=3)
    if robot.fixed.any():
        # two fixed wheels stand on the y axis
        twist[1] = 0.0
    steering = rng.uniform(-3, 3, robot.count)[first_on_pivot(robot)]
    pivot = complex(twist[0], twist[1]) + 1j * twist[2] * (robot.hip_position @ [1.0, 1.0j])
    along = np.angle(pivot) - 0.5 * np.pi
    steering = np.where(robot.caster_offset == 0.0, along, steering)
    # modules turn with their paths, which makes the accelerations of four of them agree
    return robot, np.where(robot.fixed, robot.steering_zero, steering), twist


@pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr', 'twin'])
def test_redundant_wheels_of_the_robots_have_the_motion_of_lagrange(name):
    rng = np.random.default_rng(7)
    for _ in range(20):
        robot, steering, twist = consistent(name, rng)
        rates = np.zeros(robot.count)
        if name == 'tricycle_agv':
            rates[0] = rng.normal()
        torque = rng.normal(size=robot.efforts)
        nudot, turned, left = by_lagrange(robot, steering, twist, rates, torque)
        np.testing.assert_allclose(left, 0.0, atol=1e-9)
        found = forward(robot, steering, twist, rates, torque)
        assert_same(found, (nudot, turned))
        back = inverse(robot, steering, twist, rates, *found)
        np.testing.assert_array_equal(back[~robot.actuated], 0.0)
        if name == 'amr':
            # two motors for two freedoms, but the torques where no motor is count too
            torque[2:] = 0.0
            found = forward(robot, steering, twist, rates, torque)
            np.testing.assert_allclose(inverse(robot, steering, twist, rates, *found), torque,
                                       atol=1e-9)
        elif name != 'tricycle_agv':
            assert_same(forward(robot, steering, twist, rates, back), found)


@settings(max_examples=60, deadline=None)
@given(powered_robots(), st.integers(0, 10**6))
def test_ordinary_casters_have_the_dynamics_of_casters(robot, seed):
    rng = np.random.default_rng(seed)
    robot = replace(robot, friction=FRICTION)
    steering, twist, rates, torque = motion(robot, rng)
    nudot, turned = forward(robot, steering, twist, rates, torque)
    wanted = forward_dynamics(robot, steering, twist, torque)
    np.testing.assert_allclose(nudot, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))
    bare = replace(robot, friction=Friction())
    np.testing.assert_array_equal(inverse(bare, steering, twist, rates, nudot, turned),
                                  inverse_dynamics(bare, steering, twist, nudot))
    np.testing.assert_allclose(
        inverse(robot, steering, twist, rates, nudot, turned)
        - inverse_dynamics(robot, steering, twist, nudot),
        friction_compensation(robot, steering, twist, smoothing=0.2), atol=1e-12)
    np.testing.assert_allclose(kinetic_energy(robot, steering, twist, rates),
                               caster_energy(robot, steering, twist), rtol=1e-12)


@pytest.mark.parametrize('lateral', [0.0, 0.045])
def test_two_modules_are_the_limit_of_casters(lateral):
    """With the same steering rates the accelerations converge linearly."""
    rng = np.random.default_rng(3)
    swerve = load('swerve')
    two = {name: getattr(swerve, name)[:2] for name in (
        'hip_position', 'caster_offset', 'wheel_radius', 'link_mass', 'link_com', 'link_inertia',
        'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia', 'driven', 'torque_limit',
        'steering_joints', 'wheel_joints', 'steering_sign', 'steering_zero', 'wheel_sign',
        'wheel_rate_limit', 'steered', 'steering_torque_limit', 'steering_rate_limit', 'fixed',
        'steering_encoder', 'wheel_encoder', 'slip_angle')}
    below = replace(swerve, **two, lateral_offset=lateral, friction=FRICTION)
    twist = np.array([0.4, -0.2, 0.7])
    pivots = complex(*twist[:2]) + 1j * twist[2] * (below.hip_position @ [1.0, 1.0j])
    steering = np.angle(pivots) - 0.5 * np.pi
    rates = rng.normal(size=2)
    torque = rng.normal(size=4)
    exact = np.concatenate(forward(below, steering, twist, rates, torque))
    across = np.column_stack([np.cos(steering), np.sin(steering),
                              np.sin(steering) * below.hip_position[:, 0]
                              - np.cos(steering) * below.hip_position[:, 1]])
    errors = []
    offsets = np.array([1e-4, 1e-5, 1e-6])
    for offset in offsets:
        near = replace(below, caster_offset=offset)
        # the least change of the twist with which the motion turns the casters at these rates
        rows = across + [0.0, 0.0, offset]
        close = twist + np.linalg.lstsq(rows, -offset * rates - rows @ twist, rcond=None)[0]
        errors.append(np.abs(np.concatenate(forward(near, steering, close, 0.0, torque))
                             - exact).max())
    # the modules weigh 4 g·m² only: half of the error is left at d = 25 µm
    slopes = np.array(errors) / offsets
    np.testing.assert_allclose(slopes[1:], slopes[2], rtol=0.3)
    # extrapolated to d = 0, what remains is quadratic
    assert abs(errors[2] - errors[1] / 10) < 1e-2 * np.abs(exact).max()


@pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr'])
def test_the_law_of_tyres_converges_to_ideal_ones_with_their_stiffness(name):
    rng = np.random.default_rng(11)
    robot, steering, twist = consistent(name, rng)
    rates = np.zeros(robot.count)
    torque = rng.normal(size=robot.efforts)
    exact = np.concatenate(forward(robot, steering, twist, rates, torque))
    errors = [np.abs(np.concatenate(forward(robot, steering, twist, rates, torque,
                                            SideTyre(stiffness))) - exact).max()
              for stiffness in (1e6, 1e7, 1e8)]
    np.testing.assert_allclose(np.array(errors) * [1e6, 1e7, 1e8], errors[0] * 1e6, rtol=0.2)


def test_a_tyre_holds_no_more_than_its_limit():
    """Dragged sideways at 0.3 m/s, the swerve drive brakes with µ g."""
    robot = replace(load('swerve'), friction=Friction())
    tyre = side_tyre(robot)
    accel, _ = forward(robot, [0.0] * 4, [0.3, 0.0, 0.0], 0.0, [0.0] * 8, tyre)
    # 6 % less: the part of the law that ends the slip is felt like a mass, of C T L/(C σ) each
    np.testing.assert_allclose(accel, [-9.80665 * 62.0 / (62.0 + 4 * 0.002 * 152.0 / 0.3), 0, 0],
                               rtol=1e-3, atol=1e-9)


def test_nearly_parallel_modules_need_the_torques_of_parallel_ones():
    """Four modules never agree exactly: 0.5° apart they would stand fast with ideal tyres."""
    robot = replace(load('swerve'), friction=Friction())
    apart = np.radians([0.5, -0.5, 0.3, -0.2])
    exact = inverse(robot, np.zeros(4), np.zeros(3), 0.0, [0.0, 1.0, 0.0], 0.0)
    near = inverse(robot, apart, np.zeros(3), 0.0, [0.0, 1.0, 0.0], 0.0)
    np.testing.assert_allclose(near[:4], exact[:4], rtol=1e-3)
    # and with tyres they accelerate the robot
    accel, _ = forward(robot, apart, np.zeros(3), 0.0, near, side_tyre(robot))
    np.testing.assert_allclose(accel, [0.0, 1.0, 0.0], atol=0.03)


def test_leading_dimensions_broadcast():
    robot = load('amr')
    many = forward(robot, np.zeros((5, 1, 6)), np.ones((4, 3)), 0.0, np.ones(6))
    one = forward(robot, np.zeros(6), np.ones(3), 0.0, np.ones(6))
    assert many.twist_accel.shape == (5, 4, 3) and many.steering_accel.shape == (5, 4, 6)
    np.testing.assert_allclose(many.twist_accel[2, 3], one.twist_accel, rtol=1e-12)


def test_a_module_that_turns_without_inertia_is_refused_with_the_remedy():
    robot = replace(load('swerve'), link_inertia=0.0, wheel_yaw_inertia=0.0)
    with pytest.raises(ModelError, match='wheel 1: a wheel below its pivot.*greater than zero'):
        forward(robot, np.zeros(4), np.zeros(3), 0.0, np.zeros(8))


@settings(max_examples=40, deadline=None)
@given(vectors(3, 2.0), st.integers(0, 10**6))
def test_side_tyres_and_friction_only_take_energy(twist, seed):
    """Power of the forces is minus what friction and tyres take: dT/dt by a small step."""
    rng = np.random.default_rng(seed)
    robot = heavy(mixed_robot(seed, most=4), rng)
    steering, _, rates, _ = motion(robot, rng)
    tyre = SideTyre(300.0, 50.0, lead=1e-9)
    accel, turned = forward(robot, steering, twist, rates, np.zeros(robot.efforts), tyre)
    step = 1e-7
    turning = rolling_rates(robot, steering, twist, rates).steering_rate
    before, after = (kinetic_energy(robot, steering + k * turning, twist + k * accel,
                                    rates + k * turned) for k in (-step, step))
    assert after - before <= 1e-9 * (1.0 + before)
