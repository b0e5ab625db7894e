# SPDX-License-Identifier: Apache-2.0
"""
Actions and events of a launch file for a managed node and the control chain.

launch_ros's LifecycleNode is a process with one node and sets its name; here the node may be one
of several in a process. The result of a transition is the response of the node's service, because
``~/transition_event`` may be published before the launch process has discovered it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from launch.action import Action
from launch.actions import OpaqueFunction, RegisterEventHandler
from launch.event import Event
from launch.event_handler import EventHandler
from launch_ros.ros_adapters import get_ros_node
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState

from c3p_bringup.launch_parts.actions import value
from launch import LaunchContext, LaunchDescriptionEntity

# period at which a waiting thread checks for the end of the launch, s
LOOK = 0.2

CONFIGURE = Transition.TRANSITION_CONFIGURE
ACTIVATE = Transition.TRANSITION_ACTIVATE
# the state that a transition leads to
REACHES = {CONFIGURE: 'inactive', ACTIVATE: 'active'}


class Happened(Event):
    """
    Something that later actions wait for; attribute `what`, a tuple.

    ``(node, 'active')``: a ManagedNode has entered a state. ``(node, CONFIGURE)``: it has rejected
    a transition. ``(topic,)``: the first message of a topic was received.
    """

    name = 'c3p.Happened'

    def __init__(self, *what: Any) -> None:
        """Store the attribute."""
        super().__init__()
        self.what = what


def in_namespace(context: LaunchContext, name: str) -> str:
    """Return `name` in the namespace of the launch file."""
    namespace = value(context, 'namespace').strip('/')
    return f'/{namespace}/{name}' if namespace else f'/{name}'


def _emit(context: LaunchContext, *what: Any) -> None:
    """Emit an event from a thread, unless the launch has ended."""
    if not context.is_shutdown:
        context.asyncio_loop.call_soon_threadsafe(context.emit_event_sync, Happened(*what))


class ManagedNode:
    """A managed node in one of the processes of the launch; `name` is without namespace."""

    def __init__(self, name: str) -> None:
        """Store the name."""
        self.name = name

    def change(self, transition: int) -> LaunchDescriptionEntity:
        """Return the action that requests a transition and emits its result."""
        return _Change(self, transition)

    def when(self, state: str, actions: Callable[[LaunchContext], Any]) -> RegisterEventHandler:
        """Return the action that calls `actions` when the node enters `state`."""
        return _when((self, state), actions)

    def when_refused(self, transition: int, actions: Callable[[LaunchContext], Any]
                     ) -> RegisterEventHandler:
        """Return the action that calls `actions` when the node rejects `transition`."""
        return _when((self, transition), actions)


def when_received(topic: str, actions: Callable[[LaunchContext], Any]) -> RegisterEventHandler:
    """Return the action that calls `actions` after the first message of `topic`."""
    return _when((topic,), actions)


def _when(what: tuple[Any, ...], actions: Callable[[LaunchContext], Any]) -> RegisterEventHandler:
    return RegisterEventHandler(EventHandler(
        matcher=lambda event: isinstance(event, Happened) and event.what == what,
        entities=[OpaqueFunction(function=actions)]))


class _Change(Action):
    """Request a transition in a thread, because the node may appear later."""

    def __init__(self, node: ManagedNode, transition: int) -> None:
        super().__init__()
        self._node = node
        self._transition = transition

    def execute(self, context: LaunchContext) -> None:
        context.add_completion_future(context.asyncio_loop.run_in_executor(
            None, self._request, context))

    def _request(self, context: LaunchContext) -> None:
        request = ChangeState.Request(transition=Transition(id=self._transition))
        answer = self._call(context, ChangeState, 'change_state', request)
        # another client may have requested it before
        if answer is not None and not answer.success:
            state = self._call(context, GetState, 'get_state', GetState.Request())
            answer.success = (state is not None
                              and state.current_state.label == REACHES[self._transition])
        if answer is not None:
            _emit(context, self._node, REACHES[self._transition] if answer.success
                  else self._transition)

    def _call(self, context: LaunchContext, kind: Any, service: str, request: Any) -> Any:
        """Return the response of a service, None if the launch ends before."""
        node = get_ros_node(context)
        answered = threading.Event()
        client = node.create_client(kind, f'{in_namespace(context, self._node.name)}/{service}')
        try:
            while not client.wait_for_service(timeout_sec=LOOK):
                if context.is_shutdown:
                    return None
            future = client.call_async(request)
            future.add_done_callback(lambda _: answered.set())
            while not answered.wait(LOOK):
                if context.is_shutdown:
                    return None
            return future.result()
        finally:
            node.destroy_client(client)


class FirstMessage(Action):
    """
    Subscribe to a topic in the namespace of the launch until its first message, then emit it.

    `kind` is the type of the message, `topic` the name without namespace.
    """

    def __init__(self, kind: type, topic: str) -> None:
        """Store type and topic."""
        super().__init__()
        self._kind = kind
        self._topic = topic
        self._received = False

    def execute(self, context: LaunchContext) -> None:
        """Create the subscription."""
        node = get_ros_node(context)

        def on_message(_: Any) -> None:
            if not self._received:
                self._received = True
                _emit(context, self._topic)
                node.destroy_subscription(subscription)

        subscription = node.create_subscription(
            self._kind, in_namespace(context, self._topic), on_message, 1)
