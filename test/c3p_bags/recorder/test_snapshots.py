# SPDX-License-Identifier: Apache-2.0
"""The flight recorder's memory, without nodes and without a clock."""

import pytest
from synthetic import notes_of, read_raw, read_topics, topics_of

from c3p_bags.recorder.snapshots import DISTINCT, FaultWatch, SnapshotLimits, SnapshotWriter
from c3p_bags.storage.bag_writer import BagError

SECOND = 10**9
BEGIN = 10**18
LIMITS = SnapshotLimits(seconds=2.0, bytes=2**20, after=1.0, most=3)


def recorder(path, **limits):
    writer = SnapshotWriter(path / 'flight', LIMITS._replace(**limits))
    writer.add('/number', 'std_msgs/msg/Float64')
    writer.add('/urdf', 'std_msgs/msg/String', latched=True)
    return writer


def numbers(writer, first, last):
    """Take the numbers of ten each second; a number is its time in tenths of a second."""
    for k in range(first, last):
        writer.write_message('/number', BEGIN + k * SECOND // 10,
                             writer.types.types['std_msgs/msg/Float64'](float(k)))


def say(writer, text, tenth):
    writer.write_message('/urdf', BEGIN + tenth * SECOND // 10,
                         writer.types.types['std_msgs/msg/String'](text))


def written(path):
    return [m.message.data for m in read_topics(path, ['/number'])]


def test_a_snapshot_has_what_was_before_and_after_its_trigger(tmp_path):
    writer = recorder(tmp_path)
    numbers(writer, 0, 100)
    assert writer.held == pytest.approx(2.0) and not writer.writing
    path = writer.trigger('a test', BEGIN + 100 * SECOND // 10)
    while writer.pump(7) and writer._pending:
        pass
    assert writer.writing
    numbers(writer, 100, 130)
    writer.close()
    # two seconds before 9.9 s and one after 10.0 s, without a gap; what comes after that time is
    # in it until the snapshot is complete
    assert written(path) == list(range(79, 130)) and not writer.writing
    notes = notes_of(path)
    assert notes['c3p_trigger'] == 'a test' and int(notes['c3p_trigger_time']) == BEGIN + 10**10


def test_the_end_is_the_time_after_the_trigger(tmp_path):
    writer = recorder(tmp_path)
    numbers(writer, 0, 30)
    path = writer.trigger('a test', BEGIN + 3 * SECOND)
    for k in range(30, 80):
        numbers(writer, k, k + 1)
        writer.pump(1000)
    # the message at 4.1 s shows that the time is over
    assert written(path) == list(range(9, 42)) and not writer.writing


def test_what_is_latched_begins_every_snapshot(tmp_path):
    writer = recorder(tmp_path)
    writer.note({'c3p_robot': 'c3p'})
    for text in ('old', 'new', 'old'):
        say(writer, text, 0)
    for n in range(2):
        numbers(writer, 50 + 100 * n, 80 + 100 * n)
        path = writer.trigger('a test', BEGIN + (80 + 100 * n) * SECOND // 10)
        writer.close()
        (first, second, third, *_) = read_topics(path)
        # the newest is the last, at the begin of the window and not an hour before it
        assert [first.message.data, second.message.data] == ['new', 'old']
        assert first.time == third.time == BEGIN + (59 + 100 * n) * SECOND // 10
        assert notes_of(path)['c3p_robot'] == 'c3p'
        assert topics_of(path)['/urdf'] == ('std_msgs/msg/String', 2)
    # what is latched is not for ever more and more
    for k in range(2 * DISTINCT):
        say(writer, str(k), 180 + k)
    assert len(writer._latched['/urdf']) == DISTINCT


def test_a_latched_message_within_the_window_is_there_once(tmp_path):
    writer = recorder(tmp_path)
    numbers(writer, 0, 5)
    say(writer, 'robot', 5)
    path = writer.trigger('a test', BEGIN + SECOND)
    writer.close()
    assert [m.topic for m in read_raw(path)] == ['/number'] * 5 + ['/urdf']


def test_memory_has_a_limit_whatever_the_seconds(tmp_path):
    writer = recorder(tmp_path, seconds=1000.0, bytes=1200)
    numbers(writer, 0, 1000)
    # a Float64 is twelve bytes
    assert writer.bytes == 1200 and len(writer._ring) == 100


def test_a_second_trigger_prolongs_and_a_late_one_begins_another(tmp_path):
    writer = recorder(tmp_path)
    numbers(writer, 0, 20)
    first = writer.trigger('one', BEGIN + 2 * SECOND)
    numbers(writer, 20, 28)
    assert writer.trigger('two', BEGIN + 28 * SECOND // 10) == first
    numbers(writer, 28, 40)
    writer.close()
    assert written(first) == list(range(40))
    second = writer.trigger('three', BEGIN + 4 * SECOND)
    writer.close()
    assert second.name == 'snapshot_02' and written(second) == list(range(19, 40))


def test_errors_that_go_on_do_not_make_one_endless_bag(tmp_path):
    writer = recorder(tmp_path)
    # one error every half a second, for 35 s
    for k in range(0, 350, 5):
        numbers(writer, k, k + 5)
        writer.trigger('again', BEGIN + (k + 5) * SECOND // 10)
        writer.pump(1000)
    writer.close()
    sizes = [len(written(path)) for path in writer.snapshots]
    # ten times a second after the first trigger, two before it, and some tenths of another
    assert len(sizes) == LIMITS.most and max(sizes) <= 127
    assert writer.trigger('too many', BEGIN + 40 * SECOND) is None


def test_silence_ends_a_snapshot_too(tmp_path):
    writer = recorder(tmp_path)
    numbers(writer, 0, 20)
    path = writer.trigger('a test', BEGIN + 2 * SECOND)
    writer.expire(BEGIN + 3 * SECOND)
    assert writer.pump()
    writer.expire(BEGIN + 3 * SECOND + 1)
    assert not writer.pump() and written(path) == list(range(20))


def test_topics_that_appear_while_a_snapshot_is_written_are_in_it(tmp_path):
    writer = recorder(tmp_path)
    path = writer.trigger('nothing yet', BEGIN)
    writer.add('/late', 'std_msgs/msg/String')
    writer.write_message('/late', BEGIN, writer.types.types['std_msgs/msg/String']('here'))
    with pytest.raises(BagError, match="'no/msg/Type' is unknown"):
        writer.add('/none', 'no/msg/Type')
    writer.close()
    assert [m.message.data for m in read_topics(path)] == ['here']


def test_a_place_that_is_taken_is_refused(tmp_path):
    recorder(tmp_path)
    with pytest.raises(BagError, match='exists already'):
        recorder(tmp_path)


def test_a_status_is_told_when_it_becomes_an_error():
    watch = FaultWatch('robot_1/recorder')
    assert watch.look([('a: state', 0, 'OK'), ('b: state', 1, 'warm')]) == []
    assert watch.look([('a: state', 2, 'broken'), ('b: state', 2, 'hot')]) == [
        'a: state: broken', 'b: state: hot']
    assert watch.look([('a: state', 2, 'still broken')]) == []
    assert watch.look([('a: state', 0, 'OK')]) == []
    assert watch.look([('a: state', 2, 'again')]) == ['a: state: again']
    assert watch.look([('robot_1/recorder: state', 2, 'disk full')]) == []
