# SPDX-License-Identifier: Apache-2.0
"""
Agreement of odometry whose weights of the wheels depend on samples that a bag lacks.

The odometry estimates the errors of tyres and the trust in each wheel from the residuals of the
whole run, and they are the weights of the fitted motion. Two fits of the same measurements with
other weights differ by a combination of the residuals: wheels that agree, as those of a robot with
a wrong scale do, allow no difference.
"""

from __future__ import annotations

import numpy as np

from c3p_bags.runs.agreement import SAME
from c3p_description.model import CasterRobot
from c3p_kinematics.odometry import OdometryEstimate
from c3p_kinematics.singularity import length_scale

# change of the contact velocities of the fit per residual: by weights learned from all but some
# samples, and by those at the begin of a run in the place of learned ones
MISSING = 0.1
RESUMED = 2.0

# fraction of the threshold of slip from which rounding may decide about the alarm: it ends below a
# quarter of the threshold
NEARLY = 0.2


def limit(robot: CasterRobot, estimate: OdometryEstimate, spread: float) -> float:
    """
    Return by how much pose and twist of a message may differ for other weights, SI units.

    `spread`, `MISSING` or `RESUMED`, times the median residual of the contact velocities, which a
    single wheel that slips does not enlarge, as a yaw rate on the length scale of the `robot`;
    `SAME` at least.
    """
    lever = min(1.0, length_scale(robot))
    return max(SAME, spread * float(np.median(np.abs(estimate.residual))) / lever)


def doubtful(estimate: OdometryEstimate) -> bool:
    """Return whether a wheel has, or nearly has, less than its full weight."""
    slip, grip = estimate.slip, estimate.grip
    return bool(slip.slipping or estimate.faults.alarm or grip.held > 0.0
                or slip.statistic > NEARLY * slip.threshold or not grip.plausible.all())
