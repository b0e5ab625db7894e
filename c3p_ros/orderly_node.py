# SPDX-License-Identifier: Apache-2.0
"""
Base of every node of the suite: one way to end.

Up to Jazzy only its owner destroys a node. From Kilted on rclpy destroys the nodes that still
exist when the context is shut down, in the thread that shuts it down. A node therefore ends in one
place, which is correct for a node without all of its parts and has no effect the second time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node

from c3p_ros.rclpy_parts import drop_type_descriptions


class OrderlyNode(Node):
    """
    A node that ends its parts in order, and that a failed constructor ends as well.

    Other nodes would take a publisher that a failed constructor left in the graph for a second
    robot.

    Parameters
    ----------
    name : str
    **options
        Passed to rclpy's Node.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a constructor that fails end the node."""
        super().__init_subclass__(**options)
        construct = cls.__init__

        @functools.wraps(construct)
        def whole(self: OrderlyNode, *args: Any, **named: Any) -> None:
            try:
                construct(self, *args, **named)
            except BaseException:
                # the error of the constructor is the one to report
                with suppress(Exception):
                    OrderlyNode.destroy_node(self)
                raise

        setattr(cls, '__init__', whole)  # noqa: B010 (required by mypy)

    def __init__(self, name: str, **options: Any) -> None:
        """Create the node without parts."""
        self._ends = ExitStack()
        self._ended = False
        try:
            super().__init__(name, **options)
        # of a parameter that rclpy declares itself, such as use_sim_time:=1
        except InvalidParameterTypeException as error:
            raise ValueError(f'{name}: {error}: write true or false, as in '
                             '-p use_sim_time:=true') from error

    def at_end(self, action: Callable[[], Any]) -> None:
        """
        Run `action` before the node is destroyed, and before the actions registered earlier.

        A part that must end (a thread, a bus, a file) registers its end as soon as it exists.
        """
        self._ends.callback(action)

    def destroy_node(self) -> None:
        """
        Run the actions of `at_end`, last first, and destroy the node; no effect the second time.

        The node is destroyed also if an action raises; the exception is raised again afterwards.
        """
        if self._ended:
            return
        self._ended = True
        try:
            self._ends.close()
        finally:
            super().destroy_node()
            drop_type_descriptions(self)
