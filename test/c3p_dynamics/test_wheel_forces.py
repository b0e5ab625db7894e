# SPDX-License-Identifier: Apache-2.0
"""Torques that feed a reference forward on wheels of any kind; freedoms and reach of these."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import Friction
from c3p_description.wheels import first_on_pivot
from c3p_dynamics.freedoms import driven_freedoms
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_dynamics import forward, inverse, kinetic_energy
from c3p_dynamics.wheel_forces import WheelForces
from c3p_dynamics.wheel_reach import aligned, aligned_acceleration
from c3p_kinematics.rolling import rolling_rates

RANDOM = np.random.default_rng(5)

KINDS = ('swerve', 'twin', 'amr', 'tricycle_agv')


def random_motion(robot):
    """Return angles, ν̇, θ̈_s, ν and θ̇_s; wheels of a pivot have those of the first."""
    own = first_on_pivot(robot)
    n = robot.count
    return (RANDOM.uniform(-3.0, 3.0, n)[own], RANDOM.normal(size=3), RANDOM.normal(size=n)[own],
            RANDOM.normal(size=3), RANDOM.normal(size=n)[own])


@pytest.mark.parametrize('name', KINDS)
def test_wanted_accelerations_are_those_of_the_equations_of_motion(name):
    """From rest, with wheels that all roll along the motion."""
    robot = load(name)
    forces = WheelForces(robot)
    way = np.array([0.4, 0.0, 0.3])
    steering = aligned(robot, way)
    forces.casters.know(steering)
    still = np.zeros(robot.count)
    torque = forces.torques(steering, way, still, np.zeros(3), still)
    np.testing.assert_array_equal(torque[~robot.actuated], 0.0)
    accel = forward(robot, steering, np.zeros(3), 0.0, torque).twist_accel
    assert accel == pytest.approx(way, abs=0.01)


@pytest.mark.parametrize('name', ['powered_caster', 'twin'])
def test_where_tyres_hold_nothing_the_force_is_that_of_the_inverse_dynamics(name):
    robot = load(name)
    forces = WheelForces(robot)
    for _ in range(10):
        steering, accel, turn_accel, twist, rate = random_motion(robot)
        torque = forces.torques(steering, accel, turn_accel, twist, rate)
        exact = [inverse(robot, steering, *(way * part for part in (twist, rate, accel,
                                                                    turn_accel)))
                 for way in (1.0, -1.0)]
        pushes = [forward(robot, steering, np.zeros(3), 0.0, part).twist_accel
                  for part in (torque, 0.5 * (exact[0] - exact[1]))]
        # squared torques count as well, a little
        assert pushes[0] == pytest.approx(pushes[1], abs=0.03 * np.abs(pushes[1]).max())


@pytest.mark.parametrize('name', KINDS)
def test_terms_of_second_order_are_left_out(name):
    robot = load(name)
    forces = WheelForces(robot)
    for _ in range(10):
        steering, *motion = random_motion(robot)
        torque = forces.torques(steering, *motion)
        back = forces.torques(steering, *(-part for part in motion))
        assert back == pytest.approx(-torque, abs=1e-9 * np.abs(torque).max())


def test_a_caster_across_the_reference_does_not_turn_in_it():
    """Pivots of twins that point to the side: ω = u/d is 50 rad/s there, and 0 in truth."""
    robot = load('twin')
    torque = WheelForces(robot).torques(np.zeros(8), np.zeros(3), np.zeros(8), [0.5, 0.2, 0.3],
                                        np.zeros(8))
    assert np.abs(torque).max() < 0.3
    exact = inverse(robot, np.zeros(8), [0.5, 0.2, 0.3], 0.0, np.zeros(3), 0.0)
    assert np.abs(exact).max() > 1.0


def test_angles_of_free_casters_are_those_of_their_motion():
    robot = load('amr')
    forces = WheelForces(robot)
    angles = np.array([-0.5 * np.pi] * 2 + [0.3, -2.0, 1.1, 2.7])
    motion = ([0.5, 0.0, 0.3], np.zeros(6), [0.3, 0.0, 0.2], np.zeros(6))
    unknown = forces.torques(np.where(forces.casters.free, np.nan, angles), *motion)
    assert np.isfinite(unknown).all()
    forces.casters.know(angles)
    known = forces.torques(np.where(forces.casters.free, np.nan, angles), *motion)
    assert np.abs(known - unknown).max() > 0.01
    # mean of M ν̇ over all angles
    many = [WheelForces(robot) for _ in range(300)]
    for one in many:
        one.casters.know(np.where(forces.casters.free, RANDOM.uniform(-3.2, 3.2, 6), angles))
    mean = np.mean([one.torques(angles, motion[0], np.zeros(6), np.zeros(3), np.zeros(6))
                    for one in many], axis=0)
    still = WheelForces(robot).torques(angles, motion[0], np.zeros(6), np.zeros(3), np.zeros(6))
    assert still == pytest.approx(mean, rel=0.03)


def test_a_module_beside_its_pivot_rolls_while_it_steers_and_its_motor_holds_against_it():
    robot = replace(load('swerve'), friction=Friction(), lateral_offset=0.045)
    forces = WheelForces(robot)
    first = np.array([1.0, 0.0, 0.0, 0.0])
    rates = rolling_rates(robot, np.zeros(4), np.zeros(3), first)
    # unit rate of the first pivot: b/r of its wheel
    assert rates.wheel_rate[0] == pytest.approx(0.045 / 0.0508)
    torque = forces.torques(np.zeros(4), np.zeros(3), 10.0 * first, np.zeros(3), np.zeros(4))
    work = torque[:4] @ rates.wheel_rate + torque[4:] @ rates.steering_rate
    inertia = 2.0 * kinetic_energy(robot, np.zeros(4), np.zeros(3), first)
    assert work == pytest.approx(10.0 * inertia, rel=0.05)


def test_friction_of_free_casters_is_overcome_by_the_driven_wheels():
    robot = load('tricycle_agv')
    forces = WheelForces(robot)
    # modules that roll straight at a steady speed: rolling friction of all wheels, r F = τ
    torque = forces.torques(robot.steering_zero, np.zeros(3), np.zeros(3), [0.3, 0.0, 0.0],
                            np.zeros(3))
    each = 1.5e-3 + 1e-4 * 0.3 / 0.0325
    # two rear wheels have no known rate, as they have no encoder but are fixed: they roll
    assert torque[0] == pytest.approx(3.0 * each, rel=0.05)


def test_freedoms_are_those_of_motors_and_fixed_wheels():
    swerve = load('swerve')
    assert driven_freedoms(swerve) == 3
    # one module that drives in any direction, and others that follow
    one = replace(swerve, driven=[True, False, False, False])
    assert driven_freedoms(one) == 2
    assert driven_freedoms(load('amr')) == 2
    assert driven_freedoms(replace(load('amr'), driven=[True] + 5 * [False])) == 1


def test_an_aligned_robot_accelerates_with_all_its_motors():
    robot = replace(load('swerve'), friction=Friction(), torque_limit=2.0)
    mass = robot.total_mass + float(np.sum(robot.wheel_spin_inertia / robot.wheel_radius**2))
    expected = 4 * 2.0 / robot.wheel_radius[0] / mass
    for angle in (0.0, 0.7, 2.0):
        way = np.array([np.cos(angle), np.sin(angle), 0.0])
        assert aligned_acceleration(robot, way) == pytest.approx(expected, rel=1e-9)


def test_casters_without_encoders_roll_along_as_well():
    robot = replace(load('amr'), friction=Friction())
    way = np.array([1.0, 0.0, 0.0])
    bounds = torque_bounds(robot)
    mass = robot.total_mass + float(np.sum(robot.wheel_spin_inertia / robot.wheel_radius**2))
    push = bounds.sum() / robot.wheel_radius[0]
    assert aligned_acceleration(robot, way) == pytest.approx(push / mass, rel=1e-9)
