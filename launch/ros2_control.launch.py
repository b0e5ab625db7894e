# SPDX-License-Identifier: Apache-2.0
"""
Bring up the robot's nodes for hardware that ros2_control owns: mock, topics, Gazebo or MuJoCo.

``ros2 launch c3p ros2_control.launch.py --show-args`` is the manual; docs/ros2_control.md says
more.
"""

import os
import tempfile
from pathlib import Path

import yaml
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnShutdown
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from c3p_description.loader import load, robot_description
from c3p_hardware.joint_commands import driven_joints
from c3p_ros.launch_actions import (
    BOOLEAN,
    FRAME_TOPICS,
    chosen,
    common_arguments,
    missing,
    optional,
    parameter_file,
    required,
    rviz,
    rviz_arguments,
    share,
    suite_node,
)
from c3p_simulation.drive_options import CONTROLLERS, PLANTS
from c3p_simulation.plants.mujoco_model import BodyShape, mjcf
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# what each kind of hardware needs besides the controllers
PACKAGES = {'mock': ['controller_manager'],
            'topic': ['controller_manager', 'joint_state_topic_hardware_interface'],
            'gazebo': ['controller_manager', 'gz_ros2_control', 'ros_gz_sim', 'ros_gz_bridge'],
            'mujoco': ['controller_manager', 'mujoco_ros2_control']}
# these tell the time of their simulation
TELL_TIME = ('gazebo', 'mujoco')

EFFORT_CONTROLLER = 'wheel_effort_controller'
SPECIAL, GENERAL = ('effort_controllers/JointGroupEffortController',
                    'forward_command_controller/ForwardCommandController')
# topics between ros2_control and hardware of the suite; joint_states are the broadcaster's
HARDWARE_TOPICS = [('joint_states', 'hardware/joint_states'),
                   ('wheel_effort', 'hardware/wheel_effort')]

ARGUMENTS = [
    DeclareLaunchArgument(
        'hardware', default_value='mock', choices=tuple(PACKAGES),
        description='What ros2_control drives. mock: nothing moves, to try the wiring. topic: '
                    'hardware of this suite, over topics. gazebo, mujoco: simulations that hold '
                    'the controller manager; they set use_sim_time.'),
    DeclareLaunchArgument(
        'sim', default_value='analytic', choices=('none', *PLANTS),
        description='With hardware:=topic, what stands behind the topics: a simulated robot of '
                    'this suite, or none: you start it (docs/ros2_control.md).'),
    DeclareLaunchArgument(
        'controller', default_value='', choices=('', *CONTROLLERS),
        description='Law of both controllers, as in bringup.launch.py. Empty: as in params_file.'),
    DeclareLaunchArgument(
        'params_file', default_value=share('config', 'c3p.yaml'),
        description='Parameters of our nodes. robot, use_sim_time and controller are overridden '
                    'by the arguments of those names.'),
    DeclareLaunchArgument(
        'controllers_file', default_value=share('config', 'ros2_controllers.yaml'),
        description='Parameters of the controller manager and its controllers; joints that are '
                    'not those of the robot are replaced.'),
    DeclareLaunchArgument(
        'world', default_value='empty.sdf',
        description='With hardware:=gazebo, the world to start in.'),
    DeclareLaunchArgument(
        'mujoco_model', default_value='',
        description='With hardware:=mujoco, the MJCF of the robot. Empty: made from robot.'),
    DeclareLaunchArgument(
        'headless', default_value='false', choices=BOOLEAN,
        description='With hardware:=gazebo or mujoco, no window.'),
]


def value(context: LaunchContext, argument: str) -> str:
    """Return the text of an argument."""
    return LaunchConfiguration(argument).perform(context)


def controllers(context: LaunchContext) -> dict[str, dict[str, object]]:
    """Return the parameters of controllers_file by node, with the joints of the robot."""
    path = value(context, 'controllers_file')
    content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    entries = {key.rsplit('/', 1)[-1]: entry['ros__parameters'] for key, entry in content.items()}
    common = entries.pop('**', {})
    nodes = {node: {**common, **entry} for node, entry in entries.items()}
    for node in ('controller_manager', EFFORT_CONTROLLER):
        if node not in nodes:
            raise RuntimeError(f'controllers_file:={path}: has no {node}; begin with '
                               'config/ros2_controllers.yaml')
    joints, driven = nodes[EFFORT_CONTROLLER].get('joints', []), driven_joints(
        load(value(context, 'robot')))
    if sorted(joints) != sorted(driven):
        nodes[EFFORT_CONTROLLER]['joints'] = driven
    return nodes


def check_packages(context: LaunchContext, nodes: dict[str, dict[str, object]]) -> None:
    """Name all packages that are lacking; take the general effort controller for the special."""
    types = [entry for entry in nodes['controller_manager'].values()
             if isinstance(entry, dict) and 'type' in entry]
    for entry in types:
        special, general = (name.split('/')[0] for name in (SPECIAL, GENERAL))
        if entry['type'] == SPECIAL and missing(special) and not missing(general):
            entry['type'] = GENERAL
            get_logger('c3p').info(f'{special} is not installed: {GENERAL} in its place, which '
                                   'keeps its last efforts when it is deactivated')
    problem = missing('robot_state_publisher', *PACKAGES[value(context, 'hardware')],
                      *(entry['type'].split('/')[0] for entry in types))
    if problem:
        raise RuntimeError(f'hardware:={value(context, "hardware")} needs more: {problem}')


