# SPDX-License-Identifier: Apache-2.0
"""What odometry is told and what it tells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from c3p_description.model import Array
from c3p_kinematics.grip import GripReport, GripSettings
from c3p_kinematics.slip import SlipReport
from c3p_kinematics.slip_monitor import SlipSettings


@dataclass(frozen=True)
class OdometrySettings:
    """
    How wheels become a pose.

    Attributes
    ----------
    max_gap : float, s
        Longest step that is integrated as any other. Choose it below π / (largest wheel rate): an
        increment of half a turn or more is ambiguous. Over a longer gap the pose follows the
        positions alone, with a covariance that grows by how far it went.
    robust : bool
        Take the weight from a caster as far as it is suspected to slip.
    wheel_resolution, steering_resolution : float, rad
        Encoder steps; 0 for none.
    rate_noise_std : float, m/s
        Noise of a contact velocity's component from given rates: floor of the twist's covariance.
    position_variance_per_metre, position_variance_per_radian : float, m²/m, m²/rad
    yaw_variance_per_metre, yaw_variance_per_radian : float, rad²/m, rad²/rad
        Growth of the pose covariance. The defaults give about 5 cm and 1° after 4 m: what errors
        of r 0.3 %, d 2 % and steering zero 0.3° make of it.
    initial_position_std, initial_yaw_std : float, m, rad
        Of the pose given to `reset`.
    standing_distance : float, m
        Motion below this is standing: no covariance growth, no distance.
    hold : float, s
        Time after a stop for which the twist covariance keeps its moving value, so that a filter
        does not take the last moving samples for certain.
    slip : SlipSettings
    grip : GripSettings
        Its resolution is set by those of the encoders.
    """

    max_gap: float = 0.25
    robust: bool = True
    wheel_resolution: float = 2.0 * math.pi / 2000
    steering_resolution: float = 2.0 * math.pi / 4096
    rate_noise_std: float = 0.005
    position_variance_per_metre: float = 4e-4
    position_variance_per_radian: float = 1e-5
    yaw_variance_per_metre: float = 1e-4
    yaw_variance_per_radian: float = 2e-4
    initial_position_std: float = 1e-3
    initial_yaw_std: float = 1e-3
    standing_distance: float = 5e-4
    hold: float = 1.0
    slip: SlipSettings = field(default_factory=SlipSettings)
    grip: GripSettings = field(default_factory=GripSettings)

    def __post_init__(self) -> None:
        """Refuse values that cannot be."""
        positive = ('max_gap', 'rate_noise_std', 'initial_position_std', 'initial_yaw_std')
        for name, value in vars(self).items():
            if name in ('robust', 'slip', 'grip'):
                continue
            if not (0.0 <= value < math.inf and (value > 0.0 or name not in positive)):
                raise ValueError(f'{name} = {value}: must be finite and '
                                 + ('greater than zero' if name in positive else 'not negative'))


class OdometryEstimate(NamedTuple):
    """
    What is known after one sample; every number is finite.

    Attributes
    ----------
    time : float, s
        Of the last sample used.
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
        How far held twists may have taken the pose from the truth since `reset`; part of the
        covariance.
    distance : float, m
        Length of the way of ``base_link`` since `reset`.
    accepted : bool
        False if nothing of the sample was used: all else is as before.
    reason : str
        Why the sample was not integrated as any other; empty if it was.
    skipped, rejected : int
        Samples since `reset` that only latched (without the first), and that were not accepted.
    gaps : int
        Gaps since `reset` over which the positions alone moved the pose.
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
