# SPDX-License-Identifier: Apache-2.0
"""Parameters exchanged over a bus that others use, too."""

import threading
import uuid

import can
import canopen
import pytest

from c3p_hardware.transport.can_bus import (
    BusAddress,
    ConfigurationError,
    Objects,
    conversation,
    open_bus,
)

# who answers in this process, s
ANSWER = 10.0


def frame(number, data=b'', **kind):
    return can.Message(arbitration_id=number, data=data, is_extended_id=False, **kind)


@pytest.fixture
def buses():
    """Both ends of a virtual bus."""
    channel = f'{uuid.uuid4()}'
    ends = [open_bus(BusAddress('virtual', channel)) for _ in range(2)]
    yield ends
    for end in ends:
        end.shutdown()


def answering(bus, *frames):
    """Let the other end answer the first request with these frames."""
    def answer():
        if bus.recv(ANSWER) is not None:
            for message in frames:
                bus.send(message)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


# 1000h:0 of node 5 is 00020192h, expedited upload
ANSWERED = frame(0x585, b'\x43\x00\x10\x00\x92\x01\x02\x00')


@pytest.mark.parametrize('noise', [
    frame(0x705), frame(0x085, b'\x00\x10'), frame(0x705, b'\x77'),
    frame(0x585, is_remote_frame=True, dlc=8), frame(0x585, is_error_frame=True),
    can.Message(arbitration_id=0x585, data=bytes(8), is_extended_id=True), frame(0x7FF, bytes(8))])
def test_frames_that_cannot_be_read_do_not_keep_an_answer_away(buses, noise):
    """canopen raises on a heartbeat without data; that must not end who waits for answers."""
    mine, other = buses
    with conversation(mine) as network:
        node = network.add_node(canopen.RemoteNode(5, canopen.ObjectDictionary()))
        node.sdo.RESPONSE_TIMEOUT = ANSWER
        thread = answering(other, noise, ANSWERED)
        assert node.sdo.upload(0x1000, 0) == bytes.fromhex('92010200')
        thread.join()


def test_the_bus_stays_open_after_a_conversation_and_nobody_reads_it(buses):
    mine, other = buses
    with conversation(mine):
        pass
    assert not [t for t in threading.enumerate() if t.name == 'sdo']
    other.send(frame(0x181, bytes(8)))
    assert mine.recv(ANSWER).arbitration_id == 0x181


def test_a_bus_that_fails_meanwhile_is_no_answer_and_no_hanging(buses, monkeypatch):
    mine, _ = buses

    def broken(timeout=None):
        raise can.CanOperationError('unplugged')

    monkeypatch.setattr(mine, 'recv', broken)
    with conversation(mine) as network:
        objects = Objects(network, 5, 'drive')
        monkeypatch.setattr(objects._sdo, 'RESPONSE_TIMEOUT', 0.05)
        with pytest.raises(ConfigurationError, match='drive: type .* no response; check power'):
            objects.read(0x1000, 0, 'I', 'type')


def test_an_exception_in_a_conversation_ends_its_thread(buses):
    with pytest.raises(KeyError), conversation(buses[0]):
        raise KeyError
    assert not [t for t in threading.enumerate() if t.name == 'sdo']
