# SPDX-License-Identifier: Apache-2.0
"""Recordings that were cut off or damaged: what was whole is in the new bag, byte for byte."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import notes_of, opened, read_raw, topics_of

from c3p_bags.runs.recompute_bag import recompute_bag, write_recomputed
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_bags.storage.mcap import read_mcap
from c3p_bags.storage.repair import repair
from c3p_bringup.cli.main import main

KINDS = {'/a': 'std_msgs/msg/ByteMultiArray', '/b': 'std_msgs/msg/Float64MultiArray'}


class Whole:
    """A bag of two topics and three chunks, and what is in it; a failed test does not print it."""

    def __init__(self, place, compression):
        self.place = place
        random = np.random.default_rng(1)
        with BagWriter(place / 'bag', compression) as writer:
            for topic, kind in KINDS.items():
                writer.add(topic, kind, latched=topic == '/b')
            for k in range(2600):
                # not to be compressed by much
                writer.write('/b' if k % 10 == 0 else '/a', 10**18 + k, random.bytes(1000))
        self.data = (place / 'bag' / 'bag.mcap').read_bytes()
        self.messages = list(read_raw(place / 'bag'))

    def repaired(self, data):
        """Return what is made of a file, and the numbers of the messages that it kept."""
        for folder in ('cut', 'new'):
            shutil.rmtree(self.place / folder, ignore_errors=True)
        (self.place / 'cut').mkdir()
        (self.place / 'cut' / 'cut_0.mcap').write_bytes(data)
        done = repair(self.place / 'cut', self.place / 'new')
        found = list(read_raw(self.place / 'new'))
        kept = [m.time - 10**18 for m in found]
        assert sum(done.messages.values()) == len(kept)
        assert done.span == (found[0].time, found[-1].time)
        self.equal = sum(m == self.messages[k] for m, k in zip(found, kept, strict=True)
                         if 0 <= k < len(self.messages))
        return done, kept


@pytest.fixture(scope='module', params=['none', 'zstd'])
def whole(request, tmp_path_factory):
    return Whole(tmp_path_factory.mktemp('whole'), request.param)


def chunks(data):
    """Return where the chunks of an MCAP file begin and end."""
    found, place = [], 8
    while (code := data[place]) not in (0x0F, 0x02):
        end = place + 9 + int.from_bytes(data[place + 1:place + 9], 'little')
        if code == 0x06:
            found.append((place, end))
        place = end
    return found


@given(part=st.floats(0.05, 1.0), zeros=st.sampled_from([0, 5, 4096]))
def test_what_is_before_the_cut_is_kept(whole, part, zeros):
    """A file system that lost its power may leave zeros behind the cut."""
    length = int(part * len(whole.data))
    try:
        _, kept = whole.repaired(whole.data[:length] + bytes(zeros))
    except BagError:
        # random numbers fill the blocks of zstd, of 128 KiB each
        assert length < 2**18
        return
    assert kept == list(range(len(kept))) and whole.equal == len(kept)
    # 31 bytes a message for its record; a block of zstd more may be missing
    at_least = sum((min(length, end) - begin) // 1031 for begin, end in chunks(whole.data)
                   if begin < length) - 2 * 128
    assert len(kept) >= at_least


def test_the_new_bag_is_like_the_old_one(whole):
    # without the end of the index
    done, kept = whole.repaired(whole.data[:-200])
    assert whole.equal == len(kept) == len(whole.messages) and done.lost == 0
    old, new = whole.place / 'bag', whole.place / 'new'
    assert opened(lambda bag: bag.topics, new) == opened(lambda bag: bag.topics, old)
    assert notes_of(new)['c3p_repaired'] == '0 bytes lost'
    # our own fast reader as well
    found = [data for _, _, data in read_mcap(new / 'new.mcap', ['/a'])]
    assert len(found) == 2340
    assert all(a == m.data for a, m in zip(
        found, (m for m in whole.messages if m.topic == '/a'), strict=True))


def test_a_damaged_chunk_costs_no_other(whole):
    begin, end = chunks(whole.data)[1]
    damaged = bytearray(whole.data)
    # more than one message, and more than one block of zstd
    damaged[(begin + end) // 2:(begin + end) // 2 + 150_000] = bytes(150_000)
    done, kept = whole.repaired(bytes(damaged))
    lost = sorted(set(range(2600)) - set(kept))
    assert done.lost > 0 and whole.equal == len(kept)
    # those of that chunk, from the damage on
    assert 0 < len(lost) < 1030 and lost == list(range(lost[0], lost[-1] + 1))
    assert kept[0] == 0 and kept[-1] == 2599


def test_what_a_lost_chunk_said_of_the_topics_stands_at_the_end_too(whole):
    begin, end = chunks(whole.data)[0]
    damaged = bytearray(whole.data)
    damaged[begin + 9:end] = bytes(end - begin - 9)
    _, kept = whole.repaired(bytes(damaged))
    assert whole.equal == len(kept) and kept == list(range(kept[0], 2600))
    with pytest.raises(BagError, match='no readable message'):
        whole.repaired(bytes(damaged[:-300]))


def test_a_bag_without_a_readable_message_is_refused_in_one_line(tmp_path, capsys):
    bag = shutil.copytree('test/data/golden_bag', tmp_path / 'bag')
    file = bag / 'bag.mcap'
    # nothing but the magic and a part of the header
    file.write_bytes(file.read_bytes()[:60])
    assert main(['repair', str(bag)]) == 2
    line, = capsys.readouterr().err.splitlines()
    assert line.endswith('no readable message (0 messages, 8102 fewer than metadata.yaml states)')


@given(st.data())
def test_whatever_is_wrong_is_told_or_survived(whole, data):
    damaged = bytearray(whole.data[:data.draw(st.integers(1, len(whole.data)))])
    for _ in range(data.draw(st.integers(0, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        _, kept = whole.repaired(bytes(damaged))
    except BagError as error:
        assert 'cut' in f'{error}'
    else:
        assert len(kept) <= 2600


def test_a_recorder_that_was_killed_leaves_what_it_had_written(tmp_path):
    program = """
