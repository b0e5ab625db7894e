# SPDX-License-Identifier: Apache-2.0
"""
Executor of all nodes, and the loop that spins it.

rclpy's EventsExecutor costs a third of the SingleThreadedExecutor's latency and a fifth of its
CPU, but a call without a timeout hangs and ignores signals; MultiThreadedExecutor starves
callbacks.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.task import Future

# time after which a waiting thread requests the interpreter from the running one, s; the default
# of 5 ms is longer than a control period
SWITCH_INTERVAL = 0.0002


def make_executor(kind: str = 'events') -> Executor:
    """
    Return an executor: ``events`` where rclpy has it, else ``single``.

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
    """
    Spin until `until` is true (evaluated every `period` seconds), Ctrl-C or shutdown.

    The executor stays inside one call for many callbacks, which halves what a hop costs against
    ``spin_once`` for each. A future that another thread fulfils ends the call: its own timeout is
    not evaluated while messages keep coming.
    """
    future, over = Future(), threading.Event()

    def pace() -> None:
        while not over.wait(period):
            if not future.done():
                future.set_result(None)

    thread = threading.Thread(target=pace, name='spin', daemon=True)
    thread.start()
    try:
        while rclpy.ok() and not until():
            executor.spin_until_future_complete(future, timeout_sec=period)
            future = Future()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        over.set()
        thread.join()


def steady_process() -> None:
    """Reduce pauses: no collection of start-up objects, short waits for the interpreter."""
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_INTERVAL)
