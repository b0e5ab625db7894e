# SPDX-License-Identifier: Apache-2.0
"""Bags with numbers that are not finite have a report, which says so, and valid JSON."""

import json

import numpy as np
import pytest
import synthetic
from robots import C3P

from c3p_bags.runs.json_text import json_text
from c3p_bringup.cli.common import write_json
from c3p_bringup.cli.main import main

QUESTION = 'Are all numbers finite?'


@pytest.fixture(scope='module')
def run():
    return synthetic.drive(C3P, (0.5, 0.0, 0.0))


def spoiled(run, key, value, row=None):
    """Return a run with `value` at a row of an array, or in all rows."""
    array = np.array(run[key], float)
    array[len(array) // 2 if row is None else row, ...] = value
    return {**run, key: array}


def reported(capsys, bag, tmp_path):
    """Return exit code, text and figures of the report of a bag."""
    code = main(['report', str(bag), '--robot', 'c3p', '--out', str(tmp_path / 'out'),
                 '--json', str(tmp_path / 'all.json')])
    figures = tmp_path / 'out' / 'figures.json'

    def refuse(word):
        raise AssertionError(f'{word} is no JSON')

    for file in (figures, tmp_path / 'all.json'):
        json.loads(file.read_text(encoding='utf-8'), parse_constant=refuse)
    return code, capsys.readouterr().out


PLACES = [('wheel', 'joint_states'), ('steering_rate', 'joint_states'), ('torque', 'wheel_effort'),
          ('odom', 'odom'), ('sensed', 'odom'), ('pose', 'ground_truth/odom'), ('cmd', 'cmd_vel')]


@pytest.mark.parametrize(('key', 'topic', 'value'), [
    ('wheel', 'joint_states', np.inf), ('sensed', 'odom', np.inf), ('cmd', 'cmd_vel', np.inf),
    # nan is a torque, or a rate, that is not measured
    ('torque', 'wheel_effort', np.nan), ('steering_rate', 'joint_states', np.nan)])
def test_a_bag_with_a_broken_message_has_a_report_that_names_its_topic(
        run, tmp_path, capsys, key, topic, value):
    synthetic.write_bag(tmp_path / 'bag', C3P, spoiled(run, key, value),
                        only=[t for t in synthetic.TYPES if not t.startswith('tf')])
    code, text = reported(capsys, tmp_path / 'bag', tmp_path)
    assert code == 0
    said = not (key in ('torque', 'steering_rate') and np.isnan(value))
    assert (QUESTION in text and f'{topic} (1)' in text) == said


@pytest.mark.parametrize('value', [-np.inf])
def test_a_bag_with_broken_messages_of_all_topics_names_each(run, tmp_path, capsys, value):
    broken = run
    for row, (key, _) in enumerate(PLACES):
        broken = spoiled(broken, key, value, 100 + 10 * row)
    synthetic.write_bag(tmp_path / 'bag', C3P, broken,
                        only=[t for t in synthetic.TYPES if not t.startswith('tf')])
    code, text = reported(capsys, tmp_path / 'bag', tmp_path)
    assert code == 0 and QUESTION in text
    counts = {'odom': 2, 'ground_truth/odom': 1, 'cmd_vel': 1}
    # joint states have the torques as well
    counts |= {'joint_states': 1} if np.isnan(value) else {'joint_states': 3, 'wheel_effort': 1}
    for topic, count in counts.items():
        assert f'{topic} ({count})' in text


@pytest.mark.parametrize('key', ['torque', 'odom'])
def test_a_bag_without_any_finite_torque_or_odometry_has_a_report(run, tmp_path, capsys, key):
    synthetic.write_bag(tmp_path / 'bag', C3P, spoiled(run, key, np.nan, slice(None)),
                        only=[t for t in synthetic.TYPES if not t.startswith('tf')])
    assert reported(capsys, tmp_path / 'bag', tmp_path)[0] == 0


def test_a_bag_of_finite_numbers_has_no_such_answer(run, tmp_path, capsys):
    synthetic.write_bag(tmp_path / 'bag', C3P, run)
    code, text = reported(capsys, tmp_path / 'bag', tmp_path)
    assert code == 0 and QUESTION not in text


def test_the_json_of_every_command_has_null_for_what_is_not_finite(tmp_path):
    results = {'a': float('inf'), 'b': [float('nan'), {'c': np.float64('-inf'), 'd': 1.5}]}
    write_json(results, tmp_path / 'a.json')
    assert json.loads((tmp_path / 'a.json').read_text()) == {'a': None, 'b': [
        None, {'c': None, 'd': 1.5}]} == json.loads(json_text(results))
