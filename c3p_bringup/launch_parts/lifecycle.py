# SPDX-License-Identifier: Apache-2.0
"""
A managed node and the chain behind it, as actions and events of a launch file.

launch_ros's LifecycleNode is a process with one node and gives it a name; here the node may be one
of several in a process. What becomes of a transition is taken from the answer of the node's
service, because ``~/transition_event`` may be published before anybody has discovered it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from launch.action import Action
from launch.actions import OpaqueFunction, RegisterEventHandler
from launch.event import Event
from launch.event_handler import EventHandler
from launch.substitutions import LaunchConfiguration
from launch_ros.ros_adapters import get_ros_node
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState

from launch import LaunchContext, LaunchDescriptionEntity

# how often a waiting thread looks whether the launch ends, s
LOOK = 0.2

CONFIGURE, ACTIVATE = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
# the state that a transition leads to
REACHES = {CONFIGURE: 'inactive', ACTIVATE: 'active'}


class StateEntered(Event):
    """A managed node has changed its state; attributes `node` (a ManagedNode) and `state`."""

    name = 'c3p.StateEntered'

    def __init__(self, node: ManagedNode, state: str) -> None:
        """Keep what has happened."""
        super().__init__()
        self.node, self.state = node, state


class TransitionRefused(Event):
    """A managed node could not make a transition; attributes `node` and `transition`, its id."""

    name = 'c3p.TransitionRefused'

    def __init__(self, node: ManagedNode, transition: int) -> None:
        """Keep what has happened."""
        super().__init__()
        self.node, self.transition = node, transition


class MessageHeard(Event):
    """The first message of a topic has come; attribute `topic`, as it was given."""

    name = 'c3p.MessageHeard'

    def __init__(self, topic: str) -> None:
        """Keep what has happened."""
        super().__init__()
        self.topic = topic


def in_namespace(context: LaunchContext, name: str) -> str:
    """Return `name` in the namespace of the launch file."""
    namespace = LaunchConfiguration('namespace').perform(context).strip('/')
    return f'/{namespace}/{name}' if namespace else f'/{name}'


def _emit(context: LaunchContext, event: Event) -> None:
    """Emit from a thread; a launch that has ended needs no event."""
    if not context.is_shutdown:
        context.asyncio_loop.call_soon_threadsafe(context.emit_event_sync, event)


class ManagedNode:
    """
    A node with a life cycle that some process of the launch holds.

    Parameters
    ----------
    name : str
        Of the node, without namespace.
    """

    def __init__(self, name: str) -> None:
        """Know the name; nothing is asked yet."""
        self.name = name

    def change(self, transition: int) -> LaunchDescriptionEntity:
        """Return the action that asks for a transition and emits what becomes of it."""
        return _Change(self, transition)

    def when(self, state: str, actions: Callable[[LaunchContext], Any]) -> RegisterEventHandler:
        """Return the action that has `actions` called when the node enters `state`."""
        return _when(lambda event: isinstance(event, StateEntered) and event.node is self
                     and event.state == state, actions)

    def when_refused(self, transition: int, actions: Callable[[LaunchContext], Any]
                     ) -> RegisterEventHandler:
        """Return the action that has `actions` called when the node refuses `transition`."""
        return _when(lambda event: isinstance(event, TransitionRefused) and event.node is self
                     and event.transition == transition, actions)


def when_heard(topic: str, actions: Callable[[LaunchContext], Any]) -> RegisterEventHandler:
    """Return the action that has `actions` called when `FirstMessage` has heard `topic`."""
    return _when(lambda event: isinstance(event, MessageHeard) and event.topic == topic, actions)


def _when(matcher: Callable[[Event], bool], actions: Callable[[LaunchContext], Any]
          ) -> RegisterEventHandler:
    return RegisterEventHandler(EventHandler(
        matcher=matcher, entities=[OpaqueFunction(function=actions)]))


class _Change(Action):
    """Asks for a transition in a thread, because the node may not be there for a while."""

    def __init__(self, node: ManagedNode, transition: int) -> None:
        super().__init__()
        self._node, self._transition = node, transition

    def execute(self, context: LaunchContext) -> None:
        context.add_completion_future(context.asyncio_loop.run_in_executor(
            None, self._ask, context))

    def _ask(self, context: LaunchContext) -> None:
        request = ChangeState.Request(transition=Transition(id=self._transition))
        answer = self._call(context, ChangeState, 'change_state', request)
        # somebody else may have been quicker
        if answer is not None and not answer.success:
            state = self._call(context, GetState, 'get_state', GetState.Request())
            answer.success = (state is not None
                              and state.current_state.label == REACHES[self._transition])
        if answer is not None:
            _emit(context, StateEntered(self._node, REACHES[self._transition])
                  if answer.success else TransitionRefused(self._node, self._transition))

    def _call(self, context: LaunchContext, kind: Any, service: str, request: Any) -> Any:
        """Return a service's answer; None when the launch ends first."""
        node, answered = get_ros_node(context), threading.Event()
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
    Listens to a topic of the launch file's namespace until its first message, then emits it.

    Parameters
    ----------
    kind : type
        Of the message.
    topic : str
        Without namespace.
    """

    def __init__(self, kind: type, topic: str) -> None:
        """Know the topic."""
        super().__init__()
        self._kind, self._topic, self._heard = kind, topic, False

    def execute(self, context: LaunchContext) -> None:
        """Begin to listen."""
        node = get_ros_node(context)

        def hear(_: Any) -> None:
            if not self._heard:
                self._heard = True
                _emit(context, MessageHeard(self._topic))
                node.destroy_subscription(subscription)

        subscription = node.create_subscription(
            self._kind, in_namespace(context, self._topic), hear, 1)
