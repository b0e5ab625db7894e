# SPDX-License-Identifier: Apache-2.0
"""The experiments themselves: what they give, their pages, and the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread
from source_tree import ROOT

from c3p_bags.runs.metrics import distance_to_segment
from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_experiments import catalogue as experiments
from c3p_experiments.catalogue import EXPERIMENTS, run_experiment
from c3p_experiments.el_shenawy import goals as experiment_goals
from c3p_experiments.el_shenawy import velocities as experiment_velocities
from c3p_experiments.kinds import LoopExperiment
from c3p_experiments.loop.conditions import Bench, Conditions

# what every experiment tells, as `c3p drive` does
KEYS = {'reached', 'time_s', 'align_time_s', 'path_error_max_m', 'path_error_rms_m',
        'final_error_m', 'final_yaw_error_rad', 'ground_truth_path_error_max_m',
        'ground_truth_path_error_rms_m', 'ground_truth_final_error_m', 'odometry_error_final_m',
        'max_wheel_torque_nm'}


def outcome(name, **conditions):
    """Return the outcome of an experiment on the analytic plant."""
    experiment = EXPERIMENTS[name]
    return experiment.run(Bench(Conditions(**conditions), experiment.robot))


@pytest.fixture(scope='module')
def line():
    return outcome('line')


def test_every_experiment_of_the_papers_and_of_ours_is_there():
    loop = {name: e for name, e in EXPERIMENTS.items() if isinstance(e, LoopExperiment)}
    assert list(loop) == [
        'line', 'triangle', 'figure_eight', 'ramp_y', 'ramp_x', 'flip', 'spin', 'sideways',
        'goal_behind', 'steerings', 'pushes', 'slope', 'oil_patch', 'self_calibration',
        'consistency', 'slip_faults', 'real_sensors']
    assert all(e.source.startswith('paper ') or e.source == 'ours' for e in loop.values())


def test_the_line_leaves_the_singular_start_and_its_figures_are_those_of_its_log(line):
    metrics, log = line.metrics, line.runs[0].log
    assert metrics.keys() >= KEYS and metrics['reached'] and metrics['stands']
    # from exactly singular: all angles 0, the goal along X
    assert np.all(log.joints.steering[0] == 0.0)
    # metrics again, by hand
    truth = log.ground_truth.pose
    last = truth[-1, :2] - (4.0, 0.0)
    assert metrics['ground_truth_final_error_m'] == pytest.approx(np.hypot(*last))
    before = log.odom.time <= metrics['time_s']
    assert metrics['ground_truth_path_error_max_m'] == pytest.approx(
        distance_to_segment(truth[before, :2], (0.0, 0.0), (4.0, 0.0)).max())
    # casters that roll along X: |sin(θ_s + φ)| = 1; asked twists differ from X by little
    off = np.degrees(np.arccos(np.abs(np.sin(log.joints.steering + truth[:, 2:3]))))
    last_off = log.odom.time[(off > 10.0).any(axis=1) & before].max()
    assert metrics['align_time_s'] == pytest.approx(last_off, abs=0.25)


def test_the_line_meets_its_bars_on_the_analytic_plant(line):
    wanted = {row.key: row.bar for row in EXPERIMENTS['line'].rows if row.bar}
    assert len(wanted) == 6
    for key, bar in wanted.items():
        assert line.metrics[key] <= bar, key


def test_experiments_repeat_to_the_last_bit(line):
    again = outcome('line')
    np.testing.assert_array_equal(again.runs[0].log.ground_truth.pose,
                                  line.runs[0].log.ground_truth.pose)


def test_the_triangle_stops_at_each_corner_and_closes():
    found = outcome('triangle')
    metrics = found.metrics
    assert metrics['reached'] and len(metrics['legs']) == 3
    assert metrics['length_m'] == pytest.approx(3.5 + 3.0 + np.hypot(3.0, 3.5))
    assert metrics['ground_truth_final_error_m'] <= 0.02
    assert metrics['ground_truth_path_error_max_m'] <= 0.03
    assert metrics['ground_truth_path_error_max_m'] == max(
        leg['ground_truth_path_error_max_m'] for leg in metrics['legs'])
    # the papers' angles: 0 on leg 1, −90° on leg 2; on leg 3 along (−3, −3.5) modulo 180°
    log, times = found.runs[0].log, found.runs[0].facts['times']
    middle = [np.searchsorted(log.odom.time, t) for t in
              (0.5 * times[0], 0.5 * (times[0] + times[1]), times[1] + 5.0)]
    angles = np.degrees(log.joints.steering[middle] + log.odom.pose[middle, 2:3]) % 180.0
    wanted = [0.0, 90.0, np.degrees(np.arctan2(-3.5, -3.0)) - 90.0]
    off = (angles - np.array(wanted)[:, None] + 90.0) % 180.0 - 90.0
    assert np.abs(off).max() < 10.0


def test_a_small_eight_is_driven_and_measured_against_its_rings(monkeypatch):
    for name, value in (('EIGHT_RADIUS', 0.4), ('EIGHT_RATE', 0.75)):
        monkeypatch.setattr(experiment_velocities, name, value)
    metrics = outcome('figure_eight').metrics
    assert metrics['reached'] and metrics.keys() >= KEYS
    assert metrics['length_m'] == pytest.approx(4.0 * np.pi * 0.4, rel=0.01)
    assert metrics['ground_truth_ring_error_max_m'] <= 0.02
    assert 'crossing_align_time_s' in metrics


def test_a_controller_without_paths_is_given_the_velocities_of_the_eight(monkeypatch):
    monkeypatch.setattr(experiment_velocities, 'EIGHT_RATE', 2.0)
    found = outcome('figure_eight', controller='paper')
    asked = found.runs[0].log.cmd_vel.value
    # two turns of π seconds; the first cycle has no command yet
    assert found.runs[0].log.joints.time[-1] == pytest.approx(2.0 * np.pi, abs=0.01)
    np.testing.assert_array_equal(np.unique(asked[1:], axis=0), [(0, 0.3, -2), (0, 0.3, 2)])


def test_all_casters_flip_by_half_a_turn_as_in_the_paper():
    found = outcome('flip')
    turned = np.degrees(np.ptp(found.runs[0].log.joints.steering[[0, -1]], axis=0))
    # the robot may have yawed a little meanwhile
    np.testing.assert_allclose(turned, 180.0, atol=10.0)
    assert found.metrics['reached'] and found.metrics['align_time_s'] <= 0.6
    assert found.metrics['ground_truth_path_error_max_m'] <= 0.01
    assert found.metrics['final_error_m'] is None


def test_the_ramps_end_with_trailing_casters_at_the_asked_speed():
    ramp = outcome('ramp_x')
    # the mean of the last of 15 s on the way to 0.14 m/s
    assert ramp.metrics['reached']
    assert ramp.metrics['final_speed_mps'] == pytest.approx(0.14 * 14.5 / 15.0, rel=0.05)
    both = outcome('ramp_y')
    assert both.metrics['reached'] and len(both.runs) == len(both.metrics['cases']) == 2
    # casters that trail already have nothing to do
    assert both.metrics['cases'][0]['align_time_s'] == 0.0 < both.metrics['align_time_s']
    assert both.runs[1].log.joints.steering[0] == pytest.approx(np.radians([45, -45, 90]),
                                                                abs=2e-3)


@pytest.mark.parametrize('name', ['spin', 'sideways', 'goal_behind', 'pushes'])
def test_our_drives_reach_their_goals(name):
    metrics = outcome(name).metrics
    assert metrics.keys() >= KEYS and metrics['reached']
    assert metrics['ground_truth_final_error_m'] <= 0.01
    # a push of 40 N for 0.2 s is 8 N·s on 37 kg: 22 cm/s that have to be taken out
    assert metrics['ground_truth_path_error_max_m'] <= (0.10 if name == 'pushes' else 0.03)


def test_many_starts_are_drawn_by_seed_and_drawn_on_one_page(monkeypatch, tmp_path):
    monkeypatch.setattr(experiment_goals, 'DRIVES', 3)
    metrics = run_experiment('steerings', Conditions(seed=3), tmp_path)
    assert metrics['reached'] and len(metrics['drives']) == 3
    starts = np.random.default_rng(3).uniform(-np.pi, np.pi, (3, 3))
    np.testing.assert_array_equal([d['start_steering_rad'] for d in metrics['drives']], starts)
    goals = np.array([d['goal_pose'][:2] for d in metrics['drives']])
    np.testing.assert_allclose(np.hypot(*goals.T), 2.0)
    assert (tmp_path / 'steerings.png').is_file()


def test_what_a_plant_cannot_do_is_told():
    with pytest.raises(ValueError, match='slope: plant = analytic: must be mujoco'):
        run_experiment('slope', Conditions(), 'never')
    with pytest.raises(ValueError, match='experiment loop: must be one of line'):
        run_experiment('loop', Conditions(), 'never')


def test_the_page_of_the_docs_names_every_experiment_and_its_program_runs():
    text = (ROOT / 'docs' / 'experiments.md').read_text(encoding='utf-8')
    listed = re.findall(r'^\| `(\w+)` \| (?:paper|suite|Auchter|Saha|Kelly)', text, re.M)
    assert listed == [*EXPERIMENTS]
    pytest.importorskip('mujoco')
    program = re.search(r'```python\n(.*?)```', text, re.S)[1]
    *lines, last = program.strip().splitlines()
    known = {}
    exec('\n'.join(lines), known)
    # 4 m at 0.5 m/s and the starts and stops
    assert 8.0 < eval(last, known) < 9.0


def no_page(outcome, bench, experiment, path):
    """Draw nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return [path.with_suffix('.png'), path.with_suffix('.pdf')]


