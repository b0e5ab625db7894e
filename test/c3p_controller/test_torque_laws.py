# SPDX-License-Identifier: Apache-2.0
"""Laws of torques by name, from the parameters of their node."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from robots import C3P

from c3p_controller import torque_laws
from c3p_controller.law import Sensed
from c3p_controller.one_step import OneStep
from c3p_controller.paper.chain import PaperChain
from c3p_controller.torque_laws import LAWS, make_law, retune, settings_of

SCHEMA = Path(__file__).parents[2] / 'c3p_controller/velocity_controller_parameters.yaml'
STILL = Sensed(0.0, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))


def space(entries):
    """Return the defaults of a schema as nested attributes."""
    return SimpleNamespace(**{
        name: entry['default_value'] if 'default_value' in entry else space(entry)
        for name, entry in entries.items()})


def parameters(controller):
    """Return the parameters of the velocity controller as it has them without a file."""
    values = space(yaml.safe_load(SCHEMA.read_text(encoding='utf-8'))['velocity_controller'])
    values.controller = controller
    return values


@pytest.mark.parametrize('name', LAWS)
def test_the_group_of_a_law_is_its_settings_and_what_it_does_not_name_has_its_default(name):
    values, plain = parameters(name), LAWS[name][1]()
    group = getattr(values, name)
    assert set(vars(group)) <= set(vars(plain))
    group.latency = 0.017
    found = settings_of(values)
    assert found.latency == 0.017
    for field in set(vars(plain)) - set(vars(group)):
        assert getattr(found, field) == getattr(plain, field)


@pytest.mark.parametrize('name', ['paper', *LAWS])
def test_each_name_makes_its_law_which_takes_other_parameters_while_it_runs(name):
    values = parameters(name)
    law = make_law(values, C3P)
    assert isinstance(law, PaperChain if name == 'paper' else OneStep)
    values.speed_limit, values.acceleration_limit, values.stop_acceleration = 0.1, 20.0, 0.3
    values.command_smoothing = 0.0
    retune(law, values)
    law.reset(STILL)
    if name == 'paper':
        law.ask(STILL, np.array([0.0, 1.0, 0.0]), 1, 0.1)
        assert law._controller.reference == pytest.approx([0.0, 0.1, 0.0])
    else:
        assert law.limits.speed == 0.1 and law.stop_deceleration == 0.3
        assert law.standstill == (values.standstill_speed, values.standstill_yaw_rate)
        assert np.isfinite(law.step(STILL, np.array([0.0, 1.0, 0.0]), 1, 1, 0.005)).all()


def test_predictive_control_without_a_compiler_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(torque_laws, 'COMPILED', False)
    with pytest.raises(ValueError, match='numba.*closed_form'):
        make_law(parameters('mpc'), C3P)
    make_law(parameters('closed_form'), C3P)
