# SPDX-License-Identifier: Apache-2.0
"""Emulated cards in this process, wired as in parameter files, for a trial of commissioning."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import can

from c3p_description.model import CasterRobot
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.emulator.parameters import NODE, devices_of, expected_cards, given_wiring
from c3p_hardware.emulator.wiring import wired
from c3p_hardware.tools.parameter_file import ANY, blocks
from c3p_hardware.transport.can_bus import BusAddress

# numbers of the buses of this process
_NUMBERS = itertools.count(1)


def wired_devices(robot: CasterRobot, files: Sequence[Path]) -> EmulatedDevices:
    """Return the emulated devices of parameter files, with their wiring."""
    expected = EmulatedDevices(**devices_of(expected_cards(files)))
    return wired(expected, given_wiring(files), robot)


@contextmanager
def emulated_bus(robot: CasterRobot, plant: Any, files: Sequence[Path]
                 ) -> Iterator[tuple[BusAddress, EmulatedCards]]:
    """
    Yield a bus with the emulated cards of a robot, and the cards, which follow the clock.

    Parameters
    ----------
    robot : CasterRobot
    plant : RobotPlant
        The true robot.
    files : sequence of Path
        Parameter files: what the interface expects, the wiring, and faults.
    """
    channel = f'commission {next(_NUMBERS)}'
    bus = can.Bus(channel, interface='virtual')
    over = threading.Event()
    try:
        cards = EmulatedCards(bus, plant, wired_devices(robot, files), _faults(files))
        thread = threading.Thread(target=cards.run, args=(over,), name='emulated cards',
                                  daemon=True)
        thread.start()
        try:
            yield BusAddress('virtual', channel), cards
        finally:
            over.set()
            thread.join()
    finally:
        bus.shutdown()


def _faults(files: Sequence[Path]) -> str:
    found = ''
    for path in files:
        for node, values in blocks(path):
            if node == NODE or node in ANY:
                found = f'{values.get("faults", found)}'
    return found
