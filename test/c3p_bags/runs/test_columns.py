# SPDX-License-Identifier: Apache-2.0
"""Bags read a chunk at a time hold what a general reader finds in them."""

from collections import defaultdict

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from synthetic import read_raw, scalars

from c3p_bags.runs.columns import batched
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError, message_types
from c3p_bags.storage.mcap import read_mcap


def of_batches(path, topics, size):
    found = defaultdict(list)
    with Bag(path) as bag:
        for batch in batched(bag.unordered(topics), size):
            assert len(batch.time) == len(batch.data) > 0
            found[batch.topic] += zip(batch.time.tolist(), batch.data, strict=True)
    return dict(found)


@pytest.mark.parametrize('compression', ['none', 'zstd'])
def test_batches_are_the_messages_of_the_bag(tmp_path, compression):
    # two chunks of 1 MiB
    scalars(tmp_path / 'bag', 25_000, compression)
    expected = [(time, bytes(data)) for _, time, data in read_raw(tmp_path / 'bag')]
    for size in (1, 700, 10**6):
        assert of_batches(tmp_path / 'bag', ['/a', '/none'], size) == {'/a': expected}
    assert of_batches(tmp_path / 'bag', ['/none'], 1) == {}


def test_a_bag_in_sqlite3_is_read_too(tmp_path):
    types = message_types()
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topic = writer.add_connection('/a', 'std_msgs/msg/Float64', typestore=types)
        for k in range(5):
            message = types.types['std_msgs/msg/Float64'](float(k))
            writer.write(topic, k, types.serialize_cdr(message, message.__msgtype__))
    found = of_batches(tmp_path / 'bag', ['/a'], 2)
    assert [time for time, _ in found['/a']] == list(range(5))


def test_what_is_no_bag_says_so(tmp_path):
    scalars(tmp_path / 'bag', 15_000)
    (file,) = (tmp_path / 'bag').glob('*.mcap')
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(file.read_bytes()[:300_000])
    with pytest.raises(ValueError, match='ends after'):
        list(read_mcap(cut, ['/a']))
    cut.write_bytes(b'nothing')
    with pytest.raises(ValueError, match='not an MCAP file'):
        list(read_mcap(cut, ['/a']))
    with pytest.raises(BagError, match='no such file'):
        of_batches(tmp_path / 'missing', ['/a'], 1)
