# SPDX-License-Identifier: Apache-2.0
"""Times in turns, their ratios, and the page that is written from the JSON."""

import ast
import json
import sys
import time

import numpy as np
import pytest
from source_tree import ROOT

sys.path.insert(0, str(ROOT / 'benchmarks'))

measuring = pytest.importorskip('measuring')
run = pytest.importorskip('run')


def test_ratio_of_rounds_cancels_a_load_that_both_meet():
    random = np.random.default_rng(1)
    # another program takes up to nine tenths of the computer, in whole rounds
    load = 1.0 / random.uniform(0.1, 1.0, 400)
    times = {'a': 2e-6 * load, 'b': 6e-6 * load * random.normal(1.0, 0.01, 400)}
    found = measuring.beside('figure', times, 'a', 'b', bar=2.9)
    assert found.ratio.median == pytest.approx(3.0, rel=2e-3) and found.met
    assert found.ratio.high - found.ratio.low < 0.1
    assert found.ours.high > 1.5 * found.ours.low
    assert measuring.beside('figure', times, 'a', 'b', bar=3.1).met is False


def last(duration):
    """Take a duration [s] of processor time."""
    end = time.perf_counter() + duration
    while time.perf_counter() < end:
        pass


def test_calls_that_make_more_than_asked_are_counted():
    def batch(count):
        last(2e-4)
        return 100

    times = measuring.turns({'batch': batch, 'one': lambda count: last(2e-4)}, 5,
                            counts={'batch': 1, 'one': 1}, clock=time.perf_counter)
    assert 2e-6 <= np.median(times['batch']) < np.median(times['one'])
    assert np.median(times['one']) >= 2e-4


def test_page_holds_every_figure_and_the_machine():
    three = measuring.spread([1.0, 2.0, 3.0])
    figures = [measuring.Figure('step', 'µs', three, 'peer', three, three, 5.0),
               measuring.Figure('solve', 'ms', three, bar=4.0)]
    results = {'machine': run.machine(), 'figures': {
        'plants': [json.loads(json.dumps(one.record())) for one in figures],
        'growth': [{'name': 'report', 'over': 'minutes', 'unit': 's', 'x': [1, 2],
                    'y': [3.0, 4.5]}]}}
    page = run.page(results)
    assert '| step | 2 [1.5, 2.5] µs | peer | 2 [1.5, 2.5] µs | 2 [1.5, 2.5] | ' \
        '≥ 5, **missed** |' in page
    assert '| solve | 2 [1.5, 2.5] ms |  | | | ≤ 4 |' in page
    assert '| report, by minutes | s | 1: 3, 2: 4.5 |' in page and 'numpy' in page


def test_every_benchmark_of_the_run_has_figures():
    for name in run.BENCHMARKS:
        source = ast.parse((ROOT / 'benchmarks' / f'bench_{name}.py').read_text(encoding='utf-8'))
        assert 'figures' in {node.name for node in source.body
                             if isinstance(node, ast.FunctionDef)}, name


def test_fleets_have_a_line_each_between_the_marks_of_their_page(tmp_path):
    fleet = pytest.importorskip('bench_fleet')
    one = dict.fromkeys(fleet.QUANTITIES, 1.5)
    curves = fleet.curves({('graph', 50.0): {1: one, 20: {**one, 'discovery': float('inf')}},
                           ('process', 200.0): {1: {**one, 'p99': 12.0}}})
    curves = json.loads(json.dumps(curves))
    page = tmp_path / 'fleets.md'
    page.write_text('before\n<!-- fleet: begin -->\nold\n<!-- fleet: end -->\nafter\n')
    fleet.write_page(curves, 'A computer.', page)
    text = page.read_text()
    assert 'old' not in text and text.startswith('before\n') and text.endswith('-->\nafter\n')
    lines = [line.split(' | ') for line in text.splitlines() if line.startswith('| a')]
    assert [line[2] for line in lines[1:]] == ['1', '20', '1'] and 'A computer.' in text
    assert 'never' in lines[2] and lines[3][4] == '12' and lines[3][0] == '| all in one process'
    # a picture has one curve of each arrangement and rate
    assert '200 Hz' in run.curves_table(curves) and run.curves_table(curves).count(' Hz') == 2
