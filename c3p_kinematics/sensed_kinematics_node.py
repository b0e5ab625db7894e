# SPDX-License-Identifier: Apache-2.0
"""
Node: odometry and wheel slip from the joint states of the robot.

Subscribes ``joint_states``; publishes ``odom`` with the stamp of each message, ``/tf`` where tf2
is installed, and ``~/wheel_slip``: a JointState with slip velocity and slip probability of each
wheel (c3p_ros/wheel_slip.py), and ``~/alarm``: a DiagnosticStatus, whether the pose may be used
(residual_alarm.py). The pose is set by ``~/reset_odometry`` (Trigger), by ``~/set_pose`` (a pose
in the odometry frame) and, where control_msgs is installed, by ``~/set_odometry``
(control_msgs/SetOdometry). With ``calibration.enabled`` lengths and steering zeros are learned
(docs/calibration.md); ``~/save_calibration`` writes them and ``~/forget_calibration`` drops them;
with ``imu.enabled`` the yaw rate of ``imu/data`` (Imu) is fused in the heading, and teaches, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from c3p_kinematics.odometry import OdometryEstimate, planar_covariance
from c3p_kinematics.ros.alarm_report import AlarmReport
from c3p_kinematics.ros.calibration_report import report_calibration
from c3p_kinematics.ros.channel_report import report_channels
from c3p_kinematics.ros.node_odometry import calibration_metrics, make_odometry, retune
from c3p_kinematics.ros.times_log import TimesLog
from c3p_kinematics.sample_times import REPEATED
from c3p_kinematics.singularity import singularity_metrics
from c3p_ros.chain_messages import JointStateMessage
from c3p_ros.channels import subscribers
from c3p_ros.cycle import CycleClock, Lifeline
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.messages import MessageError, pose_of, quaternion_of
from c3p_ros.node import LATEST, RELIABLE, SENSOR_DATA, SuiteNode, TransformPublisher
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.sensed_joints import SensedJointCoding
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter, PlanarOdometryWriter

try:
    from control_msgs.srv import SetOdometry
except ImportError:  # comes with a ROS 2 installation, not from the package registries
    SetOdometry = None

# time for which the cause of a gap is shown, s of robot time: the covariance keeps its cost
GAP_SHOWN = 5.0


class SensedKinematicsNode(SuiteNode):
    """Adapter between topics and Odometry."""

    def __init__(self, **options: Any) -> None:
        """Create the estimator, publishers, subscriptions, services and the watch."""
        super().__init__('sensed_kinematics', Path(__file__).with_name(
            'sensed_kinematics_parameters.yaml'), **options)
        values = self.parameters.value
        self._joints = SensedJointCoding(self.robot)
        self._odometry = make_odometry(self)
        self._times = TimesLog(self, self._odometry)
        self._line, self._alive = CycleClock(), Lifeline(values.joint_state_timeout)
        self.parameters.changed = self._retune
        self._slip_due = 0.0
        self._slipping = False
        self._gap_until = 0.0
        self._repeats = False
        self._estimate: OdometryEstimate | None = None
        # the last pose that was published
        self._placed = np.zeros(3)
        self._steering = np.zeros(self.robot.count)
        # both compile their kernels before the first message
        self._odometry.warm_up()
        self.metrics()
        self._write = PlanarOdometryWriter(values.odom_frame, values.base_frame, 'odom',
                                           planar_covariance(np.zeros((3, 3))))
        self._odom = self.create_publisher(Odometry, 'odom', RELIABLE)
        self._write_slip = JointStateWriter(
            self.robot.wheel_joints, ('position', 'velocity', 'effort'), 'wheel_slip',
            unknown=('effort',))
        self._slip = self.create_publisher(JointState, '~/wheel_slip', RELIABLE)
        self._alarm = AlarmReport(self)
        self._transforms = TransformPublisher(self) if values.publish_tf else None
        self.listen(JointState, 'joint_states', self._on_joints, SENSOR_DATA)
        self.create_subscription(PoseWithCovarianceStamped, '~/set_pose', self._on_set_pose,
                                 LATEST)
        self.create_service(Trigger, '~/reset_odometry', self._on_reset)
        if SetOdometry is not None:
            self.create_service(SetOdometry, '~/set_odometry', self._on_set_odometry)
        self.watch(self._on_watch)
        # the velocity controller and the wheel gate brake
        PublisherWatch(self, 'joint_states', act=lambda reason: None)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        values = {**singularity_metrics(self.robot, self._steering),
                  **calibration_metrics(self._odometry), **self._times.metrics()}
        return values if self._estimate is None else values | self._estimate.metrics()

    def _retune(self) -> None:
        self._alive.timeout = self.parameters.value.joint_state_timeout
        retune(self._odometry, self.parameters.value)

    def _on_joints(self, message: JointStateMessage) -> None:
        try:
            stamp = self.cycle_stamp(message.stamp, self._alive.timeout)
            steering, steering_rate, angle, rate = self._joints.read(message)
            step = self._line.accept(stamp)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        self._steering = steering
        if self._odometry.gyro is not None:
            self._odometry.gyro.at(stamp)
        estimate = self._estimate = self._odometry.step_by(step, steering, angle, rate,
                                                           steering_rate)
        if estimate.reason == REPEATED:  # silent hardware: as if the message had not come
            self._repeats = True
            return
        self._repeats = False
        self._alive.beat(self.watch_time())
        if not estimate.accepted:
            self.diagnostics.refuse('joint_states', estimate.reason)
            return
        self._alarm.step(estimate)
        self._publish(estimate, stamp)
        if estimate.reason.startswith('gap'):
            self._gap_until = estimate.time + GAP_SHOWN
            self.diagnostics.condition('gap', WARN, estimate.reason)
        elif estimate.time > self._gap_until:
            self.diagnostics.condition('gap', OK, 'joint states without gaps')

    def _publish(self, estimate: OdometryEstimate, stamp: int) -> None:
        values = self.parameters.value
        if not self.send(self._odom, self._write, stamp, estimate.pose, estimate.twist,
                         estimate.pose_covariance, estimate.twist_covariance):
            # without odometry the controllers brake; an estimate that is not finite stays so
            self._odometry.place_at(self._placed)
            return
        self._placed = estimate.pose
        if self._transforms is not None:
            self._transforms.send(stamp, estimate.pose, values.odom_frame, values.tf_child_frame)
        changed = estimate.slip.slipping != self._slipping
        self._slipping = estimate.slip.slipping
        if changed or estimate.time >= self._slip_due:
            self._slip_due = estimate.time + 1.0 / values.slip_rate
            self.exchange.afterwards(partial(self._publish_slip, estimate, stamp))
        if changed:
            text = estimate.slip.text(self.robot.wheel_joints)
            self.diagnostics.condition('slip', WARN if text else OK, text or 'all wheels roll')

    def _publish_slip(self, estimate: OdometryEstimate, stamp: int) -> None:
        """Publish slip velocity and probability of each wheel, for recorders and viewers."""
        if subscribers(self._slip):
            along, across = estimate.residual.T
            self.send(self._slip, self._write_slip, stamp, position=along, velocity=across,
                      effort=estimate.slip.probability)

    def _on_set_pose(self, message: PoseWithCovarianceStamped) -> None:
        try:
            pose = pose_of(message.pose.pose, 'pose')
            if message.header.frame_id not in ('', self.parameters.value.odom_frame):
                raise MessageError(f'frame {message.header.frame_id!r}: must be '
                                   f'{self.parameters.value.odom_frame!r}')
        except MessageError as error:
            self.diagnostics.refuse('set_pose', error)
            return
        self._odometry.place_at(pose)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._odometry.reset()
        response.success = True
        response.message = 'pose is (0, 0, 0); slip and evidence of wrong wiring are forgotten'
        return response

    def _on_set_odometry(self, request: Any, response: Any) -> Any:
        try:
            pose = PoseWithCovarianceStamped().pose.pose
            pose.position.x, pose.position.y = float(request.x), float(request.y)
            pose.orientation = quaternion_of(float(request.yaw))
            self._odometry.place_at(pose_of(pose, 'request'))
            response.success = True
            response.message = 'pose set; slip is forgotten'
        except ValueError as error:
            response.success, response.message = False, str(error)
        return response

    def _on_watch(self) -> None:
        condition = self.diagnostics.condition
        lost = self._alive.lost(self.watch_time())
        silence = 'only the same sample, with rates of motion,' if self._repeats else 'none'
        condition('joint_states', ERROR if lost else OK,
                  f'{silence} for {self._alive.timeout} s: the pose stands still' if lost else
                  'coming again')
        report_calibration(self.diagnostics, self._odometry)
        if self._estimate is not None:
            spin = self._estimate.spin_text()
            doubt = self._estimate.doubt_text(self.parameters.value.trusted_doubt)
            fault = self._estimate.faults.text(self.robot.wheel_joints)
            condition('faults', WARN if fault else OK, fault or 'casters and encoders agree')
            condition('grip', ERROR if spin else OK, spin or 'the wheels roll')
            condition('trust', WARN if doubt else OK, doubt or 'pose set')
            self._alarm.diagnose()
            report_channels(self.diagnostics, self.robot, self._estimate.channels)


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SensedKinematicsNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
