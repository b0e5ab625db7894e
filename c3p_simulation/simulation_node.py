# SPDX-License-Identifier: Apache-2.0
"""
Node: a simulated robot in the place of the hardware interface.

Publishes ``joint_states`` at a fixed rate, ``ground_truth/odom`` and, when asked, ``/clock``;
subscribes ``wheel_effort``, which passes the same gate as on the robot. A thread keeps the rate by
pacing.py, by the clock alone or waiting for answers, too; in lockstep answers alone count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from c3p_hardware.wheel_gate import GateSettings, WheelGate
from c3p_ros.cdr import JointStateRead
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.messages import (
    EffortCoding,
    JointCoding,
    MessageError,
    check_age,
    ns_to_stamp,
    pose_numbers,
    twist_numbers,
)
from c3p_ros.node import LATEST, RECORDED, RELIABLE, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter, OdometryWriter
from c3p_simulation.make_plant import plant_of_parameters, start_of_parameters
from c3p_simulation.pacing import pace_of_parameters
from c3p_simulation.plants.plant import GroundTruth

# how long lockstep waits for an answer before it goes on without, s
PATIENCE = 1.0

JOINT_FIELDS = ('position', 'velocity', 'effort')


class SimulationNode(SuiteNode):
    """Adapter between topics, a plant and the wheel gate; owns the rate."""

    def __init__(self, **options: Any) -> None:
        """Create plant, gate, publishers and subscriptions; `start` begins to move time."""
        here = Path(__file__)
        super().__init__('simulation', here.with_name('plant_parameters.yaml'),
                         here.with_name('simulation_parameters.yaml'), **options)
        values = self.parameters.value
        self._own_clock = values.publish_clock
        self.plant = plant_of_parameters(values, self.robot)
        self._sample = start_of_parameters(self.plant, values)
        self._gate = WheelGate(self.robot, GateSettings(values.command_timeout,
                                                        values.stop_damping))
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self.cycles, self._period = 0, 1.0 / values.rate
        # compiled before time begins
        plant_of_parameters(values, self.robot).step(np.zeros(self.robot.count), self._period)
        self.pace, self._stamps = pace_of_parameters(values, time.monotonic(), self.now_ns())
        self._waiting_since, self._hold_at = 0.0, values.hold_at_cycle
        self._lock, self._stop = threading.Lock(), False
        # an answer, or the end, that the thread may wait for
        self._news = threading.Condition(self._lock)
        self._thread, self._failure = None, None
        self._write_joints = JointStateWriter(self._joints.names, JOINT_FIELDS, 'joint_states')
        self._write_truth = OdometryWriter('odom', 'base_link', 'ground_truth/odom')
        self._joint_pub = self.create_publisher(JointState, 'joint_states', RECORDED)
        self._truth_pub = (self.create_publisher(Odometry, 'ground_truth/odom', RECORDED)
                           if values.ground_truth else None)
        self._clock_pub = (self.create_publisher(Clock, '/clock', RELIABLE)
                           if self._own_clock else None)
        self.listen(JointState, 'wheel_effort', self._on_effort, LATEST)
        self.create_service(Trigger, '~/resume', self._on_resume)
        self.create_service(Trigger, '~/reset_statistics', self._on_reset_statistics)
        self.watch(self._on_watch)
        PublisherWatch(self, 'wheel_effort', 'joint_states', act=self._gate.hold)
        self.start()

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics: latency is from joint_states to wheel_effort."""
        values = self.parameters.value
        with self._lock:
            shown = self.pace.metrics()
        return {**shown, 'realtime': 'lockstep' if values.lockstep else values.realtime,
                'held': self.cycles + 1 == self._hold_at, 'plant': values.plant,
                'wheels': self._gate.reason or 'driven'}

    @property
    def overruns(self) -> int:
        """Periods that have begun late."""
        return self.pace.overruns

    def start(self) -> None:
        """Begin to move time."""
        # before the first sample, which would be refused where the time is not known
        self._publish_clock(self._stamps.now)
        self._waiting_since = time.monotonic()
        if not self._own_clock:
            self._start_thread()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._keep_rate, name='simulation', daemon=True)
        self._thread.start()

    def destroy_node(self) -> None:
        """Stop the thread, then the node."""
        with self._news:
            self._stop = True
            self._news.notify()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
        super().destroy_node()

    def _keep_rate(self) -> None:
        """Advance when a cycle is due; the pace knows whether it waits for answers."""
        pace = self.pace
        pace.start(time.monotonic())
        while not self._stop and self.context.ok():
            try:
                stamp, truth, _ = self._advance(pace.periods(time.monotonic()))
            except Exception as error:
                # raised again where the executor sees it: without this thread time stands still
                self._failure = error
                return
            # the truth waits until the chain has done its work: it must not take its time
            time.sleep(max(0.0, pace.deadline - pace.wall / 2 - time.monotonic()))
            if not self.parameters.value.lockstep:
                self._publish_clock(stamp)
            self._publish_truth(stamp, truth)
            with self._news:
                while not self._stop and (left := pace.left(time.monotonic())) > 0.0:
                    self._news.wait(left)

    def _gate_time(self) -> float:
        return self.plant.time if self._own_clock else time.monotonic()

    def _advance(self, steps: int = 1) -> tuple[int, GroundTruth, bool]:
        """
        Hold the torque of the gate for `steps` periods and publish the joints afterwards.

        Returns stamp (ns), truth and whether there is a sample: a lost one is not published.
        """
        with self._lock:
            for _ in range(steps):
                torque = self._gate.torque_at(self._gate_time(), self._sample.wheel_rate)
                self._sample = self.plant.step(torque, self._period)
            self.cycles += 1
            sample, truth = self._sample, self.plant.truth()
            told = sample.time == truth.time
            stamp = self._stamps.advance(steps, self.now_ns())
            self.pace.sent(stamp, steps, time.monotonic(), answerable=told)
        if self.parameters.value.lockstep:
            self._publish_clock(stamp)
        if told:
            values = dict(zip(JOINT_FIELDS, self._joints.encode(*sample[1:]), strict=True))
            self.send(self._joint_pub, self._write_joints, stamp, **values)
        return stamp, truth, told

    def _publish_clock(self, stamp: int) -> None:
        if self._clock_pub is not None:
            self.send(self._clock_pub, Clock, clock=ns_to_stamp(stamp))

    def _publish_truth(self, stamp: int, truth: GroundTruth) -> None:
        if self._truth_pub is not None:
            self.send(self._truth_pub, self._write_truth, stamp, pose_numbers(truth.pose),
                      twist_numbers(truth.twist))

    def _on_effort(self, message: JointStateRead) -> None:
        stamp = message.stamp
        try:
            torque = self._efforts.read(message)
            now = self._stamps.now if self._own_clock else self.now_ns()
            check_age(stamp, now, self._gate.settings.command_timeout)
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
        """Begin the next cycle of the lockstep, unless it is held; skip one without a sample."""
        told = False
        while not told:
            self._waiting_since = time.monotonic()
            if self.cycles + 1 == self._hold_at:
                return
            *truth, told = self._advance()
            self._publish_truth(*truth)

    def _on_reset_statistics(self, _: Trigger.Request, response: Trigger.Response
                             ) -> Trigger.Response:
        with self._lock:
            self.pace.count_afresh(time.monotonic())
        response.success, response.message = True, 'statistics from now on'
        return response

    def _on_resume(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self.cycles + 1 == self._hold_at
        response.message = 'resumed' if response.success else 'nothing is held'
        if response.success:
            self._hold_at = 0
            self._step_on()
        return response

    def _on_watch(self) -> None:
        if self._failure is not None:
            raise self._failure
        # simulated time begins once callbacks run: the nodes of this process know /clock by then
        if self._thread is None and not self.parameters.value.lockstep:
            return self._start_thread()
        if self._thread is None and time.monotonic() - self._waiting_since > (
                PATIENCE if self.cycles else 0.0):
            self._step_on()
        lag = self.pace.lag(time.monotonic())
        self.diagnostics.condition('pace', WARN if lag else OK, lag or 'with the clock again')
        reason = self._gate.reason
        self.diagnostics.condition('wheels', WARN if reason else OK,
                                   f'{reason}: they brake' if reason else 'driven')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SimulationNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
