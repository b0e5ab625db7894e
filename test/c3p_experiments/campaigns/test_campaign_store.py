# SPDX-License-Identifier: Apache-2.0
"""The results: one kind or the other, in parts, whole at any time, of one campaign only."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_experiments.campaigns import result_files
from c3p_experiments.campaigns import store as campaign_store
from c3p_experiments.campaigns.result_files import (
    StoreError,
    columns_of,
    have_parquet,
    parts_of,
    read,
    write,
)
from c3p_experiments.campaigns.store import ResultSet
from c3p_experiments.campaigns.table import Table

IDENTITY = {'seed': 0, 'latency': [0.0, 0.02]}
ROWS = [{'index': 0, 'latency_s': 0.1 + 0.2, 'reached': True, 'time_s': 1, 'failure': ''},
        {'index': 2, 'latency_s': 1e-300, 'reached': False, 'time_s': None,
         'failure': 'PlantError: "fallen", over\nhere, 1'}]
KINDS = ['csv', pytest.param('parquet', marks=pytest.mark.skipif(
    not have_parquet(), reason='needs pyarrow'))]


@pytest.mark.parametrize('kind', KINDS)
def test_rows_come_back_to_the_last_bit(kind, tmp_path):
    path = tmp_path / f'rows.{kind}'
    write(path, IDENTITY, ROWS)
    assert read(path) == (IDENTITY, ROWS)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@given(values=st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
                       min_size=1, max_size=5))
def test_any_number_comes_back(values, tmp_path_factory):
    folder = tmp_path_factory.mktemp('rows')
    rows = [{'index': i, 'x': value, 'failure': ''} for i, value in enumerate(values)]
    for kind in ('csv', 'parquet') if have_parquet() else ('csv',):
        write(folder / f'rows.{kind}', IDENTITY, rows)
        assert read(folder / f'rows.{kind}') == (IDENTITY, rows)


def test_what_users_read_with_has_the_same_numbers(tmp_path):
    pandas = pytest.importorskip('pandas')
    write(tmp_path / 'rows.csv', IDENTITY, ROWS)
    tables = [pandas.read_csv(tmp_path / 'rows.csv', comment='#')]
    if have_parquet():
        write(tmp_path / 'rows.parquet', IDENTITY, ROWS)
        tables.append(pandas.read_parquet(tmp_path / 'rows.parquet'))
    for table in tables:
        assert table['latency_s'].tolist() == [0.1 + 0.2, 1e-300]
        assert table['reached'].tolist() == [True, False] and math.isnan(table['time_s'][1])


def test_parquet_where_it_is_and_a_file_that_is_there_stays_what_it_is(monkeypatch, tmp_path):
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: False)
    with ResultSet(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
    assert file.path.name == 'campaign.csv'
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: True)
    with ResultSet(tmp_path, IDENTITY) as file:
        file.add(ROWS[1])
    assert file.path.name == 'campaign.csv' and read(file.path)[1] == ROWS
    with ResultSet(tmp_path / 'new', IDENTITY) as file:
        assert file.path.name == 'campaign.parquet'


def test_a_parquet_file_without_pyarrow_says_what_is_missing(monkeypatch, tmp_path):
    (tmp_path / 'campaign.parquet').mkdir()
    (tmp_path / 'campaign.parquet/part-00000.parquet').write_bytes(b'')
    monkeypatch.setattr(result_files, 'have_parquet', lambda: False)
    with pytest.raises(StoreError, match='needs pyarrow'):
        ResultSet(tmp_path, IDENTITY)


def test_rows_are_sorted_whatever_the_order_in_which_they_come(tmp_path):
    with ResultSet(tmp_path, IDENTITY) as file:
        for row in reversed(ROWS):
            file.add(row)
    assert read(file.path)[1] == ROWS


def test_an_error_in_the_middle_keeps_the_rows(tmp_path):
    with pytest.raises(KeyboardInterrupt), ResultSet(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
        raise KeyboardInterrupt
    assert read(file.path)[1] == ROWS[:1]


def test_a_write_that_fails_leaves_the_old_file(monkeypatch, tmp_path):
    path = tmp_path / 'rows.csv'
    write(path, IDENTITY, ROWS)

    def full(number):
        raise OSError('no space left')

    monkeypatch.setattr(result_files.os, 'fsync', full)
    with pytest.raises(OSError, match='no space'):
        write(path, IDENTITY, [])
    assert read(path)[1] == ROWS


def test_rows_are_saved_while_others_are_computed(monkeypatch, tmp_path):
    now = [0.0]
    monkeypatch.setattr(campaign_store.time, 'monotonic', lambda: now[0])
    with ResultSet(tmp_path, IDENTITY) as file:
        now[0] = 0.4 * campaign_store.INTERVAL
        file.add(ROWS[0])
        assert not file.path.exists()
        now[0] = 1.1 * campaign_store.INTERVAL
        file.add(ROWS[1])
        assert len(read(file.path)[1]) == 2


def test_two_campaigns_do_not_write_into_one_folder(tmp_path):
    pytest.importorskip('fcntl')
    with ResultSet(tmp_path, IDENTITY):
        with pytest.raises(StoreError, match='another campaign writes there now'):
            ResultSet(tmp_path, IDENTITY)
    with ResultSet(tmp_path, IDENTITY):
        pass


def test_a_file_of_another_campaign_is_refused_and_stays(tmp_path):
    with ResultSet(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
    for other in ({**IDENTITY, 'seed': 1}, {'seed': 0}, {**IDENTITY, 'latency': 0.0}):
        with pytest.raises(StoreError, match='belongs to another campaign'):
            ResultSet(tmp_path, other)
    assert read(file.path)[1] == ROWS[:1]
    with ResultSet(tmp_path, {'seed': 7}, resume=False) as file:
        assert file.done == {} and not file.path.exists()


@pytest.mark.parametrize('kind', ['csv', 'parquet'])
def test_a_file_that_is_none_is_named_with_a_remedy(kind, tmp_path):
    place = tmp_path / f'campaign.{kind}'
    place.write_text('not this\n1,2\n')
    with pytest.raises(StoreError, match=f'campaign.{kind}.*not a directory.*--no-resume'):
        ResultSet(tmp_path, IDENTITY)
    place.unlink()
    place.mkdir()
    (place / f'part-00000.{kind}').write_text('not this\n1,2\n')
    with pytest.raises(StoreError, match=f'part-00000.{kind}.*(--no-resume|pyarrow)'):
        ResultSet(tmp_path, IDENTITY)


def test_two_result_files_in_one_folder_are_refused(tmp_path):
    for name in ('campaign.csv', 'campaign.parquet'):
        (tmp_path / name).write_text('')
    with pytest.raises(StoreError, match='has one result;'):
        ResultSet(tmp_path, IDENTITY)


def row(index):
    """Return a row that is distinct."""
    return {'index': index, 'latency_s': 0.1 * index, 'reached': index % 3 > 0, 'failure': ''}


def written(path):
    """Return what changes when a file is written, but not when it is read."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


