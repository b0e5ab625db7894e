# SPDX-License-Identifier: Apache-2.0
"""
Times of joint samples, measured from the drive: ages of the joints, stamps, repeats, lag of rates.

Joints that are read one after the other have different ages in one sample. The rolling equations
contradict each other by them whenever the robot accelerates or its casters turn
(_time_kernels.py), which shows the ages to a fraction of a millisecond within some metres. The
increments are then carried to one instant, and the deviation of the times that is left and that
of the ages replace the one that is set in the tests of slip and faults, within its half and
double. Drives that are read at one instant (`sample_skew` 0) are not measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics import _age_kernels, _time_kernels
from c3p_kinematics.calibration.words import INTERVAL
from c3p_kinematics.joint_channels import known_lags
from c3p_kinematics.odometry_states import Channels
from c3p_kinematics.time_states import SampleTimes

# key of the diagnostics
TIMES = 'sample times'

# deviation of the age of a joint before a drive, s
AGE_PRIOR = 0.006

# rms of the ages that are not applied yet, above which lengths are not learned, s
SETTLED = 5e-4

# windows of motion from which on the times are reported
ENOUGH = 16

# what is worth a word: of a time, s, and of the samples that repeat
WORTH = 1e-3
MANY = 0.005


class TimesReport(NamedTuple):
    """
    Times of the joint samples of a drive.

    Attributes
    ----------
    age, deviation : (2, n) array, s
        Age of the steering angles and of the wheel angles in a sample, less the mean of all, and
        its standard deviation.
    changing : float, s
        Deviation of the part of the times that changes from sample to sample.
    skew : float, s
        Deviation of all times, within its bounds: in use in the tests of slip and faults.
    jitter : float, s
        Deviation of the stamps, by their steps.
    repeats : (2, n) array
        Fraction of the samples that repeat the angle of a joint in motion.
    lag : float, s
        Lag of the rates behind the angles, the larger one of steering axes and wheels; nan if
        unknown.
    windows : int
        Windows of a quarter of a second in motion behind it.

    Examples
    --------
    >>> apart = np.array([[-2e-3, 0.0], [1e-3, 1e-3]])
    >>> report = TimesReport(apart, np.full((2, 2), 2e-4), 1e-3, 1.8e-3, 0.0, 0.0 * apart,
    ...                      0.06, 40)
    >>> report.text(('left', 'right'), ('wheel 1', 'wheel 2'))
    'joints are up to 3.0 ± 0.6 ms apart (left newest, wheel 1 oldest), rates are 60 ms late'
    """

    age: Array
    deviation: Array
    changing: float
    skew: float
    jitter: float
    repeats: Array
    lag: float
    windows: int

    @property
    def apart(self) -> tuple[float, float]:
        """Largest difference of two ages and its standard deviation, s."""
        ages = self.age.ravel()
        ends = self.deviation.ravel()[[np.argmin(ages), np.argmax(ages)]]
        return float(np.ptp(ages)), float(np.hypot(*ends))

    def text(self, steering: Sequence[str], wheels: Sequence[str]) -> str:
        """
        Return the times in words; deviations are for 95 %.

        Parameters
        ----------
        steering, wheels : sequence of str
            Names of the joints.
        """
        names = (*steering, *wheels)
        ages = self.age.ravel()
        apart, deviation = self.apart
        found = [f'joints are up to {1e3 * apart:.1f} ± {1e3 * INTERVAL * deviation:.1f} ms apart']
        if apart > max(WORTH, INTERVAL * deviation):
            found[0] += (f' ({names[int(np.argmin(ages))]} newest, '
                         f'{names[int(np.argmax(ages))]} oldest)')
        if self.changing > WORTH:
            found.append(f'their times change by {1e3 * self.changing:.1f} ms')
        if self.jitter > WORTH:
            found.append(f'stamps by {1e3 * self.jitter:.1f} ms')
        most = int(np.argmax(self.repeats))
        if self.repeats.ravel()[most] > MANY:
            found.append(f'{100.0 * self.repeats.ravel()[most]:.1f} % of the angles of '
                         f'{names[most]} are repeated')
        if abs(self.lag) > 5.0 * WORTH:
            found.append(f'rates are {1e3 * self.lag:.0f} ms late')
        return ', '.join(found)


def describe(state: SampleTimes, count: int, skew: float, path_noise: float) -> SampleTimes:
    """
    Return the state in the block of `state` with its constants.

    Parameters
    ----------
    state : SampleTimes
    count : int
        Number of casters.
    skew : float, s
        Deviation of the times of the joints that is set; 0: nothing is measured.
    path_noise : float, m
        Deviation of the path of a contact by the rounding of its angles.
    """
    return SampleTimes.of(state.block, count, age_prior=AGE_PRIOR if skew else 0.0,
                          skew_prior=skew, path_noise=path_noise)


def forget(state: SampleTimes) -> None:
    """Return to what is set."""
    constants = sum(field.kind is float for field in SampleTimes.fields)
    state.block[constants:] = 0.0
    state.skew[:] = state.skew_prior
    state.changing[:] = state.skew_prior
    state.age_deviation[:] = state.age_prior


def keep(state: SampleTimes, known: Array) -> None:
    """Continue with what was `known`, a copy of the block, where the motion begins anew."""
    if not SampleTimes.of(known, state.age.shape[1]).windows[0]:
        return
    state.block[:] = known
    _time_kernels.begin_motion(state.block, state.age.shape[1])


def settled(state: SampleTimes) -> bool:
    """Return whether the ages that the angles are to be corrected by are nearly applied."""
    apart = float(state.apart[0])
    if apart == 0.0:
        return True
    rest = state.age * apart / (apart + state.age_deviation**2) - state.applied
    return float(np.sqrt(np.mean(rest * rest))) < SETTLED


def unknown(state: SampleTimes) -> float:
    """Return the deviation of the ages that the angles are not corrected by, s."""
    left = state.age - state.applied
    return math.sqrt(float(np.mean(left * left + state.age_deviation**2)))


def shown(state: SampleTimes) -> float:
    """Return the deviation of the changing part that motion has shown, from 0 on, s."""
    weight = _age_kernels.PRIOR_WEIGHT + float(state.count[0])
    return math.sqrt(max(float(state.evidence[0]), 0.0) / weight)


def follow_lengths(state: SampleTimes, before: Array, after: Array) -> None:
    """Continue after a calibration has changed the parameters (n, 5): they are no longer off."""
    _age_kernels.follow_lengths(state.block, before, after)


def report(state: SampleTimes, channels: Channels) -> TimesReport | None:
    """Return the times, None before there is enough motion."""
    if state.windows[0] < ENOUGH:
        return None
    known = known_lags(channels)
    lag = float(channels.lag[known].max()) if known.any() else math.nan
    return TimesReport(
        state.age.copy(), state.age_deviation.copy(), float(state.changing[0]),
        float(state.skew[0]), math.sqrt(0.5 * float(state.jitter[0])),
        state.repeats / np.maximum(state.moved, 1.0), lag, int(state.windows[0]))
