# SPDX-License-Identifier: Apache-2.0
"""
Plays a bag through real topics, with the durability with which it was recorded.

What would move a robot is muted unless ``commands`` is true. ``~/pause`` (SetBool) stops and goes
on. The node ends with the bag.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool

from c3p_bags.player.playback import (
    CLOCK,
    Lateness,
    Pace,
    Window,
    commands,
    select,
    with_clock,
)
from c3p_bags.storage.bag_contents import connections_of
from c3p_bags.storage.bags import BagError, read_raw, topics_of
from c3p_bags.storage.topics import UNASKED, message_class, names_of
from c3p_ros.cdr import PublishError
from c3p_ros.finite import check_serialized
from c3p_ros.messages import ns_to_stamp
from c3p_ros.parameters import Parameters
from c3p_ros.schema import COMMON
from c3p_ros.session import run

SCHEMA = Path(__file__).with_name('player_parameters.yaml')

# messages that may wait for a slow subscriber: at ten times the speed two seconds' worth; and
# latched ones that a late subscriber gets, because several nodes publish /tf_static
DEPTH, LATCHED_DEPTH = 4000, 100

# how long the last messages may take to be acknowledged, s
LAST_WORDS = 2.0

# topics that many nodes publish side by side
SHARED = (*UNASKED, '/diagnostics')


class PlayerNode(Node):
    """
    Publishes the messages of a bag at their times, in a thread of its own.

    Parameters
    ----------
    at_end : callable, optional
        Called from that thread when everything has been played, or cannot be.
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    counts : Counter
        Messages published, by topic.
    withheld : Counter
        Commands with a number that is not finite, or that cannot be read; by topic.
    failure : str
        Why nothing is played any more; empty while all is well.
    done : bool
        Everything has been played, or cannot be.
    position : float
        Seconds of the recording since its first message that is played.
    """

    def __init__(self, at_end: Callable[[], None] = lambda: None, **options: Any) -> None:
        """Open the bag, create the publishers and begin."""
        super().__init__('player', **options)
        self._values = values = Parameters(self, COMMON, SCHEMA).value
        self.counts: Counter[str] = Counter()
        self.withheld: Counter[str] = Counter()
        self.failure, self.done, self.position = '', False, 0.0
        self.late = Lateness()
        self._at_end = at_end
        self._latched: set[str] = set()
        self._ticks = bool(values.clock)
        self._players: dict[str, Publisher] = {}
        self._create_publishers()
        self._pace, self._wake = Pace(values.rate), threading.Condition()
        self._stopped = False
        if values.start_paused:
            self._pace.pause(time.monotonic())
        self.create_service(SetBool, '~/pause', self._on_pause)
        self._thread = threading.Thread(target=self._run, name='player', daemon=True)
        self._thread.start()

    def _create_publishers(self) -> None:
        values, log = self._values, self.get_logger()
        if not values.bag:
            raise BagError("bag is '': must be the directory of a bag, or a .mcap or .db3 file")
        counts = {topic: count for topic, (_, count) in topics_of(values.bag).items()}
        connections = connections_of(values.bag)
        wanted = [topic for topic in values.topics if topic]
        played, muted = select(connections, wanted, values.commands)
        if muted:
            log.info(f'muted, because they would move a robot: {", ".join(muted)}; with '
                     'commands they are played')
        for topic in played:
            kind, latched = connections[topic]
            message = message_class(kind)
            if message is None:
                log.warning(f'{topic} is left out: {kind} is not installed')
            elif topic != CLOCK or values.clock:
                depth = min(max(counts[topic], 1), LATCHED_DEPTH) if latched else DEPTH
                self._players[topic] = self.create_publisher(message, topic, QoSProfile(
                    depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched
                    else DurabilityPolicy.VOLATILE))
                if latched:
                    self._latched.add(topic)
        if not self._players:
            raise BagError(f'bag {values.bag}: nothing is left to play of {sorted(connections)}')
        # the recorded clock is that of the stamps, whatever clock the recorder had
        self._ticks = bool(values.clock) and CLOCK not in self._players
        if self._ticks:
            self._players[CLOCK] = self.create_publisher(Clock, CLOCK, 10)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response
                  ) -> SetBool.Response:
        with self._wake:
            (self._pace.pause if request.data else self._pace.resume)(time.monotonic())
            self._wake.notify()
        response.success, response.message = True, 'paused' if request.data else 'playing'
        return response

    def _run(self) -> None:
        try:
            self._wait(time.monotonic() + self._values.delay)
            self._refuse_company()
            self._play()
            while self._values.loop and not self._stopped:
                self._play()
            end = time.monotonic() + LAST_WORDS
            for publisher in self._players.values() if not self._stopped else ():
                publisher.wait_for_all_acked(Duration(seconds=max(end - time.monotonic(), 0.0)))
        except (ValueError, OSError) as error:
            self.failure = f'{error}'
            self.get_logger().error(self.failure)
        finally:
            self.done = True
            self._at_end()

    def _refuse_company(self) -> None:
        """Refuse to speak in the place of a robot that runs."""
        if self._values.force:
            return
        others = {topic: [n for n in names_of(self.get_publishers_info_by_topic(p.topic_name))
                          if n != self.get_fully_qualified_name()]
                  for topic, p in self._players.items() if topic not in SHARED}
        if found := {topic: names for topic, names in others.items() if names}:
            raise BagError(f'others publish there already: {found}. Stop them, choose other '
                           'topics or another ROS_DOMAIN_ID, or play with force')

    def _wait(self, until: float) -> bool:
        """Wait until a time of the monotonic clock; return whether to go on."""
        with self._wake:
            while not self._stopped and (left := until - time.monotonic()) > 0.0:
                self._wake.wait(left)
        return not self._stopped

    def _wait_for(self, moment: int) -> float:
        """Wait until a moment of the recording [ns] is due; return how late it is, s."""
        with self._wake:
            while not self._stopped:
                if self._pace.paused:
                    self._wake.wait()
                    continue
                left = self._pace.due(moment) - time.monotonic()
                if left <= 0.0:
                    return -left
                self._wake.wait(left)
        return 0.0

    def _play(self) -> None:
        """Play the bag once."""
        values, begin = self._values, None
        window = Window(values.start_offset, values.duration).cut(
            read_raw(values.bag, [t for t in self._players if t != CLOCK or not self._ticks]),
            self._latched)
        for topic, moment, data in with_clock(window, values.clock if self._ticks else 0.0):
            if begin is None:
                begin = moment
                with self._wake:
                    self._pace.begin(moment, time.monotonic())
            late = self._wait_for(moment)
            if self._stopped:
                return
            self.late.add(late)
            self.position = (moment - begin) * 1e-9
            self._send(topic, bytes(data) if data else Clock(clock=ns_to_stamp(moment)))
        if begin is None:
            raise BagError(f'bag {values.bag}: no message from start_offset on')

    def _send(self, topic: str, message: Any) -> None:
        try:
            if commands(topic):
                check_serialized(topic, message, self._players[topic].msg_type)
        except PublishError as error:
            self.withheld[topic] += 1
            self.get_logger().error(f'{error} (not played)', throttle_duration_sec=1.0)
            return
        self._players[topic].publish(message)
        self.counts[topic] += 1

    def stop(self) -> None:
        """End the playing; harmless when it has ended."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._thread.join()

    def destroy_node(self) -> None:
        """End the playing and destroy the node."""
        self.stop()
        super().destroy_node()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until the end of the bag, Ctrl-C or SIGTERM."""
    nodes: list[PlayerNode] = []

    def player() -> PlayerNode:
        nodes.append(PlayerNode(rclpy.try_shutdown))
        return nodes[-1]

    code = run(player, args=args)
    return code or int(any(node.failure for node in nodes))


if __name__ == '__main__':
    sys.exit(main())
