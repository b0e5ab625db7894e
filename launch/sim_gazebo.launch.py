# SPDX-License-Identifier: Apache-2.0
"""
Start Gazebo with a robot, ros2_control inside Gazebo, and the control chain.

Includes ros2_control.launch.py with ``hardware:=gazebo``. Arguments: ``ros2 launch c3p
sim_gazebo.launch.py --show-args``, and docs/gazebo.md.
"""

from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from c3p_bringup.launch_parts.actions import common_arguments, rviz_arguments, share
from c3p_bringup.launch_parts.simulators import (
    control_arguments,
    gazebo_arguments,
    headless_argument,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity


def robot_in_gazebo(_: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the launch file behind this one; its other arguments do not belong to the manual."""
    return [IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share('launch', 'ros2_control.launch.py')),
        launch_arguments={'hardware': 'gazebo'}.items())]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        *common_arguments(), *gazebo_arguments(), headless_argument(), *control_arguments(),
        *rviz_arguments('false'), OpaqueFunction(function=robot_in_gazebo)])
