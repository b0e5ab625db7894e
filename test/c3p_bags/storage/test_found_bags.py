# SPDX-License-Identifier: Apache-2.0
"""Bags as they are found are read whole, in the order of recording, or what is missing is said."""

import os
import shutil
import struct
import warnings

import pytest
from found_bags import (
    PACK,
    numbers,
    parts_of,
    write_database,
    write_mcap,
    write_metadata,
    write_parts,
)

from c3p_bags.player.rosbag2 import play_command
from c3p_bags.storage.bag import Bag, BagWarning
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.repair import repair
from c3p_bringup.cli.main import main

ROWS = numbers(400)
HOUR = 3600 * 10**9


def read(path):
    """Return the messages of a bag in both orders, and its remarks."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter('always')
        with Bag(path) as bag:
            raw = [(m.topic, m.time, bytes(m.data)) for m in bag.raw()]
            plain = [(topic, time, bytes(data)) for topic, time, data in bag.unordered(bag.topics)]
            values = [m.message.data for m in bag.messages()]
            assert len(values) == len(raw)
            remarks = list(bag.remarks)
    # each is a warning as well, for the command line
    assert [f'{w.message}' for w in told if w.category is BagWarning] == [
        f'bag {path}: {text}' for text in remarks]
    return raw, plain, remarks


def expected(rows):
    return [(row.topic, row.time, row.data) for row in rows]


def folder_of(tmp_path):
    folder = tmp_path / 'bag'
    folder.mkdir()
    return folder


FILES = {
    'chunk index, no message index': {'message_index': False},
    'the same, packed': {'message_index': False, 'packing': 'zstd'},
    'the same, lz4': {'message_index': False, 'packing': 'lz4'},
    'the same, without statistics': {'message_index': False, 'statistics': False},
    'the same, without descriptions at the end': {'message_index': False, 'summary': False},
    'no index': {'index': False, 'message_index': False},
    'statistics only': {'index': False, 'message_index': False, 'summary': False},
    'nothing at the end': {'index': False, 'message_index': False, 'summary': False,
                           'statistics': False},
    'no chunks': {'chunked': False}, 'no profile': {'profile': ''},
    'one chunk': {'chunk': 10_000}, 'small chunks': {'chunk': 3, 'packing': 'zstd'},
}


@pytest.mark.parametrize('options', FILES.values(), ids=FILES)
@pytest.mark.parametrize('metadata', [True, False])
def test_mcap_files_of_all_writers_are_read_whole(tmp_path, options, metadata):
    folder = folder_of(tmp_path)
    write_mcap(folder / 'a_0.mcap', ROWS, **options)
    if metadata:
        write_metadata(folder, ROWS, ['a_0.mcap'])
    raw, plain, remarks = read(folder)
    assert raw == plain == expected(ROWS)
    assert len(remarks) == (not metadata)
    # from a time on, and of one topic
    with pytest.warns(BagWarning) if not metadata else warnings.catch_warnings(), Bag(
            folder) as bag:
        some = [m.time for m in bag.raw(['/a'], start=ROWS[100].time)]
    assert some == [row.time for row in ROWS[100:] if row.topic == '/a']
    # and cut off: refused with the remedy, which keeps what is there
    data = (folder / 'a_0.mcap').read_bytes()
    (folder / 'a_0.mcap').write_bytes(data[:len(data) * 2 // 3])
    with pytest.raises(BagError, match=f'is cut off.*c3p repair {folder}'):
        read(folder)
    if options.get('packing') == '' or 'chunk' not in options:
        with pytest.warns(BagWarning, match='fewer') if metadata else warnings.catch_warnings():
            repair(folder, tmp_path / 'new')
        raw, *_ = read(tmp_path / 'new')
        assert raw == expected(ROWS[:len(raw)]) and len(raw) > 150


JOURNALS = {'wal': {'journal': 0.5}, 'wal with everything': {'journal': 1.0},
            'without definitions': {'journal': 0.5, 'definitions': False},
            'empty database': {'journal': 1.0, 'blank': 0},
            'database of zeros': {'journal': 0.3, 'blank': 4096}}


@pytest.mark.parametrize('options', JOURNALS.values(), ids=JOURNALS)
@pytest.mark.parametrize('metadata', [True, False])
def test_the_journal_beside_a_database_is_read(tmp_path, options, metadata):
    folder = folder_of(tmp_path)
    write_database(folder / 'a #1 %.db3', ROWS, **options)
    if metadata:
        write_metadata(folder, ROWS, ['a #1 %.db3'], 'sqlite3')
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert 'a #1 %.db3-wal' in before
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        raw, plain, remarks = read(folder)
        alone, *_ = read(folder / 'a #1 %.db3')
        with pytest.warns(BagWarning, match='are read, too'):
            repair(folder, tmp_path / 'new')
    finally:
        folder.chmod(0o755)
    assert raw == plain == alone == expected(ROWS)
    assert any('a #1 %.db3-wal' in remark and 'are read, too' in remark for remark in remarks)
    assert read(tmp_path / 'new')[0] == expected(ROWS)
    # nothing is written beside the bag
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_an_empty_database_beside_another_kind_of_journal_is_refused(tmp_path):
    folder = folder_of(tmp_path)
    (folder / 'a.db3').write_bytes(b'')
    (folder / 'a.db3-wal').write_bytes(b'\xff' * 5000)
    with pytest.raises(BagError, match='is not a write-ahead log, and the database beside it is'):
        Bag(folder)


def test_half_a_transaction_is_undone(tmp_path):
    rows = numbers(20_000)
    folder = folder_of(tmp_path)
    file = write_database(folder / 'a.db3', rows, hot=True)
    assert (folder / 'a.db3-journal').stat().st_size > 0
    raw, _, remarks = read(file)
    assert raw == expected(rows[:16_000]) and 'a.db3-journal' in remarks[0]


def test_a_journal_cannot_delete_another_file(tmp_path):
    folder = folder_of(tmp_path)
    write_database(folder / 'a.db3', numbers(20_000), hot=True)
    victim = tmp_path / 'victim'
    victim.write_text('a.db3-journal')
    name = f'{victim}'.encode()
    with (folder / 'a.db3-journal').open('ab') as file:
        file.write(bytes([0, 0, 0, 1]) + name + len(name).to_bytes(4, 'big')
                   + (sum(name) & 0xFFFFFFFF).to_bytes(4, 'big')
                   + bytes.fromhex('d9d505f920a163d7'))
    with pytest.raises(BagError, match='of several databases'):
        read(folder)
    assert victim.exists()


def test_journals_of_several_parts_are_read(tmp_path):
    folder = folder_of(tmp_path)
    names = [f'a_{k}.db3' for k in range(3)]
    for part, name, journal in zip(parts_of(ROWS, 3), names, (0.3, 0.0, 0.9), strict=True):
        write_database(folder / name, part, journal=journal)
    write_metadata(folder, ROWS, names, 'sqlite3')
    raw, plain, remarks = read(folder)
    assert raw == plain == expected(ROWS) and len(remarks) == 2


def test_a_journal_whose_database_was_renamed_is_named(tmp_path):
    folder = folder_of(tmp_path)
    write_database(folder / 'a.db3', ROWS, journal=0.5)
    (folder / 'a.db3').rename(folder / 'drive.db3')
    raw, _, remarks = read(folder)
    assert len(raw) == 200 and any('a.db3-wal belongs to no database' in r for r in remarks)


@pytest.mark.parametrize('packing', ['zstd', 'lz4'])
def test_files_packed_as_a_whole_are_unpacked(tmp_path, packing):
    folder = folder_of(tmp_path)
    for k, part in enumerate(parts_of(ROWS, 2)):
        write_mcap(folder / 'plain', part)
        data = (folder / 'plain').read_bytes()
        (folder / f'a_{k}.mcap.{packing}').write_bytes(PACK[packing](data))
        (folder / 'plain').unlink()
    assert read(folder)[0] == expected(ROWS)
    repair(folder, tmp_path / 'new')
    assert read(tmp_path / 'new')[0] == expected(ROWS)
    # unpacked by hand, with the metadata of the packed ones
    write_metadata(folder, ROWS, [f'a_{k}.mcap.{packing}' for k in range(2)],
                   compression_mode='FILE', compression_format=packing)
    (folder / f'a_0.mcap.{packing}').unlink()
    write_mcap(folder / 'a_0.mcap', parts_of(ROWS, 2)[0])
    assert read(folder)[0] == expected(ROWS)


TWELVE = [f'a_{k}.mcap' for k in range(12)]
PARTS = {
    'by numbers': (TWELVE, TWELVE), 'listed as texts': (TWELVE, sorted(TWELVE)),
    'not listed': (TWELVE, []), 'backwards': (TWELVE[::-1], TWELVE),
    'backwards, not listed': (TWELVE[::-1], []),
}


@pytest.mark.parametrize(('names', 'listed'), PARTS.values(), ids=PARTS)
@pytest.mark.parametrize('gap', [0, 20 * 10**9])
def test_parts_are_read_in_the_order_of_time(tmp_path, names, listed, gap):
    parts = [[row._replace(time=row.time + k * gap) for row in part]
             for k, part in enumerate(parts_of(ROWS, 12))]
    folder = write_parts(tmp_path / 'bag', parts, names, listed)
    rows = expected([row for part in parts for row in part])
    raw, plain, _ = read(folder)
    assert raw == plain == rows
    repair(folder, tmp_path / 'new')
    assert read(tmp_path / 'new')[:2] == (rows, rows)


SET = {'back in a part': [(250, -HOUR)], 'back by 3 s': [(250, -3 * 10**9)],
       'forward': [(250, HOUR)], 'back and forward': [(150, -HOUR), (350, HOUR)]}


@pytest.mark.parametrize('steps', SET.values(), ids=SET)
@pytest.mark.parametrize('count', [1, 2, 4])
@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_clock_that_is_set_does_not_change_the_order(tmp_path, steps, count, storage):
    rows = numbers(400, period=50_000_000)
    for begin, by in steps:
        rows = [row._replace(time=row.time + by * (k >= begin)) for k, row in enumerate(rows)]
    folder = folder_of(tmp_path)
    names = [f'a_{k}' for k in range(count)]
    for part, name in zip(parts_of(rows, count), names, strict=True):
        (write_mcap if storage == 'mcap' else write_database)(folder / f'{name}.mcap', part)
    write_metadata(folder, rows, [f'{name}.mcap' for name in names], storage)
    raw, plain, remarks = read(folder)
    assert raw == plain == expected(rows) and not remarks


def test_exchanged_blocks_and_appended_bags_are_read_in_the_order_of_time(tmp_path):
    rows = numbers(400, period=500_000_000)
    for name, order in (
            ('blocks', [k for pair in range(4) for k in (2 * pair + 1, 2 * pair)]),
            ('halves', [1, 0])):
        parts = parts_of(rows, len(order))
        write_mcap(tmp_path / f'{name}.mcap', [row for k in order for row in parts[k]])
        assert read(tmp_path / f'{name}.mcap')[0] == expected(rows)
    # one topic after the other
    write_mcap(tmp_path / 'topics.mcap', sorted(rows, key=lambda row: row.topic))
    assert read(tmp_path / 'topics.mcap')[0] == expected(rows)


def test_fewer_messages_than_stated_are_always_said(tmp_path):
    folder = write_parts(tmp_path / 'bag', parts_of(ROWS, 3), TWELVE[:3])
    (folder / 'a_1.mcap').unlink()
    raw, _, remarks = read(folder)
    assert len(raw) == 267 and remarks == [
        'a_1.mcap, named in metadata.yaml, is missing',
        '267 messages, 133 fewer than metadata.yaml states']
    # a repair says it, too, and what a cut file lacks
    with pytest.warns(BagWarning, match='133 fewer than metadata.yaml states'):
        repair(folder, tmp_path / 'new')
    data = (folder / 'a_2.mcap').read_bytes()
    (folder / 'a_2.mcap').write_bytes(data[:len(data) // 2])
    with pytest.warns(BagWarning, match='fewer than metadata.yaml states'):
        repair(folder, tmp_path / 'newer')
    # by the statistics of a file, read or not
    for packing in ('', 'zstd'):
        file = write_mcap(tmp_path / f'few{packing}.mcap', ROWS, packing)
        data = file.read_bytes()
        place = data.rindex((200).to_bytes(8, 'little'))
        file.write_bytes(data[:place] + (230).to_bytes(8, 'little') + data[place + 8:])
        (remark,) = read(file)[2]
        assert remark.startswith('400 messages, 30 fewer than ')


METADATA = {'missing': None, 'empty': '', 'no YAML': 'a: [', 'a number': '5',
            'of another kind': 'rosbag2_bagfile_information: {version: 5}'}


@pytest.mark.parametrize('text', METADATA.values(), ids=METADATA)
def test_metadata_that_cannot_be_used_are_not_needed(tmp_path, text):
    folder = write_parts(tmp_path / 'bag', parts_of(ROWS, 3), TWELVE[:3], [])
    if text is not None:
        (folder / 'metadata.yaml').write_text(text)
    raw, plain, (remark,) = read(folder)
    assert raw == plain == expected(ROWS) and 'metadata.yaml' in remark


def test_metadata_of_other_names_are_said(tmp_path):
    folder = write_parts(tmp_path / 'bag', [ROWS], ['a.mcap'])
    (folder / 'a.mcap').rename(folder / 'my drive.mcap')
    raw, _, remarks = read(folder)
    assert raw == expected(ROWS)
    assert remarks == ['a.mcap, named in metadata.yaml, is missing; my drive.mcap is read instead']
    # a part that was written after the metadata
    folder = write_parts(tmp_path / 'more', parts_of(ROWS, 2), TWELVE[:2], TWELVE[:1])
    raw, _, remarks = read(folder)
    assert len(raw) == 200 and 'a_1.mcap is in the directory, but not in' in remarks[0]


def test_other_serialisations_are_left_out_or_refused(tmp_path):
    notes = [row._replace(topic='/notes', data=b'{"a": 1}') for row in ROWS[:20]]
    write_mcap(tmp_path / 'notes.mcap', ROWS, others=notes)
    raw, _, (remark,) = read(tmp_path / 'notes.mcap')
    assert raw == expected(ROWS) and '/notes' in remark and 'json' in remark
    write_mcap(tmp_path / 'ros1.mcap', ROWS, profile='ros1', encoding='ros1')
    with pytest.raises(BagError, match='serialised as ros1') as error:
        read(tmp_path / 'ros1.mcap')
    assert 'rosbags-convert' in f'{error.value}'


COMMANDS = (['report'], ['recompute'], ['repair'], ['play'], ['film'], ['view'],
            ['calibrate'], ['identify'])


@pytest.mark.parametrize('words', COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize('place', ['one.bag', 'folder', 'renamed.mcap'])
def test_every_command_refuses_a_bag_of_ros_1_in_one_line(tmp_path, monkeypatch, capfd, words,
                                                          place):
    monkeypatch.chdir(tmp_path)
    os.makedirs('folder')
    for file in ('one.bag', 'folder/one.bag', 'renamed.mcap'):
        (tmp_path / file).write_bytes(b'#ROSBAG V2.0\n' + bytes(4096))
    assert main([*words, place]) == 2
    # the middleware may log lines of its own
    error, = [line for line in capfd.readouterr().err.splitlines() if line.startswith('c3p ')]
    assert 'a bag of ROS 1' in error and 'c3p import' in error
    with pytest.raises(BagError, match='ROS 1'):
        play_command(place, 'qos.yaml')


def test_the_command_line_prints_each_remark_once(tmp_path, capsys):
    folder = write_parts(tmp_path / 'bag', parts_of(ROWS, 3), TWELVE[:3])
    (folder / 'a_1.mcap').unlink()
    assert main(['recompute', str(folder)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == (f'c3p recompute: bag {folder}: a_1.mcap, named in metadata.yaml, is '
                        'missing')
    assert len([line for line in lines if 'fewer' in line]) == 1


def test_messages_of_types_that_nobody_defines_are_kept(tmp_path):
    """Databases of Humble have no definitions, also none of a robot's own types."""
    own = [row._replace(topic='/own', kind='my_msgs/msg/Own') for row in ROWS[::10]]
    write_database(tmp_path / 'a.db3', [*ROWS, *own], definitions=False)
    repair(tmp_path / 'a.db3', tmp_path / 'new')
    for path in (tmp_path / 'a.db3', tmp_path / 'new'):
        with Bag(path) as bag:
            assert bag.topics['/own'].kind == 'my_msgs/msg/Own'
            assert [bytes(m.data) for m in bag.raw(['/own'])] == [row.data for row in own]
            assert len(list(bag.messages(['/a', '/b']))) == len(ROWS)


