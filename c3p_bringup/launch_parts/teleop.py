# SPDX-License-Identifier: Apache-2.0
"""Parts of the launch files with a command multiplexer and a joystick."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetRemap
from launch_ros.parameter_descriptions import ParameterFile

from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    argument,
    chosen,
    missing,
    optional,
    required,
    share,
    suite_node,
    text_of,
    value,
)
from launch import LaunchContext, LaunchDescriptionEntity

# of the package twist_mux, and what it calls its output
TWIST_MUX = 'twist_mux'
TWIST_MUX_OUTPUT = 'cmd_vel_out'

# topics of config/twist_mux.yaml
JOYSTICK = 'cmd_vel_joy'
POSITION = 'cmd_vel_position'


def mux_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of `mux`."""
    return [
        argument('mux', 'true', 'Select the source of cmd_vel by priority, with an e-stop. '
                 'Position controllers of this launch publish to cmd_vel_position.', BOOLEAN),
        argument('mux_package', 'c3p', 'Mux implementation. c3p: a masked source must send zero '
                 'or become silent before it is followed. twist_mux: it resumes automatically as '
                 'soon as it is no longer masked, also after the release of the e-stop.',
                 ('c3p', TWIST_MUX)),
        argument('mux_file', share('config', 'twist_mux.yaml'), 'Sources, priorities and locks, '
                 'for both muxes.')]


def mux(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the multiplexer, and the remapping of the position controllers started after it.

    RuntimeError: the requested package is not installed.
    """
    if not chosen(context, 'mux'):
        return []
    file = ParameterFile(LaunchConfiguration('mux_file'))
    # in one process with other nodes, too: a rule for the node of that name
    remap = SetRemap('position_controller:cmd_vel', POSITION)
    if value(context, 'mux_package') == 'c3p':
        return [suite_node('twist_mux_node', file, {'robot': text_of('robot')},
                           on_exit=required('twist_mux_node')), remap]
    if problem := missing(TWIST_MUX):
        raise RuntimeError(f'mux_package:=twist_mux, but {problem}; or mux_package:=c3p')
    return [suite_node(TWIST_MUX, file, package=TWIST_MUX, on_exit=required(TWIST_MUX),
                       remappings=[(TWIST_MUX_OUTPUT, 'cmd_vel')]), remap]


def joystick_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of `joystick`."""
    return [
        argument('joystick', 'false', 'Start the joystick nodes; needs the packages joy and '
                 'teleop_twist_joy.', BOOLEAN),
        argument('joystick_file', share('config', 'teleop_joy.yaml'), 'Axes, buttons and speeds '
                 'of the joystick.')]


def joystick(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the nodes of the joystick, which publish to the multiplexer if there is one.

    RuntimeError: they are not installed.
    """
    if not chosen(context, 'joystick'):
        return []
    if problem := missing('joy', 'teleop_twist_joy'):
        raise RuntimeError(f'joystick:=true, but {problem}; or joystick:=false')
    file = ParameterFile(LaunchConfiguration('joystick_file'))
    output = JOYSTICK if chosen(context, 'mux') else 'cmd_vel'
    return [suite_node('joy_node', file, package='joy', on_exit=optional('the joystick')),
            suite_node('teleop_node', file, package='teleop_twist_joy',
                       on_exit=optional('teleop_twist_joy'), remappings=[('cmd_vel', output)])]
