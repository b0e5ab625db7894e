# SPDX-License-Identifier: Apache-2.0
"""Validation of the inputs of all plants."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot


class PlantError(ValueError):
    """MuJoCo is not installed, or the robot has fallen over."""


class FallenError(PlantError):
    """The robot has fallen over."""


def finite(name: str, value: ArrayLike, size: int) -> Array:
    """
    Return `value` as `size` finite floats.

    Raises
    ------
    ValueError
        A wrong shape, or a value that is not finite.
    """
    array = np.asarray(value, float)
    if array.shape != (size,):
        raise ValueError(f'{name} has shape {array.shape}: must be ({size},)')
    if not np.all(np.isfinite(array)):
        raise ValueError(f'{name} = {array.tolist()}: every value must be a finite number')
    return array


def per_caster(name: str, value: ArrayLike, count: int) -> Array:
    """Return one value for all or `count` values as (count,) finite floats, as `finite`."""
    return finite(name, np.full(count, value, float) if np.ndim(value) == 0 else value, count)


def clipped_torque(robot: CasterRobot, wheel_torque: ArrayLike) -> Array:
    """
    Return `wheel_torque` (robot.efforts,) within the limits of the motors, N·m.

    Clipped at ``robot.effort_limit``; 0 where no motor is.

    Raises
    ------
    ValueError
        A torque that is not finite, with the name of its joint; a wrong size.
    """
    torque = np.asarray(wheel_torque, float)
    limit = robot.effort_limit
    if torque.shape != limit.shape:
        raise ValueError(f'wheel_torque has shape {torque.shape}: must be ({robot.efforts},)')
    if not np.isfinite(torque).all():
        wheel = int(np.flatnonzero(~np.isfinite(torque))[0])
        raise ValueError(f'wheel_torque of {robot.effort_joints[wheel]} = {torque[wheel]}: '
                         'must be a finite number of N·m')
    # faster than np.clip: called in every step
    torque = np.minimum(np.maximum(torque, -limit), limit)
    return np.where(robot.actuated, torque, 0.0)


def positive(name: str, value: float, unit: str = 'seconds') -> float:
    """
    Return `value` as a float above zero, in `unit`.

    Raises
    ------
    ValueError
        It is zero, negative or not finite.
    """
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f'{name} = {value}: must be a positive number of {unit}')
    return float(value)


def at_least_zero(name: str, value: float) -> float:
    """
    Return `value` as a float, 0 or more.

    Raises
    ------
    ValueError
        It is negative or not finite.
    """
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f'{name} = {value}: must be a finite number, 0 or more')
    return float(value)


def probability(name: str, value: float) -> float:
    """
    Return `value` as a float from 0 to below 1.

    Raises
    ------
    ValueError
        It is outside.
    """
    if not 0 <= value < 1:
        raise ValueError(f'{name} = {value}: must be a probability from 0 to below 1')
    return float(value)


def pushing(force: ArrayLike, moment: float, duration: float) -> tuple[Array, float]:
    """
    Return a push as wrench (3,), N and N·m, and duration, s.

    Raises
    ------
    ValueError
        A value that is not finite, or a negative duration.
    """
    wrench = finite('force and moment', [*np.ravel(force), moment], 3)
    if not (math.isfinite(duration) and duration >= 0):
        raise ValueError(f'duration = {duration}: must be a number of seconds, 0 or more')
    return wrench, float(duration)
