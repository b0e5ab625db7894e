# SPDX-License-Identifier: Apache-2.0
"""
Parts of rclpy that are not public, in one place: no other module uses one.

Each function states what it needs. Where the installed rclpy keeps it elsewhere, a function with a
public substitute uses that and logs it once; one without raises MissingPart at the start of the
node. test_rclpy_parts.py calls each function on nodes of the installed distribution, and on the
shapes of the other ones.

=====================================  ====================================  ===================
part                                   purpose                               without it
=====================================  ====================================  ===================
``Node._subscriptions``                a subscription stays in the graph,    each is read, and
                                       unread by the executor                surplus is dropped
``Subscription.handle.take_message``   sequence numbers of messages          none are known
…                                      messages read many at a time          MissingPart
``Node._parameter_overrides``          parameters given at the start,        MissingPart
                                       before they are declared
``LifecycleNodeMixin._state_machine``  its present state, and its end        MissingPart
``…._service_change_state``            a late transition ends no node        MissingPart
``Node._type_description_service``     the name of an ended node leaves      left to the garbage
                                       the graph                             collector
``rclpy.impl``                         RCLError of a transition              ImportError
=====================================  ====================================  ===================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger

from c3p_ros.distribution import named

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.parameter import Parameter
    from rclpy.subscription import Subscription

# raised for a transition that is not valid, and for what was destroyed
RCLError = rclpy_implementation.RCLError
InvalidHandle = rclpy_implementation.InvalidHandle


class MissingPart(ValueError):
    """The installed rclpy lacks a part that a node cannot do without; the text names both."""


@cache
def _report(part: str, effect: str) -> None:
    """Log once in a process that a part is missing, and the effect."""
    get_logger('c3p').warning(f'{named()} has no {part}: {effect}')


def _required(owner: Any, name: str, what: str) -> Any:
    """Return a private attribute of an object of rclpy; MissingPart where it has none."""
    try:
        return getattr(owner, name)
    except AttributeError:
        raise MissingPart(f'{named()} has no {type(owner).__name__}.{name}, which c3p needs '
                          f'{what}; install a supported distribution (docs/support.md)') from None


def set_aside(node: Node, subscription: Subscription) -> bool:
    """
    Keep a subscription from the executor of its node; it stays in the graph.

    Returns
    -------
    bool
        False where this is not possible: the executor still reads it.
    """
    try:
        node._subscriptions.remove(subscription)
    except (AttributeError, ValueError):
        _report('list Node._subscriptions', 'each node reads its own copy of a message, and all '
                'but the first are dropped')
        return False
    return True


def take_back(node: Node, subscription: Subscription) -> None:
    """Return a subscription to its node: the executor reads it, and it ends with the node."""
    known = getattr(node, '_subscriptions', None)
    if known is None or subscription in known:
        # it was never set aside
        return
    known.append(subscription)
    if executor := getattr(node, 'executor', None):
        executor.wake()


def sequence_numbers(subscription: Subscription) -> list[int]:
    """
    Return the publisher's numbers of the messages of a set-aside subscription since the last call.

    0 where the middleware has none; no numbers where rclpy does not read messages in this form.
    """
    found = []
    try:
        handle = subscription.handle
        take = handle.take_message
    except AttributeError:
        _report('Subscription.handle.take_message', 'a restarted publisher counts as a second one '
                'until its old entry expires')
        return []
    with handle:
        while (taken := take(subscription.msg_type, True)) is not None:
            found.append(taken[1].get('publication_sequence_number') or 0)
    return found


def waiting_messages(subscription: Subscription, most: int) -> list[tuple[bytes, int]]:
    """
    Return the serialized messages of a set-aside subscription since the last call, at most `most`.

    Each with its time of reception, ns of the system clock; 0 where the middleware has none. An
    executor takes ten times as long for each message.

    Raises
    ------
    MissingPart
        rclpy does not read messages in this form.
    """
    handle = _required(subscription, 'handle', 'to read messages many at a time')
    take = _required(handle, 'take_message', 'to read messages many at a time')
    kind = subscription.msg_type
    found: list[tuple[bytes, int]] = []
    with handle:
        while len(found) < most and (taken := take(kind, True)) is not None:
            found.append((taken[0], taken[1].get('received_timestamp') or 0))
    return found


def overrides_of(node: Node) -> dict[str, Parameter]:
    """
    Return the parameters that a node was started with: of files, command line and constructor.

    Raises
    ------
    MissingPart
        rclpy keeps them elsewhere: a misspelt parameter would pass in silence.
    """
    return dict(_required(node, '_parameter_overrides', 'to check the parameters of a node'))


def life_of(node: Any) -> tuple[int, str]:
    """Return number and label of the present state of a lifecycle node, or raise MissingPart."""
    machine = _required(node, '_state_machine', 'for the life cycle of a node')
    number, label = machine.current_state
    return int(number), label


def end_life(node: Any, ended: object) -> None:
    """
    Replace the state machine of a lifecycle node by `ended`.

    rclpy leaves its machine to the garbage collector, and the services with it; without the node's
    reference it goes as soon as the executor has let go of the services.
    """
    _required(node, '_state_machine', 'for the life cycle of a node')
    node._state_machine = ended


def guard_transitions(node: Any, guard: Callable[..., Any]) -> Callable[..., Any]:
    """Let `guard` serve the transition requests of a lifecycle node; return rclpy's own server."""
    service = _required(node, '_service_change_state', 'for the life cycle of a node')
    own = service.callback
    service.callback = guard
    return own


def drop_type_descriptions(node: Node) -> None:
    """
    Let go of the service of type descriptions of a destroyed node.

    rclpy 10 leaves it, and with it the name of the node in the graph, to the garbage collector.
    """
    vars(node).pop('_type_description_service', None)
