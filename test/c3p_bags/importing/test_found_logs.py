# SPDX-License-Identifier: Apache-2.0
"""Logs as they are found: other forms of CSV, clocks that were set, counters that wrap."""

import numpy as np
import pytest
from robot_logs import joint_state, write_csv, write_ros1, write_wpilog
from test_import import MAPPING, imported, joints_of

from c3p_bags.storage.bag_writer import BagError

DRIVE = [(1.0 + 0.1 * k, float(k)) for k in range(60)]


def lines(rows, separator=','):
    return ''.join(f'{t:.1f}{separator}{a:g}\n' for t, a in rows)


def clock(by, after=30):
    """Return the rows of a log whose clock was set."""
    return [(t + (by if k > after else 0.0), a) for k, (t, a) in enumerate(DRIVE)]


# text of the log, and a word of the remark; all of the drive is in each
FOUND = {
    'tidy': ('t,a\n' + lines(DRIVE), ''),
    'decimal commas under a name with a point': (
        't;pos.x;a\n' + lines(DRIVE, ';0;').replace('.', ','), ''),
    'names with more commas than columns': (
        'time;x, y, z [m, m, m];"a"\n' + lines(DRIVE, ';0;').replace('time', 't'), ''),
    'a row of units': ('t,a\ns,rad\n' + lines(DRIVE), ''),
    'a title': ('Drive of today\nt,a\n' + lines(DRIVE), ''),
    'the separator first': ('sep=;\nt;a\n' + lines(DRIVE, ';'), ''),
    'names repeated': ('t,a\n' + lines(DRIVE[:20]) + 't,a\n' + lines(DRIVE[20:]),
                       '1 lines repeat'),
    'begun anew': ('t,a\n' + lines(DRIVE[:31]) + 't,a\n' + lines(clock(-3.0)[31:]),
                   'the clock was set by -3.000 s'),
    'clock back': ('t,a\n' + lines(clock(-3600.0)), 'the clock was set by -3600.000 s'),
    'clock forward': ('t,a\n' + lines(clock(1.79e9)), 'the clock was set by +1790000000.000 s'),
    'blocks exchanged': ('t,a\n' + lines(DRIVE[20:40] + DRIVE[:20] + DRIVE[40:]), 'are sorted'),
    'descending': ('t,a\n' + lines(DRIVE[::-1]), 'are sorted'),
    'times not set': ('t,a\n' + lines(DRIVE[:9] + [(-1.0, 9.0), (0.0, 9.0)] + DRIVE[9:]),
                      '2 rows have no time'),
    'cut in a number': ('t,a\n' + lines(DRIVE) + '7.0,6', 'has no end'),
    'cut in a row': ('t,a\n' + lines(DRIVE) + '7', 'has no end'),
    'zeros at the end': ('t,a\n' + lines(DRIVE) + '\0' * 300, 'zero bytes'),
}


@pytest.mark.parametrize(('text', 'says'), FOUND.values(), ids=FOUND)
def test_csv_as_it_is_found(tmp_path, text, says):
    log = tmp_path / 'log.csv'
    log.write_text(text, newline='')
    columns = ('time', 'a') if 'time;' in text else ('t', 'a')
    found, done = imported(tmp_path, log,
        f'time: {{column: {columns[0]}}}\njoints: {{j: {{column: {columns[1]}}}}}')
    stamps, joints = joints_of(found)
    assert joints['j'].tolist() == [a for _, a in DRIVE]
    assert stamps == pytest.approx([t for t, _ in DRIVE], abs=1e-6)
    assert says in ' '.join(done.remarks) and bool(says) == bool(done.remarks)


def test_a_spreadsheet_in_utf_16_is_read(tmp_path):
    log = tmp_path / 'log.txt'
    log.write_bytes(('t\ta\n' + lines(DRIVE, '\t')).encode('utf-16'))
    found, _ = imported(tmp_path, log, MAPPING)
    assert joints_of(found)[1]['j'].tolist() == [a for _, a in DRIVE]


def test_decimal_commas_without_names_are_no_separators(tmp_path):
    log = tmp_path / 'log.txt'
    log.write_text(lines(DRIVE, ';').replace('.', ','))
    found, _ = imported(tmp_path, log, 'time: {column: 1}\njoints: {j: {column: 2}}')
    assert joints_of(found)[1]['j'].tolist() == [a for _, a in DRIVE]


def test_increments_in_exchanged_blocks_are_summed_in_the_order_of_time(tmp_path):
    log = tmp_path / 'log.txt'
    ticks = [(t, float(k % 7)) for k, (t, _) in enumerate(DRIVE)]
    log.write_text('t,a\n' + lines(ticks[20:40] + ticks[:20] + ticks[40:]))
    found, _ = imported(tmp_path, log, 'time: {column: t}\n'
                                       'joints: {j: {column: a, increments: true}}')
    assert joints_of(found)[1]['j'] == pytest.approx(np.cumsum([a for _, a in ticks]))


