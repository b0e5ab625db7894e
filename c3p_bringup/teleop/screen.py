# SPDX-License-Identifier: Apache-2.0
"""Screen of ``c3p teleop``: keys, command, state, e-stop; and the terminal that shows it."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TextIO

from c3p_description.model import Array

HELP = ('   u  i  o    ahead, turning      U  I  O   without turning, or the arrows',
        '   j  k  l    turn                J     L   to the sides',
        '   m  ,  .    back, turning       M  <  >   without turning',
        '   space, and every other key: stop     e  e-stop     r  release     Ctrl-C  end',
        '   q z  faster, slower      w x  speed only      d c  yaw rate only')

# age at which odometry is marked as old, s
OLD = 0.5
# width of the bar of the distance from the singularity
BAR = 20

RED = '\x1b[1;31m'
BOLD = '\x1b[1m'
PLAIN = '\x1b[0m'
# alternate screen without a cursor, and back
ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J'
LEAVE = '\x1b[?25h\x1b[?1049l'


@dataclass
class TeleopView:
    """Displayed values; SI units and radians."""

    robot: str
    place: str                          # topic of the commands
    command: Array | None = None        # twist published (3,); None is silence
    speed: float = 0.0                  # of the keys
    yaw_rate: float = 0.0
    twist: Array | None = None          # of the odometry (3,)
    twist_age: float = 0.0
    steering: Array | None = None       # (n,)
    sigma_min: float | None = None
    slip: str = ''                      # slipping wheel and slip velocity, none, '' if unknown
    e_stop: str = ''
    locked: bool = False
    note: str = ''                      # hint or warning


def lines(view: TeleopView) -> list[str]:
    """Return the screen as lines without colour."""
    unknown = '-'
    steering = unknown if view.steering is None else '  '.join(
        f'{angle * 57.29577951308232:7.1f}°' for angle in view.steering)
    # at a singularity rounding may leave it negative
    sigma = max(view.sigma_min or 0.0, 0.0)
    measure = unknown if view.sigma_min is None else (
        f'{sigma:7.3f}   |{"#" * round(BAR * min(sigma, 1.0)):{BAR}}|')
    odometry = _twist(view.twist)
    if view.twist is not None and view.twist_age > OLD:
        odometry += f'   {view.twist_age:.1f} s old'
    return [f' c3p teleop   {view.robot}   to {view.place}', '', *HELP, '',
            f'   keys      {view.speed:7.2f} m/s   {view.yaw_rate:7.2f} rad/s',
            f'   command   {"silent" if view.command is None else _twist(view.command)}',
            f'   odometry  {odometry}',
            f'   steering  {steering}',
            f'   sigma_min {measure}',
            f'   slip      {view.slip or unknown}',
            f'   e-stop    {view.e_stop}', f'   {view.note}']


def _twist(twist: Array | None) -> str:
    return '-' if twist is None else (f'x {twist[0]:6.2f}  y {twist[1]:6.2f} m/s   '
                                      f'turn {twist[2]:6.2f} rad/s')


def painted(view: TeleopView, columns: int, rows: int) -> str:
    """Return the ANSI text that redraws the screen on a terminal of this size."""
    return paint(lines(view), {2: RED if view.locked else BOLD, 1: BOLD}, columns, rows)


def paint(text: Sequence[str], colours: dict[int, str], columns: int, rows: int) -> str:
    """
    Return ANSI sequences that show the lines `text` from the top, cut to `columns` and `rows`.

    `colours` are by line, counted from the last one, which is 1.
    """
    shown = []
    # the last lines are the ones that change
    for k, line in enumerate(text[-rows:] if rows < len(text) else text):
        colour = colours.get(min(len(text), max(rows, 1)) - k, '')
        cut = line[:columns]
        shown.append(f'{colour}{cut}{PLAIN if colour else ""}\x1b[K')
    return '\x1b[H' + '\r\n'.join(shown) + '\x1b[J'


class Terminal:
    """
    Context manager of a terminal in raw mode.

    Ctrl-C and Ctrl-Z arrive as keys: a process that a signal stops would leave the terminal in
    raw mode. `source` and `target` are standard input and output; ValueError: not a terminal.
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
                if self._before is not None:
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
