# SPDX-License-Identifier: Apache-2.0
"""Frames of a cycle: what is read, what is left alone, and that orders go to all drives."""

import itertools
import time
from collections import deque

import can
import pytest
from card_network import SETTINGS

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE, ENCODER_SAMPLE
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.orders import Order
from c3p_hardware.transport.card_bus import CardBus

ORDERS = [Order(0x0F, 100), Order(0x0F, -200), Order(0x0F, 300)]


def frame(number, data=b'', **kind):
    return can.Message(arbitration_id=number, data=data, **{'is_extended_id': False, **kind})


class ScriptedBus:
    """Gives the frames that it was given; keeps or refuses those that are sent."""

    def __init__(self, sleep=lambda seconds: None):
        self.coming, self.sent, self.refuse = deque(), [], lambda message: False
        self._sleep = sleep

    def recv(self, timeout=None):
        if not self.coming:
            self._sleep(min(timeout, 1e-3))
            return None
        message = self.coming.popleft()
        if isinstance(message, Exception):
            raise message
        return message

    def send(self, message, timeout=None):
        if self.refuse(message):
            raise can.CanOperationError('no room')
        self.sent.append(message)


@pytest.fixture
def drives():
    return [Drive.of(d) for d in SETTINGS.drives]


@pytest.fixture
def card_bus(drives, virtual_time):
    bus = CardBus(ScriptedBus(virtual_time.sleep), SETTINGS, drives,
                  [Encoder.of(e) for e in SETTINGS.encoders])
    bus.begin(time.monotonic())
    return bus


def samples():
    """Return the six samples of a cycle."""
    return [*(frame(0x180 + n, DRIVE_SAMPLE.pack(0x0637, 10 * n, -n)) for n in (1, 2, 3)),
            *(frame(0x180 + n, ENCODER_SAMPLE.pack(100 * n, 0, 0)) for n in (11, 12, 13))]


def soon():
    return time.monotonic() + 0.02


def test_a_cycle_is_a_sync_six_samples_in_any_order_and_three_orders(card_bus, drives):
    card_bus.sync()
    assert not card_bus.complete()
    card_bus.bus.coming.extend(reversed(samples()))
    assert card_bus.receive(time.monotonic() + 5.0)
    card_bus.order(ORDERS)
    assert [(m.arbitration_id, bytes(m.data)) for m in card_bus.bus.sent] == [
        (0x080, b''), (0x201, b'\x0f\x00\x64\x00'), (0x202, b'\x0f\x00\x38\xff'),
        (0x203, b'\x0f\x00\x2c\x01')]
    assert [d.position for d in drives] == [10, 20, 30]
    # a new question makes old answers old
    card_bus.sync()
    assert not card_bus.complete()


@pytest.mark.parametrize('missing', range(6))
def test_one_missing_sample_leaves_a_cycle_incomplete(card_bus, missing):
    card_bus.sync()
    some = samples()
    del some[missing]
    card_bus.bus.coming.extend(some)
    assert not card_bus.receive(soon())


@pytest.mark.parametrize('bad, counter', [
    (frame(0x181, bytes(7)), 'malformed'), (frame(0x181), 'malformed'),
    (frame(0x18B, bytes(6)), 'malformed'), (frame(0x281, bytes(3)), 'malformed'),
    (frame(0x701, b''), 'malformed'), (frame(0x701, b'\x33'), 'malformed'),
    (frame(0x081, bytes(5)), 'malformed'),
    (frame(0x181, bytes(8), is_extended_id=True), 'foreign'),
    (frame(0x701, is_remote_frame=True, dlc=1), 'foreign'),
    (frame(0x184, bytes(8)), 'foreign'), (frame(0x000, is_remote_frame=True), 'foreign'),
    (frame(0x604, bytes(8)), 'foreign'), (frame(0x123, is_error_frame=True), 'error_frames')])
def test_frames_that_are_no_samples_are_counted_and_change_nothing(card_bus, drives, bad, counter):
    card_bus.sync()
    card_bus.bus.coming.extend([bad, *samples()[1:]])
    assert not card_bus.receive(soon())
    counted = {name: getattr(card_bus, name) for name in ('foreign', 'malformed', 'error_frames')}
    assert counted == {'foreign': 0, 'malformed': 0, 'error_frames': 0, counter: 1}
    assert not list(drives[0].problems(time.monotonic(), SETTINGS))


def test_heartbeats_and_emergencies_reach_their_device(card_bus, drives):
    card_bus.bus.coming.extend([frame(0x702, bytes([NmtState.STOPPED])),
                                frame(0x083, b'\x10\x23\x02' + bytes(5))])
    card_bus.receive(0.0, until_complete=False)
    kinds = [{p.kind for p in d.problems(time.monotonic(), SETTINGS)} for d in drives]
    assert kinds[1] == {'nmt'} and kinds[2] == {'emergency'} and not kinds[0]


