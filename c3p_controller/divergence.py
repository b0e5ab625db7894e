# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Divergence of a torque law: the robot is far faster than commanded, and its motors feed the motion.

With a wrong model, or casters that are much heavier to turn than the robot is to move, a law may
accelerate the robot without end. A push or a slope makes a robot too fast as well, but against
these the motors brake: their work is negative. Both conditions together are a fault of the law,
after which it must not run until the robot has come to rest.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.torque_law import Setpoint
from c3p_description.model import Array, CasterRobot
from c3p_kernels.compiled import kernel
from c3p_kinematics._planar_kernels import rows

# a speed above FACTOR times the commanded one, and by these margins, is too fast: m/s, and rad/s
# of manoeuvres that turn the casters. The speed is |v| + l |ω| with l the distance of the
# outermost pivot
FACTOR = 2.0
MARGIN = 0.5
YAW_MARGIN = 1.0

# rate at which a commanded speed that has fallen is forgotten, m/s²
FORGOTTEN = 1.0

# duration of excess speed that is a fault, s
PATIENCE = 0.25

# a robot slower than this is at rest again, m/s
REST = 0.02


class Divergence(ValueError, ArithmeticError):
    """A law diverges; the text contains speed, command and work of the motors."""


class DivergenceWatch:
    """
    Watch of speed and work of the motors; the memory is the present excess, and the fault.

    Parameters
    ----------
    robot : CasterRobot

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> watch, fast = DivergenceWatch(robot), np.array([2.0, 0.0, 0.0])
    >>> command = Setpoint(np.array([0.3, 0.0, 0.0]))
    >>> trailing, push = np.full(3, -np.pi / 2), np.ones(3)
    >>> for _ in range(60):
    ...     watch.step(trailing, fast, -push, command, 0.005)  # brakes: a push from outside
    >>> for _ in range(120):
    ...     watch.step(trailing, fast, push, command, 0.005)
    Traceback (most recent call last):
        ...
    c3p_controller.divergence.Divergence: diverges: 2.00 m/s for 0.25 s with 0.30 m/s ...
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Start at rest."""
        self._robot = robot
        self._lever = float(np.hypot(*robot.hip_position.T).max())
        self._rows = np.empty((2, robot.count, 3))
        self._trails = ~robot.fixed & (robot.caster_offset > 0.0)
        self._offset = np.where(self._trails, robot.caster_offset, 1.0)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._commanded = 0.0
        self._time = 0.0
        self._work = 0.0
        self._fault = ''
        # of the last preview, and its largest speed
        self._velocity: Array | None = None
        self._fastest = 0.0

    def step(self, steering: Array, twist: Array, torque: Array, setpoint: Setpoint, dt: float
             ) -> None:
        """
        Process a cycle, `dt` s after the last one.

        Parameters
        ----------
        steering, twist : (n,), (3,) array
            Measured.
        torque : (robot.efforts,) array, N·m
            Since the last cycle.
        setpoint : Setpoint
        dt : float, s

        Raises
        ------
        Divergence
            The speed has been too high, with work of the motors, for `PATIENCE`; from then on
            in each cycle, until the robot is at rest.
        """
        lever = self._lever
        preview = setpoint.preview
        # a preview serves several cycles
        if preview is None:
            self._velocity = None
            self._fastest = 0.0
        elif preview.velocity is not self._velocity:
            self._velocity = preview.velocity
            self._fastest = _fastest(preview.velocity, lever)
        self._commanded, speed = _commanded(setpoint.twist, self._fastest, lever,
                                            self._commanded - FORGOTTEN * dt, twist)
        if self._fault and speed > REST:
            raise Divergence(self._fault)
        self._fault = ''
        if speed <= FACTOR * self._commanded + MARGIN + YAW_MARGIN * lever:
            self._time = self._work = 0.0
            return
        self._time += dt
        self._work += self._power(steering, twist, torque) * dt
        if self._work <= 0.0:
            # from now on: what brakes for long has not driven before
            self._time = self._work = 0.0
        if self._time >= PATIENCE:
            self._fault = (
                f'diverges: {speed:.2f} m/s for {self._time:.2f} s with {self._commanded:.2f} m/s '
                f'commanded, and the motors did {self._work:.1f} J of work on it; check masses, '
                'inertias and caster offsets of the robot against what drives')
            raise Divergence(self._fault)

    def _power(self, steering: Array, twist: Array, torque: Array) -> float:
        """Return the power of the motors, W, of a robot that rolls."""
        # θ̇_x = Rx ν/r, θ̇_s = −Ra ν/d − ω of a caster; below its pivot a wheel that steers moves
        # nothing
        robot = self._robot
        n = robot.count
        rows(robot.geometry, steering, *self._rows)
        power = torque[:n] @ (self._rows[0] @ twist / robot.wheel_radius)
        if len(torque) > n:
            power -= torque[n:] @ np.where(self._trails, self._rows[1] @ twist / self._offset
                                           + twist[2], 0.0)
        return float(power)


@kernel
def _speed(twist, lever):
    return math.hypot(twist[0], twist[1]) + lever * abs(twist[2])


@kernel
def _fastest(velocity, lever):
    # the largest speed of a preview
    most = 0.0
    for k in range(len(velocity)):
        most = max(most, _speed(velocity[k], lever))
    return most


@kernel
def _commanded(twist, fastest, lever, before, actual):
    # commanded speed, that of a moment ago at least, and actual speed
    return max(_speed(twist, lever), fastest, before), _speed(actual, lever)
