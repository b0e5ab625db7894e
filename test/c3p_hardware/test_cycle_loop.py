# SPDX-License-Identifier: Apache-2.0
"""Hand-over of commands from other threads to the cycle."""

import threading
from types import SimpleNamespace

import numpy as np
from device_bench import UNITS, ZERO, CardBench, torques

from c3p_hardware.transport import cycle_loop


def test_a_cycle_gets_one_whole_command_whichever_threads_send_them(monkeypatch):
    bench = CardBench().arm()
    loop = cycle_loop.CycleLoop(None, None, bench.supervisor, None, None)
    monkeypatch.setattr(cycle_loop, 'time', SimpleNamespace(monotonic=lambda: bench.now))
    sent, over = (0.1, 0.2, 0.3), threading.Event()

    def command(torque):
        while not over.is_set():
            loop.command(np.full(3, torque), 0)

    threads = [threading.Thread(target=command, args=(t,)) for t in sent]
    loop.command(ZERO, 0)
    for thread in threads:
        thread.start()
    seen = []
    for _ in range(300):
        with loop.lock:
            seen.append(tuple(torques(bench.cycle())))
    over.set()
    for thread in threads:
        thread.join()
    whole = {(UNITS.permille(t),) * 3 for t in (0.0, *sent)}
    assert set(seen) <= whole and len(set(seen)) > 1


def test_a_command_of_an_unknown_cycle_is_used_but_not_measured(monkeypatch):
    bench = CardBench().arm()
    loop = cycle_loop.CycleLoop(None, None, bench.supervisor, None, None)
    monkeypatch.setattr(cycle_loop, 'time', SimpleNamespace(monotonic=lambda: bench.now))
    loop.command(np.full(3, 0.1), 12345)
    assert torques(bench.cycle()) == [UNITS.permille(0.1)] * 3 and loop.answered == 0
