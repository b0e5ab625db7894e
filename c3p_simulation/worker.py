# SPDX-License-Identifier: Apache-2.0
"""Worker thread of a node: its failure is raised again in the executor."""

from __future__ import annotations

import threading
from collections.abc import Callable

# longest wait for the end of the thread, s
JOIN_TIMEOUT = 2.0


class Worker:
    """
    Daemon thread of a node.

    Parameters
    ----------
    name : str
    run : callable
        Takes the event `stopping` and returns soon after it is set.

    Attributes
    ----------
    stopping : threading.Event
    """

    def __init__(self, name: str, run: Callable[[threading.Event], None]) -> None:
        """Create the thread without starting it."""
        self.stopping = threading.Event()
        self._run = run
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)

    @property
    def started(self) -> bool:
        """True after `start`."""
        return self._thread.ident is not None

    @property
    def alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    def run(self) -> None:
        """Run in the calling thread and keep an exception for `check`."""
        try:
            self._run(self.stopping)
        except Exception as error:
            self._failure = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Request the end and wait for it; in the thread itself: without waiting."""
        self.stopping.set()
        if self.alive and threading.current_thread() is not self._thread:
            self._thread.join(timeout=JOIN_TIMEOUT)

    def check(self) -> None:
        """Raise the exception that ended the thread, if any."""
        if self._failure is not None:
            raise self._failure
