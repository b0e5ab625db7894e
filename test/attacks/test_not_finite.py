# SPDX-License-Identifier: Apache-2.0
"""Whatever a law, an estimate or a plant gives: no node publishes what is not finite."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from wired import Wired  # noqa: E402
from wired_robot import RATE, WiredRobot  # noqa: E402

from c3p_bags.player.player_node import PlayerNode  # noqa: E402
from c3p_bags.storage.bag import RawMessage  # noqa: E402
from c3p_bags.storage.bag_writer import BagWriter  # noqa: E402
from c3p_bringup.excite_live import ExcitationClient  # noqa: E402
from c3p_bringup.teleop.robot_link import RobotLink  # noqa: E402
from c3p_controller.goals.goal_life import NO_COMMAND  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_dynamics import inverse_dynamics_node  # noqa: E402
from c3p_hardware.hardware_interface_node import HardwareInterfaceNode  # noqa: E402
from c3p_hardware.joint_sensing import SensedJoints  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_ros.diagnostics import ERROR, NOT_PUBLISHED  # noqa: E402

BAD = [math.nan, -math.inf]
bad = pytest.mark.parametrize('value', BAD)
mpc, paper = (pytest.mark.parametrize('robot', [law], indirect=True, scope='module')
              for law in ('mpc', 'paper'))
C3P = load('c3p')


@pytest.fixture(scope='module', params=['mpc', 'paper'])
def robot(request):
    robot = WiredRobot(request.param)
    yield robot
    robot.close()


@pytest.fixture
def driving(robot):
    """The robot on its way to a goal two metres ahead; whatever was patched is gone before."""
    robot.cancel()
    robot.unlock()
    robot.results.clear()
    robot.goal(2.0, 0.0, 0.0)
    robot.cycle(int(0.6 * RATE))
    assert not robot.results
    return robot


@pytest.fixture
def wired():
    wired = Wired()
    yield wired
    wired.close()


def withheld(node, topic):
    """Return how often `topic` was not published, which the diagnostics show as an error."""
    count = node.diagnostics.count(topic, NOT_PUBLISHED)
    if count:
        status = node.diagnostics.status()
        assert status.level == ERROR and f'{topic} not published: ' in status.message
        assert {v.key: v.value for v in status.values}[f'{topic} not published'] == str(count)
    return count


def comes_to_rest_locked(robot):
    robot.cycle(int(1.5 * RATE))
    assert abs(robot.twist).max() < 0.01
    assert robot.velocity.interlock.lock or robot.position._controller.goal is None


@bad
def test_a_position_law_that_commands_no_number_gives_the_goal_up(driving, monkeypatch, value):
    controller, node = driving.position._controller, driving.position
    step, before = controller.step, withheld(node, 'cmd_vel')

    def spoiled(*arguments):
        command = step(*arguments)
        return command and command._replace(twist=np.array([0.1, value, 0.0]))

    monkeypatch.setattr(controller, 'step', spoiled)
    sent = driving.published['cmd_vel']
    driving.cycle(10)
    reason, text = driving.ended()
    assert reason == NO_COMMAND and f'cmd_vel: twist[vy] = {value}: must be finite' in text
    # one zero and silence
    assert driving.published['cmd_vel'] - sent <= 3 and withheld(node, 'cmd_vel') == before + 1
    assert driving.last['cmd_vel'].twist == Twist()
    monkeypatch.undo()
    comes_to_rest_locked(driving)


@bad
@mpc
def test_a_reference_ahead_that_is_no_number_gives_the_goal_up(driving, monkeypatch, value):
    node = driving.position
    before, step = withheld(node, 'reference_trajectory'), node._controller.step

    def spoiled(*arguments):
        command = step(*arguments)
        if preview := node._controller.preview:
            node._controller.preview = preview._replace(pose=preview.pose * value)
        return command

    monkeypatch.setattr(node._controller, 'step', spoiled)
    driving.cycle(10)
    assert driving.ended()[0] == NO_COMMAND
    assert withheld(node, 'reference_trajectory') == before + 1
    assert driving.last['cmd_vel'].twist == Twist()
    monkeypatch.undo()
    comes_to_rest_locked(driving)


@bad
def test_a_torque_law_that_gives_no_number_brakes_and_locks(driving, monkeypatch, value):
    node = driving.velocity
    law = 'torque' if hasattr(node._law, 'expects') else 'step'
    monkeypatch.setattr(node._law, law, lambda *_: np.array([0.0, value, 0.0]))
    before = withheld(node, 'wheel_effort')
    driving.cycle(2)
    assert node.interlock.lock == 'stopped: the torque is not finite'
    assert withheld(node, 'wheel_effort') > before
    # against the motion of each wheel
    effort = driving._readers[JointState](driving.last['wheel_effort'])
    rate = node._output.wheel_rate
    np.testing.assert_allclose(effort.effort, np.clip(
        -node.parameters.value.stop_damping * rate, -1.2, 1.2), atol=1e-12)
    assert np.dot(effort.effort, rate) < 0.0
    driving.cycle(int(1.5 * RATE))
    assert abs(driving.twist).max() < 0.01
    monkeypatch.undo()


@bad
@paper
def test_an_acceleration_that_is_no_number_brakes_and_locks(driving, monkeypatch, value):
    node = driving.velocity
    monkeypatch.setattr(node._law, 'accel', lambda *_: np.array([0.0, 0.0, value]))
    before = withheld(node, 'reference_acceleration')
    driving.cycle(2)
    assert node.interlock.lock == 'stopped: the desired acceleration is not finite'
    assert withheld(node, 'reference_acceleration') > before
    driving.cycle(int(1.5 * RATE))
    assert abs(driving.twist).max() < 0.01
    monkeypatch.undo()


@bad
@paper
def test_inverse_dynamics_that_give_no_number_answer_nothing(driving, monkeypatch, value):
    monkeypatch.setattr(inverse_dynamics_node, 'inverse_dynamics',
                        lambda *_: np.array([value, 0.0, 0.0]))
    before = withheld(driving.dynamics, 'dynamics_effort')
    driving.cycle(int(0.5 * RATE))
    assert withheld(driving.dynamics, 'dynamics_effort') > before
    # without answers the wheels brake
    assert driving.velocity.interlock.lock.startswith('no dynamics_effort')
    driving.cycle(int(1.5 * RATE))
    assert abs(driving.twist).max() < 0.01
    monkeypatch.undo()


@bad
def test_an_estimate_that_is_no_number_is_kept_back_and_the_pose_stays(driving, monkeypatch,
                                                                       value):
    node = driving.sensed
    step, before = node._odometry.step_by, withheld(node, 'odom')
    last = node._placed.copy()
    monkeypatch.setattr(node._odometry, 'step_by', lambda *arguments: step(*arguments)._replace(
        twist=np.array([value, 0.0, 0.0])))
    sent = driving.published['odom']
    driving.cycle(4)
    assert withheld(node, 'odom') == before + 4 and driving.published['odom'] == sent
    monkeypatch.undo()
    driving.cycle(3)
    assert driving.published['odom'] > sent
    np.testing.assert_allclose(node._placed, last, atol=0.02)


def test_a_plant_that_left_the_numbers_publishes_no_joint_states(driving, monkeypatch):
    node = driving.simulation
    encode, before = node._joints.encode, withheld(node, 'joint_states')

    def spoiled(*arguments):
        position, velocity, effort = encode(*arguments)
        return position, velocity * math.nan, effort

    monkeypatch.setattr(node._joints, 'encode', spoiled)
    driving.cycle()
    assert withheld(node, 'joint_states') == before + 1
    monkeypatch.undo()


@bad
@pytest.mark.parametrize('stamped', [True, False])
def test_a_mux_passes_nothing_that_is_no_number(wired, monkeypatch, value, stamped):
    node = wired.add(TwistMuxNode, use_stamped=stamped)
    wired.listeners = 1
    kind = TwistStamped if stamped else Twist
    source = next(s for s in node.subscriptions if s.topic_name.startswith('/cmd_vel'))

    def command(x):
        message = kind()
        (message.twist if stamped else message).linear.x = x
        source.callback(message)

    # an e-stop counts as pressed until it is heard
    lock = next(s for s in node.subscriptions if s.topic_name == '/e_stop')
    lock.callback(Bool(data=False))

    def last():
        message = wired.last['cmd_vel']
        return (message.twist if stamped else message).linear.x

    for _ in range(200):
        wired.time += 20_000_000
        wired.watch()
        command(0.0)
    command(0.2)
    assert last() == 0.2
    command(value)
    assert node.diagnostics.refused(source.topic_name.lstrip('/')) == 1 and last() == 0.2
    # and where it is written it is zero, should what reads it fail
    monkeypatch.setattr('c3p_controller.twist_mux_node.planar', lambda *_: None)
    command(value)
    assert withheld(node, 'cmd_vel') == 1 and last() == 0.0


@bad
@pytest.mark.parametrize('direction', ['to_ros2_control', 'from_ros2_control'])
def test_a_bridge_closes_its_gate_and_gives_zeros(wired, value, direction):
    wired.listeners = 1
    node = wired.add(Ros2ControlBridgeNode, direction=direction)
    node._gate.command(np.zeros(3), wired.time * 1e-9)
    node._publish(np.array([0.1, value, 0.0]))
    topic = node._publisher.topic_name.lstrip('/')
    named = node.parameters.value.commands_topic if direction.startswith('to') else topic
    assert withheld(node, named) == 1 and wired.published[topic] == 1
    assert node._gate.reason == 'the torques are not finite'
    assert 'nan' not in f'{wired.last[topic]}' and 'inf' not in f'{wired.last[topic]}'


@bad
def test_a_hardware_interface_publishes_no_joint_states_that_are_no_numbers(wired, value):
    node = wired.add(HardwareInterfaceNode, autostart='unconfigured')
    good, spoiled = np.zeros(3), np.array([0.0, value, 0.0])
    node._publish(SensedJoints(good, spoiled, good, good, good), wired.time)
    assert withheld(node, 'joint_states') == 1 and not wired.published['joint_states']
    node._publish(SensedJoints(good, good, good, good, good), wired.time)
    assert wired.published['joint_states'] == 1


@bad
@pytest.mark.parametrize('stamped', [True, False])
def test_a_keyboard_sends_zero_in_its_place(wired, value, stamped):
    link = wired.add(lambda **_: RobotLink(C3P, 'cmd_vel', stamped, context=wired.context))
    link.send(np.array([value, 0.2, 0.1]))
    sent = wired.last['cmd_vel']
    assert (sent.twist if stamped else sent) == Twist()


@bad
def test_an_excitation_that_is_no_number_stops_the_robot(wired, value):
    motion = SimpleNamespace(duration=5.0, reach=1.0,
                             twist=lambda *_: np.array([0.0, 0.0, value]))
    client = wired.add(lambda **_: ExcitationClient(motion, context=wired.context))
    message = Odometry()
    message.pose.pose.orientation.w = 1.0
    for _ in range(60):
        wired.time += 20_000_000
        message.header.stamp = wired.now()
        client._on_odom(serialize_message(message))
    assert client.done and f'twist[yaw rate] = {value}' in client.fault
    assert wired.last['cmd_vel'].twist == Twist()


def test_a_player_leaves_out_recorded_commands_that_are_no_numbers(wired, tmp_path):
    with BagWriter(tmp_path / 'bag') as bag:
        bag.add('/cmd_vel', 'geometry_msgs/msg/Twist')
        bag.write('/cmd_vel', 1_000_000_000, serialize_message(Twist()))
    player = wired.add(lambda **_: PlayerNode(context=wired.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in {
            'bag': str(tmp_path / 'bag'), 'commands': True, 'start_paused': True}.items()]))
    twist = Twist()
    player._send(RawMessage('/cmd_vel', 1, serialize_message(twist)))
    for value in BAD:
        twist.angular.z = value
        player._send(RawMessage('/cmd_vel', 1, serialize_message(twist)))
    player._send(RawMessage('/cmd_vel', 1, b'\0\1\0\0\0'))
    assert player.withheld['/cmd_vel'] == 1 + len(BAD) and player.counts['/cmd_vel'] == 1
    assert wired.published['cmd_vel'] == 1
