# SPDX-License-Identifier: Apache-2.0
"""Spinning until something holds, which Ctrl-C ends at a place where everything is whole."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rclpy.executors import Executor

from c3p_ros.executor import spin

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Spinner:
    """
    Spins an executor in pieces; use as a context, in which it listens for SIGINT and SIGTERM.

    The callback under way finishes, then the spinning raises KeyboardInterrupt: nodes still can
    publish, and a bag can be closed. rclpy must have been told to leave signals alone
    (``SignalHandlerOptions.NO``), because it would make its context invalid at once.

    Parameters
    ----------
    executor : Executor
    """

    def __init__(self, executor: Executor) -> None:
        """Take the executor."""
        self._executor = executor
        self._asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Spinner:
        """Listen; in another thread than the main one Python has no signals."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, *_: Any) -> None:
        self._asked = True

    def until(self, condition: Callable[[], bool], period: float = 0.05) -> None:
        """
        Spin until `condition` holds, which is looked at every `period` seconds.

        Raises
        ------
        KeyboardInterrupt
            A signal came; only once, so that what follows may spin to tidy up.
        """
        spin(self._executor, lambda: self._asked or condition(), period=period)
        if self._asked:
            self._asked = False
            raise KeyboardInterrupt

    def wait(self, seconds: float) -> None:
        """Spin for some seconds; raises as `until`."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)
