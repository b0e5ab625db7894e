# SPDX-License-Identifier: Apache-2.0
"""
Feedback of wheel rates to velocity commands: wheels of unequal axes follow one common motion.

Drives follow a rate command u by a lag T that differs from wheel to wheel. While the platform
accelerates with a, a difference ΔT between both sides turns it by a ΔT over the track. All wheels
follow one model of the commands r instead,

    ṁ = (r − m)/T,  u = r + k (m − ω)

so that the rates ω of unequal wheels differ by 1/(1 + k) of what they would. A wheel that does not
follow, because its motor is at its limit or it is blocked, slows the others down: from `LATE` on
the commands of all wheels are scaled by one factor, to zero at twice that, which changes with the
lag of the wheels. The feedback itself grows up to `LATE` alone: with rates of a wrong sense it
would grow without end.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot

# gain k of the feedback: with a lag of 50 ms and two cycles of 10 ms until an answer is seen,
# the margin of phase is 60°
GAIN = 1.5

# speed at a wheel's rim by which it stays behind the model, from which on it slows all, m/s
LATE = 0.15

# speed at a wheel's rim below which the model of a robot that is to stand does, m/s
STANDS = 0.005


class WheelFollowing:
    """
    Feedback of one robot; the memory is the model of the wheels.

    Parameters
    ----------
    robot : CasterRobot
    lag : float, s
        Time constant T of the wheels. 0: it is unknown, or their drives follow at once; feedback
        that is a cycle late would make these oscillate, so that commands pass on.
    gain : float, 1
        k; 0 passes commands on.

    Attributes
    ----------
    scale : float, 0 to 1
        Of the last commands.

    Examples
    --------
    >>> from c3p_description import load
    >>> following = WheelFollowing(load('swerve'), 0.05)
    >>> rolled = np.full(4, 2.0)
    >>> rates = np.array([0.4, 0.4, 0.4, 0.0])  # after a cycle, one of them is late
    >>> following.step(rolled, np.zeros(4), 0.01).tolist()
    [2.0, 2.0, 2.0, 2.0]
    >>> following.step(rolled, rates, 0.01).round(2).tolist()
    [2.0, 2.0, 2.0, 2.6]
    """

    def __init__(self, robot: CasterRobot, lag: float, gain: float = GAIN) -> None:
        """Start at rest."""
        self._robot = robot
        self._lag = lag
        self._gain = gain if lag > 0.0 else 0.0
        self.forget()

    def forget(self) -> None:
        """Start at rest again."""
        self.scale = 1.0
        self._model = np.zeros(self._robot.count)

    def step(self, commanded: Array, measured: Array, dt: float) -> Array:
        """
        Return the commands (n,) of a cycle, rad/s.

        Parameters
        ----------
        commanded, measured : (n,) array, rad/s
            Commands of the motion, and the rates; nan where a rate is unknown, whose command is
            only scaled.
        dt : float, s
            Until the next cycle.
        """
        robot = self._robot
        if not self._gain:
            return commanded
        if not commanded.any() and np.all(np.abs(self._model) * robot.wheel_radius < STANDS):
            # standing drives get zero, and not the noise of their rates
            self.forget()
            return np.zeros(robot.count)
        known = robot.driven & np.isfinite(measured)
        behind = np.where(known, self._model - np.where(known, measured, 0.0), 0.0)
        late = float(np.max(np.abs(behind) * robot.wheel_radius, initial=0.0)) / LATE
        # not faster than the wheels follow: commands have no steps by it
        change = min(1.0, dt / self._lag)
        self.scale = min(max(0.0, 2.0 - late, self.scale - change), self.scale + change, 1.0)
        followed = self.scale * commanded
        most = LATE / robot.wheel_radius
        command = followed + self._gain * np.clip(behind, -most, most)
        self._model = self._model + min(1.0, dt / self._lag) * (followed - self._model)
        excess = float(np.max(np.abs(command) / robot.wheel_rate_limit, initial=1.0,
                              where=robot.driven))
        return command / excess
