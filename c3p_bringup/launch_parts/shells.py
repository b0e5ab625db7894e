# SPDX-License-Identifier: Apache-2.0
"""
End of a program that another launch file starts through a shell.

launch signals the shell alone. Ctrl-C at a terminal reaches the whole process group, but after
``kill -INT`` of ``ros2 launch``, or a shutdown that a handler requests, the shell ends and the
program stays. These handlers send the signal to the descendants of the shell as well.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events.process import ProcessExited, ProcessStarted

from launch import LaunchContext, LaunchDescriptionEntity

# fields after the name in /proc/PID/stat: parent, and time of the start
PARENT = 1
STARTED = 19


def interrupted_with_launch(words: str) -> list[LaunchDescriptionEntity]:
    """
    Return the handlers that end the descendants of a shell; they precede what starts it.

    At the shutdown of the launch the descendants get SIGINT, and SIGKILL if they still run when
    the shell has ended.

    Parameters
    ----------
    words : str
        Part of the command line of the shell, which identifies it.
    """
    shells: list[int] = []
    descendants: dict[int, str] = {}

    def started(event: ProcessStarted, _: LaunchContext) -> None:
        if words in ' '.join(event.cmd):
            shells.append(event.pid)

    def interrupt(*_: Any) -> None:
        for shell in shells:
            descendants.update(_descendants(shell))
        _signal(descendants, signal.SIGINT)

    def kill(event: ProcessExited, _: LaunchContext) -> None:
        if event.pid in shells:
            _signal(descendants, signal.SIGKILL)

    return [RegisterEventHandler(OnProcessStart(on_start=started)),
            RegisterEventHandler(OnShutdown(on_shutdown=interrupt)),
            RegisterEventHandler(OnProcessExit(on_exit=kill))]


def _processes() -> dict[int, tuple[int, str]]:
    """Return {process: (parent, time of its start)} of the computer; empty without /proc."""
    found = {}
    for file in Path('/proc').glob('[0-9]*/stat'):
        # it may have ended meanwhile
        with suppress(OSError):
            # the name in brackets may contain anything
            fields = file.read_text().rpartition(')')[2].split()
            found[int(file.parent.name)] = int(fields[PARENT]), fields[STARTED]
    return found


def _descendants(pid: int) -> dict[int, str]:
    """Return {process: time of its start} of all descendants of a process."""
    processes = _processes()
    found = {}
    pending = [pid]
    while pending:
        parent = pending.pop()
        children = {child: start for child, (its, start) in processes.items() if its == parent}
        found.update(children)
        pending.extend(children)
    return found


def _signal(descendants: dict[int, str], number: signal.Signals) -> None:
    """Send a signal to those that still run; a number may have gone to another process."""
    processes = _processes()
    for pid, start in descendants.items():
        if processes.get(pid, (0, ''))[1] == start:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
