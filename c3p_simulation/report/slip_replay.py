# SPDX-License-Identifier: Apache-2.0
"""
Odometry and slip of a recorded run, from its joint states alone.

The robot tells of slip twenty times a second and names a wheel only where one explains what is
sensed; a robot without the suite tells nothing. Here the joints are gone through again at their
full rate, with the odometry's own equations and thresholds: every bag is judged in the same way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import SHORTEST_STEP, OdometrySettings
from c3p_kinematics.slip import CLEAR_FRACTION, thresholds
from c3p_kinematics.slip_monitor import ROUNDING
from c3p_simulation.recording.run_log import Joints, Motion
from c3p_simulation.report import _slip_replay_kernels as kernels


class SlipReplay(NamedTuple):
    """
    What the wheels say about slip, sample by sample.

    Attributes
    ----------
    time : (k,) array, s
    statistic : (k,) array
        χ² of the filtered residuals.
    threshold : float
        The value above which it counts as slip.
    slipping : (k,) bool array
        The alarm, which needs to persist to begin and to end.
    suspect : (k,) int array
        The wheel; −1 without an alarm, or where no single wheel explains the residuals.
    without : (k, n) array
        χ² that is left when a wheel is left out: the smaller, the more it is that wheel.
    several : float
        χ² left without any one wheel above which more than one slips.
    slip : (k, n, 2) array, m/s
        Velocity of each contact point over the floor [along, across], as the wheels that are
        trusted see it: the residual of ``wheel_slip``. During an alarm the suspect is not trusted.
    """

    time: Array
    statistic: Array
    threshold: float
    slipping: Array
    suspect: Array
    without: Array
    several: float
    slip: Array


def replay(robot: CasterRobot, joints: Joints, settings: OdometrySettings | None = None
           ) -> tuple[Motion, SlipReplay]:
    """
    Go through the joint states as `Odometry` would; return its motion and slip.

    Parameters
    ----------
    robot : CasterRobot
    joints : Joints
    settings : OdometrySettings, optional
        Default those of the odometry; the robust fit is always on.

    Returns
    -------
    Motion
        Pose from (0, 0, 0) and twist, without covariances (zero).
    SlipReplay
    """
    s, count, n = settings or OdometrySettings(), len(joints.time), robot.count
    step = np.hypot(robot.wheel_radius * s.wheel_resolution,
                    robot.caster_offset * s.steering_resolution).max()
    # rounding of the encoders behind the low-pass, as odometry.py counts it
    noise = math.hypot(s.slip.noise_std, step / math.sqrt(12.0) / s.slip.time_constant)
    limit, several = thresholds(n)
    pose, twist = np.zeros((count, 3)), np.zeros((count, 3))
    statistic, without, slip = np.zeros(count), np.zeros((count, n)), np.zeros((count, n, 2))
    slipping, suspect = np.zeros(count, bool), np.full(count, -1)
    plain = [np.ascontiguousarray(a, dtype=float) for a in (
        joints.time, joints.steering, joints.wheel_angle, joints.wheel_rate,
        joints.steering_rate)]
    kernels.replay(robot.geometry, *plain, noise, s.slip.speed_fraction, s.slip.time_constant,
                   s.slip.persistence + ROUNDING, s.slip.release + ROUNDING, limit, several,
                   CLEAR_FRACTION, SHORTEST_STEP, s.max_gap, pose, twist, statistic, without,
                   slipping, suspect, slip)
    # where all contact points coincide there is no fit
    for found in (twist, slip):
        found[~np.isfinite(found)] = 0.0
    unknown = np.zeros((count, 3, 3))
    return (Motion(joints.time, pose, twist, unknown, unknown, 'odom', 'base_link'),
            SlipReplay(joints.time, statistic, limit, slipping, suspect, without, several,
                       slip))
