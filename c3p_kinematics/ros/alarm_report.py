# SPDX-License-Identifier: Apache-2.0
"""Topic ``~/alarm`` of the odometry's node: doubt about the pose, for the controllers."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from c3p_kinematics.contradiction import Contradiction
from c3p_kinematics.odometry_data import OdometryEstimate
from c3p_kinematics.residual_alarm import NO_ALARM, Doubt, ResidualAlarm, alarm_of, doubt_of
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.node import LATCHED, SuiteNode

# levels of the message; OK means that the pose may be used
LEVELS = {Doubt.NONE: OK, Doubt.DOUBTED: WARN, Doubt.UNKNOWN: ERROR}

# reports of the watch after which an unchanged alarm is published again: one a second
REPEAT = 50


class AlarmReport:
    """
    Publisher of ``~/alarm``, a DiagnosticStatus: on each change, and once a second.

    Parameters
    ----------
    node : SuiteNode
    """

    def __init__(self, node: SuiteNode) -> None:
        """Publish that there is no doubt yet."""
        self._node = node
        self._contradiction = Contradiction()
        self._publisher = node.create_publisher(DiagnosticStatus, '~/alarm', LATCHED)
        self._doubt = Doubt.NONE
        self._reports = 0
        self._estimate: OdometryEstimate | None = None
        self._publish(NO_ALARM)

    def step(self, estimate: OdometryEstimate) -> None:
        """Process an estimate, and publish a doubt that has changed before its pose is used."""
        self._estimate = estimate
        self._contradiction.step(estimate.time, estimate.faults.several)
        doubt = doubt_of(estimate, self._contradiction)
        if doubt is not self._doubt:
            self._doubt = doubt
            self._publish(self._alarm())

    def diagnose(self) -> None:
        """Report a pose that is unknown; a subscriber must not keep another publisher's alarm."""
        self._reports += 1
        alarm = self._alarm()
        if self._reports % REPEAT == 0:
            self._publish(alarm)
        unknown = alarm.doubt is Doubt.UNKNOWN
        self._node.diagnostics.condition('pose', ERROR if unknown else OK,
                                         f'unknown: {alarm.text}' if unknown else
                                         'the casters agree')

    def _alarm(self) -> ResidualAlarm:
        return NO_ALARM if self._estimate is None else alarm_of(
            self._estimate, self._contradiction, self._node.robot.wheel_joints)

    def _publish(self, alarm: ResidualAlarm) -> None:
        name = self._node.get_fully_qualified_name().lstrip('/')
        self._publisher.publish(DiagnosticStatus(
            level=LEVELS[alarm.doubt], name=f'{name}: alarm',
            message=alarm.text or 'the casters agree', hardware_id=self._node.robot.name,
            values=[KeyValue(key=key, value=value) for key, value in alarm.values.items()]))
