# SPDX-License-Identifier: Apache-2.0
"""
Bring up a robot for manual driving: multiplexer with e-stop, joystick, and the robot's nodes.

The keyboard needs a terminal of its own: ``c3p teleop``. docs/teleop.md explains.
"""

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from c3p_bringup.launch_parts.actions import BOOLEAN, chosen, common_arguments, share
from c3p_bringup.launch_parts.teleop import joystick, joystick_arguments, mux, mux_arguments
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity


def robot(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes of the robot, after the rule that remaps one of them."""
    if not chosen(context, 'bringup'):
        return []
    return [IncludeLaunchDescription(PythonLaunchDescriptionSource(
        share('launch', 'bringup.launch.py')))]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    bringup = DeclareLaunchArgument(
        'bringup', default_value='true', choices=BOOLEAN,
        description='Start the robot, too: bringup.launch.py with its arguments, such as '
                    'sim:=analytic. false: it runs already, and its position controller sends to '
                    'cmd_vel_position, or not at all.')
    return LaunchDescription([
        *common_arguments(), bringup, *mux_arguments(), *joystick_arguments(),
        OpaqueFunction(function=joystick), OpaqueFunction(function=mux),
        OpaqueFunction(function=robot)])