import os, signal, sys
from c3p_bags.storage.bag_writer import BagWriter
writer = BagWriter(sys.argv[1])
writer.add('/a', 'std_msgs/msg/Float64')
for k in range(100_000):
    writer.write('/a', k + 1, bytes([0, 1, 0, 0]) + k.to_bytes(8, 'little'))
os.kill(os.getpid(), signal.SIGKILL)
"""
    bag = tmp_path / 'bag'
    assert subprocess.run([sys.executable, '-c', program, str(bag)], check=False).returncode == -9
    with pytest.raises(BagError, match=f'c3p repair {bag}'):
        topics_of(bag)
    done = repair(bag, tmp_path / 'new')
    found = [m.time for m in read_raw(tmp_path / 'new')]
    # at most a chunk of 1 MiB, with 43 bytes a message, waited in memory
    assert found == list(range(1, len(found) + 1)) and len(found) > 100_000 - 2**20 // 43
    assert done.messages == {'/a': len(found)}


def test_the_command_says_what_it_made(tmp_path, capsys):
    # with the odometry of this version
    golden = tmp_path / 'golden'
    with Bag('test/data/golden_bag') as recorded:
        write_recomputed(recorded, golden, recompute_bag(recorded))
    bag, out = tmp_path / 'field', tmp_path / 'field_repaired'
    shutil.copytree(golden, bag)
    (bag / 'metadata.yaml').unlink()
    file = bag / 'golden.mcap'
    file.write_bytes(file.read_bytes()[:-5000])
    assert main(['report', str(bag), '--out', str(tmp_path / 'page')]) == 2
    assert f'c3p repair {bag}' in capsys.readouterr().err
    assert main(['repair', str(bag), '--json', '-']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['bag'] == str(out) and 0 < told['messages'] <= sum(
        n for _, n in topics_of(golden).values())
    assert told['topics'] == {t: n for t, (_, n) in topics_of(out).items() if n}
    assert main(['recompute', str(out)]) == 0
    # nothing is overwritten
    assert main(['repair', str(bag)]) == 2
    assert 'exists already' in capsys.readouterr().err


@pytest.mark.parametrize(('content', 'says'), [
    (b'', 'is not an MCAP file'), (b'something else', 'is not an MCAP file'),
    (b'\x89MCAP0\r\n', 'no readable message')])
def test_what_is_no_bag_is_refused(tmp_path, content, says):
    (tmp_path / 'a.mcap').write_bytes(content)
    with pytest.raises(BagError, match=says):
        repair(tmp_path / 'a.mcap', tmp_path / 'new')
    assert not (tmp_path / 'new').exists()
    with pytest.raises(BagError, match='no such'):
        repair(tmp_path / 'b.mcap', tmp_path / 'new')
    (tmp_path / 'empty').mkdir()
    with pytest.raises(BagError, match='without metadata.yaml and without files'):
        repair(tmp_path / 'empty', tmp_path / 'new')
