# SPDX-License-Identifier: Apache-2.0
"""
Alarm of the residuals as a whole: what the pose of the odometry may be used for.

A single caster at fault that is named with confidence is left out, and the pose stays right. Any
other contradiction of the joints leaves the pose in doubt: no goal is reached by it. One that
lasts, or that a wrong wiring explains best, makes it unknown: the robot must stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from c3p_kinematics._fault_alarm_kernels import SURE
from c3p_kinematics.contradiction import Contradiction
from c3p_kinematics.odometry_data import OdometryEstimate
from c3p_kinematics.wiring_monitor import DOUBTFUL

# key of the joints whose wheels count backwards, in the values of an alarm
BACKWARDS = 'wheels that count backwards'


class Doubt(IntEnum):
    """Doubt about the pose."""

    # it may be used
    NONE = 0
    # no goal is reached by it
    DOUBTED = 1
    # the robot stops
    UNKNOWN = 2


class ResidualAlarm(NamedTuple):
    """
    Alarm of the residuals.

    Attributes
    ----------
    doubt : Doubt
    text : str
        Reason, evidence and remedy; empty without a doubt.
    values : dict
        Hypotheses with their probabilities, and joints of wheels that count `BACKWARDS`.
    """

    doubt: Doubt
    text: str = ''
    values: dict[str, str] = {}


NO_ALARM = ResidualAlarm(Doubt.NONE)


def doubt_of(estimate: OdometryEstimate, contradiction: Contradiction) -> Doubt:
    """
    Return the doubt about the pose of an estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> from c3p_kinematics.odometry import Odometry
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> odometry, contradiction = Odometry(robot), Contradiction()
    >>> angles = np.array([0.4, 1.9, -2.0])
    >>> for k in range(12):  # two of three wheels spin
    ...     estimate = odometry.step(0.005 * k, angles, 0.05 * k * np.array([1.0, -1.0, 0.0]))
    >>> doubt_of(estimate, contradiction).name
    'DOUBTED'
    """
    if estimate.wiring.doubted or contradiction.long:
        return Doubt.UNKNOWN
    if estimate.wiring.other_side >= DOUBTFUL:
        return Doubt.DOUBTED
    faults = estimate.faults
    if not (faults.alarm or estimate.slip.slipping):
        reversed_yaw = estimate.gyro is not None and turns_otherwise(estimate)
        return Doubt.DOUBTED if reversed_yaw else Doubt.NONE
    # a caster that is left out; the alarm of the slip monitor alone is of smaller residuals
    named = faults.confidence if faults.alarm else estimate.slip.confidence
    return Doubt.NONE if named >= SURE else Doubt.DOUBTED


def turns_otherwise(estimate: OdometryEstimate) -> str:
    """
    Return why the side to which the robot turns is in doubt; empty where it is not.

    A gyro that turns to the other side than the joints is mounted upside down, or a wiring that
    reverses the yaw of the joints is not excluded yet.
    """
    gyro = estimate.gyro
    if gyro is None or not gyro.reverses or not estimate.wiring.reversing:
        return ''
    wirings = ', or '.join(estimate.wiring.reversing)
    return ('the IMU turns to the other side than the joints: it is upside down (imu.axis), or '
            f'{wirings}; turn the robot on the spot and look which of them is right')


def alarm_of(estimate: OdometryEstimate, contradiction: Contradiction, joints: Sequence[str]
             ) -> ResidualAlarm:
    """Return the alarm of an estimate in words; `joints` are the names of the wheels."""
    doubt = doubt_of(estimate, contradiction)
    if doubt is Doubt.NONE:
        return NO_ALARM
    values = {one.name: f'{one.probability:.2f}' for one in estimate.wiring.likely}
    if backwards := estimate.wiring.backwards:
        values[BACKWARDS] = ' '.join(joints[i] for i in backwards)
    text = estimate.wiring.text() or contradiction.text() or '; '.join(
        reason for reason in (estimate.wiring.side_text() or turns_otherwise(estimate),
                              estimate.faults.text(joints) or estimate.slip.text(joints))
        if reason)
    return ResidualAlarm(doubt, text, values)
