# SPDX-License-Identifier: Apache-2.0
"""Requests the parameters of running nodes for a bag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.task import Future


class ParameterQuery:
    """
    Requests each node's parameters once, by its parameter services; never blocks.

    Parameters
    ----------
    node : Node
        Its executor runs the requests.
    received : callable
        Receives the full name of a node and the ParameterValue of each of its parameters.
    """

    def __init__(self, node: Node, received: Callable[[str, Mapping[str, Any]], None]
                 ) -> None:
        """Request nothing yet."""
        self._node = node
        self._received = received
        self._requested: set[str] = set()
        self._waiting: dict[str, tuple[Any, Any]] = {}
        self._done: list[Any] = []

    def request(self, names: Iterable[str]) -> None:
        """Request the parameters of the nodes of these full names, each once."""
        for name in names:
            if name in self._requested or name == self._node.get_fully_qualified_name():
                continue
            self._requested.add(name)
            self._waiting[name] = (
                self._node.create_client(ListParameters, f'{name}/list_parameters'),
                self._node.create_client(GetParameters, f'{name}/get_parameters'))

    def poll(self) -> None:
        """Send requests to the services that are ready; destroy completed clients."""
        # a client cannot be destroyed in its own callback
        for client in self._done:
            self._node.destroy_client(client)
        self._done.clear()
        for name, (names, values) in list(self._waiting.items()):
            if names.service_is_ready() and values.service_is_ready():
                del self._waiting[name]
                listed = names.call_async(ListParameters.Request())
                listed.add_done_callback(
                    lambda future, name=name, values=values, names=names: self._on_names(
                        future, name, names, values))

    def _on_names(self, future: Future, name: str, lister: Any, values: Any) -> None:
        names = list(future.result().result.names)
        values_of = values.call_async(GetParameters.Request(names=names))
        values_of.add_done_callback(lambda answer: self._on_values(answer, name, names,
                                                               [lister, values]))

    def _on_values(self, future: Future, name: str, names: list[str], clients: list[Any]) -> None:
        self._done += clients
        self._received(name, dict(zip(names, future.result().values, strict=False)))
