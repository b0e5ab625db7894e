# SPDX-License-Identifier: Apache-2.0
"""
Drive the tricycle with passive variable camber over rough ground.

Arguments: ``ros2 launch c3p rough_ground.launch.py --show-args``, and docs/rough_ground.md.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    chosen,
    common_arguments,
    optional,
    required,
    rviz,
    rviz_arguments,
    state_publisher,
    suite_node,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

ARGUMENTS = [
    DeclareLaunchArgument(
        'terrain', default_value='hills',
        description='Terrain: a name from c3p_description/terrains, or the path of a terrain '
                    'file.'),
    DeclareLaunchArgument(
        'autodrive', default_value='true', choices=BOOLEAN,
        description='Drive until the first cmd_vel is received. false: standstill until then.'),
    DeclareLaunchArgument(
        'drive_rate', default_value='1.0',
        description='Rate of every wheel with autodrive, in rad/s.'),
    DeclareLaunchArgument(
        'params_file', default_value='',
        description='Parameter file of the node. robot, use_sim_time and the arguments above are '
                    'overridden by the launch arguments. Empty: none.'),
]


def vehicle(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the vehicle, which publishes /clock with use_sim_time, and its markers."""
    file = LaunchConfiguration('params_file')
    values = {name: ParameterValue(LaunchConfiguration(name), value_type=kind) for name, kind in (
        ('robot', str), ('terrain', str), ('autodrive', bool), ('drive_rate', float))}
    values['publish_clock'] = chosen(context, 'use_sim_time')
    files = [ParameterFile(file)] if file.perform(context) else []
    # draws ground, contact paths and camber; idle without subscribers
    drawn = {name: values[name] for name in ('robot', 'terrain')}
    return [suite_node('rough_ground_node', *files, values,
                       on_exit=required('rough_ground_node')),
            suite_node('marker_node', *files, drawn, on_exit=optional('marker_node'))]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        *common_arguments('pvc_tricycle'), *ARGUMENTS, *rviz_arguments('false'),
        # first what can fail for lack of a package, so that nothing is started in vain
        OpaqueFunction(function=rviz), state_publisher(needed=False),
        OpaqueFunction(function=vehicle)])
