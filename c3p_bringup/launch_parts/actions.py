# SPDX-License-Identifier: Apache-2.0
"""
Parts of every launch file: arguments, required and optional processes, RViz, markers.

Only the modules of this folder import ``launch`` and ``launch_ros``, which come with a ROS 2
installation and not from the package registries.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnShutdown
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from c3p_description.agv_model import Agv
from c3p_description.model import ModelError
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import load, load_casters, robot_description
from c3p_description.reading.robot_files import robot_file
from c3p_description.reading.robot_options import parse_options
from c3p_description.reading.vehicle_files import is_vehicle
from launch import LaunchContext, LaunchDescriptionEntity

BOOLEAN = ('true', 'false')
SEVERITIES = ('debug', 'info', 'warn', 'error', 'fatal')

# every robot has its own frame tree: /tf moves into its namespace
FRAME_TOPICS = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


def share(*path: str) -> PathJoinSubstitution:
    """Return the place of a file below share/c3p."""
    return PathJoinSubstitution([FindPackageShare('c3p'), *path])


def argument(name: str, default: Any, description: str, choices: Sequence[str] = ()
             ) -> DeclareLaunchArgument:
    """Return the argument `name` with `default` and `description`; `choices`: the only values."""
    return DeclareLaunchArgument(name, default_value=default, description=description,
                                 **({'choices': choices} if choices else {}))


def common_arguments(robot: str = 'c3p') -> list[DeclareLaunchArgument | OpaqueFunction]:
    """Return the arguments that every launch file of the suite has; `robot` is a default."""
    return [
        *robot_arguments(robot),
        argument('namespace', '', 'Namespace of all nodes and topics, including /tf and '
                 '/tf_static, for several robots in one network. Empty: none.'),
        argument('use_sim_time', 'false', 'Use /clock instead of the system clock.', BOOLEAN),
        argument('log_level', 'info', 'Minimum severity of log messages.', SEVERITIES)]


def robot_arguments(robot: str = 'c3p', note: str = ''
                    ) -> list[DeclareLaunchArgument | OpaqueFunction]:
    """
    Return the arguments of a robot, and the action that lays ``robot_options`` over ``robot``.

    `robot` is a default, `note` completes its description.
    """
    return [
        argument('robot', robot, f'Robot{note}: a name from c3p_description/robots, or the path '
                 'of a YAML, URDF or xacro file.'),
        argument('robot_options', '', 'Options of the reader of a URDF and fields of the robot, '
                 'as a YAML mapping: {wheel_radius: 0.05, casters.torque_limit: 4.0}. Empty: '
                 'none.'),
        OpaqueFunction(function=_lay_options)]


def _lay_options(context: LaunchContext) -> None:
    """Let ``robot`` be a file with the options, for everything that the launch file starts."""
    if options := parse_options(value(context, 'robot_options')):
        # included launch files have both arguments, too
        context.launch_configurations.update(
            robot=robot_file(value(context, 'robot'), options), robot_options='')


def rviz_arguments(default: str) -> list[DeclareLaunchArgument]:
    """Return the arguments of `rviz` with their `default`."""
    return [argument('rviz', default, 'Start RViz; needs the package rviz2.', BOOLEAN),
            argument('rviz_config', '', 'Layout of RViz. Empty: that of the robot.')]


def value(context: LaunchContext, name: str) -> str:
    """Return the text of an argument."""
    return LaunchConfiguration(name).perform(context)


def chosen(context: LaunchContext, name: str) -> bool:
    """Return whether a true/false argument is true."""
    return value(context, name) == 'true'


def text_of(name: str) -> ParameterValue:
    """Return the value of an argument as a parameter of type string."""
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def suite_node(executable: str, *parameters: Any, package: str = 'c3p', **options: Any) -> Node:
    """
    Return a node in the launch file's namespace with its log level and clock.

    It gets no name, because one process may hold several nodes. `executable` is one of `package`;
    `parameters` are files and dictionaries in order, `options` go to launch_ros's Node.
    """
    clock = {'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)}
    options = {'remappings': FRAME_TOPICS, **options}
    return Node(package=package, executable=executable, output='screen',
                namespace=LaunchConfiguration('namespace'),
                ros_arguments=['--log-level', LaunchConfiguration('log_level')],
                parameters=[*parameters, clock], **options)


def required(what: str) -> Callable[[ProcessExited, LaunchContext], None]:
    """
    Return an ``on_exit`` for a process that the others need.

    If the process ends before the launch does, all processes are stopped and ``ros2 launch`` exits
    with code 1, which a service manager detects.
    """
    def ended(event: ProcessExited, context: LaunchContext) -> None:
        if not context.is_shutdown:
            raise RuntimeError(f'{what} ended with exit code {event.returncode}; the reason is in '
                               'the log above; stopping all processes')
    return ended


def optional(what: str) -> Callable[[ProcessExited, LaunchContext], None]:
    """Return an ``on_exit`` for a process that the others do not need."""
    def ended(event: ProcessExited, context: LaunchContext) -> None:
        if not context.is_shutdown:
            get_logger('c3p').warning(f'{what} ended with exit code {event.returncode}; '
                                      'the other processes continue')
    return ended


def missing(*packages: str) -> str:
    """Return the installation of missing packages; empty if all are installed."""
    absent = []
    for package in packages:
        try:
            get_package_prefix(package)
        except PackageNotFoundError:
            absent.append(package)
    distribution = os.environ.get('ROS_DISTRO', '<distribution>')
    names = ' '.join(f'ros-{distribution}-{package.replace("_", "-")}' for package in absent)
    return f'{", ".join(absent)} not installed: apt install {names}' if absent else ''


def state_publisher(needed: bool, arguments: Callable[[LaunchContext], Mapping[str, str]]
                    = lambda _: {}) -> OpaqueFunction:
    """
    Return the action that starts robot_state_publisher with the description of ``robot``.

    If it is `needed` the launch fails without it; otherwise it logs once that it is missing. The
    `arguments` of the xacro follow from those of the launch.
    """
    def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        problem = missing('robot_state_publisher')
        if problem and needed:
            raise RuntimeError(problem)
        if problem:
            get_logger('c3p').info(f'robot_description and the frames of the casters are not '
                                   f'published: {problem}')
            return []
        text = robot_description(value(context, 'robot'), arguments(context))
        return [suite_node('robot_state_publisher',
                           {'robot_description': ParameterValue(text, value_type=str)},
                           package='robot_state_publisher',
                           on_exit=(required if needed else optional)('robot_state_publisher'))]
    return OpaqueFunction(function=start)


def rviz(context: LaunchContext, *arguments: str) -> list[LaunchDescriptionEntity]:
    """Return RViz when the argument ``rviz`` is true; `arguments` are added to its own."""
    if not chosen(context, 'rviz'):
        return []
    problem = missing('rviz2')
    if problem:
        raise RuntimeError(f'rviz:=true, but {problem}; or launch with rviz:=false')
    layout = value(context, 'rviz_config') or robot_layout(value(context, 'robot'))
    # windows of several robots have their names
    title = ['-t', '{NAMESPACE} - {CONFIG_FILENAME}'] if value(context, 'namespace') else []
    return [suite_node('rviz2', package='rviz2', on_exit=optional('RViz'),
                       arguments=['-d', layout, *title, *arguments])]


def robot_layout(robot: str) -> str:
    """Return the path of RViz's layout for a robot, a name or path as of the argument."""
    kinds = {PvcTricycle: 'pvc.rviz', Agv: 'agv.rviz'}
    if is_vehicle(robot):
        return str(share_file('c3p_description/rviz/pvc.rviz'))
    try:
        layout = kinds.get(type(load(robot)), 'c3p.rviz')
    except ModelError:  # RViz displays other URDFs as well
        layout = 'c3p.rviz'
    return str(share_file(f'c3p_description/rviz/{layout}'))


