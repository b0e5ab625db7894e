# SPDX-License-Identifier: Apache-2.0
"""
Bring up the real robot in stages: motor cards, control chain, activation.

Arguments: ``ros2 launch c3p hardware.launch.py --show-args``, and docs/launch.md.
"""

import time
from typing import Any

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, TimerAction
from launch.substitutions import LaunchConfiguration
from sensor_msgs.msg import JointState

from c3p_bringup.choices import PLANTS
from c3p_bringup.launch_parts.actions import (
    common_arguments,
    marker_argument,
    markers,
    numbers,
    required,
    rviz,
    rviz_arguments,
    state_publisher,
    suite_node,
)
from c3p_bringup.launch_parts.lifecycle import (
    ACTIVATE,
    CONFIGURE,
    FirstMessage,
    ManagedNode,
    in_namespace,
    when_received,
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
from c3p_bringup.nodes import CHAIN, executable_of
from c3p_bringup.options import PATIENCE, known_latency
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# time between two attempts to configure, s
RETRY = 2.0

# last topic of the control chain: its publisher has received all the others
LAST_OF_CHAIN = 'wheel_effort'

ARGUMENTS = [
    DeclareLaunchArgument(
        'hardware', default_value='can', choices=('can', 'emulated'),
        description='Motor cards. can: drives and encoders of the robot on a CANopen bus. '
                    'emulated: the same node and frames, with emulated cards that move the '
                    'simulated robot sim.'),
    *bus_arguments(),
    DeclareLaunchArgument(
        'wait_for_cards', default_value='60.0',
        description='Time limit for retries of the configuration while cards do not respond, in '
                    's; afterwards the launch ends. 0: a single attempt.'),
    *chain_arguments(),
    DeclareLaunchArgument(
        'sim', default_value='analytic', choices=PLANTS,
        description='Simulated robot of the emulated cards, as in bringup.launch.py; not used '
                    'with hardware:=can.'),
    *start_arguments(),
    nav2_argument(),
    *record_arguments(),
    monitor_argument(),
]


def bring_up(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the processes and the reactions to their events."""
    hardware, sim, form = (LaunchConfiguration(name).perform(context)
                           for name in ('hardware', 'sim', 'nodes'))
    files, actions = node_parameters(context, hardware, sim)

    def process(executable: str, *options: str) -> LaunchDescriptionEntity:
        return suite_node(executable, *files, arguments=list(options),
                          on_exit=required(executable), **goal_options(context))

    cards = [process('emulated_cards_node')] if hardware == 'emulated' else []
    if form == 'one-process':
        first, then = [process('robot_nodes', '--hardware')], []
    else:
        first = [process('hardware_interface_node')]
        then = [process(executable_of(name)) for name in CHAIN]
    node = ManagedNode('hardware_interface')
    return [*actions, *order(context, node, then), *cards, *first, node.change(CONFIGURE)]


def node_parameters(context: LaunchContext, hardware: str, sim: str
                    ) -> tuple[list[object], list[LaunchDescriptionEntity]]:
    """Return the parameters of all nodes, and the actions that remove their files."""
    values = law_values(context)
    defaults: dict[str, dict[str, Any]] = {}
    for node, more in bus_values(context, hardware).items():
        values[node] = more
    # this file requests the transitions
    values['hardware_interface'] |= {'autostart': 'unconfigured'}
    cards = checked_cards(context)
    if hardware == 'emulated':
        defaults = {'hardware_interface': PATIENCE, 'emulated_cards': cards,
                    'velocity_controller': known_latency(
                        sim, hardware, LaunchConfiguration('controller').perform(context))}
        values['emulated_cards'] |= {'plant': sim, **start_values(context)}
    return layered(defaults, values)


def order(context: LaunchContext, node: ManagedNode, chain: list[LaunchDescriptionEntity]
          ) -> list[LaunchDescriptionEntity]:
    """
    Return the event handlers that lead from one step to the next.

    Once configured, the interface publishes joint states and the control chain starts. Its first
    efforts show that it is complete, and the interface is activated. The operator enables it.
    """
    limit, = numbers(context, 'wait_for_cards') or (0.0,)
    began = time.monotonic()
    name = in_namespace(context, node.name)

    def try_again(_: LaunchContext) -> list[LaunchDescriptionEntity]:
        waited = time.monotonic() - began
        if waited + RETRY > limit:
            raise RuntimeError(f'{name} could not be configured within {limit} s (wait_for_cards)'
                               ': see its log above; all other processes are stopped')
        return [TimerAction(period=RETRY, actions=[node.change(CONFIGURE)])]

    def not_active(_: LaunchContext) -> None:
        raise RuntimeError(f'{name} could not be activated, see its log above; all other '
                           'processes are stopped')

    return [
        node.when_refused(CONFIGURE, try_again),
        node.when('inactive', lambda _: [
            LogInfo(msg=f'{name} is configured and publishes joint_states; starting the control '
                        'chain'),
            *chain, FirstMessage(JointState, LAST_OF_CHAIN)]),
        when_received(LAST_OF_CHAIN, lambda _: [
            LogInfo(msg='the control chain publishes wheel_effort; activating'),
            node.change(ACTIVATE)]),
        node.when_refused(ACTIVATE, not_active),
        node.when('active', lambda _: [LogInfo(
            msg='the robot is up; nothing moves until the motors are enabled: ros2 service call '
                f"{name}/enable std_srvs/srv/SetBool '{{data: true}}'")])]


def generate_launch_description() -> LaunchDescription:
    """Return the launch arguments and actions."""
    return LaunchDescription([
        *common_arguments(), *ARGUMENTS, *rviz_arguments('false'),
        marker_argument(),
        # first the actions that may fail because a package is missing
        OpaqueFunction(function=rviz), state_publisher(needed=False), recorder(),
        monitor(),
        OpaqueFunction(function=markers), OpaqueFunction(function=bring_up)])
