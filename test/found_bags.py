# SPDX-License-Identifier: Apache-2.0
"""Bags as they are found: files of other recorders, and what crashes, copies and clocks leave."""

import shutil
import sqlite3
import struct
import sys
import zlib
from typing import NamedTuple

import lz4.frame
import yaml

from c3p_bags.storage.bag_writer import message_types

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b'\x89MCAP0\r\n'
TYPES = message_types()
PACK = {'': bytes, 'lz4': lz4.frame.compress, 'zstd': zstd.compress}


class Row(NamedTuple):
    """A message: topic, type, time of recording [ns], CDR."""

    topic: str
    kind: str
    time: int
    data: bytes


def numbers(count, topics=('/a', '/b'), begin=1_790_000_000 * 10**9, period=5_000_000):
    """Return `count` messages of numbers, on the topics in turn."""
    make = TYPES.types['std_msgs/msg/Float64']
    return [Row(topics[k % len(topics)], 'std_msgs/msg/Float64', begin + k * period,
                bytes(TYPES.serialize_cdr(make(float(k)), 'std_msgs/msg/Float64')))
            for k in range(count)]


def _text(text):
    data = text.encode()
    return struct.pack('<I', len(data)) + data


def _record(code, content):
    return struct.pack('<BQ', code, len(content)) + content


def definition(kind):
    """Return the definition of a message type."""
    return TYPES.generate_msgdef(kind, ros_version=2)[0]


def write_mcap(path, rows, packing='', chunk=50, message_index=True, index=True, statistics=True,
               summary=True, chunked=True, profile='ros2', encoding='cdr', others=(),
               checksum=False):
    """
    Write an MCAP file, as other writers do; each option leaves something out.

    `others` are rows in JSON, on channels without a schema.
    """
    kinds = list(dict.fromkeys(row.kind for row in rows))
    topics = list(dict.fromkeys((row.topic, row.kind) for row in rows))
    schemas = [_record(3, struct.pack('<H', 1 + k) + _text(kind) + _text('ros2msg')
                       + _text(definition(kind))) for k, kind in enumerate(kinds)]
    channels = [_record(4, struct.pack('<HH', 1 + k, 1 + kinds.index(kind)) + _text(topic)
                        + _text(encoding) + struct.pack('<I', 0))
                for k, (topic, kind) in enumerate(topics)]
    for row in dict.fromkeys(row.topic for row in others):
        channels.append(_record(4, struct.pack('<HH', 1 + len(channels), 0) + _text(row)
                                + _text('json') + struct.pack('<I', 0)))
    numbers_of = {topic: 1 + k for k, topic in enumerate(
        [topic for topic, _ in topics] + list(dict.fromkeys(row.topic for row in others)))}
    rows = [*rows, *others]
    body = MAGIC + _record(1, _text(profile) + _text('other'))
    found, counts = [], dict.fromkeys(numbers_of.values(), 0)

    def message(row):
        counts[numbers_of[row.topic]] += 1
        return _record(5, struct.pack('<HIQQ', numbers_of[row.topic], 0, row.time, row.time)
                       + row.data)

    if not chunked:
        body += b''.join(schemas + channels) + b''.join(map(message, rows))
    for begin in range(0, len(rows), chunk) if chunked else ():
        part = rows[begin:begin + chunk]
        block = b'' if begin else b''.join(schemas + channels)
        places = {}
        for row in part:
            places.setdefault(numbers_of[row.topic], []).append((row.time, len(block)))
            block += message(row)
        packed = PACK[packing](block)
        times = [row.time for row in part]
        place = len(body)
        record = _record(6, struct.pack('<QQQI', min(times), max(times), len(block),
                                     zlib.crc32(block) if checksum else 0)
                         + _text(packing) + struct.pack('<Q', len(packed)) + packed)
        body += record
        offsets, indexes = b'', b''
        for number, entries in places.items() if message_index else ():
            offsets += struct.pack('<HQ', number, len(body) + len(indexes))
            content = b''.join(struct.pack('<QQ', *entry) for entry in entries)
            indexes += _record(7, struct.pack('<HI', number, len(content)) + content)
        body += indexes
        found.append(_record(8, struct.pack('<QQQQI', min(times), max(times), place, len(record),
                                            len(offsets)) + offsets
                             + struct.pack('<Q', len(indexes)) + _text(packing)
                             + struct.pack('<QQ', len(packed), len(block))))
    body += _record(0x0F, bytes(4))
    begin = len(body)
    times = [row.time for row in rows]
    stated = b''.join(struct.pack('<HQ', *entry) for entry in counts.items())
    end = b''.join(schemas + channels) if summary else b''
    end += b''.join(found) if index else b''
    end += _record(0x0B, struct.pack('<QHIIIIQQI', len(rows), len(kinds), len(channels), 0, 0,
                                     len(found), min(times), max(times), len(stated))
                   + stated) if statistics else b''
    body += end + _record(2, struct.pack('<QQI', begin if end else 0, 0, 0)) + MAGIC
    path.write_bytes(body)
    return path


