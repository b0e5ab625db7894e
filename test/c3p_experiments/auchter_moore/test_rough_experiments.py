# SPDX-License-Identifier: Apache-2.0
"""The climb and the random hills: their figures by hand, pages, exit codes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.image import imread

from c3p_bringup.cli.main import main
from c3p_experiments.auchter_moore import experiments as rough_experiments
from c3p_experiments.auchter_moore import pages as rough_pages
from c3p_experiments.auchter_moore.experiments import (
    HILL,
    RANDOM,
    GroundCase,
    drive,
    rows,
    together,
)
from c3p_experiments.auchter_moore.measures import least_slip
from c3p_experiments.loop.conditions import Conditions
from c3p_plots import style
from c3p_rough_ground.closed_chain import RunEvent
from c3p_rough_ground.terrain import Flat
from c3p_rough_ground.worlds.terrain_files import load_terrain
from c3p_viewers.screen import PictureError

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

KEYS = {'closure_l2_max', 'rolling_l2_max', 'material_slip_max_mps', 'realtime_factor',
        'camber_max_rad', 'condition_max', 'free_inputs', 'rank_min', 'final_position_m',
        'height_climbed_m', 'events', 'ended_early', 'locked_slip_equal_rms_mps',
        'locked_slip_best_rms_mps', 'least_slip_equal_rms_mps', 'least_slip_best_rms_mps',
        'cases', 'table', 'files', 'conditions', 'reached'}


@pytest.fixture(scope='module')
def climb():
    """12 s bring all wheels onto the slope."""
    return drive(HILL.cases[0], duration=12.0)


def test_the_figures_are_those_of_the_run(climb):
    run, figures = climb.run, climb.figures
    assert figures['reached'] and not figures['ended_early'] and figures['events'] == []
    assert figures['closure_l2_max'] == run.closure_l2.max() <= 1e-11
    assert figures['material_slip_max_mps'] == run.material_slip.max() <= 1e-9
    # θ = (φ₁, α₁, γ₂, α₂, γ₃, α₃)
    assert figures['camber_max_rad'] == np.abs(run.joint[:, [2, 4]]).max() > np.radians(1)
    assert figures['steering_max_rad'] == np.abs(run.joint[:, 0]).max()
    assert figures['input_change_max'] == np.abs(run.joint_rates - [0, 1, 0, 1, 0, 1]).max()
    assert figures['height_climbed_m'] == run.position[-1, 2] - run.position[0, 2]
    # in the hollow before the slope the axle's way is shorter than the wheels' on the ground
    assert 0.95 * 12 * 0.3 < figures['path_length_m'] < 12 * 0.3
    # 18 equations, 15 unknowns, six joint rates
    assert (figures['rank_min'], figures['free_inputs']) == (15, 3)
    assert figures['slope_max_rad'] == pytest.approx(np.arctan(0.5 / 0.8), abs=0.01)
    # a wheel centre stands R + ρ along the normal from its contact where the wheel is upright
    assert figures['wheel_lean_max_m'] <= 0.3 * np.sin(figures['slope_max_rad']) + 1e-3


def test_the_least_slip_is_nothing_where_the_drives_alone_have_to_differ():
    straight = drive(GroundCase('D = 0°', lambda seed: load_terrain('plateau')), duration=10.0)
    # up the fall line all wheels turn in parallel planes: the right rates leave nothing
    assert straight.least.best.max() < 1e-12 < 1e-3 < straight.least.equal.max()
    assert straight.figures['least_slip_equal_drives_share'] == pytest.approx(1.0)
    flat = drive(GroundCase('flat', lambda seed: Flat()), duration=0.4)
    assert flat.least.equal.max() < 1e-12
    assert flat.figures['least_slip_equal_drives_share'] is None


def test_no_path_slips_less_than_the_least(climb):
    every = 10
    least = least_slip(climb.run, every)
    # the path is driven at about 1 rad/s, at which the least slip is given: 5 % apart at most
    for part in ('equal', 'best'):
        free = np.linalg.norm(getattr(least, part), axis=1)
        held = np.linalg.norm(getattr(climb.slip, part), axis=1)
        np.testing.assert_array_less(free, 1.05 * held + 1e-9)


def test_the_worst_of_all_grounds_counts(climb):
    bad = {**climb.figures, 'closure_l2_max': 1.0, 'reached': False, 'realtime_factor': 0.5}
    both = together([climb.figures, bad])
    assert both['closure_l2_max'] == 1.0 and not both['reached']
    assert both['realtime_factor'] == 0.5 and both['cases'] == [climb.figures, bad]
    assert both['final_position_m'] == climb.figures['final_position_m']


def test_a_run_that_ends_early_does_not_reach(monkeypatch):
    real = rough_experiments.simulate

    def ending(*arguments):
        return replace(real(*arguments), events=(
            RunEvent('second contact', 0.4, '1', (1.0, 2.0), -0.1, 'it touches twice'),))

    monkeypatch.setattr(rough_experiments, 'simulate', ending)
    figures = drive(HILL.cases[1], duration=0.4).figures
    assert figures['ended_early'] and not figures['reached']
    assert figures['events'] == ['it touches twice']


def test_the_seed_makes_the_ground():
    first, again, other = (RANDOM.cases[0].terrain(seed) for seed in (2, 2, 3))
    x = np.linspace(0.0, 5.0, 7)
    np.testing.assert_array_equal(first.height(x, x), again.height(x, x))
    assert np.abs(first.height(x, x) - other.height(x, x)).max() > 0.01


def test_every_row_of_the_table_has_its_figure(climb):
    figures = together([climb.figures, climb.figures])
    for study in (HILL, RANDOM):
        assert all(row.value(figures) is not None for row in rows(study))


def test_the_command_writes_page_table_and_figures(tmp_path, monkeypatch, capsys):
    # coarse, because the page is what is looked at
    monkeypatch.setattr(rough_pages, 'PICTURE', (725, 252))
    monkeypatch.setattr(style, 'DPI', 75)
    code = main(['experiment', 'hill', '--duration', '2', '--out', str(tmp_path), '--json',
                 str(tmp_path / 'a.json')])
    figures = json.loads((tmp_path / 'a.json').read_text())
    assert code == 0 and figures.keys() >= KEYS
    assert figures['conditions'] == {'robot': 'pvc_tricycle', 'duration_s': 2.0, 'step_s': 0.02,
                                     'seed': 0}
    assert [case['time_s'] for case in figures['cases']] == [2.0, 2.0]
    assert 'closure (12), L2, largest' in capsys.readouterr().out
    assert '![PVC tricycle climbs onto a plateau](hill.png)' in (tmp_path / 'hill.md').read_text()
    page = imread(tmp_path / 'hill.png')
    # 12 × 12.4 inches; picture and panels in every quarter
    assert page.shape[:2] == (930, 900)
    for rows_, columns in ((a, b) for a in (slice(0, 450), slice(450, None))
                           for b in (slice(0, 450), slice(450, None))):
        quarter = page[rows_, columns]
        assert quarter[..., :3].std() > 0.03
    assert (tmp_path / 'hill.pdf').read_bytes().startswith(b'%PDF')


def test_without_opengl_the_page_has_the_remedy_and_its_panels(climb, tmp_path, monkeypatch):
    def fail(*arguments):
        raise PictureError('no OpenGL here; install libegl1')

    monkeypatch.setattr(rough_pages, 'RunStudio', fail)
    texts = []
    monkeypatch.setattr(Axes, 'text', lambda self, *arguments, **options: texts.append(
        arguments[2]))
    figures = together([climb.figures, climb.figures])
    pages = rough_pages.rough_page('t', 's', figures, [climb], 'pvc_tricycle', tmp_path / 'page')
    assert 'No picture: no OpenGL here; install libegl1' in texts
    assert imread(pages[0])[1000:, ..., :3].std() > 0.03


def test_a_missed_bar_is_the_exit_code(tmp_path, monkeypatch):
    monkeypatch.setattr(rough_experiments, 'CLOSURE_BAR', 0.0)
    monkeypatch.setattr(rough_experiments, 'rough_page', lambda *arguments: [tmp_path] * 2)
    assert main(['experiment', 'random_terrain', '--duration', '1', '--out', str(tmp_path)]) == 1
    assert 'Checks FAILED' in (tmp_path / 'random_terrain.md').read_text()


def test_a_film_that_cannot_be_written_is_refused_before_the_runs(tmp_path):
    with pytest.raises(ValueError, match='film avi: must be one of mp4, gif'):
        rough_experiments.hill(tmp_path, Conditions(film='avi'))
