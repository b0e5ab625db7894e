# SPDX-License-Identifier: Apache-2.0
"""
Publishes the messages of a bag on their topics, with the recorded durability.

Commands are muted unless the parameter ``commands`` is true. The service ``~/pause`` (SetBool)
pauses and resumes. The node ends with the bag.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool

from c3p_bags.player.play_thread import PlayThread
from c3p_bags.player.playback import (
    CLOCK,
    LeapFree,
    PlaybackWindow,
    commands,
    select,
    with_clock,
)
from c3p_bags.storage.bag import Bag, RawMessage
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.topics import COMMON_TOPICS, message_class
from c3p_ros.cdr import PublishError
from c3p_ros.endpoints import nodes_of
from c3p_ros.finite import check_serialized
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import ns_to_stamp
from c3p_ros.parameters import Parameters
from c3p_ros.schema import COMMON
from c3p_ros.session import run

SCHEMA = Path(__file__).with_name('player_parameters.yaml')

# queue for a slow subscriber, messages: two seconds at ten times the speed; and latched ones for a
# late subscriber, because several nodes publish /tf_static
DEPTH = 4000
LATCHED_DEPTH = 100

# timeout of the acknowledgement of the last messages, s
LAST_WORDS = 2.0

# leaps of the times of recording of which each is logged
MOST_LEAPS = 5

# topics that many nodes publish side by side
SHARED = (*COMMON_TOPICS, '/diagnostics')


class PlayerNode(WatchedNode):
    """
    Publishes the messages of a bag at their times.

    Parameters
    ----------
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    counts : Counter
        Messages published, by topic.
    withheld : Counter
        Commands with a number that is not finite, or that cannot be read; by topic.
    playback : PlayThread
    """

    def __init__(self, **options: Any) -> None:
        """Open the bag, create the publishers and begin."""
        super().__init__('player', **options)
        self._values = values = Parameters(self, COMMON, SCHEMA).value
        self.counts: Counter[str] = Counter()
        self.withheld: Counter[str] = Counter()
        self._latched: set[str] = set()
        self._ticks = False
        self._leap_free = LeapFree()
        self._leaps = 0
        self._publishers_of: dict[str, Publisher] = {}
        self._create_publishers()
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.playback = PlayThread(
            self._messages, self._send, self._refuse_company, self._finish, rate=values.rate,
            delay=values.delay, loop=values.loop, paused=values.start_paused)
        self.at_end(self.playback.stop)

    def _create_publishers(self) -> None:
        values = self._values
        log = self.get_logger()
        if not values.bag:
            raise BagError("bag is '': must be the directory of a bag, or a .mcap or .db3 file")
        with Bag(values.bag) as bag:
            topics = bag.topics
        wanted = [topic for topic in values.topics if topic]
        played, muted = select(topics, wanted, values.commands)
        if muted:
            log.info(f'muted because they command a robot: {", ".join(muted)}; the parameter '
                     'commands plays them')
        for topic in played:
            count = topics[topic].count
            latched = topics[topic].latched
            message = message_class(topics[topic].kind)
            if message is None:
                log.warning(f'{topic} is not played: {topics[topic].kind} is not installed')
            elif topic != CLOCK or values.clock:
                depth = min(max(count, 1), LATCHED_DEPTH) if latched else DEPTH
                self._publishers_of[topic] = self.create_publisher(message, topic, QoSProfile(
                    depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched
                    else DurabilityPolicy.VOLATILE))
                if latched:
                    self._latched.add(topic)
        if not self._publishers_of:
            raise BagError(f'bag {values.bag}: no playable topic in {sorted(topics)}')
        # the recorded clock is that of the stamps, whatever clock the recorder had
        self._ticks = bool(values.clock) and CLOCK not in self._publishers_of
        if self._ticks:
            self._publishers_of[CLOCK] = self.create_publisher(Clock, CLOCK, 10)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response
                  ) -> SetBool.Response:
        self.playback.pause(request.data)
        response.success, response.message = True, 'paused' if request.data else 'playing'
        return response

    def _refuse_company(self) -> None:
        """Refuse topics with another publisher, such as a running robot."""
        if self._values.force:
            return
        others = {topic: [n for n in nodes_of(self.get_publishers_info_by_topic(p.topic_name))
                          if n != self.get_fully_qualified_name()]
                  for topic, p in self._publishers_of.items() if topic not in SHARED}
        if found := {topic: names for topic, names in others.items() if names}:
            text = ', '.join(f'{topic} ({", ".join(names)})' for topic, names in found.items())
            raise BagError(f'topics with other publishers: {text}. Stop these nodes, choose '
                           'other topics or another ROS_DOMAIN_ID, or play with force')

    def _messages(self) -> Iterator[RawMessage]:
        values = self._values
        topics = [t for t in self._publishers_of if t != CLOCK or not self._ticks]
        # opened by the thread that reads: sqlite3 requires it
        with Bag(values.bag) as bag:
            window = PlaybackWindow(values.start_offset, values.duration).cut(
                self._leap_free.play(bag.raw(topics)), self._latched)
            yield from with_clock(window, values.clock if self._ticks else 0.0)

    def _send(self, message: RawMessage) -> None:
        topic, moment, data = message
        self._report_leaps()
        content = bytes(data) if data else Clock(
            clock=ns_to_stamp(moment + self._leap_free.shift))
        try:
            if commands(topic):
                check_serialized(topic, content, self._publishers_of[topic].msg_type)
        except PublishError as error:
            self.withheld[topic] += 1
            self.get_logger().error(f'{error} (not played)', throttle_duration_sec=1.0)
            return
        self._publishers_of[topic].publish(content)
        self.counts[topic] += 1

    def _report_leaps(self) -> None:
        """Log times of recording that leap, once each, up to `MOST_LEAPS`."""
        leaps = self._leap_free.leaps
        while self._leaps < len(leaps):
            if self._leaps < MOST_LEAPS:
                self.get_logger().warning(
                    f'the times of recording leap by {leaps[self._leaps] * 1e-9:+.3f} s: the '
                    'clock was set, or nothing was recorded. What follows is played at once; '
                    'stamps in the messages stay as recorded')
            self._leaps += 1

    def _finish(self, failure: str, stopped: bool) -> None:
        """Log a failure, or wait for the last acknowledgements unless stopped."""
        if failure:
            self.get_logger().error(failure)
        elif not stopped:
            end = time.monotonic() + LAST_WORDS
            for publisher in self._publishers_of.values():
                publisher.wait_for_all_acked(Duration(seconds=max(end - time.monotonic(), 0.0)))


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until the end of the bag, Ctrl-C or SIGTERM."""
    nodes: list[PlayerNode] = []

    def player() -> PlayerNode:
        nodes.append(PlayerNode())
        return nodes[-1]

    code = run(player, args=args, until=lambda: nodes[-1].playback.done)
    return code or int(any(node.playback.failure for node in nodes))


if __name__ == '__main__':
    sys.exit(main())
