# SPDX-License-Identifier: Apache-2.0
"""
Executor of all nodes, and the loop that spins it.

rclpy's EventsExecutor costs a third of the SingleThreadedExecutor's latency and a fifth of its
CPU, but a call without a timeout hangs and ignores signals; MultiThreadedExecutor starves
callbacks. Where an installation lacks the EventsExecutor, the process logs that and uses the
SingleThreadedExecutor.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.task import Future

from c3p_ros.distribution import named

# time after which a waiting thread requests the interpreter from the running one, s; the default
# of 5 ms is longer than a control period
SWITCH_INTERVAL = 0.0002

# without the EventsExecutor: effect, as measured above, and remedy
SLOWER = 'the SingleThreadedExecutor has three times the latency and five times the CPU load'
UPDATE = 'update or reinstall the ROS 2 packages'


def make_executor(kind: str = 'events') -> Executor:
    """
    Return an executor: ``events``, or ``single`` with a warning where rclpy lacks that.

    Raises
    ------
    ValueError
        `kind` is neither.
    """
    if kind not in ('events', 'single'):
        raise ValueError(f"executor kind {kind!r}: must be 'events' or 'single'")
    if kind == 'events':
        missing = why_without_events()
        if not missing:
            from rclpy.experimental import EventsExecutor

            return EventsExecutor()
        get_logger('c3p').warning(f'{missing}; {SLOWER}; {UPDATE}')
    return SingleThreadedExecutor()


def why_without_events() -> str:
    """Return why rclpy provides no EventsExecutor in one line; empty where it does."""
    try:
        from rclpy.experimental import EventsExecutor  # noqa: F401
    # its module refers to a class of the C extension, and imports others that need libraries
    except (ImportError, AttributeError) as error:
        return f'{named()} has no EventsExecutor: {" ".join(f"{error}".split())}'
    return ''


def spin(executor: Executor, until: Callable[[], bool] = lambda: False,
         period: float = 0.2) -> None:
    """
    Spin until `until` is true (evaluated every `period` seconds), Ctrl-C or shutdown.

    The executor stays inside one call for many callbacks, which halves what a hop costs against
    ``spin_once`` for each. A future that another thread fulfils ends the call: its own timeout is
    not evaluated while messages keep coming.
    """
    future = Future()
    over = threading.Event()

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
