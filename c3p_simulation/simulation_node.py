# SPDX-License-Identifier: Apache-2.0
"""
Node: a simulated robot in the place of the hardware interface.

Publishes ``joint_states`` at a fixed rate, ``ground_truth/odom`` and, when asked, ``/clock``;
subscribes ``wheel_effort``, which passes the same gate as on the robot. In real time a thread with
an absolute deadline keeps the rate; in lockstep each cycle waits for its answer.
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
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.executor import run
from c3p_ros.latency import LatencyHistogram
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
from c3p_ros.parameters import ParameterError
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.wire import JointStateRead
from c3p_ros.wire_writers import JointStateWriter, OdometryWriter
from c3p_simulation.plants.make import plant_of_parameters, start_of_parameters
from c3p_simulation.plants.plant import GroundTruth

# simulated time starts here, because a stamp of zero means "not set", ns
SIMULATED_START = 1_000_000_000

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
        if (values.lockstep or values.realtime_factor != 1.0) and not self._own_clock:
            raise ParameterError('simulation: lockstep and a realtime_factor other than 1 need '
                                 'publish_clock: true, and use_sim_time in the other nodes')
        self.plant = plant_of_parameters(values, self.robot)
        self._sample = start_of_parameters(self.plant, values)
        self._gate = WheelGate(self.robot, GateSettings(values.command_timeout,
                                                        values.stop_damping))
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self.cycles = 0
        self._count_afresh()
        self._period, self._period_ns = 1.0 / values.rate, round(1e9 / values.rate)
        self._stamp, self._sent = 0, dict[int, float]()
        self._waiting_since, self._hold_at = 0.0, values.hold_at_cycle
        self._lock, self._stop = threading.Lock(), threading.Event()
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

    def figures(self) -> Mapping[str, Any]:
        """Return the figures for the diagnostics: latency is from joint_states to wheel_effort."""
        shown = self.latency.figures('latency')
        shown['late_p99_ms'] = f'{1e3 * self.lateness.quantile(0.99):.4f}'
        return {'cycles': self.cycles - self._counted_from, 'answered': self.answered,
                'overruns': self.overruns, 'held': self.cycles + 1 == self._hold_at,
                **shown, 'plant': self.parameters.value.plant,
                'wheels': self._gate.reason or 'driven'}

    def start(self) -> None:
        """Compile the plant's kernels and begin to move time."""
        plant_of_parameters(self.parameters.value, self.robot).step(
            np.zeros(self.robot.count), self._period)
        self._stamp = SIMULATED_START if self._own_clock else self.now_ns()
        if self.parameters.value.lockstep:
            self._waiting_since = time.monotonic()
        else:
            self._thread = threading.Thread(target=self._keep_rate, name='simulation', daemon=True)
            self._thread.start()

    def destroy_node(self) -> None:
        """Stop the thread, then the node."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
        super().destroy_node()

    def _keep_rate(self) -> None:
        """Advance on an absolute deadline; after a delay the plant catches up in one go."""
        wall = self._period / self.parameters.value.realtime_factor
        deadline = time.monotonic()
        while not self._stop.is_set() and self.context.ok():
            steps = 1
            late = time.monotonic() - deadline
            self.lateness.add(late)
            if late > wall:
                steps += int(late / wall)
                self.overruns += steps - 1
            try:
                *truth, _ = self._advance(steps)
            except Exception as error:
                # raised again where the executor sees it: without this thread time stands still
                self._failure = error
                return
            deadline += steps * wall
            # the truth waits until the chain has done its work: it must not take its time
            time.sleep(max(0.0, deadline - wall / 2 - time.monotonic()))
            self._publish_truth(*truth)
            time.sleep(max(0.0, deadline - time.monotonic()))

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
            self._stamp += steps * self._period_ns
            self.cycles += 1
            stamp, sample, truth = self._stamp, self._sample, self.plant.truth()
            self._sent[self._stamp] = time.monotonic()
            if len(self._sent) > 64:
                del self._sent[next(iter(self._sent))]
        if self._clock_pub is not None:
            self.send(self._clock_pub, Clock, clock=ns_to_stamp(stamp))
        if told := sample.time == truth.time:
            values = dict(zip(JOINT_FIELDS, self._joints.encode(*sample[1:]), strict=True))
            self.send(self._joint_pub, self._write_joints, stamp, **values)
        return stamp, truth, told

    def _publish_truth(self, stamp: int, truth: GroundTruth) -> None:
        if self._truth_pub is not None:
            self.send(self._truth_pub, self._write_truth, stamp, pose_numbers(truth.pose),
                      twist_numbers(truth.twist))

    def _on_effort(self, message: JointStateRead) -> None:
        stamp = message.stamp
        try:
            torque = self._efforts.read(message)
            now = self._stamp if self._own_clock else self.now_ns()
            check_age(stamp, now, self._gate.settings.command_timeout)
        except MessageError as error:
            self.diagnostics.refuse('wheel_effort', error)
            return
        with self._lock:
            sent = self._sent.pop(stamp, None)
            if sent is not None:
                self.answered += 1
                self.latency.add(time.monotonic() - sent)
            self._gate.command(torque, self._gate_time())
        if self.parameters.value.lockstep and stamp == self._stamp:
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

    def _count_afresh(self) -> None:
        """Begin the statistics of the diagnostics again."""
        self.latency, self.lateness = LatencyHistogram(), LatencyHistogram()
        self.overruns, self.answered, self._counted_from = 0, 0, self.cycles

    def _on_reset_statistics(self, _: Trigger.Request, response: Trigger.Response
                             ) -> Trigger.Response:
        with self._lock:
            self._count_afresh()
        response.success, response.message = True, 'latencies, cycles and overruns from now on'
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
        if self.parameters.value.lockstep and time.monotonic() - self._waiting_since > (
                PATIENCE if self.cycles else 0.0):
            self._step_on()
        reason = self._gate.reason
        self.diagnostics.condition('wheels', WARN if reason else OK,
                                   f'{reason}: they brake' if reason else 'driven')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SimulationNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