def numbers(context: LaunchContext, name: str) -> list[float]:
    """
    Return the numbers of an argument like ``0.5`` or ``[0.1, 0.2, 0.3]``; none when it is empty.

    ValueError has name and text.
    """
    text = value(context, name)
    try:
        found = yaml.safe_load(text) or ([] if text == '' else 0.0)
        return [float(v) for v in (found if isinstance(found, list) else [found])]
    except (yaml.YAMLError, TypeError, ValueError):
        raise ValueError(f'{name}:={text}: must be a number or a list of numbers, such as 0.5 '
                         'or [0.1, 0.2, 0.3]') from None


def not_negative(context: LaunchContext, name: str) -> float:
    """Return the number, 0 or more, of an argument; ValueError with name and text."""
    found = numbers(context, name)
    if len(found) != 1 or not found[0] >= 0.0:
        raise ValueError(f'{name}:={value(context, name)}: must be a number of 0 or more')
    return found[0]


def written(text: str, suffix: str = '.yaml') -> tuple[str, list[LaunchDescriptionEntity]]:
    """Return the path of a new file with `text`, and the action that removes it."""
    with tempfile.NamedTemporaryFile('w', prefix='c3p_launch_', suffix=suffix,
                                     delete=False) as file:
        file.write(text)

    def remove(*_: Any) -> None:
        if os.path.exists(file.name):
            os.remove(file.name)
    return file.name, [RegisterEventHandler(OnShutdown(on_shutdown=remove))]


def parameter_file(nodes: Mapping[str, Mapping[str, Any]]) -> tuple[
        Sequence[str], Sequence[LaunchDescriptionEntity]]:
    """
    Return a file with parameters of single nodes of a process, and the action that removes it.

    ROS 2's ``-p node:name:=value`` misses a node that is in a namespace, and parameters without a
    node's name would reach every node of the process. `nodes` has the parameters by the name of
    the node without namespace; without any there is no file.
    """
    content = {f'/**/{node}': {'ros__parameters': dict(values)}
               for node, values in nodes.items() if values}
    if not content:
        return [], []
    path, tidy = written(yaml.safe_dump(content))
    return [path], tidy


def marker_argument() -> DeclareLaunchArgument:
    """Return the argument of `markers`."""
    return argument(
        'markers', 'auto',
        'Start the marker node, which draws rolling lines, instantaneous centre, slip and path of '
        'a caster robot, and the camber of a tricycle, for RViz and Foxglove; it is idle without '
        'subscribers. auto: with RViz, for these robots.', ('auto', *BOOLEAN))


def markers(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the marker node if the argument ``markers`` requests it.

    ModelError: it is ``true``, for another kind than a caster robot, a tricycle or a vehicle.
    """
    requested = value(context, 'markers')
    robot = value(context, 'robot')
    if requested == 'false' or (requested == 'auto' and not chosen(context, 'rviz')):
        return []
    try:
        if not (is_vehicle(robot) or isinstance(load(robot), PvcTricycle)):
            load_casters(robot)
    except ModelError:
        if requested == 'true':
            raise
        return []
    # some launch files have no parameter file
    file = context.launch_configurations.get('params_file')
    return [suite_node('marker_node', *([ParameterFile(file)] if file else []), {
        'robot': ParameterValue(robot, value_type=str)}, on_exit=optional('marker_node'))]
