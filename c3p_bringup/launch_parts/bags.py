# SPDX-License-Identifier: Apache-2.0
"""Parts of the launch files of bags: the recording program and QoS overrides for rosbag2."""

from __future__ import annotations

from collections.abc import Iterable

import yaml
from launch.actions import DeclareLaunchArgument

from c3p_bags.player.rosbag2 import PACKAGES, overrides
from c3p_bringup.launch_parts.actions import argument, missing, share, value, written
from launch import LaunchContext, LaunchDescriptionEntity


def qos_argument() -> DeclareLaunchArgument:
    """Return the argument ``qos_overrides``."""
    return argument(
        'qos_overrides', share('config', 'qos_overrides.yaml'),
        'Quality of service for rosbag2: avoids lost cycles and latches /tf_static and '
        'robot_description. Not used by the nodes of the suite.')


def program(context: LaunchContext, name: str, prefer: str = 'rosbag2') -> str:
    """
    Return ``rosbag2`` or ``c3p`` from the argument `name` that may be ``auto``.

    `prefer` is the meaning of auto if rosbag2 is installed. RuntimeError: rosbag2 is requested and
    not installed.
    """
    requested = value(context, name)
    problem = missing(*PACKAGES)
    if requested == 'auto':
        return 'c3p' if problem else prefer
    if requested == 'rosbag2' and problem:
        raise RuntimeError(f'{name}:=rosbag2, but {problem}; or launch with {name}:=c3p')
    return requested


def qos_file(context: LaunchContext, topics: Iterable[str]
             ) -> tuple[str, list[LaunchDescriptionEntity]]:
    """
    Return a file of overrides in the namespace of the launch, and the action that removes it.

    `topics` are as in a topics file: relative ones move into the namespace.
    """
    profiles = overrides(value(context, 'qos_overrides'), topics, value(context, 'namespace'))
    return written(yaml.safe_dump(dict(profiles)))
