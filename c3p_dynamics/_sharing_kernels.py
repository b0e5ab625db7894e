# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled allocation of a force to the motors of wheels and steering axes.

A robot has three freedoms and any number of motors; close to singular poses fewer than three
freedoms are controllable at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.small import solve3


class MotorSet(NamedTuple):
    """
    Motors of n casters.

    Attributes
    ----------
    driven, steered : (n,) bool arrays
        Wheels, and steering axes, with a motor.
    weight : (n,) array
        w of the steering axes; where `steered` is False the motor is virtual, and its torque is
        dropped.
    """

    driven: np.ndarray
    steered: np.ndarray
    weight: np.ndarray


@kernel
def share_damped(wheel, steer, motors, force, torque):
    """
    Allocate F to wheel and steering motors, ``min Σ τ_x² + τ_s²/w``; add it to `torque`.

    `torque` is (n,), or (2n,) with those of the steering axes.

    Returns False, and leaves `torque`, if all motors together do not span the three freedoms (one
    wheel driven of two, a weight close to rounding).
    """
    driven = motors.driven
    steered = motors.steered
    weight = motors.weight
    normal = np.zeros((3, 3))
    z = np.empty(3)
    n = len(wheel)
    for i in range(n):
        for j in range(3):
            for k in range(3):
                normal[j, k] += weight[i] * steer[i, j] * steer[i, k]
                if driven[i]:
                    normal[j, k] += wheel[i, j] * wheel[i, k]
    if not solve3(normal, force, z) > 0.0:
        return False
    for i in range(n):
        if driven[i]:
            torque[i] += wheel[i, 0] * z[0] + wheel[i, 1] * z[1] + wheel[i, 2] * z[2]
        if steered[i]:
            torque[n + i] += weight[i] * (steer[i, 0] * z[0] + steer[i, 1] * z[1]
                                          + steer[i, 2] * z[2])
    return True


@kernel
def share_least_norm(wheel, steer, motors, force, tolerance, torque):
    """Allocate as `share_damped`, by singular values; unreachable parts are dropped."""
    driven = motors.driven
    steered = motors.steered
    weight = motors.weight
    n = len(wheel)
    # not by normal equations, which square the condition
    stack = np.zeros((2 * n, 3))
    for i in range(n):
        for j in range(3):
            stack[n + i, j] = math.sqrt(weight[i]) * steer[i, j]
            if driven[i]:
                stack[i, j] = wheel[i, j]
    left, value, right = np.linalg.svd(stack, False)
    for k in range(3):
        if value[k] > tolerance * value[0]:
            part = (right[k, 0] * force[0] + right[k, 1] * force[1] + right[k, 2] * force[2])
            for i in range(n):
                if driven[i]:
                    torque[i] += left[i, k] * part / value[k]
                if steered[i]:
                    torque[n + i] += math.sqrt(weight[i]) * left[n + i, k] * part / value[k]
