# SPDX-License-Identifier: Apache-2.0
"""
Interface of torque laws: measured state and setpoint in, wheel torques out.

Every law behind the velocity controller node is a `TorqueLaw`. Its setpoint is a twist, as
teleoperation and Nav2 send it, with the preview of the position controller where there is one: a
twist alone does not contain the position of the path.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from c3p_description.model import Array

# points of a preview, at most: bounds the memory of a law; c3p_ros.wire has the same limit
MOST_POINTS = 200


class Sensed(NamedTuple):
    """
    Measured state: `time`, s, of the sample, `steering` and `wheel_rate` (n,), rad and rad/s.

    `pose` (3,) is the odometry's X, Y, φ, m and rad, `twist` (3,) vx, vy, ω in ``base_link``.
    """

    time: float
    steering: Array
    wheel_rate: Array
    pose: Array
    twist: Array


class Preview(NamedTuple):
    """
    Future reference trajectory in the odometry frame.

    Attributes
    ----------
    time : (k,) array, s
        From the sample that the preview belongs to; increasing, the first is 0.
    pose, velocity : (k, 3) array
        X, Y, φ with φ continuous; Ẋ, Ẏ on the floor and ω, m/s and rad/s.
    """

    time: Array
    pose: Array
    velocity: Array


class Setpoint(NamedTuple):
    """
    Commanded twist (3,) in ``base_link``, m/s and rad/s, and optional preview.

    `preview_time`, s, is the time, as in `Sensed`, of ``preview.time = 0``.
    """

    twist: Array
    preview: Preview | None = None
    preview_time: float = 0.0


class TorqueLaw(Protocol):
    """
    Control law from measured state and setpoint to wheel torques.

    Attributes
    ----------
    limit : (robot.efforts,) array, N·m
        Largest torque of each motor; traction control lowers it between steps.
    latency : float, s
        Input delay in use; 0 of a law without one.
    """

    limit: Array

    @property
    def latency(self) -> float:
        """Input delay in use, s."""

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past; start from `sensed` (at rest when omitted)."""

    def retune(self, settings: Any) -> None:
        """Replace the gains; sizes and latency stay."""

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the wheel torques (n,) N·m, within their limits, for the next `dt` seconds."""

    def prepare(self) -> None:
        """Compute what the next step can use, after the torques of the last one were sent."""


def check_preview(preview: Preview) -> Preview:
    """
    Return `preview` as float arrays.

    Raises
    ------
    ValueError
        Shapes that do not match, too many points, times that do not increase from 0, a number
        that is not finite.
    """
    time, pose, velocity = (np.ascontiguousarray(part, float) for part in preview)
    count = len(time)
    if time.ndim != 1 or not 1 <= count <= MOST_POINTS:
        raise ValueError(f'preview has {time.shape} times: must have 1 to {MOST_POINTS}')
    for name, part in (('pose', pose), ('velocity', velocity)):
        if part.shape != (count, 3):
            raise ValueError(f'{name} of the preview has shape {part.shape}: must be '
                             f'({count}, 3), as there are {count} times')
    if not (np.isfinite(time).all() and np.isfinite(pose).all() and np.isfinite(velocity).all()):
        raise ValueError('preview: every number must be finite')
    if time[0] != 0.0 or (np.diff(time) <= 0.0).any():
        raise ValueError(f'times of the preview = {time.tolist()}: must begin with 0 and increase')
    return Preview(time, pose, velocity)
