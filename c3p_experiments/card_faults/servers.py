# SPDX-License-Identifier: Apache-2.0
"""
Processes of a trial: ``python -m`` this module with ``bus``, ``cards`` or ``master``.

The bus alone, so that it can be killed; the emulated cards with a simulated robot, which record
what happens to them; the master of the cards with a controller that pushes, without ROS.
"""

from __future__ import annotations

import contextlib
import select
import sys
import threading
import time
from typing import Any

import can
import numpy as np

from c3p_description.reading.loader import load_casters
from c3p_experiments.card_faults.process import serve
from c3p_hardware.axes import card_settings
from c3p_hardware.canopen.process_data import SYNC_ID, rpdo
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.joint_sensing import SensedJoints
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_hardware.transport.serial_can import FastSerialBus, PtyBus
from c3p_simulation.make_plant import make_plant
from c3p_simulation.plants.plant import GroundTruth, JointSample, Plant

# how often the thread of the bus checks for its end, s
POLL = 0.05

# the emulated drives have serial numbers, so that an exchanged one is detected
SERIALS: dict[str, Any] = {'drives.serial_numbers': [1001, 1002, 1003],
           'encoders.serial_numbers': [2001, 2002, 2003]}


class BusServer:
    """Passes frames between two pseudo terminals, each with a link to its file."""

    requests = ('lay',)

    def __init__(self) -> None:
        """Start without connected ports."""
        self._over = threading.Event()

    def lay(self, one: str, other: str) -> None:
        """Make both ends and pass frames from now on."""
        ends = (PtyBus(one), PtyBus(other))
        threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, one: PtyBus, other: PtyBus) -> None:
        route = {one.fileno(): (one, other), other.fileno(): (other, one)}
        while not self._over.is_set():
            for ready in select.select(list(route), [], [], POLL)[0]:
                here, there = route[ready]
                with contextlib.suppress(can.CanError):
                    while (frame := here.recv(0)) is not None:
                        there.send(frame)


class BusTap:
    """A bus that passes everything and records SYNCs and the orders of the master in `frames`."""

    def __init__(self, bus: can.BusABC, identifiers: set[int]) -> None:
        """Record (time on the monotonic clock, identifier, data as hex) of these identifiers."""
        self.bus = bus
        self._recorded = identifiers
        self.frames: list[tuple[float, int, str]] = []

    def recv(self, timeout: float | None = None) -> can.Message | None:
        """Return the next frame, as the bus."""
        message = self.bus.recv(timeout)
        if message is not None and message.arbitration_id in self._recorded:
            self.frames.append((time.monotonic(), message.arbitration_id,
                                bytes(message.data).hex()))
        return message

    def send(self, message: can.Message) -> None:
        """Send, as the bus."""
        self.bus.send(message)


class WatchedPlant:
    """
    A plant that records each step.

    Attributes
    ----------
    steps : list of tuple
        Time on the monotonic clock, s; X, Y, m; speed, m/s; yaw rate, rad/s; torque of each wheel,
        N·m; rate of each wheel, rad/s.
    """

    def __init__(self, plant: Plant) -> None:
        """Record `plant`."""
        self._plant, self.robot = plant, plant.robot
        self.steps: list[tuple[Any, ...]] = []

    def sense(self) -> JointSample:
        """Return the joints now, as the plant."""
        return self._plant.sense()

    def truth(self) -> GroundTruth:
        """Return pose and twist now, as the plant."""
        return self._plant.truth()

    def step(self, wheel_torque: Any, dt: float) -> JointSample:
        """Step as the plant, and record it."""
        sample = self._plant.step(wheel_torque, dt) or self._plant.sense()
        truth = self._plant.truth()
        self.steps.append((time.monotonic(), float(truth.pose[0]), float(truth.pose[1]),
                           float(np.hypot(truth.twist[0], truth.twist[1])),
                           float(truth.twist[2]), [float(t) for t in wheel_torque],
                           [float(r) for r in sample.wheel_rate]))
        return sample