def write_database(path, rows, definitions=True, journal=0.0, hot=False, blank=None):
    """
    Write an sqlite3 file of rosbag2; `journal` is the fraction that only its -wal file has.

    With `hot` the last fifth is half a transaction, which the -journal file undoes. With `blank`
    the database has so many zeros instead of its pages: its -wal file has everything.
    """
    work = path.with_name('work')
    work.mkdir()
    base = sqlite3.connect(work / path.name)
    if journal:
        base.execute('PRAGMA journal_mode=WAL')
        base.execute('PRAGMA wal_autocheckpoint=0')
    base.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT '
                 'NULL, serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)')
    base.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, '
                 'timestamp INTEGER NOT NULL, data BLOB NOT NULL)')
    topics = {topic: k + 1 for k, topic in enumerate(dict.fromkeys(row.topic for row in rows))}
    for topic, number in topics.items():
        kind = next(row.kind for row in rows if row.topic == topic)
        base.execute('INSERT INTO topics VALUES (?, ?, ?, ?, ?)', (number, topic, kind, 'cdr', ''))
    if definitions:
        base.execute('CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, '
                     'encoding TEXT, encoded_message_definition TEXT, '
                     'type_description_hash TEXT)')
        for kind in dict.fromkeys(row.kind for row in rows):
            base.execute('INSERT INTO message_definitions(topic_type, encoding, '
                         'encoded_message_definition) VALUES (?, ?, ?)',
                         (kind, 'ros2msg', definition(kind)))
    base.commit()

    def add(some):
        base.executemany('INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)',
                         [(topics[row.topic], row.time, row.data) for row in some])

    kept = int(len(rows) * ((1 - journal) if journal else 0.8 if hot else 1))
    add(rows[:kept])
    base.commit()
    if journal:
        if blank is None:
            base.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        add(rows[kept:])
        base.commit()
    elif hot:
        # a small cache writes pages before the end of the transaction
        base.execute('PRAGMA cache_size=1')
        add(rows[kept:])
    # as a loss of power leaves them, while the connection is open
    for file in work.iterdir():
        if not file.name.endswith('-shm'):
            shutil.copy(file, path.with_name(file.name))
    if blank is not None:
        path.write_bytes(bytes(blank))
    base.rollback()
    base.close()
    shutil.rmtree(work)
    return path


def write_metadata(folder, rows, names, storage='mcap', **changes):
    """Write metadata.yaml of a bag with these rows and files."""
    topics = {row.topic: row.kind for row in rows}
    times = [row.time for row in rows]
    (folder / 'metadata.yaml').write_text(yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': 5, 'storage_identifier': storage, 'message_count': len(rows),
        'duration': {'nanoseconds': max(times) - min(times)},
        'starting_time': {'nanoseconds_since_epoch': min(times)},
        'topics_with_message_count': [
            {'message_count': sum(row.topic == topic for row in rows),
             'topic_metadata': {'name': topic, 'type': kind, 'serialization_format': 'cdr',
                                'offered_qos_profiles': ''}} for topic, kind in topics.items()],
        'compression_format': '', 'compression_mode': '', 'relative_file_paths': names,
        **changes}}))


def parts_of(rows, count):
    """Return the rows in so many parts."""
    return [rows[k * len(rows) // count:(k + 1) * len(rows) // count] for k in range(count)]


def write_parts(folder, parts, names, listed=None):
    """Write MCAP files of these names; `listed` in metadata.yaml, which is missing for []."""
    folder.mkdir()
    for part, name in zip(parts, names, strict=True):
        write_mcap(folder / name, part)
    listed = names if listed is None else listed
    if listed:
        write_metadata(folder, [row for part in parts for row in part], listed)
    return folder
