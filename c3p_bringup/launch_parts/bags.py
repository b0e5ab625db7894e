# SPDX-License-Identifier: Apache-2.0
"""Parts of the launch files of bags: the recording program and QoS overrides for rosbag2."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from typing import Any

from launch.actions import DeclareLaunchArgument, RegisterEventHandler
from launch.event_handlers import OnShutdown
from launch.substitutions import LaunchConfiguration

from c3p_bags.player.rosbag2 import PACKAGES, overrides, write_overrides
from c3p_bringup.launch_parts.actions import missing, numbers, share
from launch import LaunchContext, LaunchDescriptionEntity


def qos_argument() -> DeclareLaunchArgument:
    """Return the argument ``qos_overrides``."""
    return DeclareLaunchArgument(
        'qos_overrides', default_value=share('config', 'qos_overrides.yaml'),
        description='Quality of service for rosbag2: avoids lost cycles and latches /tf_static '
                    'and robot_description. Not used by the nodes of the suite.')


def not_negative(context: LaunchContext, argument: str) -> float:
    """
    Return the number, 0 or more, of an argument.

    Raises
    ------
    ValueError
        With name and text.
    """
    found = numbers(context, argument)
    if len(found) != 1 or not found[0] >= 0.0:
        raise ValueError(f'{argument}:={LaunchConfiguration(argument).perform(context)}: must be '
                         'a number of 0 or more')
    return found[0]


def program(context: LaunchContext, argument: str, prefer: str = 'rosbag2') -> str:
    """
    Return ``rosbag2`` or ``c3p`` from an argument that may be ``auto``.

    Parameters
    ----------
    context : LaunchContext
    argument : str
    prefer : str
        Meaning of auto if rosbag2 is installed.

    Raises
    ------
    RuntimeError
        rosbag2 is requested and not installed.
    """
    value, problem = LaunchConfiguration(argument).perform(context), missing(*PACKAGES)
    if value == 'auto':
        return 'c3p' if problem else prefer
    if value == 'rosbag2' and problem:
        raise RuntimeError(f'{argument}:=rosbag2, but {problem}; or launch with {argument}:=c3p')
    return value


def qos_file(context: LaunchContext, topics: Iterable[str]
             ) -> tuple[str, LaunchDescriptionEntity]:
    """
    Return a file of overrides in the namespace of the launch, and the action that removes it.

    Parameters
    ----------
    context : LaunchContext
    topics : iterable of str
        As in a topics file: relative ones move into the namespace.
    """
    values = [LaunchConfiguration(name).perform(context) for name in ('qos_overrides',
                                                                      'namespace')]
    profiles = overrides(values[0], topics, values[1])
    handle, path = tempfile.mkstemp(prefix='c3p_launch_qos_', suffix='.yaml')
    os.close(handle)
    write_overrides(path, profiles)

    def remove(*_: Any) -> None:
        if os.path.exists(path):
            os.remove(path)
    return path, RegisterEventHandler(OnShutdown(on_shutdown=remove))
