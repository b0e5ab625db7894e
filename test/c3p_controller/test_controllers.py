# SPDX-License-Identifier: Apache-2.0
"""Registry of the controllers: names, schemas and parameters match, changes arrive."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from robots import C3P

from c3p_controller import AUTO, CONTROLLERS, controllers, law_named
from c3p_controller.command_follower import CommandFollower
from c3p_controller.controllers import (
    check_chain,
    make_chain,
    make_position,
    position_gains,
    retune_chain,
)
from c3p_controller.goals.path_controller import PathController
from c3p_controller.paper.chain import PaperChain
from c3p_controller.paper.exponential import PositionController
from c3p_controller.paper.position import (
    PaperPositionController,
    PaperPositionGains,
    PaperPositionOptions,
)
from c3p_controller.torque_law import Sensed

ROOM = Path(__file__).parents[2] / 'c3p_controller'
SCHEMAS = {node: yaml.safe_load((ROOM / f'{node}_parameters.yaml').read_text('utf-8'))[node]
           for node in ('velocity_controller', 'position_controller')}
STILL = Sensed(0.0, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))


def space(entries):
    """Return the defaults of a schema as nested attributes."""
    return SimpleNamespace(**{
        name: entry['default_value'] if 'default_value' in entry else space(entry)
        for name, entry in entries.items()})


def parameters(controller):
    """Return the parameters of the velocity controller as it has them without a file."""
    values = space(SCHEMAS['velocity_controller'])
    values.controller = controller
    return values


@pytest.mark.parametrize('node', SCHEMAS)
def test_the_schemas_allow_the_names_of_the_registry(node):
    allowed, = SCHEMAS[node]['controller']['validation']['one_of<>']
    assert allowed == [AUTO, *CONTROLLERS]


@pytest.mark.parametrize('name', CONTROLLERS[1:])
def test_every_parameter_of_the_group_of_a_law_reaches_its_settings(name):
    plain, group = law_named(name).Settings(), vars(getattr(parameters(name), name))
    for parameter, value in group.items():
        values = parameters(name)
        rules = SCHEMAS['velocity_controller'][name][parameter].get('validation', {})
        if 'one_of<>' in rules:
            other = rules['one_of<>'][0][-1]
        elif isinstance(value, bool):
            other = not value
        else:
            other = type(value)(0.5 * (value + rules['bounds<>'][1]))
        setattr(getattr(values, name), parameter, other)
        if parameter == 'latency':
            # beyond what can be estimated
            values.mpc.estimate_latency = False
        found = law_named(name).read(values, name)
        assert found != plain
        assert getattr(found, parameter) == getattr(getattr(values, name), parameter)


def test_a_setting_that_is_not_in_the_schema_is_an_error():
    values = parameters('mpc')
    del values.mpc.torque_rate
    with pytest.raises(AttributeError, match='torque_rate'):
        check_chain(values, C3P)


@pytest.mark.parametrize('name', CONTROLLERS)
def test_each_name_makes_its_chain_which_takes_other_parameters_while_it_runs(name):
    values = parameters(name)
    chain = make_chain(values, C3P)
    assert isinstance(chain, PaperChain if name == 'paper' else CommandFollower)
    values.speed_limit, values.acceleration_limit, values.stop_acceleration = 0.1, 20.0, 0.3
    values.command_smoothing, values.traction.cut = 0.0, 0.25
    check_chain(values, C3P)
    retune_chain(chain, values, C3P)
    assert chain.traction.settings.cut == 0.25
    chain.reset(STILL)
    if name == 'paper':
        chain.accel(STILL, np.array([0.0, 1.0, 0.0]), 1, 0.1)
        assert chain._law.reference == pytest.approx([0.0, 0.1, 0.0])
    else:
        assert chain.settings.limits.speed == 0.1 and chain.settings.stop_deceleration == 0.3
        assert chain.settings.standstill == (values.standstill_speed, values.standstill_yaw_rate)
        assert np.isfinite(chain.step(STILL, np.array([0.0, 1.0, 0.0]), 1, 1, 0.005)).all()


def test_the_printed_position_law_has_the_defaults_of_its_group():
    values = space(SCHEMAS['position_controller'])
    values.controller, values.paper_law = 'paper', 'printed'
    assert position_gains(values, C3P) == (PaperPositionGains(), PaperPositionOptions())


@pytest.mark.parametrize('controller, paper_law, kind', [
    ('paper', 'line', PositionController), ('paper', 'printed', PaperPositionController),
    ('mpc', 'line', PathController)])
def test_position_laws_are_found_by_name_and_take_their_own_parameters(controller, paper_law,
                                                                       kind):
    values = space(SCHEMAS['position_controller'])
    values.controller, values.paper_law = controller, paper_law
    law = make_position(values, C3P)
    assert type(law) is kind
    values.speed = 0.3
    values.printed.yaw_gain = 0.7
    values.goal_tolerance = 0.04
    law.retune(position_gains(values, C3P))
    assert (law.gains.yaw_gain if kind is PaperPositionController else law.gains.speed) in (
        0.3, 0.7)


def test_predictive_control_without_a_compiler_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(controllers, 'COMPILER', False)
    with pytest.raises(ValueError, match='pip install .numba>='):
        make_chain(parameters('mpc'), C3P)
    make_chain(parameters('paper'), C3P)
