# SPDX-License-Identifier: Apache-2.0
"""
Parts of the launch files with ros2_control: arguments, Gazebo processes, MuJoCo model.

Requires Gazebo Harmonic (gz-sim 8) or later, the version of Jazzy.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    IncludeLaunchDescription,
)
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from c3p_bringup.choices import AUTO_LAW, law_names
from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    argument,
    chosen,
    numbers,
    required,
    share,
    suite_node,
    value,
    written,
)
from c3p_bringup.launch_parts.shells import interrupted_with_launch
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import load_casters
from c3p_simulation.contact_plant.mujoco_model import BodyShape, mjcf
from launch import LaunchContext, LaunchDescriptionEntity

# worlds of the package, and none: Gazebo runs already
WORLDS = ('flat', 'rough')
RUNNING = 'none'
# what robots without a namespace are called in Gazebo
MODEL = 'robot'
SPAWN = ('-x', '-y', '-z', '-Y')


def control_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of our nodes and of the controllers of ros2_control."""
    return [
        argument('controller', '', 'Law of both controllers, as in bringup.launch.py. Empty: as '
                 'in params_file.', ('', AUTO_LAW, *law_names())),
        argument('params_file', share('config', 'c3p.yaml'), 'Parameters of the nodes of the '
                 'suite. robot, use_sim_time and controller are overridden by the arguments of '
                 'the same names.'),
        controllers_argument()]


def controllers_argument() -> DeclareLaunchArgument:
    """Return the argument of the controller manager."""
    return argument('controllers_file', share('config', 'ros2_controllers.yaml'), 'Parameters of '
                    'the controller manager and its controllers; joints of another robot are '
                    'replaced.')


def gazebo_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of Gazebo."""
    return [
        argument('world', 'flat', 'World of Gazebo. flat: a level floor. rough: waves up to 3° '
                 'steep. Or an .sdf file: its path, or the name of a Gazebo resource. none: '
                 'spawn the robot in a running Gazebo.'),
        argument('spawn_pose', '[0.0, 0.0, 0.0, 0.0]', 'Spawn pose in Gazebo: [x, y, z, yaw] in '
                 'm and rad, with z of the ground below the robot.'),
        argument('tyre_friction', '0.8', 'Friction coefficient of the tyres in Gazebo.'),
        argument('imu', 'false', 'Simulate an IMU on the platform in Gazebo, on imu/data.',
                 BOOLEAN),
        argument('bridge_file', share('config', 'gz_bridge.yaml'), 'Topics from Gazebo, for '
                 'ros_gz_bridge.')]


def mujoco_argument() -> DeclareLaunchArgument:
    """Return the argument of MuJoCo's model."""
    return argument('mujoco_model', '', 'MJCF of the robot for mujoco_ros2_control. Empty: '
                    'generated from robot.')


def headless_argument() -> DeclareLaunchArgument:
    """Return the argument that leaves out the window."""
    return argument('headless', 'false', 'Run Gazebo or mujoco_ros2_control without a window.',
                    BOOLEAN)


def mujoco_model(context: LaunchContext) -> tuple[str, list[LaunchDescriptionEntity]]:
    """Return the path of the MJCF, and the action that removes it when it was made here."""
    if given := value(context, 'mujoco_model'):
        return str(Path(given).absolute()), []
    robot = value(context, 'robot')
    if robot.endswith(('.urdf', '.xacro')):
        raise RuntimeError(f'robot:={robot}: a model for MuJoCo can be made from a parameter file '
                           'alone; give mujoco_model:=FILE')
    return written(mjcf(load_casters(robot), BodyShape.read(robot)), '.xml')


def spawned(event: ProcessExited, context: LaunchContext) -> None:
    """Stop all processes if a helper process has failed."""
    if event.returncode and not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}; the '
                           'reason is in the log above; stopping all processes')


def world_file(world: str) -> str:
    """
    Return Gazebo's argument for the launch argument ``world``; ValueError: it is invalid.

    `world` is the name of a world of the package, or an ``.sdf`` file; Gazebo searches its own
    paths for a file that does not exist here.
    """
    if world in WORLDS:
        return str(share_file(f'c3p_description/worlds/{world}.sdf'))
    if not world.endswith(('.sdf', '.world')):
        raise ValueError(f'world:={world}: must be one of {", ".join(WORLDS)}, {RUNNING}, or the '
                         'path of an .sdf file (scripts/write_worlds.py writes one of a terrain)')
    return str(Path(world).absolute()) if Path(world).is_file() else world


def world_name(file: str) -> str:
    """Return the name of the world in an ``.sdf`` file; empty if it is not found there."""
    if not Path(file).is_file():
        return ''
    text = re.sub('<!--.*?-->', '', Path(file).read_text(encoding='utf-8', errors='replace'),
                  flags=re.DOTALL)
    name = re.search(r"""<world\s[^>]*\bname\s*=\s*["']([^"'<>]+)["']""", text)
    return name.group(1) if name else ''


def gazebo(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return Gazebo, unless it runs, what puts the robot into it, and the bridge of its topics."""
    world = value(context, 'world')
    place = numbers(context, 'spawn_pose')
    if len(place) != len(SPAWN):
        raise ValueError(f'spawn_pose:={value(context, "spawn_pose")}: must be [x, y, z, yaw] in '
                         'm and rad')
    bridged = value(context, 'bridge_file')
    tidy: list[LaunchDescriptionEntity] = []
    if world == RUNNING:
        # the launch file that started the world bridges its clock already
        entries = yaml.safe_load(Path(bridged).read_text(encoding='utf-8'))
        bridged, tidy = written(yaml.safe_dump(
            [entry for entry in entries if entry.get('ros_topic_name') != '/clock']), '.yaml')
    name = value(context, 'namespace').strip('/').replace('/', '_') or MODEL
    pose = [word for pair in zip(SPAWN, map(str, place), strict=True) for word in pair]
    # without a world create takes the first one of any simulator in the network. It repeats a
    # request that a busy simulator answers late: with -allow_renaming that is a second robot
    inside = '' if world == RUNNING else world_name(world_file(world))
    return [*tidy, *([] if world == RUNNING else simulator(context, world)),
            suite_node('create', package='ros_gz_sim', on_exit=spawned, arguments=[
                '-topic', 'robot_description', '-name', name, *pose,
                *(['-world', inside] if inside else [])]),
            suite_node('parameter_bridge', {'config_file': bridged, 'expand_gz_topic_names': True},
                       package='ros_gz_bridge', on_exit=required('the bridge from Gazebo'))]


def simulator(context: LaunchContext, world: str) -> list[LaunchDescriptionEntity]:
    """Return what starts Gazebo with a world; its end ends everything."""
    # gz_sim.launch.py hands them to a shell
    words = ['-r', *(['-s'] if chosen(context, 'headless') else []),
             shlex.quote(world_file(world))]
    arguments = ' '.join(words)
    return [
        *interrupted_with_launch(arguments),
        # meshes are model://c3p/c3p_description/meshes/... there
        AppendEnvironmentVariable('GZ_SIM_RESOURCE_PATH', PathJoinSubstitution(
            [FindPackageShare('c3p'), '..'])),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution(
                [FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])),
            launch_arguments={'gz_args': arguments, 'on_exit_shutdown': 'true'}.items())]
