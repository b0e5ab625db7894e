# SPDX-License-Identifier: Apache-2.0
"""Planar wheel models: exact on a plane, wrong by the slope on a plateau; slip of a rigid axle."""

import json

import numpy as np
import pytest

from c3p_description.reading.loader import load_tricycle
from c3p_experiments.auchter_moore import planar_models as study
from c3p_experiments.auchter_moore.planar_models import ACKERMANN, DISCS, PlanarTrial
from c3p_experiments.loop.conditions import Conditions
from c3p_rough_ground.closed_chain import place
from c3p_rough_ground.closed_chain.vehicle import yaw_of
from c3p_rough_ground.vehicles import rigid_tricycle

TRICYCLE = load_tricycle('pvc_tricycle')
RIGID = rigid_tricycle(TRICYCLE)


def test_both_models_are_exact_on_a_plane_where_the_axle_does_not_slip():
    steered = study.drive(TRICYCLE, PlanarTrial('flat', 0, 0.2), 6.0)
    # the drive turns, and both know by how much
    assert steered.pose[-1, 2] > 0.2
    for name in (DISCS, ACKERMANN):
        # rounding of 300 steps
        np.testing.assert_allclose(steered.models[name], steered.pose, atol=1e-11)
    assert steered.axle_slip.max() < 1e-12


def test_the_path_up_a_slope_counts_as_a_path_in_the_plane():
    climb = study.drive(TRICYCLE, PlanarTrial('climb', 0, 0.0), 20.0)
    height = climb.run.position[-1, 2] - climb.run.position[0, 2]
    assert height == pytest.approx(1.0, abs=0.01)
    # length of the path in space less that in the plane
    space = np.linalg.norm(np.diff(climb.run.position, axis=0), axis=1).sum()
    for name in (DISCS, ACKERMANN):
        # curvature of the ground and the turn add a part of it
        assert climb.error(name)[-1] == pytest.approx(space - climb.way, rel=0.2)


def placed(terrain, pose):
    """Return the attitude of the rigid tricycle at x, y and heading, and its rear contacts."""
    x, y, heading = pose
    turn = heading
    for _ in range(4):
        # `place` turns about the vertical before it tilts
        state = place(RIGID, terrain, x, y, turn).require()
        turn += heading - yaw_of(state.rotation)
    points = np.array([[*contact[2:4], terrain.height(*contact[2:4])]
                       for contact in np.reshape(state.contact, (3, 5))[1:]])
    return state.rotation, points


@pytest.mark.parametrize(('ground', 'seed'), [('random', 1), ('hills', 3), ('climb', 0)])
def test_a_rigid_axle_slips_as_a_body_that_turns_about_both_contacts(ground, seed):
    found = study.drive(TRICYCLE, PlanarTrial(ground, seed, 0.0), 12.0)
    run = found.run
    largest = int(found.axle_slip[1:-1].argmax()) + 1
    for at in (largest, len(found.slip_time) // 2):
        k = int(np.argmin(np.abs(run.time - found.slip_time[at])))
        before, here, after = (placed(run.terrain, [*run.position[i, :2],
                                                    yaw_of(run.rotation[i])])
                               for i in (k - 1, k, k + 1))
        spin = (after[0] - before[0]) / (run.time[k + 1] - run.time[k - 1]) @ here[0].T
        turning = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        axle = here[0][:, 1]
        slip = abs(axle @ np.cross(turning, here[1][0] - here[1][1]))
        # along the axle here, along the ground across each wheel there; differences over 40 ms
        assert found.axle_slip[at] == pytest.approx(slip, rel=0.03, abs=2e-6)


def test_the_study_writes_its_figures(tmp_path):
    found = study.planar_models_study(tmp_path, Conditions(duration=3.0), seeds=1)
    assert found['reached'] and found['runs'] == 8
    assert all(row.value(found) is not None for row in study.ROWS)
    json.dumps(found)
    assert (tmp_path / 'planar_models.png').is_file()
