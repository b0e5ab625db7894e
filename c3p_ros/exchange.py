# SPDX-License-Identifier: Apache-2.0
"""
Delivery of messages of the control chain between the nodes of one process.

With several nodes in one executor the middleware would deliver a copy of each message to each of
them, through one turn of the executor and one decoding each. Here one subscription of a topic is
read for all nodes of the process, and a message that a node publishes while it processes another
one reaches the others at once, in the order of their ranks. If others subscribe to it (processes,
recorders and viewers), it is also published (rclcpp does the same), and its copy from the
middleware is dropped. A topic passes once in a turn: in lockstep, where an effort causes the next
joint states, these come by the middleware, and timers have their turn. A message of another thread
such as that of the hardware, is handed to the executor's: to wake it takes half the time of a way
through the middleware. What can wait, such as a publication for others, is done after the turn
(`afterwards`): it does not delay the torque.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from c3p_ros.cdr import MessageError

if TYPE_CHECKING:
    from rclpy.executors import Executor
    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription

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
        Decodes a message, or raises MessageError.
    callback : callable
        Gets what `read` returns.
    rank : int
        Of messages under way in a process, those of less rank are delivered first.
    """

    node: Any
    topic: str
    read: Callable[[bytes], Any]
    callback: Callable[[Any], None]
    rank: int = 1

    def take(self, data: bytes, decoded: list[Any]) -> None:
        """Pass a message to the callback, decoded unless `decoded` has it; refuse a bad one."""
        if not decoded:
            try:
                decoded.append(self.read(data))
            except MessageError as error:
                self.node.diagnostics.refuse(self.topic, error)
                return
        self.callback(decoded[0])


class Copy:
    """
    Message that was delivered and published, and whose copy from the middleware is expected.

    Attributes
    ----------
    data : bytes
    lost : float
        Time from which the copy counts as lost, s: PATIENCE after a later one has come.
    """

    __slots__ = ('data', 'lost')

    def __init__(self, data: bytes) -> None:
        """Start before any later copy."""
        self.data, self.lost = data, math.inf


class Channel:
    """Listeners of one topic, of which the subscription of the first is read for all."""

    def __init__(self) -> None:
        """Start without listeners."""
        self.listeners: list[tuple[Listener, Subscription]] = []
        # delivered and published, with copies under way
        self._own: deque[Copy] = deque(maxlen=KEPT)
        # the last one that was left to the middleware until it has come, and its time, s
        self._left: bytes | None = None
        self._since = 0.0

    def leave(self, data: bytes) -> None:
        """Leave an own message to the middleware."""
        self._left, self._since = data, time.monotonic()

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
        if data == self._left:
            self._left = None
        own = self._own
        now = time.monotonic()
        place = next((k for k, copy in enumerate(own) if copy.data == data and now < copy.lost),
                     None)
        if place is None:
            return False
        for earlier in islice(own, place):
            earlier.lost = min(earlier.lost, now + PATIENCE)
        del own[place]
        while own and own[0].lost <= now:
            own.popleft()
        return True


class Parcel:
    """
    Message that is delivered in this process, and published after that if others subscribe.

    Parameters
    ----------
    data : bytes
    publish : callable
    """

    def __init__(self, data: bytes, publish: Callable[[], object]) -> None:
        """Start unpublished."""
        self.data = data
        # one thread gets it
        self._publish = deque([publish])

    def release(self) -> None:
        """Publish the message; without effect the second time, and once withdrawn."""
        try:
            publish = self._publish.popleft()
        except IndexError:
            return
        publish()

    def withdraw(self) -> bool:
        """Return whether the message was not published; it will not be any more."""
        try:
            self._publish.popleft()
        except IndexError:
            return False
        return True


def subscribers(publisher: Publisher) -> float:
    """Return how many subscriptions `publisher` reaches, those of this process included."""
    try:
        return publisher.get_subscription_count()
    except RuntimeError:
        # of rclpy, for a context that was shut down or a node that has ended: `publish` reports it
        return math.inf


