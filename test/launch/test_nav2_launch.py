# SPDX-License-Identifier: Apache-2.0
"""nav2.launch.py with a stand-in for Nav2's own launch file, which has its arguments."""

import time
from pathlib import Path

import pytest
import yaml  # noqa: E402
from conftest import add_package  # noqa: E402
from launch_reading import nodes_of, parameters_of, processes_of  # noqa: E402
from nav2_table import FILE, everything, undeclared  # noqa: E402

from c3p_bringup.launch_parts.nav2_parameters import (  # noqa: E402
    UNSMOOTHED,
    nav2_parameters,
    remapping_rules,
)
from c3p_description import load  # noqa: E402

# the arguments of nav2_bringup/launch/bringup_launch.py in each release, but those that the suite
# does not give: keepout_mask, speed_mask, graph, container_name, use_intra_process_comms
EVERYWHERE = ('namespace', 'slam', 'map', 'use_localization', 'use_sim_time', 'params_file',
              'autostart', 'use_composition', 'use_respawn', 'log_level')
ZONES = ('use_keepout_zones', 'use_speed_zones')
RELEASES = {'1.3.13': (*EVERYWHERE, 'use_namespace'), '1.4.2': (*EVERYWHERE, *ZONES),
            '1.5.1': (*EVERYWHERE, *ZONES)}

# all of them, with their defaults
STAND_IN = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
NAMES = {'namespace': '', 'use_namespace': 'false', 'slam': 'False', 'map': '',
         'use_localization': 'True', 'use_sim_time': 'false', 'params_file': 'theirs.yaml',
         'autostart': 'true', 'use_composition': 'True', 'use_respawn': 'False',
         'log_level': 'info', 'use_keepout_zones': 'True', 'use_speed_zones': 'True'}
OMITTED = ()
for name in OMITTED:
    del NAMES[name]
def generate_launch_description():
    words = [[name + '=', LaunchConfiguration(name)] for name in NAMES]
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=value) for name, value in NAMES.items()),
        Node(package='nav2_bringup', executable='navigation', arguments=words,
             output='screen')])
