# SPDX-License-Identifier: Apache-2.0
"""
Node: makes the robot follow ``cmd_vel`` (velocity_controller.VelocityController).

Each cycle begins with a ``joint_states`` message and carries its stamp: with the ``odom`` of that
stamp the node publishes ``reference_acceleration``; the ``dynamics_effort`` that answers it is
fused into ``wheel_effort``. When commands stop coming the robot makes a controlled stop; when the
chain breaks the wheels brake, and the robot waits for a zero command, or silence, before it moves
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from c3p_controller.command_guard import CommandGuard
from c3p_controller.reference import ReferenceLimits
from c3p_controller.velocity_controller import VelocityController, VelocityGains, limit_torque
from c3p_ros.cycle import CycleClock, Lifeline
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.executor import run
from c3p_ros.messages import (
    EffortCoding,
    JointCoding,
    MessageError,
    planar,
    stamp_to_ns,
    twist_of,
)
from c3p_ros.node import LATEST, RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.stamp_join import StampJoin
from c3p_ros.wire import JointStateRead, OdometryRead
from c3p_ros.wire_writers import AccelWriter, JointStateWriter

# cycles that may wait for the inverse dynamics at once: on a busy computer the next cycle begins
# before the answer to the last has come, and that answer still is the newest there is
UNANSWERED = 8

CHAIN = ('joint_states', 'odom', 'dynamics_effort')


class VelocityControllerNode(SuiteNode):
    """Adapter between topics, VelocityController and CommandGuard."""

    def __init__(self, **options: Any) -> None:
        """Create the law, publishers, subscriptions and the watch; compile the kernels."""
        super().__init__('velocity_controller', Path(__file__).with_name(
            'velocity_controller_parameters.yaml'), **options)
        values = self.parameters.value
        self._joints, self._efforts = JointCoding(self.robot), EffortCoding(self.robot)
        self._controller = VelocityController(self.robot, VelocityGains(), ReferenceLimits(),
                                              values.virtual_steering_weight)
        self._guard = CommandGuard(values.cmd_vel_timeout, values.start_silence)
        self._line, self._alive = CycleClock(), {part: Lifeline(1.0) for part in CHAIN}
        self.parameters.changed = self._retune
        self._retune()
        self._warm_up()
        self._sensed = StampJoin('joints', 'odom')
        self._asked: dict[int, tuple[Any, Any, Any]] = {}
        self._cycles, self._largest = 0, 0.0
        self._write_accel = AccelWriter('base_link')
        self._write_effort = JointStateWriter(self._efforts.names, ['effort'])
        self._accel = self.create_publisher(AccelStamped, 'reference_acceleration', RELIABLE)
        self._effort = self.create_publisher(JointState, 'wheel_effort', LATEST)
        command = TwistStamped if values.use_stamped_vel else Twist
        self.create_subscription(command, 'cmd_vel', self._on_command, LATEST)
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE)
        self.listen(JointState, 'dynamics_effort', self._on_dynamics, RELIABLE)
        self.watch(self._on_watch)

    def figures(self) -> Mapping[str, Any]:
        """Return the figures for the diagnostics."""
        largest, self._largest = self._largest, 0.0
        return {'cycles': self._cycles, 'largest torque [N·m]': f'{largest:.3f}',
                'locked': self._guard.lock or 'no'}

    def _retune(self) -> None:
        values = self.parameters.value
        controller = self._controller
        controller.gains = VelocityGains(**{f.name: getattr(values, f.name)
                                            for f in fields(VelocityGains)})
        controller.virtual_steering_weight = values.virtual_steering_weight
        self._driving = ReferenceLimits(
            values.speed_limit, values.yaw_rate_limit, values.acceleration_limit,
            values.yaw_acceleration_limit, values.command_smoothing)
        self._stopping = replace(self._driving, acceleration=values.stop_acceleration)
        self._guard.command_timeout = values.cmd_vel_timeout
        self._guard.start_silence = values.start_silence
        for lifeline in self._alive.values():
            lifeline.timeout = values.chain_timeout

    def _warm_up(self) -> None:
        """Compile the kernels before the first message, and forget the made-up cycle."""
        n = self.robot.count
        self._controller.ask(np.ones(3), np.zeros(3), 0.01)
        self._controller.fuse(np.zeros(n), np.zeros(n), np.zeros(3), np.zeros(n))
        self._controller.reset()

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

    def _on_joints(self, message: JointStateRead) -> None:
        try:
            self.cycle_stamp(message.stamp, self._alive['joint_states'].timeout)
            steering, _, _, wheel_rate = self._joints.read(message)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        self._alive['joint_states'].beat(self.watch_time())
        if self._broken():
            self._brake(wheel_rate, message.stamp)
        self._begin(self._sensed.put('joints', message.stamp, (steering, wheel_rate)),
                    message.stamp)

    def _on_odom(self, message: OdometryRead) -> None:
        try:
            twist = planar(message.twist, 'twist')
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        self._alive['odom'].beat(self.watch_time())
        self._begin(self._sensed.put('odom', message.stamp, twist), message.stamp)

    def _begin(self, cycle: tuple[Any, ...] | None, stamp: int) -> None:
        """Ask the inverse dynamics for the acceleration of this cycle."""
        if cycle is None:
            return
        (steering, wheel_rate), sensed = cycle
        try:
            dt = self._line.accept(stamp)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        if self._line.restarted:
            self._guard.fault('time went back')
            self._asked.clear()
        command = self._guard.wanted(self.watch_time(), stamp)
        controller = self._controller
        controller.shaper.limits = self._stopping if command is None else self._driving
        if dt is None or dt > self.parameters.value.chain_timeout or self._broken():
            controller.reset(sensed)
            accel = np.zeros(3)
        else:
            accel = controller.ask(np.zeros(3) if command is None else command, sensed, dt)
        self._asked[stamp] = (steering, wheel_rate, sensed)
        if len(self._asked) > UNANSWERED:
            del self._asked[next(iter(self._asked))]
        self._accel.publish(self._write_accel(stamp, accel))

    def _on_dynamics(self, message: JointStateRead) -> None:
        stamp = message.stamp
        if stamp not in self._asked:
            return
        try:
            torque = self._efforts.read(message)
        except MessageError as error:
            self.diagnostics.refuse('dynamics_effort', error)
            return
        self._alive['dynamics_effort'].beat(self.watch_time())
        steering, wheel_rate, sensed = self._asked.pop(stamp)
        # a newer answer makes the older ones useless
        for old in [s for s in self._asked if s < stamp]:
            del self._asked[old]
        if not self._broken():
            self._guard.healthy(self.watch_time())
            self._send(self._controller.fuse(steering, wheel_rate, sensed, torque), stamp)

    def _broken(self) -> str:
        """Return what has stopped coming, or an empty string."""
        joints = self._alive['joint_states']
        if joints.lost(self.watch_time()):
            return 'joint_states'
        # the others answer to joint states; after a pause of everything they are not to blame
        return ', '.join(part for part in CHAIN[1:] if self._alive[part].lost(joints.heard))

    def _brake(self, wheel_rate: np.ndarray, stamp: int) -> None:
        torque = -self.parameters.value.stop_damping * wheel_rate
        # at rest exactly zero, so that the drives' gate may open again
        torque[np.abs(wheel_rate) < self.parameters.value.standstill_speed
               / self.robot.wheel_radius] = 0.0
        self._send(limit_torque(np.where(self.robot.driven, torque, 0.0),
                                self.robot.torque_limit), stamp)

    def _send(self, torque: np.ndarray, stamp: int) -> None:
        self._cycles += 1
        self._largest = max(self._largest, float(abs(torque).max()))
        self._effort.publish(self._write_effort(stamp, effort=self._efforts.encode(torque)))

    def _on_watch(self) -> None:
        now, broken = self.watch_time(), self._broken()
        if broken:
            self._guard.fault(f'no {broken}')
            ages = ', '.join(f'{part} {self._alive[part].age(now):.2f} s'
                             for part in broken.split(', '))
            self.diagnostics.condition('chain', ERROR, f'no {broken} ({ages}): the wheels brake')
            if 'joint_states' in broken:
                self._send(np.zeros(self.robot.count), self.now_ns())
        else:
            self.diagnostics.condition('chain', OK, 'whole again')
        if self._guard.stale(now):
            self.diagnostics.condition('cmd_vel', WARN, 'no command for longer than '
                                       f'{self._guard.command_timeout} s: the robot stands')
        else:
            self.diagnostics.condition('cmd_vel', OK, '')
        lock = self._guard.lock
        self.diagnostics.condition(
            'lock', WARN if lock and not broken else OK,
            f'{lock}; the robot moves after a zero command or silence' if lock else 'unlocked')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(VelocityControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
