# SPDX-License-Identifier: Apache-2.0
"""Gyro of an odometry in words: what is known of it, and why it is not used."""

from __future__ import annotations

import math
from typing import NamedTuple

from c3p_kinematics.calibration.words import INTERVAL

# ratio of the turns by gyro and joints, its tolerance, and what to check
CAUSES = ((math.degrees(1.0), 'degrees per second? the message has rad/s'),
          (-math.degrees(1.0), 'degrees per second and upside down? the message has rad/s, and '
                               'imu.axis is to end with -down'),
          (math.radians(1.0), 'converted to radians twice?'),
          (-math.radians(1.0), 'converted to radians twice, and upside down?'),
          (-1.0, 'upside down? imu.axis is the axis of the IMU that points up, with -down if it '
                 'points down'))
CLOSE = 0.15

# ratio below which a gyro does not turn
STANDS = 0.1

# silence that is reported, s
SILENT = 0.5

# keys of the diagnostics, and the value of a gyro that is used
USE = 'gyro in the odometry'
BIAS = 'gyro bias [°/s]'
SCALE = 'gyro scale'
SPANS = 'gyro spans used'
USED = 'used'


class GyroReport(NamedTuple):
    """
    Gyro in the odometry.

    Attributes
    ----------
    trusted : bool
        False while it contradicts the joints: they alone give the heading.
    bias, bias_std : float, rad/s
    scale, scale_std : float
        Of the measured rate; 1 without error.
    latency : float, s
        Of its stamps against those of the joints.
    ratio : float
        Of its turns to those of the joints since it was left out; nan if they did not turn.
    offset : float, rad/s
        Mean difference at the time when it was left out.
    constant : bool
        Its rate had not changed for a while then.
    silent : float, s
        Time of joint samples without its samples; 0 if they come.
    away : float, s
        Stamp of the joints less its newest one; inf without any.
    fused, left_out : int
        Spans of motion that were compared and used, and that are by the joints alone.
    """

    trusted: bool
    bias: float
    bias_std: float
    scale: float
    scale_std: float
    latency: float
    ratio: float
    offset: float
    constant: bool
    silent: float
    away: float
    fused: int
    left_out: int

    @property
    def used(self) -> bool:
        """True if the newest spans were fused."""
        return self.trusted and self.silent == 0.0 and self.fused > 0

    @property
    def reverses(self) -> bool:
        """True while it turns to the other side than the joints, as fast."""
        return not self.trusted and abs(self.ratio + 1.0) < CLOSE

    def text(self) -> str:
        """Return why it is not used, with the ratio and the remedy, or an empty text."""
        if self.silent > SILENT:
            return f'{self._silence()}; the heading is by the joints'
        if self.trusted:
            return ''
        return f'{self._contradiction()}; left out of the heading until it agrees for 2 s'

    def _silence(self) -> str:
        if self.away == math.inf:
            return 'no message so far'
        if self.away < 0.0:
            return (f'stamps {-self.away:.2f} s ahead of those of joint_states: synchronise the '
                    'clocks')
        return (f'no sample for {self.silent:.1f} s, its newest stamp is {self.away:.2f} s behind '
                'that of joint_states: silent, late (imu.wait), or on another clock?')

    def _contradiction(self) -> str:
        constant = ': the value does not change: stuck or saturated?' if self.constant else ''
        if math.isnan(self.ratio):
            return (f'{self.offset:+.3f} rad/s from the joints, which do not turn'
                    + (constant or ': a wrong offset, or a robot that is turned by hand?'))
        if abs(self.ratio) < STANDS:
            cause = constant or ': another axis (imu.axis)? or do all wheels slip?'
            if abs(self.ratio / math.radians(1.0) - 1.0) < CLOSE or abs(
                    self.ratio / math.radians(1.0) + 1.0) < CLOSE:
                cause = self._known_cause()
        else:
            cause = self._known_cause() or constant or (
                ': a wrong scale, a saturated gyro, a wrong description, or wheels that slip?')
        return f"{self.ratio:.3g} times the joints' yaw rate{cause}"

    def _known_cause(self) -> str:
        return next((f': {words}' for value, words in CAUSES
                     if abs(self.ratio / value - 1.0) < CLOSE), '')

    def metrics(self) -> dict[str, str]:
        """Return the key-values for diagnostics; deviations are for 95 %."""
        return {
            USE: USED if self.used else (
                self.text() or 'no motion compared yet'),
            BIAS: f'{math.degrees(self.bias):.3f} ± '
                  f'{math.degrees(INTERVAL * self.bias_std):.3f}',
            SCALE: f'{self.scale:.4f} ± {INTERVAL * self.scale_std:.4f}',
            SPANS: f'{self.fused} of {self.fused + self.left_out}'}
