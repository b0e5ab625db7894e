# SPDX-License-Identifier: Apache-2.0
"""One node that a command runs in this process, with parameters and until the command ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from c3p_bringup.spinner import Spinner
from c3p_ros.executor import make_executor, steady_process


@contextmanager
def live_node(factory: Callable[..., Node], values: Mapping[str, Any],
              arguments: Sequence[str] = (), namespace: str = ''
              ) -> Iterator[tuple[Any, Spinner]]:
    """
    Run a node and yield it with its spinner; it is destroyed at the end.

    Parameters
    ----------
    factory : callable
        A node's class.
    values : mapping
        Its parameters.
    arguments : sequence of str
        ROS arguments, such as remappings.
    namespace : str
        Of the node; its /tf and /tf_static are those of the namespace.

    Raises
    ------
    ValueError
        Arguments that ROS cannot read, or parameters that the node refuses.
    """
    frames = ['-r', '/tf:=tf', '-r', '/tf_static:=tf_static'] if namespace else []
    with ExitStack() as stack:
        try:
            rclpy.init(args=['--ros-args', *frames, *arguments] if frames or arguments else [],
                       signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:
            raise ValueError(' '.join(f'{error}'.split())) from error
        stack.callback(rclpy.try_shutdown)
        executor = make_executor()
        stack.callback(executor.shutdown, timeout_sec=1.0)
        node = factory(namespace=namespace or None, parameter_overrides=[
            Parameter(name, value=value) for name, value in values.items()])
        stack.callback(node.destroy_node)
        executor.add_node(node)
        steady_process()
        yield node, stack.enter_context(Spinner(executor))
