# SPDX-License-Identifier: Apache-2.0
"""
Virtual time for the threads, timers and nodes of one process.

While it is installed, `time`, `threading` and `queue` use it, and so do the clocks and timers of
rclpy. Threads started meanwhile take turns with the test: one runs at a time, until it sleeps,
waits or ends. When nothing is left to run, time jumps to the next deadline of a thread or timer.
A second on this clock therefore holds the same events on every machine, however fast or busy.

Not on this clock: waits in C++, sockets and files, other processes, threads started before.
"""

import contextlib
import itertools
import queue
import sys
import threading
import time
import traceback
from collections import deque

from virtual_waits import Condition, Lock, RealLock, Timer

# a thread that neither waits nor ends within this time of the real clock hangs, s
HANGS = 120.0
# rounds of ready callbacks before time passes nevertheless: nodes in lockstep are never idle
ROUNDS = 50
# duration of reading the clock, ns: two readings, and so two stamps, differ
LOOK = 1_000
# the system clock at the start, ns: a day in 2025
EPOCH = 1_750_000_000_000_000_000
# the monotonic clock at the start, ns
START = 1_000_000_000_000

_REAL = {name: getattr(time, name) for name in (
    'monotonic', 'monotonic_ns', 'time', 'time_ns', 'perf_counter', 'perf_counter_ns', 'sleep')}
_RealCondition = threading.Condition
_start, _join = threading.Thread.start, threading.Thread.join


class Stuck(AssertionError):
    """A thread does not return its turn."""


class _Turn:
    """A thread that takes turns with the others."""

    def __init__(self, thread):
        self.thread, self.baton = thread, RealLock()
        self.baton.acquire()
        # when it goes on at the latest, ns; None while nothing but a notification wakes it
        self.due, self.order, self.done, self.waits = None, 0, False, False
        self.joining = []


class _Waiter:
    """One wait for a notification."""

    def __init__(self, turn):
        self.turn, self.notified, self.real = turn, False, None


