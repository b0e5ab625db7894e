# SPDX-License-Identifier: Apache-2.0
"""``c3p record``: the suite's topics to a bag, continuously or around faults."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    MISSED,
    SHOWN_EVERY,
    add_json,
    add_robot,
    count,
    make_places,
    not_negative,
    positive,
    progress_bar,
    rows,
    show,
)


def add_record(commands: Any) -> None:
    """Add the command ``record`` to the subparsers `commands`."""
    command = commands.add_parser(
        'record',
        description="Record the topics of config/record_topics.yaml, with the nodes' parameters, "
                    'until Ctrl-C, for ros2 bag, rosbags and Foxglove. Exit code 1 if the disk '
                    'or another fault ended the recording.')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='the new bag; must not exist (default: c3p_<date>-<time>)')
    command.add_argument('--duration', type=positive, metavar='S',
                         help='duration (default: until Ctrl-C)')
    command.add_argument('--snapshot', type=positive, default=0.0, metavar='S',
                         help='flight recorder: keep the last S seconds in memory, and write them '
                              'to DIR/snapshot_01, … on an error of a node or a call of '
                              'recorder/snapshot (Trigger)')
    command.add_argument('--after', type=not_negative, default=5.0, metavar='S',
                         help='duration of a snapshot after its trigger (default: %(default)s)')
    command.add_argument('--memory', type=count, default=256, metavar='MIB',
                         help='memory limit of a snapshot (default: %(default)s)')
    command.add_argument('--topics-file', type=Path, metavar='FILE',
                         help='YAML file with the topics, as config/record_topics.yaml')
    add_robot(command, note='; for the frames that no node publishes')
    command.add_argument('--namespace', default='', metavar='NAME', help='namespace of the robot')
    command.add_argument('--compression', choices=['none', 'zstd'], default='none',
                         help='compression of the file (default: %(default)s)')
    command.add_argument('--use-sim-time', action='store_true',
                         help='record with the time of /clock')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported here: other commands run without ROS 2
    from c3p_bags.recorder.recorder_node import RecorderNode
    from c3p_description.reading.loader import describe
    from c3p_ros.executor import steady_process
    from c3p_ros.session import Session

    make_places(Path() if arguments.out is None else arguments.out.parent, arguments.json)
    # the recorder itself goes on without a description
    describe(arguments.robot)
    values = {
        'robot': arguments.robot, 'bag': str(arguments.out or ''),
        'topics_file': str(arguments.topics_file or ''), 'compression': arguments.compression,
        'use_sim_time': arguments.use_sim_time, 'snapshot.seconds': arguments.snapshot,
        'snapshot.after': arguments.after, 'snapshot.megabytes': arguments.memory}
    with Session(namespace=arguments.namespace) as session, progress_bar(
            unit=' messages') as bar:
        node = session.add(RecorderNode, values)
        steady_process()
        writer = node.writer
        assert writer is not None
        end = time.monotonic() + arguments.duration if arguments.duration else None
        try:
            while node.writer is not None and (end is None or time.monotonic() < end):
                session.wait(SHOWN_EVERY if end is None
                             else min(SHOWN_EVERY, max(end - time.monotonic(), 0.0)))
                bar.update(sum(writer.counts.values()) - bar.n)
        except KeyboardInterrupt:
            pass
        failed = node.writer is None
    # the node has closed the bag
    shown = metrics(writer)
    show(shown, arguments.json, _summary(shown))
    if failed:
        print('c3p record: ended early; the reason is in the log above', file=sys.stderr)
    elif not any(topic.endswith('/joint_states') for topic in writer.counts):
        print('c3p record: no joint_states received; check ROS_DOMAIN_ID and the namespace of '
              'the robot', file=sys.stderr)
    return MISSED if failed else 0


def metrics(writer: Any) -> dict[str, Any]:
    """Return what ``--json`` writes."""
    snapshots = getattr(writer, 'snapshots', None)
    return {'bag': str(writer.path), 'messages': sum(writer.counts.values()),
            'topics': dict(sorted(writer.counts.items())),
            **({} if snapshots is None else {'snapshots': [str(path) for path in snapshots]})}


def _summary(shown: dict[str, Any]) -> str:
    lines = [('bag', shown['bag']), ('messages', shown['messages'])]
    if 'snapshots' in shown:
        lines.append(('snapshots', ', '.join(Path(s).name for s in shown['snapshots']) or 'none'))
    return rows([*lines, *shown['topics'].items()], 40)
