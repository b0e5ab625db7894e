# SPDX-License-Identifier: Apache-2.0
"""Program in a process of its own: start, state and end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

# time limit for the end of a process after a signal, s
PATIENCE = 5.0


class ChildProcess:
    """
    A running program.

    Parameters
    ----------
    command : sequence of str
    session : bool
        Start it in a session of its own, so that Ctrl-C does not reach it directly. `end` then
        signals all processes of that session.
    **options
        Of `subprocess.Popen`.

    Examples
    --------
    >>> import sys
    >>> child = ChildProcess([sys.executable, '-c', 'import time; time.sleep(60)'])
    >>> child.running
    True
    >>> child.kill()
    -9
    """

    def __init__(self, command: Sequence[str], *, session: bool = True, **options: Any) -> None:
        """Start the program."""
        self._session = session
        self._process: subprocess.Popen[Any] = subprocess.Popen(
            command, start_new_session=session, **options)

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Exit code, negative after a signal; None while it runs."""
        return self._process.poll()

    @property
    def running(self) -> bool:
        """True until it ends."""
        return self.code is None

    @property
    def stdin(self) -> IO[Any]:
        """Its standard input, opened by ``stdin=subprocess.PIPE``."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[Any]:
        """Its standard output, opened by ``stdout=subprocess.PIPE``."""
        assert self._process.stdout is not None
        return self._process.stdout

    def signal(self, number: int) -> None:
        """Send a signal to the program, or to all processes of its session; none if it ended."""
        if not self.running:
            return
        with suppress(ProcessLookupError):
            if self._session:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def end(self, number: int | None = None, patience: float = PATIENCE) -> int:
        """
        End the program: signal `number`, if there is one; after `patience` [s] SIGKILL.

        Returns the exit code. Pipes to it are closed: its input before it is waited for.
        """
        if number is not None:
            self.signal(number)
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            code = self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def kill(self) -> int:
        """End the program at once; return the exit code."""
        return self.end(signal.SIGKILL)
