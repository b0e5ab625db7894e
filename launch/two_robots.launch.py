# SPDX-License-Identifier: Apache-2.0
"""
Bring up two simulated robots in one graph, in separate namespaces.

Arguments: ``ros2 launch c3p two_robots.launch.py --show-args``, and docs/launch.md.
"""

from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from c3p_bringup.choices import PLANTS
from c3p_bringup.launch_parts.actions import common_arguments, rviz_arguments, share
from c3p_bringup.launch_parts.robot import chain_arguments
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# every robot of a graph would publish /clock
LEFT_OUT = ('namespace', 'use_sim_time')

# far enough apart to be distinguished in one picture, m
STARTS = ('[0.0, 0.0, 0.0]', '[2.0, 0.0, 0.0]')

ARGUMENTS = [
    DeclareLaunchArgument(
        'sim', default_value='analytic', choices=PLANTS,
        description='Simulated robots. analytic: the closed-chain equations of motion. mujoco: '
                    'tyres in contact with the ground (needs MuJoCo).'),
    *chain_arguments(),
    *(DeclareLaunchArgument(
        f'namespace_{k}', default_value=f'robot{k}',
        description=f'Namespace of robot {k}: its nodes, topics, /tf and /tf_static.')
      for k in (1, 2)),
    *(DeclareLaunchArgument(
        f'start_pose_{k}', default_value=start,
        description=f'Start pose of robot {k}: [x, y, yaw] in m and rad. Its odometry starts at '
                    'zero.') for k, start in enumerate(STARTS, 1)),
]


def robots(_: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return both robots; what is not their own they have from the same argument."""
    return [GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share('launch', 'bringup.launch.py')),
        launch_arguments={'namespace': LaunchConfiguration(f'namespace_{k}'),
                          'start_pose': LaunchConfiguration(f'start_pose_{k}')}.items())])
        for k in (1, 2)]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        # one window for each robot, because each has its own tree of frames
        *(a for a in common_arguments() if getattr(a, 'name', '') not in LEFT_OUT), *ARGUMENTS,
        *rviz_arguments('false'),
        OpaqueFunction(function=robots)])
