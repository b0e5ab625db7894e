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
    integral_gain : float, 1/s²
        K_i of (vx, vy).
    integral_limit : float, m
        Limit of the integral of the velocity error, each axis.
    wheel_gain : float, N·m·s/rad
        K_w of the wheel-axis loop.
    lambda_1, lambda_2 : float
        Fusion exponents.
    friction_compensation : float, 0 to 1
        Part of the modelled friction that is fed forward.
    friction_smoothing : float, rad/s
        Rate over which the fed-forward dry friction changes its sign; wider than the model's, so
        that it never chatters.
    standstill_speed, standstill_yaw_rate : float, m/s and rad/s
        Below these, and with no motion asked for, the torques are zero.
    """

    linear_gain: float = 20.0
    yaw_gain: float = 0.15
    integral_gain: float = 5.0
    integral_limit: float = 0.2
    wheel_gain: float = 0.012
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    friction_compensation: float = 0.55
    friction_smoothing: float = 0.13
    standstill_speed: float = 0.005
    standstill_yaw_rate: float = 0.01


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
        self._integral = np.zeros(2)
        self._asked = False

    @property
    def reference(self) -> Array:
        """The shaped reference ν_r."""
        return self.shaper.twist

    def reset(self, twist: Array | None = None) -> None:
        """Forget the past; the reference starts from `twist` (rest when left out)."""
        self.shaper.reset(twist)
        self._integral[:] = 0.0

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
        error = reference - sensed
        self._asked = bool(np.any(reference != 0.0)) or not self._still(sensed)
        if not self._asked:
            self._integral[:] = 0.0
            return np.zeros(3)
        self._integral = np.clip(self._integral + error[:2] * dt, -gains.integral_limit,
                                 gains.integral_limit)
        accel = accel.copy()
        accel[:2] += gains.linear_gain * error[:2] + gains.integral_gain * self._integral
        accel[2] += gains.yaw_gain * error[2]
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
        return limit_torque(np.where(robot.driven, torque, 0.0), robot.torque_limit)

    def _still(self, sensed: Array) -> bool:
        gains = self.gains
        return (float(np.hypot(sensed[0], sensed[1])) < gains.standstill_speed
                and abs(float(sensed[2])) < gains.standstill_yaw_rate)
