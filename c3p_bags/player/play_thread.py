# SPDX-License-Identifier: Apache-2.0
"""Sends recorded messages at their times, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from c3p_bags.player.playback import Lateness, PlaybackPace
from c3p_bags.storage.bag import RawMessage
from c3p_bags.storage.bag_writer import BagError


class PlayThread:
    """
    Plays passes of messages until the last one is complete, or `stop`.

    Parameters
    ----------
    messages : callable
        Returns the messages of one pass, in the order of their times.
    send : callable
        Publishes a message.
    begin, end : callable
        Called from the thread, before the first message and after the last one; `end` receives the
        failure, and whether the playback was stopped.
    rate : float
        Recorded time per real time.
    delay : float, s
        Wait before `begin`.
    loop : bool
        Begin again at the end.
    paused : bool
        Wait for `resume` before the first message.

    Attributes
    ----------
    late : Lateness
    failure : str
        Reason of an early end; empty without one.
    done : bool
        The thread has ended.
    position : float, s
        Recorded time since the first message of the pass.
    """

    def __init__(self, messages: Callable[[], Iterable[RawMessage]],
                 send: Callable[[RawMessage], None], begin: Callable[[], None],
                 end: Callable[[str, bool], None], *, rate: float, delay: float, loop: bool,
                 paused: bool) -> None:
        """Start the thread."""
        self.failure, self.done, self.position, self.late = '', False, 0.0, Lateness()
        self._messages = messages
        self._send = send
        self._begin = begin
        self._end = end
        self._delay = delay
        self._loop = loop
        self._pace, self._wake, self._stopped = PlaybackPace(rate), threading.Condition(), False
        if paused:
            self._pace.pause(time.monotonic())
        self._thread = threading.Thread(target=self._run, name='player', daemon=True)
        self._thread.start()

    def pause(self, paused: bool) -> None:
        """Pause or resume."""
        with self._wake:
            (self._pace.pause if paused else self._pace.resume)(time.monotonic())
            self._wake.notify()

    def stop(self) -> None:
        """End the thread; no effect after its end. In the thread itself: without waiting."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            start = time.monotonic() + self._delay
            with self._wake:
                while not self._stopped and (left := start - time.monotonic()) > 0.0:
                    self._wake.wait(left)
            self._begin()
            self._pass()
            while self._loop and not self._stopped:
                self._pass()
        except (ValueError, OSError) as error:
            self.failure = f'{error}'
        finally:
            self._end(self.failure, self._stopped)
            self.done = True

    def _pass(self) -> None:
        """Play the messages once."""
        begin = None
        for message in self._messages():
            if begin is None:
                begin = message.time
                with self._wake:
                    self._pace.begin(begin, time.monotonic())
            # a pause shifts the due time while waiting
            late = self._wait_for(message.time)
            if self._stopped:
                return
            self.late.add(late)
            self.position = (message.time - begin) * 1e-9
            self._send(message)
        if begin is None:
            raise BagError('no message from start_offset on')

    def _wait_for(self, moment: int) -> float:
        """Wait until a recorded time [ns] is due; return the delay beyond it, s."""
        with self._wake:
            while not self._stopped:
                if self._pace.paused:
                    self._wake.wait()
                    continue
                left = self._pace.due(moment) - time.monotonic()
                if left <= 0.0:
                    return -left
                self._wake.wait(left)
        return 0.0
