# SPDX-License-Identifier: Apache-2.0
"""
Velocity control of the papers' cascade: what acceleration to ask for, and the fused wheel torques.

    ask     ν̇ = ν̇_r + K_v (ν_r − ν) + K_i ∫(ν_r − ν) dt          (paper I, Fig. 5: p̈_r + ë)
    fuse    τ = (1 − c)^λ1 τ_D + c^λ2 τ_K + τ_F                   (paper I, eq. (13))
    τ_K = K_w (J_x ν_r − θ̇_x),   τ_F = friction compensation at ν_r

Between the two the inverse dynamics turns the acceleration into τ_D. Everything is in
``base_link``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from c3p_controller.fusion import OUR_READING, FusionOptions, fuse, singularity_indicator
from c3p_controller.reference import ReferenceLimits, ReferenceShaper
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import inverse


@dataclass(frozen=True)
class VelocityGains:
    """
    Gains of the velocity controller.

    Attributes
    ----------
    linear_gain, yaw_gain : float, 1/s
        K_v of (vx, vy) and of ω. The yaw loop is slack on purpose: casters that stand across the
        travel turn only when the platform may yaw.
    turn_gain : float, 1/s
    turn_integral_gain : float, 1/s²
    turn_speed : float, m/s
        What is added to K_v and K_i of ω when the robot turns on the spot; it fades out until the
        reference travels with `turn_speed`.
    integral_gain : float, 1/s²
        K_i of (vx, vy).
    integral_limit : float, m and rad
        Limit of the integral of the velocity error, each axis.
    wheel_gain : float, N·m·s/rad
        K_w of the wheel-axis loop.
    lambda_1, lambda_2 : float, ≥ 0
        Fusion exponents.
    friction_compensation : float, 0 to 1.5
        Part of the modelled friction that is fed forward.
    friction_smoothing : float, rad/s
        Rate over which the fed-forward dry friction changes its sign; wider than the model's, so
        that it never chatters.
    escape_jerk : float, m/s³
        Growth of an acceleration along X that is asked when the robot has stood for longer than
        ESCAPE_AFTER although it is asked to move: where the rolling lines meet in one point no
        torque turns the platform, and nothing but a push moves the casters. 0 is off.
    standstill_speed, standstill_yaw_rate : float, m/s and rad/s
        Below these, and with no motion asked for, the torques are zero.
    """

    linear_gain: float = 40.0
    yaw_gain: float = 0.15
    turn_gain: float = 0.75
    turn_integral_gain: float = 7.0
    turn_speed: float = 0.04
    integral_gain: float = 10.0
    integral_limit: float = 0.2
    wheel_gain: float = 0.01
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    friction_compensation: float = 0.65
    friction_smoothing: float = 0.19
    escape_jerk: float = 2.0
    standstill_speed: float = 0.005
    standstill_yaw_rate: float = 0.01

    def __post_init__(self) -> None:
        """Refuse exponents that make a weight infinite."""
        for name in ('lambda_1', 'lambda_2'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: must be 0 or more')


# a twist below this is standing still, m/s and rad/s
STANDING = np.array([0.01, 0.01, 0.02])

# a robot that stands although it is asked to move is stuck after this time, s
ESCAPE_AFTER = 1.0


def limit_torque(torque: Array, limit: Array) -> Array:
    """
    Return the torques inside their limits, all scaled by one factor.

    One factor keeps the direction of the wrench; clipping each wheel by itself would turn it. A
    wheel with the limit 0 gets none and does not count.

    Examples
    --------
    >>> limit_torque(np.array([2.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0]))
    array([1. , 0.5, 0. ])
    """
    over = (np.abs(torque) > limit) & (limit > 0.0)
    factor = float(np.min(limit[over] / np.abs(torque[over]))) if over.any() else 1.0
    # rounding of the factor must not pass a limit
    return np.clip(factor * torque, -limit, limit)


def braking_torque(robot: CasterRobot, wheel_rate: Array, damping: float, standstill_speed: float
                   ) -> Array:
    """
    Return torques (n,) N·m of ``-damping θ̇_x`` against the wheels' rates, within the limits.

    At rest they are exactly zero, so that drives that wait for a zero command follow again.

    Parameters
    ----------
    robot : CasterRobot
    wheel_rate : (n,) array, rad/s
    damping : float, N·m·s/rad
    standstill_speed : float, m/s
        Rim speed below which a wheel rests.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, [0.5, 2.6, 4.7], 0.04, 0.04, 30.0, 3.51)
    >>> braking_torque(robot, np.array([2.0, -2.0, 0.1]), 0.1, 0.005)
    array([-0.2,  0.2,  0. ])
    """
    moves = robot.driven & (np.abs(wheel_rate) * robot.wheel_radius >= standstill_speed)
    return limit_torque(np.where(moves, -damping * wheel_rate, 0.0), torque_bounds(robot))


class VelocityController:
    """
    Tracks a commanded twist; the memory is the shaped reference and the integral.

    Parameters
    ----------
    robot : CasterRobot
    gains : VelocityGains
    limits : ReferenceLimits
    virtual_steering_weight : float
        w_s with which the friction compensation is shared over the wheels; as in the inverse
        dynamics.
    options : FusionOptions
        How to read eq. (13).

    Attributes
    ----------
    limit : (n,) array, N·m
        Largest torque of each wheel; may be lowered between steps.
    """

    def __init__(self, robot: CasterRobot, gains: VelocityGains, limits: ReferenceLimits,
                 virtual_steering_weight: float, options: FusionOptions = OUR_READING) -> None:
        """Start from rest."""
        self.robot = robot
        self.gains = gains
        self.virtual_steering_weight = virtual_steering_weight
        self.options = options
        self._bound = torque_bounds(robot)
        self.limit = self._bound.copy()
        self.shaper = ReferenceShaper(limits)
        self.reset()

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r."""
        return self.shaper.twist

    def reset(self, twist: Array | None = None) -> None:
        """Forget the past; the reference starts from `twist` (rest when left out)."""
        self.shaper.reset(twist)
        self._integral = np.zeros(3)
        self._asked, self._saturated, self._stuck = False, False, 0.0
        self._indicator = math.pi / 2

    def ask(self, command: Array, sensed: Array, dt: float) -> Array:
        """
        Return the acceleration to ask of the inverse dynamics, ν̇ of components.

        Parameters
        ----------
        command, sensed : (3,) array
            Twist asked for and twist sensed.
        dt : float, s
            Since the last call; greater than zero.
        """
        gains = self.gains
        reference, accel = self.shaper.step(command, float(sensed[2]), dt)
        self._asked = bool(reference.any()) or not self._still(sensed)
        if not self._asked:
            self._integral[:] = 0.0
            return np.zeros(3)
        # the loops of (vx, vy) and ω; the latter stiffens as the robot turns on the spot
        spot = max(0.0, 1.0 - math.hypot(reference[0], reference[1]) / gains.turn_speed)
        proportional = np.array([gains.linear_gain, gains.linear_gain,
                                 gains.yaw_gain + spot * gains.turn_gain])
        integral = np.array([gains.integral_gain, gains.integral_gain,
                             spot * gains.turn_integral_gain])
        error = reference - sensed
        if not self._saturated:
            limit = gains.integral_limit
            self._integral = np.clip(self._integral + error * dt, -limit, limit)
        if spot == 0.0:
            self._integral[2] = 0.0
        accel = accel + proportional * error + integral * self._integral
        accel[0] += self._escape(sensed, dt)
        return accel

    def fuse(self, steering: Array, wheel_rate: Array, sensed: Array, dynamics: Array) -> Array:
        """
        Return the wheel torques, limited, (n,) N·m; zero where one of them is no number.

        Parameters
        ----------
        steering, wheel_rate : (n,) array, rad and rad/s
        sensed : (3,) array
        dynamics : (n,) array, N·m
            τ_D for the acceleration that `ask` returned.
        """
        robot, gains, reference = self.robot, self.gains, self.reference
        if not self._asked:
            return np.zeros(robot.count)
        wheel_reference, _, _ = inverse(robot, steering, reference)
        kinematics = gains.wheel_gain * (wheel_reference - wheel_rate)
        self._indicator = singularity_indicator(sensed, reference, self.options, self._indicator)
        torque = fuse(dynamics, kinematics, self._indicator, gains.lambda_1, gains.lambda_2,
                      self.options)
        if gains.friction_compensation > 0.0:
            torque = torque + gains.friction_compensation * friction_compensation(
                robot, steering, reference, self.virtual_steering_weight, gains.friction_smoothing)
        torque = np.where(robot.driven, torque, 0.0)
        if not np.isfinite(torque).all():
            # some readings of eq. (13) have weights that are no numbers; motors get none of that
            self._saturated = True
            return np.zeros(robot.count)
        self._saturated = bool((abs(torque) > self.limit).any())
        # a wheel that slips does not turn the others down
        return np.clip(limit_torque(torque, self._bound), -self.limit, self.limit)

    def _escape(self, sensed: Array, dt: float) -> float:
        """Return the push that leaves a singularity which keeps its own symmetry, m/s²."""
        stuck = (abs(self.reference) > STANDING).any() and (abs(sensed) < STANDING).all()
        self._stuck = min(max(0.0, self._stuck + (dt if stuck else -dt)), 2.0 * ESCAPE_AFTER)
        return self.gains.escape_jerk * max(0.0, self._stuck - ESCAPE_AFTER)

    def _still(self, sensed: Array) -> bool:
        gains = self.gains
        return (math.hypot(sensed[0], sensed[1]) < gains.standstill_speed
                and abs(float(sensed[2])) < gains.standstill_yaw_rate)