@pytest.fixture
def quick(monkeypatch, line):
    """Let the command know two experiments whose outcome is there already."""
    known = {name: replace(EXPERIMENTS['line'], name=name, run=lambda bench: line, page=no_page)
             for name in ('line', 'second')}
    monkeypatch.setattr(experiments, 'EXPERIMENTS', known)
    return known


def test_the_command_writes_page_table_and_figures(quick, tmp_path, capsys):
    quick['line'] = replace(quick['line'], page=EXPERIMENTS['line'].page)
    code = main(['experiment', 'line', '--out', str(tmp_path), '--json', str(tmp_path / 'a.json')])
    assert code == 0
    metrics = json.loads((tmp_path / 'a.json').read_text())
    assert metrics.keys() >= KEYS | {'experiment', 'conditions', 'table', 'files'}
    assert metrics['conditions']['controller'] == 'mpc'
    assert 'casters aligned after [s]' in capsys.readouterr().out
    assert '| casters aligned after [s] | about 2 |' in (tmp_path / 'line.md').read_text()
    picture = imread(tmp_path / 'line.png')
    # 12 × 8.6 inches at 300 dpi, and something on it
    assert picture.shape[:2] == (2580, 3600) and picture[..., :3].std() > 0.05
    assert (tmp_path / 'line.pdf').read_bytes().startswith(b'%PDF')


