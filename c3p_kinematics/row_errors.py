# SPDX-License-Identifier: Apache-2.0
"""
Errors of the measurements along and across the wheels, estimated during a drive.

Tyres creep along the wheels by some parts in a thousand, and slip sideways by a small angle. Both
are in proportion to the speed, and neither is known for a floor. They start at a prior, and follow
the residuals of windows in which all casters roll (_row_kernels.py). They are the weights of the
fitted twist, and grow the covariance of the pose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_kinematics.odometry_states import RowErrors

# smallest and largest estimates of both: a tyre is never exact, and beyond it slips
LEAST = 0.001
MOST = 0.05

# smallest deviation of a path, of continuous angles, per distance that counts as standstill
LEAST_NOISE = 2e-3

# time for the distance that counts as standstill, s: slower, and nothing is learned
STANDING = 0.05


class TyreErrors(NamedTuple):
    """
    Standard deviations of the contact velocities per speed.

    Attributes
    ----------
    creep : float
        Along the wheels, as a fraction of the speed.
    side_slip : float, rad
        Across the wheels.
    """

    creep: float
    side_slip: float


def describe(state: RowErrors, count: int, prior: tuple[float, float], path_noise: float,
             skew: float, standing: float) -> RowErrors:
    """
    Return the state in the block of `state` with its constants.

    Parameters
    ----------
    state : RowErrors
    count : int
        Number of casters.
    prior : tuple of float
        Creep and side slip angle before a drive; both 0 if equations have equal weights.
    path_noise : float, m
        Deviation of the path of a contact by the rounding of its angles.
    skew : float, s
        Deviation of the times of the joints of a sample from each other.
    standing : float, m
        Motion that counts as standstill.
    """
    state = RowErrors.of(state.block, count, skew=skew, standing=standing / STANDING,
                         path_noise=max(path_noise, LEAST_NOISE * standing))
    learns = 1.0 if any(prior) else 0.0
    state.prior[:] = np.square(prior)
    state.least[:] = learns * LEAST**2
    state.most[:] = learns * MOST**2
    return state


def forget(state: RowErrors) -> None:
    """Return to the prior."""
    for array in (state.twist, state.evidence, state.count, state.moves, state.due, state.time,
                  state.path, state.checked, state.square, state.swept, state.power,
                  state.expected, state.scale, state.moment):
        array[:] = 0.0
    state.variance[:] = state.prior
    state.weight[:] = 1.0


def tyre_errors(state: RowErrors) -> TyreErrors:
    """Return the present estimate."""
    creep, side_slip = np.sqrt(state.variance)
    return TyreErrors(float(creep), float(side_slip))
