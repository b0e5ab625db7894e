# SPDX-License-Identifier: Apache-2.0
"""Asks running nodes for their parameters, so that a bag knows with which ones it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.task import Future


class ParameterQuery:
    """
    Asks each node once, by the services that every node has; waits for none of them.

    Parameters
    ----------
    node : Node
        Whose executor carries the questions.
    told : callable
        Gets the full name of the node and the ParameterValue of each of its parameters.
    """

    def __init__(self, node: Node, told: Callable[[str, Mapping[str, Any]], None]) -> None:
        """Ask nobody yet."""
        self._node, self._told = node, told
        self._asked: set[str] = set()
        self._waiting: dict[str, tuple[Any, Any]] = {}
        self._done: list[Any] = []

    def ask(self, name: str) -> None:
        """Ask the node of this full name, if it has not been asked yet."""
        if name in self._asked or name == self._node.get_fully_qualified_name():
            return
        self._asked.add(name)
        self._waiting[name] = (
            self._node.create_client(ListParameters, f'{name}/list_parameters'),
            self._node.create_client(GetParameters, f'{name}/get_parameters'))

    def poll(self) -> None:
        """Send the questions to those who are there by now, and forget answered ones."""
        # not destroyed in their own callbacks
        for client in self._done:
            self._node.destroy_client(client)
        self._done.clear()
        for name, (names, values) in list(self._waiting.items()):
            if names.service_is_ready() and values.service_is_ready():
                del self._waiting[name]
                asked = names.call_async(ListParameters.Request())
                asked.add_done_callback(
                    lambda future, name=name, values=values, names=names: self._on_names(
                        future, name, names, values))

    def _on_names(self, future: Future, name: str, lister: Any, values: Any) -> None:
        names = list(future.result().result.names)
        asked = values.call_async(GetParameters.Request(names=names))
        asked.add_done_callback(lambda answer: self._on_values(answer, name, names,
                                                               [lister, values]))

    def _on_values(self, future: Future, name: str, names: list[str], clients: list[Any]) -> None:
        self._done += clients
        self._told(name, dict(zip(names, future.result().values, strict=False)))
