# SPDX-License-Identifier: Apache-2.0
"""
Calibrations that explain their recordings, and refusal of the others with what to check.

Least squares have a minimum for any recording, also for that of a robot whose encoders are
exchanged. Its residuals are then far above their noise, or its lengths far outside the prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import Calibration, calibrate
from c3p_kinematics.calibration.parameters import FAR, NAMES, CalibrationSettings, in_units
from c3p_kinematics.calibration.recording import JointRecording, UnexplainedError
from c3p_kinematics.calibration.references import Reference
from c3p_kinematics.calibration.wiring import likely_wirings

# rms of the residuals in units of their noise above which the result is refused. Wheels that slip
# by 5 % of their path have 5 to 8, exchanged or reversed encoders 18 to 300
UNEXPLAINED = 10.0

# wiring errors that a refusal names
NAMED = 3

# factor and unit of each of `NAMES` in a text; radius and offset are relative
UNITS = (100.0, ' %'), (100.0, ' %'), (1e3, ' mm'), (1e3, ' mm'), (math.degrees(1.0), '°')


def explained_calibration(robot: CasterRobot, recordings: Sequence[JointRecording],
                          references: Sequence[Reference] = (),
                          settings: CalibrationSettings | None = None) -> Calibration:
    """
    Return the result of `batch.calibrate`, which explains the recordings.

    Parameters
    ----------
    robot, recordings, references, settings
        As for `batch.calibrate`.

    Raises
    ------
    UnexplainedError
        No estimate converges, residuals or references are above `UNEXPLAINED` times their noise,
        or a parameter is more than `FAR` standard deviations of the prior away from the
        description. The text names the numbers, and wiring errors that explain the recordings.
    CalibrationError
        As `batch.calibrate`.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> time = np.linspace(0.0, 60.0, 6001)  # +Y, but wheel 2 turns backwards
    >>> wheel = time[:, None] * 5.0 * np.array([1.0, -1.0, 1.0])
    >>> drive = JointRecording(time, np.zeros((6001, 3)), wheel)
    >>> try:
    ...     explained_calibration(robot, [drive])
    ... except UnexplainedError as error:
    ...     print('wheel encoder of caster 2 reversed' in f'{error}')
    True
    """
    settings = settings or CalibrationSettings()
    try:
        found = calibrate(robot, recordings, references, settings)
    except UnexplainedError as error:
        contradiction = f'{error}'
    else:
        contradiction = '; '.join(contradictions(found))
        if not contradiction:
            return found
    likely = likely_wirings(robot, recordings, settings)[:NAMED]
    wiring = ', or with '.join(f'{text} ({residual:.2g} times their noise)'
                               for residual, text in likely)
    check = (f'the drives are explained with {wiring}: check the wiring' if wiring else
             'check wiring, gear ratios and encoder counts, slip, and that the robot is that of '
             'the drives' + (', and the numbers of the references' if references else ''))
    raise UnexplainedError(f'the lengths do not explain these drives: {contradiction}; {check}')


def contradictions(found: Calibration) -> list[str]:
    """
    Return what shows that a calibration does not explain its drives; empty if it does.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> time = np.linspace(0.0, 60.0, 6001)  # +Y; wheel 2 is 0.5 % larger than described
    >>> wheel = time[:, None] * 5.0 * np.array([1.0, 1.0 / 1.005, 1.0])
    >>> contradictions(calibrate(robot, [JointRecording(time, np.zeros((6001, 3)), wheel)]))
    []
    """
    text = []
    if found.rms_after > UNEXPLAINED:
        text.append(f'residuals are {found.rms_after:.3g} times their noise, {UNEXPLAINED:g} '
                    'at most')
    if len(found.references) and found.references[:, 1].max() > UNEXPLAINED:
        text.append('an outside reference contradicts the joints by '
                    f'{found.references[:, 1].max():.3g} standard deviations, {UNEXPLAINED:g} at '
                    'most')
    away = np.abs(in_units(found.change, found.prior.reshape(found.change.shape)))
    caster, kind = np.unravel_index(int(np.argmax(away)), away.shape)
    if away[caster, kind] > FAR:
        # radius and offset relative to the description
        unit = (found.parameters - found.change)[caster, kind] if kind < 2 else 1.0
        factor, sign = UNITS[kind]
        change = f'{factor * found.change[caster, kind] / unit:+.3g}'.replace('-', '−')
        text.append(f'{NAMES[kind]} of caster {caster + 1} is {change}{sign} off, '
                    f'{away[caster, kind]:.3g} standard deviations of the prior, {FAR:g} at most')
    return text
