# SPDX-License-Identifier: Apache-2.0
"""The module controller on ROS topics: forward controllers, a robot on lagging axes, odometry."""

import math
import re

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import TwistStamped  # noqa: E402
from module_robot import NAME, ModuleRobot  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_controller.module_controller_node import ModuleControllerNode  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_description import load, robot_description  # noqa: E402
from c3p_description.reading.urdf import read_urdf  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.messages import fill_twist  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402

KINDS = ['swerve', 'tricycle_agv', 'amr', 'twin']


def start(bench, name='swerve', rates=True, **parameters):
    """Start the robot and its controller; return the robot once a zero has unlocked it."""
    robot = load(name) if isinstance(name, str) else name
    parameters = {'robot': name, **parameters} if isinstance(name, str) else parameters
    stub = bench.add(lambda **options: ModuleRobot(
        robot, interface=parameters.get('steering_interface', 'position'), rates=rates,
        context=options['context']))
    bench.add(ModuleControllerNode, start_silence=0.2, **parameters)
    bench.command_until(lambda: bench.value(NAME, 'locked') == 'no', 'unlocking', 0.0, 0.0, 0.0)
    return stub


def drive(bench, duration, *twist):
    """Command a twist at 50 Hz."""
    for _ in range(round(duration / 0.02)):
        bench.command(*twist)
        bench.run(0.02)


@pytest.mark.parametrize('name', KINDS)
def test_each_kind_drives_its_commands_and_the_odometry_is_the_truth(bench, name):
    """A square where it can, and turns; with the odometry node beside the controller."""
    stub = start(bench, name)
    bench.add(SensedKinematicsNode, robot=name)
    odom = bench.collect(Odometry, 'odom', keep=1)
    bench.wait_for(lambda: odom, 'odometry')
    begin, origin = stub.axes.pose.copy(), odom[-1].pose.pose
    sides = [(0.4, 0.0, 0.0), (0.0, 0.4, 0.0), (-0.4, 0.0, 0.0), (0.0, -0.4, 0.0)]
    if name in ('tricycle_agv', 'amr'):
        sides = [(0.4, 0.0, 0.0), (0.0, 0.0, math.pi / 2)] * 3
    for side in sides:
        drive(bench, 2.0, *side)
        drive(bench, 1.0, 0.0, 0.0, 0.0)
    drive(bench, 1.5, 0.3, 0.0, 0.4)
    drive(bench, 1.5, 0.0, 0.0, 0.0)
    assert np.abs(stub.axes.twist).max() < 1e-3
    found = odom[-1].pose.pose
    yaw = 2.0 * math.atan2(found.orientation.z, found.orientation.w)
    dx, dy = found.position.x - origin.position.x, found.position.y - origin.position.y
    c, s = np.cos(begin[2]), np.sin(begin[2])
    true = stub.axes.pose - begin
    place = np.array([c * true[0] + s * true[1], c * true[1] - s * true[0]])
    path = 2.0 * 0.4 * len(sides)
    assert path > 3.0
    np.testing.assert_allclose([dx, dy], place, atol=0.01)
    turned = math.remainder(yaw - true[2], 2.0 * math.pi)
    assert abs(turned) < 0.02


@pytest.mark.parametrize('name', KINDS)
def test_commands_are_in_the_order_of_the_description(bench, name):
    stub = start(bench, name)
    drive(bench, 1.5, 0.3, 0.0, 0.0)
    robot = stub.robot
    assert bench.value(NAME, 'wheel joints') == ', '.join(
        np.array(robot.wheel_joints)[robot.driven])
    assert len(stub.heard['wheels'][-1]) == robot.driven.sum()
    radius = robot.wheel_radius[robot.driven]
    np.testing.assert_allclose(np.abs(stub.heard['wheels'][-1]) * radius, 0.3, atol=0.01)
    if name in ('swerve', 'tricycle_agv'):
        assert len(stub.heard['steering'][-1]) == len(stub.joints.steering)
    else:
        assert stub.heard['steering'] == []
        assert bench.value(NAME, 'steering joints') == 'none'


def turned(text, joint):
    """Return a URDF whose `joint` turns the other way."""
    found = re.search(f'<joint name="{joint}".*?<axis xyz="([^"]*)"', text, re.DOTALL)
    axis = ' '.join(f'{-float(part):g}' for part in found[1].split())
    return text[:found.start(1)] + axis + text[found.end(1):]


def test_signs_and_zeros_are_those_of_the_description(bench):
    """Joints that turn the other way, with zeros of their own: the same motion."""
    text = turned(turned(robot_description('swerve'), 'steering_joint_2'), 'wheel_joint_3')
    robot = read_urdf(text).robot
    assert robot.steering_sign.tolist() == [1.0, -1.0, 1.0, 1.0] and robot.steering_zero.any()
    stub = start(bench, robot, robot_description=text)
    drive(bench, 3.0, 0.3, 0.2, 0.4)
    np.testing.assert_allclose(stub.axes.twist, [0.3, 0.2, 0.4], atol=2e-3)


