# SPDX-License-Identifier: Apache-2.0
"""Process: the master of the cards with a controller that pushes, and nothing of ROS."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from c3p_description.reading.loader import load
from c3p_hardware.joint_sensing import Joints
from c3p_hardware.settings import card_settings
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_simulation.card_trials.trial_process import serve

# the emulated drives have numbers, so that one in the place of another is found
SERIALS = {'drives.serial_numbers': [1001, 1002, 1003],
           'encoders.serial_numbers': [2001, 2002, 2003]}


class MasterServer:
    """One `CardLink`, whose every cycle is answered with the same torques."""

    def __init__(self) -> None:
        """Touch no bus."""
        self._robot = load('c3p')
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

    def _on_joints(self, joints: Joints, stamp: int) -> None:
        torque = self._torque
        if torque is not None:
            self._link.command(torque, stamp)

    def push(self, torque: list[float] | None) -> float:
        """Answer every cycle with `torque`, N·m, or with nothing; return the time."""
        self._torque = None if torque is None else np.array(torque)
        return time.monotonic()

    def arm(self) -> str:
        """Arm, as ~/enable."""
        return self._link.arm()

    def recover(self) -> str:
        """Recover, as ~/recover."""
        return self._link.recover()

    def status(self) -> dict[str, Any]:
        """Return what the node would tell."""
        return {'state': self._link.state.value, 'faults': self._link.faults,
                'held': self._link.held, 'gate': self._link.gate_reason,
                'warnings': [f'{d.name}: {w}' for d in self._link.encoders if (w := d.warning())]
                + [f'{d.name}: the drive warns (statusword bit 7)' for d in self._link.drives
                   if d.warns],
                'lost': sum(d.lost for d in (*self._link.drives, *self._link.encoders))}

    def close(self) -> None:
        """Let go of the bus."""
        if self._link is not None:
            self._link.close()


def main() -> None:
    """Serve until standard input ends."""
    server = MasterServer()
    serve({name: getattr(server, name) for name in (
        'connect', 'push', 'arm', 'recover', 'status', 'close')})


if __name__ == '__main__':
    main()
