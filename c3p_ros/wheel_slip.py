# SPDX-License-Identifier: Apache-2.0
"""
Message of the wheel slip, ``sensed_kinematics/wheel_slip``: numbers in a JointState.

One joint for each wheel: ``position`` is the slip velocity along the wheel and ``velocity`` that
across it [m/s], ``effort`` the probability that this wheel slips: 0 for all wheels while all roll,
NaN for all where the slip cannot be isolated to one wheel.

Bags of earlier versions carry a DiagnosticArray with one status for each wheel; both are read
here, as rclpy or rosbags returns them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_ros.cdr import MessageError

TOPIC = 'sensed_kinematics/wheel_slip'
KIND = 'sensor_msgs/msg/JointState'


class WheelSlip(NamedTuple):
    """
    Slip of some wheels.

    Attributes
    ----------
    residual : (n, 2) array, m/s
        Slip velocity of each contact, along and across its wheel.
    probability : (n,) array
        Probability that this wheel slips, NaN where the slip cannot be isolated.
    suspect : int
        Index of the wheel that slips, from 0; −1 for none, or if it cannot be isolated.
    """

    residual: Array
    probability: Array
    suspect: int


def suspects(probability: ArrayLike) -> Array:
    """
    Return a mask of the suspected wheels, at most one of each row.

    Parameters
    ----------
    probability : (..., n) array_like
        As in the message.

    Examples
    --------
    >>> nan = float('nan')
    >>> suspects([[0, 0, 0], [0.1, 0.8, 0.1], [nan, nan, nan]]).any(axis=1).tolist()
    [False, True, False]
    """
    known = np.nan_to_num(np.asarray(probability, float), nan=0.0)
    most = np.argmax(known, axis=-1)[..., None]
    return (np.arange(known.shape[-1]) == most) & (known > 0.0)


def read_slip(message: Any, joints: Sequence[str]) -> WheelSlip:
    """
    Return the slip of `joints` from a message of either type.

    Parameters
    ----------
    message : JointState, JointStateMessage or DiagnosticArray
    joints : sequence of str
        Wheel joints.

    Raises
    ------
    MessageError
        A wheel is missing, or a speed is not finite.
    """
    wheels = _statuses(message) if hasattr(message, 'status') else _joints(message)
    for joint in joints:
        if joint not in wheels:
            raise MessageError(f'wheel {joint} is missing; the message has {sorted(wheels)[:12]}')
        for key, speed in zip(('along', 'across'), wheels[joint][:2], strict=True):
            if not math.isfinite(speed):
                raise MessageError(f'{joint}: {key} = {speed}: must be a speed in m/s')
    values = np.array([wheels[joint] for joint in joints], float).reshape(len(joints), 3)
    mask = suspects(values[:, 2]) if len(joints) else np.zeros(0, bool)
    return WheelSlip(values[:, :2], values[:, 2], int(np.argmax(mask)) if mask.any() else -1)


def _joints(message: Any) -> dict[str, tuple[float, ...]]:
    """Return along, across and probability by joint."""
    count = len(message.name)
    for field in ('position', 'velocity', 'effort'):
        if len(getattr(message, field)) != count:
            raise MessageError(f'{field} has {len(getattr(message, field))} values for {count} '
                               'names')
    return dict(zip(message.name, zip(message.position, message.velocity, message.effort,
                                      strict=True), strict=True))


def _statuses(message: Any) -> dict[str, tuple[float, ...]]:
    """Return the same of a DiagnosticArray of an earlier version, ``<node>: <joint>``."""
    return {status.name.rsplit(': ', 1)[-1]: status_values(
        {pair.key: pair.value for pair in status.values}) for status in message.status}


def status_values(values: dict[str, str]) -> tuple[float, float, float]:
    """Return along, across and probability of the status of a wheel; NaN for unreadable text."""
    # only the confidence of the suspect had a meaning
    confidence = _number(values.get('confidence', ''))
    probability = 0.0 if values.get('suspect', '').lower() not in ('true', '1') else (
        confidence if confidence > 0.0 else 1.0)
    return _number(values.get('along', '')), _number(values.get('across', '')), probability


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
