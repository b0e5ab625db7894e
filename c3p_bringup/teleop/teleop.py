# SPDX-License-Identifier: Apache-2.0
"""Keys to commands, twenty times a second, until Ctrl-C, a signal or the end of the terminal."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from c3p_bringup.teleop.key_drive import KeyDrive
from c3p_bringup.teleop.keys import MOVES, KeyReader
from c3p_bringup.teleop.robot_link import RobotLink
from c3p_bringup.teleop.screen import View, painted
from c3p_bringup.teleop.terminal import Terminal
from c3p_ros.executor import make_executor, spin

# between commands, pictures, and repetitions of a pressed e-stop, s
COMMAND, PAINT, REPEAT = 0.05, 0.1, 0.5

# a program that stood still for longer does not know what is held, s
PAUSE = 0.3

# a sequence that is not continued for so long was a key, s
LONELY = 0.05

# zero commands at the end
LAST_ZEROS = 3

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Teleop:
    """
    Drives until it is asked to end.

    Parameters
    ----------
    link : RobotLink
        Its node spins elsewhere.
    drive : KeyDrive
    terminal : Terminal

    Attributes
    ----------
    asked : bool
        Set from outside to end.
    figures : dict
        What happened, SI units.
    """

    def __init__(self, link: RobotLink, drive: KeyDrive, terminal: Terminal) -> None:
        """Take the three."""
        self._link, self._drive, self._terminal = link, drive, terminal
        self._reader, self._view, self._typed = KeyReader(), View('', ''), 0.0
        self._limits: tuple[float, float] | None = None
        self._due = {'command': 0.0, 'paint': 0.0, 'repeat': 0.0}
        self.asked = False
        self.figures: dict[str, Any] = {'commands': 0, 'e_stops': 0, 'pauses': 0}

    def run(self) -> None:
        """Drive; when it ends for whatever reason, the robot is told to stand."""
        begin = last = time.monotonic()
        try:
            while not (self.asked or self._drive.quits):
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
            self.figures |= {'duration_s': time.monotonic() - begin, 'stops': self._drive.stops,
                             'topic': self._link.place, 'e_stop_held': self._drive.holds}

    def _paused(self, now: float) -> bytes:
        """Stop, and forget what was typed meanwhile; return what is left."""
        self._drive.stop(now)
        self._terminal.forget()
        self._reader.flush()
        self.figures['pauses'] += 1
        return b''

    def _step(self, data: bytes, now: float) -> None:
        keys = self._keys(data, now)
        if self._link.limits != self._limits:
            self._limits = self._link.limits
            self._drive.limit(*self._limits)
        if self._drive.keys(keys, now):
            self.figures['e_stops'] += self._drive.holds
            self._link.say(self._drive.holds)
        if self._drive.holds and self._is_due('repeat', REPEAT, now):
            # for whoever came later, or was started again
            self._link.say(True)
        self._drive.lock(self._drive.holds or self._link.locked, now)
        # a stop does not wait for its turn
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
        # past a twist_mux that has not been found yet there is no e-stop
        return keys if self._link.ready else [key for key in keys if key not in MOVES]

    def _send(self, twist: np.ndarray) -> None:
        self._link.send(twist)
        self.figures['commands'] += 1

    def _paint(self, now: float) -> None:
        view, drive, link = self._view, self._drive, self._link
        view.note = ('' if link.heard else f'nobody takes {link.place}' if link.ready
                     else 'looking for the robot')
        link.show(view)
        view.speed, view.yaw_rate = drive.speed, drive.yaw_rate
        view.locked = drive.holds or link.locked
        view.e_stop = e_stop_text(drive.holds, link.locked, link.muxed)
        if drive.waits(now) and not view.locked:
            view.note = view.note or 'released: let go of all keys, then press one'
        self._terminal.write(painted(view, *self._terminal.size()))


def e_stop_text(holds: bool, locked: bool, muxed: bool) -> str:
    """
    Return the state of the e-stop in words.

    Parameters
    ----------
    holds : bool
        This keyboard has pressed it.
    locked : bool
        Somebody has.
    muxed : bool
        A twist_mux obeys it.
    """
    reach = '' if muxed else ' (no twist_mux: this keyboard only)'
    if holds:
        return f'PRESSED here{reach}; r releases'
    return f'PRESSED{reach}; r releases' if locked else f'released{reach}'


@contextmanager
def spinning(link: RobotLink) -> Iterator[None]:
    """Let the node's callbacks run in a thread meanwhile."""
    over = threading.Event()
    executor = make_executor()
    executor.add_node(link)
    thread = threading.Thread(target=spin, args=(executor, over.is_set, 0.1), name='robot link',
                              daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(2.0)
        executor.shutdown(timeout_sec=1.0)


@contextmanager
def signals_end(teleop: Teleop) -> Iterator[None]:
    """End `teleop` in good order on SIGINT, SIGTERM and when the terminal hangs up."""
    def ask(*_: Any) -> None:
        teleop.asked = True

    before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
