# SPDX-License-Identifier: Apache-2.0
"""What the contact plant refuses, by name."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from plant_cases import BRISK, REFUSED

mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')

from contact_bench import C3P, plant  # noqa: E402

from c3p_description.model import CasterRobot, ModelError  # noqa: E402
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant, PlantError  # noqa: E402


@pytest.mark.parametrize(('call', 'text'), [
    *REFUSED,
    (lambda p: MujocoPlant('c3p', friction=0.0), 'friction'),
    (lambda p: MujocoPlant('c3p', friction=[0.8, 0.8]), 'friction'),
    (lambda p: MujocoPlant('c3p', slope=1.0), 'slope'),
    (lambda p: MujocoPlant('c3p', slope_direction=np.inf), 'slope_direction'),
    (lambda p: MujocoPlant('c3p', timestep=0.0), 'timestep'),
])
def test_wrong_input_is_refused_by_name_and_changes_nothing(call, text):
    ours = plant(start=BRISK)
    with pytest.raises(ValueError, match=text):
        call(ours)
    assert ours.time == 0.0
    np.testing.assert_allclose(ours.truth().twist, BRISK['twist'], atol=1e-15)


@pytest.mark.parametrize(('robot', 'text'), [
    (CasterRobot.regular(0.343, [0, 2, 4], 0.04, 0.04, 30.0, 3.5), 'wheel_mass'),
    (CasterRobot.regular(0.343, [0, 3], 0.04, 0.04, 30.0, 3.5), '2 casters')])
def test_robots_that_cannot_stand_in_space_are_refused(robot, text):
    with pytest.raises(ModelError, match=text):
        MujocoPlant(robot)


def test_a_robot_whose_weight_is_beside_its_wheels_is_refused():
    with pytest.raises(PlantError, match='outside of its contacts'):
        MujocoPlant(replace(C3P, platform_com=(0.5, 0.0)))


def test_a_robot_that_is_knocked_over_says_so():
    ours = plant()
    ours.push((0.0, 4000.0), 0.0, 0.2)
    with pytest.raises(PlantError, match='fallen over'):
        ours.step([0, 0, 0], 1.0)
    assert ours.reset().time == 0.0
    assert np.abs(ours.step([0, 0, 0], 0.1).wheel_rate).max() < 1e-9


def test_without_mujoco_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(PlantError, match=r'pip install .*\[sim\]'):
        MujocoPlant('c3p')


def test_a_mujoco_that_solves_wrongly_is_rejected(monkeypatch):
    monkeypatch.setattr(mujoco, '__version__', '4.0.0')
    with pytest.raises(PlantError, match=r'4\.0\.0.*sparse solver.*pip install .*\[sim\]'):
        MujocoPlant('c3p')
