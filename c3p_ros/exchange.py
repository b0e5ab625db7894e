# SPDX-License-Identifier: Apache-2.0
"""
Delivery of messages of the control chain between the nodes of one process.

With several nodes in one executor the middleware would deliver a copy of each message to each of
them, through one turn of the executor and one decoding each. Here a message that a node sends
while it processes another one reaches the other nodes at once, as the value that its writer has
checked (chain_messages.py), in the order of their ranks. Only if others subscribe to it as well
(processes, recorders and viewers), it is serialized and published, at the end of the turn: their
copy does not delay the torque. The copy that returns from the middleware is dropped. A message of
another process is read once for all nodes.

A topic passes once in a turn: in lockstep, where an effort causes the next joint states, these
come by the middleware, and timers have their turn. A message of another thread, the hardware's, is
queued for the executor's thread; waking it costs half of a middleware hop. What can wait is done
after the turn (`afterwards`).
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from c3p_ros.cdr import MessageError
from c3p_ros.channels import Channel, Listener, Outlet, Parcel
from c3p_ros.rclpy_parts import set_aside, take_back

if TYPE_CHECKING:
    from rclpy.executors import Executor
    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription

    from c3p_ros.wire import Writer


class Exchange:
    """
    Channels of the nodes of one executor.

    A node joins before it is added to the executor, and leaves before it is destroyed.
    """

    def __init__(self) -> None:
        """Start without channels."""
        self._channels: dict[tuple[Any, ...], Channel] = {}
        # by the subscription of each listener
        self._heard: dict[Subscription, Channel] = {}
        self._outlets: dict[Publisher, Outlet] = {}
        # of a turn: values under way, and topics that have passed
        self._queue: list[tuple[int, int, Listener, Any]] = []
        self._order = count()
        self._passed = set[Channel]()
        self._later: deque[Callable[[], object]] = deque()
        # thread of the turn, None between turns
        self._thread: int | None = None
        # of the executor while it spins: its thread, and what makes it call a function
        self._spinning: int | None = None
        self._schedule: Callable[..., object] | None = None

    # -- nodes -----------------------------------------------------------------------------------

    def join(self, listener: Listener, subscription: Subscription) -> None:
        """Add a listener with its subscription; only that of the first of a topic is read."""
        profile = subscription.qos_profile
        key = (subscription.topic_name, subscription.msg_type, profile.reliability,
               profile.durability, profile.depth)
        channel = self._channels.setdefault(key, Channel())
        if channel.listeners:
            # it stays in the graph, and its queue is overwritten
            set_aside(listener.node, subscription)
        channel.listeners.append((listener, subscription))
        self._heard[subscription] = channel
        self._connect()

    def leave(self, node: Node) -> None:
        """Remove the listeners of `node`, and return its subscriptions to it."""
        for channel in self._channels.values():
            for listener, subscription in list(channel.listeners):
                if listener.node is not node:
                    continue
                first = channel.listeners[0][1] is subscription
                channel.listeners.remove((listener, subscription))
                del self._heard[subscription]
                take_back(listener.node, subscription)
                if first and channel.listeners:
                    heir, inherited = channel.listeners[0]
                    take_back(heir.node, inherited)
        for outlet in [outlet for outlet in self._outlets.values() if outlet.node is node]:
            outlet.release()
            del self._outlets[outlet.publisher]
        self._queue = [entry for entry in self._queue if entry[2].node is not node]
        heapq.heapify(self._queue)
        self._connect()

    def _connect(self, *outlets: Outlet) -> None:
        """Renew the channels of publishers, of all when none is given."""
        for outlet in outlets or tuple(self._outlets.values()):
            outlet.channels = [channel for (topic, *_), channel in self._channels.items()
                               if topic == outlet.topic and channel.listeners]

    @contextmanager
    def spun(self, executor: Executor) -> Iterator[None]:
        """Let other threads hand messages to this one, which spins `executor`."""
        self._spinning, self._schedule = threading.get_ident(), executor.create_task
        try:
            yield
        finally:
            self._spinning = self._schedule = None
            for outlet in tuple(self._outlets.values()):
                outlet.release()

    # -- messages --------------------------------------------------------------------------------

    def send(self, node: Any, publisher: Publisher, writer: Writer, value: Any) -> None:
        """
        Deliver a message to the nodes of this process, and publish it for all others.

        Within a turn it is delivered in that turn and published after it, with all messages of the
        turn to which nodes of this process subscribe: the middleware has them in their order. A
        message of another thread is handed to the executor's; if the one before still waits, the
        executor is behind, and both go by the middleware, whose queues are bounded. So does what
        is sent between turns. What is delivered to all that subscribe is not published.

        Parameters
        ----------
        node : SuiteNode
        publisher : Publisher
            Of that node.
        writer : Writer
            Has made the message, and serializes it.
        value : ChainMessage
        """
        outlet = self._outlets.get(publisher)
        if outlet is None:
            outlet = Outlet(node, publisher)
            self._connect(outlet)
            self._outlets[publisher] = outlet
        parcel = Parcel(writer, value)
        thread = threading.get_ident()
        schedule = self._schedule
        if outlet.channels and thread == self._thread:
            self._deliver(outlet, parcel)
        elif (outlet.channels and schedule is not None and thread != self._spinning
                and not outlet.handed):
            outlet.handed.append(parcel)
            schedule(self._take, outlet)
        else:
            while outlet.handed:
                outlet.leave(outlet.handed.popleft())
            outlet.leave(parcel)
            outlet.flush()

    def arrived(self, subscription: Subscription, data: bytes) -> None:
        """Deliver a message of the middleware, and all that are sent because of it."""
        channel = self._heard.get(subscription)
        # of a node that has left, or read for another listener already
        if channel is None or channel.listeners[0][1] is not subscription:
            return
        if channel.returned(data):
            return
        try:
            value = channel.listeners[0][0].read(data)
        except MessageError as error:
            channel.refuse(error)
            return
        self._enqueue(channel, value)
        self._turn()

    def afterwards(self, call: Callable[[], object]) -> None:
        """Call at the end of the present turn; at once between turns."""
        if self._thread == threading.get_ident():
            self._later.append(call)
        else:
            call()

    # -- a turn ----------------------------------------------------------------------------------

    def _take(self, outlet: Outlet) -> None:
        """Deliver a message that was handed over, unless it was left to the middleware since."""
        try:
            parcel = outlet.handed.popleft()
        except IndexError:
            return
        self._deliver(outlet, parcel)
        self._turn()

    def _turn(self) -> None:
        """Deliver what is queued, and all that is sent because of it."""
        if self._thread is not None:
            # a callback that spins: its turn goes on below
            return
        self._thread = threading.get_ident()
        try:
            while self._queue:
                _, _, listener, value = heapq.heappop(self._queue)
                listener.callback(value)
        finally:
            self._thread = None
            self._passed.clear()
            self._queue.clear()
            while self._later:
                self._later.popleft()()

    def _deliver(self, outlet: Outlet, parcel: Parcel) -> None:
        """Queue a message for the listeners of its topic; what others need is published later."""
        for channel in outlet.channels:
            if channel in self._passed or not channel.clear():
                # it would overtake
                channel.leave(parcel)
                continue
            parcel.delivered.append(channel)
            if parcel.writer.refusal:
                channel.refuse(MessageError(parcel.writer.refusal))
            else:
                self._enqueue(channel, parcel.value)
        outlet.waiting.append(parcel)
        self._later.append(outlet.flush)

    def _enqueue(self, channel: Channel, value: Any) -> None:
        """Queue a message for all listeners of its topic."""
        self._passed.add(channel)
        for listener, _ in channel.listeners:
            heapq.heappush(self._queue, (listener.rank, next(self._order), listener, value))