class Exchange:
    """
    Channels of the nodes of one executor.

    A node joins before it is added to the executor, and leaves before it is destroyed.
    """

    def __init__(self) -> None:
        """Start without channels."""
        self._channels: dict[tuple[Any, ...], Channel] = {}
        # channels by name, of publishers
        self._named: dict[str, list[Channel]] = {}
        self._known: dict[Publisher, list[Channel]] = {}
        self._queue: list[tuple[int, int, Listener, bytes, list[Any]]] = []
        self._order, self._passed = count(), set[Channel]()
        # thread of the turn, None between turns
        self._thread: int | None = None
        self._later: deque[Callable[[], object]] = deque()
        # of the executor while it spins: its thread, and what makes it call a function
        self._spinning: int | None = None
        self._schedule: Callable[..., object] | None = None
        # handed and not yet delivered, of each publisher
        self._handed: dict[Publisher, Parcel] = {}

    def join(self, listener: Listener, subscription: Subscription) -> Channel:
        """Add a listener with its subscription; only that of the first of a topic is read."""
        profile = subscription.qos_profile
        key = (subscription.topic_name, subscription.msg_type, profile.reliability,
               profile.durability, profile.depth)
        channel = self._channels.setdefault(key, Channel())
        if channel.listeners:
            # it stays in the graph, and its queue is overwritten
            listener.node._subscriptions.remove(subscription)
        channel.listeners.append((listener, subscription))
        named = self._named.setdefault(subscription.topic_name, [])
        if channel not in named:
            named.append(channel)
        self._known.clear()
        return channel

    def leave(self, node: Node) -> None:
        """Remove the listeners of `node`, and return its subscriptions to it."""
        for channel in self._channels.values():
            for listener, subscription in list(channel.listeners):
                if listener.node is not node:
                    continue
                first = channel.listeners[0][1] is subscription
                channel.listeners.remove((listener, subscription))
                if not first:
                    node._subscriptions.append(subscription)
                elif channel.listeners:
                    heir, inherited = channel.listeners[0]
                    heir.node._subscriptions.append(inherited)
                    heir.node._wake_executor()
        for publisher in set(self._handed).intersection(node.publishers):
            self._handed.pop(publisher).release()
        self._queue = [entry for entry in self._queue if entry[2].node is not node]
        heapq.heapify(self._queue)

    @contextmanager
    def spun(self, executor: Executor) -> Iterator[None]:
        """Let other threads hand messages to this one, which spins `executor`."""
        self._spinning, self._schedule = threading.get_ident(), executor.create_task
        try:
            yield
        finally:
            self._spinning = self._schedule = None
            for handed in list(self._handed.values()):
                handed.release()

    def send(self, publisher: Publisher, data: bytes, publish: Callable[[], object]) -> None:
        """
        Deliver a message to the nodes of this process, and publish it for all others.

        Within a turn it is delivered in that turn and published after it, with all messages of the
        turn to which nodes of this process subscribe: the middleware has them in their order. A
        message of another thread is handed to the executor's; if the one before still waits, the
        executor is behind, and this one goes by the middleware, whose queues are bounded. So does
        what is sent between turns. What is delivered to all that subscribe is not published.
        """
        before = self._handed.get(publisher)
        channels = self._channels_of(publisher)
        thread = threading.get_ident()
        schedule = self._schedule
        if before is not None:
            before.release()
        if channels and thread == self._thread:
            for channel in self._route(publisher, Parcel(data, publish)):
                self._enqueue(channel, data)
        elif channels and before is None and schedule is not None and thread != self._spinning:
            handed = self._handed[publisher] = Parcel(data, publish)
            schedule(self._take, publisher, handed)
        else:
            # the nodes of this process expect it before its copy can come
            for channel in channels:
                channel.leave(data)
            publish()

    def _take(self, publisher: Publisher, parcel: Parcel) -> None:
        """Deliver a message that was handed over."""
        try:
            self._turn([(channel, parcel.data) for channel in self._route(publisher, parcel)])
        finally:
            self._handed.pop(publisher, None)

    def _route(self, publisher: Publisher, parcel: Parcel) -> list[Channel]:
        """
        Return the channels that deliver a message now; it is published later if others need it.

        Others are subscriptions outside of the exchange, and channels in which it would overtake.
        """
        channels = self._channels_of(publisher)
        able = [channel for channel in channels
                if channel not in self._passed and channel.clear()]
        own = sum(len(channel.listeners) for channel in able)
        if len(able) < len(channels) or subscribers(publisher) > own or not parcel.withdraw():
            for channel in channels:
                (channel.expect if channel in able else channel.leave)(parcel.data)
            self._later.append(parcel.release)
        return able

    def arrived(self, channel: Channel, data: bytes) -> None:
        """Deliver a message of the middleware, and all that are published because of it."""
        if not channel.returned(data):
            self._turn([(channel, data)])

    def _turn(self, messages: list[tuple[Channel, bytes]]) -> None:
        """Deliver messages, and all that are published because of them."""
        if self._thread is not None:
            # a callback that spins: its turn goes on below
            for message in messages:
                self._enqueue(*message)
            return
        self._thread = threading.get_ident()
        try:
            for message in messages:
                self._enqueue(*message)
            while self._queue:
                _, _, listener, data, decoded = heapq.heappop(self._queue)
                listener.take(data, decoded)
        finally:
            self._thread = None
            self._passed.clear()
            self._queue.clear()
            while self._later:
                self._later.popleft()()

    def afterwards(self, call: Callable[[], object]) -> None:
        """Call at the end of the present turn; at once between turns."""
        if self._thread == threading.get_ident():
            self._later.append(call)
        else:
            call()

    def _channels_of(self, publisher: Publisher) -> list[Channel]:
        channels = self._known.get(publisher)
        if channels is None:
            channels = self._known[publisher] = self._named.get(publisher.topic_name, [])
        return channels

    def _enqueue(self, channel: Channel, data: bytes) -> None:
        """Queue a message for all listeners of its topic; the first decodes it."""
        self._passed.add(channel)
        decoded: list[Any] = []
        for listener, _ in channel.listeners:
            heapq.heappush(self._queue, (listener.rank, next(self._order), listener, data,
                                         decoded))
