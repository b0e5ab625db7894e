# SPDX-License-Identifier: Apache-2.0
"""The result file: one kind or the other, whole at any time, of one campaign only."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_experiments.campaigns import store as campaign_store
from c3p_experiments.campaigns.store import ResultFile, StoreError, have_parquet, read, write

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
    with ResultFile(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
    assert file.path.name == 'campaign.csv'
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: True)
    with ResultFile(tmp_path, IDENTITY) as file:
        file.add(ROWS[1])
    assert file.path.name == 'campaign.csv' and read(file.path)[1] == ROWS
    with ResultFile(tmp_path / 'new', IDENTITY) as file:
        assert file.path.name == 'campaign.parquet'


def test_a_parquet_file_without_pyarrow_says_what_is_missing(monkeypatch, tmp_path):
    (tmp_path / 'campaign.parquet').write_bytes(b'')
    monkeypatch.setattr(campaign_store, 'have_parquet', lambda: False)
    with pytest.raises(StoreError, match='needs pyarrow'):
        ResultFile(tmp_path, IDENTITY)


def test_rows_are_sorted_whatever_the_order_in_which_they_come(tmp_path):
    with ResultFile(tmp_path, IDENTITY) as file:
        for row in reversed(ROWS):
            file.add(row)
    assert read(file.path)[1] == ROWS


def test_an_error_in_the_middle_keeps_the_rows(tmp_path):
    with pytest.raises(KeyboardInterrupt), ResultFile(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
        raise KeyboardInterrupt
    assert read(file.path)[1] == ROWS[:1]


def test_a_write_that_fails_leaves_the_old_file(monkeypatch, tmp_path):
    path = tmp_path / 'rows.csv'
    write(path, IDENTITY, ROWS)

    def full(number):
        raise OSError('no space left')

    monkeypatch.setattr(campaign_store.os, 'fsync', full)
    with pytest.raises(OSError, match='no space'):
        write(path, IDENTITY, [])
    assert read(path)[1] == ROWS


def test_rows_are_saved_while_others_are_computed(monkeypatch, tmp_path):
    now = [0.0]
    monkeypatch.setattr(campaign_store.time, 'monotonic', lambda: now[0])
    with ResultFile(tmp_path, IDENTITY) as file:
        now[0] = 0.4 * campaign_store.INTERVAL
        file.add(ROWS[0])
        assert not file.path.exists()
        now[0] = 1.1 * campaign_store.INTERVAL
        file.add(ROWS[1])
        assert len(read(file.path)[1]) == 2


def test_two_campaigns_do_not_write_into_one_folder(tmp_path):
    pytest.importorskip('fcntl')
    with ResultFile(tmp_path, IDENTITY):
        with pytest.raises(StoreError, match='another campaign writes there now'):
            ResultFile(tmp_path, IDENTITY)
    with ResultFile(tmp_path, IDENTITY):
        pass


def test_a_file_of_another_campaign_is_refused_and_stays(tmp_path):
    with ResultFile(tmp_path, IDENTITY) as file:
        file.add(ROWS[0])
    for other in ({**IDENTITY, 'seed': 1}, {'seed': 0}):
        with pytest.raises(StoreError, match='belongs to another campaign'):
            ResultFile(tmp_path, other)
    assert read(file.path)[1] == ROWS[:1]
    with ResultFile(tmp_path, {'seed': 7}, resume=False) as file:
        assert file.rows == {} and not file.path.exists()


@pytest.mark.parametrize('name', ['campaign.csv', 'campaign.parquet'])
def test_a_file_that_is_none_is_named_with_a_remedy(name, tmp_path):
    (tmp_path / name).write_text('not this\n1,2\n')
    with pytest.raises(StoreError, match=f'{name}.*(--no-resume|pyarrow)'):
        ResultFile(tmp_path, IDENTITY)


def test_two_result_files_in_one_folder_are_refused(tmp_path):
    for name in ('campaign.csv', 'campaign.parquet'):
        (tmp_path / name).write_text('')
    with pytest.raises(StoreError, match='has one result file'):
        ResultFile(tmp_path, IDENTITY)
