# SPDX-License-Identifier: Apache-2.0
"""
Play a bag with its clock and optionally RViz; commands are muted.

Arguments: ``ros2 launch c3p playback.launch.py --show-args``, and docs/bags.md.
"""

from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from c3p_bags.player.rosbag2 import PlaybackOptions, play_command
from c3p_bags.storage.topics import read_topics_file
from c3p_bringup.launch_parts.actions import (
    BOOLEAN,
    chosen,
    marker_argument,
    markers,
    not_negative,
    required,
    robot_arguments,
    rviz,
    rviz_arguments,
    suite_node,
)
from c3p_bringup.launch_parts.bags import program, qos_argument, qos_file
from c3p_description.reading.files import share_file
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

# ticks of /clock in each recorded second
CLOCK_RATE = 100.0

ARGUMENTS = [
    DeclareLaunchArgument(
        'bag', default_value='',
        description='Directory of the bag, or a single .mcap or .db3 file. Must be given.'),
    *robot_arguments(note=' of the recording, for the markers'),
    DeclareLaunchArgument(
        'player', default_value='auto', choices=('auto', 'rosbag2', 'c3p'),
        description='rosbag2: ros2 bag play. c3p: player node of the suite. auto: rosbag2 if '
                    'installed with MCAP.'),
    DeclareLaunchArgument(
        'use_sim_time', default_value='true', choices=BOOLEAN,
        description='Publish the recorded time on /clock and use it in RViz. Other nodes that '
                    'process the data need use_sim_time as well.'),
    DeclareLaunchArgument(
        'namespace', default_value='',
        description='Namespace of the recorded robot and of the /tf shown in RViz. Empty: none.'),
    DeclareLaunchArgument(
        'log_level', default_value='info', choices=('debug', 'info', 'warn', 'error', 'fatal'),
        description='Minimum severity of log messages.'),
    DeclareLaunchArgument(
        'rate', default_value='1.0', description='Playback rate: recorded time per real time.'),
    DeclareLaunchArgument(
        'topics', default_value='',
        description='Topics to play: full names, separated by blanks. Empty: all.'),
    DeclareLaunchArgument(
        'commands', default_value='false', choices=BOOLEAN,
        description='Also play topics that move a robot: cmd_vel, goal_pose, wheel_effort, '
                    'reference_… and similar. Do not use with a real robot on the network.'),
    DeclareLaunchArgument(
        'loop', default_value='false', choices=BOOLEAN, description='Repeat the bag.'),
    DeclareLaunchArgument(
        'start_offset', default_value='0',
        description='Start time after the first message, in s. rosbag2 does not play earlier '
                    'latched messages, such as /tf_static; the node of the suite does.'),
    DeclareLaunchArgument(
        'start_paused', default_value='false', choices=BOOLEAN,
        description='Wait for the service player/pause (std_srvs/SetBool, data: false), with '
                    'rosbag2 for /rosbag2_player/resume.'),
    qos_argument(),
]


def play(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the player that was chosen."""
    bag = LaunchConfiguration('bag').perform(context)
    if not bag:
        raise ValueError('which bag? Add bag:=DIRECTORY')
    rate, offset = (not_negative(context, name) for name in ('rate', 'start_offset'))
    flags = {name: chosen(context, name) for name in ('loop', 'start_paused')}
    topics = LaunchConfiguration('topics').perform(context).split()
    clock = CLOCK_RATE if chosen(context, 'use_sim_time') else 0.0
    if program(context, 'player') == 'c3p':
        return [suite_node('player_node', {
            'bag': ParameterValue(bag, value_type=str), 'rate': rate, 'start_offset': offset,
            'topics': topics or [''], 'clock': clock, 'commands': chosen(context, 'commands'),
            **flags}, on_exit=ended)]
    known = read_topics_file(share_file('config/record_topics.yaml'))[0]
    profiles, tidy = qos_file(context, known)
    command, muted = play_command(bag, profiles, PlaybackOptions(
        rate=rate, topics=topics, with_commands=chosen(context, 'commands'), clock=clock,
        start_offset=offset, **flags,
        log_level=LaunchConfiguration('log_level').perform(context)))
    told = [LogInfo(msg=f'muted because they command a robot: {", ".join(muted)}; '
                        'commands:=true plays them')] if muted else []
    return [*told, *tidy, ExecuteProcess(cmd=command, output='screen', on_exit=ended)]


def ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
    """End the launch with the bag; RViz stays, so that its last picture can be looked at."""
    if event.returncode != 0:
        return required('the player')(event, context)
    if not context.is_shutdown and not chosen(context, 'rviz'):
        return [Shutdown(reason='the bag has been played')]
    return None


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([
        *ARGUMENTS, *rviz_arguments('false'), marker_argument(),
        # first what can fail for lack of a package, so that nothing is started in vain
        OpaqueFunction(function=rviz), OpaqueFunction(function=markers),
        OpaqueFunction(function=play)])
