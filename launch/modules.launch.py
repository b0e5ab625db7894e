# SPDX-License-Identifier: Apache-2.0
"""
Drive a robot on steered modules, or on fixed wheels, by angles and rates of its joints.

Starts the module controller, the odometry and the mux beside forward controllers of ros2_control,
or a driver with the same topics. Arguments: ``ros2 launch c3p modules.launch.py --show-args``, and
docs/launch.md.
"""

from pathlib import Path

from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile

from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    FRAME_TOPICS,
    argument,
    chosen,
    common_arguments,
    marker_argument,
    markers,
    required,
    rviz,
    rviz_arguments,
    share,
    state_publisher,
    suite_node,
    text_of,
    value,
)
from c3p_bringup.launch_parts.robot import record_arguments, recorder
from c3p_bringup.launch_parts.teleop import joystick, joystick_arguments, mux, mux_arguments
from c3p_hardware.tools.parameter_file import blocks
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

ARGUMENTS = [
    argument('steering_interface', '', 'Command interface of the steering joints: position or '
             'velocity. Empty: as in params_file, default position.',
             ('', 'position', 'velocity')),
    argument('steering_commands', 'steering_controller/commands', 'Command topic of the forward '
             'controller of the steering joints.'),
    argument('wheel_commands', 'wheel_controller/commands', 'Command topic of the forward '
             'controller of the wheels.'),
    argument('odometry', 'true', 'Start sensed_kinematics, the odometry. false: another node '
             'publishes odom.', BOOLEAN),
    argument('params_file', share('config', 'modules.yaml'), 'Parameters of the nodes. robot, '
             'use_sim_time and steering_interface are overridden by the arguments of the same '
             'names.'),
]

# of module_controller: its default, where neither the launch nor params_file has one
DEFAULT_INTERFACE = 'position'


def interfaces(context: LaunchContext) -> dict[str, str]:
    """Return the command interface of the steering joints, for the block of ros2_control."""
    if given := value(context, 'steering_interface'):
        return {'steering_interface': given}
    found = DEFAULT_INTERFACE
    for node, parameters in blocks(Path(value(context, 'params_file'))):
        if node in ('**', 'module_controller'):
            found = parameters.get('steering_interface', found)
    return {'steering_interface': found}


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the module controller, and the odometry."""
    parameters = [ParameterFile(LaunchConfiguration('params_file')), {'robot': text_of('robot')}]
    interface = value(context, 'steering_interface')
    chosen_interface = [{'steering_interface': interface}] if interface else []
    commands = value(context, 'steering_commands')
    remappings = [*FRAME_TOPICS,
                  ('module_controller/steering_position', commands),
                  ('module_controller/steering_velocity', commands),
                  ('module_controller/wheel_velocity', value(context, 'wheel_commands'))]
    # a forward controller goes on with its last velocities when the node has died
    found = [suite_node('module_controller_node', *parameters, *chosen_interface,
                        remappings=remappings, on_exit=required('module_controller_node'))]
    if chosen(context, 'odometry'):
        found.append(suite_node('sensed_kinematics_node', *parameters,
                                on_exit=required('sensed_kinematics_node')))
    return found


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        *common_arguments('swerve'), *ARGUMENTS, *mux_arguments(), *joystick_arguments(),
        *record_arguments(), *rviz_arguments('false'), marker_argument(),
        # first the actions that may fail because a package is missing
        OpaqueFunction(function=rviz), state_publisher(needed=False, arguments=interfaces),
        recorder(),
        OpaqueFunction(function=joystick), OpaqueFunction(function=markers),
        OpaqueFunction(function=mux), OpaqueFunction(function=nodes)])
