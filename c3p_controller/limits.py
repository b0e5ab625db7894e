# SPDX-License-Identifier: Apache-2.0
"""
Limits of commanded twists and of wheel torques: scaling, braking and traction control.

One factor scales all components of a twist, and the torques of all wheels, so that the path and
the wrench keep their direction. The limits of speed and yaw rate hold for every source of
setpoints.

Traction control reduces the torque of a slipping wheel and restores it as the wheel grips. The
slip of a driven wheel is its rim speed minus the speed of the floor below it,

    ``s_i = r_i θ̇_x,i − Rx_i ν``,

with the twist ν of the odometry, which excludes spinning wheels (c3p_kinematics/grip.py). When
|s_i| passes a threshold, the limit of the wheel falls to a fraction of the torque that the floor
did not transmit. A damping torque brings the spinning wheel back to the speed of the floor. After
the slip the limit is held and then rises at a constant rate, so the next slip on the same floor
begins with less torque. Slip that control cannot end and overspeed are faults: the caller stops
the robot and reports the text.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller._limit_kernels import (
    admit_step,
    apply_step,
    assess_step,
    excess_of,
    scale_down,
)
from c3p_controller.torque_law import Sensed
from c3p_controller.traction_states import TractionState
from c3p_controller.velocity_controller_parameters import ReferenceLimits, TractionSettings
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import torque_bounds, traction_report

# time constant with which the damping torque ends the spin of a free wheel, s: three times the
# latency of the loop
SPIN_TIME = 0.03

# longest overspeed: a late sample makes the rate of one look too high, s
OVERSPEED_TIME = 0.05


def limit_twist(twist: Array, limits: ReferenceLimits) -> Array:
    """
    Return `twist` with its speed and yaw rate within the limits.

    One factor scales all three components, so that the direction and curvature of the path stay
    the same.

    Examples
    --------
    >>> limit_twist(np.array([3.0, 4.0, 0.0]), ReferenceLimits(speed=1.0))
    array([0.6, 0.8, 0. ])
    """
    excess = excess_of(twist, limits.speed, limits.yaw_rate)
    return twist if excess == 1.0 else twist / excess


def limit_torque(torque: Array, limit: Array) -> Array:
    """
    Return the torques within their limits, all scaled by one factor.

    One factor keeps the direction of the wrench; clipping each wheel separately would turn it. A
    wheel with the limit 0 gets zero and does not affect the factor.

    Examples
    --------
    >>> limit_torque(np.array([2.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0]))
    array([1. , 0.5, 0. ])
    """
    torque = np.ascontiguousarray(torque, float)
    limit = np.ascontiguousarray(limit, float)
    limited = np.empty(len(torque))
    scale_down(torque, limit, limited)
    return limited


def braking_torque(robot: CasterRobot, wheel_rate: Array, damping: float, standstill_speed: float
                   ) -> Array:
    """
    Return torques of ``-damping θ̇_x`` against the wheels' rates, within the limits.

    (robot.efforts,) N·m; steering axes get zero, so that the casters trail. A wheel is at rest
    below the rim speed `standstill_speed`, m/s, and its torque then exactly zero, so that drives
    that require a zero command re-arm. `wheel_rate` is in rad/s, `damping` in N·m·s/rad.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, [0.5, 2.6, 4.7], 0.04, 0.04, 30.0, 3.51)
    >>> braking_torque(robot, np.array([2.0, -2.0, 0.1]), 0.1, 0.005)
    array([-0.2,  0.2,  0. ])
    """
    moves = robot.driven & (np.abs(wheel_rate) * robot.wheel_radius >= standstill_speed)
    torque = np.zeros(robot.efforts)
    torque[:robot.count] = np.where(moves, -damping * wheel_rate, 0.0)
    return limit_torque(torque, torque_bounds(robot))


def limits_of(values: Any) -> ReferenceLimits:
    """Return the limits of the setpoints, of the parameters of the velocity controller."""
    return ReferenceLimits.of(values)


class Demand(NamedTuple):
    """Limits of a command, and speed and yaw rate of standstill: m/s and rad/s."""

    speed: float
    yaw_rate: float
    standstill: float
    yaw_standstill: float


class Assessment(NamedTuple):
    """
    Command and motion of a cycle.

    Attributes
    ----------
    excess : float
        Factor, 1 or more, by which the command exceeds its limits.
    moves : bool
        The command is more than standstill.
    still : bool
        The robot is at standstill.
    """

    excess: float
    moves: bool
    still: bool


# without a command
NO_DEMAND = Demand(math.inf, math.inf, 0.0, 0.0)


class TorqueShapeError(ArithmeticError):
    """Torques of a law that are not one number for each motor of the robot."""


class TractionControl:
    """
    Torque limits of the wheels from their slip; the memory is the limit of each wheel.

    Attributes
    ----------
    limit : (robot.efforts,) array, N·m
        Present limit of each motor; at most `torque_bounds` of the robot. A tyre that slips has
        no grip across either: the steering motor of its caster has the same part of its bound.
    fault : str
        Reason for which the robot must stop; '' without a fault.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51,
    ...                             torque_limit=1.2)
    >>> control, still = TractionControl(robot), np.zeros(3)
    >>> judged = control.update(Sensed(0.0, still, np.array([0.0, 0.0, 20.0]), still, still),
    ...                         np.array([0.0, 0.0, 1.0]), 0.005)
    >>> control.limit, control.slipping
    (array([1.2, 1.2, 0.5]), array([False, False,  True]))
    """

    def __init__(self, robot: CasterRobot, settings: TractionSettings | None = None) -> None:
        """Start with all wheels gripping."""
        self.robot = robot
        self._state = TractionState.new((robot.count, robot.efforts))
        self.settings = settings or TractionSettings()
        self.bound = torque_bounds(robot)
        state = self._state
        state.bound[:] = self.bound
        state.radius[:] = robot.wheel_radius
        # without its row along the slip of a wheel is not measured
        state.driven[:] = robot.driven & (robot.rows[:, 0] > 0.0)
        state.rate_limit[:] = robot.wheel_rate_limit
        state.damping[:] = robot.wheel_spin_inertia / SPIN_TIME
        self.limit = state.limit
        # of a wheel beside its pivot, which rolls where it turns; the last steering angles
        self._beside = robot.lateral_offset / robot.wheel_radius
        self._any_beside = bool(self._beside.any())
        self._turned: Array | None = None
        self.reset()

    @property
    def settings(self) -> TractionSettings:
        """Thresholds and times."""
        return self._settings

    @settings.setter
    def settings(self, settings: TractionSettings) -> None:
        """Replace thresholds and times."""
        self._settings = s = settings
        self._state = TractionState.of(
            self._state.block, self._state.values, slip_speed=s.slip_speed,
            slip_fraction=s.slip_fraction, cut_part=s.cut, least=s.least, hold=s.hold,
            recovery=s.recovery, overspeed=s.overspeed)

    @property
    def slipping(self) -> Array:
        """Slip of each wheel, (n,) bool."""
        return self._state.slipping > 0.0

    def reset(self) -> None:
        """Forget every slip."""
        state = self._state
        self.fault = ''
        self._turned = None
        state.limit[:] = self.bound
        state.wheel_limit[:] = self.bound[:self.robot.count]
        state.gripped[:] = np.inf
        for memory in (state.slipping, state.spin, state.slipped, state.fast):
            memory[:] = 0.0

    def warm_up(self) -> None:
        """Compile the kernels."""
        zero = np.zeros(self.robot.count)
        torque = limit_torque(np.zeros(len(self.bound)), self.bound)
        self.update(Sensed(0.0, zero, zero, np.zeros(3), np.zeros(3)), torque, SPIN_TIME)
        self.apply(torque)
        self.reset()

    def update(self, sensed: Sensed, torque: Array, dt: float, command: Array | None = None,
               demand: Demand = NO_DEMAND) -> Assessment:
        """
        Process a cycle of `sensed`, `dt` s after the last one, with the `torque` [N·m] since then.

        Returns the assessment of a `command` (3,), m/s and rad/s, zero without one, by `demand`.
        """
        state = self._state
        state.steering[:] = sensed.steering
        state.wheel_rate[:] = sensed.wheel_rate
        if self._any_beside:
            before = sensed.steering if self._turned is None else self._turned
            turned = (sensed.steering - before) / dt + sensed.twist[2]
            state.wheel_rate[:] -= self._beside * turned
            self._turned = np.array(sensed.steering)
        state.twist[:] = sensed.twist
        state.torque[:] = torque
        state.command[:] = 0.0 if command is None else command
        trouble, *assessed = assess_step(state.block, state.values, self.robot.geometry,
                                         tuple(demand), dt)
        self.fault = self._judge(sensed) if trouble else ''
        return Assessment(*assessed)

    def apply(self, torque: ArrayLike) -> Array:
        """
        Return `torque` within the limits; spinning wheels are slowed down to the floor.

        Raises
        ------
        TorqueShapeError
            Not one number for each motor.
        """
        apply_step(self._state.block, self._state.values, self._of_motors(torque))
        return self._state.limited.copy()

    def admit(self, torque: ArrayLike) -> Array | None:
        """
        Return `torque` scaled into the bounds of the motors, and then as `apply`.

        None for torques that are not finite.
        """
        admitted = admit_step(self._state.block, self._state.values, self._of_motors(torque))
        return self._state.limited.copy() if admitted else None

    def _of_motors(self, torque: ArrayLike) -> Array:
        """Return torques of a law as an array whose size the kernels need not check."""
        numbers = np.ascontiguousarray(torque, float)
        if numbers.shape != self.bound.shape:
            raise TorqueShapeError(f'torques of the shape {numbers.shape}: must be '
                                   f'{self.bound.shape}, one for each motor')
        return numbers

    def stronger(self) -> str:
        """Return a report of the motors that are stronger than their tyres, '' without one."""
        return traction_report(self.robot)

    def describe(self) -> str:
        """Return the fault, or the wheels that slip or are limited; '' while all wheels grip."""
        if self.fault:
            return self.fault
        names = self.robot.wheel_joints
        slipping = ', '.join(names[i] for i in np.flatnonzero(self.slipping))
        if slipping:
            return f'{slipping} slip{"" if self.slipping.sum() > 1 else "s"}: torque reduced'
        limit, bound = self._state.wheel_limit, self.bound[:len(names)]
        limited = [f'{names[i]} {limit[i]:.2f} of {bound[i]:.2f} N·m'
                   for i in np.flatnonzero(limit < bound)]
        return f'grip returns: {", ".join(limited)}' if limited else ''

    def _judge(self, sensed: Sensed) -> str:
        patience = self.settings.patience
        driven = self.robot.driven
        slipped = self._state.slipped
        fast = self._state.fast
        together = float(slipped[driven].min()) if driven.any() else 0.0
        if together > patience:
            return (f'all driven wheels have slipped for {together:.1f} s: the floor transmits '
                    'less than the torque needed')
        fastest = int(np.argmax(fast))
        if fast[fastest] > OVERSPEED_TIME:
            return (f'{self.robot.wheel_joints[fastest]} turns at '
                    f'{sensed.wheel_rate[fastest]:.1f} rad/s: at most {self.settings.overspeed:g} '
                    f'times its limit of {self.robot.wheel_rate_limit[fastest]:g} rad/s')
        longest = int(np.argmax(slipped))
        if slipped[longest] > 4.0 * patience:
            return (f'{self.robot.wheel_joints[longest]} has slipped for '
                    f'{slipped[longest]:.1f} s')
        return ''
