# SPDX-License-Identifier: Apache-2.0
"""Torques of wheels of any kind: mass matrix, work of the joints, what tyres hold."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import mass_matrix
from c3p_dynamics.freedoms import driven_freedoms
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_forces import WheelForces
from c3p_dynamics.wheel_reach import aligned, aligned_acceleration

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize('name', ['c3p', 'powered_caster'])
def test_the_mass_of_casters_is_that_of_their_equations(name):
    robot = load(name)
    forces = WheelForces(robot)
    for steering in RANDOM.uniform(-3.0, 3.0, (10, robot.count)):
        assert forces.mass(steering, *forces.motions(steering)) == pytest.approx(
            mass_matrix(robot, steering), abs=1e-12)


@pytest.mark.parametrize('name', ['swerve', 'twin', 'amr', 'tricycle_agv'])
def test_accelerations_of_the_torques_are_those_that_were_wanted(name):
    """Force balance of M q̈ = Jᵀτ, where all wheels roll along the motion."""
    robot = replace(load(name), friction=Friction())
    forces = WheelForces(robot)
    way = np.array([0.4, 0.0, 0.3])
    steering = aligned(robot, way)
    torque = forces.torques(steering, way, np.zeros(robot.count), np.zeros(3),
                            np.zeros(robot.count))
    assert np.array_equal(torque[~robot.actuated], np.zeros(int((~robot.actuated).sum())))
    wheel, steer = forces.motions(steering)
    columns = np.hstack([wheel, steer])[:3, :robot.efforts]
    mass = forces.mass(steering, wheel, steer)[:3, :3]
    # tyres hold what is across; along the motion the work is that of the wanted acceleration
    assert way @ columns @ torque == pytest.approx(way @ mass @ way, rel=0.03)


def test_a_module_beside_its_pivot_rolls_while_it_steers_and_its_motor_holds_against_it():
    robot = replace(load('swerve'), friction=Friction(), lateral_offset=0.045)
    forces = WheelForces(robot)
    wheel, steer = forces.motions(np.zeros(4))
    # unit rate of the first pivot: b/r of its wheel
    assert wheel[3, 0] == pytest.approx(0.045 / 0.0508)
    assert steer[3].tolist() == [1.0, 0.0, 0.0, 0.0]
    accel = np.array([10.0, 0.0, 0.0, 0.0])
    torque = forces.torques(np.zeros(4), np.zeros(3), accel, np.zeros(3), np.zeros(4))
    mass = forces.mass(np.zeros(4), wheel, steer)
    work = torque[:4] @ wheel[3] + torque[4:] @ steer[3]
    assert work == pytest.approx(10.0 * mass[3, 3], rel=0.05)


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
