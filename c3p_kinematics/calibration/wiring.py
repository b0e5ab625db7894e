# SPDX-License-Identifier: Apache-2.0
"""
Wiring errors that explain a recording: exchanged and reversed encoders, turned zeros.

A recording of a robot that is wired wrongly contradicts the rolling equations in every window, by
tens of times the noise. The same recording with the error taken back does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import described_residual
from c3p_kinematics.calibration.parameters import CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording
from c3p_kinematics.wiring_hypotheses import EXCHANGED, MODULES, REVERSED, Wiring, wirings

# an error is named if without it the residuals are less than this part of those with it
EXPLAINS = 0.2

# turn of a zero that was set with the caster pointing backwards, rad
HALF_TURN = np.pi


def usual_wirings(count: int) -> list[Wiring]:
    """
    Return the wirings that are tried: a recording takes a second, so that they are the usual ones.

    Examples
    --------
    >>> usual_wirings(2)[0].text()
    'casters 1 and 2 exchanged'
    """
    return [wiring for wiring in wirings(count) if len(wiring.casters) <= 2 and (
        wiring.change == EXCHANGED
        or (wiring.change == REVERSED and wiring.parts != MODULES)
        or (wiring.casters and max(wiring.turn) == HALF_TURN))]


def corrected(wiring: Wiring, recording: JointRecording) -> JointRecording:
    """Return a recording as its joints have really moved with this wiring."""
    steering = wiring.of_steering(np.asarray(recording.steering, float))
    wheel = wiring.of_wheels(np.asarray(recording.wheel_angle, float))
    return recording._replace(steering=steering + wiring.turn, wheel_angle=wheel)


def likely_wirings(robot: CasterRobot, recordings: Sequence[JointRecording],
                   settings: CalibrationSettings) -> list[tuple[float, str]]:
    """
    Return the wiring errors that explain recordings, best first: residual and text.

    The residual is the rms with the described lengths and without the error, in units of the
    noise. Several explain the recordings of a symmetrical robot: with all steering encoders
    reversed it is its mirror image, which has two casters exchanged.
    """
    limit = EXPLAINS * _residual(robot, recordings, settings)
    found = [(_residual(robot, [corrected(wiring, r) for r in recordings], settings),
              wiring.text())
             for wiring in usual_wirings(robot.count)]
    return sorted(one for one in found if one[0] < limit)


def _residual(robot: CasterRobot, recordings: Sequence[JointRecording],
              settings: CalibrationSettings) -> float:
    """Return the residual with the described lengths; infinite if no window has a motion."""
    try:
        return described_residual(robot, recordings, settings)
    except CalibrationError:
        return np.inf
