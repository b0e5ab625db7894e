# SPDX-License-Identifier: Apache-2.0
"""A law used as a library and the same law in its node begin with the same numbers."""

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from c3p_controller.position_controller import PositionGains
from c3p_controller.reference import ReferenceLimits
from c3p_controller.velocity_controller import VelocityGains
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT

ROOT = Path(__file__).parents[2]


def schema(path):
    return next(iter(yaml.safe_load((ROOT / path).read_text(encoding='utf-8')).values()))


VELOCITY = schema('c3p_controller/velocity_controller_parameters.yaml')
POSITION = schema('c3p_controller/position_controller_parameters.yaml')
DYNAMICS = schema('c3p_dynamics/inverse_dynamics_parameters.yaml')


@pytest.mark.parametrize('gains, parameters', [(VelocityGains(), VELOCITY),
                                               (PositionGains(), POSITION)])
def test_gains_have_the_defaults_of_the_parameters(gains, parameters):
    for field in fields(gains):
        assert getattr(gains, field.name) == parameters[field.name]['default_value'], field.name


def test_limits_have_the_defaults_of_the_parameters():
    names = ('speed_limit', 'yaw_rate_limit', 'acceleration_limit', 'yaw_acceleration_limit',
             'command_smoothing')
    assert ReferenceLimits() == ReferenceLimits(*(VELOCITY[n]['default_value'] for n in names))


def test_the_virtual_steering_weight_is_the_same_wherever_a_force_is_shared():
    for parameters in (VELOCITY, DYNAMICS):
        assert parameters['virtual_steering_weight']['default_value'] == VIRTUAL_STEERING_WEIGHT
