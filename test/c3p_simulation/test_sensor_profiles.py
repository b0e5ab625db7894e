# SPDX-License-Identifier: Apache-2.0
"""Profiles of sensors by name, by YAML file and by the parameter of the node."""

from dataclasses import replace

import pytest
from robots import C3P
from test_plants import parameters

from c3p_bringup.choices import SENSORS
from c3p_simulation.make_plant import plant_of_parameters
from c3p_simulation.plants.sensor_profiles import PROFILES, settings_of_values
from c3p_simulation.plants.sensors import SensorSettings
from c3p_simulation.plants.timing import SampleTiming
from c3p_simulation.sensor_files import read_sensors


def test_the_command_line_names_every_profile():
    assert tuple(PROFILES) == SENSORS
    assert read_sensors('real') == SensorSettings.real() != SensorSettings()
    assert read_sensors('encoders') == SensorSettings() and read_sensors('ideal') == (
        SensorSettings.ideal())


def test_a_file_changes_a_profile(tmp_path):
    file = tmp_path / 'robot.yaml'
    file.write_text('like: real\nwheel_counts: 240\nrates: false\n'
                    'errors: {lost_counts: [0.0, 0.02, 0.0]}\ntiming: {batch: [2, 2]}\n')
    real = SensorSettings.real()
    assert read_sensors(f'{file}') == replace(
        real, wheel_counts=240, rates=False,
        errors=replace(real.errors, lost_counts=(0.0, 0.02, 0.0)),
        timing=replace(real.timing, batch=(2, 2)))
    # by the node as well
    plant = plant_of_parameters(parameters(sensors=f'{file}'), C3P)
    assert plant.settings == read_sensors(f'{file}')


def test_what_is_left_out_is_the_default():
    assert settings_of_values({}) == SensorSettings()
    assert settings_of_values({'timing': {'rate_lag': 0.07}}) == SensorSettings(
        timing=SampleTiming(rate_lag=0.07))


@pytest.mark.parametrize(('text', 'words'), [
    ('wheel_cuonts: 3', 'wheel_cuonts: unknown'), ('timing: {jitter: 1}', 'timing.jitter'),
    ('timing: 3', 'timing = 3: must be a mapping'), ('like: best', 'sensors = best'),
    ('latency: fast', 'latency = fast: must be a number'), ('rates: 1', 'rates = 1: must be true'),
    ('latency: true', 'latency = True: must be a number'), ('dropout: 2', 'dropout = 2'),
    ('timing: {batch: [3, 1]}', 'timing.batch'), ('errors: {creep: [1]}', 'errors.creep'),
    ('timing: {batch: 3}', 'timing.batch'), ('errors: {lost_counts: [a]}', 'errors.lost_counts'),
    ('just text', 'must contain settings'), ('a: [', 'not YAML'), ('', 'must contain settings')])
def test_wrong_files_are_refused_by_the_name_of_the_setting(tmp_path, text, words):
    file = tmp_path / 'wrong.yaml'
    file.write_text(text)
    with pytest.raises(ValueError, match=words) as found:
        read_sensors(f'{file}')
    assert 'wrong.yaml' in f'{found.value}'


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r'absent\.yaml: no such file'):
        read_sensors(f'{tmp_path}/absent.yaml')


def test_parameters_of_encoders_are_those_of_that_profile_alone():
    assert plant_of_parameters(parameters(sensors='real'), C3P).settings == SensorSettings.real()
