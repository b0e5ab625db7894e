# SPDX-License-Identifier: Apache-2.0
"""Monitors of the odometry, with the noise of its encoders and sample times."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.faults import FaultMonitor
from c3p_kinematics.grip import GripMonitor
from c3p_kinematics.odometry_data import OdometrySettings
from c3p_kinematics.slip import SlipMonitor
from c3p_kinematics.wiring_monitor import WiringMonitor


class Monitors(NamedTuple):
    """
    Of an `Odometry`.

    Attributes
    ----------
    slip : SlipMonitor
    grip : GripMonitor
    faults : FaultMonitor
    wiring : WiringMonitor
    difference_noise : float, m
        Deviation of a contact's path by the rounding of its angles.
    """

    slip: SlipMonitor
    grip: GripMonitor
    faults: FaultMonitor
    wiring: WiringMonitor
    difference_noise: float


def make_monitors(robot: CasterRobot, settings: OdometrySettings) -> Monitors:
    """Return the monitors of a robot."""
    s = settings
    steps = np.hypot(robot.wheel_radius * s.wheel_resolution,
                     robot.caster_offset * s.steering_resolution)
    step = float(steps.max())
    return Monitors(
        SlipMonitor(robot, s.slip, step, s.sample_skew),
        GripMonitor(robot, s.grip, step, math.hypot(s.stamp_jitter, s.sample_skew)),
        FaultMonitor(robot, s.wheel_resolution, s.steering_resolution, s.faults, s.sample_skew),
        WiringMonitor(robot, s.sample_skew),
        # mean of the directions along and across the wheels
        math.sqrt(float(np.mean(steps**2)) / 12.0))
