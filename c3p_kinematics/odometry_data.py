# SPDX-License-Identifier: Apache-2.0
"""Settings and output types of the odometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_description.settings import CheckedSettings, setting
from c3p_kinematics._odometry_step import LARGEST_ANGLE, SHORTEST_STEP
from c3p_kinematics.calibration.parameters import Prior
from c3p_kinematics.calibration.words import INTERVAL
from c3p_kinematics.fault_report import NO_FAULT, FaultReport
from c3p_kinematics.grip import GripReport
from c3p_kinematics.gyro_report import GyroReport
from c3p_kinematics.joint_channels import ChannelReport
from c3p_kinematics.sensed_kinematics_parameters import (
    EncoderCounts,
    FaultSettings,
    GripSettings,
    GyroFusionSettings,
    OdometryParameters,
    SlipSettings,
)
from c3p_kinematics.slip import SlipReport, within
from c3p_kinematics.wiring_monitor import RIGHT, WiringReport

# shorter spins are left to the slip report, s
SPIN_REPORTED = 0.05

# fraction of the deviation of the stamps below which two samples are taken as one: drivers that
# send several at once stamp them together
SOON = 0.25

# settings for joints that are sampled at one instant with exact stamps: motor cards by their SYNC,
# and simulated encoders
SYNCHRONOUS: dict[str, Any] = {'stamp_jitter': 0.0, 'sample_skew': 0.0}

# variance of z, roll and pitch, which wheels do not observe, m² and rad²: large but finite,
# because filters and RViz break on more
UNOBSERVED = 1e6

# places of x, y and yaw among the 36 numbers of a covariance, and the others' part of it
PLANAR = np.array([0, 1, 5, 6, 7, 11, 30, 31, 35])
TEMPLATE = np.diag([0.0, 0.0, UNOBSERVED, UNOBSERVED, UNOBSERVED, 0.0]).reshape(-1)


@dataclass(frozen=True)
class OdometrySettings(OdometryParameters):
    """
    Settings of the odometry.

    Attributes
    ----------
    max_gap : float, s
        Longest step that is integrated as usual. Choose it below π / (largest wheel rate): an
        increment of half a turn or more is ambiguous.
    wheel_resolution, steering_resolution : float, rad
        Encoder steps; 0 for continuous angles.
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
    faults : FaultSettings
    gyro : GyroFusionSettings
        Gyro of the heading; disabled by default.
    """

    wheel_resolution: float = setting(2.0 * math.pi / 2000, least=0.0)
    steering_resolution: float = setting(2.0 * math.pi / 4096, least=0.0)
    initial_position_std: float = setting(1e-3, above=0.0)
    initial_yaw_std: float = setting(1e-3, above=0.0)
    standing_distance: float = setting(5e-4, least=0.0)
    hold: float = setting(1.0, least=0.0)
    prior: Prior | None = field(default_factory=Prior)
    slip: SlipSettings = field(default_factory=SlipSettings)
    grip: GripSettings = field(default_factory=GripSettings)
    faults: FaultSettings = field(default_factory=FaultSettings)
    gyro: GyroFusionSettings = field(default_factory=GyroFusionSettings)


# settings of parts of the odometry, by their fields
PARTS: dict[str, type[CheckedSettings]] = {
    'prior': Prior, 'slip': SlipSettings, 'grip': GripSettings, 'faults': FaultSettings,
    'gyro': GyroFusionSettings}

# parameters of the node that are settings of the odometry
_KINDS: tuple[type[CheckedSettings], ...] = (OdometrySettings, EncoderCounts, *PARTS.values())
PARAMETERS = tuple(dict.fromkeys(
    parameter for kind in _KINDS for parameter in kind.parameters().values()))


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
    channels : ChannelReport or None
        Rates that contradict the angles, and angles that leapt with others; None without both.
    wiring : WiringReport
        Evidence of a wrong description of order, signs and zeros of the joints. Probabilities of
        `slip` and `faults` are shared with it.
    gyro : GyroReport or None
        None without one. With it pose and covariance are those of both.
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
    channels: ChannelReport | None = None
    wiring: WiringReport = RIGHT
    gyro: GyroReport | None = None

    def metrics(self) -> dict[str, object]:
        """Return the key-values for diagnostics."""
        known = INTERVAL * np.sqrt(np.diag(self.pose_covariance))
        return {'distance driven [m]': f'{self.distance:.3f}',
                'position known to, 95 % [m]': f'{known[:2].max():.3f}',
                'yaw known to, 95 % [rad]': f'{known[2]:.4f}',
                'samples only latched': self.skipped, 'gaps bridged': self.gaps,
                'samples repeated': self.repeated,
                'side of a turn': self.wiring.side_metric(),
                **(self.gyro.metrics() if self.gyro else {})}

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


def odometry_settings(wheel_counts: int = EncoderCounts.wheel_counts,
                      steering_counts: int = EncoderCounts.steering_counts,
                      **more: Any) -> OdometrySettings:
    """
    Return the settings from the parameters of the node.

    Parameters
    ----------
    wheel_counts, steering_counts : int
        Counts of an encoder per turn; resolution = 2π / counts.
    **more
        Other parameters by their dotted names (`PARAMETERS`), and fields of `OdometrySettings`.

    Raises
    ------
    ValueError
        A value of the wrong type or out of range; the text names it.

    Examples
    --------
    >>> settings = odometry_settings(wheel_counts=1000, **{'slip.persistence': 0.05})
    >>> round(settings.wheel_resolution, 6), settings.slip.persistence
    (0.006283, 0.05)
    """
    counts = EncoderCounts(wheel_counts, steering_counts)
    parts: dict[str, Any] = {
        field: kind.given(more) for field, kind in PARTS.items()
        if field not in more and more.keys() & set(kind.parameters().values())}
    own = {name: value for name, value in more.items()
           if name not in PARAMETERS or name in OdometryParameters.parameters()}
    return OdometrySettings(wheel_resolution=2 * math.pi / counts.wheel_counts,
                            steering_resolution=2 * math.pi / counts.steering_counts,
                            **own, **parts)


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