def test_steering_joints_may_be_commanded_by_velocity(bench):
    stub = start(bench, steering_interface='velocity')
    drive(bench, 3.0, 0.0, 0.4, 0.3)
    drive(bench, 3.0, 0.3, -0.3, 0.0)
    np.testing.assert_allclose(stub.axes.twist, [0.3, -0.3, 0.0], atol=3e-3)


def test_joint_states_need_no_velocities(bench):
    stub = start(bench, rates=False)
    drive(bench, 2.0, 0.3, 0.0, 0.2)
    np.testing.assert_allclose(stub.axes.twist, [0.3, 0.0, 0.2], atol=2e-3)


def test_the_twists_are_the_command_within_limits_and_that_of_the_joints(bench):
    stub = start(bench, speed_limit=0.4)
    out = bench.collect(TwistStamped, f'{NAME}/cmd_vel_out', keep=1)
    sensed = bench.collect(TwistStamped, f'{NAME}/twist', keep=1)
    bench.wait_for(lambda: out and sensed, 'twists')
    drive(bench, 3.0, 0.8, 0.0, 0.6)
    for message in (out[-1], sensed[-1]):
        assert message.header.frame_id == 'base_link'
        found = message.twist.linear.x, message.twist.linear.y, message.twist.angular.z
        np.testing.assert_allclose(found, [0.4, 0.0, 0.3], atol=2e-3)
    np.testing.assert_allclose(stub.axes.twist, [0.4, 0.0, 0.3], atol=2e-3)


def test_a_swerve_drive_may_be_as_fast_as_its_wheels(bench):
    stub = start(bench, speed_limit=20.0, yaw_rate_limit=50.0, acceleration=10.0)
    drive(bench, 3.0, 8.0, 0.0, 0.0)
    fastest = stub.robot.wheel_rate_limit[0] * stub.robot.wheel_radius[0]
    assert stub.axes.twist[0] == pytest.approx(fastest, rel=1e-3)
    assert fastest > 4.5


def test_nothing_moves_after_the_start_while_commands_do_not_pause(bench):
    robot = load('swerve')
    stub = bench.add(lambda **options: ModuleRobot(robot, context=options['context']))
    bench.add(ModuleControllerNode, robot='swerve', start_silence=0.2)
    drive(bench, 2.0, 0.3, 0.0, 0.0)
    assert bench.value(NAME, 'locked') == 'starting'
    assert not np.any(stub.heard['wheels'])
    drive(bench, 0.1, 0.0, 0.0, 0.0)
    drive(bench, 2.0, 0.3, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.3, abs=1e-3)


def test_a_command_timeout_is_a_controlled_stop(bench):
    stub = start(bench, cmd_vel_timeout=0.3, stop_acceleration=1.0)
    drive(bench, 2.0, 0.5, 0.0, 0.0)
    begin = stub.axes.pose.copy()
    bench.run(0.25)
    assert stub.axes.twist[0] == pytest.approx(0.5, abs=1e-3)
    bench.run(1.5)
    assert np.abs(stub.axes.twist).max() < 1e-3
    # 0.3 s, then v²/(2 a), the jerk time, and the lags of the wheels
    path = np.linalg.norm(stub.axes.pose[:2] - begin[:2])
    assert 0.5 * 0.3 < path < 0.5 * 0.3 + 0.5**2 / 2.0 + 0.5 * (0.05 + 0.05 + 0.08)
    assert 'no command' in ' '.join(bench.said[NAME])
    # commands drive again at once
    drive(bench, 1.5, 0.2, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.2, abs=1e-3)


def test_lost_joint_states_stop_the_wheels_until_a_zero_command(bench):
    stub = start(bench)
    drive(bench, 2.0, 0.5, 0.0, 0.0)
    stub.silent = True
    drive(bench, 0.3, 0.5, 0.0, 0.0)
    assert not np.any(stub.heard['wheels'][-1])
    assert 'no joint_states' in bench.health[NAME].message
    stub.silent = False
    drive(bench, 1.0, 0.5, 0.0, 0.0)
    assert np.abs(stub.axes.twist).max() < 1e-3
    drive(bench, 0.1, 0.0, 0.0, 0.0)
    drive(bench, 1.5, 0.5, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.5, abs=1e-3)


def unknown(message):
    """A joint of another robot in the place of one."""
    message.name[0] = 'another_joint'


def not_finite(message):
    """No position of one joint."""
    message.position[1] = math.nan


