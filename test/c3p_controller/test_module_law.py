# SPDX-License-Identifier: Apache-2.0
"""The law of modules, fixed wheels and twins drives to goals; others refuse such robots."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller import AUTO, chosen_law
from c3p_controller.goals.axle_path import AxlePathController
from c3p_controller.goals.path import figure_eight
from c3p_controller.goals.path_controller import PathGains
from c3p_controller.goals.reach_limits import limits_of_reach, within_reach
from c3p_controller.module_law import ModuleLaw
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description import load
from c3p_description.model import ModelError
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource, PathSource, TwistSource
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.fixed_axle import FixedAxle
from c3p_kinematics.se2 import to_floor
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensorSettings


def drive(name, goal, steering=0.0, duration=40.0, robot=None):
    """Drive to a goal on the contact plant with encoders and a delayed loop."""
    robot = robot or load(name)
    plant = make_plant('mujoco', robot, PlantOptions(sensors=SensorSettings(), seed=3), name)
    controller = make_controller(AUTO, robot)
    position = controller.position()
    position.retune(within_reach(position.gains, limits_of_reach(robot))[0])
    return run_loop(plant, controller.law, GoalSource(position, [goal]), duration=duration,
                    steering=steering, stop=Held())


@pytest.mark.parametrize('name, goal, steering, path', [
    ('swerve', [1.5, 0.8, 0.6], 0.0, 0.01), ('swerve', [0.0, 0.0, 3.0], 1.0, 0.01),
    ('swerve', [-1.0, 0.3, 0.0], [0.3, 2.0, -1.0, 3.0], 0.01),
    ('twin', [0.6, 0.5, 0.4], 0.0, 0.03),
    ('amr', [1.0, 0.5, 1.2], 0.0, 0.05), ('amr', [-1.0, 0.0, 0.0], 0.0, 0.05),
    ('tricycle_agv', [0.8, 0.4, -0.5], 0.0, 0.05)])
def test_each_kind_of_robot_reaches_its_goal_with_the_law_of_its_wheels(name, goal, steering,
                                                                        path):
    log = drive(name, goal, steering)
    assert log.ended and not log.fault
    error = log.odom.pose[-1] - goal
    assert np.hypot(*error[:2]) < 0.005 and abs(error[2]) < 0.03
    # true: the odometry is right, and nothing slides
    assert np.hypot(*(log.ground_truth.pose[-1] - goal)[:2]) < 0.01
    x, y = goal[:2]
    across = log.odom.pose[:, :2] @ np.array([-y, x]) / max(np.hypot(x, y), 1.0)
    assert np.abs(across).max() < path


def test_modules_that_stand_turn_before_the_robot_moves():
    log = drive('swerve', [1.0, 0.0, 0.0])
    turning = np.abs(log.joints.steering[:, 0] + 0.5 * np.pi) > 0.5
    assert turning.sum() > 10
    assert np.hypot(*log.ground_truth.pose[turning][-1, :2]) < 0.01
    assert abs(log.ground_truth.pose[turning][-1, 2]) < 0.01


def test_a_robot_with_fixed_wheels_turns_rolls_and_turns():
    log = drive('amr', [0.0, 1.0, 0.0])
    twist = log.ground_truth.twist
    # never sideways
    assert np.abs(twist[:, 1]).max() < 0.02
    yaw = log.odom.pose[:, 2]
    middle = np.hypot(*(log.odom.pose[:, :2] - [0.0, 0.5]).T) < 0.1
    assert yaw[middle] == pytest.approx(0.5 * np.pi, abs=0.05)
    assert yaw[-1] == pytest.approx(0.0, abs=0.03)


def test_modules_beside_their_pivots_reach_the_goal():
    robot = replace(load('swerve'), lateral_offset=[0.045, -0.045, 0.045, -0.045])
    log = drive('swerve', [1.0, 1.0, 0.5], robot=robot)
    assert log.ended and not log.fault
    assert np.hypot(*(log.ground_truth.pose[-1, :2] - 1.0)) < 0.02


def test_a_twist_is_followed_within_the_limit_of_acceleration():
    robot = load('swerve')
    plant = make_plant('mujoco', robot, PlantOptions(sensors=SensorSettings.ideal()), 'swerve')
    controller = make_controller(AUTO, robot)
    log = run_loop(plant, controller.law, TwistSource(lambda t: (0.4, 0.2, 0.3)), duration=1.5,
                   steering=-0.5 * np.pi)
    assert log.ground_truth.twist[-1] == pytest.approx([0.4, 0.2, 0.3], abs=0.02)
    # after the modules are aligned
    speed = np.hypot(*log.ground_truth.twist[:, :2].T)
    change = np.abs(np.diff(speed[::10])) / 0.05
    assert change.max() < 2.0 * ModuleLaw.Settings().acceleration


@pytest.mark.parametrize('name, acceleration, jerk', [
    ('swerve', 2.0, 40.0), ('swerve', 1.0, 5.0), ('tricycle_agv', 20.0, 40.0)])
def test_pivots_have_the_acceleration_and_the_jerk_of_the_settings_or_of_the_tyres(
        name, acceleration, jerk):
    robot = load(name)
    law = ModuleLaw(robot, ModuleLaw.Settings(acceleration=acceleration, jerk=jerk))
    ahead = np.full(robot.count, -0.5 * np.pi)
    rest = Sensed(0.0, ahead, np.zeros(robot.count), np.zeros(3), np.zeros(3))
    law.reset(rest)
    speed = []
    for k in range(200):
        law.step(rest._replace(time=0.005 * k), Setpoint(np.array([0.5, 0.0, 0.0])), 0.005)
        speed.append(law.reference[0])
    change = np.diff(speed, prepend=0.0) / 0.005
    grip = 9.81 * np.min(robot.tyre_friction) * np.min(robot.traction_margin) * robot.driven.mean()
    most = min(acceleration, grip)
    # more than half of it is used, unless the ramp of the jerk is longer than the start
    assert 0.5 * min(most, np.sqrt(0.5 * jerk)) < change.max() <= most * 1.001
    assert np.abs(np.diff(change, prepend=0.0)).max() / 0.005 <= jerk * 1.001
    assert speed[-1] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize('shift', [[0.0, 0.0, 1.5], [3.0, -2.0, -0.8]])
def test_a_pose_that_is_set_anew_turns_no_robot_that_follows_a_twist(shift):
    robot = load('swerve')
    there, anew = ModuleLaw(robot), ModuleLaw(robot)
    ahead = np.full(robot.count, -0.5 * np.pi)
    still = np.zeros(robot.count)
    for k in range(100):
        pose = np.array([0.3 * 0.005 * k, 0.0, 0.0])
        twist = np.array([0.3, 0.0, 0.0])
        sensed = Sensed(0.005 * k, ahead, still, pose, twist)
        if k > 50:
            # the robot rolls on in its own direction
            c, s = np.cos(shift[2]), np.sin(shift[2])
            pose = np.array([c * pose[0], s * pose[0], 0.0]) + shift
        setpoint = Setpoint(twist)
        np.testing.assert_allclose(
            anew.step(sensed._replace(pose=pose), setpoint, 0.005),
            there.step(sensed, setpoint, 0.005), atol=1e-9)


def test_the_law_of_a_robot_is_chosen_by_its_wheels():
    assert chosen_law(AUTO, load('c3p')) == chosen_law(AUTO, load('powered_caster')) == 'mpc'
    for name in ('swerve', 'amr', 'twin', 'tricycle_agv'):
        assert chosen_law(AUTO, load(name)) == 'modules'
        assert chosen_law('paper', load(name)) == 'paper'


@pytest.mark.parametrize('controller', ['mpc', 'paper'])
@pytest.mark.parametrize('name', ['swerve', 'amr', 'twin', 'tricycle_agv'])
def test_laws_of_casters_refuse_other_wheels_and_name_the_law_that_drives_them(controller, name):
    with pytest.raises(ModelError, match=f'robot {name}.*needs casters.*choose the controller '
                                         'modules'):
        make_controller(controller, load(name))


def test_too_few_motors_are_refused():
    robot = replace(load('amr'), driven=[True] + 5 * [False])
    with pytest.raises(ValueError, match='1 of three freedoms'):
        make_controller(AUTO, robot)


def test_a_path_across_fixed_wheels_is_refused_and_one_along_them_is_followed():
    robot = load('amr')
    controller = make_controller(AUTO, robot)
    position = controller.position()
    with pytest.raises(ValueError, match='90° off the direction in which the fixed wheels roll'):
        position.set_path(figure_eight(np.zeros(3), 0.8))
    along = figure_eight(np.zeros(3), 0.8, travel=0.0)
    plant = make_plant('mujoco', robot, PlantOptions(sensors=SensorSettings(), seed=1), 'amr')
    gains = within_reach(position.gains, limits_of_reach(robot))[0]
    position.retune(gains)
    log = run_loop(plant, controller.law, PathSource(position, along), duration=60.0, stop=Held())
    assert log.ended
    x, y = log.ground_truth.pose[:, :2].T
    ring = np.minimum(np.abs(np.hypot(x, y - 0.8) - 0.8), np.abs(np.hypot(x, y + 0.8) - 0.8))
    assert ring.max() < 0.05


def test_what_a_command_has_across_the_axle_turns_the_robot_ahead_and_back():
    axle = FixedAxle(np.array([0.2, 0.0]), 0.0)
    for speed in (0.4, -0.4):
        followed = axle.steered(to_floor(0.0, [speed, 0.1, 0.0]))
        assert axle.motion(followed)[:2] == pytest.approx((speed, 0.0), abs=1e-12)
        # it turns so that its motion leads to the left
        assert np.sign(followed[2]) == np.sign(speed)


def test_a_goal_that_is_missed_is_approached_again():
    controller = AxlePathController(PathGains(), FixedAxle(np.zeros(2), 0.0))
    controller.set_goal(np.array([1.0, 0.0, 0.0]), np.zeros(3))
    # at the end of each leg, but 10 cm beside the goal
    pose = np.array([1.0, 0.1, 0.0])
    for _ in range(4):
        controller.step(pose, np.zeros(3))
    command = controller.step(pose, np.zeros(3))
    assert not command.reached and command.distance == pytest.approx(0.1)
    assert controller.goal is not None and np.abs(command.twist).max() > 0.0


def test_a_robot_that_turns_past_its_goal_turns_back():
    controller = AxlePathController(PathGains())
    controller.set_goal(np.array([0.0, 0.0, 1.0]), np.zeros(3))
    # through the goal with 0.8 rad/s, then at rest within the zone
    controller.step(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.8]))
    command = controller.step(np.array([0.0, 0.0, 1.06]), np.zeros(3))
    assert command.reached and command.twist[2] < -0.03
    # one that arrives slowly has arrived, and stays
    controller.step(np.array([0.0, 0.0, 1.01]), np.array([0.0, 0.0, -0.01]))
    assert not controller.step(np.array([0.0, 0.0, 1.06]), np.zeros(3)).twist.any()


@pytest.mark.parametrize('name', ['swerve', 'amr'])
def test_the_farthest_pivot_brakes_with_the_deceleration_of_the_gains(name):
    robot = load(name)
    lever = np.hypot(*robot.hip_position.T).max()
    controller = AxlePathController.make(PathGains(), robot)
    for goal in ([0.0, 0.0, 3.0], [0.35, 0.0, 0.0]):
        controller.set_goal(np.array(goal), np.zeros(3))
        left = 0.1
        pose = np.array(goal) * (1.0 - left / max(goal))
        twist = controller.step(pose).twist
        along = twist[2] if goal[2] else twist[0]
        # a radian of a turn is the distance of the pivot
        most = 1.0 / lever if goal[2] else 1.0
        assert along == pytest.approx(np.sqrt(2.0 * most * left), rel=1e-6)
    # and the preview as well
    controller.set_goal(np.array([0.0, 0.0, 3.0]), np.zeros(3))
    controller.step(np.array([0.0, 0.0, 2.5]), np.array([0.0, 0.0, 1.5]))
    preview = controller.preview
    braking = -np.diff(preview.velocity[:, 2]) / np.diff(preview.time)
    assert 0.5 / lever < braking.max() < 2.5 / lever


def test_a_stopped_law_keeps_its_modules():
    law = ModuleLaw(load('swerve'))
    angles = np.array([0.1, 0.2, 0.3, 0.4])
    still = Sensed(0.0, angles, np.zeros(4), np.zeros(3), np.zeros(3))
    assert np.abs(law.step(still, Setpoint(np.zeros(3)), 0.005)).max() < 1e-9
