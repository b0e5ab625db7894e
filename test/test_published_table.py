# SPDX-License-Identifier: Apache-2.0
"""The table of published descriptions, by the JSON of c3p robot."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / 'scripts'))
    import write_published
    yield write_published
    sys.modules.pop('write_published')


def outcome(reached, path, final):
    return {'reached': reached, 'ground_truth_path_error_max_m': path,
            'ground_truth_final_error_m': final}


def results(folder, script, battery):
    """Write the JSON of the first robot with options, and return its file."""
    robot = next(one for one in script.ROBOTS if one.options)
    file = script.result_file(folder, robot)
    file.write_text(json.dumps({
        'controller': 'modules', 'battery': battery,
        'reached': all(drive['reached'] for drive in battery.values())}))
    return robot, file


def test_errors_are_those_of_the_drives_that_arrived_and_missed_ones_are_named(script, tmp_path):
    battery = {'line': outcome(True, 0.0123, 0.001), 'spin': outcome(False, 3.0, 2.0),
               'sideways': outcome(True, 0.02, 0.0005), 'a': outcome(False, None, None),
               'b': outcome(False, None, None)}
    robot, file = results(tmp_path, script, battery)
    found = script.row(robot, json.loads(file.read_text()))
    assert found[2:] == ['`modules`', '2 of 5', '2.00', '0.10', '`spin`, `a` and 1 more']
    text = script.table(tmp_path)
    assert text.startswith('All drives are done by 0 of 1:') and text.count('\n|') == 3


def test_a_robot_whose_drives_all_arrived_counts(script, tmp_path):
    results(tmp_path, script, {'line': outcome(True, 0.01, 0.001)})
    assert script.table(tmp_path).startswith('All drives are done by 1 of 1:')


def test_the_table_is_written_between_its_marks(script):
    page = f'before\n{script.BEGIN}old\n{script.END}after\n'
    assert script.written(page, 'new\n') == f'before\n{script.BEGIN}new\n{script.END}after\n'
    with pytest.raises(SystemExit, match='are missing'):
        script.written('nothing', 'new')


def test_the_page_has_rows_of_the_robots_in_their_order_and_counts_them(script):
    text = (ROOT / 'docs/robots.md').read_text(encoding='utf-8')
    part = text.partition(script.BEGIN)[2].partition(script.END)[0]
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in part.splitlines() if line.startswith('| ')][1:]
    names = [robot.name for robot in script.ROBOTS]
    assert len(rows) >= 12 and [row[0] for row in rows] == [
        name for name in names if name in {row[0] for row in rows}]
    counts = [tuple(map(int, row[3].split(' of '))) for row in rows]
    done = [total for reached, total in counts if reached == total]
    # those of robots that cannot do some are fewer
    whole = done.count(max(done))
    assert f'All drives are done by {whole} of {len(rows)}' in part
    if len(done) > whole:
        assert f', and all that it can do by {len(done) - whole} more:' in part
