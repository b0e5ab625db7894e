# SPDX-License-Identifier: Apache-2.0
"""
Wiring errors that explain a recording: exchanged and reversed encoders, opposite zeros.

A recording of a robot that is wired wrongly contradicts the rolling equations in every window, by
tens of times the noise. The same recording with the error taken back does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration.batch import described_residual
from c3p_kinematics.calibration.parameters import CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording

# an error is named if without it the residuals are less than this part of those with it
EXPLAINS = 0.2

# turn of a zero that was set with the caster pointing backwards, rad
HALF_TURN = np.pi


class Wiring(NamedTuple):
    """
    Wiring error, and how to take it back.

    Attributes
    ----------
    text : str
    steering_of, wheel_of : (n,) arrays of int
        Caster whose channel has the steering and the wheel angle of each caster.
    steering_sign, wheel_sign : (n,) arrays
        Factors of the angles.
    turn : (n,) array, rad
        Added to the steering angles.
    """

    text: str
    steering_of: Array
    wheel_of: Array
    steering_sign: Array
    wheel_sign: Array
    turn: Array

    def corrected(self, recording: JointRecording) -> JointRecording:
        """Return a recording without the error."""
        steering = np.asarray(recording.steering, float)[:, self.steering_of]
        wheel = np.asarray(recording.wheel_angle, float)[:, self.wheel_of]
        return recording._replace(steering=steering * self.steering_sign + self.turn,
                                  wheel_angle=wheel * self.wheel_sign)


def wirings(count: int) -> Iterator[Wiring]:
    """
    Iterate over the wiring errors of a robot with `count` casters.

    Examples
    --------
    >>> next(wirings(2)).text
    'both encoders of casters 1 and 2 exchanged'
    """
    right = Wiring('', np.arange(count), np.arange(count), np.ones(count), np.ones(count),
                   np.zeros(count))
    for i, k in combinations(range(count), 2):
        other = np.arange(count)
        other[[i, k]] = k, i
        pair = f'of casters {i + 1} and {k + 1} exchanged'
        yield right._replace(text=f'both encoders {pair}', steering_of=other, wheel_of=other)
        yield right._replace(text=f'the wheel encoders {pair}', wheel_of=other)
        yield right._replace(text=f'the steering encoders {pair}', steering_of=other)
    for i in range(count):
        one = np.arange(count) == i
        sign = np.where(one, -1.0, 1.0)
        caster = f'of caster {i + 1}'
        yield right._replace(text=f'the wheel encoder {caster} reversed', wheel_sign=sign)
        yield right._replace(text=f'the steering encoder {caster} reversed', steering_sign=sign)
        yield right._replace(text=f'the steering zero {caster} turned by 180°',
                             turn=HALF_TURN * one)
    yield right._replace(text='all wheel encoders reversed', wheel_sign=-right.wheel_sign)
    yield right._replace(text='all steering encoders reversed', steering_sign=-right.steering_sign)


def likely_wirings(robot: CasterRobot, recordings: Sequence[JointRecording],
                   settings: CalibrationSettings) -> list[tuple[float, str]]:
    """
    Return the wiring errors that explain recordings, best first: residual and text.

    The residual is the rms with the described lengths and without the error, in units of the
    noise. Several explain the recordings of a symmetrical robot: with all steering encoders
    reversed it is its mirror image, which has two casters exchanged.
    """
    limit = EXPLAINS * _residual(robot, recordings, settings)
    found = [(_residual(robot, [wiring.corrected(r) for r in recordings], settings), wiring.text)
             for wiring in wirings(robot.count)]
    return sorted(one for one in found if one[0] < limit)


def _residual(robot: CasterRobot, recordings: Sequence[JointRecording],
              settings: CalibrationSettings) -> float:
    """Return the residual with the described lengths; infinite if no window has a motion."""
    try:
        return described_residual(robot, recordings, settings)
    except CalibrationError:
        return np.inf