class VirtualTime:
    """
    The clock, and the turns of those that live by it.

    Attributes
    ----------
    timers : list
        Callbacks of `add_timer` that have not been cancelled.
    serve : callable
        Runs what is ready in the test's own thread, such as an executor; called by `advance`
        whenever all threads wait. Returns whether there was something to run.
    """

    # nothing takes longer unless it is broken, s
    patience = 15.0

    def __init__(self):
        """Create the clock; `installed` puts it into use."""
        self._now, self._count = START, itertools.count()
        self._main, self._driver = threading.get_ident(), RealLock()
        self._driver.acquire()
        self._turns, self._ready = {}, deque()
        self._guard = threading.RLock()
        self.timers, self.serve = [], lambda: False

    # -- clocks ----------------------------------------------------------------------------------

    def monotonic_ns(self):
        """Replace time.monotonic_ns."""
        self._now += LOOK
        return self._now

    def time_ns(self):
        """Replace time.time_ns."""
        return self.monotonic_ns() - START + EPOCH

    def monotonic(self):
        """Replace time.monotonic."""
        return self.monotonic_ns() * 1e-9

    def time(self):
        """Replace time.time."""
        return self.time_ns() * 1e-9

    # -- what threads do -------------------------------------------------------------------------

    def sleep(self, seconds):
        """Replace time.sleep; in the test's thread, run the others meanwhile."""
        due = self._now + max(0, round(1e9 * seconds))
        if (turn := self._turn()) is not None:
            self._park(turn, due)
        elif threading.get_ident() == self._main:
            self._pass_until(due, lambda: False)
        else:
            _REAL['sleep'](seconds)

    def start(self, thread):
        """Replace Thread.start: the thread runs when its turn comes."""
        turn = self._turns[thread] = _Turn(thread)
        run = thread.run

        def take_turns():
            turn.baton.acquire()
            try:
                run()
            finally:
                with self._guard:
                    turn.done = True
                    for waiter in turn.joining:
                        self._notify(waiter)
                    del self._turns[thread]
                self._driver.release()

        thread.run = take_turns
        # Thread.start waits for the thread itself, without time
        thread._started._cond = _RealCondition(RealLock())
        self._wake(turn)
        _start(thread)

    def join(self, thread, timeout=None):
        """Replace Thread.join."""
        with self._guard:
            turn = self._turns.get(thread)
            waiter = self._waiter()
            if turn is not None:
                turn.joining.append(waiter)
        if turn is not None and not self._wait(waiter, timeout):
            return
        _join(thread, timeout)

    def _turn(self):
        """Return what this thread is to the clock; None for the test and for others."""
        turn = self._turns.get(threading.current_thread())
        return None if turn is None or turn.done else turn

    def _waiter(self):
        """Return a new wait of this thread."""
        waiter = _Waiter(self._turn())
        if waiter.turn is None and threading.get_ident() != self._main:
            # a thread outside of this clock
            waiter.real = RealLock()
            waiter.real.acquire()
        return waiter

    def _park(self, turn, due, waiter=None):
        """End the turn of this thread; go on at `due` (ns) or when `waiter` is notified."""
        with self._guard:
            if waiter is not None and waiter.notified:
                return
            turn.due, turn.order, turn.waits = due, next(self._count), True
        self._driver.release()
        turn.baton.acquire()

    def _wake(self, turn):
        with self._guard:
            turn.due, turn.waits = None, False
            self._ready.append(turn)

    def _wait(self, waiter, timeout):
        """Wait in this thread until notified or `timeout` s have passed; return which."""
        due = None if timeout is None else self._now + max(0, round(1e9 * timeout))
        if waiter.turn is not None:
            self._park(waiter.turn, due, waiter)
        elif threading.get_ident() == self._main:
            self._pass_until(due, lambda: waiter.notified)
        else:
            waiter.real.acquire(timeout=-1 if timeout is None else timeout)
        return waiter.notified

    def _notify(self, waiter):
        with self._guard:
            waiter.notified = True
            if waiter.turn is not None and waiter.turn.waits:
                self._wake(waiter.turn)
            elif waiter.real is not None:
                waiter.real.release()

    # -- what the test does ----------------------------------------------------------------------

    def add_timer(self, period, callback):
        """Call `callback` every `period` s from within `advance`; return the timer."""
        return Timer(self, period, callback)

    def advance(self, seconds, until=lambda: False):
        """
        Let time pass and run what becomes ready, for `seconds` or until `until` is true.

        Returns whether `until` became true.
        """
        end = self._now + round(1e9 * seconds)
        while True:
            for _ in range(ROUNDS):
                if not self.settle() or until():
                    break
            if until():
                return True
            if self._now >= end:
                return False
            due = min([end, *(t.due for t in self.timers)])
            self._jump(self._next(due))

    def stall(self, seconds):
        """Let time pass while nothing runs, as when the computer is suspended."""
        self._now += round(1e9 * seconds)

    def settle(self):
        """Run what is ready now, in threads, in `serve` and in timers; return whether it was."""
        busy = self._run_threads()
        for timer in sorted(self.timers, key=lambda t: (t.due, t.order)):
            if timer.due <= self._now and timer in self.timers:
                timer.fire()
                busy = True
        return self.serve() or busy

    def _run_threads(self):
        """Give each thread that is ready its turn."""
        busy = False
        while self._ready:
            turn, busy = self._ready.popleft(), True
            turn.baton.release()
            if not self._driver.acquire(timeout=HANGS):
                frame = sys._current_frames().get(turn.thread.ident)
                raise Stuck(f'{turn.thread.name} hangs:\n'
                            + ''.join(traceback.format_stack(frame)))
        return busy

    def _pass_until(self, due, over):
        """Run the threads until `over`, or until `due` (ns); serve no callbacks."""
        hangs = _REAL['monotonic']() + HANGS
        while True:
            self._run_threads()
            if over() or due is not None and self._now >= due:
                return
            following = self._next(due)
            if following is None:
                # the notification comes from outside of this clock
                if _REAL['monotonic']() > hangs:
                    raise Stuck('nothing that runs can wake the test')
                _REAL['sleep'](1e-3)
            else:
                self._jump(following)

    def _next(self, limit):
        """Return when something happens next, at `limit` at the latest (ns); None for never."""
        with self._guard:
            due = [t.due for t in self._turns.values() if t.waits and t.due is not None]
        if limit is not None:
            due.append(limit)
        return min(due, default=None)

    def _jump(self, moment):
        with self._guard:
            self._now = max(self._now, moment)
            due = [t for t in self._turns.values()
                   if t.waits and t.due is not None and t.due <= self._now]
            for turn in sorted(due, key=lambda t: (t.due, t.order)):
                self._wake(turn)

    # -- installation ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def installed(self):
        """Put this clock in the place of the real one."""
        undo = contextlib.ExitStack()

        def replace(owner, **names):
            for name, value in names.items():
                undo.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)

        with undo:
            replace(time, monotonic=self.monotonic, monotonic_ns=self.monotonic_ns,
                    time=self.time, time_ns=self.time_ns, perf_counter=self.monotonic,
                    perf_counter_ns=self.monotonic_ns, sleep=self.sleep)
            replace(threading, Condition=lambda lock=None: Condition(self, lock),
                    Lock=lambda: Lock(self))
            replace(threading.Thread, start=lambda thread: self.start(thread),
                    join=lambda thread, timeout=None: self.join(thread, timeout))
            replace(queue, time=self.monotonic)
            # modules that took the function itself
            for name in ('can.bus', 'can.interfaces.virtual', 'can.notifier'):
                module = sys.modules.get(name)
                for function, value in (('time', self.time), ('sleep', self.sleep)):
                    if getattr(module, function, None) is _REAL[function]:
                        replace(module, **{function: value})
            if 'rclpy' in sys.modules:
                self._install_ros(replace)
            yield self

    def _install_ros(self, replace):
        from rclpy.clock import Clock, ClockType
        from rclpy.node import Node
        from rclpy.time import Time

        clock_now, destroy_node = Clock.now, Node.destroy_node

        def now(clock):
            if getattr(clock, 'ros_time_is_active', False):
                return clock_now(clock)
            steady = clock.clock_type == ClockType.STEADY_TIME
            return Time(nanoseconds=self.monotonic_ns() if steady else self.time_ns(),
                        clock_type=clock.clock_type)

        def create_timer(node, timer_period_sec, callback, *_, **__):
            timer = self.add_timer(timer_period_sec, callback)
            timer.node = node
            return timer

        def destroy_all(node):
            self.timers[:] = [t for t in self.timers if t.node is not node]
            destroy_node(node)

        replace(Clock, now=now)
        replace(Node, create_timer=create_timer, destroy_node=destroy_all,
                destroy_timer=lambda node, timer: timer.cancel())


class RealTime:
    """The clock on the wall with the interface of a VirtualTime, beside other processes."""

    # nothing takes longer unless it is broken, also beside other programs, s
    patience = 120.0

    def __init__(self):
        """Serve nothing yet."""
        self.serve, self.sleep = lambda: False, time.sleep

    def advance(self, seconds, until=lambda: False):
        """Serve what becomes ready, for `seconds` or until `until` is true; return which."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() >= end:
                return False
            if not self.serve():
                self.sleep(1e-3)
        return True

    def installed(self):
        """Replace nothing."""
        return contextlib.nullcontext(self)
