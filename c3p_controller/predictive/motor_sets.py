# SPDX-License-Identifier: Apache-2.0
"""
Kinds of robots by their motors: what the predictive law does differently for each.

`UsualMotors` lose a direction where rolling lines are parallel or meet in one point: the robot
leaves by a manoeuvre. `SpanningMotors`, of wheels and steering axes, have every direction at any
steering angles. `FewerMotors` than freedoms hold two of heading, speed and path in a bend: the
reference is one that they can hold (priority.py).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from c3p_controller.predictive.guesses import bold_guesses, first_guesses, straight_guess
from c3p_controller.predictive.motion_observer import MotionObserver
from c3p_controller.predictive.priority import LONGER, SMOOTHING, Priority, check_priority
from c3p_controller.predictive.scaling import cost_weights, friction_rate, resting_slack
from c3p_controller.predictive.standing_start import check_reference, push_guesses
from c3p_controller.predictive.states import PredictiveState
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.freedoms import driven_freedoms
from c3p_dynamics.traction import steering_motors


class UsualMotors:
    """
    Motors that control all freedoms but in singular configurations.

    Attributes
    ----------
    longer : float
        Factor of the horizon and its steps.
    watches : bool
        A stall stretches the horizon.
    steadies : bool
        Ripple of the yaw rate is weighted in bends, and the reference has a dither there.
    adapts : bool
        Reference and weights are changed in each cycle, by `adapt`; then no solution can be
        computed before its cycle.
    lag : float, s
        Time constant of the torques; 0: none.
    slack : float, N
        Disturbance up to which the robot rests without torque.
    pace : (robot.efforts,) array
        Rate of change of each torque in units of that of a wheel's.
    """

    longer: ClassVar[float] = 1.0
    watches: ClassVar[bool] = True
    steadies: ClassVar[bool] = True
    adapts: ClassVar[bool] = False
    lag: ClassVar[float] = 0.0

    def __init__(self, robot: CasterRobot) -> None:
        """Take the robot."""
        self.robot = robot
        self.slack = resting_slack(robot)
        # a steering motor costs and changes relative to its bound, as a wheel does
        weight = steering_motors(robot).weight
        self.turning = float(weight[robot.steered].mean()) if robot.steered.any() else 1.0
        self.pace = np.ones(robot.efforts)
        self.pace[robot.count:] = math.sqrt(self.turning)

    def reset(self) -> None:
        """Forget the past."""

    def weights(self, settings: Any) -> Array:
        """Return the weights of the cost, (WEIGHTS,)."""
        return cost_weights(settings, self.robot, False, False, self.turning)

    def friction(self, settings: Any, step: float) -> float:
        """Return the rate, rad/s, over which steps of `step`, s, smooth dry friction."""
        return friction_rate(settings.friction_smoothing, self.robot, step, False)

    def guesses(self, observer: MotionObserver, state: PredictiveState, settings: Any
                ) -> list[Array]:
        """Return first guesses of the torques of a plan from ``state.start`` on."""
        stalled = state.stall.attempts[0] > 0
        return (bold_guesses if stalled else first_guesses)(state.limit, state.times[:-1])

    def adapt(self, state: PredictiveState, base: Array, dt: float) -> None:
        """Change reference and weights, made of `base`, `dt` s after the last cycle."""


class SpanningMotors(UsualMotors):
    """Motors that have every direction at any steering angles: no manoeuvre, and no stall."""

    watches = False
    steadies = False

    def weights(self, settings: Any) -> Array:
        """Return the weights of the cost, (WEIGHTS,): casters need no alignment."""
        return cost_weights(settings, self.robot, True, False, self.turning)

    def friction(self, settings: Any, step: float) -> float:
        """Return the rate, rad/s, over which steps of `step`, s, smooth dry friction."""
        return friction_rate(settings.friction_smoothing, self.robot, step, True)

    def guesses(self, observer: MotionObserver, state: PredictiveState, settings: Any
                ) -> list[Array]:
        """Return one first guess: straight to the reference."""
        return [straight_guess(observer, state.start, state.plan.rows, state.plan.dt, state.limit,
                               (settings.acceleration, settings.yaw_acceleration))]


class FewerMotors(UsualMotors):
    """Fewer motors than freedoms; the memory is that of the priority."""

    longer = LONGER
    steadies = False
    # the heading of the reference is found in the cycle
    adapts = True
    lag = SMOOTHING

    def __init__(self, robot: CasterRobot, priority: str) -> None:
        """Take the robot, and what of heading, speed and path is kept."""
        super().__init__(robot)
        # a force that these motors cannot hold would keep them working
        self.slack = math.inf
        self._priority = Priority(robot, priority)

    def reset(self) -> None:
        """Forget heading and lead of the reference."""
        self._priority.reset()

    def weights(self, settings: Any) -> Array:
        """Return the weights of the cost, (WEIGHTS,)."""
        return cost_weights(settings, self.robot, False, True, self.turning)

    def guesses(self, observer: MotionObserver, state: PredictiveState, settings: Any
                ) -> list[Array]:
        """
        Return first guesses: pushes of one and two motors.

        StartError where no torque moves the robot from its standstill as the reference does.
        """
        if state.stall.attempts[0] == 0:
            check_reference(self.robot, state.start, state.plan.rows)
        return push_guesses(self.robot, state.times[:-1])

    def adapt(self, state: PredictiveState, base: Array, dt: float) -> None:
        """Replace the reference by one that the motors can hold, and the weights."""
        self._priority.apply(state.plan.rows, state.times, state.start[2], dt, base,
                             state.plan.weights)


def motor_set(robot: CasterRobot, priority: str) -> UsualMotors:
    """
    Return what the law does for the motors of `robot`, with the parameter `priority`.

    Raises
    ------
    ValueError
        An unknown priority.

    Examples
    --------
    >>> from c3p_description import load
    >>> [type(motor_set(load(name), 'path_speed')).__name__ for name in ('c3p', 'powered_caster')]
    ['UsualMotors', 'SpanningMotors']
    """
    check_priority(priority)
    if driven_freedoms(robot) < 3:
        return FewerMotors(robot, priority)
    return (SpanningMotors if steering_motors(robot).spanned else UsualMotors)(robot)
