# SPDX-License-Identifier: Apache-2.0
"""
Real-time options of a process: priority, locked memory, processors that stay awake, busy waiting.

Each is off by default, and an option that the system does not permit is an error with its
remedy: a loop that only seems to have priority is worse than one known to have none. Linux only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# memory of the present and of the future, mlockall(2)
LOCK_ALL = 3

# file that limits the wake-up latency of idle processors, µs, as long as it is open
LATENCY = Path('/dev/cpu_dma_latency')

CROWDED = ('and real-time priority on a single processor delays other processes, an e-stop '
           'included, to 0.8 s; allow two processors, lower the rate, or start without --priority')

# longest busy wait, s: longer ones take a processor from the rest of the robot
LONGEST_WAIT = 0.002

# lines of /etc/security/limits.conf
LIMITS = ('add "@realtime - {} {}" to /etc/security/limits.conf, be a member of that group and '
          'log in again')


@dataclass(frozen=True)
class RealTime:
    """
    Options of a process.

    Attributes
    ----------
    priority : int
        SCHED_FIFO priority of all threads, 1 to 99; 0: the normal scheduler.
    lock_memory : bool
        Whether memory stays in RAM (mlockall).
    awake : bool
        Whether idle processors stay awake (/dev/cpu_dma_latency at 0 µs); costs power.
    processors : tuple of int
        Processors of all threads; empty: any.
    busy_wait : float, s
        Time before a deadline of the cycle that is not slept.
    """

    priority: int = 0
    lock_memory: bool = False
    awake: bool = False
    processors: tuple[int, ...] = ()
    busy_wait: float = 0.0

    def __post_init__(self) -> None:
        """Reject values out of range."""
        if not 0 <= self.priority <= 99:
            raise ValueError(f'priority = {self.priority}: must be 1 to 99, or 0 for none')
        if not 0.0 <= self.busy_wait <= LONGEST_WAIT:
            raise ValueError(f'busy_wait = {self.busy_wait}: must be 0 to {LONGEST_WAIT:g} s')


class _Held:
    """Busy wait of the cycles, and an open file, until the process ends."""

    busy_wait = 0.0
    latency = -1


def threads() -> list[int]:
    """Return the numbers of the threads of this process."""
    return [int(path.name) for path in Path('/proc/self/task').iterdir()]


def set_priority(priority: int) -> None:
    """Give all threads the SCHED_FIFO `priority`; later threads inherit it."""
    def rise() -> None:
        for thread in threads():
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))

    _demand(f'priority {priority}', LIMITS.format('rtprio', 80), rise)


def lock_memory() -> None:
    """Keep all memory of this process in RAM."""
    def lock() -> None:
        # with a limit that is too low a later allocation would fail, in the middle of a drive
        if os.geteuid() and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != (
                resource.RLIM_INFINITY):
            raise PermissionError(errno.EPERM, 'the limit of locked memory is not "unlimited"')
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(LOCK_ALL):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    _demand('locked memory', LIMITS.format('memlock', 'unlimited'), lock)


def stay_awake(path: Path = LATENCY) -> None:
    """Hold the file `path` open with a latency of 0 µs until the process ends."""
    def hold() -> None:
        _Held.latency = os.open(path, os.O_WRONLY)
        os.write(_Held.latency, (0).to_bytes(4, 'little'))

    _demand('processors that stay awake',
            f'give your group write access to {path} by a udev rule: KERNEL=="{path.name}", '
            'GROUP="realtime", MODE="0660"', hold)


def set_processors(processors: tuple[int, ...]) -> None:
    """Run all threads on these `processors` only."""
    def move() -> None:
        for thread in threads():
            os.sched_setaffinity(thread, processors)

    _demand(f'processors {",".join(map(str, processors))}',
            f'choose from {sorted(os.sched_getaffinity(0))}', move)


def apply(options: RealTime) -> None:
    """
    Put `options` in force for this process.

    Raises
    ------
    ValueError
        One that is not permitted or not possible, with the remedy.
    """
    _Held.busy_wait = options.busy_wait
    if options.processors:
        set_processors(options.processors)
    if options.awake:
        stay_awake()
    if options.lock_memory:
        lock_memory()
    # last: the memory is locked at normal priority
    if options.priority:
        set_priority(options.priority)


def _demand(what: str, remedy: str, act: Callable[[], object]) -> None:
    try:
        act()
    except (OSError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else 'Linux only'
        raise ValueError(f'{what}: not possible ({reason}); {remedy}') from error


class CrowdedProcessor:
    """
    Watch for a loop of real-time priority that leaves other processes no processor.

    On a single one the kernel gives the others 5 % (sched_rt_runtime_us) while the loop overruns:
    an e-stop of another process was measured to take effect after 0.8 s.
    """

    def __init__(self) -> None:
        """Begin without overruns."""
        self._overruns = 0
        self._late = 0
        self._warned = False

    def caution(self, overruns: int) -> str:
        """
        Return the warning, once; else the empty string.

        `overruns` are those of the loop so far. It is called once a second, and overruns in two
        successive ones count: a single delay is of no harm.
        """
        self._late = self._late + 1 if overruns > self._overruns else 0
        self._overruns = overruns
        if self._late < 2 or self._warned or not crowded():
            return ''
        self._warned = True
        return f'the loop overruns, {CROWDED}'


def crowded(process: int = 0) -> bool:
    """Return whether a process, by default this one, has real-time priority on one processor."""
    return (os.sched_getscheduler(process) in (os.SCHED_FIFO, os.SCHED_RR)
            and len(os.sched_getaffinity(process)) < 2)


def sleep_until(deadline: float) -> None:
    """Sleep until `deadline` on the monotonic clock, s; the busy wait of the process is spun."""
    time.sleep(max(0.0, deadline - _Held.busy_wait - time.monotonic()))
    while time.monotonic() < deadline:
        pass


def wait_on(news: threading.Condition, left: Callable[[], float]) -> None:
    """
    Wait until `left` seconds are 0; it is evaluated anew at each notification of `news`.

    The busy wait of the process is spun, without the lock of `news`.
    """
    with news:
        while (rest := left()) > _Held.busy_wait:
            news.wait(rest - _Held.busy_wait)
    sleep_until(time.monotonic() + rest)


def describe(process: Path = Path('/proc/self')) -> str:
    """Return the options in force of a process, by its folder below /proc; '' without any."""
    number = int(process.resolve().name)
    found = []
    if os.sched_getscheduler(number) == os.SCHED_FIFO:
        found.append(f'priority {os.sched_getparam(number).sched_priority}')
    for line in (process / 'status').read_text(encoding='utf-8').splitlines():
        if line.startswith('VmLck:') and int(line.split()[1]) > 0:
            found.append(f'{int(line.split()[1]) >> 10} MiB of memory locked')
    used = os.sched_getaffinity(number)
    every = os.cpu_count() or 1
    if len(used) < every:
        found.append(f'processors {",".join(map(str, sorted(used)))} of {every}')
    if any(_target(link) == f'{LATENCY}' for link in (process / 'fd').iterdir()):
        found.append('processors stay awake')
    return ', '.join(found)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # closed meanwhile
        return ''