def test_all_writes_an_index_and_one_json(quick, tmp_path, capsys):
    assert main(['experiment', 'all', '--out', str(tmp_path), '--json', '-']) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert metrics['reached'] and list(metrics['experiments']) == ['line', 'second']
    index = (tmp_path / 'index.md').read_text()
    assert '| [second](second.md) | c3p | paper I, Fig. 9 | goal reached |' in index
    assert index.count('| final error, true [cm] |') == 2


def test_a_missed_goal_is_the_exit_code(quick, line, tmp_path, monkeypatch):
    missed = replace(line, metrics={**line.metrics, 'reached': False})
    monkeypatch.setitem(quick, 'line', replace(quick['line'], run=lambda bench: missed))
    assert main(['experiment', 'line', '--out', str(tmp_path)]) == 1
    assert 'Goal MISSED' in (tmp_path / 'line.md').read_text()
    assert main(['experiment', 'all', '--out', str(tmp_path)]) == 1


def test_the_command_says_what_it_cannot_do(tmp_path, capsys):
    for arguments, text in ((['loop'], 'did you mean slope?'), ([], 'which experiment'),
                            (['slope'], 'must be mujoco'),
                            (['line', '--friction', '0.5'], 'never slip'),
                            (['line', '--controller', 'pid'], 'must be one of paper'),
                            (['line', '--latency', '-1'], 'latency = -0.001'),
                            (['line', '--known-latency', '-1'], 'known_latency = -0.001'),
                            (['hill', '--known-latency', '1'], 'support --known-latency')):
        assert main(['experiment', *arguments, '--out', str(tmp_path)]) == 2
        assert text in capsys.readouterr().err
    assert main(['experiment', '--list']) == 0
    assert 'figure_eight' in capsys.readouterr().out


def test_robots_with_four_casters_can_be_tried(tmp_path):
    (tmp_path / 'four.yaml').write_text(
        'extends: c3p\nname: four\ncasters:\n'
        '  hip_angles: [!degrees 45, !degrees 135, !degrees 225, !degrees 315]\n')
    found = outcome('ramp_y', controller='paper', robot=str(tmp_path / 'four.yaml'))
    assert found.runs[1].log.joints.steering.shape[1] == 4
    assert load(tmp_path / 'four.yaml').count == 4