def test_a_database_without_definitions_is_repaired(tmp_path):
    folder = folder_of(tmp_path)
    write_database(folder / 'a_0.db3', ROWS, definitions=False)
    repair(folder, tmp_path / 'new')
    assert read(tmp_path / 'new')[0] == expected(ROWS)
    shutil.rmtree(tmp_path / 'new')
    repair(folder / 'a_0.db3', tmp_path / 'new')
    assert read(tmp_path / 'new')[0] == expected(ROWS)


@pytest.mark.filterwarnings('ignore::c3p_bags.storage.bag.BagWarning')
def test_a_chunk_with_another_checksum_is_refused_and_left_out_by_repair(tmp_path):
    """Damaged bytes are numbers as well."""
    folder = folder_of(tmp_path)
    file = write_mcap(folder / 'a.mcap', ROWS, checksum=True)
    write_metadata(folder, ROWS, ['a.mcap'])
    assert read(folder)[0] == expected(ROWS)
    data = file.read_bytes()
    place = data.index(ROWS[120].data)
    file.write_bytes(data[:place + 6] + b'\x55' + data[place + 7:])
    with Bag(folder) as bag:
        for messages in (bag.raw, lambda: bag.unordered(bag.topics)):
            with pytest.raises(BagError, match=r'checksum is wrong.*c3p repair'):
                list(messages())
    done = repair(folder, tmp_path / 'whole')
    assert sum(done.messages.values()) == len(ROWS) - 50 and done.lost


def test_messages_that_damage_has_moved_to_no_topic_are_said(tmp_path):
    """In a chunk that is packed without a checksum, damage may change the head of a message."""
    folder = folder_of(tmp_path)
    file = write_mcap(folder / 'a.mcap', ROWS, chunked=False)
    data = bytearray(file.read_bytes())
    # records of messages begin with their kind and length
    heads = [k for k in range(len(data) - 9) if data[k:k + 9] == struct.pack(
        '<BQ', 5, 22 + len(ROWS[0].data))]
    for head, channel in ((heads[3], 77), (heads[4], data[heads[5] + 9]), (heads[7], 500)):
        data[head + 9:head + 11] = struct.pack('<H', channel)
    file.write_bytes(bytes(data))
    raw, _, remarks = read(folder)
    assert len(raw) == len(ROWS) - 2
    assert any('2 messages in a.mcap are of no topic, and left out' in said for said in remarks)
    # of both topics together
    assert any(f'{len(ROWS) - 2} messages, 2 fewer than the index' in said for said in remarks)
