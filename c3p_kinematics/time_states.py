# SPDX-License-Identifier: Apache-2.0
"""
State of the measurement of sample times: spans of motion, and what they have shown.

`n` is the number of casters. Rows of joints are of steering axes, then of wheels; unknowns are
the ages of both, then errors of the steering zeros, radii and offsets, 5n in units of their prior.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state


@state
class TimeSpan(Parts):
    """Motion over a span of some hundredths of a second."""

    time: Number                            # in it, s
    yaw: Number                             # turn of the platform, rad
    turned: Annotated[Array, 2, 'n']        # by the angles, rad
    path: Annotated[Array, 'n', 2]          # sum of residuals, m
    power: Annotated[Array, 'n', 2]         # squared speeds along and across at its end, m²/s²
    expected: Annotated[Array, 'n', 2]      # variances of the equations, m²/s²
    weight: Annotated[Array, 'n', 2]        # of the equations
    rolling: Annotated[Array, 'n', 3]       # rows of the equations along the wheels
    axle: Annotated[Array, 'n', 3]          # and across
    unit: Annotated[Array, 3, 3]            # covariance of the twist for unit variance


@state
class SampleTimes(Parts):
    """Times of the joints within a sample, and of its stamp, by the drive."""

    age_prior: float                        # deviation of an age, s; 0: nothing is measured
    skew_prior: float                       # deviation of the times of the joints, s
    path_noise: float                       # of a path by rounding, m
    newest: TimeSpan
    middle: TimeSpan
    oldest: TimeSpan
    spans: Number                           # complete ones without a break, up to 3
    window: Number                          # time of the present sums of equations, s
    path: Annotated[Array, 'n', 2]          # residuals, m
    variance: Annotated[Array, 'n', 2]      # of them, m²
    signature: Annotated[Array, '2n', '5n']  # their derivatives by the unknowns, m
    column: Annotated[Array, '2n']          # one of a span
    column_of: Annotated[Array, '5n']       # of an inverse, or a change of the unknowns
    moved_by: Annotated[Array, '5n']        # right sides by that change
    before: Annotated[Array, 'n', 2]        # residuals of the last span without ages, m
    information: Annotated[Array, '5n', '5n']   # by all windows, without the prior
    right: Annotated[Array, '5n']           # right side of the normal equations
    factor: Annotated[Array, '5n', '5n']    # Cholesky factor with the prior
    unknown: Annotated[Array, '5n']
    windows: Number                         # with motion
    age: Annotated[Array, 2, 'n']           # of each joint less their mean, s
    age_deviation: Annotated[Array, 2, 'n']     # of `age`, s
    evidence: Number                        # weighted sum of the variances by single equations, s²
    count: Number                           # sum of these weights
    apart: Number                           # variance of the ages beyond that of estimates, s²
    changing: Number                        # deviation of the part of the times that changes, s
    skew: Number                            # deviation of all times, within its bounds, s
    step: Number                            # usual time between stamps, s
    steps: Number                           # compared, up to those that count
    jitter: Number                          # variance of a step, s²
    repeats: Annotated[Array, 2, 'n']       # samples that repeat an angle of a joint in motion
    moved: Annotated[Array, 2, 'n']         # samples in motion
    corrects: Number                        # 1 if any age is applied
    applied: Annotated[Array, 2, 'n']       # ages by which the angles are corrected, s
    recent: Annotated[Array, 2, 'n']        # rates for that, low-passed, rad/s
    shift: Annotated[Array, 2, 'n']         # the present correction, rad