def mujoco_model(context: LaunchContext) -> tuple[str, list[LaunchDescriptionEntity]]:
    """Return the path of the MJCF, and the action that removes it when it was made here."""
    if given := value(context, 'mujoco_model'):
        return str(Path(given).absolute()), []
    robot = value(context, 'robot')
    if robot.endswith(('.urdf', '.xacro')):
        raise RuntimeError(f'robot:={robot}: a model for MuJoCo can be made from a parameter file '
                           'alone; give mujoco_model:=FILE')
    with tempfile.NamedTemporaryFile('w', prefix='c3p_launch_', suffix='.xml',
                                     delete=False) as file:
        file.write(mjcf(load(robot), BodyShape.read(robot)))

    def remove(*_: object) -> None:
        if os.path.exists(file.name):
            os.remove(file.name)
    return file.name, [RegisterEventHandler(OnShutdown(on_shutdown=remove))]


def spawned(event: ProcessExited, context: LaunchContext) -> None:
    """Stop everything when a helper that ends by itself has failed."""
    if event.returncode and not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}, its '
                           'reason stands above; everything else is stopped')


def manager(context: LaunchContext, file: str) -> list[LaunchDescriptionEntity]:
    """Return the process that holds the controller manager, and what brings the robot into it."""
    hardware = value(context, 'hardware')
    if hardware != 'gazebo':
        package = 'mujoco_ros2_control' if hardware == 'mujoco' else 'controller_manager'
        return [suite_node('ros2_control_node', file, package=package,
                           on_exit=required('the controller manager'))]
    gazebo = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])),
        launch_arguments={'gz_args': f'-r {"-s " if chosen(context, "headless") else ""}'
                                     f'{value(context, "world")}',
                          'on_exit_shutdown': 'true'}.items())
    return [gazebo,
            suite_node('create', package='ros_gz_sim', on_exit=spawned, arguments=[
                '-topic', 'robot_description', '-name', 'robot', '-allow_renaming', 'true']),
            suite_node('parameter_bridge', package='ros_gz_bridge', on_exit=required('the clock'),
                       arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'])]


def our_nodes(context: LaunchContext, joints: list[str]) -> list[LaunchDescriptionEntity]:
    """Return the control chain, the bridges, and with topics the hardware behind them."""
    law, sim = value(context, 'controller'), value(context, 'sim')
    laws = {'controller': law} if law else {}
    simulated = {'plant': sim, **({'publish_clock': True} if chosen(context, 'use_sim_time')
                                  else {})}
    files, tidy = parameter_file({'velocity_controller': laws, 'position_controller': laws,
                                  'ros2_control_bridge': {'joints': joints},
                                  'simulation': simulated if sim != 'none' else {}})
    parameters = [ParameterFile(LaunchConfiguration('params_file')),
                  {'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str)}, *files]
    bridge = 'ros2_control_bridge_node'
    # a forward controller goes on with its last torques when the bridge has died
    found = [*tidy, suite_node('robot_nodes', *parameters, on_exit=required('robot_nodes')),
             suite_node(bridge, *parameters, {'direction': 'to_ros2_control'},
                        on_exit=required(bridge))]
    if value(context, 'hardware') == 'topic':
        topics = {'remappings': [*FRAME_TOPICS, *HARDWARE_TOPICS]}
        found.append(suite_node(bridge, *parameters, {'direction': 'from_ros2_control'},
                                name='hardware_bridge', on_exit=required(bridge), **topics))
        if sim != 'none':
            found.append(suite_node('simulation_node', *parameters,
                                    on_exit=required('simulation_node'), **topics))
    return found


def everything(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return all processes; first what can fail for want of a package."""
    hardware, nodes = value(context, 'hardware'), controllers(context)
    check_packages(context, nodes)
    windows = rviz(context)
    if hardware in TELL_TIME:
        context.launch_configurations['use_sim_time'] = 'true'
    model, tidy_model = mujoco_model(context) if hardware == 'mujoco' else ('', [])
    (file,), tidy = parameter_file(nodes)
    text = robot_description(value(context, 'robot'), {
        'hardware': hardware, 'controllers': file, 'namespace': value(context, 'namespace'),
        'mujoco_model': model, 'headless': value(context, 'headless')})
    description = {'robot_description': ParameterValue(text, value_type=str)}
    names = [name for name in nodes['controller_manager'] if name in nodes]
    return [*tidy_model, *tidy, *windows,
            suite_node('robot_state_publisher', description, package='robot_state_publisher',
                       on_exit=optional('robot_state_publisher')),
            *manager(context, file),
            suite_node('spawner', package='controller_manager', on_exit=spawned,
                       arguments=[*names, '--param-file', file]),
            *our_nodes(context, nodes[EFFORT_CONTROLLER]['joints'])]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
                              OpaqueFunction(function=everything)])
