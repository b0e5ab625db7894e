# SPDX-License-Identifier: Apache-2.0
"""
Node: simulated robot in place of the hardware interface.

Publishes ``joint_states`` at a fixed rate, ``ground_truth/odom`` and, if enabled, ``/clock``.
Subscribes to ``wheel_effort`` through the same gate as on the robot. A thread keeps the rate by
`pacing`: by the clock, or also waiting for commands. In lockstep each command starts a cycle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from c3p_hardware.wheel_gate import NO_COMMAND, GateSettings, WheelGate
from c3p_ros.chain_messages import JointStateMessage
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.messages import EffortCoding, JointCoding, MessageError, check_age
from c3p_ros.node import LATEST, RECORDED, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.real_time import wait_on
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter
from c3p_simulation.make_plant import plant_of_parameters, start_of_parameters
from c3p_simulation.pacing import pace_of_parameters
from c3p_simulation.plants.plant import GroundTruth
from c3p_simulation.plants.sensors import Arrival, arrivals, drive_rate, states_rates
from c3p_simulation.publishers import ClockPublisher, GroundTruthPublisher, GyroPublisher
from c3p_simulation.worker import Worker

# longest wait of lockstep for a command, s
PATIENCE = 1.0

JOINT_FIELDS = ('position', 'velocity', 'effort')


class SimulationNode(SuiteNode):
    """Adapter between topics, plant and wheel gate; keeps the rate."""

    def __init__(self, **options: Any) -> None:
        """Create plant, gate, publishers and subscriptions, and start time."""
        here = Path(__file__)
        super().__init__('simulation', here.with_name('plant_parameters.yaml'),
                         here.with_name('simulation_parameters.yaml'), **options)
        values = self.parameters.value
        self._own_clock = values.publish_clock
        self.plant = plant_of_parameters(values, self.robot)
        self._sample = start_of_parameters(self.plant, values)
        # how far the clock of the newest stamp is ahead of the true time, ns
        self._ahead = 0
        settings = GateSettings(values.command_timeout, values.stop_damping)
        self._gate = WheelGate(self.robot, settings)
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self.cycles, self._period = 0, 1.0 / values.rate
        # compile the kernels before time starts
        plant_of_parameters(values, self.robot).step(np.zeros(self.robot.efforts), self._period)
        self.pace, self._stamps = pace_of_parameters(values, time.monotonic(), self.now_ns())
        self._waiting_since, self._hold_at = 0.0, values.hold_at_cycle
        # guards plant, gate and pace; notified by commands and by the end of the node
        self._news = threading.Condition(threading.Lock())
        self._worker = Worker('simulation', self._keep_rate)
        self.at_end(self._stop)
        # of a robot that states no rates, ``velocity`` is empty
        self._fields = [field for field in JOINT_FIELDS
                        if field != 'velocity' or states_rates(self.plant)]
        self._write_joints = JointStateWriter(self._joints.names, self._fields, 'joint_states')
        self._joint_pub = self.create_publisher(JointState, 'joint_states', RECORDED)
        self._truth_pub = GroundTruthPublisher(self, values.ground_truth)
        self._gyro_pub = GyroPublisher(self, self.plant)
        self._clock_pub = ClockPublisher(self, self._own_clock)
        self.listen(JointState, 'wheel_effort', self._on_effort, LATEST, rank=0)
        self.create_service(Trigger, '~/resume', self._on_resume)
        self.create_service(Trigger, '~/reset_statistics', self._on_reset)
        self.watch(self._on_watch)
        PublisherWatch(self, 'wheel_effort', 'joint_states', act=self._gate.hold)
        self.start()

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics: latency is from joint_states to wheel_effort."""
        values = self.parameters.value
        with self._news:
            shown = self.pace.metrics()
        return {**shown, 'realtime': 'lockstep' if values.lockstep else values.realtime,
                'held': self.cycles + 1 == self._hold_at, 'plant': values.plant,
                'wheels': self._gate.reason or 'driven'}

    def start(self) -> None:
        """Start time."""
        # before the first sample, which nodes without a time would reject
        self._clock_pub.publish(self._stamps.now)
        self._waiting_since = time.monotonic()
        if not self._own_clock:
            self._worker.start()

    def _stop(self) -> None:
        """Stop the thread."""
        with self._news:
            self._worker.stopping.set()
            self._news.notify()
        self._worker.stop()

    def _keep_rate(self, stopping: threading.Event) -> None:
        """Run a cycle whenever the pace has one due."""
        pace = self.pace
        pace.start(time.monotonic())
        while not stopping.is_set() and self.context.ok():
            stamp, truth, _ = self._advance(pace.periods(time.monotonic()))
            # the ground truth waits for the control chain, to take none of its time
            time.sleep(max(0.0, pace.deadline - pace.wall / 2 - time.monotonic()))
            if not self.parameters.value.lockstep:
                self._clock_pub.publish(stamp)
            self._truth_pub.publish(stamp, truth)
            wait_on(self._news, lambda: 0.0 if stopping.is_set() else pace.left(time.monotonic()))

    def _gate_time(self) -> float:
        return self.plant.time if self._own_clock else time.monotonic()

    def _advance(self, steps: int = 1) -> tuple[int, GroundTruth, bool]:
        """Advance by `steps`, publish the joints; return true time, ns, truth, if published."""
        arrived: Sequence[Arrival] = ()
        with self._news:
            for _ in range(steps):
                rate = drive_rate(self.plant, self._sample)
                torque = self._gate.torque_at(self._gate_time(), rate)
                sample = self.plant.step(torque, self._period)
                self._sample = sample or self._sample
                arrived = arrivals(self.plant, sample) or arrived
            self.cycles += 1
            truth = self.plant.truth()
            now = self._stamps.advance(steps, self.now_ns())
            stamps = [self._stated(now, one.sample.time) for one in arrived]
            if stamps:
                self._ahead = stamps[-1] - now
            self.pace.sent(now + self._ahead, steps, time.monotonic(), answerable=bool(arrived))
        if self.parameters.value.lockstep:
            self._clock_pub.publish(now)
        self._gyro_pub.publish(now)
        for stamp, one in zip(stamps, arrived, strict=True):
            values = dict(zip(JOINT_FIELDS, self._joints.encode(*one.sample[1:]), strict=True))
            self.send(self._joint_pub, self._write_joints, stamp,
                      **{field: values[field] for field in self._fields})
        return now, truth, bool(arrived)

    def _stated(self, now: int, time: float) -> int:
        """Return the stamp of a sample that states `time` [s]; the true time is `now` [ns]."""
        return max(0, now + round(1e9 * (time - self.plant.time)))

    def _on_effort(self, message: JointStateMessage) -> None:
        stamp = message.stamp
        try:
            torque = self._efforts.read(message)
            now = self._stamps.now if self._own_clock else self.now_ns()
            # a command has the stamp of its sample
            check_age(stamp, now + self._ahead, self._gate.settings.command_timeout)
        except MessageError as error:
            self.diagnostics.refuse('wheel_effort', error)
            return
        with self._news:
            self._gate.command(torque, self._gate_time())
            newest = self.pace.answer(stamp, time.monotonic())
            self._news.notify()
        if newest and self.parameters.value.lockstep:
            self._step_on()

    def _step_on(self) -> None:
        """Run the next cycle of the lockstep unless held; without a sample also the one after."""
        sampled = False
        while not sampled:
            self._waiting_since = time.monotonic()
            if self.cycles + 1 == self._hold_at:
                return
            stamp, truth, sampled = self._advance()
            self._truth_pub.publish(stamp, truth)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._news:
            self.pace.count_afresh(time.monotonic())
        response.success = True
        response.message = 'statistics from now on'
        return response

    def _on_resume(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self.cycles + 1 == self._hold_at
        response.message = 'resumed' if response.success else 'nothing is held'
        if response.success:
            self._hold_at = 0
            self._step_on()
        return response

    def _on_watch(self) -> None:
        self._worker.check()
        lockstep = self.parameters.value.lockstep
        # simulated time starts with the callbacks: nodes of this process have /clock by then
        if not lockstep and not self._worker.started:
            return self._worker.start()
        patience = PATIENCE if self.cycles else 0.0
        if lockstep and time.monotonic() - self._waiting_since > patience:
            self._step_on()
        lag = self.pace.lag(time.monotonic())
        self.diagnostics.condition('pace', WARN if lag else OK, lag or 'with the clock again')
        reason = self._gate.reason
        self.diagnostics.condition('wheels', WARN if reason else OK,
                                   f'{reason}: they brake' if reason else 'driven',
                                   calm=reason == NO_COMMAND)


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SimulationNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
