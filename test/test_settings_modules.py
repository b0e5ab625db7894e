# SPDX-License-Identifier: Apache-2.0
"""The settings that are generated from the parameter schemas are those of the schemas."""

import sys
from dataclasses import fields

import pytest
from setting_cases import GENERATED
from source_tree import ROOT

from c3p_description.settings import CheckedSettings, entries_of
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT
from c3p_ros.schema import read_schema

sys.path.insert(0, str(ROOT / 'scripts'))

from write_settings import modules  # noqa: E402


def test_every_module_is_what_the_generator_writes():
    old = [path.name for path, text in modules().items()
           if path.read_text(encoding='utf-8') != text]
    assert not old, f'{old}: run python scripts/write_settings.py'


@pytest.mark.parametrize('kind, schema', GENERATED)
def test_a_field_has_the_type_default_and_bounds_of_its_parameter(kind, schema):
    made = entries_of(kind, 'group')
    assert [item.name for item in fields(kind)] == [*kind.parameters()]
    for name, parameter in kind.parameters().items():
        entry = schema[parameter]
        for key in ('type', 'default_value'):
            assert made[f'group.{name}'][key] == entry[key], (name, key)
        assert made[f'group.{name}'].get('validation', {}) == entry.get('validation', {}), name


def test_settings_are_made_from_parameters():
    for kind in (parameter.values[0] for parameter in GENERATED):
        assert issubclass(kind, CheckedSettings)
        assert kind.given({}) == kind()


def test_the_virtual_steering_weight_is_the_same_wherever_a_force_is_shared():
    for schema in ('c3p_controller/velocity_controller', 'c3p_dynamics/inverse_dynamics'):
        entry = read_schema(ROOT / f'{schema}_parameters.yaml')['virtual_steering_weight']
        assert entry['default_value'] == VIRTUAL_STEERING_WEIGHT
