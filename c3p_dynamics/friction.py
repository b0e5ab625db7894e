# SPDX-License-Identifier: Apache-2.0
"""Compensation of the friction of wheels, pivots and tyres by the motors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics._sharing_kernels import MotorSet, share_damped, share_least_norm
from c3p_dynamics.caster_dynamics import RANK_TOLERANCE, VIRTUAL_STEERING_WEIGHT
from c3p_dynamics.traction import steering_motors
from c3p_kernels.compiled import kernel
from c3p_kinematics._planar_kernels import rows
from c3p_kinematics.casters import batched


@kernel
def _compensate(geometry, losses, motors, steering, twist, smoothing, torque_out):  # noqa: ANN001, ANN202
    """Write the torques that cancel the friction at `twist`; the first axis is the batch."""
    motors = MotorSet(motors[0], motors[1], motors[2])
    n = len(geometry)
    wheel = np.empty((n, 3))
    steer = np.empty((n, 3))
    force = np.empty(3)
    for b in range(len(steering)):
        vx = twist[b, 0]
        vy = twist[b, 1]
        w = twist[b, 2]
        rows(geometry, steering[b], wheel, steer)
        force[:] = 0.0
        for i in range(n):
            d = geometry[i, 2]
            r = geometry[i, 3]
            contact_rate = -(steer[i, 0] * vx + steer[i, 1] * vy + steer[i, 2] * w) / d
            wheel_rate = (wheel[i, 0] * vx + wheel[i, 1] * vy + wheel[i, 2] * w) / r
            steering_rate = contact_rate - w
            for j in range(3):
                wheel[i, j] /= r
                steer[i, j] /= -d
            # pivot friction acts through J_s = J_c − [0 0 1], scrub through J_c
            pivot = (losses[i, 0] * steering_rate
                     + losses[i, 1] * math.tanh(steering_rate / smoothing))
            scrub = losses[i, 4] * math.tanh(contact_rate / smoothing)
            # pivot friction is cancelled by the motor of the steering axis, if it has one
            if motors.steered[i]:
                torque_out[b, n + i] = pivot
                pivot = 0.0
            for j in range(3):
                force[j] += steer[i, j] * (pivot + scrub)
            force[2] -= pivot
            steer[i, 2] -= 1.0
            # rolling friction is cancelled by the wheel's own motor, if it has one
            roll = (losses[i, 2] * wheel_rate
                    + losses[i, 3] * math.tanh(wheel_rate / smoothing))
            torque_out[b, i] = roll if motors.driven[i] else 0.0
            if not motors.driven[i]:
                for j in range(3):
                    force[j] += wheel[i, j] * roll
        # too few motors for three freedoms: the reachable part, as in the inverse dynamics
        if not share_damped(wheel, steer, motors, force, torque_out[b]):
            share_least_norm(wheel, steer, motors, force, RANK_TOLERANCE, torque_out[b])


def friction_compensation(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                          virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT,
                          smoothing: float = 0.19) -> Array:
    """
    Return the torques that cancel ``robot.friction`` when the robot moves with `twist`.

    Friction at a joint with a motor is cancelled by that; the forces of the friction of passive
    pivots and of scrub, ``J_sᵀ τ_pivot + J_cᵀ τ_scrub``, and of the rolling of wheels without a
    motor are allocated to the motors as a force in ``caster_dynamics.inverse_dynamics``.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    twist : (…, 3) array_like
        ν, ``base_link``; the reference rather than a noisy measurement.
    virtual_steering_weight : float, > 0
        w_s of the allocation.
    smoothing : float, rad/s
        Rate over which dry friction changes its sign; wider than the model's to avoid chatter.

    Returns
    -------
    (…, robot.efforts) array, N·m
        Zero where no motor is.

    Raises
    ------
    ValueError
        A vector of the wrong size, a number that is not finite, or a weight or smoothing that is
        not greater than zero.
    """
    for name, value in (('virtual_steering_weight', virtual_steering_weight),
                        ('smoothing', smoothing)):
        if not 0 < value < np.inf:
            raise ValueError(f'{name} = {value}: must be finite and greater than zero')
    n = robot.count
    batch, (angles, nu) = batched(n, steering=(steering, n), twist=(twist, 3))
    torque = np.zeros((len(angles), robot.efforts))
    motors = steering_motors(robot)
    weights = np.where(robot.steered, motors.weight,
                       0.0 if motors.spanned else float(virtual_steering_weight))
    _compensate(robot.geometry, robot.losses, (robot.driven, robot.steered, weights), angles, nu,
                float(smoothing), torque)
    return torque.reshape(*batch, robot.efforts)
