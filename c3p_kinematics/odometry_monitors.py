# SPDX-License-Identifier: Apache-2.0
"""Monitors of the odometry, with the noise of its encoders and sample times."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.faults import FaultMonitor
from c3p_kinematics.grip import GripMonitor
from c3p_kinematics.odometry_data import OdometrySettings
from c3p_kinematics.slip import SlipMonitor


class Monitors(NamedTuple):
    """
    Of an `Odometry`.

    Attributes
    ----------
    slip : SlipMonitor
    grip : GripMonitor
    faults : FaultMonitor
    difference_noise : float, m
        Deviation of a contact's path by the rounding of its angles.
    """

    slip: SlipMonitor
    grip: GripMonitor
    faults: FaultMonitor
    difference_noise: float


def make_monitors(robot: CasterRobot, settings: OdometrySettings) -> Monitors:
    """
    Return the monitors of a robot.

    Joints whose times differ by σ have path errors of the speed times σ: behind a low-pass τ
    their velocity is wrong by σ/τ of the speed.
    """
    s = settings
    skew = settings.sample_skew
    steps = np.hypot(robot.wheel_radius * s.wheel_resolution,
                     robot.caster_offset * s.steering_resolution)
    step = float(steps.max())
    # uniform rounding has deviation Δ/√12: behind a low-pass τ, and in a difference of two
    noise = math.hypot(s.slip.noise_std, step / math.sqrt(12.0) / s.slip.time_constant)
    slip = SlipMonitor(robot, replace(
        s.slip, noise_std=noise,
        speed_fraction=math.hypot(s.slip.speed_fraction, skew / s.slip.time_constant)))
    grip = GripMonitor(robot, replace(
        s.grip, resolution=step, time_error=math.hypot(s.stamp_jitter, skew)))
    faults = FaultMonitor(robot, s.wheel_resolution, s.steering_resolution, replace(
        s.faults, creep=math.hypot(s.faults.creep, skew / s.faults.time_constant)))
    # mean of the directions along and across the wheels
    return Monitors(slip, grip, faults, math.sqrt(float(np.mean(steps**2)) / 12.0))
