# SPDX-License-Identifier: Apache-2.0
"""Stops of steering axes: described, kept by commands, and the bends of a robot on an axle."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller.goals.axle_path import AxlePathController
from c3p_controller.goals.path import figure_eight
from c3p_controller.goals.path_controller import PathGains
from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.reading.loader import robot_description
from c3p_description.reading.urdf import from_urdf
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.robots.battery import impossible, tasks
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import Pace
from c3p_kinematics.fixed_axle import fixed_axle
from c3p_kinematics.module_commands import ModuleSteering
from c3p_kinematics.rolling import rolling_rates

SWERVE = load('swerve')
TRICYCLE = load('tricycle_agv')
ZERO = TRICYCLE.steering_zero[0]
# straight ahead is at −90°
CAR = replace(TRICYCLE, steering_lower=ZERO - 0.5, steering_upper=ZERO + 0.5)
PACE = Pace(0.4, 0.5, 0.5, 1.0, 1.0, 1.0, 0.8)


def test_stops_are_read_from_a_robot_file_and_from_its_urdf(tmp_path):
    file = tmp_path / 'stopped.yaml'
    file.write_text('extends: swerve\ncasters: {steering_lower: [-1.5, -1.5, -.inf, -1.5], '
                    'steering_upper: 1.6}\n', encoding='utf-8')
    for robot in (load(str(file)), from_urdf(robot_description(str(file)))):
        assert robot.steering_lower.tolist() == [-1.5, -1.5, -np.inf, -1.5]
        assert robot.steering_upper.tolist() == [1.6] * 4


def test_stops_of_a_joint_that_turns_downward_are_exchanged():
    text = robot_description('swerve').replace(
        '<joint name="steering_joint_1" type="continuous">',
        '<joint name="steering_joint_1" type="revolute">', 1)
    head, tail = text.split('<joint name="steering_joint_1" type="revolute">')
    tail = tail.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>', 1)
    tail = tail.replace('<limit ', '<limit lower="-0.5" upper="1.25" ', 1)
    robot = from_urdf(f'{head}<joint name="steering_joint_1" type="revolute">{tail}')
    assert robot.steering_sign[0] == -1.0
    away = np.array([robot.steering_lower[0], robot.steering_upper[0]]) - robot.steering_zero[0]
    np.testing.assert_allclose(away, [-1.25, 0.5], atol=1e-12)
    assert np.isinf(robot.steering_lower[1:]).all()


@pytest.mark.parametrize(('lower', 'upper'), [(1.0, 1.0), (0.5, -0.5), (np.nan, 1.0),
                                              (-np.inf, -np.inf), (np.inf, np.inf)])
def test_stops_that_cannot_be_are_refused(lower, upper):
    with pytest.raises(ModelError, match='each lower stop must be below the upper one'):
        replace(SWERVE, steering_lower=lower, steering_upper=upper)


@pytest.mark.parametrize('seed', range(5))
def test_commands_without_a_plan_stay_between_stops_and_reach_every_motion(seed):
    """A range of 200°: one of the two ways always lies in it."""
    lower, upper = np.radians([-100.0, 100.0])
    robot = replace(SWERVE, steering_lower=lower, steering_upper=upper)
    modules = ModuleSteering(robot)
    rng = np.random.default_rng(seed)
    angles = rng.uniform(lower, upper, 4)
    for _ in range(8):
        target = rng.uniform(-0.8, 0.8, 3)
        for _ in range(80):
            command = modules.step(angles, target, 0.01)
            angles = command.steering
            assert np.all((lower - 1e-9 <= angles) & (angles <= upper + 1e-9))
        np.testing.assert_allclose(command.twist, target, atol=1e-9)
        np.testing.assert_allclose(rolling_rates(robot, angles, target).side_slip, 0.0, atol=1e-9)


def test_a_motion_beyond_a_stop_stands_with_the_module_at_it():
    modules = ModuleSteering(CAR)
    angles = np.full(3, ZERO)
    for _ in range(50):
        command = modules.step(angles, [0.0, 0.0, 0.5], 0.01)
        angles = command.steering
        assert not command.twist.any()
    assert abs(angles[0] - ZERO) == pytest.approx(0.5)


def test_the_bends_of_an_axle_are_those_with_a_wheel_at_its_stop():
    axle = fixed_axle(CAR)
    for bend, stop in zip(axle.bends, (-0.5, 0.5), strict=True):
        velocity = axle.twist(1.0, bend)
        point = CAR.hip_position[0]
        angle = np.arctan2(velocity[1] + velocity[2] * point[0],
                           velocity[0] - velocity[2] * point[1])
        assert angle - 0.5 * np.pi - ZERO == pytest.approx(stop)
    # more is reduced, forward and backward, and a robot that stands does not turn
    for speed in (0.4, -0.4, 0.0):
        found = axle.motion(axle.steered(axle.twist(speed, 5.0)))
        assert found == pytest.approx((speed, 0.0, axle.bends[1] * abs(speed)))
    assert fixed_axle(TRICYCLE).radius == 0.0
    assert fixed_axle(replace(CAR, steering_lower=ZERO)).radius == np.inf
    # one module turns by half a turn, and so to any direction
    assert fixed_axle(replace(TRICYCLE, steering_lower=ZERO - 1.6, steering_upper=ZERO + 1.6)
                      ).radius == 0.0


def test_a_robot_that_does_not_turn_on_the_spot_is_given_paths_with_wide_bends():
    law = AxlePathController.make(PathGains(), CAR)
    radius = fixed_axle(CAR).radius
    with pytest.raises(ValueError, match='does not turn on the spot'):
        law.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    with pytest.raises(ValueError, match='choose a path with wider bends'):
        law.set_path(figure_eight(np.zeros(3), 0.9 * radius, 0.0))
    law.set_path(figure_eight(np.zeros(3), 1.1 * radius, 0.0))
    assert law.step(np.zeros(3)) is not None


def test_the_battery_states_the_drives_that_stops_do_not_allow():
    drives = tasks(CAR, PACE)
    assert all(CAR.steering_lower[0] <= drive.steering[0] <= CAR.steering_upper[0]
               for drive in drives)
    assert [drive.name for drive in drives if not impossible(CAR, drive)] == ['figure_eight']
    assert not any(impossible(TRICYCLE, drive) for drive in tasks(TRICYCLE, PACE))


def test_a_module_on_the_contact_plant_stops_at_its_stop():
    pytest.importorskip('mujoco')
    robot = replace(SWERVE, steering_lower=-0.5, steering_upper=[0.4, 0.5, 0.5, np.inf])
    plant = RobotBench(robot, Conditions(plant='mujoco', controller='modules')).plant()
    sample = plant.reset()
    for _ in range(300):
        sample = plant.step(np.array([0.0] * 4 + [5.0] * 4), 0.005)
    # a stop gives way by some tenths of a degree per N·m
    np.testing.assert_allclose(sample.steering[:3], [0.4, 0.5, 0.5], atol=0.05)
    assert sample.steering[3] > 1.0
