# SPDX-License-Identifier: Apache-2.0
"""Log and diagnostics of the times of the joint samples."""

from __future__ import annotations

from collections.abc import Mapping

from c3p_kinematics.joint_times import TIMES
from c3p_kinematics.odometry import Odometry
from c3p_ros.node import SuiteNode


class TimesLog:
    """
    States once what the odometry has measured of the times, and shows it in the diagnostics.

    Parameters
    ----------
    node : SuiteNode
    odometry : Odometry
    """

    def __init__(self, node: SuiteNode, odometry: Odometry) -> None:
        """Nothing is known yet."""
        self._node = node
        self._odometry = odometry
        self._stated = False

    def metrics(self) -> Mapping[str, str]:
        """Return the times in words, empty before there is enough motion; log the first ones."""
        found = self._odometry.times
        if found is None:
            return {}
        robot = self._node.robot
        text = found.text(robot.steering_joints, robot.wheel_joints)
        if not self._stated:
            self._stated = True
            self._node.get_logger().info(f'{TIMES}: {text}')
        return {TIMES: text}
