# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of joints whose angles and rates contradict each other."""

from __future__ import annotations

from c3p_description.model import CasterRobot
from c3p_kinematics.joint_channels import ChannelReport
from c3p_ros.diagnostics import ERROR, OK, WARN, Diagnostics


def report_channels(diagnostics: Diagnostics, robot: CasterRobot, channels: ChannelReport | None
                    ) -> None:
    """Report rates that contradict the angles, and encoders that have jumped together."""
    joints = robot.steering_joints, robot.wheel_joints
    rates = channels.rates_text(*joints) if channels else ''
    restart = channels.restart_text(*joints) if channels else ''
    diagnostics.condition('rates', WARN if rates else OK, rates or 'as the angles')
    diagnostics.condition('restart', ERROR if restart else OK, restart or 'angles are continuous')
