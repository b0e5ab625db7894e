# SPDX-License-Identifier: Apache-2.0
"""
Bring up the nodes of a robot: on its motor cards, simulated, or for external joint states.

Arguments: ``ros2 launch c3p bringup.launch.py --show-args``, and docs/launch.md.
"""

from typing import Any

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from c3p_bringup.choices import PLANTS, SENSORS
from c3p_bringup.launch_parts.actions import (
    chosen,
    common_arguments,
    marker_argument,
    markers,
    required,
    rviz,
    rviz_arguments,
    state_publisher,
    suite_node,
)
from c3p_bringup.launch_parts.robot import (
    bus_arguments,
    bus_values,
    chain_arguments,
    checked_cards,
    goal_options,
    law_values,
    layered,
    monitor,
    monitor_argument,
    nav2_argument,
    record_arguments,
    recorder,
    start_arguments,
    start_values,
)
from c3p_bringup.nodes import CHAIN, ROBOTS, executable_of
from c3p_bringup.options import PATIENCE, known_latency, known_timing, sensors_parameter
from c3p_simulation import STRICT, WAIT
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

ARGUMENTS = [
    DeclareLaunchArgument(
        'sim', default_value='none', choices=('none', *PLANTS),
        description='Simulated robot. none: external driver of joint_states and wheel_effort. '
                    'analytic: closed-chain equations of motion. mujoco: tyres in contact with '
                    'the ground (needs MuJoCo).'),
    DeclareLaunchArgument(
        'sensors', default_value='',
        description=f'Sensors of the simulated robot: {", ".join(SENSORS)}, or the path of a YAML '
                    'file with their settings. Empty: as in params_file, where auto is the '
                    'default.'),
    DeclareLaunchArgument(
        'realtime', default_value=STRICT, choices=(STRICT, WAIT),
        description='Behaviour of the simulated robot on a loaded computer. strict: watchdogs '
                    'stop it like a real robot. wait: it waits for its controllers and slows '
                    '/clock down; needs use_sim_time:=true here and in all other nodes.'),
    DeclareLaunchArgument(
        'hardware', default_value='none', choices=('none', 'can', 'emulated'),
        description='Motor cards. can: drives and encoders on a CANopen bus; enable the motors '
                    'with ~/enable of the hardware interface. emulated: the same node and frames, '
                    'with emulated cards that move the simulated robot sim.'),
    *bus_arguments(),
    *chain_arguments(),
    *start_arguments(),
    nav2_argument(),
    *record_arguments(),
    monitor_argument(),
]


def control(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes of the control chain and the simulated robot."""
    sim, hardware, law, sensors = (LaunchConfiguration(name).perform(context)
                                   for name in ('sim', 'hardware', 'controller', 'sensors'))
    check_robot(sim, hardware, sensors)
    simulated = sim != 'none' and hardware == 'none'
    values, options = law_values(context), goal_options(context)
    # the parameter file overrides these defaults
    defaults: dict[str, dict[str, Any]] = {} if sim == 'none' else {
        'velocity_controller': known_latency(sim, hardware, law, sensors)}
    if sim != 'none' or hardware != 'none':
        defaults['sensed_kinematics'] = known_timing(sensors)
    if hardware != 'none':
        defaults['hardware_interface'] = {'autostart': 'active'}
        values |= bus_values(context, hardware)
        cards = checked_cards(context)
    if hardware == 'emulated':
        defaults['hardware_interface'] |= PATIENCE
        defaults['emulated_cards'] = cards
        values['emulated_cards'] |= {'plant': sim, **start_values(context)}
    if simulated:
        values['simulation'] = {'plant': sim, **sensors_parameter(sensors),
                                **start_values(context)}
        if chosen(context, 'use_sim_time'):
            values['simulation']['publish_clock'] = True
        # strict is the default of the node, too, which a parameter file may change
        if realtime_of(context) == WAIT:
            values['simulation']['realtime'] = WAIT
    files, actions = layered(defaults, values)
    behind = ROBOTS['none'] if simulated else () if hardware == 'none' else ROBOTS[hardware]
    if LaunchConfiguration('nodes').perform(context) == 'one-process':
        option = '--sim' if simulated else '--hardware' if hardware != 'none' else ''
        actions += [suite_node('robot_nodes', *files, arguments=[option] if option else [],
                               on_exit=required('robot_nodes'), **options)]
        # the cards are a computer of their own
        names = [name for name in behind if name == 'emulated_cards']
    else:
        names = [*CHAIN, *behind]
    executables = map(executable_of, names)
    return [*actions, *(suite_node(executable, *files, on_exit=required(executable), **options)
                        for executable in executables)]


def realtime_of(context: LaunchContext) -> str:
    """Return the argument ``realtime``; wait requires simulated time."""
    realtime = LaunchConfiguration('realtime').perform(context)
    if realtime == WAIT and not chosen(context, 'use_sim_time'):
        raise ValueError('realtime:=wait: the robot publishes /clock; add '
                         'use_sim_time:=true')
    return realtime


def check_robot(sim: str, hardware: str, sensors: str) -> None:
    """Reject two robots, emulated cards without a simulated robot, sensors without one."""
    if hardware == 'can' and sim != 'none':
        raise ValueError(f'sim:={sim} with hardware:=can: the real robot is not simulated; omit '
                         'one of the two')
    if hardware == 'emulated' and sim == 'none':
        raise ValueError('hardware:=emulated requires a simulated robot: add sim:=analytic or '
                         'sim:=mujoco')
    if sensors and (sim == 'none' or hardware != 'none'):
        raise ValueError(f'sensors:={sensors}: are those of a simulated robot without motor '
                         'cards; add sim:=analytic or sim:=mujoco without hardware, or omit them')


def generate_launch_description() -> LaunchDescription:
    """Return the launch arguments and actions."""
    return LaunchDescription([
        *common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
        marker_argument(),
        # first the actions that may fail because a package is missing
        OpaqueFunction(function=rviz), state_publisher(needed=False), recorder(),
        monitor(),
        OpaqueFunction(function=markers), OpaqueFunction(function=control)])
