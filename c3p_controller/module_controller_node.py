# SPDX-License-Identifier: Apache-2.0
"""
Node: drives a robot on modules by angles and rates of its joints, for forward controllers.

Executes ``cmd_vel`` within the limits of platform and axes (c3p_kinematics/module_plan.py). Each
cycle begins with ``joint_states``. Publishes ``~/steering_position`` or ``~/steering_velocity``
and ``~/wheel_velocity`` (Float64MultiArray), in the order of the description: steering joints with
a motor, driven wheels. Expired commands cause a controlled stop; without ``joint_states`` the
wheel velocities are zero, until a zero command or silence re-arms the node.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from c3p_controller._limit_kernels import excess_of
from c3p_controller.command_interlock import CommandInterlock
from c3p_controller.module_joints import ModuleJoints, ModuleRobotError
from c3p_controller.module_watch import ModuleWatch
from c3p_controller.ros.module_output import ModuleOutput
from c3p_controller.ros.module_settings import module_settings
from c3p_controller.ros.speed_inputs import SpeedInputs
from c3p_controller.ros.velocity_interfaces import LockReport, subscribe_command
from c3p_description.model import Array
from c3p_description.reading.urdf_notes import DRIVERS
from c3p_kinematics.joint_channels import JointChannels
from c3p_kinematics.module_commands import ModuleSteering
from c3p_kinematics.sample_times import Repetition
from c3p_kinematics.wheel_following import WheelFollowing
from c3p_ros.chain_messages import JointStateMessage
from c3p_ros.cycle import CycleClock, Lifelines, StepWatch
from c3p_ros.diagnostics import ERROR, OK, warned
from c3p_ros.messages import MessageError
from c3p_ros.node import SENSOR_DATA, SuiteNode
from c3p_ros.parameters import ParameterError
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.sensed_joints import SensedJointCoding
from c3p_ros.session import run

# time for the last zeros to arrive before the node ends, s
LINGER = 0.05

STAND = np.zeros(3)

# steering angles and rates, wheel angles and rates
Sample = tuple[Array, Array, Array, Array]


class ModuleControllerNode(SuiteNode):
    """Adapter between topics, the command interlock and the plan of the modules."""

    def __init__(self, **options: Any) -> None:
        """Create the plan, publishers, subscriptions and the watch."""
        super().__init__('module_controller', Path(__file__).with_name(
            'module_controller_parameters.yaml'), **options)
        values = self.parameters.value
        try:
            self._joints = ModuleJoints(self.robot)
            self._modules = ModuleSteering(self.robot, module_settings(values, self.robot,
                                                                       self._joints))
        except ModuleRobotError as error:
            raise ParameterError(f'module_controller: {error}') from error
        self._channels, self._speed = JointChannels(self.robot), SpeedInputs(self, lambda: None)
        # compiled before the first message
        excess_of(STAND, values.speed_limit, values.yaw_rate_limit)
        assert self._modules.plan is not None
        self._plan = self._modules.plan
        self._following = WheelFollowing(self.robot, values.wheel_lag, values.wheel_feedback)
        self.interlock = CommandInterlock(values.cmd_vel_timeout, values.start_silence)
        self.alive = Lifelines('joint_states', timeout=values.joint_state_timeout)
        self._coding = SensedJointCoding(self.robot)
        self._stamps, self._repetition = CycleClock(), Repetition(self.robot.count)
        self._steps, self._modules_watch = StepWatch(), ModuleWatch(self.robot, values.patience)
        self._lock = LockReport(self, self.diagnostics)
        self.parameters.changed = self._retune
        self._output = ModuleOutput(self, self._joints)
        self.at_end(self._end)
        for text in self.robot_warnings:
            # this node is one of those that drive other wheels than casters
            if DRIVERS not in text:
                self.caution(text)
        subscribe_command(self, values.use_stamped_vel)
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.watch(self._on_watch)
        PublisherWatch(self, 'joint_states', act=self.alive.surplus)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics; the joints in the order of their commands."""
        behind = float(np.degrees(self._plan.behind.max()))
        return {'steering joints': ', '.join(self._joints.steering) or 'none',
                'wheel joints': ', '.join(self._joints.wheels),
                'cycles': self._steps.count,
                'longest step [ms]': f'{1e3 * self._steps.longest():.3f}',
                'largest angle of a module to its direction [°]': f'{behind:.1f}',
                'speed that the slowest wheel leaves [%]': f'{100.0 * self._following.scale:.0f}',
                'locked': self.interlock.lock or 'no'}

    def _retune(self) -> None:
        self._speed.renew()
        values = self.parameters.value
        self.interlock.retune(values.cmd_vel_timeout, values.start_silence)
        self.alive.set_timeout(values.joint_state_timeout)
        self._modules_watch.patience = values.patience

    def _on_joints(self, message: JointStateMessage) -> None:
        try:
            stamp = self.cycle_stamp(message.stamp, self.alive.timeout)
            sample = self._coding.read(message)
            if self._repetition.found(*sample):
                # silent hardware: as if no message had come
                return
            dt = self._stamps.accept(stamp)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        usable = self._usable(sample, dt)
        now = self.watch_time()
        self.alive.beat('joint_states', now)
        if self._stamps.restarted:
            self.interlock.fault('time went back')
        if dt is not None and dt > self.alive.timeout:
            self.interlock.fault(f'nothing to answer for {dt:.2f} s')
            dt = None
        if self.alive.lost(now) or dt is None:
            self._halt()
            return
        begin = time.perf_counter()
        self.interlock.rearm(now)
        command = self._modules.step(sample[0], self._target(now, stamp), dt)
        planned = command.wheel_rate
        command = command._replace(wheel_rate=self._following.step(planned, usable[3], dt))
        if not self._output.send(command, stamp):
            self.interlock.fault('the commands are not finite')
            self._halt()
            return
        self._modules_watch.step(self._plan, sample[3], planned, dt)
        self._output.send_measured(stamp, usable)
        self._steps.add(time.perf_counter() - begin, None if self._simulated else dt)

    def _usable(self, sample: Sample, dt: float | None) -> Sample:
        """Return the sample with nan in the place of rates that contradict the angles."""
        steering, steering_rate, angle, rate = sample
        self._channels.step(dt or 0.0, steering, angle, steering_rate, rate)
        if (found := self._channels.report()) is None:
            return sample
        return (steering, np.where(found.wrong[0], np.nan, steering_rate), angle,
                np.where(found.wrong[1], np.nan, rate))

    def _target(self, now: float, stamp: int) -> Array:
        """Return the twist to drive, within the limits; zero for a stop."""
        command = self.interlock.active(now, stamp)
        if command is None or self.interlock.opening(now):
            return STAND
        return command / excess_of(command, self._speed.speed, self._speed.yaw_rate)

    def _halt(self) -> None:
        """Stop all wheels at once; steering joints keep their angles."""
        self._plan.forget()
        self._following.forget()
        self._modules_watch.forget()
        self._output.halt()

    def _end(self) -> None:
        """Send zeros at the end: a forward controller keeps its last command."""
        if self.context.ok():
            self._halt()
            time.sleep(LINGER)

    def _on_watch(self) -> None:
        now = self.watch_time()
        report = self.diagnostics.condition
        if lost := self.alive.lost(now):
            self.interlock.fault(reason := f'no {", ".join(lost)}')
            report('chain', ERROR, f'{reason} ({self.alive.ages(now)}): the wheels stop')
            self._halt()
        else:
            report('chain', OK, 'whole again')
        self._speed.look()
        self._look_for_listeners()
        report('cmd_vel', *warned(self.interlock.silence(now)))
        self._lock.diagnose(self.interlock.lock, self.interlock.remedy(), known=bool(lost))
        report('stops', *warned(self._modules_watch.beyond()))
        for name, text in (('modules', self._modules_watch.late()),
                           ('wheels', self._modules_watch.turning())):
            report(name, ERROR if text else OK, text)
        found = self._channels.report()
        report('rates', *warned('' if found is None else found.rates_text(
            self.robot.steering_joints, self.robot.wheel_joints), 'as the angles'))
        report('step', *warned(self._steps.late(), 'in time again'))

    def _look_for_listeners(self) -> None:
        """Lock without a subscriber of the commands: one that comes later must begin with zero."""
        text = f'no subscriber on {unheard}' if (unheard := self._output.unheard()) else ''
        if text:
            self.interlock.fault(text)
        self.diagnostics.condition('listener', *warned(text and (
            f'{text}: start the forward controllers, and remap the topic to theirs')), calm=True)


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(ModuleControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
