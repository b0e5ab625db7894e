# SPDX-License-Identifier: Apache-2.0
"""
Teleoperation: the mux with its e-stop, the joystick, and the robot's nodes.

The keyboard teleoperation needs a separate terminal: ``c3p teleop``. See docs/teleop.md.
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
        description='Start the robot as well: bringup.launch.py with its arguments, such as '
                    'sim:=analytic. false: the robot is already running; its position controller '
                    'must publish to cmd_vel_position, if at all.')
    return LaunchDescription([
        *common_arguments(), bringup, *mux_arguments(), *joystick_arguments(),
        OpaqueFunction(function=joystick), OpaqueFunction(function=mux),
        OpaqueFunction(function=robot)])
