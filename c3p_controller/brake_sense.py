# SPDX-License-Identifier: Apache-2.0
"""
Brake of wheels whose encoders may count backwards: its sense follows from its effect.

The brake applies torques against the measured rates of the wheels. Where an encoder counts against
its motor these torques accelerate the wheel, and the faster it turns the more: a robot that brakes
runs away. The joints may show that a wheel counts backwards, but not whether its motor does as
well; only in the second case is the brake right. The effect decides between both.

- A wheel that counts backwards by the odometry, and gets faster under the brake, is braked in the
  other sense.
- If the robot gains speed as the impulse of the brake would take, all wheels are. A slope or a
  push would need 1.5 times the force of the brake, against it, for as long.

If it gains speed in the other sense as well the torque is zero.
"""

from __future__ import annotations

import numpy as np

from c3p_controller.limits import braking_torque
from c3p_description.model import Array, CasterRobot

# speed that a wheel has gained in the wrong sense of the brake, m/s, and the time for which it
# has, s: noise of a rate, and the delay of a torque
GAINED = 0.03
HOLDS = 0.02

# impulse of the brake per mass after which its effect is judged, m/s, and the fraction of it that
# is gained in the wrong sense, with a payload as heavy as the robot
IMPULSE = 0.15
FRACTION = 0.5

# time without braking after which another brake begins, s
PAUSE = 0.1


class BrakeSense:
    """
    Braking torques with the sense that slows the wheels down; the memory is the present brake.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    sign : (n,) array
        Factors of the measured wheel rates: 1, −1, or 0 for no torque.

    Examples
    --------
    >>> from c3p_description import load
    >>> sense = BrakeSense(load('c3p'))
    >>> for k in range(20):  # the brake accelerates
    ...     torque = sense.torque(0.005 * k, np.full(3, 5.0 + 0.4 * k), 0.1, 0.005)
    >>> sense.sign.tolist(), bool(torque[0] > 0.0)
    ([-1.0, -1.0, -1.0], True)
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Start without doubt."""
        self._robot = robot
        n = robot.count
        self._doubted = np.zeros(n, bool)
        self._last = -np.inf
        self._begin(np.zeros(n))

    def _begin(self, speed: Array) -> None:
        """Begin a brake at the speeds (n,) of the wheels, m/s, in the described sense."""
        self.sign = np.ones(len(speed))
        # of each wheel: least speed so far, m/s, and since when it is exceeded, s
        self._least = speed.copy()
        self._gaining_since = np.full(len(speed), np.inf)
        self._judge_from(speed)
        self._deceleration = 0.0

    def _judge_from(self, speed: Array) -> None:
        """Judge the impulse of the brake from here on."""
        self._first = float(np.median(speed))
        self._impulse = 0.0

    def doubt(self, backwards: Array) -> None:
        """Take the wheels (n,) of bool that count backwards by the evidence of the odometry."""
        self._doubted = np.asarray(backwards, bool)

    def torque(self, now: float, wheel_rate: Array, damping: float, standstill_speed: float
               ) -> Array:
        """
        Return the braking torques (robot.efforts,) of a cycle, N·m.

        Parameters
        ----------
        now : float, s
        wheel_rate : (n,) array, rad/s
            Measured.
        damping, standstill_speed : float
            As for `braking_torque`.
        """
        radius = self._robot.wheel_radius
        speed = np.abs(wheel_rate) * radius
        dt = now - self._last
        self._last = now
        if not 0.0 <= dt <= PAUSE:
            self._begin(speed)
            dt = 0.0
        self._turn(self._gaining(now, speed), speed)
        self._impulse += self._deceleration * dt
        if self._impulse >= IMPULSE:
            if float(np.median(speed)) - self._first > FRACTION * self._impulse:
                self._turn(np.ones(len(speed), bool), speed)
            self._judge_from(speed)
        torque = braking_torque(self._robot, self.sign * wheel_rate, damping, standstill_speed)
        force = float(np.sum(np.abs(torque[:len(radius)]) / radius))
        self._deceleration = force / self._robot.total_mass
        return torque

    def _gaining(self, now: float, speed: Array) -> Array:
        """Return which of the doubted wheels have gained speed (n,)."""
        self._least = np.minimum(self._least, speed)
        gains = self._doubted & (speed > self._least + GAINED)
        self._gaining_since = np.where(gains, np.minimum(self._gaining_since, now), np.inf)
        return now - self._gaining_since > HOLDS

    def _turn(self, wrong: Array, speed: Array) -> None:
        """Brake wheels in the other sense, or not at all if they gained speed in both."""
        self.sign[wrong] = np.where(self.sign[wrong] > 0.0, -1.0, 0.0)
        self._least[wrong] = speed[wrong]
        self._gaining_since[wrong] = np.inf
        if wrong.any():
            self._judge_from(speed)
