# SPDX-License-Identifier: Apache-2.0
"""
Agreement of odometry whose weights of the wheels depend on samples that a bag lacks.

The odometry estimates the errors of tyres and the trust in each wheel from the residuals of the
whole run, and they are the weights of the fitted motion. Two fits of the same measurements with
other weights differ by a combination of the residuals: wheels that agree, as those of a robot with
a wrong scale do, allow no difference. The twist is also carried on by the lag of the rates, which
is measured over the whole run; the steps of the pose are not, and show another robot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_bags.runs.agreement import SAME
from c3p_kinematics._uncertainty_kernels import CHANGES
from c3p_kinematics.joint_channels import RateLag
from c3p_kinematics.odometry import Odometry, OdometryEstimate
from c3p_kinematics.singularity import length_scale


class Spread(NamedTuple):
    """
    Change of the contact velocities of a fit by other weights, per residual.

    Attributes
    ----------
    rates, increments : float
        Of residuals of the rates, and of those of increments, which are mostly of rounding.
    """

    rates: float
    increments: float


# by weights learned from all samples, from all but some, and by those at the begin of a run in the
# place of learned ones
COMPLETE = Spread(0.0, 0.0)
MISSING = Spread(0.1, 0.2)
RESUMED = Spread(2.0, 1.6)

# part of the lag of the rates that some samples change
LAG_CHANGES = 0.1

# time after which the low-passed change of the rates has forgotten a gap, ns
FORGOTTEN = round(1e9 * CHANGES)

# change of the twist relative to its root mean square over the last tenth of a second, at most
SUDDEN = 3.0

# fraction of the threshold of slip from which rounding may decide about the alarm: it ends below a
# quarter of the threshold
NEARLY = 0.2


def limits(odometry: Odometry, estimate: OdometryEstimate, spread: Spread, gap: bool,
           usual: float) -> tuple[float, float]:
    """
    Return by how much pose and twist of a message may differ for other weights, SI units.

    The twist differs by `spread` times the median residual of the contact velocities, which a
    single wheel that slips does not enlarge, as a yaw rate on the length scale of the robot; and
    by the lag of its rates, see `late_twist`. The step of the pose differs in the same way by the
    residuals of the paths, in the `usual` time between samples [s] at least, as stamps may be
    early. Both are `SAME` at least. `gap`: samples are missing shortly before the message.
    """
    if spread == COMPLETE:
        return SAME, SAME
    lever = min(1.0, length_scale(odometry.robot))
    path = spread.increments * float(np.median(np.abs(odometry.step_paths(usual)))) / lever
    motion = spread.rates * float(np.median(np.abs(estimate.residual))) / lever
    return max(SAME, path), max(SAME, motion + late_twist(odometry.rate_lag, gap))


def late_twist(lag: RateLag, gap: bool) -> float:
    """
    Return by how much a twist may differ as its rates are carried on by their lag, SI units.

    The lag is measured over all samples: without some of them it differs by `LAG_CHANGES` of it,
    and within its deviation. The change of the rates is unknown after a `gap`.
    """
    doubt = LAG_CHANGES * lag.lag + lag.deviation
    if gap:
        doubt += lag.lag
    return SUDDEN * doubt * lag.change


def doubtful(estimate: OdometryEstimate) -> bool:
    """Return whether a wheel has, or nearly has, less than its full weight."""
    slip, grip = estimate.slip, estimate.grip
    return bool(slip.slipping or estimate.faults.alarm or grip.held > 0.0
                or slip.statistic > NEARLY * slip.threshold or not grip.plausible.all())
