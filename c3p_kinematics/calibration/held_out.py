# SPDX-License-Identifier: Apache-2.0
r"""
Calibration by one part of a drive, judged by the other.

Least squares always reduce the residuals of the drive that they fit. What they find is of use if
it also predicts a part that they have not seen. Groups of parameters (radii, offsets, pivots,
zeros) are left out one after the other while the held-out residuals are half as large without
them:

    G ← G \ {g}   while   min over g of  R(x̂(G \ {g}))  ≤  ½ R(x̂(G)),

x̂(G) the estimate by the first part with the groups G free and the others as described, R the rms
of the whitened residuals in the second part. What is left is estimated again by all of the drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c3p_description.model import CasterRobot, ModelError
from c3p_kinematics.calibration.batch import Calibration, calibrate, described_residual
from c3p_kinematics.calibration.explained import explained_calibration
from c3p_kinematics.calibration.parameters import CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording

# groups of parameters, by their deviation in the prior, and the columns of each caster
GROUPS = {'radius': (0,), 'offset': (1,), 'hip': (2, 3), 'zero': (4,)}

# words of the groups
WORDS = {'radius': 'radii', 'offset': 'offsets', 'hip': 'places of the pivots', 'zero': 'zeros'}

# deviation of what stays as described, relative, m and rad: a thousandth of what drives show
FIXED = 1e-6

# residuals without a group, by those with it, below which it is left out: with less difference
# timing of samples and creep decide, and a group that all of the drive needs would be left out
CLEARLY = 0.5


class HeldOutCalibration(NamedTuple):
    """
    Calibration with the groups of parameters that predict a held-out part of a drive.

    Attributes
    ----------
    calibration : Calibration or None
        By all of the drive; None where no group predicts the held-out part better.
    kept : tuple of str
        Groups that were estimated, of `GROUPS`.
    before, after : float
        Rms of the whitened residuals in the held-out part, described and by the first part.
    """

    calibration: Calibration | None
    kept: tuple[str, ...]
    before: float
    after: float


def split(recording: JointRecording, fraction: float) -> tuple[JointRecording, JointRecording]:
    """
    Return the first `fraction` of a recording by its samples, and the rest.

    Examples
    --------
    >>> time = np.arange(10.0)
    >>> first, rest = split(JointRecording(time, time[:, None], time[:, None]), 0.7)
    >>> len(first.time), rest.time.tolist()
    (8, [7.0, 8.0, 9.0])
    """
    row = int(fraction * len(recording.time))
    # the sample between them is the end of one and the begin of the other
    return (JointRecording(*(part[:row + 1] for part in recording)),
            JointRecording(*(part[row:] for part in recording)))


def held_out_calibration(robot: CasterRobot, recordings: Sequence[JointRecording],
                         held: JointRecording, settings: CalibrationSettings
                         ) -> HeldOutCalibration:
    """
    Return the calibration with those groups of parameters that predict `held`.

    Parameters
    ----------
    robot : CasterRobot
    recordings : sequence of JointRecording
        The first part.
    held : JointRecording
        The second one.
    settings : CalibrationSettings

    Raises
    ------
    CalibrationError
        As `explained_calibration`.
    """
    # what no lengths explain is refused before anything is compared
    every = explained_calibration(robot, [*recordings, held], settings=settings)

    def residual(groups: tuple[str, ...]) -> float:
        try:
            found = calibrate(robot, recordings, (), _free(settings, groups)).robot
        except (CalibrationError, ModelError):
            # no lengths, or such as no robot has
            return np.inf
        return described_residual(found, [held], settings)

    before = described_residual(robot, [held], settings)
    kept = tuple(GROUPS)
    after = residual(kept)
    while kept:
        without = {g: tuple(k for k in kept if k != g) for g in kept}
        found = {g: residual(left) if left else before for g, left in without.items()}
        best = min(found, key=lambda g: found[g])
        if found[best] > CLEARLY * after:
            break
        kept = without[best]
        after = found[best]
    if not kept or not after < before:
        return HeldOutCalibration(None, (), before, before)
    if len(kept) < len(GROUPS):
        every = explained_calibration(robot, [*recordings, held], settings=_free(settings, kept))
    return HeldOutCalibration(_as_uncertain(every, settings, kept), kept, before, after)


def _free(settings: CalibrationSettings, groups: Sequence[str]) -> CalibrationSettings:
    """Return settings with a prior that holds all but these groups."""
    held = {g: FIXED for g in GROUPS if g not in groups}
    return replace(settings, prior=replace(settings.prior, **held))


def _as_uncertain(found: Calibration, settings: CalibrationSettings, kept: Sequence[str]
                  ) -> Calibration:
    """Return a calibration whose described parameters are as uncertain as before it."""
    prior = settings.prior.deviations(found.described)
    held = np.ones(found.parameters.shape, bool)
    for group in kept:
        held[:, GROUPS[group]] = False
    rows = np.flatnonzero(held.ravel())
    covariance = found.covariance.copy()
    covariance[rows] = 0.0
    covariance[:, rows] = 0.0
    covariance[rows, rows] = prior[rows]**2
    return replace(found, covariance=covariance, prior=prior)