def old(message):
    """A stamp of a minute ago."""
    message.header.stamp.sec -= 60


@pytest.mark.parametrize('broken, reason', [(unknown, 'missing'), (not_finite, 'finite'),
                                            (old, 'stale')])
def test_joint_states_that_cannot_be_used_stop_the_wheels_with_the_reason(bench, broken, reason):
    stub = start(bench)
    drive(bench, 2.0, 0.5, 0.0, 0.0)
    stub.broken = broken
    drive(bench, 0.4, 0.5, 0.0, 0.0)
    assert not np.any(stub.heard['wheels'][-1])
    assert reason in ' '.join(bench.said[NAME])
    drive(bench, 0.5, 0.5, 0.0, 0.0)
    assert np.abs(stub.axes.twist).max() < 1e-3


@pytest.mark.parametrize('twist', [(math.nan, 0.0, 0.0), (0.2, math.inf, 0.0)])
def test_a_command_that_is_no_number_is_refused(bench, twist):
    stub = start(bench)
    drive(bench, 1.5, 0.3, 0.0, 0.0)
    drive(bench, 0.2, *twist)
    assert bench.nodes[NAME].diagnostics.refused('cmd_vel')
    # the one before expires
    drive(bench, 1.5, *twist)
    assert np.abs(stub.axes.twist).max() < 1e-3
    assert np.isfinite(stub.heard['wheels']).all()


def test_a_second_publisher_of_joint_states_stops_the_wheels(bench):
    stub = start(bench)
    drive(bench, 1.5, 0.4, 0.0, 0.0)
    other = bench.talker.create_publisher(JointState, 'joint_states', 1)
    drive(bench, 0.4, 0.4, 0.0, 0.0)
    assert not np.any(stub.heard['wheels'][-1])
    bench.talker.destroy_publisher(other)
    drive(bench, 1.0, 0.4, 0.0, 0.0)
    assert np.abs(stub.axes.twist).max() < 1e-3


def test_a_stuck_module_stops_the_robot_and_is_named(bench):
    stub = start(bench, patience=0.5)
    drive(bench, 2.0, 0.4, 0.0, 0.0)
    stub.stuck[1] = True
    drive(bench, 3.0, 0.0, 0.4, 0.0)
    assert np.abs(stub.axes.wheel_rate).max() < 1e-2
    assert 'steering_joint_2: ' in bench.health[NAME].message
    assert 'from the commanded angle' in bench.health[NAME].message
    stub.stuck[1] = False
    drive(bench, 3.0, 0.0, 0.4, 0.0)
    np.testing.assert_allclose(stub.axes.twist, [0.0, 0.4, 0.0], atol=2e-3)
    assert 'steering_joint_2: ' not in bench.health[NAME].message


def test_modules_that_turn_slowly_as_planned_are_none_of_the_errors(bench):
    stub = start(bench, patience=0.5, steering_rate_limit=0.6)
    drive(bench, 5.0, 0.4, 0.0, 0.0)
    np.testing.assert_allclose(stub.axes.twist, [0.4, 0.0, 0.0], atol=2e-3)
    assert 'from the commanded angle' not in ' '.join(bench.said[NAME])


def test_stops_of_steering_joints_are_kept_and_named(bench):
    """A tricycle whose wheel turns by 1 rad: it cannot turn on the spot."""
    stub = start(bench, 'tricycle_agv', steering_lower=[-1.0], steering_upper=[1.0])
    drive(bench, 2.0, 0.3, 0.0, 0.5)
    np.testing.assert_allclose(stub.axes.twist, [0.3, 0.0, 0.5], atol=2e-3)
    drive(bench, 2.0, 0.0, 0.0, 0.5)
    assert np.abs(stub.axes.twist).max() < 1e-3
    assert 'steering_joint_1: the direction of the command' in bench.health[NAME].message
    drive(bench, 2.0, -0.3, 0.0, 0.2)
    np.testing.assert_allclose(stub.axes.twist, [-0.3, 0.0, 0.2], atol=2e-3)
    assert np.abs(stub.heard['steering']).max() <= 1.0


def test_stops_of_the_description_hold(bench):
    """From 80° the direction of 100° is 20° away, beyond the stops of ±95°: the long way round."""
    text = turned(robot_description('swerve'), 'steering_joint_2')
    for k in range(1, 5):
        found = re.search(f'<joint name="steering_joint_{k}" type="continuous">', text)
        text = text[:found.start()] + found[0].replace('continuous', 'revolute') + (
            '<limit lower="-1.65" upper="1.65" effort="30" velocity="40"/>') + re.sub(
            '<limit[^>]*>', '', text[found.end():], count=1)
    robot = read_urdf(text).robot
    stub = start(bench, robot, robot_description=text)
    for degrees in (80.0, 100.0):
        angle = math.radians(degrees)
        twist = -0.4 * math.sin(angle), 0.4 * math.cos(angle), 0.0
        drive(bench, 3.0, *twist)
        np.testing.assert_allclose(stub.axes.twist, twist, atol=2e-3)
    heard = np.array(stub.heard['steering'])
    assert np.abs(heard).max() <= 1.65 + 1e-12
    np.testing.assert_allclose(np.abs(heard[-1]), math.radians(80.0), atol=1e-3)


