# SPDX-License-Identifier: Apache-2.0
"""Parts of the launch files of a robot: arguments, parameters and recorder."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile

from c3p_bringup.choices import AUTO_LAW, law_names
from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    FRAME_TOPICS,
    argument,
    chosen,
    numbers,
    optional,
    parameter_file,
    share,
    suite_node,
    text_of,
    value,
)
from c3p_bringup.options import check_cards
from c3p_hardware.emulator.parameters import expected_cards
from launch import LaunchContext, LaunchDescriptionEntity

# Nav2's navigator listens to goal_pose, and has an action of the same name
OWN_GOALS = [('goal_pose', 'position_controller/goal_pose')]


def bus_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of the bus of the motor cards."""
    return [
        argument('can_interface', '', 'python-can interface of hardware:=can, such as socketcan '
                 'or slcan. Empty: as in params_file, default socketcan.'),
        argument('can_channel', '', 'Channel of the CAN interface. Empty: as in params_file, '
                 'default can0.')]


def chain_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of the control chain."""
    return [
        argument('controller', '', 'Law of both controllers. paper: cascade of the papers. '
                 'mpc: predictive control. modules: of swerve modules and fixed wheels. Or a law '
                 'of an installed package. auto: by the robot. Empty: as in params_file, default '
                 'auto.',
                 ('', AUTO_LAW, *law_names())),
        argument('nodes', 'one-process', 'All nodes of the chain and the simulated robot in one '
                 'process (lowest latency), or in separate processes.',
                 ('one-process', 'processes')),
        argument('params_file', share('config', 'c3p.yaml'), 'Parameters of the nodes. robot, '
                 'use_sim_time, controller and the start of the simulated robot are overridden '
                 'by the arguments of the same names.')]


def nav2_argument() -> DeclareLaunchArgument:
    """Return the argument of the integration with Nav2."""
    return argument('nav2', 'false', 'Reserve goal_pose and the action navigate_to_pose for Nav2 '
                    '(nav2.launch.py); the position controller subscribes to '
                    'position_controller/goal_pose.', BOOLEAN)


def start_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of the initial state of a simulated robot."""
    return [
        argument('start_pose', '', 'Start pose of the simulated robot: [x, y, yaw] in m and rad. '
                 'Empty: as in params_file.'),
        argument('start_steering', '', 'Start steering angles of the simulated robot: one for '
                 'all, or a list with one per caster, in rad. Empty: as in params_file.')]


def record_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of `recorder`."""
    return [
        argument('record', 'false', 'Record the topics of config/record_topics.yaml to a bag.',
                 BOOLEAN),
        argument('bag_path', '', 'Directory of the new bag; must not exist. Empty: '
                 'c3p_<date>-<time> in the working directory.')]


def recorder() -> Node:
    """Return the recorder, which runs with ``record:=true``."""
    return suite_node(
        'recorder_node', *parameters(), {'bag': text_of('bag_path')},
        on_exit=optional('recorder_node'), condition=IfCondition(LaunchConfiguration('record')))


def monitor_argument() -> DeclareLaunchArgument:
    """Return the argument of `monitor`."""
    return argument(
        'safety_monitor', 'false', 'Start the safety monitor, which compares the running robot '
        'with the promises of docs/safety.md and reports a broken one in the diagnostics.',
        BOOLEAN)


def monitor() -> Node:
    """Return the safety monitor, which runs with ``safety_monitor:=true``."""
    return suite_node(
        'safety_monitor_node', *parameters(), on_exit=optional('safety_monitor_node'),
        condition=IfCondition(LaunchConfiguration('safety_monitor')))


def parameters() -> list[object]:
    """Return the parameters of every node of the suite: the file, then the robot."""
    return [ParameterFile(LaunchConfiguration('params_file')), {'robot': text_of('robot')}]


def law_values(context: LaunchContext) -> dict[str, dict[str, Any]]:
    """Return the parameters of both controllers from ``controller`` and ``nav2``."""
    law = value(context, 'controller')
    same = {'controller': law} if law else {}
    return {'velocity_controller': same, 'position_controller': {
        **same, **({'navigate_action': ''} if chosen(context, 'nav2') else {})}}


def goal_options(context: LaunchContext) -> dict[str, Any]:
    """Return the options of a process that holds the position controller."""
    return {'remappings': [*FRAME_TOPICS, *(OWN_GOALS if chosen(context, 'nav2') else [])]}


def start_values(context: LaunchContext) -> dict[str, list[float]]:
    """Return the given parts of the initial state of a simulated robot."""
    start = {name: numbers(context, name) for name in ('start_pose', 'start_steering')}
    return {name: given for name, given in start.items() if given}


def checked_cards(context: LaunchContext) -> dict[str, list[Any]]:
    """
    Return the parameters of emulated cards that the hardware interface expects.

    Raises
    ------
    ValueError
        The motor cards of the parameter file do not fit the robot; no process has started.
    """
    files = [Path(value(context, 'params_file'))]
    check_cards(value(context, 'robot'), files)
    return expected_cards(files)


def bus_values(context: LaunchContext, hardware: str) -> dict[str, dict[str, object]]:
    """Return the bus parameters of the hardware interface and of emulated cards."""
    if hardware == 'emulated':
        # a link that the emulated cards create and remove
        channel = str(Path(tempfile.gettempdir()) / f'c3p_can_{uuid.uuid4().hex}')
        return {'hardware_interface': {'bus.interface': 'serial', 'bus.channel': channel},
                'emulated_cards': {'bus.channel': channel}}
    given = {f'bus.{name}': value(context, f'can_{name}') for name in ('interface', 'channel')}
    return {'hardware_interface': {name: text for name, text in given.items() if text}}


def layered(defaults: Mapping[str, Mapping[str, object]],
            values: Mapping[str, Mapping[str, object]]
            ) -> tuple[list[object], list[LaunchDescriptionEntity]]:
    """
    Return all parameters in order, and the actions that remove their files.

    By node: `defaults`, over which the user's file takes precedence, and `values`, which take
    precedence over it.
    """
    before, tidy_before = parameter_file(defaults)
    after, tidy_after = parameter_file(values)
    return [*before, *parameters(), *after], [*tidy_before, *tidy_after]
