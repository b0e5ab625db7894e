# SPDX-License-Identifier: Apache-2.0
"""The measured tables of README.md and docs: those of the data, and true."""

import statistics
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))
import write_figures as figures  # noqa: E402
from figure_studies import STUDIES  # noqa: E402
from figure_study import Cell  # noqa: E402

from c3p_experiments.catalogue import EXPERIMENTS, run_experiment  # noqa: E402
from c3p_experiments.loop.conditions import Conditions  # noqa: E402
from c3p_experiments.loop.outcome import Row  # noqa: E402

RUNS = figures.read()['runs']


def cells(page):
    """Return kind and rows of the table on a page: experiment, seeds, figure, printed, bar, …."""
    text = page.read_text(encoding='utf-8')
    kind, = figures.BLOCK.findall(text)
    rows, before = [], ''
    for line in figures.BLOCK.search(text)[0].splitlines()[3:-1]:
        row = [cell.strip() for cell in line.strip('|').split('|')]
        before = row[0] = row[0].strip('`') or before
        rows.append(row)
    return kind, rows


@pytest.mark.parametrize('page', (*figures.PAGES, *figures.OTHERS), ids=lambda page: page.name)
def test_tables_are_those_of_the_data(page):
    text = page.read_text(encoding='utf-8')
    assert figures.BLOCK.search(text) or figures.INLINE.search(text)
    assert figures.rewritten(text, RUNS) == text, 'run python scripts/write_figures.py --seeds 0'


@pytest.mark.parametrize('page', figures.PAGES, ids=lambda page: page.name)
def test_rows_are_those_of_the_experiments_with_a_figure_of_every_controller(page):
    kind, rows = cells(page)
    wanted = [
        [e.name, row.name + (f' [{row.unit}]' if row.unit else ''), row.printed,
         '' if row.bar_for('mpc') is None else f'{row.scale * row.bar_for("mpc"):g}']
        for e in EXPERIMENTS.values() for row in e.rows
        if e.compared and not row.name.startswith(figures.LEFT_OUT)
        and (kind == 'all' or row.bar_for('mpc') is not None)]
    assert [[row[0], *row[2:5]] for row in rows] == wanted
    assert all(len(row) == 5 + len(figures.CONTROLLERS) and all(row[5:]) for row in rows)


def test_no_run_is_missing_a_figure():
    tasks = [figures.Task(controller, name, int(seed)) for controller, of in RUNS.items()
             for name, seeds in of.items() for seed in seeds]
    assert tasks and not figures.missing(RUNS, tasks)


@pytest.mark.parametrize('values, bar, at_least, text', [
    ([1.0, 2.0, 9.0], None, False, '2.0 / 9.0'), ([1.0, 2.0, 9.0], 9.0, False, '**2.0 / 9.0**'),
    ([1.0, 2.0, 9.0], 8.9, False, '2.0 / 9.0'), ([1.0, 2.0, 9.0], 1.0, True, '**2.0 / 1.0**'),
    ([1.0, None, 2.0], 9.0, False, '2.0 / never'), ([None, None, 2.0], 9.0, False, 'never'),
    ([3.0, 3.0], 3.0, False, '**3.0**')])
def test_a_cell_is_median_and_worst_and_bold_where_all_meet_the_bar(values, bar, at_least, text):
    row = Row('a', 'a', digits=1, bar=bar, at_least=at_least)
    assert figures.summary(values, row, 'mpc') == text


def test_data_are_written_and_read_without_loss(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, 'DATA', tmp_path / 'figures.json')
    data = {'versions': figures.versions(), 'runs': {
        'paper': {'line': {'10': {'a': 0.1}, '2': {'a': None}}}, 'mpc': {'flip': {'0': {}}}}}
    figures.write(data)
    assert figures.read() == data
    # resumed: a run without one of its figures is missing
    assert figures.missing(data['runs'], [figures.Task('mpc', 'flip', 0)])


def test_a_figure_in_a_text_is_median_and_worst_of_its_row():
    name = 'path error, largest'
    runs = {'mpc': {'line': {'0': {name: 0.2}, '1': {name: 0.4}}}}
    mark = '<!-- figure: mpc/line/path error, largest -->'
    assert (figures.rewritten(f'{mark}<!-- end --> cm, {mark}9<!-- end -->', runs)
            == f'{mark}0.30 / 0.40<!-- end --> cm, {mark}0.30 / 0.40<!-- end -->')


def test_cells_of_a_study_are_middle_count_or_number_of_seeds():
    runs = {'a study': {'a case': {'0': {'x': 1.0}, '1': {'x': 0.0}, '2': {'x': 0.5}}}}
    for kind, text in (('middle', '0.5 / 1.0'), ('count', '2 of 3'), ('seeds', '3'),
                       ('sum', '1.5')):
        assert figures.cell_text(Cell('a study', 'a case', 'x', 1, kind), runs) == text
    # of which nine tenths are at most that
    assert figures.cell_text(Cell('a study', 'a case', 'x', 2, 'p90'), runs) == '0.90'
    # where there was nothing to be right or wrong about it counts for neither
    runs['a study']['a case']['0']['x'] = None
    assert figures.cell_text(Cell('a study', 'a case', 'x', 1, 'count'), runs) == '1 of 2'
    assert figures.cell_text(Cell('a study', 'a case', 'x', 1, 'sum'), runs) == '0.5'
    # and is never reached
    assert figures.cell_text(Cell('a study', 'a case', 'x', 2, 'p90'), runs) == figures.NEVER
    assert figures.cell_text('text', runs) == 'text'
    assert figures.cell_text(Cell('a study', 'other', 'x'), runs) == figures.MISSING


@pytest.mark.parametrize('name', STUDIES)
def test_every_cell_of_a_study_is_measured(name):
    study = STUDIES[name]
    assert all(len(row) == len(study.header) for row in study.rows)
    cells = [cell for row in study.rows for cell in row if isinstance(cell, Cell)]
    assert {cell.case for cell in cells if cell.study == name} == set(study.cases)
    for cell in cells:
        seeds = RUNS[cell.study][cell.case]
        assert seeds and all(cell.figure in run for run in seeds.values()), cell
        # seeds in order, so that no run was left out for its value
        assert [*seeds] == [str(seed) for seed in range(len(seeds))], cell
        assert len(seeds) == 1 or cell.case not in study.single


@pytest.mark.parametrize('case', ['align analytic', 'flip analytic'])
def test_the_first_seconds_are_what_is_kept(case):
    kept = RUNS['first_seconds'][case]['0']
    found = STUDIES['first_seconds'].cases[case](0)
    # without contact another processor changes last digits: 5 µm and a cycle
    assert found['path'] == pytest.approx(kept['path'], abs=0.005)
    assert found['time'] == pytest.approx(kept['time'], abs=0.006)


def test_the_line_of_the_default_controller_is_what_is_kept_and_meets_its_bars(tmp_path):
    pytest.importorskip('mujoco')
    found = run_experiment('line', Conditions(plant='mujoco', controller='mpc'), tmp_path)
    seeds = RUNS['mpc']['line']
    for row in figures.rows_of('line'):
        measured = row.value(found)
        if row.bar_for('mpc'):
            assert measured <= row.bar_for('mpc'), row.key
            # another processor rounds otherwise, and contact makes more of it: a few hundredths
            # of a second and a millimetre on the way, and a quarter of a centimetre where dry
            # friction holds the robot at last
            kept = statistics.median(run[row.name] for run in seeds.values())
            assert row.scale * measured == pytest.approx(
                kept, abs=0.25 if 'final' in row.name else 0.1), row.name
