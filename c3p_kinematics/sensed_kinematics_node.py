# SPDX-License-Identifier: Apache-2.0
"""
Node: where the robot is, how it moves and which wheel slips, from its joints alone.

Subscribes ``joint_states``; publishes ``odom`` with the stamp of each message, ``/tf`` where tf2
is installed, and ``~/wheel_slip``: a JointState with slip velocity and slip probability of each
wheel (c3p_ros/wheel_slip.py). The pose is set by ``~/reset_odometry`` (Trigger), by ``~/set_pose``
(a pose in the odometry frame) and, where control_msgs is installed, by ``~/set_odometry``
(control_msgs/SetOdometry).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry as OdometryMessage
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from c3p_kinematics.odometry import OdometryEstimate
from c3p_kinematics.odometry_stream import (
    PARAMETERS,
    OdometryStream,
    odometry_settings,
    planar_covariance,
)
from c3p_kinematics.singularity import singularity
from c3p_kinematics.slip import SlipReport
from c3p_ros.cdr import JointStateRead
from c3p_ros.cycle import CycleClock, Lifeline
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.frames import TransformPublisher, pose_of
from c3p_ros.messages import (
    JointCoding,
    MessageError,
    pose_numbers,
    quaternion_of,
    twist_numbers,
)
from c3p_ros.node import LATEST, RELIABLE, SENSOR_DATA, SuiteNode
from c3p_ros.publisher_watch import PublisherWatch
from c3p_ros.session import run
from c3p_ros.wire import JointStateWriter, OdometryWriter

try:
    from control_msgs.srv import SetOdometry
except ImportError:  # comes with a ROS 2 installation, not from the package registries
    SetOdometry = None

# how long a gap in the joint states stays a warning, s of robot time
GAP_SHOWN = 5.0


# shorter spins are left to the report of slip, s
SPIN_REPORTED = 0.05


class SensedKinematicsNode(SuiteNode):
    """Adapter between topics and OdometryStream."""

    def __init__(self, **options: Any) -> None:
        """Create the estimator, publishers, subscriptions, services and the watch."""
        super().__init__('sensed_kinematics', Path(__file__).with_name(
            'sensed_kinematics_parameters.yaml'), **options)
        values = self.parameters.value
        self._joints = JointCoding(self.robot)
        self._stream = OdometryStream(self.robot, odometry_settings(**{
            name: getattr(values, name) for name in PARAMETERS}))
        self._line, self._alive = CycleClock(), Lifeline(values.joint_state_timeout)
        self.parameters.changed = self._retune
        self._slip_due, self._slipping, self._gap_until = 0.0, False, 0.0
        self._estimate: OdometryEstimate | None = None
        # the last pose that was published
        self._placed = np.zeros(3)
        self._steering = np.zeros(self.robot.count)
        # both compile their kernels before the first message
        self._stream.warm_up()
        self.metrics()
        self._write = OdometryWriter(values.odom_frame, values.base_frame, 'odom')
        self._odom = self.create_publisher(OdometryMessage, 'odom', RELIABLE)
        self._write_slip = JointStateWriter(
            self.robot.wheel_joints, ('position', 'velocity', 'effort'), 'wheel_slip',
            unknown=('effort',))
        self._slip = self.create_publisher(JointState, '~/wheel_slip', RELIABLE)
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
        shown = singularity(self.robot, self._steering)
        values = {'sigma_min of the wheel Jacobian': f'{float(shown.sigma_min):.4f}',
                  'condition of the wheel Jacobian': f'{float(shown.condition):.3g}'}
        if self._estimate is not None:
            # 95 % of a Gaussian lie within 1.96 standard deviations
            known = 1.96 * np.sqrt(np.diag(self._estimate.pose_covariance))
            values |= {'distance driven [m]': f'{self._estimate.distance:.3f}',
                       'position known to, 95 % [m]': f'{known[:2].max():.3f}',
                       'yaw known to, 95 % [rad]': f'{known[2]:.4f}',
                       'samples only latched': self._estimate.skipped,
                       'gaps bridged': self._estimate.gaps}
        return values

    def _retune(self) -> None:
        self._alive.timeout = self.parameters.value.joint_state_timeout

    def _on_joints(self, message: JointStateRead) -> None:
        try:
            stamp = self.cycle_stamp(message.stamp, self._alive.timeout)
            steering, steering_rate, angle, rate = self._joints.read(message)
            step = self._line.accept(stamp)
        except MessageError as error:
            self.diagnostics.refuse('joint_states', error)
            return
        self._alive.beat(self.watch_time())
        self._steering = steering
        estimate = self._stream.step(step, steering, steering_rate, angle, rate)
        self._estimate = estimate
        if not estimate.accepted:
            self.diagnostics.refuse('joint_states', estimate.reason)
            return
        self._publish(estimate, stamp)
        # what a gap costs is in the covariance for ever; why it is there is shown for a while
        if estimate.reason.startswith('gap'):
            self._gap_until = estimate.time + GAP_SHOWN
            self.diagnostics.condition('gap', WARN, estimate.reason)
        elif estimate.time > self._gap_until:
            self.diagnostics.condition('gap', OK, 'joint states without gaps')

    def _publish(self, estimate: OdometryEstimate, stamp: int) -> None:
        values = self.parameters.value
        if not self.send(self._odom, self._write, stamp, pose_numbers(estimate.pose),
                         twist_numbers(estimate.twist),
                         planar_covariance(estimate.pose_covariance),
                         planar_covariance(estimate.twist_covariance)):
            # without odometry the controllers brake; an estimate that is not finite stays so
            self._stream.reset(self._placed)
            return
        self._placed = estimate.pose
        if self._transforms is not None:
            self._transforms.send(stamp, estimate.pose, values.odom_frame, values.tf_child_frame)
        changed, self._slipping = estimate.slip.slipping != self._slipping, estimate.slip.slipping
        if changed or estimate.time >= self._slip_due:
            self._slip_due = estimate.time + 1.0 / values.slip_rate
            self.send(self._slip, self._write_slip, stamp, position=estimate.residual[:, 0],
                      velocity=estimate.residual[:, 1], effort=slip_probability(estimate.slip))
        if changed:
            self._report_slip(estimate)

    def _report_slip(self, estimate: OdometryEstimate) -> None:
        slip = estimate.slip
        if not slip.slipping:
            self.diagnostics.condition('slip', OK, 'all wheels roll')
        elif slip.suspect < 0:
            self.diagnostics.condition('slip', WARN, 'more than one wheel slips')
        else:
            self.diagnostics.condition('slip', WARN, (
                f'{self.robot.wheel_joints[slip.suspect]} slips at '
                f'{slip.residual[slip.suspect]:.3f} m/s, confidence {slip.confidence:.2f}'))

    def _report_grip(self, estimate: OdometryEstimate) -> None:
        held, (place, turn) = estimate.grip.held, estimate.doubt
        report, most = self.diagnostics.condition, self.parameters.value.trusted_doubt
        report('grip', *((ERROR, f'wheels spin: the twist has been held for {held:.2f} s')
                         if held > SPIN_REPORTED else (OK, 'the wheels roll')))
        report('trust', *((WARN, f'wheels have spun: the pose may be off by {place:.2f} m and '
                           f'{turn:.2f} rad; set it with ~/set_pose, or call ~/reset_odometry')
                          if place > most else (OK, 'pose set')))

    def _on_set_pose(self, message: PoseWithCovarianceStamped) -> None:
        try:
            pose = pose_of(message.pose.pose, 'pose')
            if message.header.frame_id not in ('', self.parameters.value.odom_frame):
                raise MessageError(f'frame {message.header.frame_id!r}: must be '
                                   f'{self.parameters.value.odom_frame!r}')
        except MessageError as error:
            self.diagnostics.refuse('set_pose', error)
            return
        self._stream.reset(pose)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._stream.reset()
        response.success, response.message = True, 'pose is (0, 0, 0); slip is forgotten'
        return response

    def _on_set_odometry(self, request: Any, response: Any) -> Any:
        try:
            asked = PoseWithCovarianceStamped().pose.pose
            asked.position.x, asked.position.y = float(request.x), float(request.y)
            asked.orientation = quaternion_of(float(request.yaw))
            self._stream.reset(pose_of(asked, 'request'))
            response.success, response.message = True, 'pose set; slip is forgotten'
        except ValueError as error:
            response.success, response.message = False, str(error)
        return response

    def _on_watch(self) -> None:
        now = self.watch_time()
        if self._alive.lost(now):
            self.diagnostics.condition('joint_states', ERROR,
                                       f'none for {self._alive.timeout} s: the pose stands still')
        else:
            self.diagnostics.condition('joint_states', OK, 'coming again')
        if self._estimate is not None:
            self._report_grip(self._estimate)


def slip_probability(slip: SlipReport) -> np.ndarray:
    """Return the probability (n,) that each wheel slips; NaN where no single wheel explains it."""
    if not slip.slipping:
        return np.zeros(len(slip.likelihood))
    return slip.likelihood if slip.suspect >= 0 else np.full(len(slip.likelihood), np.nan)


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(SensedKinematicsNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
