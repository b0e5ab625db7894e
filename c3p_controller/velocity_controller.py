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

from c3p_controller.fusion import fuse, singularity_indicator
from c3p_controller.reference import ReferenceLimits, ReferenceShaper
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.friction import friction_compensation
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
    lambda_1, lambda_2 : float
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

    linear_gain: float = 20.0
    yaw_gain: float = 0.15
    turn_gain: float = 0.75
    turn_integral_gain: float = 5.0
    turn_speed: float = 0.04
    integral_gain: float = 4.7
    integral_limit: float = 0.2
    wheel_gain: float = 0.01
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    friction_compensation: float = 0.65
    friction_smoothing: float = 0.19
    escape_jerk: float = 2.0
    standstill_speed: float = 0.005
    standstill_yaw_rate: float = 0.01


# a twist below this is standing still, m/s and rad/s
STANDING = np.array([0.01, 0.01, 0.02])

# a robot that stands although it is asked to move is stuck after this time, s
ESCAPE_AFTER = 1.0


def limit_torque(torque: Array, limit: Array) -> Array:
    """
    Return the torques inside their limits, all scaled by one factor.

    One factor keeps the direction of the wrench; clipping each wheel by itself would turn it.

    Examples
    --------
    >>> limit_torque(np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    array([1. , 0.5, 0. ])
    """
    return torque / max(1.0, float(np.max(np.abs(torque) / limit)))


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
    """

    def __init__(self, robot: CasterRobot, gains: VelocityGains, limits: ReferenceLimits,
                 virtual_steering_weight: float) -> None:
        """Start from rest."""
        self.robot = robot
        self.gains = gains
        self.virtual_steering_weight = virtual_steering_weight
        self.shaper = ReferenceShaper(limits)
        self._integral = np.zeros(3)
        self._asked, self._saturated, self._stuck = False, False, 0.0

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r."""
        return self.shaper.twist

    def reset(self, twist: Array | None = None) -> None:
        """Forget the past; the reference starts from `twist` (rest when left out)."""
        self.shaper.reset(twist)
        self._integral[:] = 0.0
        self._asked, self._saturated, self._stuck = False, False, 0.0

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
        Return the wheel torques, limited, (n,) N·m.

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
        torque = fuse(dynamics, kinematics, singularity_indicator(sensed, reference),
                      gains.lambda_1, gains.lambda_2)
        torque = torque + gains.friction_compensation * friction_compensation(
            robot, steering, reference, self.virtual_steering_weight, gains.friction_smoothing)
        torque = np.where(robot.driven, torque, 0.0)
        self._saturated = bool((abs(torque) > robot.torque_limit).any())
        return limit_torque(torque, robot.torque_limit)

    def _escape(self, sensed: Array, dt: float) -> float:
        """Return the push that leaves a singularity which keeps its own symmetry, m/s²."""
        stuck = (abs(self.reference) > STANDING).any() and (abs(sensed) < STANDING).all()
        self._stuck = min(max(0.0, self._stuck + (dt if stuck else -dt)), 2.0 * ESCAPE_AFTER)
        return self.gains.escape_jerk * max(0.0, self._stuck - ESCAPE_AFTER)

    def _still(self, sensed: Array) -> bool:
        gains = self.gains
        return (math.hypot(sensed[0], sensed[1]) < gains.standstill_speed
                and abs(float(sensed[2])) < gains.standstill_yaw_rate)
