# SPDX-License-Identifier: Apache-2.0
"""config/teleop_joy.yaml and config/twist_mux.yaml against the nodes that read them."""

import re
from pathlib import Path

import pytest
import yaml
from ros_types import leaves, ros_type

from c3p_ros.schema import read_schema

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = 'ros__parameters'

# joy 3.3.0, src/joy.cpp (Jazzy, Kilted and Lyrical)
JOY = {'device_id': 'int', 'device_name': 'string', 'deadzone': 'double',
       'autorepeat_rate': 'double', 'sticky_buttons': 'bool', 'coalesce_interval_ms': 'int'}

# teleop_twist_joy 2.6.5, src/teleop_twist_joy.cpp (Jazzy, Kilted and Lyrical)
JOY_TWIST = {
    'publish_stamped_twist': 'bool', 'frame': 'string', 'require_enable_button': 'bool',
    'enable_button': 'int', 'enable_turbo_button': 'int', 'inverted_reverse': 'bool',
    **{f'axis_linear.{axis}': 'int' for axis in 'xyz'},
    **{f'axis_angular.{axis}': 'int' for axis in ('yaw', 'pitch', 'roll')},
    **{f'scale_linear{turbo}.{axis}': 'double' for turbo in ('', '_turbo') for axis in 'xyz'},
    **{f'scale_angular{turbo}.{axis}': 'double' for turbo in ('', '_turbo')
       for axis in ('yaw', 'pitch', 'roll')}}

# twist_mux 4.4.0, src/twist_mux.cpp: all of these must be there. The change log of 4.5.0 (Jazzy,
# Kilted; Lyrical has 4.5.1) names no other, and a warning of priorities beyond 0 to 255
MUX_ENTRY = {'topic': 'string', 'timeout': 'double', 'priority': 'int'}

# teleop_twist_keyboard 2.4.1 (Jazzy, Kilted and Lyrical)
KEYBOARD = {'stamped', 'frame_id', 'speed', 'turn'}


def parameters(file, node):
    """Return the parameters of a node in a file of config/."""
    content = yaml.safe_load((ROOT / 'config' / file).read_text(encoding='utf-8'))
    return content[f'/**/{node}'][PARAMETERS]


@pytest.mark.parametrize('node, declared', [
    ('joy_node', JOY), ('teleop_twist_joy_node', JOY_TWIST)])
def test_the_joystick_nodes_declare_every_parameter_with_this_type(node, declared):
    given = {name: ros_type(value) for name, value in leaves(parameters('teleop_joy.yaml', node))}
    assert given.items() <= declared.items()


def test_axes_with_a_scale_have_a_number_and_the_reverse():
    given = parameters('teleop_joy.yaml', 'teleop_twist_joy_node')
    for motion in ('linear', 'angular'):
        axes = set(given[f'axis_{motion}'])
        assert axes == set(given[f'scale_{motion}']) == set(given[f'scale_{motion}_turbo'])


def test_the_package_twist_mux_reads_every_entry_of_the_file():
    given = parameters('twist_mux.yaml', 'twist_mux')
    assert ros_type(given['use_stamped']) == 'bool'
    for kind in ('topics', 'locks'):
        for entry in given[kind].values():
            assert 0 <= entry['priority'] <= 255
            types = {name: ros_type(value) for name, value in leaves(entry)}
            # start is read by twist_mux_node alone; the package ignores it
            assert {**types, 'start': 'string'} == {**MUX_ENTRY, 'start': 'string'}


def test_every_source_is_stamped_like_the_mux_and_the_velocity_controller():
    stamped = parameters('twist_mux.yaml', 'twist_mux')['use_stamped']
    joystick = parameters('teleop_joy.yaml', 'teleop_twist_joy_node')
    schema = read_schema(ROOT / 'c3p_controller/velocity_controller_parameters.yaml')
    assert stamped is joystick['publish_stamped_twist'] is True
    assert schema['use_stamped_vel']['default_value'] is True


def test_the_joystick_repeats_faster_than_the_mux_and_the_controller_time_out():
    period = 1.0 / parameters('teleop_joy.yaml', 'joy_node')['autorepeat_rate']
    mux = parameters('twist_mux.yaml', 'twist_mux')['topics']['joystick']['timeout']
    schema = read_schema(ROOT / 'c3p_controller/velocity_controller_parameters.yaml')
    # two lost messages are no timeout
    assert 3.0 * period < min(mux, schema['cmd_vel_timeout']['default_value'])


def test_documented_keyboard_commands_use_parameters_of_teleop_twist_keyboard():
    pages = [p.read_text(encoding='utf-8') for p in (ROOT / 'docs').rglob('*.md')]
    # a backslash continues a line
    text = '\n'.join(pages).replace('\\\n', ' ')
    commands = re.findall(r'ros2 run teleop_twist_keyboard teleop_twist_keyboard(.*)', text)
    assert commands
    for command in commands:
        assert {name for name in re.findall(r'-p (\w+):=', command)} <= KEYBOARD
        # frame_id without stamped ends the node
        assert 'stamped:=true' in command
