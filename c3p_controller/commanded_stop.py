# SPDX-License-Identifier: Apache-2.0
"""
Watch of a robot that is commanded to stop: an e-stop, a lock, a zero command, or the brake.

All of them end in torques that should slow the wheels down; whether they do is seen at the wheels
alone. The watch needs no odometry, which may be what is lost. A robot that moves rolls on several
wheels: a single one that is faster spins, on oil for example, and is not the motion of the robot.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import braking_deceleration
from c3p_kinematics.ordered_stop import Effect, OrderedStop

# fraction of the deceleration that limits, motors and tyres allow which a stop has at least:
# payload, and wheels that stand askew to the motion
LEAST_EFFECT = 0.5

# time of a stop beside its deceleration, s: delays of the loop, and the brake in place of a law
# that does not come to rest
MARGIN = 0.7

# speed that counts as stopped, m/s: a slope, or a law that sways at rest
STOPPED_SPEED = 0.1


class CommandedStop:
    """
    Compares the wheels with a stop that is commanded; the memory is the present one.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    text : str
        Stop without effect, with joints and rates; empty while no stop lacks it.
    accelerates : bool
        The robot is faster than at the order.
    speed : float, m/s
        By its wheels.

    Examples
    --------
    >>> from c3p_description import load
    >>> watch = CommandedStop(load('c3p'))
    >>> for k in range(201):  # a second at 10 rad/s
    ...     watch.step(0.005 * k, np.array([10.0, 10.0, 0.0]), True, 1.0)
    >>> watch.text[:78]
    'the robot does not slow down: 1.00 s after the order wheel_joint_1 10.0 rad/s,'
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Start without a stop."""
        self._robot, self._able = robot, braking_deceleration(robot)
        self._stop: OrderedStop | None = None
        self._deceleration = 0.0
        self.text = ''
        self.accelerates = False
        self.speed = 0.0

    def step(self, now: float, wheel_rate: Array, stops: bool, deceleration: float) -> None:
        """
        Process the wheels of a cycle.

        Parameters
        ----------
        now : float, s
        wheel_rate : (n,) array, rad/s
        stops : bool
            Standstill is commanded, by whatever.
        deceleration : float, m/s²
            Of a stop, by the limits of the controller; another one is a new order.
        """
        self.accelerates = False
        self.text = ''
        if not stops:
            self._stop = None
            return
        # of three wheels and more the fastest may spin
        rolling = min(2, max(1, len(wheel_rate) - 1))
        speed = float(np.sort(np.abs(wheel_rate) * self._robot.wheel_radius)[-rolling])
        self.speed = speed
        if self._stop is None or deceleration != self._deceleration:
            self._deceleration = deceleration
            least = min(deceleration, self._able)
            self._stop = OrderedStop(LEAST_EFFECT * least, MARGIN, STOPPED_SPEED)
            self._stop.begin(now, speed)
        effect = self._stop.step(now, speed)
        if effect in (Effect.LATE, Effect.GROWS):
            self.accelerates = effect is Effect.GROWS
            what = 'accelerates' if self.accelerates else 'does not slow down'
            rates = ', '.join(f'{joint} {rate:.1f} rad/s' for joint, rate in zip(
                self._robot.wheel_joints, wheel_rate, strict=True))
            self.text = (f'the robot {what}: {now - self._stop.begun:.2f} s after the order '
                         f'{rates}; look for motor leads, a second source of torques, a slope or '
                         'a push, and press the emergency stop')
