# SPDX-License-Identifier: Apache-2.0
"""
Display the robot's model in RViz with sliders for its joints.

Arguments: ``ros2 launch c3p display.launch.py --show-args``, and docs/launch.md.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    chosen,
    common_arguments,
    marker_argument,
    markers,
    missing,
    optional,
    rviz,
    rviz_arguments,
    state_publisher,
    suite_node,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity


def windows(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return RViz and the window with one slider per joint."""
    gui = chosen(context, 'gui')
    # all that is lacking in one message
    problem = missing('robot_state_publisher', *(['joint_state_publisher_gui'] if gui else []),
                      *(['rviz2'] if chosen(context, 'rviz') else []))
    if problem:
        raise RuntimeError(problem)
    if not gui:
        return rviz(context)
    # without odometry nothing places the robot in the frame of the layout
    return [*rviz(context, '-f', 'base_footprint'),
            suite_node('joint_state_publisher_gui', package='joint_state_publisher_gui',
                       on_exit=optional('joint_state_publisher_gui'))]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    gui = DeclareLaunchArgument(
        'gui', default_value='true', choices=BOOLEAN,
        description='Sliders for the joints; needs the package joint_state_publisher_gui. false: '
                    'joint_states are published by a robot, a simulation or a bag.')
    return LaunchDescription([
        *common_arguments(), gui, *rviz_arguments('true'), marker_argument(),
        OpaqueFunction(function=windows), state_publisher(needed=True),
        OpaqueFunction(function=markers)])
