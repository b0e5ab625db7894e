# SPDX-License-Identifier: Apache-2.0
"""
Thread of the hardware interface: SYNC cycles on an absolute deadline.

    SYNC ── samples ──► joints out … wheel command in ──► orders to all drives

The cycle waits for the command until `ORDER_BY` of the period, and uses the newest one, whichever
cycle it belongs to. A missed deadline is skipped, never caught up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from c3p_description.model import Array
from c3p_hardware.joint_sensing import JointSensing, SensedJoints
from c3p_hardware.supervisor import ArmState, Supervisor
from c3p_hardware.transport.card_bus import CardBus
from c3p_ros.cycle import LatencyHistogram
from c3p_ros.real_time import sleep_until

# fractions of the period: timeout of the samples, and time at which the orders are sent
SAMPLES_BY = 0.6
ORDER_BY = 0.9

# cycles whose latency can still be measured
REMEMBERED = 64

# averaging time of the bus load, s
LOAD_OVER = 1.0

# cycles in which the drives are disabled before the loop ends, at least
LAST_CYCLES = 3

# longest time in which the loop goes on until no drive has voltage, s: a quick stop, and what
# follows one without effect
LEAVE_WITHIN = 5.0

# timeout of the end of the loop, s
STOP_WITHIN = LEAVE_WITHIN + 2.0


class CycleLoop:
    """
    Runs the cycle in a thread; every public method may be called from any thread.

    Parameters
    ----------
    bus : CardBus
    sensing : JointSensing
    supervisor : Supervisor
        Guarded by `lock`.
    publish : callable
        Called with the joints of each complete cycle and its stamp, ns.
    stamp : callable
        Returns the time of the node's clock, ns.

    Attributes
    ----------
    lock : Lock
    cycles, incomplete, overruns, answered : int
        Cycles begun, those without all samples, skipped deadlines, commands with a cycle's stamp.
    latency, lateness, cost : LatencyHistogram
        From joints to their command, of a cycle behind its deadline, and CPU of a cycle, s.
    load, frames_per_s, rate : float
        Bus load (0 to 1), frames and cycles per second, in the last second.
    failure : Exception or None
        Exception that ended the thread.
    """

    def __init__(self, bus: CardBus, sensing: JointSensing,
                 supervisor: Supervisor, publish: Callable[[SensedJoints, int], None],
                 stamp: Callable[[], int]) -> None:
        """Prepare the cycle; `start` runs it."""
        self.bus, self.supervisor, self.lock = bus, supervisor, threading.Lock()
        self._sensing = sensing
        self._publish = publish
        self._stamp = stamp
        self._settings = supervisor.settings
        self._wheel_rate = self._steering_rate = np.zeros(supervisor.gate.robot.count)
        self._sent: dict[int, float] = {}
        self._current, self._came = 0, threading.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._restarted = threading.Event()
        self.failure: Exception | None = None
        self.load = self.frames_per_s = self.rate = 0.0
        self.cycles = 0
        self.reset_statistics()

    def reset_statistics(self) -> None:
        """Reset the statistics."""
        self.latency, self.lateness, self.cost = (LatencyHistogram() for _ in range(3))
        self.incomplete = self.overruns = self.answered = 0
        self.counted_from = self.cycles

    def restart_sensing(self) -> None:
        """Restart the joint sensing, so that a fault of a sensor is not detected again."""
        self._restarted.set()

    def start(self) -> None:
        """Begin the cycles."""
        self.restart_sensing()
        self.bus.begin(time.monotonic())
        self._over.clear()
        self._thread = threading.Thread(target=self._run, name='sync', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """
        Disable the drives and end the cycles, once no drive has voltage.

        Raises
        ------
        TimeoutError
            The CAN interface blocks in receiving or sending.
        """
        self._over.set()
        thread = self._thread
        self._thread = None
        if thread is None:
            return
        thread.join(STOP_WITHIN)
        if thread.is_alive():
            raise TimeoutError(
                f'the cycle has not ended within {STOP_WITHIN} s: the CAN interface blocks; '
                'the drives stop after heartbeat_timeout')

    def command(self, torque: Array, stamp: int) -> None:
        """
        Hand the wheel torques (n,) N·m for the cycle with this stamp, ns, to the supervisor.

        Raises
        ------
        ValueError
            As `WheelGate.command`.
        """
        now = time.monotonic()
        with self.lock:
            self.supervisor.command(torque, now)
            sent = self._sent.pop(stamp, None)
            if sent is not None:
                self.answered += 1
                self.latency.add(now - sent)
        if stamp == self._current:
            self._came.set()

    def _run(self) -> None:
        try:
            self._keep_rate(lambda: not self._over.is_set())
        except Exception as error:
            # raised again in the executor
            self.failure = error
        finally:
            self._leave_bus()

    def _keep_rate(self, going: Callable[[], bool]) -> None:
        """Run cycles while `going`."""
        period = self._settings.period
        deadline = time.monotonic()
        beat = loaded = deadline
        counted = 0
        while going():
            begin = time.monotonic()
            used = time.thread_time()
            self.lateness.add(begin - deadline)
            if begin - deadline > period:
                left_out = int((begin - deadline) / period)
                self.overruns += left_out
                deadline += left_out * period
            if begin >= beat and not self.supervisor.withheld:
                self.bus.heartbeat()
                # a late one is not followed by an early one
                beat = begin + self._settings.heartbeat_period
            self._cycle(deadline, period)
            if (elapsed := begin - loaded) >= LOAD_OVER:
                self.load, self.frames_per_s = self.bus.take_load(elapsed)
                self.rate = (self.cycles - counted) / elapsed
                loaded = begin
                counted = self.cycles
            self.cost.add(time.thread_time() - used)
            deadline += period
            sleep_until(deadline)

    def _cycle(self, deadline: float, period: float) -> None:
        self._came.clear()
        # the stamp is that of the SYNC, at which the devices sample
        sampled = self.bus.sync()
        stamp = self._stamp() - round(1e9 * (time.monotonic() - sampled))
        self.cycles += 1
        complete = self.bus.receive(deadline + SAMPLES_BY * period)
        problems = [p for p in [self.bus.problem(time.monotonic())] if p]
        if self._restarted.is_set():
            self._restarted.clear()
            self._sensing.resume()
        if self.supervisor.state == ArmState.ARMING:
            self._sensing.begin_path()
        steering = None
        if complete:
            try:
                joints, found = self._sensing.step(sampled)
            except ValueError:  # position out of range, a problem of its device
                complete = False
            else:
                problems += found
                self._wheel_rate, self._steering_rate = joints.wheel_rate, joints.steering_rate
                steering = joints.steering
                self._publish_joints(joints, stamp)
        self.incomplete += not complete
        if complete:
            self._came.wait(max(0.0, deadline + ORDER_BY * period - time.monotonic()))
        with self.lock:
            for problem in problems:
                self.supervisor.latch(problem)
            orders = self.supervisor.step(time.monotonic(), self._wheel_rate,
                                          self._steering_rate, steering)
            # a torque is sent in complete cycles only, zero torque or velocity in any
            send = complete or not any(order.target for order in orders)
        if send:
            self.bus.order(orders)

    def _publish_joints(self, joints: SensedJoints, stamp: int) -> None:
        with self.lock:
            self._current = stamp
            self._sent[stamp] = time.monotonic()
            if len(self._sent) > REMEMBERED:
                del self._sent[next(iter(self._sent))]
        self._publish(joints, stamp)

    def _leave_bus(self) -> None:
        """Stop the drives, watch the stop until none has voltage, and leave the bus."""
        end = time.monotonic() + LEAVE_WITHIN
        with self.lock:
            self.supervisor.disarm()
        try:
            self._keep_rate(lambda: self.supervisor.powered and time.monotonic() < end)
        except Exception as error:
            self.failure = self.failure or error
        with self.lock:
            for _ in range(LAST_CYCLES):
                self.bus.order(self.supervisor.step(time.monotonic(), self._wheel_rate,
                                                    self._steering_rate))
        self.bus.leave()
