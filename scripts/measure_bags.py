#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Count published, recorded and played messages: the measurements of docs/bags.md.

A simulated robot drives to a goal in one process and logs every published message;
``c3p record`` records it in another one. The recorded messages are compared with the published
ones, byte for byte and in order. Then ``c3p play`` plays the bag, and the received messages are
compared with the bag. ``c3p recompute`` recomputes the odometry. Run from the root of
the repository: ``python scripts/measure_bags.py [SECONDS]``.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# longer than the recording: starting and stopping, s
MARGIN = 25.0

TICKS = os.sysconf('SC_CLK_TCK')

STARTED: list[subprocess.Popen[str]] = []


def mark(data: bytes) -> int:
    """Return a hash of a message, without the padding at its end."""
    return zlib.crc32(data.rstrip(b'\0'))


def robot(place: str) -> int:
    """Run the chain and the simulated robot; finally write the published messages to a file."""
    from rclpy.publisher import Publisher

    from c3p_bringup.robot_nodes import main

    published: dict[str, list[int]] = defaultdict(list)
    publish = Publisher.publish

    def noting(self: Publisher, message: Any) -> None:
        if isinstance(message, bytes):
            published[self.topic_name].append(mark(message))
        publish(self, message)

    Publisher.publish = noting
    code = main(['robot_nodes', '--sim'])
    Path(place).write_text(json.dumps(published), encoding='utf-8')
    return code


def processor_time(pid: int) -> float:
    """Return the processor time that a process has used, s."""
    fields = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def start(*words: str, **options: Any) -> subprocess.Popen[str]:
    """Start Python in a separate process."""
    STARTED.append(subprocess.Popen([sys.executable, *words], text=True, start_new_session=True,
                                    **options))
    return STARTED[-1]


def end(process: subprocess.Popen[str]) -> None:
    """End a process as Ctrl-C does."""
    process.send_signal(signal.SIGINT)
    process.wait(20.0)


def end_all() -> None:
    """End all remaining processes after an error."""
    for process in STARTED:
        if process.poll() is None:
            process.kill()


@contextmanager
def graph() -> Iterator[Any]:
    """Yield a ROS 2 node of this process."""
    import rclpy

    rclpy.init()
    node = rclpy.create_node('measure_bags')
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def record(place: Path, seconds: float) -> dict[str, Any]:
    """Record a driving robot; return the processor time and the lost messages."""
    from geometry_msgs.msg import PoseStamped

    from c3p_bags.storage.bag import Bag

    bag, notes = place / 'bag', place / 'published.json'
    moving = start(__file__, 'robot', str(notes), stderr=subprocess.DEVNULL)
    # its kernels compile at the first start
    time.sleep(MARGIN / 2)
    recorder = start('-m', 'c3p_bringup', 'record', '--out', str(bag), '--duration',
                     str(seconds), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(bag.glob('*.mcap')):
        if moving.poll() is not None:
            raise RuntimeError(f'the robot has ended, exit code {moving.returncode}')
        time.sleep(0.1)
    time.sleep(2.0)
    before, begin = processor_time(recorder.pid), time.monotonic()
    robot_before = processor_time(moving.pid)
    with graph() as node:
        publisher = node.create_publisher(PoseStamped, 'goal_pose', 1)
        # the recorder and the position controller
        while publisher.get_subscription_count() < 2:
            time.sleep(0.1)
        goal = PoseStamped()
        goal.header.frame_id, goal.header.stamp = 'odom', node.get_clock().now().to_msg()
        goal.pose.position.x, goal.pose.orientation.w = 3.0, 1.0
        # again, for nodes that were not found yet
        for _ in range(3):
            publisher.publish(goal)
            time.sleep(1.0)
        time.sleep(seconds - 9.0)
    passed = time.monotonic() - begin
    cost = (processor_time(recorder.pid) - before) / passed
    robot_cost = (processor_time(moving.pid) - robot_before) / passed
    recorder.wait(30.0)
    end(moving)
    published = json.loads(notes.read_text(encoding='utf-8'))
    found: dict[str, list[int]] = defaultdict(list)
    with Bag(bag) as opened:
        for topic, _, data in opened.raw(list(published)):
            found[topic].append(mark(data))
    rows = {}
    for topic, marks in sorted(found.items()):
        sent = published[topic]
        first = sent.index(marks[0])
        last = len(sent) - 1 - sent[::-1].index(marks[-1])
        rows[topic] = {'published': last + 1 - first, 'recorded': len(marks),
                       'lost_after_s': [round((k - first) / 200.0, 3) for k in range(
                           first, last + 1) if sent[k] not in set(marks)][:10]}
    return {'seconds': seconds, 'recorder_cpu': cost, 'robot_cpu': robot_cost, 'topics': rows,
            'bytes': sum(f.stat().st_size for f in bag.glob('*.mcap'))}


def play(bag: Path, rate: float) -> dict[str, Any]:
    """Play a bag and compare the received messages with it."""
    from rclpy.qos import DurabilityPolicy, QoSProfile

    from c3p_bags.player.playback import select
    from c3p_bags.storage.bag import Bag
    from c3p_bags.storage.topics import message_class
    from c3p_ros.executor import make_executor, spin

    with Bag(bag) as opened:
        connections = opened.topics
        written: dict[str, list[int]] = defaultdict(list)
        for topic, _, data in opened.raw():
            written[topic].append(mark(data))
    heard: dict[str, list[int]] = defaultdict(list)
    shown = bag.parent / f'play_{rate:g}.json'
    with graph() as node:
        executor = make_executor()
        executor.add_node(node)
        topics = [t for t in select(connections).played
                  if t not in ('/rosout', '/clock') and message_class(connections[t].kind)]
        for topic in topics:
            kind, _, latched = connections[topic]
            node.create_subscription(
                message_class(kind), topic,
                lambda data, topic=topic: heard[topic].append(mark(data)),
                QoSProfile(depth=10_000, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched
                           else DurabilityPolicy.VOLATILE), raw=True)
        player = start('-m', 'c3p_bringup', 'play', str(bag), '--rate', str(rate), '--delay',
                       '3', '--json', str(shown), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        spin(executor, lambda: player.poll() is not None)
        before = -1
        # what has arrived is worked off
        while before != (before := sum(map(len, heard.values()))):
            quiet = time.monotonic() + 2.0
            spin(executor, lambda quiet=quiet: time.monotonic() > quiet)
        executor.shutdown()
    told = json.loads(shown.read_text(encoding='utf-8'))
    return {'rate': rate, 'messages': sum(len(written[t]) for t in topics),
            'arrived': sum(map(len, heard.values())),
            'not_in_order_or_equal': [t for t in topics if heard[t] != written[t]],
            'late_s': told['late_s']}


def main() -> int:
    """Measure and print."""
    from c3p_bringup.cli.main import main as c3p

    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    with tempfile.TemporaryDirectory(prefix='c3p_bags_') as folder:
        atexit.register(end_all)
        place = Path(folder)
        print(json.dumps(record(place, seconds), indent=2))
        c3p(['recompute', str(place / 'bag')])
        for rate in (1.0, 10.0):
            print(json.dumps(play(place / 'bag', rate), indent=2))
    return 0


if __name__ == '__main__':
    raise SystemExit(robot(sys.argv[2]) if sys.argv[1:2] == ['robot'] else main())
