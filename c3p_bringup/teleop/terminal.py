# SPDX-License-Identifier: Apache-2.0
"""The terminal: keys one by one, a screen of its own, and everything as it was in the end."""

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
    A terminal from which keys come one by one; use as a context.

    Ctrl-C, Ctrl-Z and their like come as keys, too: a program that is stopped from outside while
    the terminal is in this mode would leave it so.

    Parameters
    ----------
    source, target : TextIO
        Standard input and output.

    Raises
    ------
    ValueError
        One of them is no terminal.
    """

    def __init__(self, source: TextIO = sys.stdin, target: TextIO = sys.stdout) -> None:
        """See that both are a terminal."""
        for stream, what in ((source, 'input'), (target, 'output')):
            if not stream.isatty():
                raise ValueError(f'standard {what} is no terminal: keys are read from one; start '
                                 'it in a terminal, with ssh by `ssh -t`, with docker by `-it`')
        self._in, self._out = source.fileno(), target.fileno()
        self._before: list[Any] | None = None

    def __enter__(self) -> Terminal:
        """Take the terminal."""
        self._before = termios.tcgetattr(self._in)
        tty.setraw(self._in)
        self.write(ENTER)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Give it back as it was."""
        try:
            self.write(LEAVE)
        finally:
            try:
                # what was typed for this program is not for the shell
                termios.tcsetattr(self._in, termios.TCSAFLUSH, self._before)
            except termios.error:
                # the window was closed, so there is nothing to give back
                pass

    def read(self, timeout: float) -> bytes | None:
        """Return what was typed within `timeout`, s; empty is nothing, None that it has gone."""
        ready, _, _ = select.select([self._in], [], [], max(timeout, 0.0))
        if not ready:
            return b''
        try:
            return os.read(self._in, 1024) or None
        except OSError:
            return None

    def forget(self) -> None:
        """Throw away what was typed and not read."""
        termios.tcflush(self._in, termios.TCIFLUSH)

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        size = os.get_terminal_size(self._out)
        # a serial line does not know
        return size.columns or 80, size.lines or 24

    def write(self, text: str) -> None:
        """Show `text`; a window that was closed shows nothing."""
        data = text.encode('utf-8', 'replace')
        try:
            while data:
                data = data[os.write(self._out, data):]
        except OSError:
            pass
