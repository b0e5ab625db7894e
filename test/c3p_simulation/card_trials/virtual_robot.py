# SPDX-License-Identifier: Apache-2.0
"""
The master, the bus, the emulated cards and the robot in one thread, in a time of their own.

The very loop of the hardware interface runs; what is replaced is the clock of its modules, the
bus by two queues, and the start of its thread. A wait lets the cards have that time. So equal
runs are equal, and a busy computer does not matter.
"""

import threading
import time
from collections import deque
from types import SimpleNamespace

import numpy as np

from c3p_description.loader import load
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.settings import card_settings
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport import card_bus, card_link, cycle_loop
from c3p_hardware.transport.can_bus import BusAddress
from c3p_simulation.card_trials.trial_cards import Tap, WatchedPlant
from c3p_simulation.card_trials.trial_master import SERIALS
from c3p_simulation.plants.make import make_plant

STEP = 0.001
# real time for a millisecond while parameters are exchanged, s
ANSWER = 0.0005
# the shortest time to let cycles pass for, s
WAIT = 0.006


class Clock:
    """A time that passes when somebody waits; stands for the module ``time``."""

    def __init__(self):
        self.now, self.cards = 100.0, None

    def monotonic(self):
        return self.now

    thread_time = monotonic

    def sleep(self, seconds):
        end = self.now + max(0.0, seconds)
        while end - self.now > 1e-9:
            self.pass_on(min(STEP, end - self.now))

    def pass_on(self, dt):
        self.cards.advance(dt)
        self.now += dt


class End:
    """One end of a bus: what the other one sent, in order."""

    def __init__(self, clock=None):
        self.waiting, self.other, self._clock = deque(), None, clock
        self.lock = threading.RLock()

    def send(self, message, timeout=None):
        self.other.waiting.append(message)

    def recv(self, timeout=None):
        """Wait in the clock's time; the cards' end has none."""
        if self._clock is not None:
            # parameters are exchanged by two threads
            with self.lock:
                end = self._clock.now + (timeout or 0.0)
                while not self.waiting and end - self._clock.now > 1e-9:
                    if threading.current_thread().name == 'sdo':
                        # who asks is another thread, which a time of its own must not leave behind
                        time.sleep(ANSWER)
                    self._clock.pass_on(min(STEP, end - self._clock.now))
        return self.waiting.popleft() if self.waiting else None

    def shutdown(self):
        pass


class NoThread:
    """Stands for the thread of the cycle, which tests run themselves."""

    def __init__(self, **_):
        pass

    def start(self):
        pass

    def join(self, timeout=None):
        pass

    def is_alive(self):
        return False


class VirtualRobot:
    """
    A `CardLink` with its cards; `run` lets cycles pass.

    Attributes
    ----------
    link : CardLink
    cards : EmulatedCards
    push : list of float or None
        What the controller answers to every cycle, N·m.
    """

    def __init__(self, monkeypatch, **parameters):
        clock = self.clock = Clock()
        mine, theirs = End(clock), End()
        mine.other, theirs.other = theirs, mine
        self._robot = load('c3p')
        self.plant = WatchedPlant(make_plant('analytic', self._robot))
        self.tap = Tap(theirs, {0x80, 0x201, 0x202, 0x203})
        self.cards = EmulatedCards(self.tap, self.plant)
        clock.cards = self.cards
        for module in (card_bus, cycle_loop):
            monkeypatch.setattr(module, 'time', clock)
        # who waits for the cycle to do something lets it do it
        monkeypatch.setattr(card_link, 'time', SimpleNamespace(
            monotonic=clock.monotonic, sleep=lambda _: self.run(lambda: False, WAIT)))
        # what was written down has the clock's time, too
        monkeypatch.setattr('c3p_simulation.card_trials.trial_cards.time', clock)
        self._mine, self._came, self.push = mine, False, [0.0] * 3
        monkeypatch.setattr(card_link, 'open_bus', self._open)
        monkeypatch.setattr(cycle_loop, 'threading', SimpleNamespace(
            Thread=NoThread, Lock=threading.Lock, Event=threading.Event))
        self.settings = card_settings(self._robot, hardware_values(**SERIALS, **parameters))
        self.link = card_link.CardLink(BusAddress('virtual', 'here'), self._robot, self.settings,
                                       self._on_joints, lambda: int(1e9 * clock.now))
        self.link.connect()
        self.link.allow(True)

    def _open(self, address):
        self._mine.waiting.clear()
        return self._mine

    def _nobody_comes(self, seconds):
        if not self._came:
            self.clock.sleep(seconds)
        self._came = False

    def _on_joints(self, joints, stamp):
        self._came = False
        if self.push is not None:
            self.link.command(np.array(self.push), stamp)

    def run(self, until, seconds=5.0):
        """Let cycles pass until a condition holds or the time is over; return whether it holds."""
        loop, end = self.link._loop, self.clock.now + seconds
        # nobody else is there who could command meanwhile
        loop._came = SimpleNamespace(clear=lambda: None, wait=self._nobody_comes,
                                     set=lambda: setattr(self, '_came', True))
        # the thread's loop asks before each cycle whether it is over
        loop._over = SimpleNamespace(
            is_set=lambda: self.clock.now >= end or until(), set=lambda: None)
        loop._keep_rate()
        return until()

    @property
    def speed(self):
        return self.plant.steps[-1][3]

    def record(self):
        return {'steps': self.plant.steps, 'frames': self.tap.frames}
