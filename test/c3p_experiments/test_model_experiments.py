# SPDX-License-Identifier: Apache-2.0
"""Experiments with models: their register, what the command lets them take, what it writes."""

import json

import pytest

from c3p_bringup.cli.main import main
from c3p_experiments import catalogue
from c3p_experiments.catalogue import EXPERIMENTS, run_experiment
from c3p_experiments.kinds import LOOP_OPTIONS, LoopExperiment, ModelExperiment
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import (
    MET,
    MISSED,
    SHOWN,
    STRETCH,
    conditions_text,
    markdown_table,
    table_rows,
    write_report,
)

MODELS = {name: e for name, e in EXPERIMENTS.items() if isinstance(e, ModelExperiment)}
ROWS = (Row('error', 'error', digits=1, scientific=True, bar=1e-11),
        Row('speed', 'faster than real time', 'times', digits=0, bar=1000.0, stretch=5000.0,
            at_least=True))


@pytest.fixture
def asked(monkeypatch):
    """Let there be one model, and no drive; return what the model was asked for."""
    calls = []

    def run(out, options, progress):
        calls.append(options)
        progress(1.0)
        metrics = {'experiment': 'pendulum', 'title': 'Pendulum', 'source': 'ours',
                   'conditions': {'robot': 'bob', 'duration': 2.5}, 'reached': options.seed != 7,
                   'error': 3e-12, 'speed': 1200.0}
        metrics['table'] = table_rows(ROWS, metrics)
        metrics['files'] = {'table': str(write_report(model, metrics, out / 'pendulum'))}
        return metrics

    model = ModelExperiment('pendulum', 'Pendulum', 'ours', run, ('seed', 'film'))
    monkeypatch.setattr(catalogue, 'EXPERIMENTS', {'pendulum': model})
    return calls


def test_models_are_registered_beside_the_drives_and_listed(capsys):
    assert {'hill', 'random_terrain', 'agv'} <= set(MODELS)
    assert all(isinstance(e, (LoopExperiment, ModelExperiment)) for e in EXPERIMENTS.values())
    assert all(name == model.name for name, model in EXPERIMENTS.items())
    assert all(set(model.takes) <= {'robot', 'seed', 'duration', 'film', 'trials', 'workers'}
               for model in MODELS.values())
    assert all(e.takes == LOOP_OPTIONS for e in EXPERIMENTS.values()
               if isinstance(e, LoopExperiment))
    assert main(['experiment', '--list']) == 0
    text = capsys.readouterr().out
    for model in MODELS.values():
        assert f'{model.title} ({model.source})' in text


@pytest.mark.parametrize(('arguments', 'text'), [
    (['hill', '--plant', 'mujoco'], 'experiment hill does not support --plant'),
    (['hill', '--seed', '3'], 'supported: --robot, --duration, --film'),
    (['random_terrain', '--friction', '0.4', '--counts', '0', '0'],
     'does not support --friction, --counts'),
    (['agv', '--film'], 'experiment agv does not support --film'),
    (['line', '--film'], 'experiment line does not support --film; supported: --plant'),
    (['line', '--duration', '4'], 'does not support --duration'),
    (['hills'], 'experiment hills: did you mean hill?'),
    (['hill', '--duration', '0'], 'must be a number greater than zero'),
    (['hill', '--robot', 'c3p'], 'pvc_tricycle')])
def test_unsupported_options_are_rejected_before_any_run(arguments, text, tmp_path, capsys):
    try:
        code = main(['experiment', *arguments, '--out', str(tmp_path)])
    except SystemExit as end:
        # what argparse itself refuses
        code = end.code
    assert code == 2 and text in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_command_hands_on_what_it_was_given(asked, tmp_path, capsys):
    assert main(['experiment', 'pendulum', '--seed', '4', '--film', 'gif', '--out', str(tmp_path),
                 '--json', str(tmp_path / 'a.json')]) == 0
    assert asked == [Conditions(seed=4, film='gif')]
    assert json.loads((tmp_path / 'a.json').read_text())['speed'] == 1200.0
    assert 'robot bob, duration 2.5; checks passed' in capsys.readouterr().out
    assert '| error |  | ≤ 1.0e-11 |  | 3.0e-12 |  |' in (tmp_path / 'pendulum.md').read_text()


def test_a_model_that_does_not_reach_is_the_exit_code(asked, tmp_path):
    assert main(['experiment', 'pendulum', '--seed', '7', '--out', str(tmp_path)]) == 1
    assert 'Checks FAILED' in (tmp_path / 'pendulum.md').read_text()


def test_all_does_the_models_too_and_keeps_options_of_the_loop_for_the_others(
        asked, tmp_path, capsys):
    assert main(['experiment', 'all', '--controller', 'paper', '--robot', 'c3p', '--out',
                 str(tmp_path), '--json', '-']) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert list(metrics['experiments']) == ['pendulum']
    assert '| [pendulum](pendulum.md) | bob | ours | checks passed |' in (
        tmp_path / 'index.md').read_text()


@pytest.mark.parametrize(('speed', 'verdict'), [(999.0, MISSED), (1000.0, MET), (5000.0, STRETCH)])
def test_a_bar_may_be_there_to_be_exceeded(speed, verdict):
    error, row = table_rows(ROWS, {'error': None, 'speed': speed})
    assert row['verdict'] == verdict and error['verdict'] == MISSED
    assert f'| ≥ 1000 | ≥ 5000 | {speed:.0f} | {SHOWN[verdict]} |' in markdown_table([row])


def test_conditions_of_a_model_are_shown_by_name():
    text = conditions_text({'robot': 'agv', 'caster_start': 0.25})
    assert text == 'robot agv, caster start 0.25'
    text = conditions_text({'radius_m': 1.0, 'caster_start_rad': 0.27, 's': 2, 'duration_s': 60})
    assert text == 'radius 1 m, caster start 0.27 rad, s 2, duration 60 s'


def test_the_agv_runs_by_its_name_with_the_given_robot(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue.agv, 'run_agv', lambda out, robot: {
        'out': out, 'robot': robot, 'files': [], 'reached': True})
    for asked, robot in ((None, 'agv'), ('mine.yaml', 'mine.yaml')):
        found = run_experiment('agv', Conditions(robot=asked), tmp_path / 'new')
        assert (found['out'], found['robot']) == (tmp_path / 'new', robot)


def test_missing_metrics_of_a_model_are_added(asked, tmp_path, monkeypatch, capsys):
    model = ModelExperiment('swing', 'A swing', 'ours', lambda out, options, progress: {
        'error': 2e-11, 'speed': 6000.0, 'reached': True, 'files': ['a.png', 'a.pdf']}, rows=ROWS)
    monkeypatch.setitem(catalogue.EXPERIMENTS, 'swing', model)
    assert main(['experiment', 'swing', '--out', str(tmp_path), '--json', '-']) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert (metrics['experiment'], metrics['title']) == ('swing', 'A swing')
    assert [row['verdict'] for row in metrics['table']] == [MISSED, STRETCH]
    assert metrics['files'] == {'picture': 'a.png', 'picture_pdf': 'a.pdf',
                                'table': str(tmp_path / 'swing.md')}
    assert 'ours. as printed. Checks passed.' in (tmp_path / 'swing.md').read_text()
    assert main(['experiment', 'all', '--out', str(tmp_path)]) == 0
