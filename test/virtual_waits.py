# SPDX-License-Identifier: Apache-2.0
"""Timers, locks and conditions on a virtual clock (virtual_time.py)."""

import threading
from collections import deque

# before a virtual clock replaces it
RealLock = threading.Lock


class Timer:
    """As much of an rclpy timer as the nodes use."""

    def __init__(self, time_, period, callback):
        """Begin now."""
        self._time, self._period, self._callback = time_, round(1e9 * period), callback
        self.node, self.order = None, next(time_._count)
        self.reset()

    @property
    def timer_period_ns(self):
        """The period, ns."""
        return self._period

    def reset(self):
        """Begin again now."""
        self.due = self._time.monotonic_ns() + self._period
        if self not in self._time.timers:
            self._time.timers.append(self)

    def cancel(self):
        """Do not call any more."""
        if self in self._time.timers:
            self._time.timers.remove(self)

    destroy = cancel

    def is_canceled(self):
        """Return whether it calls no more."""
        return self not in self._time.timers

    def fire(self):
        """Call; periods that have passed meanwhile are left out, as rcl does."""
        missed = (self._time.monotonic_ns() - self.due) // self._period
        self.due += (missed + 1) * self._period
        self._callback()


class Lock:
    """threading.Lock on a virtual clock: its holder may sleep, and gets its turn to release it."""

    def __init__(self, time_):
        """Be free."""
        self._time, self._real, self._waiters = time_, RealLock(), deque()
        self.locked = self._real.locked

    def acquire(self, blocking=True, timeout=-1):
        """Acquire the lock; return whether it was."""
        while not self._real.acquire(False):
            if not blocking:
                return False
            waiter = self._time._waiter()
            self._waiters.append(waiter)
            if not self._time._wait(waiter, None if timeout < 0 else timeout):
                self._waiters.remove(waiter)
                return False
        return True

    def release(self):
        """Release the lock; the first that waits may try again."""
        self._real.release()
        if self._waiters:
            self._time._notify(self._waiters.popleft())

    def __enter__(self):
        """Acquire the lock."""
        return self.acquire()

    def __exit__(self, *_):
        """Release the lock."""
        self.release()


class Condition:
    """threading.Condition on a virtual clock."""

    def __init__(self, time_, lock=None):
        """Use `lock`, or one of its own."""
        self._time, self._lock, self._waiters = time_, lock or threading.RLock(), deque()
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self):
        """Acquire the lock."""
        return self._lock.__enter__()

    def __exit__(self, *exception):
        """Release the lock."""
        return self._lock.__exit__(*exception)

    def wait(self, timeout=None):
        """Wait until notified; return False when `timeout` s have passed before."""
        waiter = self._time._waiter()
        self._waiters.append(waiter)
        saved = getattr(self._lock, '_release_save', self._lock.release)()
        try:
            notified = self._time._wait(waiter, timeout)
        finally:
            if hasattr(self._lock, '_acquire_restore'):
                self._lock._acquire_restore(saved)
            else:
                self._lock.acquire()
            if waiter in self._waiters:
                self._waiters.remove(waiter)
        return notified

    def wait_for(self, predicate, timeout=None):
        """Wait until `predicate` is true; return its last value."""
        end = None if timeout is None else self._time.monotonic() + timeout
        while not (result := predicate()):
            left = None if end is None else end - self._time.monotonic()
            if left is not None and left <= 0.0:
                break
            self.wait(left)
        return result

    def notify(self, n=1):
        """Wake up to `n` of those that wait."""
        for _ in range(min(n, len(self._waiters))):
            self._time._notify(self._waiters.popleft())

    def notify_all(self):
        """Wake all that wait."""
        self.notify(len(self._waiters))
