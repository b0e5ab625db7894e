# SPDX-License-Identifier: Apache-2.0
"""Campaigns: the same rows whoever computes them, also after having been killed."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from source_tree import python_path

from c3p_bags.runs.metrics import drive_metrics
from c3p_bringup.cli.main import main
from c3p_experiments.campaigns import campaign
from c3p_experiments.campaigns import draw as campaign_draw
from c3p_experiments.campaigns.campaign import command, identity, run_campaign
from c3p_experiments.campaigns.draw import CLOCKS, flat, run_draw, simulate
from c3p_experiments.campaigns.result_files import StoreError, read
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.parallel.workers import Workers, WorkersError

ROOT = Path(__file__).parents[3]

# drives of one second that nobody expects to arrive: what is tested is who computes them
SPEC = CampaignSpec(controller='paper', plant='analytic', goal=(0.0, 0.4, 0.0), timeout=1.0)
OPTIONS = ['--controller', 'paper', '--plant', 'analytic', '--goal', '0', '0.4', '0',
           '--timeout', '1']
DRAWS = 10


def lasting(rows):
    """Return rows without what the clock of the computer says."""
    return [{name: value for name, value in row.items() if not name.startswith(CLOCKS)}
            for row in rows]


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Return a campaign that two processes computed without a break."""
    return run_campaign(SPEC, DRAWS, tmp_path_factory.mktemp('whole'), Workers(jobs=2))


def test_a_row_tells_what_was_drawn_and_what_came_of_it(whole):
    row = whole.rows[3]
    log = simulate(SPEC, 3).outcome.runs[0].log
    metrics = drive_metrics(log, draw(SPEC, 3).described, SPEC.goal, 0.05, 0.15)
    assert row['index'] == 3 and not row['reached']
    assert draw(SPEC, 3).parameters().items() <= row.items()
    assert row['ground_truth_final_error_m'] == metrics['ground_truth_final_error_m'] > 0.1
    assert row['failure'].startswith('missed: ends ') and row['solve_ms_p99'] > 0
    assert set(whole.parameters) < set(row) and row['elapsed_s'] > 0


def test_the_controller_knows_the_description_and_the_plant_is_what_was_drawn():
    driven = simulate(SPEC, 5)
    bench, drawn = driven.bench, driven.draw
    plant = bench.plant()
    assert plant.robot is drawn.robot
    assert plant.settings.latency == drawn.latency != bench.conditions.latency == 0.010
    assert plant.settings.wheel_counts == drawn.wheel_counts
    assert bench.robot.platform_mass == 30.0 != drawn.robot.platform_mass
    assert bench.controller().law.law.robot.platform_mass == 30.0


def test_the_contact_plant_has_the_drawn_friction():
    pytest.importorskip('mujoco')
    spec = replace(SPEC, plant='mujoco', timeout=0.05)
    driven = simulate(spec, 2)
    plant = driven.bench.plant().plant
    assert driven.draw.friction == pytest.approx(plant.model.pair_friction[:, 0])
    assert run_draw(spec, 2)['friction'] == driven.draw.friction


def test_two_processes_and_one_give_the_same_rows(whole, tmp_path):
    alone = run_campaign(SPEC, 4, tmp_path, Workers(jobs=1))
    assert lasting(alone.rows) == lasting(whole.rows[:4])
    assert (alone.computed, whole.computed) == (4, DRAWS)


def test_a_dask_cluster_gives_the_same_rows(whole, tmp_path):
    pytest.importorskip('distributed', reason='needs Dask: pip install .[campaign]')
    result = run_campaign(SPEC, 4, tmp_path, Workers(jobs=2, backend='dask'))
    assert result.computed == 4 and lasting(result.rows) == lasting(whole.rows[:4])


def test_a_cluster_that_runs_already_is_used_by_its_address(whole, tmp_path):
    distributed = pytest.importorskip('distributed')
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                                  protocol='tcp://', dashboard_address=None) as cluster:
        workers = Workers(backend='dask', scheduler=cluster.scheduler_address)
        result = run_campaign(SPEC, 2, tmp_path, workers)
    assert lasting(result.rows) == lasting(whole.rows[:2])


# saves every row, and waits after the third until it is killed
HELD = """
import sys
from c3p_experiments.campaigns import store
from c3p_bringup.cli.main import main

def save_and_wait(results, save=store.ResultSet.save):
    save(results)
    if len(results.done) == 3:
        print('saved', flush=True)
        sys.stdin.read()

store.INTERVAL, store.FRACTION, store.ResultSet.save = 0.0, float('inf'), save_and_wait
main(sys.argv[1:])
"""


@pytest.mark.real_time
def test_a_campaign_that_was_killed_goes_on_to_the_same_file(whole, tmp_path):
    killed = subprocess.Popen(
        [sys.executable, '-c', HELD, 'campaign', '--draws', str(DRAWS), '--jobs', '1', '--out',
         str(tmp_path), *OPTIONS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, 'PYTHONPATH': python_path(ROOT)})
    try:
        assert 'saved\n' in killed.stdout
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    path = tmp_path / whole.path.name
    left = len(read(path)[1])
    assert left == 3
    result = run_campaign(SPEC, DRAWS, tmp_path, Workers(jobs=1))
    assert result.computed == DRAWS - left
    (one, rows), (other, uninterrupted) = read(path), read(whole.path)
    assert one == other and lasting(rows) == lasting(uninterrupted)


