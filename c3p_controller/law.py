# SPDX-License-Identifier: Apache-2.0
"""
What a law that makes wheel torques is given: the sensed state, and what is asked for.

Every law behind the velocity controller node is a `TorqueLaw`. It is given the twist that is
asked for, which is all that teleoperation or Nav2 send, and, when the position controller sends
it, the reference ahead: a twist alone does not tell where the line is.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from c3p_description.model import Array

# a reference ahead has at most this many points, so that a law's memory is bounded
MOST_POINTS = 200


class Sensed(NamedTuple):
    """
    What the loop knows of the robot in one cycle.

    Attributes
    ----------
    time : float, s
        Of the sample, from any start.
    steering, wheel_rate : (n,) array, rad and rad/s
    pose : (3,) array
        Odometry: X, Y, φ; m and rad.
    twist : (3,) array
        Sensed vx, vy, ω in ``base_link``, m/s and rad/s.
    """

    time: float
    steering: Array
    wheel_rate: Array
    pose: Array
    twist: Array


class Ahead(NamedTuple):
    """
    The reference ahead, in the frame of the odometry.

    Attributes
    ----------
    time : (k,) array, s
        From the sample that the reference answers; increasing, the first is 0.
    pose : (k, 3) array
        X, Y, φ; φ is continuous.
    velocity : (k, 3) array
        Ẋ, Ẏ on the floor and ω, m/s and rad/s.
    """

    time: Array
    pose: Array
    velocity: Array


class Asked(NamedTuple):
    """
    What the robot is asked to do.

    Attributes
    ----------
    twist : (3,) array
        In ``base_link``, m/s and rad/s.
    ahead : Ahead or None
        None for a bare twist.
    ahead_time : float, s
        Time, as in `Sensed`, that ``ahead.time = 0`` belongs to.
    """

    twist: Array
    ahead: Ahead | None = None
    ahead_time: float = 0.0


class TorqueLaw(Protocol):
    """
    From the sensed state and what is asked for to wheel torques.

    Attributes
    ----------
    limit : (n,) array, N·m
        Largest torque of each wheel; traction control lowers it between steps.
    """

    limit: Array

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; the robot is where `sensed` says (at rest when left out)."""

    def step(self, sensed: Sensed, asked: Asked, dt: float) -> Array:
        """Return the wheel torques (n,) N·m, inside their limits, for the next `dt` seconds."""


def check_ahead(ahead: Ahead) -> Ahead:
    """
    Return `ahead` as float arrays.

    Raises
    ------
    ValueError
        Shapes that do not belong together, too many points, times that do not increase from 0, a
        number that is not finite.
    """
    time, pose, velocity = (np.ascontiguousarray(part, float) for part in ahead)
    count = len(time)
    if time.ndim != 1 or not 1 <= count <= MOST_POINTS:
        raise ValueError(f'reference ahead has {time.shape} times: must have 1 to {MOST_POINTS}')
    for name, part in (('pose', pose), ('velocity', velocity)):
        if part.shape != (count, 3):
            raise ValueError(f'{name} of the reference ahead has shape {part.shape}: must be '
                             f'({count}, 3), as there are {count} times')
    if not (np.isfinite(time).all() and np.isfinite(pose).all() and np.isfinite(velocity).all()):
        raise ValueError('reference ahead: every number must be finite')
    if time[0] != 0.0 or (np.diff(time) <= 0.0).any():
        raise ValueError(f'times of the reference ahead = {time.tolist()}: must begin with 0 and '
                         'increase')
    return Ahead(time, pose, velocity)
