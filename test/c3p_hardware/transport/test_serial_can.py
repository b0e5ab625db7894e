# SPDX-License-Identifier: Apache-2.0
"""Frames over a pseudo terminal: python-can's format, whole and never late."""

import os
import signal
import subprocess
import sys
import time

import can
import pytest
from can.interfaces.serial import serial_can
from can.interfaces.serial.serial_can import SerialBus
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_hardware.transport.serial_can import FastSerialBus, FrameParser, PtyBus, encode


def frame(number, data=b'', **options):
    """Return a frame with a standard identifier."""
    return can.Message(arbitration_id=number, data=data, is_extended_id=False, **options)


def same(a, b):
    """Compare what is on the wire."""
    return a.equals(b, timestamp_delta=None, check_direction=False)


@pytest.fixture
def ends(tmp_path):
    """Both ends of a line."""
    with PtyBus(tmp_path / 'can') as ours, FastSerialBus(ours.path) as theirs:
        yield ours, theirs


messages = st.builds(
    lambda extended, number, data: can.Message(
        arbitration_id=number if extended else number & 0x7FF, is_extended_id=extended, data=data),
    st.booleans(), st.integers(0, 0x1FFFFFFF), st.binary(max_size=8))


@given(st.lists(messages, max_size=6), st.lists(st.integers(1, 25), min_size=1, max_size=8))
def test_frames_are_found_however_the_bytes_are_cut(sent, cuts):
    stream, parser, found, place = b''.join(map(encode, sent)), FrameParser(), [], 0
    while place < len(stream):
        size = cuts[place % len(cuts)]
        found += parser.feed(stream[place:place + size], 0.0)
        place += size
    assert len(found) == len(sent) and all(map(same, found, sent))
    assert parser.skipped == 0


@given(st.binary(max_size=40), st.lists(messages, min_size=1, max_size=4))
def test_garbage_costs_at_most_the_frames_it_swallows(garbage, sent):
    # garbage may itself look like the beginning of a frame, and then swallows the next 19 bytes
    # at most before it proves wrong; what it cannot do is to lose a frame that comes later
    parser = FrameParser()
    parser.feed(garbage, 0.0)
    parser.feed(bytes(19), 0.0)
    found = parser.feed(b''.join(map(encode, sent)), 0.0)
    assert len(found) == len(sent) and all(map(same, found, sent))


def test_a_frame_that_was_cut_off_loses_no_other():
    first, second = frame(0x201, bytes(4)), frame(0x202, bytes(4))
    assert [m.arbitration_id for m in FrameParser().feed(
        encode(first)[:-3] + encode(second), 0.0)] == [0x202]


def test_more_than_eight_bytes_are_refused():
    with pytest.raises(ValueError, match='at most 8'):
        encode(can.Message(arbitration_id=1, data=bytes(12), is_fd=True))


@pytest.mark.skipif(not hasattr(serial_can, 'CAN_EFF_FLAG'), reason=(
    'needs python-can 4.5 or later: before, its serial frames have standard identifiers only'))
@settings(deadline=None, max_examples=20)
@given(message=messages)
def test_python_cans_own_bus_understands_us_and_we_it(message):
    with PtyBus() as ours, SerialBus(ours.path, timeout=5.0) as theirs:
        ours.send(message)
        assert same(theirs.recv(5.0), message)
        theirs.send(message)
        assert same(ours.recv(5.0), message)


def test_remote_and_error_frames_pass(ends):
    ours, theirs = ends
    for message in (frame(0x701, is_remote_frame=True),
                    frame(0x20, bytes(8), is_error_frame=True)):
        theirs.send(message)
        assert same(ours.recv(5.0), message)


def test_waiting_ends_in_time_and_with_a_frame_at_once(ends):
    ours, theirs = ends
    begin = time.monotonic()
    assert theirs.recv(0.05) is None
    assert time.monotonic() - begin >= 0.05
    assert theirs.recv(0) is None
    ours.send(frame(0x80))
    # an hour means: the frame ended the waiting
    assert theirs.recv(3600.0).arbitration_id == 0x80


def test_a_full_buffer_is_told_at_once_and_nothing_comes_late(ends):
    ours, theirs = ends
    # a frame that blocks would never return
    with pytest.raises(can.CanOperationError, match='0x181 is dropped'):
        for _ in range(100000):
            ours.send(frame(0x181, bytes(8)))
    assert ours.dropped == 1
    theirs.flush()
    assert theirs.recv(0) is None
    # the frame that was cut off by the full buffer may have left its beginning: it is skipped
    for number in (0x182, 0x183):
        ours.send(frame(number, bytes(8)))
    assert [theirs.recv(5.0).arbitration_id for _ in range(2)] == [0x182, 0x183]


