# SPDX-License-Identifier: Apache-2.0
"""Process: a bus that is nothing but a bus, so that it can be killed; two ends, frames pass."""

from __future__ import annotations

import contextlib
import select
import threading

import can

from c3p_hardware.transport.serial_can import PtyBus
from c3p_simulation.card_trials.trial_process import serve

# how often the thread looks whether it is to end, s
LOOK = 0.05


class Wire:
    """Passes frames between two pseudo terminals, each with a link to its file."""

    def __init__(self) -> None:
        """Have no ends yet."""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def lay(self, one: str, other: str) -> None:
        """Make both ends and pass frames from now on."""
        ends = (PtyBus(one), PtyBus(other))
        self._thread = threading.Thread(target=self._pass, args=ends, daemon=True)
        self._thread.start()

    def _pass(self, one: PtyBus, other: PtyBus) -> None:
        way = {one.fileno(): (one, other), other.fileno(): (other, one)}
        while not self._over.is_set():
            for ready in select.select(list(way), [], [], LOOK)[0]:
                here, there = way[ready]
                with contextlib.suppress(can.CanError):
                    while (frame := here.recv(0)) is not None:
                        there.send(frame)


def main() -> None:
    """Serve until standard input ends."""
    wire = Wire()
    serve({'lay': wire.lay})


if __name__ == '__main__':
    main()
