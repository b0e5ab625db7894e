# SPDX-License-Identifier: Apache-2.0
"""
States of a gyro in the odometry: its samples, the motion of the joints, and the filter of both.

`n` is the number of casters, 5n that of their parameters. Covariances of poses are in floor axes.
Algorithm: _gyro_kernels.py; formulas: docs/odometry_gyro.md.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state
from c3p_kinematics.odometry_states import Slopes

# samples of the gyro that are kept: 0.25 s at 1 kHz
SAMPLES = 256

# errors that the filter estimates: pose (x, y, yaw), bias, scale, latency, END
ERRORS = 7

# error of the yaw by the joint angles of one sample alone: rounded, of different times. It is in
# the yaw of that sample, and in no later one
END = 6


@state
class GyroSamples(Parts):
    """Newest samples of the gyro; sample k is row k modulo SAMPLES."""

    time: Annotated[Array, SAMPLES]         # stamps, s
    angle: Annotated[Array, SAMPLES]        # integral of the rate, rad
    noise: Annotated[Array, SAMPLES]        # its variance by noise, rad²
    count: Number                           # of samples
    first: Number                           # number of the first one without a gap after it
    rate: Number                            # of the newest sample, rad/s
    same: Number                            # time for which the rate has not changed, s


@state
class JointSpan(Parts):
    """Motion by the joints between two samples of theirs."""

    slopes: Slopes                          # of the pose, floor axes
    noise: Annotated[Array, 3, 3]           # covariance by what does not last
    swept: Annotated[Array, 'n']            # turn of each steering, without its sense, rad
    time: Annotated[Array, 2]               # stamps of begin and end, s
    begin: Annotated[Array, 3]              # pose of the joints then
    end: Annotated[Array, 3]
    rate: Annotated[Array, 2]               # yaw rates then, rad/s
    turned: Number                          # yaw by the joints, whole turns included, rad
    path: Number                            # largest path of a contact, m
    doubted: Number                         # 1: wheels slip, spin, or have a fault


@state
class GyroWatch(Parts):
    """Comparison of the turns by gyro and joints."""

    trusted: Number                         # 1: the gyro is in use
    against: Number                         # time for which it has contradicted the joints, s
    agreed: Number                          # time for which it has agreed while turning, s
    proved: Number                          # turn in which it has agreed, rad
    ratio: Number                           # of both turns, when it was left out; nan: no turn
    offset: Number                          # mean difference then, rad/s
    constant: Number                        # 1: its rate had not changed for a while then
    silent: Number                          # time of joint samples without the gyro, s
    sums: Annotated[Array, 6]               # fading: see `_gyro_watch_kernels.add_sums`
    doubt: Number                           # time for which the wheels are still doubted, s
    stood: Number                           # time since the joints stood, s
    drift: Number                           # variance of the bias per time that was seen, rad²/s³


@state
class GyroFilter(Parts):
    """Everything that the fusion of a gyro remembers."""

    walk: float                             # angle variance of the gyro per time, rad²/s
    bias_walk: float                        # variance of its bias per time, rad²/s³
    scale: float                            # prior variance of its scale error
    wait: float                             # for its messages, s
    rounding: float                         # variance of a yaw by rounded joint angles, rad²
    skew: float                             # variance of a yaw per speed by skewed joints, s²/m²
    jitter: float                           # variance of the stamps of the joints, s²
    samples: GyroSamples
    open: JointSpan                         # up to the newest sample of the joints
    pending: JointSpan                      # before that one, waits for the gyro
    total: JointSpan                        # slopes and noise of both
    waits: Number                           # 1 while `pending` does
    watch: GyroWatch
    base: Annotated[Array, 3]               # fused pose at the begin of the first span
    estimate: Annotated[Array, 3]           # bias, rad/s; scale error; latency, s
    covariance: Annotated[Array, ERRORS, ERRORS]    # of the errors at `base`
    cross: Annotated[Array, ERRORS, '5n']   # their covariance with the errors of the parameters
    rounded: Annotated[Array, ERRORS, 'n']  # and with those of the rounded steering angles
    by_turn: Annotated[Array, ERRORS]       # covariance of the errors with that of a turn
    by_spread: Annotated[Array, '5n']       # of the errors of the parameters with that of a turn
    by_rounded: Annotated[Array, 'n']       # and of those of the rounded angles
    moved: Annotated[Array, 3, '5n']        # slopes times the covariance of the parameters
    began: Annotated[Array, 2]              # angle and noise of the gyro at `base`; nan: unknown
    anchor: Annotated[Array, 3]             # as of `Place`, at the newest sample
    grown: Annotated[Array, 3, 3]           # its covariance then
    joints: Annotated[Array, 3]             # its pose then
    steered: Annotated[Array, 'n']          # its steering angles then, rad
    pose: Annotated[Array, 3]               # fused pose at the newest sample
    pose_covariance: Annotated[Array, 3, 3]
    fused: Number                           # spans that were fused so far
    left_out: Number                        # spans without the gyro so far
