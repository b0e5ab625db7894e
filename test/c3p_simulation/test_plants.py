# SPDX-License-Identifier: Apache-2.0
"""Plants by name: what each has when nothing is said, and what options and parameters change."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from source_tree import ROOT

from c3p_description.reading.loader import load
from c3p_simulation.make_plant import PLANTS, PlantOptions, make_plant, plant_of_parameters
from c3p_simulation.plants.parameter_errors import ParameterErrors
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

C3P = load('c3p')
SCHEMA = {name: entry for file in ('plant', 'simulation') for name, entry in yaml.safe_load(
    (ROOT / f'c3p_simulation/{file}_parameters.yaml').read_text())[file].items()}


def defaults(entries):
    """Return the default values of parameters, groups as namespaces."""
    return {name: entry['default_value'] if 'default_value' in entry
            else SimpleNamespace(**defaults(entry)) for name, entry in entries.items()}


def parameters(**changed):
    return SimpleNamespace(**{**defaults(SCHEMA), 'robot': 'c3p', 'robot_description': '',
                              **changed})


def test_the_analytic_plant_is_ideal_when_nothing_is_said():
    assert type(make_plant('analytic', 'c3p')) is AnalyticPlant
    assert type(plant_of_parameters(parameters(), C3P)) is AnalyticPlant


def test_the_contact_plant_has_encoders_and_latency_when_nothing_is_said():
    pytest.importorskip('mujoco', reason='pip install .[sim]')
    for plant in (make_plant('mujoco', 'c3p'),
                  plant_of_parameters(parameters(plant='mujoco'), C3P)):
        assert plant.settings == SensorSettings() == PLANTS['mujoco']
        # heights of the parameter file, also where the robot is a model
        assert plant.plant.model.body('base_link').ipos[2] == pytest.approx(0.14 - 0.04)


def test_defaults_of_the_node_are_those_of_the_library():
    plant = plant_of_parameters(parameters(sensors='encoders'), C3P)
    assert isinstance(plant, SensedPlant) and plant.settings == SensorSettings()


def test_every_parameter_reaches_the_plant():
    pytest.importorskip('mujoco', reason='pip install .[sim]')
    sensors = {'wheel_counts': 500, 'steering_counts': 1024, 'latency': 0.003, 'wheel_noise': 0.5,
               'steering_noise': 0.25, 'dropout': 0.1, 'rate_bandwidth': 30.0}
    plant = plant_of_parameters(
        parameters(plant='mujoco', friction=0.5, slope=0.1, **sensors), C3P)
    assert plant.settings == SensorSettings(**sensors)
    assert plant.plant.model.pair_friction[0, 0] == 0.5
    np.testing.assert_allclose(plant.plant.model.opt.gravity[0], 9.80665 * np.sin(0.1))


@pytest.mark.parametrize(('name', 'size', 'field'), [
    ('mass_error', 0.1, 'platform_mass'), ('com_error', 0.01, 'platform_com'),
    ('friction_error', 0.5, 'losses'), ('geometry_error', 0.01, 'wheel_radius'),
    ('geometry_error', 0.01, 'caster_offset'), ('steering_zero_error', 0.01, 'steering_zero')])
def test_errors_move_another_robot_than_the_one_described(name, size, field):
    one, same, other = (plant_of_parameters(parameters(**{name: size, 'seed': seed}), C3P)
                        for seed in (1, 1, 2))
    values = [getattr(plant.robot, field) for plant in (one, same, other)]
    assert not np.array_equal(values[0], getattr(C3P, field))
    assert np.array_equal(values[0], values[1]) and not np.array_equal(values[0], values[2])
    # encoders are ideal but for their zeros, which the described robot does not know
    wrong = one.reset(steering=0.3).steering - 0.3
    assert wrong.any() == (name == 'steering_zero_error') and np.abs(wrong).max() <= 0.01


def test_seed_is_also_that_of_the_sensors():
    noisy = PlantOptions(sensors=SensorSettings(wheel_noise=1.0), seed=4)
    plants = [make_plant('analytic', C3P, options) for options in (noisy, noisy, PlantOptions(
        sensors=noisy.sensors, seed=5))]
    one, same, other = (plant.step([0.1] * 3, 0.1).wheel_rate for plant in plants)
    assert np.array_equal(one, same) and not np.array_equal(one, other)


@pytest.mark.parametrize(('call', 'text'), [
    (lambda: make_plant('magic', 'c3p'), 'plant = magic.*analytic, mujoco'),
    (lambda: make_plant('analytic', 'c3p', PlantOptions(slope=0.1)), 'slope'),
    (lambda: make_plant('analytic', 'no_such_robot'), 'no_such_robot'),
    (lambda: PlantOptions(errors=ParameterErrors(mass=2.0)), 'mass')])
def test_what_cannot_be_is_refused_by_name(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_plants_of_schema_and_library_are_the_same():
    (choices,) = SCHEMA['plant']['validation']['one_of<>']
    assert choices == list(PLANTS)
