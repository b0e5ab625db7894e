# SPDX-License-Identifier: Apache-2.0
"""Contact plant of wheels below and beside pivots, of fixed wheels, free casters and twins."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import Friction
from c3p_kinematics.rolling import rolling_rates
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant

pytest.importorskip('mujoco')

# all wheels roll along +X
AHEAD = -0.5 * np.pi


def frictionless(name):
    """Return a robot without losses."""
    return replace(load(name), friction=Friction())


def energy(plant):
    """Return the kinetic energy, J."""
    mass = np.zeros((plant.model.nv, plant.model.nv))
    plant._mj.mj_fullM(plant.model, plant.data, mass)
    return 0.5 * float(plant.data.qvel @ mass @ plant.data.qvel)


@pytest.mark.parametrize('name', ['swerve', 'amr', 'twin', 'tricycle_agv'])
def test_a_robot_without_losses_coasts_ahead_with_its_speed_and_energy(name):
    plant = MujocoPlant(frictionless(name))
    robot = plant.robot
    rolling = plant.reset(steering=AHEAD, twist=[0.4, 0.0, 0.0])
    # all of the mass, and the wheels that turn: ½ Σ m v² + ½ Σ I (v/r)²
    begin = 0.5 * 0.4**2 * (robot.total_mass + float(np.sum(
        robot.wheel_spin_inertia / robot.wheel_radius**2)))
    assert energy(plant) == pytest.approx(begin, rel=1e-6)
    for _ in range(200):
        rolling = plant.step(np.zeros(robot.efforts), 0.005)
    # rolling on tyres that sink in by 25 µm: a radius is known to half of it
    assert plant.truth().pose == pytest.approx([0.4, 0.0, 0.0], abs=1e-3)
    assert energy(plant) == pytest.approx(begin, rel=2e-3)
    assert rolling.wheel_rate * robot.wheel_radius == pytest.approx(0.4, abs=2e-3)


def test_modules_on_a_circle_roll_without_side_slip():
    plant = MujocoPlant(frictionless('swerve'))
    robot = plant.robot
    # about a point 1 m to the left
    twist = np.array([0.4, 0.0, 0.4])
    velocity = np.array([twist[0] - twist[2] * robot.hip_position[:, 1],
                         twist[2] * robot.hip_position[:, 0]])
    plant.reset(steering=np.arctan2(-velocity[0], velocity[1]), twist=twist)
    for _ in range(400):
        sample = plant.step(np.zeros(robot.efforts), 0.005)
        truth = plant.truth()
        rolled = rolling_rates(robot, sample.steering, truth.twist, sample.steering_rate)
        assert np.abs(rolled.side_slip).max() < 2e-3
        assert np.abs(rolled.wheel_rate - sample.wheel_rate).max() < 0.05
    x, y, yaw = truth.pose
    # after two seconds 0.8 rad of the circle
    assert np.hypot(x, y - 1.0) == pytest.approx(1.0, abs=3e-3)
    assert yaw == pytest.approx(0.8, abs=5e-3)


@pytest.mark.parametrize('name, moving', [('swerve', 4), ('amr', 2), ('twin', 8),
                                          ('tricycle_agv', 1)])
def test_the_work_of_the_motors_becomes_kinetic_energy(name, moving):
    robot = frictionless(name)
    plant = MujocoPlant(robot, friction=5.0)
    sample = plant.reset(steering=AHEAD)
    # less than what tyres transmit without sliding
    torque = np.zeros(robot.efforts)
    torque[:robot.count] = np.where(robot.driven, 0.05 * robot.wheel_radius * (
        robot.total_mass * 9.81 / robot.count), 0.0)
    assert np.count_nonzero(torque) == moving
    work = 0.0
    for _ in range(200):
        before = sample.wheel_rate
        sample = plant.step(torque, 0.005)
        work += 0.0025 * float(torque[:robot.count] @ (before + sample.wheel_rate))
    assert plant.truth().twist[0] > 0.05
    assert energy(plant) == pytest.approx(work, rel=0.01)


def test_a_steering_motor_turns_a_module_below_its_pivot_and_the_tyres_hold_the_platform():
    robot = frictionless('swerve')
    plant = MujocoPlant(robot)
    plant.reset(steering=AHEAD)
    torque = np.zeros(8)
    torque[4] = 0.05
    for _ in range(20):
        sample = plant.step(torque, 0.005)
    # fork and wheel about the vertical
    inertia = robot.link_inertia[0] + robot.wheel_yaw_inertia[0]
    assert sample.steering_rate[0] == pytest.approx(0.1 * 0.05 / inertia, rel=0.02)
    assert np.abs(sample.steering[1:] - AHEAD).max() < 1e-3
    assert np.abs(plant.truth().pose).max() < 1e-3


def test_a_fixed_wheel_keeps_its_angle_and_holds_the_robot_sideways():
    plant = MujocoPlant('amr')
    robot = plant.robot
    plant.reset(steering=0.0)
    plant.push([0.0, 60.0], 0.0, 1.0)
    for _ in range(200):
        sample = plant.step(np.zeros(robot.efforts), 0.005)
    # 60 N across two tyres of 128 N each at µ = 0.8
    assert abs(plant.truth().pose[1]) < 2e-3
    assert np.array_equal(sample.steering[:2], robot.steering_zero[:2])
    assert not sample.steering_rate[:2].any()


def test_free_casters_of_an_amr_turn_behind_their_pivots():
    plant = MujocoPlant('amr')
    robot = plant.robot
    # casters across
    plant.reset(steering=0.0)
    torque = np.where(robot.driven, 1.5, 0.0)
    for _ in range(300):
        sample = plant.step(torque, 0.005)
    assert plant.truth().pose[0] > 0.3
    assert np.abs(sample.steering[2:] - AHEAD).max() < 0.05


def test_two_wheels_on_a_pivot_turn_their_fork_by_the_difference_of_their_torques():
    robot = frictionless('twin')
    plant = MujocoPlant(robot)
    assert plant.model.njnt == 6 + 4 + 8
    plant.reset(steering=AHEAD)
    torque = np.tile([-0.05, 0.05], 4)
    for _ in range(10):
        sample = plant.step(torque, 0.005)
    # the wheel to the right pushes ahead: all forks turn to the left, as one
    assert (sample.steering_rate > 0.5).all()
    assert np.ptp(sample.steering_rate) < 1e-2
    assert sample.steering[0] == sample.steering[1]
    assert sample.wheel_rate[1] > 0.0 > sample.wheel_rate[0]


def first_two(name, **changes):
    """Return the robot `name` with its first two wheels alone."""
    whole = load(name)
    names = ('hip_position', 'caster_offset', 'wheel_radius', 'link_mass', 'link_com',
             'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia',
             'steering_sign', 'steering_zero', 'wheel_sign', 'driven', 'torque_limit', 'fixed',
             'steered', 'steering_torque_limit', 'steering_rate_limit', 'wheel_rate_limit',
             'steering_encoder', 'wheel_encoder', 'slip_angle', 'lateral_offset')
    fields = {name: getattr(whole, name)[:2] for name in names}
    return replace(whole, steering_joints=whole.steering_joints[:2],
                   wheel_joints=whole.wheel_joints[:2], **{**fields, **changes})


def test_a_robot_on_two_wheels_is_held_level_and_rolls():
    robot = first_two('amr', platform_com=(0.05, 0.0))
    plant = MujocoPlant(robot)
    assert plant.wheel_load == pytest.approx(0.5 * 9.80665 * robot.total_mass, rel=1e-2)
    for _ in range(200):
        plant.step([1.0, 1.0], 0.005)
    mass = robot.total_mass + float(np.sum(robot.wheel_spin_inertia / robot.wheel_radius**2))
    # after one second, against the dry and viscous friction of both wheels
    force = 2.0 * (1.0 - 0.05) / robot.wheel_radius[0]
    assert plant.truth().twist[0] == pytest.approx(force / mass, rel=0.05)
    assert np.abs(plant.data.qpos[4:6]).max() < 0.02


@pytest.mark.parametrize('name, changes', [
    # light about its centre of mass, which is high and 0.26 m behind the axle
    ('amr', {'platform_com': (-0.26, 0.0), 'platform_inertia': 1.5}),
    ('twin', {'platform_com': (-0.1, 0.05), 'hip_position': np.zeros((2, 2))})])
def test_a_robot_on_one_axle_stands_still_wherever_its_weight_is(name, changes):
    """Tyres that are too stiff for their steps bounce, and the wheels creep."""
    plant = MujocoPlant(first_two(name, **changes))
    for _ in range(400):
        sample = plant.step(np.zeros(plant.robot.efforts), 0.005)
    assert np.abs(sample.wheel_angle).max() < 2e-3
    assert np.abs(plant.truth().pose).max() < 2e-4
