# SPDX-License-Identifier: Apache-2.0
"""Each launch file with each value of each argument that has choices, all packages installed."""

import os

import pytest
from conftest import add_package
from launch.utilities import perform_substitutions
from launch_reading import ROOT, describe, processes_of

from launch import LaunchContext

FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))
# packages that launch files look for, and a program of each that they start
PACKAGES = {
    'rviz2': 'rviz2', 'robot_state_publisher': 'robot_state_publisher', 'joy': 'joy_node',
    'joint_state_publisher_gui': 'joint_state_publisher_gui', 'twist_mux': 'twist_mux',
    'teleop_twist_joy': 'teleop_node', 'ros2bag': '', 'rosbag2_storage_mcap': '',
    'controller_manager': 'ros2_control_node', 'joint_state_topic_hardware_interface': '',
    'gz_ros2_control': '', 'ros_gz_sim': 'create', 'ros_gz_bridge': 'parameter_bridge',
    'mujoco_ros2_control': 'ros2_control_node', 'effort_controllers': '', 'slam_toolbox': '',
    'forward_command_controller': '', 'joint_state_broadcaster': '',
    'tf2_ros': 'static_transform_publisher', 'nav2_bringup': '', 'nav2_map_server': '',
    'robot_localization': 'ekf_node'}
# launch files of others, which get arguments
INCLUDED = {'ros_gz_sim': 'gz_sim.launch.py', 'nav2_bringup': 'bringup_launch.py'}
EMPTY = ('from launch import LaunchDescription\n\n\ndef generate_launch_description():\n'
         '    return LaunchDescription([])\n')
# without these a launch file has nothing to do
GIVEN = {'playback.launch.py': {'bag': '/somewhere/bag', 'player': 'c3p'},
         'record.launch.py': {'recorder': 'c3p'},
         'nav2.launch.py': {'map': 'map.yaml'}}
# values that contradict a default: the error names both
REFUSED = {
    ('bringup.launch.py', 'hardware', 'emulated'): 'add sim:=analytic',
    ('nav2.launch.py', 'hardware', 'emulated'): 'add sim:=analytic',
    ('sim_mujoco.launch.py', 'headless', 'true'): 'headless with backend:=suite',
    ('playback.launch.py', 'player', 'rosbag2'): '/somewhere/bag: no such file',
    ('playback.launch.py', 'player', 'auto'): '/somewhere/bag: no such file',
}


@pytest.fixture
def all_packages(tmp_path, prefix, monkeypatch):
    """Stand-ins for every package that a launch file may look for."""
    for package, program in PACKAGES.items():
        add_package(tmp_path, package, program)
    for package, file in INCLUDED.items():
        place = tmp_path / 'share' / package / 'launch' / file
        place.parent.mkdir(parents=True)
        place.write_text(EMPTY)
    (tmp_path / 'map.yaml').touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', '')
    monkeypatch.setenv('AMENT_PREFIX_PATH',
                       f'{tmp_path}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')


@pytest.mark.parametrize('file', FILES)
def test_every_value_of_every_argument_is_described(file, all_packages):
    given = GIVEN.get(file, {})
    refused = {name: reason for name, reason in REFUSED.items() if name[0] == file}
    assert processes_of(file, **given)
    # the defaults have just been described
    choices = [(argument.name, value) for argument in describe(file).get_launch_arguments()
               for value in argument.choices or ()
               if (file, argument.name, value) in REFUSED
               or value != perform_substitutions(LaunchContext(), argument.default_value or [])]
    assert len(choices) > 4
    for name, value in choices:
        if reason := refused.pop((file, name, value), ''):
            with pytest.raises((ValueError, RuntimeError), match=reason):
                processes_of(file, **{**given, name: value})
        else:
            # what does not start with this value, such as RViz, is up to other tests
            processes_of(file, **{**given, name: value})
    assert not refused


@pytest.mark.parametrize('file, given, programs', [
    ('bringup.launch.py', {'sim': 'mujoco', 'realtime': 'wait', 'use_sim_time': 'true'},
     ['robot_state_publisher', 'robot_nodes']),
    ('bringup.launch.py', {'sim': 'analytic', 'hardware': 'emulated', 'record': 'true',
                           'rviz': 'true', 'nodes': 'processes'},
     ['rviz2', 'robot_state_publisher', 'recorder_node', 'marker_node', 'sensed_kinematics_node',
      'velocity_controller_node', 'inverse_dynamics_node', 'position_controller_node',
      'emulated_cards_node', 'hardware_interface_node']),
    ('teleop.launch.py', {'sim': 'analytic', 'joystick': 'true', 'mux_package': 'twist_mux'},
     ['joy_node', 'teleop_node', 'twist_mux', 'robot_state_publisher', 'robot_nodes']),
    ('two_robots.launch.py', {'sim': 'mujoco'}, ['robot_state_publisher', 'robot_nodes'] * 2),
    ('nav2.launch.py', {'sim': 'analytic', 'localization': 'none', 'nodes': 'processes'},
     ['robot_state_publisher', 'sensed_kinematics_node', 'velocity_controller_node',
      'inverse_dynamics_node', 'position_controller_node', 'simulation_node',
      'static_transform_publisher']),
    ('sim_mujoco.launch.py', {'record': 'true'},
     ['robot_state_publisher', 'recorder_node', 'robot_nodes']),
    ('playback.launch.py', {'bag': 'x', 'player': 'c3p', 'rviz': 'true'},
     ['rviz2', 'marker_node', 'player_node'])])
def test_combinations_start_their_programs(file, given, programs, all_packages):
    assert [program for program, _ in processes_of(file, **given)] == programs


def test_a_robot_that_waits_needs_its_clock(all_packages):
    with pytest.raises(ValueError, match='add use_sim_time:=true'):
        processes_of('bringup.launch.py', sim='analytic', realtime='wait')
