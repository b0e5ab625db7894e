# SPDX-License-Identifier: Apache-2.0
"""
Node: makes the robot follow ``cmd_vel`` by one of the laws of torque_laws.py.

Each cycle begins with a ``joint_states`` message and carries its stamp. The papers' law publishes
``reference_acceleration`` with the ``odom`` of that stamp, and fuses the ``dynamics_effort`` that
answers it into ``wheel_effort``; the others answer at once, and look ahead on the
``reference_trajectory`` that has the command's stamp. When commands stop coming the robot makes a
controlled stop; when the chain breaks the wheels brake, and the robot waits for a zero command, or
silence, before it moves again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_controller.command_guard import CommandGuard
from c3p_controller.law import Ahead, Sensed
from c3p_controller.one_step import LawFailure
from c3p_controller.paper.chain import PaperChain
from c3p_controller.torque_laws import check, make_law, retune
from c3p_controller.velocity_controller import braking_torque
from c3p_ros.cdr import JointStateRead, OdometryRead, TrajectoryRead
from c3p_ros.cycle import CycleClock, Lifelines, StepWatch
from c3p_ros.diagnostics import ERROR, OK, WARN, warned
from c3p_ros.frames import planar_points, planar_pose
from c3p_ros.lock_report import LockReport
from c3p_ros.messages import EffortCoding, JointCoding, MessageError, planar, stamp_to_ns, twist_of
from c3p_ros.node import LATEST, RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.session import run
from c3p_ros.stamp_join import StampJoin
from c3p_ros.wire import AccelWriter, JointStateWriter


class VelocityControllerNode(SuiteNode):
    """Adapter between topics, CommandGuard and a law, in one step or in the papers' two."""

    def __init__(self, **options: Any) -> None:
        """Create the law, publishers, subscriptions and the watch; compile the kernels."""
        super().__init__('velocity_controller', Path(__file__).with_name(
            'velocity_controller_parameters.yaml'), **options)
        values = self.parameters.value
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self._guard = CommandGuard(values.cmd_vel_timeout, values.start_silence)
        self._line, self._sensed = CycleClock(), StampJoin('joints', 'odom')
        self._steps, self._largest, self._time, self._frame = StepWatch(), 0.0, 0.0, 'odom'
        self._newest, self._wheel_rate = 0, np.zeros(self.robot.count)
        self._law = make_law(values, self.robot)
        self._paper = isinstance(self._law, PaperChain)
        self.caution(self._law.traction.stronger())
        # the papers' law alone needs the inverse dynamics
        self._alive = Lifelines('joint_states', 'odom', *['dynamics_effort'] * self._paper,
                                timeout=values.chain_timeout)
        self._lock = LockReport(self, self.diagnostics)
        self.parameters.check, self.parameters.changed = check, self._retune
        self._write_effort = JointStateWriter(self._efforts.names, ['effort'], 'wheel_effort')
        self._effort = self.create_publisher(JointState, 'wheel_effort', LATEST)
        command = TwistStamped if values.use_stamped_vel else Twist
        self.create_subscription(command, 'cmd_vel', self._on_command, LATEST)
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE)
        if self._paper:
            self._write_accel = AccelWriter('base_link', 'reference_acceleration')
            self._accel = self.create_publisher(AccelStamped, 'reference_acceleration', RELIABLE)
            self.listen(JointState, 'dynamics_effort', self._on_dynamics, RELIABLE)
        else:
            self.listen(MultiDOFJointTrajectory, 'reference_trajectory', self._on_ahead, LATEST)
        self.watch(self._on_watch)
        PublisherWatch(self, 'joint_states', act=self._alive.surplus)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        largest, self._largest = self._largest, 0.0
        return {'controller': self.parameters.value.controller, 'follows': self._law.follows,
                'cycles': self._steps.count, 'largest torque [N·m]': f'{largest:.3f}',
                'longest step [ms]': f'{1e3 * self._steps.longest():.3f}',
                'locked': self._guard.lock or 'no'}

    def _retune(self) -> None:
        values = self.parameters.value
        retune(self._law, values)
        self._guard.retune(values.cmd_vel_timeout, values.start_silence)
        self._alive.set_timeout(values.chain_timeout)

    def _on_command(self, message: Any) -> None:
        try:
            stamped = isinstance(message, TwistStamped)
            twist = twist_of(message.twist if stamped else message, 'twist')
            stamp = (self.check_fresh(stamp_to_ns(message.header.stamp),
                                      self._guard.command_timeout) if stamped else 0)
        except MessageError as error:
            self.diagnostics.refuse('cmd_vel', error)
            return
        self._guard.command(twist, self.watch_time(), stamp)

    def _on_ahead(self, message: TrajectoryRead) -> None:
        try:
            stamp = self.cycle_stamp(message.stamp, self._guard.command_timeout)
            self._law.look_ahead(stamp, Ahead(*planar_points(message, self._frame)))
        except ValueError as error:
            self.diagnostics.refuse('reference_trajectory', error)

    def _on_joints(self, message: JointStateRead) -> None:
        try:
            self.cycle_stamp(message.stamp, self._alive.timeout)
            steering, _, _, wheel_rate = self._joints.read(message)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        now = self.watch_time()
        # no network keeps a message back for so long: a simulation or a bag has begun anew
        if self._newest - message.stamp > 1e9 * self._alive.timeout:
            self._guard.fault('time went back')
            self._law.forget()
            self._line, self._sensed = CycleClock(), StampJoin('joints', 'odom')
        self._newest, self._wheel_rate = message.stamp, wheel_rate
        self._alive.beat('joint_states', now)
        if self._alive.lost(now):
            self._brake(message.stamp)
        self._begin(self._sensed.put('joints', message.stamp, (steering, wheel_rate)),
                    message.stamp)

    def _on_odom(self, message: OdometryRead) -> None:
        try:
            twist, pose = planar(message.twist, 'twist'), planar_pose(message.pose, 'pose')
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        self._alive.beat('odom', self.watch_time())
        self._frame = message.frame_id
        self._begin(self._sensed.put('odom', message.stamp, (pose, twist)), message.stamp)

    def _begin(self, cycle: tuple[Any, ...] | None, stamp: int) -> None:
        """Answer a cycle whose joints and odometry are there."""
        if cycle is None:
            return
        (steering, wheel_rate), (pose, twist) = cycle
        try:
            dt = self._line.accept(stamp)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        begin, now, self._time = time.perf_counter(), self.watch_time(), self._time + (dt or 0.0)
        sensed = Sensed(self._time, steering, wheel_rate, pose, twist)
        if dt is not None and dt > self._alive.timeout:
            self._guard.fault(f'nothing to answer for {dt:.2f} s')  # drives missed torques, too
            dt = None
        # after a pause, or while something is missing, a law begins afresh
        if dt is None or self._alive.lost(now):
            dt = None
            self._law.reset(sensed)
        if fault := self._law.traction.fault:
            self._guard.stop(fault, now)
        command = self._guard.wanted(now, stamp)
        if self._paper:
            if not self.send(self._accel, self._write_accel, stamp,
                             self._law.ask(sensed, command, stamp, dt)):
                self._guard.stop('the acceleration asked for is not finite', now)
                self._law.reset(sensed)
                self._brake(stamp)
        else:
            self._answer(sensed, command, stamp, dt)
        # simulated cycles have another length
        self._steps.add(time.perf_counter() - begin, None if self.simulated_time else dt)

    def _answer(self, sensed: Sensed, command: np.ndarray | None, stamp: int, dt: float | None
                ) -> None:
        """Send the torques of a law that needs nobody else."""
        if self._alive.lost(self.watch_time()):
            return
        try:
            torque = (None if dt is None else
                      self._law.step(sensed, command, self._guard.stamp, stamp, dt))
            self.diagnostics.condition('law', OK, 'well again')
        except LawFailure as error:
            torque = None
            self._guard.stop('the law failed', self.watch_time())
            self._law.reset(sensed)
            self.diagnostics.condition('law', ERROR, f'{error}; the wheels brake')
        if torque is None:
            self._brake(stamp)
        else:
            self._drive(torque, stamp)
        self._guard.healthy(self.watch_time())

    def _on_dynamics(self, message: JointStateRead) -> None:
        if not self._law.waits_for(message.stamp):
            return
        try:
            torque = self._efforts.read(message)
        except MessageError as error:
            self.diagnostics.refuse('dynamics_effort', error)
            return
        now = self.watch_time()
        self._alive.beat('dynamics_effort', now)
        torque = self._law.answer(message.stamp, torque)
        if not self._alive.lost(now):
            self._guard.healthy(now)
            self._drive(torque, message.stamp)

    def _brake(self, stamp: int) -> None:
        values, trusted = self.parameters.value, not self._alive.lack
        self._drive(braking_torque(self.robot, trusted * self._wheel_rate, values.stop_damping,
                                   values.standstill_speed), stamp, brakes=True)

    def _drive(self, torque: np.ndarray, stamp: int, brakes: bool = False) -> None:
        if self._guard.opening(self.watch_time()):
            torque = np.zeros(self.robot.count)
        self._lock.publish(self._guard.lock)
        if self.send(self._effort, self._write_effort, stamp, effort=self._efforts.encode(torque)):
            self._largest = max(self._largest, float(abs(torque).max()))
        elif not brakes:
            self._guard.stop('the torque is not finite', self.watch_time())
            self._brake(stamp)

    def _on_watch(self) -> None:
        now, report = self.watch_time(), self.diagnostics.condition
        if lost := self._alive.lost(now):
            reason = f'no {", ".join(lost)}'
            self._guard.fault(reason)
            report('chain', ERROR, f'{reason} ({self._alive.ages(now)}): the wheels brake')
            if 'joint_states' in lost:
                self._drive(np.zeros(self.robot.count), self.now_ns())
        else:
            report('chain', OK, 'whole again')
        report('cmd_vel', *warned(self._guard.silence(now)))
        self._lock.diagnose(self._guard.lock, self._guard.remedy(), known=bool(lost))
        text, fault = self._law.traction.describe(), self._law.traction.fault
        report('traction', ERROR if fault else WARN if text else OK, text or 'all wheels grip')
        report('step', *warned(self._steps.late(), 'in time again'))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(VelocityControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