"""


@pytest.fixture
def nav2(tmp_path, others, prefix):
    """Nav2 and all that it needs, as far as a launch file can see."""
    add_package(tmp_path, 'nav2_bringup', 'navigation')
    add_package(tmp_path, 'tf2_ros', 'static_transform_publisher')
    folder = tmp_path / 'share/nav2_bringup/launch'
    folder.mkdir(parents=True)
    (folder / 'bringup_launch.py').write_text(STAND_IN)
    (tmp_path / 'map.yaml').touch()
    return str(tmp_path / 'map.yaml')


def given_to_nav2(nodes):
    return dict(word.split('=', 1) for word in nodes['navigation'] if '=' in word.split(':')[0])


def test_nav2_gets_its_parameters_and_the_robot_its_own(nav2):
    nodes = nodes_of('nav2.launch.py', sim='analytic', map=nav2, controller='paper')
    assert set(nodes) == {'robot_state_publisher', 'robot_nodes', 'navigation'}
    given = given_to_nav2(nodes)
    assert given['map'] == nav2 and given['namespace'] == '' and given['use_namespace'] == 'false'
    assert (given['slam'], given['use_localization']) == ('False', 'True')
    # nothing in the parameters is about zones
    assert given['use_keepout_zones'] == given['use_speed_zones'] == 'False'
    made = yaml.safe_load(Path(given['params_file']).read_text())
    assert made['amcl']['ros__parameters']['scan_topic'] == '/scan'
    # theirs is not ours, although both have one name
    robot = parameters_of(nodes['robot_nodes'])
    assert robot['/**/sensed_kinematics']['wheel_counts'] == 2000
    assert robot['/**/position_controller'] == {'controller': 'paper', 'navigate_action': ''}
    assert 'goal_pose:=position_controller/goal_pose' in nodes['robot_nodes']


def test_two_robots_may_have_nav2_each_in_its_namespace(nav2):
    nodes = nodes_of('nav2.launch.py', sim='analytic', map=nav2, namespace='robot1',
                     robot='c3p_25kg')
    given = given_to_nav2(nodes)
    assert given['namespace'] == 'robot1' and given['use_namespace'] == 'true'
    made = yaml.safe_load(Path(given['params_file']).read_text())
    assert made['amcl']['ros__parameters']['scan_topic'] == '/robot1/scan'
    assert '__ns:=/robot1' in nodes['robot_nodes']


def test_without_a_map_the_odometry_is_the_map(nav2):
    nodes = nodes_of('nav2.launch.py', localization='none', sim='analytic', namespace='robot1')
    words = nodes['static_transform_publisher']
    assert words[:4] == ['--frame-id', 'map', '--child-frame-id', 'odom']
    assert '/tf_static:=tf_static' in words
    assert given_to_nav2(nodes)['use_localization'] == 'False'
    assert given_to_nav2(nodes_of('nav2.launch.py', localization='none'))['slam'] == 'False'


def test_nav2_may_command_through_the_mux(nav2):
    for given, topic in (({}, 'cmd_vel'), ({'cmd_vel': 'cmd_vel_navigation'},
                                           'cmd_vel_navigation')):
        nodes = nodes_of('nav2.launch.py', bringup='false', map=nav2, **given)
        made = yaml.safe_load(Path(given_to_nav2(nodes)['params_file']).read_text())
        assert made['collision_monitor']['ros__parameters']['cmd_vel_out_topic'] == topic


@pytest.mark.parametrize('release', RELEASES)
def test_each_release_gets_the_arguments_that_it_has(release, nav2, tmp_path):
    names = {name for known in RELEASES.values() for name in known}
    omitted = sorted(names - set(RELEASES[release]))
    file = tmp_path / 'share/nav2_bringup/launch/bringup_launch.py'
    file.write_text(STAND_IN.replace('OMITTED = ()', f'OMITTED = {omitted}'))
    given = given_to_nav2(nodes_of('nav2.launch.py', map=nav2, bringup='false',
                                   namespace='robot1', robot='c3p_25kg'))
    assert set(given) == set(RELEASES[release])
    # nothing is left to defaults that matter
    assert given['namespace'] == 'robot1' and given['use_composition'] == 'False'
    assert {given[name] for name in ZONES if name in given} <= {'False'}
    made = yaml.safe_load(Path(given['params_file']).read_text())
    assert undeclared(made, release) == undeclared(FILE, release)
    assert all(topic == '/robot1/scan' for topic in everything(made, 'scan_topic').values())


@pytest.mark.parametrize('given, out', [
    ({}, 'cmd_vel'), ({'cmd_vel': 'cmd_vel_navigation'}, 'cmd_vel_navigation')])
def test_servers_that_command_past_the_monitor_are_led_to_it_or_to_its_output(given, out, nav2):
    nodes = nodes_of('nav2.launch.py', sim='analytic', map=nav2, **given)
    rules = [f'following_server:cmd_vel:={UNSMOOTHED}', f'docking_server:cmd_vel:={out}']
    assert [word for word in nodes['navigation'] if '_server:' in word] == rules
    # of Nav2 only
    assert not [word for word in nodes['robot_nodes'] if '_server:' in word]


@pytest.mark.parametrize('given, topic', [
    ({}, '/scan'), ({'namespace': 'robot1', 'scan': 'top'}, '/robot1/top'),
    ({'namespace': 'robot1', 'scan': '/lidar'}, '/lidar')])
def test_slam_hears_the_scan_that_the_rest_of_nav2_hears(given, topic, nav2, tmp_path):
    add_package(tmp_path, 'slam_toolbox')
    nodes = nodes_of('nav2.launch.py', localization='slam', bringup='false', **given)
    assert f'slam_toolbox:/scan:={topic}' in nodes['navigation']
    made = yaml.safe_load(Path(given_to_nav2(nodes)['params_file']).read_text())
    assert set(everything(made, 'topic').values()) == {topic}


@pytest.mark.parametrize('name, topic', [
    ('following_server', '/robot1/cmd_vel_nav'), ('docking_server', '/robot1/cmd_vel_navigation'),
    ('controller_server', '/robot1/cmd_vel_nav'), ('collision_monitor', '/robot1/cmd_vel'),
    ('slam_toolbox', '/lidar'), ('viewer', '/robot1/scan')])
def test_the_rules_apply_to_these_nodes_only(name, topic):
    import rclpy
    made = nav2_parameters(FILE, load('c3p'), command='cmd_vel_navigation')
    # nav2_bringup's own rules come after those of the launch file that includes it
    rules = [*remapping_rules(made, '/lidar'), ('/scan', 'scan')]
    if name == 'controller_server':
        rules.append(('cmd_vel', UNSMOOTHED))
    context = rclpy.Context()
    rclpy.init(context=context, args=['--ros-args', *(
        word for old, new in rules for word in ('-r', f'{old}:={new}'))])
    try:
        node = rclpy.create_node(name, namespace='robot1', context=context)
        heard = '/scan' if name in ('slam_toolbox', 'viewer') else 'cmd_vel'
        assert node.resolve_topic_name(heard) == topic
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)


def test_a_robot_that_runs_is_not_started_again(nav2):
    assert [name for name, _ in processes_of('nav2.launch.py', bringup='false', map=nav2)] == [
        'navigation']


@pytest.mark.parametrize('given, error, reason', [
    ({}, ValueError, 'needs a map'), ({'localization': 'slam'}, RuntimeError, 'slam-toolbox')])
def test_what_is_lacking_is_named_before_anything_starts(given, error, reason, nav2):
    with pytest.raises(error, match=reason):
        nodes_of('nav2.launch.py', sim='analytic', **given)


def test_without_nav2_its_package_is_named(prefix, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    with pytest.raises(RuntimeError, match='apt install .*ros-jazzy-nav2-bringup'):
        nodes_of('nav2.launch.py', sim='analytic')


def test_it_starts_and_stops(nav2, launch_file):
    running = launch_file('nav2.launch.py', 'bringup:=false', f'map:={nav2}')
    end, line = time.monotonic() + 60.0, ''
    while 'stand-in' not in line:
        line = running.process.stdout.readline()
        assert running.process.poll() is None and time.monotonic() < end, line
    place = line.split('params_file=')[1].split()[0]
    assert Path(place).exists()
    code, output = running.interrupt()
    assert code == 0, output
    # nothing is left behind
    assert not Path(place).exists()
