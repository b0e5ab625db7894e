# SPDX-License-Identifier: Apache-2.0
"""
Geometry, masses, friction and delay of a robot whose wiring was found, from the same drives.

Only what explains the drives is kept: a calibration whose residuals are within a few times their
noise, and an identification that predicts better than the description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.robot_files import base_of
from c3p_description.reading.written import replace_text, write_robot
from c3p_dynamics.identification.identify import identify
from c3p_dynamics.identification.recording import IdentificationError, Recording
from c3p_dynamics.identification.result import Identification
from c3p_experiments.calibration.report import metrics_of as calibration_metrics
from c3p_experiments.identification.report import identified_fields, identified_sections
from c3p_experiments.identification.report import metrics_of as identification_metrics
from c3p_kinematics.calibration.batch import Calibration
from c3p_kinematics.calibration.held_out import (
    GROUPS,
    WORDS,
    HeldOutCalibration,
    held_out_calibration,
    split,
)
from c3p_kinematics.calibration.kept import kept_name, kept_text
from c3p_kinematics.calibration.parameters import (
    DOUBTFUL,
    FIELDS,
    CalibrationSettings,
    Prior,
)
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording
from c3p_kinematics.calibration.words import file_text
from c3p_kinematics.commissioning.assignment import Assignment, WiringRecord
from c3p_simulation.plants.wired_plant import efforts_of

# standard deviations of the description of a robot that was just built: errors uniform within
# radius ± 2 %, offset ± 3.5 % and zero ± 2°, and hips as drilled
BUILT = Prior(radius=0.012, offset=0.02, hip=0.0017, zero=math.radians(1.2))

# standard deviation of the ages of the joints within a sample, s
SKEW = 3e-3

# rms of the errors of prediction by that with the described masses and friction, at most
BETTER = 0.9

# part of the drive by which lengths and zeros are found; they must predict the rest
FOUND_BY = 0.6

# parts of the robot that a slow drive can show; masses need accelerations
SHOWN = ('platform_mass', 'platform_inertia', 'rolling_coulomb', 'rolling_viscous',
         'pivot_coulomb', 'scrub_coulomb', 'smoothing', 'delay')


class MeasuredRobot(NamedTuple):
    """
    Calibration and identification of a robot from its drives.

    Attributes
    ----------
    described : CasterRobot
    calibration : Calibration or None
        Of lengths and zeros; None where no lengths explain the drives.
    identification : Identification or None
        Of masses, friction and delay; None where none is seen, or predicts better.
    notes : list of str
        What was not found, with the reason.
    """

    described: CasterRobot
    calibration: Calibration | None
    identification: Identification | None
    notes: list[str]

    @property
    def robot(self) -> CasterRobot:
        """The description with all that was found."""
        if self.identification is not None:
            return self.identification.robot
        return self.described if self.calibration is None else self.calibration.robot

    @property
    def written(self) -> bool:
        """True if there is something to write."""
        return self.calibration is not None or self.identification is not None


def joints_of(record: WiringRecord, wiring: Assignment) -> JointRecording:
    """Return the joints of a record, by a wiring."""
    angles = wiring.angles(record.measured)
    n = angles.shape[1] // 2
    return JointRecording(record.time, angles[:, :n], angles[:, n:])


def measured_robot(robot: CasterRobot, wiring: Assignment, records: Sequence[WiringRecord],
                   resolution: tuple[float, float] = (2.0 * math.pi / 2000, 2.0 * math.pi / 4096),
                   masses: bool = True) -> MeasuredRobot:
    """
    Calibrate and identify a robot from the records of a commissioning.

    Parameters
    ----------
    robot : CasterRobot
        As described.
    wiring : Assignment
        As the corrected parameters express it: the rest of its gears and zeros is found here.
    records : sequence of WiringRecord
        Small motions and the drive, which is the last.
    resolution : (float, float), rad
        Encoder steps of wheels and steering axes.
    masses : bool
        Identify masses, friction and delay as well.

    Returns
    -------
    MeasuredRobot
    """
    notes: list[str] = []
    calibration = None
    recordings = [joints_of(record, wiring) for record in records]
    first, held = split(recordings[-1], FOUND_BY)
    # ages of joints are not always distinguished from lengths
    for skew in (SKEW, 0.0):
        settings = CalibrationSettings(BUILT, *resolution, skew=skew)
        try:
            found = held_out_calibration(robot, [*recordings[:-1], first], held, settings)
        except CalibrationError as error:
            reason = f'{error}'
            continue
        calibration = found.calibration
        notes += _as_described(found)
        break
    else:
        notes.append(f'lengths and zeros: {reason}')
    if calibration is not None and calibration.rms_after > DOUBTFUL:
        notes.append(f'lengths and zeros: residuals are {calibration.rms_after:.1f} times their '
                     f'noise, {DOUBTFUL:g} at most: wheels slip, or the description lacks '
                     'something; look at tyres and floor, then run it again')
        calibration = None
    identification = None
    if masses and calibration is not None:
        identification = _identified(calibration.robot, records[-1], wiring, notes)
    return MeasuredRobot(robot, calibration, identification, notes)


def _as_described(found: HeldOutCalibration) -> list[str]:
    """Return a note on parameters that do not predict the rest of the drive."""
    left = [WORDS[group] for group in GROUPS if group not in found.kept]
    if not left:
        return []
    return [f'{", ".join(left)}: found by the first part of the drive they predict the rest no '
            'better, and stay as described']


def _identified(robot: CasterRobot, record: WiringRecord, wiring: Assignment,
                notes: list[str]) -> Identification | None:
    """Return masses, friction and delay, None where the drive shows none."""
    joints = joints_of(record, wiring)
    recording = Recording(joints.time, np.unwrap(joints.steering, axis=0), joints.wheel_angle,
                          joints.time, efforts_of(robot, wiring, record.ordered))
    try:
        found = identify(robot, recording, SHOWN)
    except (IdentificationError, np.linalg.LinAlgError) as error:
        notes.append(f'masses and friction: {error}')
        return None
    after, before = (float(np.sqrt(np.mean(e**2))) for e in (found.errors,
                                                             found.described_errors))
    if after > BETTER * before:
        notes.append(f'masses and friction: they predict no better than the description (errors '
                     f'{1e3 * after:.2g} of {1e3 * before:.2g} mm), and stay as described')
        return None
    return found


def write_measured(found: MeasuredRobot, name: str, file: Path) -> list[Path]:
    """
    Write the robot file of what was found, and its covariance beside it; return the paths.

    Parameters
    ----------
    found : MeasuredRobot
    name : str
        Name or path of the description that is extended.
    file : Path
        Ends with ``.yaml``.

    Raises
    ------
    ModelError
        The file would not be read as the robot; nothing is written.
    """
    calibration = found.calibration
    if calibration is None:
        raise ModelError(f'{file}: nothing was found that explains the drives')
    (key, base), = base_of(name, file).items()
    text = file_text(found.described, calibration.parameters, calibration.covariance,
                     f'{key}: {base}', 'by c3p commission')
    fields = list(FIELDS)
    if found.identification is not None:
        text += '\n'.join(['', *identified_sections(found.identification), ''])
        fields += identified_fields(found.identification)
    text += ''.join(f'# not found: {note}\n' for note in found.notes)
    write_robot(file, text, found.robot, fields)
    kept = file.with_name(kept_name(file.name))
    replace_text(kept, kept_text(file.name, calibration.parameters, calibration.covariance))
    return [file, kept]


def measured_lines(found: MeasuredRobot) -> list[str]:
    """Return what was found, in words, with 95 % intervals."""
    lines = []
    if found.calibration is not None:
        words = calibration_metrics(found.calibration, 0)['text']
        lines += [f'{name}: {text}' for name, text in words.items()]
        residual = found.calibration
        lines.append(f'residuals {residual.rms_before:.2f} → {residual.rms_after:.2f} of their '
                     f'noise, over {residual.path:.1f} m')
    if found.identification is not None:
        lines += [f'{e.name}: {e.value:.4g}, {e.low:.4g} to {e.high:.4g} {e.unit} '
                  f'(described {e.described:.4g})' for e in found.identification.estimates]
    return lines


def measured_metrics(found: MeasuredRobot) -> dict[str, Any]:
    """Return what was found for JSON, SI units; None where nothing explains the drives."""
    calibration, identification = found.calibration, found.identification
    return {'calibration': None if calibration is None else calibration_metrics(calibration, 0),
            'identification': None if identification is None
            else identification_metrics(identification), 'not_found': found.notes}
