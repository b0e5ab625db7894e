# SPDX-License-Identifier: Apache-2.0
"""The link of the hardware interface, its cycle, a bus and emulated cards on a virtual clock."""

import threading
import time

import can
import numpy as np

from c3p_description.reading.loader import load
from c3p_experiments.card_faults.servers import SERIALS, BusTap, WatchedPlant
from c3p_hardware.axes import card_settings
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport import card_link
from c3p_hardware.transport.can_bus import BusAddress
from c3p_simulation.make_plant import make_plant


class VirtualRobot:
    """
    A `CardLink` with its cards; `run` lets time pass.

    Attributes
    ----------
    link : CardLink
    cards : EmulatedCards
    push : list of float or None
        What the controller answers to every cycle, N·m.
    """

    def __init__(self, virtual_time, **parameters):
        self._clock, self._channel = virtual_time, f'robot {id(self)}'
        robot = load('c3p')
        self.plant = WatchedPlant(make_plant('analytic', 'c3p'))
        self._bus = can.Bus(self._channel, interface='virtual')
        self.tap = BusTap(self._bus, {0x80, 0x201, 0x202, 0x203})
        self.cards = EmulatedCards(self.tap, self.plant)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.cards.run, args=(self._over,))
        self._thread.start()
        self.push = [0.0] * 3
        settings = card_settings(robot, hardware_values(**SERIALS, **parameters))
        self.link = card_link.CardLink(BusAddress('virtual', self._channel), robot, settings,
                                       self._on_joints, time.time_ns)
        self.link.connect()
        self.link.allow(True)

    def _on_joints(self, joints, stamp):
        if self.push is not None:
            self.link.command(np.array(self.push), stamp)

    def run(self, until, seconds=5.0):
        """Let time pass until a condition holds or `seconds` are over; return whether it holds."""
        return self._clock.advance(seconds, until)

    @property
    def now(self):
        return self._clock.monotonic()

    @property
    def speed(self):
        return self.plant.steps[-1][3] if self.plant.steps else 0.0

    def record(self):
        return {'steps': self.plant.steps, 'frames': self.tap.frames}

    def close(self):
        self.link.close()
        self._over.set()
        self._thread.join()
        self._bus.shutdown()
