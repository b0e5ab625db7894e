# SPDX-License-Identifier: Apache-2.0
"""
Node: executes ``cmd_vel`` with the torque law that the parameter ``controller`` names.

Each cycle begins with ``joint_states`` and carries its stamp. The papers' law publishes
``reference_acceleration`` with the ``odom`` of that stamp, and fuses its ``dynamics_effort`` into
``wheel_effort``; the others publish at once, and use the ``reference_trajectory`` of the command.
Expired commands cause a controlled stop; a broken chain brakes until a zero or silence re-arms it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from c3p_controller import chosen_law
from c3p_controller.command_interlock import CommandInterlock
from c3p_controller.controllers import check_chain, make_chain, retune_chain
from c3p_controller.reading.law_parameters import velocity_entries
from c3p_controller.reading.laws import installed_laws
from c3p_controller.ros.odometry_alarm import OdometryAlarm
from c3p_controller.ros.speed_inputs import SpeedInputs
from c3p_controller.ros.velocity_interfaces import LockReport, chain_adapter, subscribe_command
from c3p_controller.ros.wheel_output import StopReport, WheelOutput
from c3p_controller.torque_law import Sensed
from c3p_kinematics.joint_channels import JointChannels
from c3p_kinematics.sample_times import Repetition, SampleStep
from c3p_ros.chain_messages import JointStateMessage, OdometryMessage
from c3p_ros.cycle import CycleClock, Lifelines, StampJoin, StepWatch
from c3p_ros.diagnostics import ERROR, OK, WARN, warned
from c3p_ros.messages import EffortCoding, MessageError, planar, planar_pose
from c3p_ros.node import RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.sensed_joints import SensedJointCoding
from c3p_ros.session import run


class VelocityControllerNode(SuiteNode):
    """Adapter between topics, the command interlock and the chain of a controller."""

    MORE_ENTRIES = staticmethod(velocity_entries)

    def __init__(self, **options: Any) -> None:
        """Create the chain, publishers, subscriptions and the watch; compile the kernels."""
        super().__init__('velocity_controller', Path(__file__).with_name(
            'velocity_controller_parameters.yaml'), **options)
        values = self.parameters.value
        self._joints, self.efforts = SensedJointCoding(self.robot), EffortCoding(self.robot)
        self.interlock = CommandInterlock(values.cmd_vel_timeout, values.start_silence)
        self._stamps, self._sensed = CycleClock(), StampJoin('joints', 'odom')
        self._steps = StepWatch()
        self._time = 0.0
        self.frame = 'odom'
        self._speed = SpeedInputs(self, self._retune)
        self._newest, self._pace = 0, SampleStep(values.stamp_jitter)
        self._repetition = Repetition(self.robot.count)
        self._law = make_chain(self._speed.limited(), self.robot)
        self._channels = JointChannels(self.robot)
        for text in (*self.robot_warnings, *installed_laws().troubles,
                     self._law.traction.stronger()):
            self.caution(text)
        self._chain = chain_adapter(self._law)
        self.alive = Lifelines('joint_states', 'odom', *self._chain.PARTS,
                               timeout=values.chain_timeout)
        self._lock, self._stop = LockReport(self, self.diagnostics), StopReport(self)
        self.parameters.check = partial(check_chain, robot=self.robot)
        self.parameters.changed = self._speed.renew
        self._output = WheelOutput(self, self._lock.publish, self._stop)
        subscribe_command(self, values.use_stamped_vel)
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE)
        self._alarm = OdometryAlarm(self, self._on_alarm)
        self._chain.connect(self, self._output.carry_out)
        self.watch(self._on_watch)
        PublisherWatch(self, 'joint_states', act=self.alive.surplus)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        return {'controller': chosen_law(self.parameters.value.controller, self.robot),
                'follows': self._law.follows,
                'cycles': self._steps.count,
                'largest torque [N·m]': f'{self._output.largest():.3f}',
                'longest step [ms]': f'{1e3 * self._steps.longest():.3f}',
                'locked': self.interlock.lock or 'no', **self._law.metrics()}

    def _retune(self) -> None:
        values = self._speed.limited()
        retune_chain(self._law, values, self.robot)
        self.interlock.retune(values.cmd_vel_timeout, values.start_silence)
        self.alive.set_timeout(values.chain_timeout)

    def _on_joints(self, message: JointStateMessage) -> None:
        try:
            self.cycle_stamp(message.stamp, self.alive.timeout)
            steering, steering_rate, angle, rate = self._joints.read(message)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        if self._repetition.found(steering, steering_rate, angle, rate):
            # silent hardware: as if no message had come
            return
        now = self.watch_time()
        stamp = message.stamp
        # longer than any delay of a network: a simulation or a bag has restarted
        if self._newest - stamp > 1e9 * self.alive.timeout:
            self.interlock.fault('time went back')
            self._law.forget()
            self._stamps, self._sensed = CycleClock(), StampJoin('joints', 'odom')
            self._channels.forget()
        self._channels.step(1e-9 * (stamp - self._newest), steering, angle, steering_rate, rate)
        if self._channels.leapt:
            self.interlock.fault('several encoders have jumped')
        # without leaps, and with usable rates
        sample = self._channels.sample.copy()
        self._newest, self._output.wheel_rate = stamp, sample[3]
        self.alive.beat('joint_states', now)
        if lost := bool(self.alive.lost(now)):
            self._output.brake(stamp, now)
        self._stop.watch(now, sample[3], lost)
        if cycle := self._sensed.put('joints', stamp, sample):
            self._begin(cycle, stamp, now)

    def _on_odom(self, message: OdometryMessage) -> None:
        try:
            twist = planar(message.twist, 'twist')
            pose = planar_pose(message.pose, 'pose')
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        now = self.watch_time()
        self.alive.beat('odom', now)
        self.frame = message.frame_id
        if cycle := self._sensed.put('odom', message.stamp, (pose, twist)):
            self._begin(cycle, message.stamp, now)

    def _on_alarm(self, unknown: str) -> None:
        """Brake and lock while the pose of the odometry is unknown."""
        self.alive.doubt = unknown
        self._output.doubt(self._alarm.backwards)
        if unknown:
            self.interlock.stop(unknown, self.watch_time())

    def _begin(self, cycle: tuple[Any, ...], stamp: int, now: float) -> None:
        """Execute a cycle whose joints and odometry have arrived, at `now`, s."""
        joints, (pose, twist) = cycle  # steering, wheel angle, and their rates
        try:
            dt = self._pace.step(self._stamps.accept(stamp), joints[:2], joints[2:])
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        begin = time.perf_counter()
        self._time = self._time + (dt or 0.0)
        sensed = Sensed(self._time, joints[0], joints[3], pose, twist)
        if dt is not None and dt > self.alive.timeout:
            self.interlock.fault(f'nothing to answer for {dt:.2f} s')  # nor for the drives
            dt = None
        # the chain restarts after a pause, and while a part of it is missing
        lost = bool(self.alive.lost(now))
        if dt is None or lost:
            dt = None
            self._law.reset(sensed)
        if fault := self.alive.doubt or self._law.traction.fault:
            self.interlock.stop(fault, now)
        command = self.interlock.active(now, stamp)
        decision = self._chain.cycle(sensed, (command, self.interlock.stamp), stamp, dt, lost)
        self._output.carry_out(decision, stamp, now)
        self._stop.deceleration = self._law.halts(command)
        taken = time.perf_counter() - begin
        # the torque is published
        self.exchange.afterwards(partial(self._end, taken, dt))

    def _end(self, taken: float, dt: float | None) -> None:
        """Prepare the next cycle, and count this one of `dt` s, which has taken `taken` s."""
        begin = time.perf_counter()
        self._law.prepare()
        # simulated cycles have another duration
        self._steps.add(taken + time.perf_counter() - begin, None if self._simulated else dt)

    def _on_watch(self) -> None:
        now = self.watch_time()
        report = self.diagnostics.condition
        if lost := self.alive.lost(now):
            self.interlock.fault(reason := f'no {", ".join(lost)}')
            report('chain', ERROR, f'{reason} ({self.alive.ages(now)}): the wheels brake')
            if 'joint_states' in lost:
                self._output.drive(np.zeros(self.robot.efforts), self.now_ns(), now)
        else:
            report('chain', OK, 'whole again')
        self._speed.look()
        self._stop.diagnose()
        report('cmd_vel', *warned(self.interlock.silence(now)))
        self._lock.diagnose(self.interlock.lock, self.interlock.remedy(), known=bool(lost))
        text = self._law.traction.describe()
        fault = self._law.traction.fault
        report('traction', ERROR if fault else WARN if text else OK, text or 'all wheels grip')
        report('step', *warned(self._steps.late(), 'in time again'))


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(VelocityControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
