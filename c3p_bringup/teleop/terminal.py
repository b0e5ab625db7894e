# SPDX-License-Identifier: Apache-2.0
"""Raw mode and alternate screen of a terminal, restored at the end."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from types import TracebackType
from typing import Any, TextIO

from c3p_bringup.teleop.screen import ENTER, LEAVE


class Terminal:
    """
    Context manager of a terminal in raw mode.

    Ctrl-C and Ctrl-Z arrive as keys: a process that a signal stops would leave the terminal in
    raw mode.

    Parameters
    ----------
    source, target : TextIO
        Standard input and output.

    Raises
    ------
    ValueError
        One of them is not a terminal.
    """

    def __init__(self, source: TextIO = sys.stdin, target: TextIO = sys.stdout) -> None:
        """Check that both are terminals."""
        for stream, what in ((source, 'input'), (target, 'output')):
            if not stream.isatty():
                raise ValueError(f'standard {what} is not a terminal; start the command in a '
                                 'terminal, over ssh with `ssh -t`, in docker with `-it`')
        self._in, self._out = source.fileno(), target.fileno()
        self._before: list[Any] | None = None

    def __enter__(self) -> Terminal:
        """Switch to raw mode and the alternate screen."""
        self._before = termios.tcgetattr(self._in)
        tty.setraw(self._in)
        self.write(ENTER)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Restore the terminal."""
        try:
            self.write(LEAVE)
        finally:
            try:
                # keys typed for this program must not reach the shell
                termios.tcsetattr(self._in, termios.TCSAFLUSH, self._before)
            except termios.error:
                # the window was closed
                pass

    def read(self, timeout: float) -> bytes | None:
        """Return the bytes typed within `timeout`, s; None after the end of the terminal."""
        ready, _, _ = select.select([self._in], [], [], max(timeout, 0.0))
        if not ready:
            return b''
        try:
            return os.read(self._in, 1024) or None
        except OSError:
            return None

    def forget(self) -> None:
        """Discard unread input."""
        termios.tcflush(self._in, termios.TCIFLUSH)

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        size = os.get_terminal_size(self._out)
        # a serial line has no size
        return size.columns or 80, size.lines or 24

    def write(self, text: str) -> None:
        """Write `text`; ignored after the window was closed."""
        data = text.encode('utf-8', 'replace')
        try:
            while data:
                data = data[os.write(self._out, data):]
        except OSError:
            pass
