# SPDX-License-Identifier: Apache-2.0
"""Calibrations that a held-out part of the drive confirms, or not."""

import numpy as np
import pytest

from c3p_description.reading.loader import load_casters
from c3p_kinematics.calibration.held_out import GROUPS, held_out_calibration
from c3p_kinematics.calibration.parameters import CalibrationSettings, parameters_of
from c3p_kinematics.calibration.recording import JointRecording, UnexplainedError

C3P = load_casters('c3p')
SETTINGS = CalibrationSettings()
PRIOR = SETTINGS.prior.deviations(C3P).reshape(3, 5)


def straight(ratios, steering=0.0):
    """Return 60 s along +Y at 0.2 m/s, with wheels that are larger by these ratios."""
    time = np.linspace(0.0, 60.0, 1201)
    wheel = time[:, None] * 5.0 / (1.0 + np.array(ratios))
    return JointRecording(time, np.full((1201, 3), steering), wheel)


def test_radii_that_predict_the_rest_are_kept_with_their_deviations():
    drive = straight([0.0, 0.005, 0.0])
    found = held_out_calibration(C3P, [drive], drive, SETTINGS)
    assert found.after < 0.1 * found.before
    assert 'radius' in found.kept
    assert np.all(found.calibration.deviation <= PRIOR * (1.0 + 1e-9))
    ratios = found.calibration.parameters[:, 0] / parameters_of(C3P)[:, 0]
    # with encoders of 2000 counts and 0.2 % creep: three deviations of some 0.03 %
    assert ratios[1] / ratios[0] == pytest.approx(1.005, abs=1e-3)


def test_what_the_rest_contradicts_is_not_found():
    found = held_out_calibration(C3P, [straight([0.0, 0.005, 0.0])], straight([0.0, 0.0, 0.0]),
                                 SETTINGS)
    assert found.calibration is None and found.kept == () and found.after == found.before


def test_a_drive_that_no_lengths_explain_is_refused():
    drive = straight([0.0, -2.0, 0.0])
    with pytest.raises(UnexplainedError, match='the lengths do not explain'):
        held_out_calibration(C3P, [drive], drive, SETTINGS)


def test_groups_are_all_columns():
    assert sorted(column for columns in GROUPS.values() for column in columns) == [0, 1, 2, 3, 4]