@pytest.mark.parametrize(('values', 'words', 'says'), [
    ((65000 + 20 * np.arange(60)) % 65536, 'unit: counts, counts_per_turn: 4096', 'by 65536'),
    ((30 - 2 * np.arange(60)) % 2**32, 'unit: counts, counts_per_turn: 4096', 'by 4.29497e+09'),
    ((350 + np.arange(60)) % 360, 'unit: deg', 'by 360'),
    ((350 + np.arange(60)) % 360, 'unit: deg, wrap: 2pi', ''),
    (np.repeat([0.0, 360.0], 30), 'unit: deg, increments: true', '')])
def test_a_counter_that_wraps_without_a_wrap_is_said(tmp_path, values, words, says):
    log = write_csv(tmp_path / 'a.csv', [[t for t, _ in DRIVE], values], ['t', 'a'])
    _, done = imported(tmp_path, log, f'time: {{column: t}}\n'
                                      f'joints: {{j: {{column: a, {words}}}}}')
    assert says in ' '.join(done.remarks) and bool(says) == bool(done.remarks)


@pytest.mark.parametrize(('unit', 'every'), [('s', 1.0), ('ms', 100.0)])
def test_a_period_that_robots_do_not_have_is_said(tmp_path, unit, every):
    times = 100.0 * every * np.arange(1, 9)
    log = write_csv(tmp_path / 'a.csv', [times, np.arange(8)], ['t', 'a'])
    _, done = imported(tmp_path, log, f'time: {{column: t, unit: {unit}}}\n'
                                      'joints: {j: {column: a}}')
    assert 'check the unit of the time' in ' '.join(done.remarks)


def test_stamps_of_ros_1_that_were_set_back_give_way_to_times_of_recording(tmp_path):
    log = write_ros1(tmp_path / 'one.bag', [
        ('/j', round(1e9 * (t + 5.0)), joint_state(round(1e9 * stamp), ['a'], [a]))
        for (t, a), (stamp, _) in zip(DRIVE, [(t + 8000.0, a) for t, a in clock(-7200.0)],
                                      strict=True)])
    found, done = imported(tmp_path, log, 'joints: {j: {column: "/j#position[a]"}}')
    stamps, joints = joints_of(found)
    assert joints['j'].tolist() == [a for _, a in DRIVE]
    assert np.diff(stamps) == pytest.approx(0.1) and 'set back' in done.remarks[0]


@pytest.mark.parametrize('by', [-1.5, -3600.0])
@pytest.mark.parametrize('mapped', [True, False])
def test_a_bag_of_ros_1_whose_clock_was_set_back_is_in_the_order_of_its_file(tmp_path, by,
                                                                           mapped):
    times = [5000.0 + t for t, _ in clock(by)]
    log = write_ros1(tmp_path / 'one.bag', [
        ('/joint_states', round(1e9 * t), joint_state(round(1e9 * t), ['a'], [a]))
        for (_, a), t in zip(DRIVE, times, strict=True)])
    found, done = imported(tmp_path, log, 'joints: {j: {column: "/joint_states#position[a]"}}'
                           if mapped else None)
    positions = [message.position[0] for _, message in found['/joint_states']]
    assert positions == [a for _, a in DRIVE]
    recorded = [time for time, _ in found['/joint_states']]
    assert 1e-9 * np.diff(recorded) == pytest.approx(0.1, abs=0.001)
    assert any('the clock of the recorder was set back 1 times' in said for said in done.remarks)


def test_an_array_of_all_modules_has_a_value_for_each_joint(tmp_path):
    records = [('all', 20_000 * (k + 1), [k, 10.0 * k, -k]) for k in range(5)]
    log = write_wpilog(tmp_path / 'log.wpilog', [('all', 100, []), *records],
                       {'all': 'double[]'})
    found, done = imported(tmp_path, log, 'joints: {a: {column: "all[0]"}, b: {column: "all[1]"}, '
                                          'c: {column: "all[2]", increments: true}}')
    _, joints = joints_of(found)
    assert joints['a'].tolist() == [0, 1, 2, 3, 4] and joints['b'].tolist() == [0, 10, 20, 30, 40]
    assert joints['c'].tolist() == [0, -1, -3, -6, -10] and not done.remarks
    # the last value of an array whose values are not told apart
    (tmp_path / 'two').mkdir()
    found, done = imported(tmp_path / 'two', log, 'joints: {a: {column: all}}')
    assert joints_of(found)[1]['a'].tolist() == [0, -1, -2, -3, -4]
    assert 'all has arrays of 3 values, of which the last is taken; all[K]' in done.remarks[0]
    (tmp_path / 'three').mkdir()
    with pytest.raises(BagError, match=r"3 values of 'all'; 'all\[3\]' is not among them"):
        imported(tmp_path / 'three', log, 'joints: {a: {column: "all[3]"}}')
