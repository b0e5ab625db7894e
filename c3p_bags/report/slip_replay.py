# SPDX-License-Identifier: Apache-2.0
"""
Odometry and slip of a recorded run, from its joint states alone.

A robot reports slip twenty times a second, and only where one wheel explains the measurements; a
robot without the suite reports nothing. The odometry is therefore recomputed at the full rate of
the joint states, in the same way for every bag.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints, Motion
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.slip import thresholds


class SlipReplay(NamedTuple):
    """
    Slip evidence of the wheels, sample by sample.

    Attributes
    ----------
    time : (k,) array, s
    statistic : (k,) array
        χ² of the filtered residuals.
    threshold : float
        Limit above which it counts as slip.
    slipping : (k,) bool array
        The alarm, with persistence at its begin and end.
    suspect : (k,) int array
        The wheel; −1 without an alarm, or where no single wheel explains the residuals.
    without : (k, n) array
        χ² without a wheel: the smaller, the likelier this wheel slips.
    several : float
        Limit of the smallest of these above which more than one wheel slips.
    slip : (k, n, 2) array, m/s
        Velocity of each contact point over the floor [along, across] relative to the trusted
        wheels: the residual of ``wheel_slip``. During an alarm the suspect is not trusted.
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
    Step an `Odometry` through the joint states; return its motion and slip.

    The pose begins at (0, 0, 0); the covariances are zero. `settings` default to those of the
    odometry.
    """
    odometry = Odometry(robot, settings)
    count, n = len(joints.time), robot.count
    pose, twist = np.zeros((count, 3)), np.zeros((count, 3))
    statistic, without, slip = np.zeros(count), np.zeros((count, n)), np.zeros((count, n, 2))
    slipping, suspect = np.zeros(count, bool), np.full(count, -1)
    for k in range(count):
        found = odometry.step(joints.time[k], joints.steering[k], joints.wheel_angle[k],
                              joints.wheel_rate[k], joints.steering_rate[k])
        pose[k], twist[k], slip[k] = found.pose, found.twist, found.residual
        statistic[k], without[k] = found.slip.statistic, odometry.without
        slipping[k], suspect[k] = found.slip.slipping, found.slip.suspect
    unknown = np.zeros((count, 3, 3))
    limit, several = thresholds(n)
    return (Motion(joints.time, pose, twist, unknown, unknown, 'odom', 'base_link'),
            SlipReplay(joints.time, statistic, limit, slipping, suspect, without, several,
                       slip))