def test_both_directions_fill_and_recover(ends):
    for sender, receiver in (ends, ends[::-1]):
        count = 0
        with pytest.raises(can.CanOperationError):
            while True:
                sender.send(frame(0x181, count.to_bytes(8, 'little')))
                count += 1
        received = []
        while (message := receiver.recv(0.2)) is not None:
            received.append(int.from_bytes(message.data, 'little'))
        assert received == list(range(count))


def test_two_processes_cannot_have_the_same_end(ends):
    ours, _ = ends
    with pytest.raises(can.CanInitializationError, match='used by another process'):
        FastSerialBus(ours.path)


def test_a_device_that_is_not_there_is_named(tmp_path):
    with pytest.raises(can.CanInitializationError, match='nothing: No such file or directory'):
        FastSerialBus(str(tmp_path / 'nothing'))


def test_when_the_emulator_goes_the_other_end_is_told(tmp_path):
    ours = PtyBus(tmp_path / 'can')
    with FastSerialBus(ours.path) as theirs:
        ours.shutdown()
        with pytest.raises(can.CanOperationError, match='other end'):
            theirs.recv(5.0)
        with pytest.raises(can.CanOperationError, match='other end'):
            theirs.send(frame(0x80))


def test_the_link_is_made_replaced_and_removed(tmp_path):
    link = tmp_path / 'deep' / 'can'
    first = PtyBus(link)
    second = PtyBus(link)
    with FastSerialBus(str(link)) as peer:
        peer.send(frame(0x80))
        assert second.recv(5.0).arbitration_id == 0x80
    first.shutdown()
    assert link.is_symlink()  # it is the second one's by now
    second.shutdown()
    second.shutdown()
    assert not link.is_symlink()


def test_a_file_is_not_replaced_by_a_link(tmp_path):
    (tmp_path / 'can').write_text('precious')
    with pytest.raises(can.CanInitializationError, match='is not a link'):
        PtyBus(tmp_path / 'can')
    assert (tmp_path / 'can').read_text() == 'precious'


ECHO = """
import sys
from c3p_hardware.transport.serial_can import FastSerialBus
with FastSerialBus(sys.argv[1]) as bus:
    print('ready', flush=True)
    while True:
        if (message := bus.recv(1.0)) is not None:
            message.arbitration_id += 1
            bus.send(message)
"""


def echo(path):
    """Return a process that answers every frame with the next identifier."""
    process = subprocess.Popen([sys.executable, '-c', ECHO, path], stdout=subprocess.PIPE,
                               text=True)
    assert process.stdout.readline() == 'ready\n'
    return process


def answer(bus, number):
    """Return the identifier of the answer to a frame."""
    bus.send(frame(number))
    return bus.recv(60.0).arbitration_id


@pytest.mark.real_time
def test_a_killed_peer_does_no_harm_and_another_one_takes_over(tmp_path):
    with PtyBus(tmp_path / 'can') as bus:
        for number in (0x100, 0x200):
            peer = echo(bus.path)
            try:
                assert answer(bus, number) == number + 1
                peer.send_signal(signal.SIGKILL)
                peer.wait(60.0)
                bus.send(frame(0x300))  # to nobody: the next peer must not see it
                assert bus.recv(0) is None
            finally:
                peer.kill()
                peer.wait(60.0)
                peer.stdout.close()


@pytest.mark.real_time
def test_a_stopped_peer_answers_when_it_goes_on(tmp_path):
    with PtyBus(tmp_path / 'can') as bus:
        peer = echo(bus.path)
        try:
            assert answer(bus, 0x100) == 0x101
            os.kill(peer.pid, signal.SIGSTOP)
            with pytest.raises(can.CanOperationError, match='full'):
                while True:
                    bus.send(frame(0x100, bytes(8)))
            bus.flush()
            os.kill(peer.pid, signal.SIGCONT)
            # what it had read before, and the rest of a cut frame, may still come first
            seen = []
            while 0x201 not in seen:
                bus.send(frame(0x200))
                seen += [m.arbitration_id for m in iter(lambda: bus.recv(0.1), None)]
        finally:
            peer.kill()
            peer.wait(60.0)
            peer.stdout.close()


def test_a_closed_bus_says_so(tmp_path):
    bus = PtyBus(tmp_path / 'can')
    bus.shutdown()
    with pytest.raises(can.CanOperationError, match='cannot send'):
        bus.send(frame(0x80))
    with pytest.raises(can.CanOperationError, match='cannot read'):
        bus.recv(1.0)
