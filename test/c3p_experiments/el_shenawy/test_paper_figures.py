# SPDX-License-Identifier: Apache-2.0
"""Paper I, Figs 4 to 8 and paper II, Figs 2 and 6; figures by number; curves as data."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from robots import C3P

from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.traction import torque_bounds
from c3p_experiments.catalogue import EXPERIMENTS, run_experiment
from c3p_experiments.el_shenawy import feed_forward
from c3p_experiments.el_shenawy.feed_forward import RAMP, UNTIL
from c3p_experiments.el_shenawy.postures import POSTURES, reach
from c3p_experiments.figures import FIGURES, experiment_of_figure, figure_number
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.page_curves import COLUMNS, page_rows, save_page

PAPERS = Conditions()


@pytest.mark.parametrize('degrees', [p[1] for p in POSTURES], ids=[p[0] for p in POSTURES])
def test_torques_without_yaw_acceleration_stay_within_the_outline(degrees):
    robot, rng = replace(C3P, friction=Friction()), np.random.default_rng(3)
    steering, bound, still = np.radians(degrees), torque_bounds(C3P), np.zeros(3)
    outline = reach(robot, steering).outline
    far = np.hypot(*outline.T)
    yaw = np.array([forward_dynamics(robot, steering, still, unit)[2] for unit in np.eye(3)])
    for torque in rng.uniform(-bound, bound, (200, 3)):
        if yaw @ yaw > 1e-20:
            torque = torque - yaw * (yaw @ torque) / (yaw @ yaw)
        torque = torque / max(1.0, np.abs(torque / bound).max())
        accel = forward_dynamics(robot, steering, still, torque)
        assert abs(accel[2]) < 1e-9
        place = np.arctan2(accel[1], accel[0]) % (2 * np.pi) / (2 * np.pi) * len(far)
        # the outline has 120 corners: the set itself is up to 3 % wider between two of them
        limit = max(far[int(place) % len(far)], far[(int(place) + 1) % len(far)])
        assert np.hypot(*accel[:2]) <= 1.03 * limit + 1e-9


def test_the_postures_of_the_papers_lose_what_the_papers_say(tmp_path):
    metrics = run_experiment('postures', PAPERS, tmp_path)
    lost = [np.array(p['lost_twist']) for p in metrics['postures']]
    assert metrics['reached'] and (tmp_path / 'postures.png').exists()
    for got, expected in zip(lost, ([0, 1, 0], [-1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]),
                             strict=True):
        np.testing.assert_allclose(np.cross(got, expected), 0, atol=1e-12)
        assert bool(np.any(got)) == any(expected)


def test_feed_forward_follows_the_ramp_where_the_models_are_inverse(tmp_path):
    # four times the step of the page: the unit delay is an error of first order
    robot, step = replace(load('c3p_25kg'), friction=Friction()), 4 * feed_forward.STEP
    with np.errstate(all='ignore'):
        runs = [feed_forward.simulate(robot, case, np.radians(angles), form, step)
                for case, angles, forms in feed_forward.CASES for form in forms]
    error = {(r.case, r.form): abs(r.speed[-1] / (RAMP * UNTIL) - 1.0) for r in runs}
    # example 1 is exact in every reading; in example 2 the casters turn towards zero, as printed
    assert error['example 1', 'constrained'] < 1e-12
    assert error['example 2', 'wheels'] < 0.04 and error['example 2', 'constrained'] > 0.3
    wheels = next(r for r in runs if r.form == 'wheels')
    assert np.degrees(np.abs(wheels.steering[-1])).max() < 15.0
    assert max(r.closure.max() for r in runs if r.form == 'blocks') > 1.0
    assert feed_forward._page(runs, tmp_path / 'page')[0].stat().st_size > 10_000


def test_the_structure_shows_the_angles_of_the_functions_that_the_law_uses(tmp_path):
    found = run_experiment('structure', PAPERS, tmp_path)
    assert found['reached']
    # 60.3° − 12.5°, and 39.3° − 26.6°
    assert found['psi_deg'] == pytest.approx(47.73, abs=0.01)
    assert found['delta_er_deg'] == pytest.approx(12.72, abs=0.01)
    # right of the line the printed signs turn to the right, which is away from it
    assert found['turn_away_radps'] < 0.0
    assert (found['turn_back'], found['turn_back_printed']) == (1.0, -1.0)


def test_curves_beside_a_page_are_those_drawn(tmp_path):
    sheet = Figure()
    first, second = sheet.subplots(1, 2)
    first.set_title('(a) height', loc='left')
    first.set_xlabel('time [s]')
    first.plot([0.0, 1.0], [2.0, 1.0 / 3.0], label='ball')
    first.axvline(0.5)
    second.plot([0.0], [5.0])
    rows = list(page_rows(sheet))
    assert rows == [('(a) height', 'ball', 'time [s]', '', '0', '2'),
                    ('(a) height', 'ball', 'time [s]', '', '1', '0.333333333'),
                    ('2', '1', '', '', '0', '5')]
    files = save_page(sheet, tmp_path / 'page')
    assert [file.name for file in files] == ['page.png', 'page.pdf', 'page.csv']
    with open(files[2], encoding='utf-8', newline='') as file:
        assert [tuple(row) for row in csv.reader(file)] == [COLUMNS, *rows]


def test_robots_of_another_kind_are_refused_in_one_line(tmp_path):
    for name in ('postures', 'feed_forward'):
        with pytest.raises(ValueError, match='agv: the .* three'):
            run_experiment(name, replace(PAPERS, robot='agv'), tmp_path)


def test_every_figure_by_number_has_an_experiment():
    known = {*EXPERIMENTS}
    assert all(name in known for figures in FIGURES.values() for name in figures.values())
    assert [figure_number(n) for n in ('figure9', 'Fig. 9', 'fig10', 'line', 'figure')] == [
        9, 9, 10, None, None]
    assert experiment_of_figure(9, '1') == 'line' and experiment_of_figure(9, '2') == 'flip'


@pytest.mark.parametrize(('arguments', 'text'), [
    (['figure9'], 'of which paper'),
    (['figure3', '--paper', '1'], 'figure3 of paper 1 has no experiment'),
    (['figure9', '--paper', '3'], '--paper 3: must be one of'),
    (['line', '--paper', '1'], 'needs a figure'),
])
def test_figures_that_do_not_exist_are_named(arguments, text, capsys):
    assert main(['experiment', *arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_figure_by_its_number_is_the_experiment(tmp_path, capsys):
    assert main(['experiment', 'figure4', '--paper', '1', '--out', str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith('postures:')