def test_more_draws_are_added_to_those_that_are_there(tmp_path):
    run_campaign(SPEC, 1, tmp_path, Workers(jobs=1))
    told = []
    result = run_campaign(SPEC, 3, tmp_path, Workers(jobs=1),
                          progress=lambda *count: told.append(count))
    assert result.computed == 2 and told == [(1, 0), (2, 0), (3, 0)]
    fewer = run_campaign(SPEC, 2, tmp_path, Workers(jobs=1))
    # the summary is of those that are asked for; the file loses none
    assert (len(fewer.rows), fewer.computed, len(read(fewer.path)[1])) == (2, 0, 3)


def test_a_draw_that_raises_is_a_row_with_the_reason(monkeypatch, tmp_path):
    def fall(spec, index):
        if index == 1:
            raise StoreError('the robot has fallen over')
        return simulate(spec, index)

    monkeypatch.setattr(campaign_draw, 'simulate', fall)
    rows = run_campaign(SPEC, 3, tmp_path, Workers(jobs=1)).rows
    assert [row['failure'][:7] for row in rows] == ['missed:', 'StoreEr', 'missed:']
    assert rows[1]['failure'] == 'StoreError: the robot has fallen over'
    assert not rows[1]['reached'] and rows[1]['latency_s'] == draw(SPEC, 1).latency
    assert rows[1]['final_error_m'] is None


def test_rows_of_another_campaign_or_other_source_are_never_mixed_in(monkeypatch, tmp_path):
    run_campaign(SPEC, 1, tmp_path, Workers(jobs=1))
    with pytest.raises(ValueError, match='another campaign .seed was 0, is 1.; choose'):
        run_campaign(replace(SPEC, seed=1), 1, tmp_path, Workers(jobs=1))
    monkeypatch.setattr(campaign, 'source_digest', lambda robot: 'changed')
    with pytest.raises(ValueError, match='source was ".*", is "changed"'):
        run_campaign(SPEC, 1, tmp_path, Workers(jobs=1))
    again = run_campaign(SPEC, 1, tmp_path, Workers(jobs=1), resume=False)
    assert again.computed == 1 and identity(SPEC)['source'] == 'changed'


def test_what_cannot_work_is_refused_before_anything_is_computed(tmp_path):
    for spec, message in (
            (replace(SPEC, robot='c4p'), 'c4p'),
            (replace(SPEC, start_steering=(0.0, 0.1)), 'start_steering has 2'),
            (CampaignSpec(experiment='lime'), 'experiment lime: must be one of')):
        with pytest.raises(ValueError, match=message):
            run_campaign(spec, 1, tmp_path)
    with pytest.raises(ValueError, match='draws = 0'):
        run_campaign(SPEC, 0, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('options, message', [
    ({'backend': 'threads'}, 'backend = threads'), ({'jobs': 0}, 'jobs = 0'),
    ({'scheduler': 'tcp://here:1'}, 'only a Dask cluster has one')])
def test_workers_that_cannot_be_are_named(options, message):
    with pytest.raises(WorkersError, match=message):
        Workers(**options)


def test_figures_become_single_columns():
    row = flat({'a': np.float64(1.5), 'b': {'c': 2, 'd': None}, 'e': [1, 2], 'f': float('nan'),
                'g': np.bool_(True), 'h': np.int64(3)})
    assert row == {'a': 1.5, 'b_c': 2, 'b_d': None, 'f': None, 'g': True, 'h': 3}
    assert {type(value) for value in row.values()} == {float, int, type(None), bool}


def test_the_command_writes_rows_page_and_summary(tmp_path, capsys):
    place = tmp_path / 'summary.json'
    arguments = ['campaign', *OPTIONS, '--draws', '2', '--jobs', '1', '--out', str(tmp_path),
                 '--json', str(place)]
    # nobody arrives within a second
    assert main(arguments) == 1
    summary = json.loads(place.read_text())
    assert (summary['draws'], summary['reached'], summary['computed']) == (2, 0, 2)
    assert summary['failures']['1'].startswith('missed')
    assert summary['worst']['final_error_m'][0]['command'] == command(
        SPEC, summary['worst']['final_error_m'][0]['index'])
    assert all(Path(file).stat().st_size > 10_000 for name, file in summary['files'].items()
               if name != 'rows')
    assert 'reached 0 of 2' in capsys.readouterr().out
    # nothing is computed again, and a share of nothing is always reached
    assert main([*arguments, '--least-reached', '0']) == 0
    assert json.loads(place.read_text())['computed'] == 0


def test_one_draw_is_driven_again_to_the_last_bit(whole, tmp_path, capsys):
    words = command(SPEC, 4).split()[1:]
    assert main([*words, '--out', str(tmp_path), '--json', '-']) == 1
    told = json.loads(capsys.readouterr().out)
    row = whole.rows[4]
    for name in ('final_error_m', 'ground_truth_final_error_m', 'max_wheel_torque_nm',
                 'platform_mass_kg', 'noise_counts'):
        assert told[name] == row[name]
    assert [Path(file).suffix for file in told['files']] == ['.png', '.pdf']
    assert not list(tmp_path.glob('campaign.*'))


def test_an_experiment_may_be_the_task():
    spec = CampaignSpec(controller='mpc', plant='analytic', experiment='flip', robot='c3p')
    row = run_draw(spec, 1)
    # a figure that only this experiment has
    assert row['failure'] == '' and 0.0 < row['align_time_s'] < 2.0
    assert row['latency_s'] == draw(spec, 1).latency and row['max_wheel_torque_nm'] <= 1.2


def test_errors_of_the_command_are_one_line(tmp_path, capsys):
    assert main(['campaign', '--only', '-1', '--plant', 'analytic']) == 2
    assert main(['campaign', '--start-steering', 'up']) == 2
    error = capsys.readouterr().err
    assert 'draws are numbered from 0' in error and 'start-steering = up' in error
