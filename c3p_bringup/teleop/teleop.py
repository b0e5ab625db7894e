# SPDX-License-Identifier: Apache-2.0
"""Loop of ``c3p teleop``: 20 commands a second until a signal or the end of the terminal."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rclpy.executors import Executor

from c3p_bringup.teleop.keys import MOVES, KeyDrive, KeyReader
from c3p_bringup.teleop.robot_link import RobotLink
from c3p_bringup.teleop.screen import TeleopView, Terminal, painted
from c3p_ros.executor import spin

# between commands, pictures, and repetitions of a pressed e-stop, s
COMMAND = 0.05
PAINT = 0.1
REPEAT = 0.5

# after a longer pause of this process the held key is unknown, s
PAUSE = 0.3

# time after which an incomplete sequence is a key, s
LONELY = 0.05

# zero commands at the end
LAST_ZEROS = 3

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Teleop:
    """
    Drives until the end is requested.

    Parameters
    ----------
    link : RobotLink
        Spun in another thread.
    drive : KeyDrive
    terminal : Terminal

    Attributes
    ----------
    ends : bool
        Set by the caller to end the loop.
    metrics : dict
        Counts and durations, SI units.
    """

    def __init__(self, link: RobotLink, drive: KeyDrive, terminal: Terminal) -> None:
        """Store the three."""
        self._link = link
        self._drive = drive
        self._terminal = terminal
        self._reader, self._view, self._typed = KeyReader(), TeleopView('', ''), 0.0
        self._limits: tuple[float, float] | None = None
        self._due = {'command': 0.0, 'paint': 0.0, 'repeat': 0.0}
        self.ends = False
        self.metrics: dict[str, Any] = {'commands': 0, 'e_stops': 0, 'pauses': 0}

    def run(self) -> None:
        """Drive; at the end, for any reason, command zero."""
        begin = last = time.monotonic()
        try:
            while not (self.ends or self._drive.quits):
                wait = min(self._due['command'], self._due['paint'],
                           self._drive.end) - time.monotonic()
                data = self._terminal.read(wait)
                if data is None:
                    break
                now = time.monotonic()
                if now - last > PAUSE:
                    data = self._paused(now)
                last = now
                self._step(data, now)
        finally:
            for _ in range(LAST_ZEROS):
                self._send(np.zeros(3))
            self._link.flush(0.2)
            self.metrics |= {'duration_s': time.monotonic() - begin, 'stops': self._drive.stops,
                             'topic': self._link.place, 'e_stop_held': self._drive.holds}

    def _paused(self, now: float) -> bytes:
        """Stop, and discard the keys of the pause; return the remaining ones."""
        self._drive.stop(now)
        self._terminal.forget()
        self._reader.flush()
        self.metrics['pauses'] += 1
        return b''

    def _step(self, data: bytes, now: float) -> None:
        keys = self._keys(data, now)
        limits = self._link.limits
        if limits is not None and limits != self._limits:
            self._limits = limits
            self._drive.limit(*limits)
        if self._drive.keys(keys, now):
            self.metrics['e_stops'] += self._drive.holds
            self._link.set_e_stop(self._drive.holds)
        if self._drive.holds and self._is_due('repeat', REPEAT, now):
            # for subscribers that were started later
            self._link.set_e_stop(True)
        self._drive.lock(self._drive.holds or self._link.locked, now)
        # a stop is not delayed to the next period
        if self._is_due('command', COMMAND, now) or keys or now >= self._drive.end:
            self._view.command = self._drive.twist(now)
            if self._view.command is not None:
                self._send(self._view.command)
        if self._is_due('paint', PAINT, now):
            self._paint(now)

    def _is_due(self, what: str, period: float, now: float) -> bool:
        if now < self._due[what]:
            return False
        self._due[what] = now + period
        return True

    def _keys(self, data: bytes, now: float) -> list[str]:
        if data:
            self._typed = now
            keys = self._reader.read(data)
        else:
            keys = self._reader.flush() if now - self._typed > LONELY else []
        # no e-stop before the twist_mux is discovered: ignore motion keys
        return keys if self._link.ready else [key for key in keys if key not in MOVES]

    def _send(self, twist: np.ndarray) -> None:
        self._link.send(twist)
        self.metrics['commands'] += 1

    def _paint(self, now: float) -> None:
        view = self._view
        drive = self._drive
        link = self._link
        view.note = ('' if link.connected else f'no subscriber on {link.place}' if link.ready
                     else 'looking for the robot')
        link.show(view)
        view.speed, view.yaw_rate = drive.speed, drive.yaw_rate
        view.locked = drive.holds or link.locked
        view.e_stop = e_stop_text(drive.holds, link.locked, link.muxed)
        if drive.waits(now) and not view.locked:
            view.note = view.note or 'released: release all keys, then press one'
        self._terminal.write(painted(view, *self._terminal.size()))


def e_stop_text(holds: bool, locked: bool, muxed: bool) -> str:
    """Return the e-stop as text: `holds` here, `locked` by any source, `muxed`: by a mux."""
    reach = '' if muxed else ' (no twist_mux: this keyboard only)'
    if holds:
        return f'PRESSED here{reach}; r releases'
    return f'PRESSED{reach}; r releases' if locked else f'released{reach}'


@contextmanager
def spinning(executor: Executor) -> Iterator[None]:
    """Spin the nodes of an `executor` in a thread."""
    over = threading.Event()
    thread = threading.Thread(target=spin, args=(executor, over.is_set, 0.1), name='robot link',
                              daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(2.0)


@contextmanager
def signals_end(teleop: Teleop) -> Iterator[None]:
    """End `teleop` in order on SIGINT, SIGTERM and SIGHUP."""
    def end(*_: Any) -> None:
        teleop.ends = True

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
