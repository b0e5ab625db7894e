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
import numpy as np

from c3p_description.model import CasterRobot
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.emulator.parameters import NODE, devices_of, expected_cards, given_wiring
from c3p_hardware.emulator.wiring import wired
from c3p_hardware.tools.parameter_file import ANY, blocks
from c3p_hardware.transport.can_bus import BusAddress
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.parameter_errors import ParameterErrors
from c3p_simulation.plants.sensors import SensorSettings

# parameters of the emulated cards that make the true robot another one than described
PLANT_ERRORS = {'mass_error': 'mass', 'com_error': 'com', 'friction_error': 'friction',
                'geometry_error': 'wheel_radius', 'steering_zero_error': 'steering_zero',
                'seed': 'seed'}

# numbers of the buses of this process
_NUMBERS = itertools.count(1)


def wired_devices(robot: CasterRobot, files: Sequence[Path]) -> EmulatedDevices:
    """Return the emulated devices of parameter files, with their wiring."""
    expected = EmulatedDevices(**devices_of(expected_cards(files)))
    return wired(expected, given_wiring(files), robot)


def emulated_plant(robot: CasterRobot, files: Sequence[Path]) -> Any:
    """
    Return the true robot behind emulated cards, with the model errors of parameter files.

    It is that of a drive with these files: the node draws the same errors from the same seed.
    """
    found: dict[str, Any] = {}
    for path in files:
        for node, values in blocks(path):
            if node == NODE or node in ANY:
                found |= {name: value for name, value in values.items() if name in PLANT_ERRORS}
    sizes = {PLANT_ERRORS[name]: float(value) for name, value in found.items() if name != 'seed'}
    if 'wheel_radius' in sizes:
        sizes['caster_offset'] = sizes['wheel_radius']
    errors = ParameterErrors(**{'mass': 0.0, 'com': 0.0, **sizes})
    plant = make_plant('analytic', robot, PlantOptions(
        sensors=SensorSettings.ideal(), errors=errors if any(sizes.values()) else None,
        seed=int(found.get('seed', 0))))
    # wheels below their pivots are set parallel by a person, about
    below = not np.any(robot.caster_offset > 0.0)
    plant.reset(steering=[0.02 * (-1) ** i if below else 0.7 - 0.9 * i
                          for i in range(robot.count)])
    return plant


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
