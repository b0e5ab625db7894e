# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a calibration while driving that should not be relied on."""

from __future__ import annotations

from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.odometry import Odometry
from c3p_ros.diagnostics import OK, WARN, Diagnostics


def report_calibration(diagnostics: Diagnostics, odometry: Odometry) -> None:
    """Show as a condition why the calibration should not be relied on; none without one."""
    if not isinstance(odometry, CalibratingOdometry):
        return
    doubts = [odometry.calibration.doubt(), '' if odometry.yaw is None else odometry.yaw.doubt]
    text = '; '.join(filter(None, doubts))
    diagnostics.condition('calibration', WARN if text else OK,
                          text or 'the calibration explains the motion')
