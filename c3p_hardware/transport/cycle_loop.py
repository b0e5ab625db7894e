# SPDX-License-Identifier: Apache-2.0
"""
The thread of the hardware interface: one SYNC cycle after the other on an absolute deadline.

    SYNC ── samples ──► joints out … wheel command in ──► orders to all drives

The command is waited for until `ORDER_BY` of the period; it is the newest one that is used,
whichever cycle it answers. A deadline that has passed is left out, never made up for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.bus_load import Load
from c3p_hardware.joint_sensing import Joints, JointSensing
from c3p_hardware.supervisor import Supervisor
from c3p_hardware.transport.card_bus import CardBus
from c3p_ros.cycle import LatencyHistogram

# parts of the period: samples that come later belong to no cycle, orders that go later are late
SAMPLES_BY, ORDER_BY = 0.6, 0.9

# cycles whose answers are waited for
REMEMBERED = 64

# over how many seconds the bus load is taken
LOAD_OVER = 1.0

# cycles in which the drives are told to let go before the loop ends
FAREWELL = 3

# how long the loop may take to end, s: a cycle and its farewell take some ten milliseconds
STOP_WITHIN = 2.0


class CycleLoop:
    """
    Runs the cycle in a thread; every other method may be called from any thread.

    Parameters
    ----------
    robot : CasterRobot
    bus : CardBus
    sensing : JointSensing
    supervisor : Supervisor
        Guarded by `lock`.
    publish : callable
        Gets the joints of each complete cycle and its stamp, ns.
    stamp : callable
        Returns the time of the node's clock, ns.

    Attributes
    ----------
    lock : Lock
    cycles, incomplete, overruns, answered : int
        Cycles begun, those without all samples, deadlines left out, commands with a cycle's stamp.
    latency, lateness, cost : LatencyHistogram
        From joints to their command, of a cycle behind its deadline, and CPU of a cycle, s.
    load : Load
        Of the bus in the last second.
    rate : float
        Cycles per second in the last second, Hz.
    failure : Exception or None
        What ended the thread.
    """

    def __init__(self, robot: CasterRobot, bus: CardBus, sensing: JointSensing,
                 supervisor: Supervisor, publish: Callable[[Joints, int], None],
                 stamp: Callable[[], int]) -> None:
        """Do not run yet."""
        self.bus, self.supervisor, self.lock = bus, supervisor, threading.Lock()
        self._sensing, self._publish, self._stamp = sensing, publish, stamp
        self._settings = supervisor.settings
        self._wheel_rate = np.zeros(robot.count)
        self._sent: dict[int, float] = {}
        self._current, self._came = 0, threading.Event()
        self._over, self._thread = threading.Event(), None
        self._forgotten = threading.Event()
        self.failure: Exception | None = None
        self.load, self.rate = Load(0.0, 0.0), 0.0
        self.cycles = 0
        self.count_afresh()

    def count_afresh(self) -> None:
        """Begin the statistics again."""
        self.latency, self.lateness, self.cost = (LatencyHistogram() for _ in range(3))
        self.incomplete = self.overruns = self.answered = 0
        self.counted_from = self.cycles

    def forget(self) -> None:
        """Drop the past of the joints: what a fault has done to it must not be a fault again."""
        self._forgotten.set()

    def start(self) -> None:
        """Begin the cycles."""
        self.forget()
        self.bus.begin(time.monotonic())
        self._over.clear()
        self._thread = threading.Thread(target=self._run, name='sync', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """
        Let the drives go and end the cycles.

        Raises
        ------
        TimeoutError
            The interface of the bus does not come back from receiving or sending.
        """
        self._over.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join(STOP_WITHIN)
        if thread.is_alive():
            raise TimeoutError(
                f'the cycle has not ended within {STOP_WITHIN} s: the CAN interface does not come '
                'back; the drives stop when they miss the heartbeat')

    def command(self, torque: Array, stamp: int) -> None:
        """
        Take the wheels' torques (n,) N·m that answer the cycle with this stamp, ns.

        Raises
        ------
        ValueError
            As `WheelGate.command`.
        """
        now = time.monotonic()
        with self.lock:
            self.supervisor.gate.command(torque, now)
            sent = self._sent.pop(stamp, None)
            if sent is not None:
                self.answered += 1
                self.latency.add(now - sent)
        if stamp == self._current:
            self._came.set()

    def _run(self) -> None:
        try:
            self._keep_rate()
        except Exception as error:
            # told where the executor sees it
            self.failure = error
        finally:
            self._let_go()

    def _keep_rate(self) -> None:
        period = self._settings.period
        deadline = time.monotonic()
        beat = loaded = deadline
        counted = 0
        while not self._over.is_set():
            begin, used = time.monotonic(), time.thread_time()
            self.lateness.add(begin - deadline)
            if begin - deadline > period:
                left_out = int((begin - deadline) / period)
                self.overruns += left_out
                deadline += left_out * period
            if begin >= beat:
                self.bus.heartbeat()
                # a late one is not followed by a hasty one
                beat = begin + self._settings.heartbeat_period
            self._cycle(deadline, period)
            if (elapsed := begin - loaded) >= LOAD_OVER:
                self.load, self.rate = self.bus.load(elapsed), (self.cycles - counted) / elapsed
                loaded, counted = begin, self.cycles
            self.cost.add(time.thread_time() - used)
            deadline += period
            time.sleep(max(0.0, deadline - time.monotonic()))

    def _cycle(self, deadline: float, period: float) -> None:
        self._came.clear()
        sampled = self.bus.sync()
        stamp = self._stamp() - round(1e9 * (time.monotonic() - sampled))
        self.cycles += 1
        complete = self.bus.receive(deadline + SAMPLES_BY * period)
        problems = [p for p in [self.bus.problem(time.monotonic())] if p]
        if self._forgotten.is_set():
            self._forgotten.clear()
            self._sensing.resume()
        if complete:
            try:
                joints, found = self._sensing.step(sampled)
            except ValueError:  # a position that cannot be, which its device reports
                complete = False
            else:
                problems += found
                self._wheel_rate = joints.wheel_rate
                self._tell(joints, stamp)
        self.incomplete += not complete
        if complete:
            self._came.wait(max(0.0, deadline + ORDER_BY * period - time.monotonic()))
        with self.lock:
            for problem in problems:
                self.supervisor.latch(problem)
            orders = self.supervisor.step(time.monotonic(), self._wheel_rate)
            # a torque is sent in a cycle that all devices have seen, or not at all
            wanted = complete or not any(order.torque for order in orders)
        if wanted:
            self.bus.order(orders)

    def _tell(self, joints: Joints, stamp: int) -> None:
        with self.lock:
            self._current = stamp
            self._sent[stamp] = time.monotonic()
            if len(self._sent) > REMEMBERED:
                del self._sent[next(iter(self._sent))]
        self._publish(joints, stamp)

    def _let_go(self) -> None:
        with self.lock:
            self.supervisor.disarm()
            for _ in range(FAREWELL):
                self.bus.order(self.supervisor.step(time.monotonic(), self._wheel_rate))
        self.bus.leave()
