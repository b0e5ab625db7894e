# SPDX-License-Identifier: Apache-2.0
"""
The one place that spins.

rclpy's EventsExecutor costs a third of the SingleThreadedExecutor's latency and a fifth of its CPU,
but a call without a timeout hangs and ignores signals; MultiThreadedExecutor starves callbacks.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

# a thread that wants the interpreter waits this long before it asks the running one to let go; the
# default 5 ms is longer than a control period
SWITCH_INTERVAL = 0.0002


def make_executor(kind: str = 'events') -> Executor:
    """
    Return an executor: ``events`` where rclpy has it, ``single`` otherwise or when asked for.

    Raises
    ------
    ValueError
        `kind` is neither.
    """
    if kind not in ('events', 'single'):
        raise ValueError(f"executor kind {kind!r}: must be 'events' or 'single'")
    if kind == 'events':
        try:
            from rclpy.experimental import EventsExecutor
        except ImportError:
            return SingleThreadedExecutor()
        return EventsExecutor()
    return SingleThreadedExecutor()


def spin(executor: Executor, until: Callable[[], bool] = lambda: False,
         period: float = 0.2) -> None:
    """Spin until `until` is true (asked every `period` seconds), Ctrl-C or shutdown."""
    try:
        while rclpy.ok() and not until():
            executor.spin_once(timeout_sec=period)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


def steady_process() -> None:
    """Make pauses rare: no collection of start-up objects, short waits for the interpreter."""
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_INTERVAL)


def run(*factories: Callable[[], Node], args: Sequence[str] | None = None) -> int:
    """
    Run nodes in this process until Ctrl-C or SIGTERM; return the exit code.

    A node that cannot start (bad parameter, unknown robot) ends the process with its one-line
    reason and code 1, so that a launch file or a service manager sees it.
    """
    rclpy.init(args=args)
    executor = make_executor()
    nodes: list[Node] = []
    try:
        for factory in factories:
            nodes.append(factory())
            executor.add_node(nodes[-1])
        steady_process()
        spin(executor)
    except ValueError as error:
        print(f'{error}', file=sys.stderr)
        return 1
    finally:
        executor.shutdown(timeout_sec=1.0)
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