class CardsServer:
    """Emulated cards that are created anew for every trial."""

    requests = ('new', 'plug', 'inject', 'now', 'record', 'end')

    def __init__(self) -> None:
        """Start without cards."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def new(self, channel: str, wired: bool = False) -> None:
        """Switch on new cards at `channel`: a link to make, or an existing one with `wired`."""
        self.end()
        bus = FastSerialBus(channel) if wired else PtyBus(channel)
        self._plant = WatchedPlant(make_plant('analytic', 'c3p'))
        self._tap = BusTap(bus,
                           {SYNC_ID, *(rpdo(1, i + 1) for i in range(self._plant.robot.count))})
        self._cards = EmulatedCards(self._tap, self._plant)
        self._stop.clear()
        self._thread = threading.Thread(target=self._cards.run, args=(self._stop,), daemon=True)
        self._thread.start()

    def plug(self, channel: str) -> None:
        """Connect the cards to a new bus."""
        old = self._tap.bus
        self._tap.bus = FastSerialBus(channel)
        old.shutdown()

    def inject(self, faults: str) -> float:
        """Begin faults now; return the time."""
        now = time.monotonic()
        self._cards.inject(faults)
        return now

    def now(self) -> dict[str, Any]:
        """Return speed and yaw rate of the platform and the error codes of the drives."""
        _, _, _, speed, turning, _, _ = self._plant.steps[-1]
        return {'speed': speed, 'turning': turning,
                'errors': [d.drive.error_code for d in self._cards.drives]}

    def record(self) -> dict[str, Any]:
        """Return everything that was recorded."""
        return {'steps': list(self._plant.steps), 'frames': list(self._tap.frames)}

    def end(self) -> None:
        """Switch the cards off."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._tap.bus.shutdown()
            self._thread = None


class MasterServer:
    """A `CardLink` whose every cycle is answered with the same torques."""

    requests = ('connect', 'push', 'arm', 'recover', 'status', 'close')

    def __init__(self) -> None:
        """Open no bus."""
        self._robot = load_casters('c3p')
        self._torque: np.ndarray | None = np.zeros(self._robot.count)
        self._link: CardLink | None = None

    def connect(self, channel: str, parameters: dict[str, Any]) -> None:
        """Configure the cards at `channel` and begin the cycles."""
        values = hardware_values(**SERIALS, **parameters)
        self._link = CardLink(BusAddress('serial', channel), self._robot,
                              card_settings(self._robot, values), self._on_joints,
                              time.monotonic_ns)
        self._link.connect()
        self._link.allow(True)

    def _on_joints(self, joints: SensedJoints, stamp: int) -> None:
        torque = self._torque
        if torque is not None and self._link is not None:
            self._link.command(torque, stamp)

    def push(self, torque: list[float] | None) -> float:
        """Answer every cycle with `torque`, N·m, or with nothing; return the time."""
        self._torque = None if torque is None else np.array(torque)
        return time.monotonic()

    def arm(self) -> str:
        """Arm, as ~/enable."""
        return self._connected().arm()

    def recover(self) -> str:
        """Recover, as ~/recover."""
        return self._connected().recover()

    def _connected(self) -> CardLink:
        assert self._link is not None
        return self._link

    def status(self) -> dict[str, Any]:
        """Return state, faults and warnings as the node publishes them."""
        link = self._connected()
        return {'state': link.state.value, 'faults': link.faults, 'held': link.held,
                'gate': link.gate_reason,
                'warnings': [f'{d.name}: {w}' for d in (*link.encoders, *link.drives)
                             if (w := d.warning())],
                'lost': sum(d.lost for d in (*link.drives, *link.encoders))}

    def close(self) -> None:
        """Release the bus."""
        if self._link is not None:
            self._link.close()


if __name__ == '__main__':
    server: Any = {'bus': BusServer, 'cards': CardsServer, 'master': MasterServer}[sys.argv[1]]()
    serve({name: getattr(server, name) for name in server.requests})
