# SPDX-License-Identifier: Apache-2.0
"""Process: the emulated cards with the simulated robot, which write down what happens to them."""

from __future__ import annotations

import threading
import time
from typing import Any

import can
import numpy as np

from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.process_data import SYNC_ID, rpdo
from c3p_hardware.transport.serial_can import FastSerialBus, PtyBus
from c3p_simulation.card_trials.trial_process import serve
from c3p_simulation.make_plant import make_plant
from c3p_simulation.plants.plant import GroundTruth, JointSample, Plant


class Tap:
    """
    A bus that passes everything and writes down SYNCs and the orders of the master.

    Attributes
    ----------
    bus : can.BusABC
    frames : list of (time, identifier, bytes as hex)
        On the monotonic clock, s.
    """

    def __init__(self, bus: can.BusABC, identifiers: set[int]) -> None:
        """Write down frames with these identifiers."""
        self.bus, self.frames, self._wanted = bus, [], identifiers

    def recv(self, timeout: float | None = None) -> can.Message | None:
        """Return the next frame, as the bus."""
        message = self.bus.recv(timeout)
        if message is not None and message.arbitration_id in self._wanted:
            self.frames.append((time.monotonic(), message.arbitration_id,
                                bytes(message.data).hex()))
        return message

    def send(self, message: can.Message) -> None:
        """Send, as the bus."""
        self.bus.send(message)


class WatchedPlant:
    """
    A plant that writes down each step.

    Attributes
    ----------
    robot : CasterRobot
    steps : list of tuple
        Time on the monotonic clock, s; X, Y, m; speed, m/s; yaw rate, rad/s; torque of each wheel,
        N·m; rate of each wheel, rad/s.
    """

    def __init__(self, plant: Plant) -> None:
        """Watch `plant`."""
        self._plant, self.robot, self.steps = plant, plant.robot, []

    def sense(self) -> JointSample:
        """Return the joints now, as the plant."""
        return self._plant.sense()

    def truth(self) -> GroundTruth:
        """Return pose and twist now, as the plant."""
        return self._plant.truth()

    def step(self, wheel_torque: Any, dt: float) -> JointSample:
        """Step as the plant, and write it down."""
        sample = self._plant.step(wheel_torque, dt)
        truth = self._plant.truth()
        self.steps.append((time.monotonic(), float(truth.pose[0]), float(truth.pose[1]),
                           float(np.hypot(truth.twist[0], truth.twist[1])),
                           float(truth.twist[2]), [float(t) for t in wheel_torque],
                           [float(r) for r in sample.wheel_rate]))
        return sample


class CardsServer:
    """Emulated cards that can be had anew for every trial."""

    def __init__(self) -> None:
        """Have none yet."""
        self._stop, self._thread = threading.Event(), None
        self._tap: Tap | None = None

    def new(self, channel: str, wired: bool = False) -> None:
        """Switch on new cards at `channel`: a link to make, or with `wired` one that is there."""
        self.end()
        bus = FastSerialBus(channel) if wired else PtyBus(channel)
        self._plant = WatchedPlant(make_plant('analytic', 'c3p'))
        self._tap = Tap(bus, {SYNC_ID, *(rpdo(1, i + 1) for i in range(self._plant.robot.count))})
        self._cards = EmulatedCards(self._tap, self._plant)
        self._stop.clear()
        self._thread = threading.Thread(target=self._cards.run, args=(self._stop,), daemon=True)
        self._thread.start()

    def plug(self, channel: str) -> None:
        """Put the cards on a new bus, as their cable would be."""
        old, self._tap.bus = self._tap.bus, FastSerialBus(channel)
        old.shutdown()

    def inject(self, faults: str) -> float:
        """Let faults begin now; return the time."""
        now = time.monotonic()
        self._cards.inject(faults)
        return now

    def now(self) -> dict[str, Any]:
        """Return how fast the platform moves and what every drive is."""
        _, _, _, speed, turning, _, _ = self._plant.steps[-1]
        return {'speed': speed, 'turning': turning, 'time': time.monotonic(),
                'states': [d.drive.state.name for d in self._cards.drives],
                'errors': [d.drive.error_code for d in self._cards.drives],
                'lost_time': self._cards.lost_time}

    def record(self) -> dict[str, Any]:
        """Return everything that was written down."""
        return {'steps': list(self._plant.steps), 'frames': list(self._tap.frames)}

    def end(self) -> None:
        """Switch the cards off."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._tap.bus.shutdown()
            self._thread = None


def main() -> None:
    """Serve until standard input ends."""
    server = CardsServer()
    serve({name: getattr(server, name) for name in (
        'new', 'plug', 'inject', 'now', 'record', 'end')})


if __name__ == '__main__':
    main()