@pytest.mark.parametrize('kind', KINDS)
def test_a_part_that_is_complete_is_neither_kept_nor_written_again(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(campaign_store, 'PART', 3)
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: kind == 'parquet')
    with ResultSet(tmp_path, IDENTITY) as results:
        for index in (1, 4, 0, 2):
            results.add(row(index))
        # draws 0 to 2 are on the disk, draw 4 waits for its interval
        first = written(results.place(0))
        assert list(results.open) == [1] and not results.place(1).exists()
        for index in (8, 7, 3):
            results.add(row(index))
    assert [path.stem for path in parts_of(results.path)] == [
        'part-00000', 'part-00001', 'part-00002']
    with ResultSet(tmp_path, IDENTITY) as results:
        assert results.done == {index: index % 3 > 0 for index in (0, 1, 2, 3, 4, 7, 8)}
        # the rows of a part that goes on are read again
        results.add(row(5))
        assert results.open == {}
    assert written(results.place(0)) == first
    assert read(results.path)[1] == [row(index) for index in (0, 1, 2, 3, 4, 5, 7, 8)]


@pytest.mark.parametrize('kind', KINDS)
def test_parts_whose_draws_all_failed_get_the_columns_of_the_others(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(campaign_store, 'PART', 2)
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: kind == 'parquet')
    rows = [{'index': i, 'reached': i > 3, 'failure': '' if i > 3 else 'fallen'}
            | ({'time_s': 2 if i < 6 else 2.5, 'flag': True} if i > 3 else {'time_s': None})
            for i in range(8)]
    with ResultSet(tmp_path, IDENTITY) as results:
        for one in rows:
            results.add(one)
    parts = parts_of(results.path)
    assert len(parts) == 4 and len({tuple(columns_of(part)) for part in parts}) == 1
    if kind == 'parquet':
        assert dict(columns_of(parts[0])) == {'index': 'int64', 'reached': 'bool', 'failure':
                                              'string', 'time_s': 'double', 'flag': 'bool'}
        pandas = pytest.importorskip('pandas')
        found = pandas.read_parquet(results.path)
        assert found['time_s'].tolist()[4:] == [2.0, 2.0, 2.5, 2.5]
        assert found['flag'].isna().tolist() == 4 * [True] + 4 * [False]
    assert read(results.path)[1] == [{**one, 'flag': one.get('flag')} for one in rows]
    table = Table.from_parts(results.path, 7)
    assert len(table) == 7 and table.column('time_s', 9.0).tolist() == [9, 9, 9, 9, 2, 2, 2.5]
    assert table.failures == dict.fromkeys(range(4), 'fallen')


def test_memory_of_a_campaign_is_that_of_its_parts_in_progress(monkeypatch, tmp_path):
    monkeypatch.setattr(campaign_store, 'PART', 10)
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: False)
    with ResultSet(tmp_path, IDENTITY) as results:
        # two workers, of which one is ten times as fast
        order = [index for k in range(20) for index in (*range(9 * k, 9 * k + 9), 180 + k)]
        kept = []
        for index in order:
            results.add(row(index))
            kept.append(sum(map(len, results.open.values())))
    assert max(kept) < 20 and len(results.done) == 200