@pytest.mark.parametrize('refused', [{0x201}, {0x202}, {0x201, 0x203}])
def test_an_order_that_cannot_be_sent_keeps_no_other_drive_waiting(card_bus, refused):
    card_bus.bus.refuse = lambda message: message.arbitration_id in refused
    card_bus.order(ORDERS)
    assert {m.arbitration_id for m in card_bus.bus.sent} == {0x201, 0x202, 0x203} - refused
    assert card_bus.send_failures == len(refused)
    card_bus.bus.refuse = lambda message: False
    card_bus.bus.sent.clear()
    card_bus.order([Order(0x06, 0)] * 3)
    # the new orders alone: what found no room is not sent later
    assert [bytes(m.data) for m in card_bus.bus.sent] == [b'\x06\x00\x00\x00'] * 3


def test_one_drive_that_gets_no_orders_for_the_time_of_silence_is_a_problem(card_bus):
    card_bus.bus.refuse = lambda message: message.arbitration_id == 0x202
    began = time.monotonic()
    for _ in range(3):  # all others are sent
        card_bus.sync()
        card_bus.order(ORDERS)
    later = time.monotonic() + SETTINGS.silence_timeout
    assert card_bus.problem(began) is None and card_bus.problem(later).kind == 'bus'
    card_bus.bus.refuse = lambda message: False
    card_bus.order(ORDERS)
    assert card_bus.problem(later) is None


def test_a_bus_that_takes_nothing_is_a_problem_after_the_time_of_silence(card_bus):
    card_bus.bus.refuse = lambda message: True
    card_bus.sync()
    began = time.monotonic()
    assert card_bus.problem(began) is None
    found = card_bus.problem(began + SETTINGS.silence_timeout + 1e-3)
    assert found.device == 'bus' and found.configure
    assert 'no room' in found.text and 'cable' in found.remedy and '~/recover' in found.remedy
    card_bus.bus.refuse = lambda message: False
    card_bus.sync()
    assert card_bus.problem(began + 10.0) is None


def test_a_bus_that_cannot_be_read_is_a_problem_and_does_not_spin(card_bus):
    calls = itertools.count()

    def broken(timeout=None):
        next(calls)
        raise can.CanOperationError('unplugged')

    card_bus.sync()
    card_bus.bus.recv = broken
    assert not card_bus.receive(time.monotonic() + 0.05)
    # at least 1 ms each
    assert next(calls) <= 60
    found = card_bus.problem(time.monotonic() + 2 * SETTINGS.silence_timeout)
    assert 'unplugged' in found.text


def test_bus_off_is_a_problem_at_once_and_until_the_bus_is_opened_again(card_bus):
    card_bus.bus.coming.append(frame(0x40, bytes(8), is_error_frame=True))
    card_bus.receive(0.0, until_complete=False)
    found = card_bus.problem(time.monotonic())
    assert found.kind == 'bus_off' and found.configure and '~/recover' in found.remedy
    card_bus.begin(time.monotonic())
    assert card_bus.problem(time.monotonic()) is None


@pytest.mark.parametrize('until_complete', [True, False])
def test_somebody_who_babbles_does_not_hold_the_cycle(card_bus, until_complete):
    """A device that sends without a pause must not keep orders from the drives."""
    card_bus.sync()
    card_bus.bus.recv = lambda timeout=None: frame(0x7F0, bytes(8))
    begin = time.monotonic()
    assert not card_bus.receive(begin + 0.01, until_complete)
    assert time.monotonic() - begin < 0.01 + 2 * SETTINGS.period
    assert card_bus.foreign > 10


def test_leaving_takes_every_device_out_of_the_exchange_by_its_number(card_bus):
    card_bus.leave()
    assert [(m.arbitration_id, bytes(m.data)) for m in card_bus.bus.sent] == [
        (0, bytes([0x80, node])) for node in (1, 2, 3, 11, 12, 13)]


def test_the_load_counts_what_is_sent_and_received(card_bus):
    for _ in range(20):
        card_bus.sync()
        card_bus.bus.coming.extend(samples())
        card_bus.receive(time.monotonic() + 5.0)
        card_bus.order(ORDERS)
    load, frames_per_s = card_bus.take_load(0.1)
    # 200 cycles a second of 10 frames; bits between none and all that may be stuffed
    assert frames_per_s == pytest.approx(2000)
    bits = 44 + 6 * (44 + 64) + 3 * (44 + 32)
    assert bits * 200 / 1e6 <= load <= 1.3 * bits * 200 / 1e6
    assert card_bus.take_load(0.1) == (0.0, 0.0)
