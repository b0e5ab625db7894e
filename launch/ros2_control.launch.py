# SPDX-License-Identifier: Apache-2.0
"""
Bring up the robot's nodes for hardware under ros2_control: mock, topics, Gazebo or MuJoCo.

Arguments: ``ros2 launch c3p ros2_control.launch.py --show-args``, and docs/ros2_control.md.
"""

from pathlib import Path
from typing import Any

import yaml
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from c3p_bringup.choices import PLANTS
from c3p_bringup.launch_parts.actions import (
    FRAME_TOPICS,
    chosen,
    common_arguments,
    missing,
    parameter_file,
    required,
    rviz,
    rviz_arguments,
    suite_node,
    value,
)
from c3p_bringup.launch_parts.simulators import (
    control_arguments,
    gazebo,
    gazebo_arguments,
    headless_argument,
    mujoco_argument,
    mujoco_model,
    spawned,
)
from c3p_description.reading.loader import load_casters, robot_description
from c3p_hardware.joint_commands import driven_joints
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# what each kind of hardware needs besides the controllers
PACKAGES = {'mock': ['controller_manager'],
            'topic': ['controller_manager', 'joint_state_topic_hardware_interface'],
            'gazebo': ['controller_manager', 'gz_ros2_control', 'ros_gz_sim', 'ros_gz_bridge'],
            'mujoco': ['controller_manager', 'mujoco_ros2_control']}
# these publish the time of their simulation
TELL_TIME = ('gazebo', 'mujoco')

# of joint_states: their controller manager stamps with the /clock that it has received, s
STAMP_JITTER = 0.003
# of the controllers, s: their manager may run in a simulator that is loading or slow
SWITCH_TIMEOUT = '60'

EFFORT_CONTROLLER = 'wheel_effort_controller'
SPECIAL, GENERAL = ('effort_controllers/JointGroupEffortController',
                    'forward_command_controller/ForwardCommandController')
# topics between ros2_control and hardware of the suite; joint_states are the broadcaster's
HARDWARE_TOPICS = [('joint_states', 'hardware/joint_states'),
                   ('wheel_effort', 'hardware/wheel_effort')]

ARGUMENTS = [
    DeclareLaunchArgument(
        'hardware', default_value='mock', choices=tuple(PACKAGES),
        description='Hardware of ros2_control. mock: no motion, to test the connections. topic: '
                    'hardware of this suite, over topics. gazebo, mujoco: simulators with the '
                    'controller manager; they set use_sim_time.'),
    DeclareLaunchArgument(
        'sim', default_value='analytic', choices=('none', *PLANTS),
        description='Robot for hardware:=topic: a simulated robot of this suite, or none for a '
                    'separately started one (docs/ros2_control.md).'),
    *control_arguments(), *gazebo_arguments(), mujoco_argument(), headless_argument(),
]


def controllers(context: LaunchContext) -> dict[str, dict[str, Any]]:
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
        load_casters(value(context, 'robot')))
    if sorted(joints) != sorted(driven):
        nodes[EFFORT_CONTROLLER]['joints'] = driven
    return nodes


def replace_special(nodes: dict[str, dict[str, Any]]) -> None:
    """Take the general effort controller for the special one of a file written before Lyrical."""
    special, general = (name.split('/')[0] for name in (SPECIAL, GENERAL))
    if not missing(special) or missing(general):
        return
    for name, entry in nodes['controller_manager'].items():
        if isinstance(entry, dict) and entry.get('type') == SPECIAL:
            entry['type'] = GENERAL
            # the special one sets it on its own
            nodes.setdefault(name, {}).setdefault('interface_name', 'effort')
            get_logger('c3p').info(f'{name}: {special} is not installed: {GENERAL} in its place, '
                                   'which keeps its last efforts when it is deactivated')


def check_packages(context: LaunchContext, nodes: dict[str, dict[str, Any]]) -> None:
    """Name all packages that are lacking."""
    replace_special(nodes)
    types = [entry for entry in nodes['controller_manager'].values()
             if isinstance(entry, dict) and 'type' in entry]
    problem = missing('robot_state_publisher', *PACKAGES[value(context, 'hardware')],
                      *(entry['type'].split('/')[0] for entry in types))
    if problem:
        raise RuntimeError(f'hardware:={value(context, "hardware")} needs more: {problem}')


def manager(context: LaunchContext, file: str) -> list[LaunchDescriptionEntity]:
    """Return the process that holds the controller manager, and what brings the robot into it."""
    hardware = value(context, 'hardware')
    if hardware != 'gazebo':
        package = 'mujoco_ros2_control' if hardware == 'mujoco' else 'controller_manager'
        # neither it nor a controller of controllers_file needs /tf
        return [suite_node('ros2_control_node', file, package=package, remappings=[],
                           on_exit=required('the controller manager'))]
    return gazebo(context)


def our_nodes(context: LaunchContext, joints: list[str]) -> list[LaunchDescriptionEntity]:
    """Return the control chain, the bridges, and with topics the hardware behind them."""
    law, sim = value(context, 'controller'), value(context, 'sim')
    laws = {'controller': law} if law else {}
    simulated = {'plant': sim, **({'publish_clock': True} if chosen(context, 'use_sim_time')
                                  else {})}
    jitter = {'stamp_jitter': STAMP_JITTER} if value(context, 'hardware') in TELL_TIME else {}
    files, tidy = parameter_file({'velocity_controller': {**laws, **jitter},
                                  'sensed_kinematics': jitter, 'position_controller': laws,
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
        topics: dict[str, Any] = {'remappings': [*FRAME_TOPICS, *HARDWARE_TOPICS]}
        found.append(suite_node(bridge, *parameters, {'direction': 'from_ros2_control'},
                                name='hardware_bridge', on_exit=required(bridge), **topics))
        if sim != 'none':
            found.append(suite_node('simulation_node', *parameters,
                                    on_exit=required('simulation_node'), **topics))
    return found


def everything(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return all processes; those that can fail because of a missing package first."""
    hardware, nodes = value(context, 'hardware'), controllers(context)
    check_packages(context, nodes)
    windows = rviz(context)
    if hardware in TELL_TIME:
        context.launch_configurations['use_sim_time'] = 'true'
    model, tidy_model = mujoco_model(context) if hardware == 'mujoco' else ('', [])
    (file,), tidy = parameter_file(nodes)
    told = {name: value(context, name)
            for name in ('namespace', 'headless', 'imu', 'tyre_friction')}
    text = robot_description(value(context, 'robot'), {
        'hardware': hardware, 'controllers': file, 'mujoco_model': model, **told})
    description = {'robot_description': ParameterValue(text, value_type=str)}
    names = [name for name in nodes['controller_manager'] if name in nodes]
    # before its first state the broadcaster sends NaN, which would get into /tf
    states = HARDWARE_TOPICS[:1] if hardware == 'topic' else []
    return [*tidy_model, *tidy, *windows,
            # controller manager and spawner wait without end for its robot_description
            suite_node('robot_state_publisher', description, package='robot_state_publisher',
                       remappings=[*FRAME_TOPICS, *states],
                       on_exit=required('robot_state_publisher, the source of the controller '
                                        "manager's robot_description,")),
            *manager(context, file),
            suite_node('spawner', package='controller_manager', on_exit=spawned, remappings=[],
                       arguments=[*names, '--param-file', file,
                                  '--switch-timeout', SWITCH_TIMEOUT]),
            *our_nodes(context, nodes[EFFORT_CONTROLLER]['joints'])]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
                              OpaqueFunction(function=everything)])
