# SPDX-License-Identifier: Apache-2.0
"""The settings that are generated from the parameter schemas are those of the schemas."""

import sys
from dataclasses import fields
from importlib import import_module

import pytest
from source_tree import ROOT

from c3p_description.settings import CheckedSettings, SettingsError, entries_of
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT
from c3p_ros.schema import read_schema

sys.path.insert(0, str(ROOT / 'scripts'))

from settings_classes import CLASSES  # noqa: E402
from write_settings import modules  # noqa: E402

KINDS = [pytest.param(getattr(import_module(schema[:-5].replace('/', '.')), generated.name),
                      read_schema(ROOT / schema), id=generated.name)
         for schema, classes in CLASSES.items() for generated in classes]


def test_every_module_is_what_the_generator_writes():
    old = [path.name for path, text in modules().items()
           if path.read_text(encoding='utf-8') != text]
    assert not old, f'{old}: run python scripts/write_settings.py'


@pytest.mark.parametrize('kind, schema', KINDS)
def test_a_field_has_the_type_default_and_bounds_of_its_parameter(kind, schema):
    made = entries_of(kind, 'group')
    assert [item.name for item in fields(kind)] == [*kind.parameters()]
    for name, parameter in kind.parameters().items():
        entry = schema[parameter]
        for key in ('type', 'default_value'):
            assert made[f'group.{name}'][key] == entry[key], (name, key)
        assert made[f'group.{name}'].get('validation', {}) == entry.get('validation', {}), name


@pytest.mark.parametrize('kind, schema', KINDS)
def test_a_value_out_of_range_is_refused_as_by_a_node(kind, schema):
    for name, parameter in kind.parameters().items():
        bounds = schema[parameter].get('validation', {}).get('bounds<>')
        if bounds is None or 'array' in schema[parameter]['type']:
            continue
        beyond = bounds[1] + max(1, abs(bounds[1]))
        with pytest.raises(SettingsError) as python:
            kind(**{name: beyond})
        says = f'must be {bounds[0]} to {bounds[1]}'
        assert str(python.value).startswith(f'{name} = {beyond}: {says}')
        # by the name of the parameter, as of a node
        with pytest.raises(SettingsError) as file:
            kind.given({parameter: beyond})
        assert str(file.value).startswith(f'{parameter} = {beyond}: {says}')


def test_settings_are_made_from_parameters():
    for kind in (parameter.values[0] for parameter in KINDS):
        assert issubclass(kind, CheckedSettings)
        assert kind.given({}) == kind()


def test_the_virtual_steering_weight_is_the_same_wherever_a_force_is_shared():
    for schema in ('c3p_controller/velocity_controller', 'c3p_dynamics/inverse_dynamics'):
        entry = read_schema(ROOT / f'{schema}_parameters.yaml')['virtual_steering_weight']
        assert entry['default_value'] == VIRTUAL_STEERING_WEIGHT
