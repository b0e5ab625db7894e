# SPDX-License-Identifier: Apache-2.0
"""Queue of the commands of the live page, from the server's thread to that of the node."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from c3p_viewers.dashboard.refusal import Refusal

Command = Callable[[Mapping[str, Any]], str]


class _Request(NamedTuple):
    """A command: name, JSON object, latest time of its start and its future reply."""

    name: str
    body: Mapping[str, Any]
    latest: float
    reply: Future[str]


class Requests:
    """
    Commands of all pages, carried out in the order of `submit` by the thread that spins the node.

    Parameters
    ----------
    commands : mapping
        Name → function of the JSON object of a command, which returns a text or raises Refusal.
    clock : callable
        Monotonic time, s.
    """

    def __init__(self, commands: Mapping[str, Command],
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without requests."""
        self._commands = commands
        self._clock = clock
        self._waiting: queue.SimpleQueue[_Request] = queue.SimpleQueue()

    @property
    def waiting(self) -> bool:
        """True while a command waits."""
        return not self._waiting.empty()

    def submit(self, name: str, body: Mapping[str, Any], latest: float) -> Future[str]:
        """
        Queue a command; does not wait.

        Parameters
        ----------
        name : str
        body : mapping
        latest : float
            Time of the clock until which the command may start, s; it is refused later.

        Raises
        ------
        Refusal
            No command has this name.
        """
        if name not in self._commands:
            raise Refusal(f'{name[:40]!r}: no such command')
        reply: Future[str] = Future()
        self._waiting.put(_Request(name, body, latest, reply))
        return reply

    def carry_out(self) -> None:
        """Carry out the waiting commands."""
        while not self._waiting.empty():
            request = self._waiting.get()
            if not request.reply.set_running_or_notify_cancel():
                continue
            try:
                if self._clock() > request.latest:
                    raise Refusal(f'{request.name}: too old, the dashboard was busy; send it '
                                  'again')
                request.reply.set_result(self._commands[request.name](request.body))
            except Exception as error:
                request.reply.set_exception(error)
