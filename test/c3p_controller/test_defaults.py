# SPDX-License-Identifier: Apache-2.0
"""A law used as a library and the same law in its node begin with the same numbers."""

from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from c3p_controller.controllers import make_position, position_gains
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.limits import ReferenceLimits, TractionSettings
from c3p_controller.paper.exponential import PositionController, PositionGains
from c3p_controller.paper.fusion import FusionOptions
from c3p_controller.paper.position import (
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
)
from c3p_controller.paper.velocity import VelocityGains
from c3p_controller.predictive.controller import PredictiveSettings
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT

ROOT = Path(__file__).parents[2]


def schema(path):
    return next(iter(yaml.safe_load((ROOT / path).read_text(encoding='utf-8')).values()))


VELOCITY = schema('c3p_controller/velocity_controller_parameters.yaml')
POSITION = schema('c3p_controller/position_controller_parameters.yaml')
DYNAMICS = schema('c3p_dynamics/inverse_dynamics_parameters.yaml')


def namespace(entries):
    return SimpleNamespace(**{
        name: entry['default_value'] if 'default_value' in entry else namespace(entry)
        for name, entry in entries.items()})


@pytest.mark.parametrize('gains, parameters', [(VelocityGains(), VELOCITY),
                                               (PositionGains(), POSITION)])
def test_gains_have_the_defaults_of_the_parameters(gains, parameters):
    for field in fields(gains):
        assert getattr(gains, field.name) == parameters[field.name]['default_value'], field.name


@pytest.mark.parametrize('settings, group, parameters', [
    (PredictiveSettings(), 'mpc', VELOCITY), (FusionOptions(), 'fusion', VELOCITY),
    (PathGains(), 'path', POSITION), (TractionSettings(), 'traction', VELOCITY)])
def test_settings_have_the_defaults_of_their_group_of_parameters(settings, group, parameters):
    for field in fields(settings):
        # what the group does not name it shares with the other laws
        entry = parameters[group].get(field.name) or parameters[field.name]
        assert getattr(settings, field.name) == entry['default_value'], field.name
    assert set(parameters[group]) <= {field.name for field in fields(settings)}


def test_the_printed_position_law_has_the_defaults_of_its_group():
    values = namespace(POSITION)
    values.controller, values.paper_law = 'paper', 'printed'
    assert position_gains(values) == (PaperPositionGains(), PaperPositionOptions())


@pytest.mark.parametrize('controller, paper_law, kind', [
    ('paper', 'line', PositionController), ('paper', 'printed', PaperPositionController),
    ('mpc', 'line', PathController)])
def test_position_laws_are_found_by_name_and_take_their_own_parameters(controller, paper_law,
                                                                       kind):
    values = namespace(POSITION)
    values.controller, values.paper_law = controller, paper_law
    law = make_position(values)
    assert type(law) is kind
    values.speed, values.printed.yaw_gain, values.goal_tolerance = 0.3, 0.7, 0.04
    law.retune(position_gains(values))
    assert (law.gains.yaw_gain if kind is PaperPositionController else law.gains.speed) in (
        0.3, 0.7)


def test_limits_have_the_defaults_of_the_parameters():
    names = ('speed_limit', 'yaw_rate_limit', 'acceleration_limit', 'yaw_acceleration_limit',
             'command_smoothing')
    assert ReferenceLimits() == ReferenceLimits(*(VELOCITY[n]['default_value'] for n in names))


def test_the_virtual_steering_weight_is_the_same_wherever_a_force_is_shared():
    for parameters in (VELOCITY, DYNAMICS):
        assert parameters['virtual_steering_weight']['default_value'] == VIRTUAL_STEERING_WEIGHT
