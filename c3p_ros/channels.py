# SPDX-License-Identifier: Apache-2.0
"""
Topics and publishers of an exchange (exchange.py), and their messages in the middleware.

A message that was delivered in this process and published for others comes back from the
middleware to the subscription of this process. `Channel` keeps the bytes that may return and drops
each of them once. `Outlet` publishes what others need, in the order in which it was sent.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from c3p_ros.cdr import MessageError

if TYPE_CHECKING:
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription

    from c3p_ros.wire import Writer

# own messages whose copies may be under way; the queues of subscriptions are shorter
KEPT = 32

# after this time, s, a message that was left to the middleware counts as lost
PATIENCE = 0.2


class Listener(NamedTuple):
    """
    Callback of a node for a topic.

    Attributes
    ----------
    node : SuiteNode
    topic : str
        As the node names it.
    read : callable
        Returns the value of serialized bytes, or raises MessageError.
    callback : callable
        Gets the value.
    rank : int
        Of messages under way in a process, those of less rank are delivered first.
    """

    node: Any
    topic: str
    read: Callable[[bytes], Any]
    callback: Callable[[Any], None]
    rank: int = 1


@dataclass(slots=True, eq=False)
class Copy:
    """
    Message that was delivered and published, and whose copy from the middleware is expected.

    Attributes
    ----------
    data : bytes
    lost : float
        Time from which the copy counts as lost, s: PATIENCE after a later one has come.
    """

    data: bytes
    lost: float = math.inf


@dataclass(slots=True, eq=False)
class Parcel:
    """
    Message of a publisher of this process.

    Attributes
    ----------
    writer : Writer
        Serializes the message.
    value : ChainMessage
    delivered : list of Channel
        To whose listeners the value is delivered: they get no copy.
    left : bool
        A channel waits for it from the middleware.
    data : bytes
        Serialized, as soon as it is published.
    """

    writer: Writer
    value: Any
    delivered: list[Channel] = field(default_factory=list)
    left: bool = False
    data: bytes = b''


class Channel:
    """Listeners of one topic, of which the subscription of the first is read for all."""

    def __init__(self) -> None:
        """Start without listeners."""
        self.listeners: list[tuple[Listener, Subscription]] = []
        # delivered and published, with copies under way
        self._own: deque[Copy] = deque(maxlen=KEPT)
        # the last one that was left to the middleware until it has come, and its time, s
        self._left: Parcel | None = None
        self._since = 0.0

    def leave(self, parcel: Parcel) -> None:
        """Leave an own message to the middleware."""
        parcel.left = True
        self._left = parcel
        self._since = time.monotonic()

    def clear(self) -> bool:
        """Return whether a message may be delivered: none that is older is under way."""
        return self._left is None or time.monotonic() - self._since >= PATIENCE

    def expect(self, data: bytes) -> None:
        """Drop the copy of a message that is delivered and published."""
        self._own.append(Copy(data))

    def returned(self, data: bytes) -> bool:
        """
        Return whether a received message is the copy of one that was delivered already.

        Copies of one publisher come in order, so that those before it were lost. They are expected
        a little longer: a publisher of another process may have sent the same bytes.
        """
        left = self._left
        if left is not None and left.data == data:
            self._left = None
        if not self._own:
            return False
        now = time.monotonic()
        # a new list: another thread may publish meanwhile
        own = [copy for copy in self._own if now < copy.lost]
        known = [copy.data for copy in own]
        if data not in known:
            return False
        place = known.index(data)
        for earlier in islice(own, place):
            earlier.lost = min(earlier.lost, now + PATIENCE)
        own[place].lost = now
        while self._own and self._own[0].lost <= now:
            self._own.popleft()
        return True

    def refuse(self, error: MessageError) -> None:
        """Report a message that cannot be used in each node that listens."""
        for listener, _ in self.listeners:
            listener.node.diagnostics.refuse(listener.topic, error)


def subscribers(publisher: Publisher) -> float:
    """Return how many subscriptions `publisher` reaches, those of this process included."""
    try:
        return publisher.get_subscription_count()
    except RuntimeError:
        # of rclpy, for a context that was shut down or a node that has ended: `publish` reports it
        return math.inf


class Outlet:
    """
    Publisher of a node, and the messages that wait for it.

    Parameters
    ----------
    node : SuiteNode
        Publishes the bytes.
    publisher : Publisher

    Attributes
    ----------
    channels : list of Channel
        Of its topic, with listeners in this process.
    handed : deque of Parcel
        Sent by another thread and not yet delivered by the executor's; one at most.
    waiting : deque of Parcel
        To be published by `flush`, in the order in which they were sent.
    """

    def __init__(self, node: Any, publisher: Publisher) -> None:
        """Start without messages."""
        self.node = node
        self.publisher = publisher
        self.topic = publisher.topic_name
        self.channels: list[Channel] = []
        self.handed: deque[Parcel] = deque()
        self.waiting: deque[Parcel] = deque()
        self._gate = threading.Lock()

    def leave(self, parcel: Parcel) -> None:
        """Let a message wait for `flush`, and the channels of this process for its copy."""
        # they expect it before it can come
        for channel in self.channels:
            channel.leave(parcel)
        self.waiting.append(parcel)

    def flush(self) -> None:
        """
        Publish what waits, in its order; from any thread, without waiting for another one.

        A thread that comes while another one publishes leaves its message to that one.
        """
        while self.waiting and self._gate.acquire(blocking=False):
            try:
                while self.waiting:
                    self._publish(self.waiting.popleft())
            finally:
                self._gate.release()

    def release(self) -> None:
        """Publish all that waits, also what was handed over: nothing of it is lost."""
        while self.handed:
            self.leave(self.handed.popleft())
        self.flush()

    def _publish(self, parcel: Parcel) -> None:
        """Serialize and publish a message, unless all that subscribe to it have its value."""
        reached = 0
        for channel in parcel.delivered:
            reached += len(channel.listeners)
        if reached and not parcel.left and subscribers(self.publisher) <= reached:
            return
        data = parcel.data = parcel.writer.serialize(parcel.value)
        for channel in parcel.delivered:
            channel.expect(data)
        self.node.publish(self.publisher, data)
