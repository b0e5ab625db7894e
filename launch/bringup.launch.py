# SPDX-License-Identifier: Apache-2.0
"""
Bring up the robot's nodes: on its motor cards, with a simulated one, or for any joint states.

``ros2 launch c3p bringup.launch.py --show-args`` is the manual; docs/launch.md says more.
"""

import tempfile
import uuid
from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from c3p_ros.launch_actions import (
    BOOLEAN,
    chosen,
    common_arguments,
    numbers,
    optional,
    parameter_file,
    required,
    rviz,
    rviz_arguments,
    share,
    state_publisher,
    suite_node,
)
from c3p_simulation.drive_options import CONTROLLERS, PATIENCE, PLANTS, known_latency
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# what robot_nodes holds in one process
CHAIN = ('sensed_kinematics_node', 'position_controller_node', 'velocity_controller_node',
         'inverse_dynamics_node')

ARGUMENTS = [
    DeclareLaunchArgument(
        'sim', default_value='none', choices=('none', *PLANTS),
        description='Simulated robot. none: joint_states come from elsewhere, and wheel_effort is '
                    'used elsewhere. analytic: the closed-chain equations of motion. mujoco: '
                    'tyres in contact with the ground (needs c3p[sim]).'),
    DeclareLaunchArgument(
        'hardware', default_value='none', choices=('none', 'can', 'emulated'),
        description='Motor cards. can: the drives and encoders on a CANopen bus; the motors wait '
                    'for ~/enable of the hardware interface. emulated: the same node and frames, '
                    'with emulated cards that move the simulated robot sim.'),
    DeclareLaunchArgument(
        'can_interface', default_value='',
        description='python-can interface of hardware:=can, such as socketcan or slcan. Empty: as '
                    'in params_file, socketcan where that names none.'),
    DeclareLaunchArgument(
        'can_channel', default_value='',
        description='Channel of that interface. Empty: as in params_file, can0 where that names '
                    'none.'),
    DeclareLaunchArgument(
        'controller', default_value='', choices=('', *CONTROLLERS),
        description='Law of both controllers. paper: the cascade of the papers. closed_form: for '
                    'computers without a compiler. mpc: predictive control. Empty: as in '
                    'params_file, mpc where that names none.'),
    DeclareLaunchArgument(
        'nodes', default_value='one-process', choices=('one-process', 'processes'),
        description='All nodes of the chain, and the simulated robot, in one process (the '
                    'shortest latency), or each in its own.'),
    DeclareLaunchArgument(
        'params_file', default_value=share('config', 'c3p.yaml'),
        description='Parameters of the nodes. robot, use_sim_time, controller and the start of '
                    'the simulated robot are overridden by the arguments of those names.'),
    DeclareLaunchArgument(
        'start_pose', default_value='',
        description='Where the simulated robot starts: [x, y, yaw] in m and rad. Empty: as in '
                    'params_file.'),
    DeclareLaunchArgument(
        'start_steering', default_value='',
        description='Steering angles with which the simulated robot starts: one for all, or a '
                    'list with one per caster, in rad. Empty: as in params_file.'),
    DeclareLaunchArgument(
        'record', default_value='false', choices=BOOLEAN,
        description='Record the topics of config/record_topics.yaml to a bag.'),
    DeclareLaunchArgument(
        'bag_path', default_value='',
        description='Directory of the new bag; must not exist. Empty: c3p_<date>-<time> in the '
                    'working directory.'),
]


def parameters() -> list[object]:
    """Return what every node of the suite is told: the file, then the robot."""
    return [ParameterFile(LaunchConfiguration('params_file')),
            {'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str)}]


def control(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes of the control chain and the simulated robot."""
    sim, law, hardware = (LaunchConfiguration(name).perform(context)
                          for name in ('sim', 'controller', 'hardware'))
    check_robot(sim, hardware)
    simulated = sim != 'none' and hardware == 'none'
    chosen_law = {'controller': law} if law else {}
    values = {'velocity_controller': chosen_law, 'position_controller': chosen_law}
    # what the parameter file may know better comes before it
    defaults = ({'velocity_controller': known_latency(sim, hardware)} if sim != 'none' else {})
    if hardware != 'none':
        defaults['hardware_interface'] = {'autostart': 'active'}
        values |= bus_values(context, hardware)
    if hardware == 'emulated':
        defaults['hardware_interface'] |= PATIENCE
        values['emulated_cards'] |= {'plant': sim, **start_values(context)}
    if simulated:
        values['simulation'] = {'plant': sim, **start_values(context)}
        if chosen(context, 'use_sim_time'):
            values['simulation']['publish_clock'] = True
    before, tidy_before = parameter_file(defaults)
    after, tidy_after = parameter_file(values)
    files, actions = [*before, *parameters(), *after], [*tidy_before, *tidy_after]
    # the cards are a computer of their own
    apart = ['emulated_cards_node'] if hardware == 'emulated' else []
    if LaunchConfiguration('nodes').perform(context) == 'one-process':
        option = '--sim' if simulated else '--hardware' if hardware != 'none' else ''
        actions += [suite_node('robot_nodes', *files, arguments=[option] if option else [],
                               on_exit=required('robot_nodes'))]
        executables = apart
    else:
        executables = [*CHAIN, *apart, *(['simulation_node'] if simulated else []),
                       *(['hardware_interface_node'] if hardware != 'none' else [])]
    return [*actions, *(suite_node(executable, *files, on_exit=required(executable))
                        for executable in executables)]


def check_robot(sim: str, hardware: str) -> None:
    """Refuse two robots, or emulated cards without one."""
    if hardware == 'can' and sim != 'none':
        raise ValueError(f'sim:={sim} with hardware:=can: the real robot is not simulated; leave '
                         'one of them out')
    if hardware == 'emulated' and sim == 'none':
        raise ValueError('hardware:=emulated needs the robot behind the cards: add sim:=analytic '
                         'or sim:=mujoco')


def start_values(context: LaunchContext) -> dict[str, list[float]]:
    """Return where a simulated robot starts, as far as it is said."""
    start = {name: numbers(context, name) for name in ('start_pose', 'start_steering')}
    return {name: value for name, value in start.items() if value}


def bus_values(context: LaunchContext, hardware: str) -> dict[str, dict[str, object]]:
    """Return where the bus of the motor cards is."""
    if hardware == 'emulated':
        # a link that the cards make and remove
        channel = str(Path(tempfile.gettempdir()) / f'c3p_can_{uuid.uuid4().hex}')
        return {'hardware_interface': {'bus.interface': 'serial', 'bus.channel': channel},
                'emulated_cards': {'bus.channel': channel}}
    said = {f'bus.{name}': LaunchConfiguration(f'can_{name}').perform(context)
            for name in ('interface', 'channel')}
    return {'hardware_interface': {name: value for name, value in said.items() if value}}


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    recorder = suite_node(
        'recorder_node', *parameters(),
        {'bag': ParameterValue(LaunchConfiguration('bag_path'), value_type=str)},
        on_exit=optional('recorder_node'), condition=IfCondition(LaunchConfiguration('record')))
    return LaunchDescription([
        *common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
        # first what can fail for want of a package, so that nothing is started in vain
        OpaqueFunction(function=rviz), state_publisher(needed=False), recorder,
        OpaqueFunction(function=control)])