def test_a_forward_controller_that_comes_later_begins_with_zeros(bench):
    robot = load('amr')
    bench.add(ModuleControllerNode, robot='amr', start_silence=0.2)
    bench.command(0.0, 0.0, 0.0)
    drive(bench, 0.5, 0.3, 0.0, 0.0)
    stub = bench.add(lambda **options: ModuleRobot(robot, context=options['context']))
    drive(bench, 1.5, 0.3, 0.0, 0.0)
    assert not np.any(stub.heard['wheels'])
    drive(bench, 0.1, 0.0, 0.0, 0.0)
    drive(bench, 1.5, 0.3, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.3, abs=1e-3)


def test_wheels_that_do_not_stop_are_an_error(bench):
    stub = start(bench, patience=0.5)
    drive(bench, 1.5, 0.4, 0.0, 0.0)
    # the controller of one wheel holds its command
    held = stub.wheel_rate[2]
    stub.create_timer(0.001, lambda: stub.wheel_rate.__setitem__(2, held))
    drive(bench, 2.5, 0.0, 0.0, 0.0)
    assert 'wheel_joint_3: turn although zero' in bench.health[NAME].message


def test_rates_of_a_wrong_sense_are_named_and_not_fed_back(bench):
    stub = start(bench)

    def reverse(message):
        message.velocity = [-rate for rate in message.velocity]
    stub.broken = reverse
    drive(bench, 3.0, 0.3, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.3, abs=0.01)
    text = bench.health[NAME].message
    assert text.startswith('rates: the rates of ') and all(
        f'{joint}_{k}' in text for joint in ('steering_joint', 'wheel_joint') for k in range(1, 5))
    drive(bench, 1.0, 0.0, 0.0, 0.0)
    assert not np.any(stub.heard['wheels'][-1])


def test_a_node_that_ends_leaves_wheels_that_stand(bench):
    stub = start(bench)
    drive(bench, 1.5, 0.4, 0.0, 0.0)
    assert np.any(stub.heard['wheels'][-1])
    bench.remove(NAME)
    bench.run(0.1)
    assert not np.any(stub.heard['wheels'][-1])


def test_the_e_stop_of_the_mux_stops_the_robot(bench):
    stub = start(bench)
    bench.add(TwistMuxNode, start_silence=0.0)
    assert bench.call(Trigger, 'twist_mux/release').success
    keys, lock = (bench.publisher(TwistStamped, 'cmd_vel_keyboard'),
                  bench.publisher(Bool, 'e_stop'))

    def press(duration, *twist):
        for _ in range(round(duration / 0.02)):
            message = TwistStamped()
            message.header.stamp = bench.now()
            fill_twist(message.twist, twist)
            keys.publish(message)
            bench.run(0.02)

    press(0.6, 0.0, 0.0, 0.0)
    press(2.0, 0.4, 0.0, 0.0)
    assert stub.axes.twist[0] == pytest.approx(0.4, abs=1e-3)
    lock.publish(Bool(data=True))
    press(1.5, 0.4, 0.0, 0.0)
    assert np.abs(stub.axes.twist).max() < 1e-3


@pytest.mark.parametrize('name', ['c3p', 'powered_caster'])
def test_casters_are_refused_by_name(bench, name):
    with pytest.raises(ParameterError, match='wheel_joint_1.*velocity_controller'):
        bench.add(ModuleControllerNode, robot=name)


def test_stops_of_another_number_of_joints_are_refused(bench):
    with pytest.raises(ParameterError, match='steering_lower has 3 values: must be one, or 4'):
        bench.add(ModuleControllerNode, robot='swerve', steering_lower=[-1.0] * 3)


def test_an_array_of_a_command_that_is_not_finite_is_not_published(bench, monkeypatch):
    stub = start(bench)
    drive(bench, 1.5, 0.4, 0.0, 0.0)
    node = bench.nodes[NAME]
    step = node._modules.step
    monkeypatch.setattr(node._modules, 'step', lambda *given: step(*given)._replace(
        wheel_rate=np.full(4, math.nan)))
    drive(bench, 1.0, 0.4, 0.0, 0.0)
    assert np.isfinite(stub.heard['wheels']).all()
    assert np.abs(stub.axes.twist).max() < 1e-3
