# SPDX-License-Identifier: Apache-2.0
"""Excitation for identification: sums of sines in all three freedoms, around one place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.se2 import compose, inverse, to_body, wrap

# cycles per minute of the sines in x, y and yaw: all prime, so that no combination of directions
# repeats within a minute
CYCLES_PER_MINUTE = np.array([[5.0, 11.0, 23.0], [7.0, 13.0, 29.0], [3.0, 17.0, 19.0]])

# where each sine begins, rad: spread, so that they do not start together
PHASES = np.array([[0.0, 1.2, 2.4], [0.8, 3.6, 1.6], [2.0, 0.4, 3.2]])

# begin and end of the motion are faded over so much of its duration, and no longer than this, s
FADED = 0.1
LONGEST_FADE = 3.0


@dataclass(frozen=True)
class Excitation:
    """
    Pose and velocity on the floor as sums of sines, from rest to rest at the same pose.

        p_i(t) = w(t) Σ_k V_i/(3 Ω_ik) (sin(Ω_ik t + φ_ik) − sin φ_ik)

    with V = (speed, speed, yaw_rate) and a window w that fades in and out. All sines have the same
    speed: slow ones identify friction, fast ones mass. Casters reverse often and at many rates;
    the robot stays within `reach` of its start, 0.6 m for a speed of 0.3 m/s.

    Attributes
    ----------
    duration : float, s
    speed, yaw_rate : float, m/s and rad/s
        Largest sum of the sines in x and in y, and in yaw.
    gain : float, 1/s
        Feedback of the pose error, limited to `speed` and `yaw_rate`; 0 is open loop.

    Raises
    ------
    ValueError
        A value that is not a positive number; `gain` may be 0.

    Examples
    --------
    >>> pose, velocity = Excitation(duration=60.0).reference(60.0)
    >>> bool(np.allclose(pose, 0)), bool(np.allclose(velocity, 0))
    (True, True)
    """

    duration: float = 60.0
    speed: float = 0.3
    yaw_rate: float = 1.0
    gain: float = 1.0

    def __post_init__(self) -> None:
        """Check every number."""
        for name, value in vars(self).items():
            if not (math.isfinite(value) and (value > 0 or (name == 'gain' and value == 0))):
                least = '0 or greater' if name == 'gain' else 'greater than zero'
                raise ValueError(f'{name} = {value}: must be a number, {least}')

    @property
    def reach(self) -> float:
        """Largest distance of the reference from its start, m."""
        largest = self._amplitudes[:2] * (1.0 + np.abs(np.sin(PHASES[:2])))
        return float(np.hypot(*largest.sum(axis=1)))

    @property
    def _amplitudes(self) -> Array:
        limits = np.array([self.speed, self.speed, self.yaw_rate])
        return limits[:, None] / (CYCLES_PER_MINUTE.shape[1] * _rates())

    def reference(self, time: float) -> tuple[Array, Array]:
        """
        Return pose (3,) and velocity (3,), both on the floor, seen from the pose at the start.

        `time` counts from the start, s; the robot rests before 0 and after `duration`.
        """
        angle = _rates() * time + PHASES
        pose = (self._amplitudes * (np.sin(angle) - np.sin(PHASES))).sum(axis=1)
        velocity = (self._amplitudes * _rates() * np.cos(angle)).sum(axis=1)
        window, slope = self._window(time)
        return window * pose, window * velocity + slope * pose

    def twist(self, time: float, start: Array | None = None, pose: Array | None = None) -> Array:
        """
        Return the twist to command, (3,) in ``base_link``, `time` seconds after the start.

        `start` and `pose` (3,) are those of odometry at the start and now; without them the
        reference's own pose counts.
        """
        target, velocity = self.reference(time)
        if start is None or pose is None:
            return to_body(target[2], velocity)
        here = compose(inverse(start), pose)
        error = target - here
        error[2] = wrap(error[2])
        # a large lag, as of a slack yaw loop, is corrected no faster than the motion itself
        limits = np.array([self.speed, self.speed, self.yaw_rate])
        return to_body(here[2], velocity + np.clip(self.gain * error, -limits, limits))

    def _window(self, time: float) -> tuple[float, float]:
        """Return w and dw/dt: 3s² − 2s³ at both ends."""
        fade = min(FADED * self.duration, LONGEST_FADE)
        left = min(time, self.duration - time)
        s = min(max(left / fade, 0.0), 1.0)
        sign = 1.0 if time < self.duration - time else -1.0
        return s * s * (3.0 - 2.0 * s), sign * 6.0 * s * (1.0 - s) / fade


def _rates() -> Array:
    return 2.0 * math.pi / 60.0 * CYCLES_PER_MINUTE
