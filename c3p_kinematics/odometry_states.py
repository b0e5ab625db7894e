# SPDX-License-Identifier: Apache-2.0
"""
States of the odometry and its monitors: every number that it remembers, with shape and unit.

`n` is the number of casters, 5n that of their parameters (`calibration.parameters`). Twists are in
``base_link``, poses and their covariances in floor axes (x, y, yaw). Numbers in rows of a caster
are along and across its wheel, unless the comment has others.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state
from c3p_kinematics.time_states import SampleTimes
from c3p_kinematics.wiring_states import WiringWindow

# numbers that the fault monitor keeps of a caster, see _fault_kernels.py
MEMORY = 24

# the same of lasting faults, see _lasting_kernels.py
LASTING = 17

# kinds of faults, see fault_report.py
KINDS = 12

# steps kept for the second fit: 0.2 s at 320 Hz; at higher rates its span is shorter
CAPACITY = 64


@state
class RigidFit(Parts):
    """Rigid twist that fits the measured velocities of all contact points."""

    steering: Annotated[Array, 'n']         # rad
    wheel_rate: Annotated[Array, 'n']       # rad/s
    steering_rate: Annotated[Array, 'n']    # rad/s
    weight: Annotated[Array, 'n', 2]        # of each measurement
    contact: Annotated[Array, 'n', 2]       # measured velocities, m/s
    twist: Annotated[Array, 3]              # nan if all contact points coincide
    residual: Annotated[Array, 'n', 2]      # measured minus fitted, m/s
    information: Annotated[Array, 3, 3]     # matrix of the normal equations
    unit: Annotated[Array, 3, 3]            # its inverse: covariance for unit variance
    rolling: Annotated[Array, 'n', 3]       # rows of the measurements along the wheels
    axle: Annotated[Array, 'n', 3]          # rows of the measurements across the wheels
    right: Annotated[Array, 3]              # right side of the normal equations
    column: Annotated[Array, 2, 3]          # of an inverse


@state
class SlipWatch(Parts):
    """Slip monitor: low-passed residuals of the rolling equations, and its alarm."""

    time_constant: float                    # of the low-pass, s
    noise: float                            # deviation of a contact velocity, m/s
    fraction: float                         # the same per contact speed
    alarm_above: float                      # χ² of all casters
    clear_below: float                      # χ² of all casters
    several: float                          # χ² that no single wheel explains
    persistence: float                      # above the limit before an alarm, s
    release: float                          # below the limit before its end, s
    isolated: float                         # `confidence` from which the wheel is left out
    skew: Number                            # deviation of the times of the joints, s
    mean: Annotated[Array, 'n', 2]          # residuals x, y in base_link, m/s
    power: Annotated[Array, 'n']            # squared contact speeds, m²/s²
    variance: Annotated[Array, 'n']         # of the contact velocities, m²/s²
    fit: RigidFit                           # to the low-passed residuals
    without: Annotated[Array, 'n']          # χ² without each caster
    speed: Annotated[Array, 'n']            # lengths of the residuals of `fit`, m/s
    likelihood: Annotated[Array, 'n']       # probability of each wheel to slip, given slip
    unexplained: Annotated[Array, 'n']      # recent χ² without a caster beyond `several`
    statistic: Number                       # χ² of all casters
    slipping: Number                        # 1 during an alarm
    since: Number                           # recent duration of alarms, s
    held: Number                            # time for which that is about to change, s
    suspect: Number                         # the wheel that slips, −1 for none or several
    confidence: Number                      # probability of that wheel


@state
class FaultWork(Parts):
    """Space for the comparison of the hypotheses."""

    variance: Annotated[Array, 'n', 2]      # of contact velocities, m²/s²
    lasting: Annotated[Array, 'n', 2]       # the same without wrong times and counts
    raw: Annotated[Array, 'n', 2]           # residuals, m/s
    value: Annotated[Array, 'n', 2]         # the same in base_link, m/s
    normal: Annotated[Array, 3, 3]          # normal equations of all casters
    less: Annotated[Array, 3, 3]            # of all but one
    right: Annotated[Array, 3]              # right sides
    twist: Annotated[Array, 3]              # of all casters
    towed: Annotated[Array, 3]              # of all but one
    column: Annotated[Array, 2, 3]          # of inverses
    angle: Annotated[Array, 1]              # integrated steering angle, rad
    rows: Annotated[Array, 2, 1, 3]         # of measurement at that angle, along and across


@state
class Faults(Parts):
    """Fault monitor: memory of the hypotheses, their evidence, and its alarm."""

    time_constant: float                    # of the low-pass with joints of one instant, s
    leak: float                             # of an integrated steering angle, 1/m
    alarm_above: float                      # χ² of all casters
    clear_below: float                      # χ² of all casters
    several: float                          # χ² that stands for faults of several casters
    persistence: float                      # above the limit before an alarm, s
    release: float                          # below the limit before its end, s
    released_after: float                   # path that must pass, too, for a steering encoder, m
    standing: float                         # contact speed of a platform that stands, m/s
    all_free: float                         # 1 if no caster has a steering motor
    rounding: float                         # deviation of a contact's path by encoder steps, m
    skew: Number                            # deviation of the times of the joints, s
    window: Number                          # time constant of the low-pass, s
    noise: Annotated[Array, 7]              # deviations, see `_fault_kernels.hypotheses`
    unmoved: Annotated[Array, 2]            # turn without a count of a stuck encoder, rad
    radius: Annotated[Array, 'n']           # of the wheels, m
    driven: Annotated[Array, 'n']           # 1 for a wheel with a motor
    steers: Annotated[Array, 'n']           # 1 for a wheel that is not fixed
    trusted: Annotated[Array, 'n']          # 0: steering encoder known to be wrong
    memory: Annotated[Array, 'n', MEMORY]   # columns of _fault_kernels.py
    statistic: Annotated[Array, 'n', 4]     # χ² under each hypothesis
    innovation: Annotated[Array, 'n', 2]    # against the prediction of the others, m/s
    speed: Annotated[Array, 'n']            # lengths of `innovation`, m/s
    prior: Annotated[Array, 4]              # logarithms of the present sample's
    evidence: Annotated[Array, 'n', 4]      # −2 ln of the likelihoods
    unexplained: Annotated[Array, 'n']      # recent cost of each caster beyond that of several
    windows: Number                         # of the low-pass in the evidence
    posterior: Annotated[Array, 'n', 4]     # probability of each hypothesis; rest: several
    jumped: Annotated[Array, 'n', 2]        # 1 for a jump at the begin of the alarm
    work: FaultWork
    lasting_memory: Annotated[Array, 'n', LASTING]  # columns of _lasting_kernels.py
    lasting: Annotated[Array, 'n', 3]       # evidence of ratio, play and noise, per its limit
    lasting_size: Annotated[Array, 'n', 4]  # ratio − 1 and its deviation; play and its, rad
    lasts: Number                           # largest evidence of a lasting fault, per its limit
    table: Annotated[Array, 'n', KINDS]     # probability of each kind at each caster
    trust: Annotated[Array, 'n', 2]         # 1 for measurements that odometry uses, else 0
    total: Number                           # χ² of all casters
    alarm: Number                           # 1 during an alarm
    held: Number                            # time for which that is about to change, s
    path: Number                            # and path, m
    since: Number                           # time since the begin of the alarm, s
    peak: Number                            # decaying maximum of `total`
    caster: Number                          # the most probable one, −1 for none or several
    suspect: Number                         # the one with a row without trust, −1 for none


@state
class Grip(Parts):
    """Plausibility of contact velocities."""

    acceleration: float                     # largest of a contact point, m/s²
    noise: float                            # error of a contact velocity, m/s
    resolution: float                       # one encoder step at the contact, m
    fraction: float                         # error per speed
    longest_hold: float                     # s
    time_error: float                       # of a position from its stamp, s
    window: float                           # time constant of `mean`, s
    reference: Annotated[Array, 3]          # plausible twist
    twist: Annotated[Array, 3]              # accepted or held twist
    weight: Annotated[Array, 'n']           # 1 for a plausible caster, else LEAST_TRUST
    excess: Annotated[Array, 'n']           # deviation from the prediction, m/s
    mean: Annotated[Array, 'n', 2]          # contact velocities over the window, base_link, m/s
    elapsed: Number                         # time since the window began, s
    age: Number                             # time for which the twist has been held, s; inf: none
    verdict: Number                         # of `_grip_kernels.judge`
    contact: Annotated[Array, 'n', 2]       # velocities of this step, m/s
    fit: RigidFit                           # to the velocities over the window


@state
class Slopes(Parts):
    """Derivatives of a twist or of the pose by errors that last, in units of their deviations."""

    by_parameter: Annotated[Array, 3, '5n']
    by_rounding: Annotated[Array, 3, 'n']   # of the steering angles


@state
class Lasting(Parts):
    """Covariance of the pose by errors that last (docs/calibration.md)."""

    rounding: float                         # deviation of a rounded steering angle, rad
    resolution: float                       # step of a steering encoder, rad
    jitter: float                           # deviation of the stamps, s
    covariance: Annotated[Array, 3, 3]      # of the error of the pose
    changes: Annotated[Array, 3, 3]         # mean square of the twist's change by the rates
    units: Annotated[Array, '5n']           # deviations of the parameters, m and rad
    pose: Slopes                            # of the pose, since the covariance was carried
    twist: Slopes                           # of the newest twist
    lasting: Annotated[Array, 3, 'n']       # cov(error of the pose, rounding)
    turned: Annotated[Array, 'n']           # turn of each steering since then, rad


@state
class Steps(Parts):
    """Newest steps of the pose; step number k is row k modulo CAPACITY."""

    twist: Annotated[Array, CAPACITY, 3]
    duration: Annotated[Array, CAPACITY]        # s
    held: Annotated[Array, CAPACITY]            # 1 for a held twist
    reference: Annotated[Array, CAPACITY, 3]    # plausible twist before the step
    pose: Annotated[Array, CAPACITY, 3]         # before the step


@state
class Ring(Parts):
    """Newest steps with what the casters measured in them, for a second fit."""

    count: Number                                   # of steps made
    steps: Steps
    steering: Annotated[Array, CAPACITY, 'n']       # halfway, rad
    wheel_rate: Annotated[Array, CAPACITY, 'n']     # rad/s
    steering_rate: Annotated[Array, CAPACITY, 'n']  # rad/s
    weight: Annotated[Array, CAPACITY, 'n', 2]
    fit: RigidFit                                   # of the step that is repeated
    went: Annotated[Array, 3]                       # path over some steps
    refitted: Number                                # 1: without the wheel of this slip
    left_out: Number                                # caster that the last step did without, or −1
    unclear: Number                                 # time of an alarm without a caster, s


@state
class Hold(Parts):
    """Steps whose twist is held, until it is known what the wheels really rolled."""

    first: Number                           # number of the first of these steps, −1 for none
    time: Number                            # since then, s
    holds: Number                           # 1 while the twist is held
    before: Annotated[Array, 3]             # pose then
    twist: Annotated[Array, 3]              # plausible twist then
    covariance: Annotated[Array, 3, 3]      # of the pose then
    doubted: Annotated[Array, 2]            # `doubt` then
    doubt: Annotated[Array, 2]              # bound of the error by held twists, m and rad
    kept: Steps                             # while it is tried to repeat them
    rolled: Annotated[Array, 3]             # pose by what the wheels rolled
    mean: Annotated[Array, 3]               # plausible twist between that then and now
    apart: Annotated[Array, 3]              # difference of two motions


@state
class Place(Parts):
    """Pose on the floor and its covariance, without errors that last."""

    lever: float                            # of yaw, m
    standing: float                         # motion that counts as none, m
    end_variance: float                     # of a rounded contact velocity's integral, m²/s²
    tyre: float                             # variance of the path across a tyre per metre, m²/m
    growth: Annotated[Array, 4]             # variances of position and of yaw per metre and radian
    pose: Annotated[Array, 3]
    anchor: Annotated[Array, 3]             # pose that `covariance` is of
    covariance: Annotated[Array, 3, 3]
    ends: Annotated[Array, 3, 3]            # by rounding at both ends of the path
    distance: Number                        # length of the path, m
    time: Number                            # of the newest sample, s
    moved: Number                           # time of the last motion, s


@state
class RowErrors(Parts):
    """Variances of the equations along and across the wheels, by the residuals of the drive."""

    path_noise: float                       # of a path by rounding, m
    skew: float                             # of the times of the joints of a sample, s
    standing: float                         # speed that counts as none, m/s
    prior: Annotated[Array, 2]              # variance per squared speed, along and across
    least: Annotated[Array, 2]              # its bounds
    most: Annotated[Array, 2]
    variance: Annotated[Array, 2]           # the present one
    evidence: Annotated[Array, 2]           # weighted sum of the variances of equations
    count: Annotated[Array, 2]              # sum of these weights
    power: Annotated[Array, 'n', 2]         # squared speeds of the contacts, m²/s²
    expected: Annotated[Array, 'n', 2]      # variance of each equation, m²/s²
    weight: Annotated[Array, 'n', 2]        # of each equation, of mean 1
    twist: Annotated[Array, 3]              # low-passed, for the speeds
    scale: Number                           # variance of the weight 1, m²/s²
    moment: Number                          # that of a moment, per mean square speed
    moves: Number                           # 1 while the contacts move
    due: Number                             # time of which the errors are not in the pose yet, s
    time: Number                            # since the present window began, s
    path: Annotated[Array, 'n', 2]          # sum of residuals in it, m
    checked: Annotated[Array, 'n', 2]       # part that other equations check, times duration, s
    square: Annotated[Array, 'n', 2]        # sum of `expected`, m²/s
    swept: Annotated[Array, 'n', 2]         # sum of `power`, m²/s


@state
class Peak(Parts):
    """Largest covariance of a twist in the last seconds of motion."""

    hold: float                             # at standstill it stays for so long, s
    fraction: float                         # deviation per speed by wrong parameters
    creep: float                            # and by creep
    rate_noise: float                       # of a contact velocity from rates, m/s
    difference_noise: float                 # of a contact's path from rounded angles, m
    time: Number                            # of `value`, s
    value: Annotated[Array, 3, 3]


@state
class Channels(Parts):
    """Angle and rate of each joint compared; rows of steering axes and of wheels."""

    max_gap: float                          # time between samples that are compared, s
    lag_prior: float                        # deviation of the lag of the rates, s; 0: none lags
    step: Annotated[Array, 2]               # encoder steps, rad
    limit: Annotated[Array, 'n']            # of the wheel rates, rad/s
    length: Annotated[Array, 2, 'n']        # path of a contact per angle, m
    zero: Annotated[Array, 'n']             # steering angle of an encoder at zero, rad
    known: Number                           # time since the first sample, s; 0: none
    usual: Number                           # time between samples, s; 0: unknown
    span: Number                            # sum of the weighted times in the window, s
    turned: Annotated[Array, 2, 'n']        # in the window, by the angles, rad
    rated: Annotated[Array, 2, 'n']         # and by the rates, rad
    swept: Annotated[Array, 2, 'n']         # larger turns of both, without their senses, rad
    gained: Annotated[Array, 2, 'n']        # change of the rates in the window, rad/s
    last: Annotated[Array, 2, 'n']          # rate of the last step by its angles, rad/s
    most: Annotated[Array, 2, 'n']          # largest of the newest steps, fading, rad
    has_rates: Number                       # 1 if the last sample had rates
    rate: Annotated[Array, 2, 'n']          # of the last sample, rad/s
    change: Annotated[Array, 2, 'n']        # of the rates, low-passed, rad/s²
    carried: Annotated[Array, 2, 'n']       # the same of rates carried on by their lag, rad/s²
    recent: Annotated[Array, 2, 'n']        # low-passed rate by the angles, rad/s
    swing: Annotated[Array, 2, 'n']         # bound of its change in the window, rad/s
    held: Annotated[Array, 2, 'n']          # time for which `wrong` is about to change, s
    wrong: Annotated[Array, 2, 'n']         # 1 for rates that contradict the angles
    ratio: Annotated[Array, 2, 'n']         # of the turns by rates and by angles
    lag_evidence: Annotated[Array, 2, 4]    # integrals over time: see `measure_lag`
    lag: Annotated[Array, 2]                # of the rates behind the angles, s
    lag_deviation: Annotated[Array, 2]      # its standard deviation, s
    proved: Number                          # 1: they agreed in the last motion, −1: not, 0: none
    excess: Number                          # contact velocity that contradicts, m/s
    leapt: Number                           # 1 if the newest sample was corrected by a leap
    leap: Annotated[Array, 2, 'n']          # newest leap that is not corrected, rad
    since: Annotated[Array, 2, 'n']         # time since it, s
    offset: Annotated[Array, 'n']           # steering angles after a leap less those before, rad
    restarted: Annotated[Array, 2, 'n']     # 1 for encoders that leapt with others


@state
class Output(Parts):
    """Newest twist that could be fitted, and covariances of the estimate."""

    present: RigidFit                       # of the rates of a sample, or its mean rates
    noise: Number                           # deviation of a contact velocity in it, m/s
    late: Number                            # variance of its time, s²
    span: Number                            # time since the twist before, s
    twist: Annotated[Array, 3]
    residual: Annotated[Array, 'n', 2]      # m/s
    covariance: Annotated[Array, 3, 3]      # of `twist`
    pose_covariance: Annotated[Array, 3, 3]


@state
class OdometryState(Parts):
    """Everything that the odometry remembers."""

    robust: float                           # 1: de-weight casters that slip or are wrong
    max_gap: float                          # longest step that is integrated as usual, s
    shortest: float                         # step below which two samples are one, s
    stamp_weight: float                     # of a stamp against angles, rad²/s²; 0: exact stamps
    wheel_resolution: float                 # encoder step, rad
    sample: Annotated[Array, 4, 'n']        # steering, wheel angle, rates of both; nan: no rates
    before: Annotated[Array, 4, 'n']        # the last one with rates; nan: none
    latch: Annotated[Array, 3, 'n']         # steering, wheel angle, 1 for positions that wrap
    channels: Channels
    rate: Annotated[Array, 'n']             # wheel rates of the sample before, rad/s
    ahead: Number                           # sum of the steps less that of the stamps, s
    age: Number                             # of the newest sample at its stamp, s
    dt: Number                              # time since the sample before, s
    weight: Annotated[Array, 'n']           # of each caster by its slip
    motion: RigidFit                        # of the increments since the sample before
    slip: SlipWatch
    faults: Faults
    wiring: WiringWindow
    grip: Grip
    lasting: Lasting
    ring: Ring
    hold: Hold
    place: Place
    rows: RowErrors
    times: SampleTimes
    peak: Peak
    out: Output
