# SPDX-License-Identifier: Apache-2.0
"""
Bring up the robot and Nav2.

Arguments: ``ros2 launch c3p nav2.launch.py --show-args``, and docs/nav2.md.
"""

from pathlib import Path

import yaml
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import SetRemap
from launch_ros.substitutions import FindPackageShare

from c3p_bringup.choices import PLANTS
from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    chosen,
    common_arguments,
    missing,
    required,
    rviz_arguments,
    share,
    suite_node,
    value,
    written,
)
from c3p_bringup.launch_parts.nav2_parameters import (
    LOCALIZATIONS,
    nav2_parameters,
    remapping_rules,
    scan_topic,
)
from c3p_bringup.launch_parts.robot import bus_arguments, chain_arguments, start_arguments
from c3p_description.reading.loader import load_casters
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

ARGUMENTS = [
    DeclareLaunchArgument(
        'bringup', default_value='true', choices=BOOLEAN,
        description='Start the robot as well, like bringup.launch.py nav2:=true. false: the robot '
                    'is already running, from bringup.launch.py or hardware.launch.py with '
                    'nav2:=true.'),
    DeclareLaunchArgument(
        'sim', default_value='none', choices=('none', *PLANTS),
        description='Simulated robot, as in bringup.launch.py.'),
    DeclareLaunchArgument(
        'hardware', default_value='none', choices=('none', 'can', 'emulated'),
        description='Motor cards, as in bringup.launch.py.'),
    *bus_arguments(),
    *chain_arguments(),
    *start_arguments(),
    DeclareLaunchArgument(
        'localization', default_value='amcl', choices=LOCALIZATIONS,
        description='Localization. amcl: AMCL in the map of the argument map. slam: slam_toolbox '
                    'with a new map. none: odometry only, with a rolling costmap.'),
    DeclareLaunchArgument(
        'map', default_value='',
        description='With localization:=amcl, the YAML file of the map.'),
    DeclareLaunchArgument(
        'scan', default_value='scan',
        description='Topic of the laser scan.'),
    DeclareLaunchArgument(
        'cmd_vel', default_value='',
        description='Topic of the commands of Nav2; cmd_vel_navigation is the input of the mux of '
                    'teleop.launch.py. Empty: as in nav2_params_file, cmd_vel.'),
    DeclareLaunchArgument(
        'nav2_params_file', default_value=share('config', 'nav2.yaml'),
        description="Parameters of Nav2's nodes. The robot's radius, scan and localization "
                    "settings are inserted."),
]


def check(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Refuse what cannot work, before anything starts."""
    localization = value(context, 'localization')
    problem = missing('nav2_bringup', 'robot_state_publisher',
                      *(['slam_toolbox'] if localization == 'slam' else []),
                      *(['tf2_ros'] if localization == 'none' else []))
    if problem:
        raise RuntimeError(problem)
    if localization == 'amcl' and not value(context, 'map'):
        raise ValueError('localization:=amcl needs a map: add map:=FILE.yaml, or choose '
                         'localization:=slam or localization:=none')
    return []


def robot(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the robot, whose own goals give way to Nav2's."""
    if not chosen(context, 'bringup'):
        return []
    return [GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share('launch', 'bringup.launch.py')),
        launch_arguments={'nav2': 'true'}.items())])]


def navigation(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return Nav2 with the parameters of this robot."""
    namespace, localization = value(context, 'namespace'), value(context, 'localization')
    content = yaml.safe_load(Path(value(context, 'nav2_params_file')).read_text(encoding='utf-8'))
    scan = value(context, 'scan')
    made = nav2_parameters(content, load_casters(value(context, 'robot')), namespace, scan,
                           localization, value(context, 'cmd_vel'))
    file, tidy = written(yaml.safe_dump(made))
    given = {'params_file': file, 'namespace': namespace, 'map': value(context, 'map'),
             'use_namespace': str(bool(namespace)).lower(),
             # words that its Python expressions read
             'slam': str(localization == 'slam'), 'use_localization': str(localization != 'none'),
             'use_composition': 'False', 'autostart': 'true',
             # Kilted starts servers for masks that nav2_params_file does not have; Jazzy has none
             'use_keepout_zones': 'False', 'use_speed_zones': 'False'}
    include = IncludeLaunchDescription(PythonLaunchDescriptionSource(PathJoinSubstitution(
        [FindPackageShare('nav2_bringup'), 'launch', 'bringup_launch.py'])),
        launch_arguments=given.items())
    # the odometry for the map
    still = [suite_node('static_transform_publisher', package='tf2_ros',
                        arguments=['--frame-id', 'map', '--child-frame-id', 'odom'],
                        on_exit=required('static_transform_publisher'))]
    # before those of nav2_bringup: the first rule that applies to a topic is taken
    rules = [SetRemap(topic, other) for topic, other in remapping_rules(
        made, scan_topic(namespace, scan))]
    return [*tidy, *(still if localization == 'none' else []), GroupAction([*rules, include])]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        *common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
        # first what can fail for lack of a package, so that nothing is started in vain
        OpaqueFunction(function=check), OpaqueFunction(function=robot),
        OpaqueFunction(function=navigation)])
