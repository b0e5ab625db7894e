# SPDX-License-Identifier: Apache-2.0
"""``c3p play``: a bag on real topics."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    FAILED,
    SHOWN_EVERY,
    add_json,
    not_negative,
    positive,
    progress_bar,
    rows,
    show,
)


def add_play(commands: Any) -> None:
    """Add the command ``play`` to the subparsers `commands`."""
    command = commands.add_parser(
        'play',
        description='Publish the messages of a bag at their times, latched messages latched. '
                    'Commands that move a robot are muted. Unless ROS_AUTOMATIC_DISCOVERY_RANGE '
                    'is set, only nodes on this computer receive them.')
    command.add_argument('bag', type=Path, metavar='BAG',
                         help='directory of the bag, or a single .mcap or .db3 file')
    command.add_argument('--rate', type=positive, default=1.0, metavar='F',
                         help='recorded time per real time (default: %(default)s)')
    command.add_argument('--topics', nargs='+', default=[''], metavar='TOPIC',
                         help='full names of the topics to play (default: all)')
    command.add_argument('--commands', action='store_true',
                         help='also play the commands of a robot: cmd_vel, wheel_effort, …')
    command.add_argument('--clock', type=positive, nargs='?', const=100.0, default=0.0,
                         metavar='HZ',
                         help='publish /clock, HZ times per recorded second (without HZ: 100); '
                              'for nodes with use_sim_time')
    command.add_argument('--loop', action='store_true', help='restart at the end')
    command.add_argument('--start-offset', type=not_negative, default=0.0, metavar='S',
                         help='start S seconds after the first message; earlier latched messages '
                              'are played (default: %(default)s)')
    command.add_argument('--duration', type=not_negative, default=0.0, metavar='S',
                         help='recorded time to play; 0 is all (default: %(default)s)')
    command.add_argument('--delay', type=not_negative, default=1.0, metavar='S',
                         help='delay of the first message, for the discovery of subscribers '
                              '(default: %(default)s)')
    command.add_argument('--start-paused', action='store_true',
                         help='wait for `ros2 service call /player/pause std_srvs/srv/SetBool '
                              '"{data: false}"`')
    command.add_argument('--remap', nargs='+', default=[], metavar='FROM:=TO',
                         help='play a topic under another name')
    command.add_argument('--force', action='store_true',
                         help='also play on topics that another node publishes')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported here: other commands run without ROS 2
    from c3p_bags.player.player_node import PlayerNode
    from c3p_bringup.near import stay_near
    from c3p_ros.executor import steady_process
    from c3p_ros.session import Session

    # a recorded robot must not act as the real one on the laboratory's network
    if warning := stay_near():
        print(f'c3p play: {warning}', file=sys.stderr)
    values = {name: getattr(arguments, name) for name in (
        'rate', 'topics', 'commands', 'clock', 'loop', 'start_offset', 'duration', 'delay',
        'start_paused', 'force')}
    remappings = [part for rule in arguments.remap for part in ('-r', rule)]
    with Session(['--ros-args', *remappings]) as session, progress_bar(
            unit=' s', bar_format='{n:.1f} s of the recording, {elapsed} passed') as bar:
        player = session.add(PlayerNode, {'bag': str(arguments.bag), **values})
        steady_process()
        try:
            while not player.playback.done:
                session.until(lambda: player.playback.done, period=SHOWN_EVERY)
                bar.update(player.playback.position - bar.n)
        except KeyboardInterrupt:
            player.playback.stop()
        failure = player.playback.failure
        shown = metrics(player)
    show(shown, arguments.json, _summary(shown))
    if failure:
        print(f'c3p play: {failure}', file=sys.stderr)
    return FAILED if failure else 0


def metrics(player: Any) -> dict[str, Any]:
    """Return the content of ``--json``, SI units."""
    playback = player.playback
    return {'played_s': playback.position, 'messages': sum(player.counts.values()),
            'late_s': dict(playback.late.quantiles()),
            'topics': dict(sorted(player.counts.items()))}


def _summary(shown: dict[str, Any]) -> str:
    late = shown['late_s']
    lines = [('recording played', f'{shown["played_s"]:.2f} s'),
             ('messages', shown['messages']),
             ('late, p50 / p99 / max', ' / '.join(
                 f'{1e3 * late[k]:.2f}' for k in ('p50', 'p99', 'max')) + ' ms'
              if late else '-'), *shown['topics'].items()]
    return rows(lines)
