# SPDX-License-Identifier: Apache-2.0
"""Settings and output types of the odometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_description.texts import brief
from c3p_kinematics._odometry_step import LARGEST_ANGLE, SHORTEST_STEP
from c3p_kinematics.calibration.parameters import Prior
from c3p_kinematics.fault_report import NO_FAULT, FaultReport
from c3p_kinematics.faults import FaultSettings
from c3p_kinematics.grip import GripReport, GripSettings
from c3p_kinematics.slip import SlipReport, SlipSettings, within

# shorter spins are left to the slip report, s
SPIN_REPORTED = 0.05

# parameters of the node that are settings of the odometry
PARAMETERS = (
    'max_gap', 'robust', 'stamp_jitter', 'sample_skew', 'wheel_counts', 'steering_counts',
    'rate_noise_std', 'rate_lag', 'creep', 'position_variance_per_metre',
    'position_variance_per_radian', 'yaw_variance_per_metre', 'yaw_variance_per_radian')

# fraction of the deviation of the stamps below which two samples are taken as one: drivers that
# send several at once stamp them together
SOON = 0.25

# settings for joints that are sampled at one instant with exact stamps: motor cards by their SYNC,
# and simulated encoders
SYNCHRONOUS: dict[str, Any] = {'stamp_jitter': 0.0, 'sample_skew': 0.0}

# parameters of the node that are deviations of the description, and the fields of the prior
DESCRIPTION = {'description_std.wheel_radius': 'radius', 'description_std.caster_offset': 'offset',
               'description_std.hip_position': 'hip', 'description_std.steering_zero': 'zero'}

# variance of z, roll and pitch, which wheels do not observe, m² and rad²: large but finite,
# because filters and RViz break on more
UNOBSERVED = 1e6

# places of x, y and yaw among the 36 numbers of a covariance, and the others' part of it
PLANAR = np.array([0, 1, 5, 6, 7, 11, 30, 31, 35])
TEMPLATE = np.diag([0.0, 0.0, UNOBSERVED, UNOBSERVED, UNOBSERVED, 0.0]).reshape(-1)


@dataclass(frozen=True)
class OdometrySettings:
    """
    Settings of the odometry.

    Attributes
    ----------
    max_gap : float, s
        Longest step that is integrated as usual. Choose it below π / (largest wheel rate): an
        increment of half a turn or more is ambiguous. Over a longer gap the pose follows the
        positions alone, with a covariance that grows with the path length.
    robust : bool
        De-weight a caster by its slip probability and by its plausibility.
    stamp_jitter : float, s
        Standard deviation of the stamps from the times of the samples; above 0 accelerations are
        judged over a window of time, and the time steps follow from angles and rates as well
        (`SampleStep`).
    sample_skew : float, s
        Standard deviation of the times of the joints of one sample from each other; its effect,
        the speed times it, is in the noise of slip, faults and plausibility. 0 for drives that
        sample at a common SYNC (`SYNCHRONOUS`).
    wheel_resolution, steering_resolution : float, rad
        Encoder steps; 0 for continuous angles.
    rate_noise_std : float, m/s
        Noise of a contact velocity's component from rates: lower bound of the twist's covariance.
    rate_lag : float, s
        Lag of the rate signals: the twist's covariance contains the acceleration times it.
    position_variance_per_metre, position_variance_per_radian : float, m²/m, m²/rad
    yaw_variance_per_metre, yaw_variance_per_radian : float, rad²/m, rad²/rad
        Growth of the pose covariance by floor and tyres; errors of the description are added by
        `prior`. The defaults are those of contacts that creep by 0.2 % (docs/calibration.md).
    creep : float
        Standard deviation of a contact velocity per speed, by floor and tyres; in the twist's
        covariance.
    initial_position_std, initial_yaw_std : float, m, rad
        Standard deviations of the pose given to `reset`.
    standing_distance : float, m
        Standstill threshold: below this motion the covariance and the distance do not grow.
    hold : float, s
        Time after a stop for which the twist covariance keeps its moving value, so that a filter
        does not overrate the last moving samples.
    prior : Prior or None
        Standard deviations of the described lengths and zeros from the true ones, constant along
        a drive; None if they are exact.
    slip : SlipSettings
    grip : GripSettings
        The resolution is replaced by that of the encoders.
    faults : FaultSettings
    """

    max_gap: float = 0.25
    robust: bool = True
    stamp_jitter: float = 0.003
    sample_skew: float = 0.001
    wheel_resolution: float = 2.0 * math.pi / 2000
    steering_resolution: float = 2.0 * math.pi / 4096
    rate_noise_std: float = 0.003
    rate_lag: float = 0.006
    creep: float = 0.002
    position_variance_per_metre: float = 4e-7
    position_variance_per_radian: float = 1e-7
    yaw_variance_per_metre: float = 3e-6
    yaw_variance_per_radian: float = 1e-6
    initial_position_std: float = 1e-3
    initial_yaw_std: float = 1e-3
    standing_distance: float = 5e-4
    hold: float = 1.0
    prior: Prior | None = field(default_factory=Prior)
    slip: SlipSettings = field(default_factory=SlipSettings)
    grip: GripSettings = field(default_factory=GripSettings)
    faults: FaultSettings = field(default_factory=FaultSettings)

    def __post_init__(self) -> None:
        """Reject values out of range."""
        positive = ('max_gap', 'rate_noise_std', 'initial_position_std', 'initial_yaw_std')
        for name, value in vars(self).items():
            if name in ('robust', 'prior', 'slip', 'grip', 'faults'):
                continue
            if not (0.0 <= value < math.inf and (value > 0.0 or name not in positive)):
                raise ValueError(f'{name} = {value}: must be finite and '
                                 + ('greater than zero' if name in positive else 'not negative'))


class OdometryEstimate(NamedTuple):
    """
    Estimate after one sample; every number is finite.

    Attributes
    ----------
    time : float, s
        Stamp of the last sample used.
    pose : (3,) array, m and rad
        (x, y, yaw) on the floor.
    twist : (3,) array, m/s and rad/s
        (vx, vy, yaw rate) in ``base_link``.
    pose_covariance, twist_covariance : (3, 3) array
        Symmetric, positive definite, order (x, y, yaw); the pose's along floor axes, the twist's
        along ``base_link`` axes.
    residual : (n, 2) array, m/s
        Measured minus fitted contact velocity [along, across], of `twist`.
    slip : SlipReport
    grip : GripReport
    doubt : (2,) array, m and rad
        Bound of the pose error caused by held twists since `reset`; part of the covariance.
    distance : float, m
        Path length of ``base_link`` since `reset`.
    accepted : bool
        False if the sample was rejected; all else is then as before.
    reason : str
        Reason if the sample was not integrated as usual; else empty.
    skipped, rejected : int
        Samples since `reset` that only latched (without the first) or whose increments are
        taken with the next one; and samples that were rejected.
    gaps : int
        Gaps since `reset` that were bridged by positions alone.
    repeated : int
        Samples since `reset` that equal the one before although the robot moves; rejected.
    faults : FaultReport
        Slip and wrong encoders, by kind.
    """

    time: float
    pose: Array
    twist: Array
    pose_covariance: Array
    twist_covariance: Array
    residual: Array
    slip: SlipReport
    grip: GripReport
    doubt: Array
    distance: float
    accepted: bool
    reason: str
    skipped: int
    rejected: int
    gaps: int = 0
    repeated: int = 0
    faults: FaultReport = NO_FAULT

    def metrics(self) -> dict[str, object]:
        """Return the key-values for diagnostics."""
        # 95 % of a Gaussian are within 1.96 standard deviations
        known = 1.96 * np.sqrt(np.diag(self.pose_covariance))
        return {'distance driven [m]': f'{self.distance:.3f}',
                'position known to, 95 % [m]': f'{known[:2].max():.3f}',
                'yaw known to, 95 % [rad]': f'{known[2]:.4f}',
                'samples only latched': self.skipped, 'gaps bridged': self.gaps,
                'samples repeated': self.repeated}

    def spin_text(self) -> str:
        """Return the text of a twist held for longer than `SPIN_REPORTED`, or an empty one."""
        held = self.grip.held
        return (f'wheels spin: the twist has been held for {held:.2f} s'
                if held > SPIN_REPORTED else '')

    def doubt_text(self, most: float) -> str:
        """Return the text of a position error bound above `most` [m], or an empty one."""
        place, turn = self.doubt
        return (f'wheels have spun: the pose may be off by {place:.2f} m and {turn:.2f} rad; set '
                'it with ~/set_pose, or call ~/reset_odometry' if place > most else '')


def odometry_settings(wheel_counts: int = 2000, steering_counts: int = 4096,
                      **more: Any) -> OdometrySettings:
    """
    Return the settings from the parameters of the node.

    Parameters
    ----------
    wheel_counts, steering_counts : int
        Counts of an encoder per turn; resolution = 2π / counts.
    **more
        Fields of `OdometrySettings` by their names.

    Raises
    ------
    ValueError
        A value of the wrong type or out of range; the text names it.

    Examples
    --------
    >>> settings = odometry_settings(wheel_counts=1000, max_gap=0.5)
    >>> round(settings.wheel_resolution, 6), settings.max_gap
    (0.006283, 0.5)
    """
    for name, counts in (('wheel_counts', wheel_counts), ('steering_counts', steering_counts)):
        if isinstance(counts, bool) or not isinstance(counts, Integral) or not counts > 0:
            raise ValueError(f'{name} = {brief(counts)}: must be a whole number greater than zero')
    for name, value in more.items():
        truth = isinstance(value, bool)
        if name == 'robust' and not truth:
            raise ValueError(f'robust = {brief(value)}: must be true or false')
        if name not in ('robust', 'slip') and (truth or not isinstance(value, Real)):
            raise ValueError(f'{name} = {brief(value)}: must be a number')
    return OdometrySettings(wheel_resolution=2 * math.pi / wheel_counts,
                            steering_resolution=2 * math.pi / steering_counts, **more)


def implausible_sample(time: float, steering: Array, wheel: Array) -> str:
    """Return why a sample cannot be used, or an empty text."""
    if not abs(time) < math.inf:
        return f'time = {time}: not a finite number'
    for name, angle in (('steering', steering), ('wheel_angle', wheel)):
        if not within(angle, LARGEST_ANGLE):
            return f'{name} = {angle.tolist()}: not finite, or beyond {LARGEST_ANGLE:g} rad'
    return ''


def irregular_step(dt: float, max_gap: float) -> str:
    """Return why a step of `dt` [s] is not integrated as usual, or an empty text."""
    if dt == math.inf:
        return 'first sample'
    if dt < SHORTEST_STEP:
        return f'the stamp is {dt:g} s after the last: time must advance'
    if dt > max_gap:
        return f'gap of {dt:g} s: longer than max_gap = {max_gap:g} s'
    return ''


def soon(dt: float) -> str:
    """Return the text about a sample that comes `dt` [s] after the last."""
    return f'{dt:g} s after the last: taken with the next sample'


def planar_covariance(covariance: Array) -> Array:
    """Return the 36 numbers of a message from the covariance (3, 3) of (x, y, yaw)."""
    full = TEMPLATE.copy()
    full[PLANAR] = covariance.reshape(-1)
    return full
