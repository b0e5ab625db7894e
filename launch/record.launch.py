# SPDX-License-Identifier: Apache-2.0
"""
Record a robot to a bag with ``ros2 bag`` or with the node of the suite.

Arguments: ``ros2 launch c3p record.launch.py --show-args``, and docs/bags.md.
"""

import time

from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from c3p_bags.player.rosbag2 import absolute, record_command
from c3p_bags.storage.topics import read_topics_file
from c3p_bringup.launch_parts.actions import (
    chosen,
    common_arguments,
    not_negative,
    required,
    share,
    suite_node,
)
from c3p_bringup.launch_parts.bags import program, qos_argument, qos_file
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

ARGUMENTS = [
    DeclareLaunchArgument(
        'recorder', default_value='auto', choices=('auto', 'rosbag2', 'c3p'),
        description='rosbag2: ros2 bag record. c3p: recorder node of the suite, which also '
                    'records the parameters of the nodes. auto: rosbag2 if installed with MCAP, '
                    'but c3p for snapshots.'),
    DeclareLaunchArgument(
        'bag_path', default_value='',
        description='Directory of the new bag; must not exist. Empty: c3p_<date>-<time> in the '
                    'working directory.'),
    DeclareLaunchArgument(
        'topics_file', default_value=share('config', 'record_topics.yaml'),
        description='YAML file with the topics to record.'),
    qos_argument(),
    DeclareLaunchArgument(
        'snapshot_seconds', default_value='0',
        description='Flight recorder: keep the last N seconds in memory, and write them to '
                    'bag_path/snapshot_01, … when a node reports an error, or when '
                    'recorder/snapshot is called. rosbag2 supports only the call, and a size '
                    'instead of seconds. 0: continuous recording.'),
    DeclareLaunchArgument(
        'snapshot_after', default_value='5',
        description='Duration of a snapshot after its trigger, in s; rosbag2: none.'),
    DeclareLaunchArgument(
        'snapshot_megabytes', default_value='256',
        description='Maximum memory for a snapshot, in MiB.'),
    DeclareLaunchArgument(
        'compression', default_value='none', choices=('none', 'zstd'),
        description='Compression of the chunks in the MCAP file.'),
]


def record(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the selected recorder."""
    seconds, after, megabytes = (not_negative(context, f'snapshot_{name}')
                                 for name in ('seconds', 'after', 'megabytes'))
    # only the node of the suite triggers snapshots on errors
    if program(context, 'recorder', 'c3p' if seconds else 'rosbag2') == 'rosbag2':
        return with_rosbag2(context, int(megabytes * 2**20) if seconds else 0)
    text = {name: ParameterValue(LaunchConfiguration(argument), value_type=str)
            for name, argument in (('bag', 'bag_path'), ('topics_file', 'topics_file'),
                                   ('compression', 'compression'), ('robot', 'robot'))}
    return [suite_node('recorder_node', {
        **text, 'snapshot.seconds': seconds, 'snapshot.after': after,
        'snapshot.megabytes': int(megabytes)}, on_exit=required('recorder_node'))]


def with_rosbag2(context: LaunchContext, snapshot_bytes: int) -> list[LaunchDescriptionEntity]:
    """Return ``ros2 bag record`` with full names, because it does not support namespaces."""
    path, file, space, compression, level = (
        LaunchConfiguration(name).perform(context)
        for name in ('bag_path', 'topics_file', 'namespace', 'compression', 'log_level'))
    topics = read_topics_file(file)[0]
    profiles, tidy = qos_file(context, topics)
    command = record_command(
        path or time.strftime('c3p_%Y_%m_%d-%H_%M_%S'), [absolute(t, space) for t in topics],
        profiles, snapshot_bytes=snapshot_bytes, compression=compression,
        simulated_time=chosen(context, 'use_sim_time'), log_level=level)
    return [*tidy, ExecuteProcess(cmd=command, output='screen',
                                 on_exit=required('ros2 bag record'))]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*common_arguments(), *ARGUMENTS, OpaqueFunction(function=record)])
