# SPDX-License-Identifier: Apache-2.0
"""Stages of a stop: each ends in the emergency stop, and the page has the numbers of the code."""

import importlib.util
from pathlib import Path

import pytest

from c3p_hardware.escalation import COMMAND_TIMEOUT, EMERGENCY, OWN, STAGES, WITHHELD

ROOT = Path(__file__).parents[2]


def script(name):
    """Return a module of scripts/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f'scripts/{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_stage_has_an_effect_a_deadline_and_a_harder_one():
    places = {stage.name: k for k, stage in enumerate(STAGES)}
    assert len(places) == len(STAGES)
    *stages, last = STAGES
    assert (last.name, last.then) == (EMERGENCY, '')
    for stage in stages:
        # always forward: no circle, and each path ends at the last stage
        assert places[stage.then] > places[stage.name], stage
        assert stage.effect and stage.deadline > 0.0 and stage.test, stage
        # what only another computer could see
        assert stage.seen or stage.name == OWN, stage


def test_the_last_stages_need_no_computer_that_obeys():
    assert next(stage for stage in STAGES if stage.name == WITHHELD).effect.startswith('the drive')


def test_the_page_is_that_of_the_code():
    writer = script('write_escalation')
    page = writer.PAGE.read_text(encoding='utf-8')
    assert writer.rewritten(page) == page, 'run: python scripts/write_escalation.py'
    with pytest.raises(ValueError, match='no line <!-- escalation -->'):
        writer.rewritten('')


def test_the_timeout_is_that_of_the_schema():
    schema = script('write_node_docs').schemas()['velocity_controller']
    assert schema['cmd_vel_timeout']['default_value'] == COMMAND_TIMEOUT
