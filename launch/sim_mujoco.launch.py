# SPDX-License-Identifier: Apache-2.0
"""
Start the robot in MuJoCo and the control chain; with ros2_control or without.

It is bringup.launch.py with ``sim:=mujoco``, or ros2_control.launch.py with ``hardware:=mujoco``.
Arguments: ``ros2 launch c3p sim_mujoco.launch.py --show-args``, and docs/gazebo.md.
"""

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from c3p_bringup.launch_parts.actions import common_arguments, rviz_arguments, share, value
from c3p_bringup.launch_parts.robot import chain_arguments, record_arguments, start_arguments
from c3p_bringup.launch_parts.simulators import (
    controllers_argument,
    headless_argument,
    mujoco_argument,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# what each backend is, and which arguments it has no use for, with what they are when not given
BACKENDS = {'suite': ('bringup.launch.py', {'sim': 'mujoco'},
                      {'mujoco_model': '', 'headless': 'false'}),
            'mujoco_ros2_control': ('ros2_control.launch.py', {'hardware': 'mujoco'},
                                    {'nodes': 'one-process', 'start_pose': '',
                                     'start_steering': '', 'record': 'false'})}

ARGUMENTS = [
    DeclareLaunchArgument(
        'backend', default_value='suite', choices=tuple(BACKENDS),
        description='MuJoCo integration. suite: node simulation of the suite (needs MuJoCo). '
                    'mujoco_ros2_control: that package, under ros2_control, with a window; nodes, '
                    'start_pose, start_steering and record are not supported.'),
    *chain_arguments(), *start_arguments(), *record_arguments(),
    controllers_argument(), mujoco_argument(), headless_argument(),
]


def simulation(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the launch file of the backend; refuse what it would not look at."""
    backend = value(context, 'backend')
    file, given, unused = BACKENDS[backend]
    vain = [name for name, default in unused.items() if value(context, name) != default]
    if vain:
        raise ValueError(f'{", ".join(vain)} with backend:={backend}: it has no use for that; '
                         'leave it out, or take the other backend')
    return [IncludeLaunchDescription(PythonLaunchDescriptionSource(share('launch', file)),
                                     launch_arguments=given.items())]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
                              OpaqueFunction(function=simulation)])
