# SPDX-License-Identifier: Apache-2.0
"""teleop.launch.py, started: every command goes through the mux, and what is missing is named."""

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

from launch.actions import OpaqueFunction  # noqa: E402
from launch_ros.actions import Node, SetRemap  # noqa: E402
from std_msgs.msg import Bool, String  # noqa: E402
from test_launch_files import describe  # noqa: E402
from test_launch_runs import START, Driver  # noqa: E402

from c3p_bringup.launch_parts.teleop import joystick, mux  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402
from launch import LaunchContext  # noqa: E402


def context(**given):
    """Return a context with the defaults of teleop.launch.py and what is given."""
    made = LaunchContext()
    made.launch_configurations.update(given)
    for argument in describe('teleop.launch.py').get_launch_arguments():
        argument.execute(made)
    return made


def started(actions, made):
    """Return {executable: (package, remapping rules)} of nodes."""
    found = {}
    for node in actions:
        if isinstance(node, Node):
            node._perform_substitutions(made)
            found[node.node_executable] = (node.node_package, node.expanded_remapping_rules)
    return found


def test_without_a_mux_the_joystick_commands_the_robot_itself(prefix, monkeypatch):
    monkeypatch.setattr('c3p_bringup.launch_parts.teleop.missing', lambda *_: '')
    for given, topic in (({}, 'cmd_vel_joy'), ({'mux': 'false'}, 'cmd_vel')):
        made = context(joystick='true', **given)
        nodes = started(joystick(made), made)
        assert nodes['joy_node'][0] == 'joy'
        assert ('cmd_vel', topic) in nodes['teleop_node'][1]
    assert mux(made) == []


def test_either_mux_gives_the_robot_its_commands(prefix, monkeypatch):
    monkeypatch.setattr('c3p_bringup.launch_parts.teleop.missing', lambda *_: '')
    for package, executable in (('c3p', 'twist_mux_node'), ('twist_mux', 'twist_mux')):
        made = context(mux_package=package)
        actions = mux(made)
        # the position controllers come after the rule
        assert any(isinstance(action, SetRemap) for action in actions)
        (found,) = started(actions, made).items()
        assert found[0] == executable and found[1][0] == package
        assert (('cmd_vel_out', 'cmd_vel') in (found[1][1] or ())) == (package == 'twist_mux')


@pytest.mark.parametrize('given, reason', [
    ({'mux_package': 'twist_mux'}, 'apt install .*ros-jazzy-twist-mux; or mux_package:=c3p'),
    ({'joystick': 'true'}, 'joy, teleop_twist_joy not installed: apt install ros-jazzy-joy')])
def test_what_is_not_installed_is_named(given, reason, prefix, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    made = context(**given)
    with pytest.raises(RuntimeError, match=reason):
        mux(made), joystick(made)


def test_nothing_but_the_mux_commands_the_robot(prefix):
    kinds = [type(entity) for entity in describe('teleop.launch.py').entities]
    # what remaps comes before what is remapped
    assert kinds[-3:] == [OpaqueFunction] * 3


@pytest.mark.real_time
def test_the_robot_drives_through_the_mux_and_the_e_stop_ends_its_goal(launch_file):
    running = launch_file('teleop.launch.py', 'sim:=analytic', 'namespace:=robot1')
    driver = Driver('robot1')
    try:
        driving, locked = [], []
        driver.node.create_subscription(String, 'twist_mux/driving', driving.append, LATCHED)
        driver.node.create_subscription(Bool, 'twist_mux/locked', locked.append, LATCHED)
        lock = driver.node.create_publisher(Bool, 'e_stop', 10)
        assert driver.wait(lambda: locked and lock.get_subscription_count(), START)
        # closed until its state has been heard
        assert locked[-1].data
        lock.publish(Bool(data=False))
        assert driver.wait(lambda: not locked[-1].data, START), driver.said
        assert driver.drive(0.3) < 0.05, driver.said
        assert 'position_controller' in [message.data for message in driving]
        ends = driver.node.get_publishers_info_by_topic('/robot1/cmd_vel')
        assert {end.node_name for end in ends} == {'twist_mux'}
        lock.publish(Bool(data=True))
        assert driver.wait(lambda: locked[-1].data and driving[-1].data == '', START)
        code, output = running.interrupt()
        assert code == 0, output
        assert 'Traceback' not in output and 'past' not in ' '.join(driver.said), output
    finally:
        driver.close()
