# SPDX-License-Identifier: Apache-2.0
"""Numbers and words of CiA 301, beside those of canopen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen import cia301
from c3p_hardware.canopen.cia301 import DeviceType, Emergency, NmtCommand, NmtState


def test_network_states_and_commands_have_the_numbers_of_canopen():
    nmt = pytest.importorskip('canopen.nmt')
    assert {s.value: s.name.replace('_', '-') for s in NmtState}.items() <= nmt.NMT_STATES.items()
    names = {NmtCommand.START: 'OPERATIONAL', NmtCommand.STOP: 'STOPPED',
             NmtCommand.ENTER_PRE_OPERATIONAL: 'PRE-OPERATIONAL', NmtCommand.RESET_NODE: 'RESET',
             NmtCommand.RESET_COMMUNICATION: 'RESET COMMUNICATION'}
    assert set(names) == set(NmtCommand)
    assert all(nmt.NMT_COMMANDS[name] == command for command, name in names.items())


def test_a_command_is_two_bytes():
    assert cia301.nmt_message(NmtCommand.START, 5) == b'\x01\x05'
    assert cia301.nmt_message(NmtCommand.RESET_NODE) == b'\x81\x00'
    with pytest.raises(ValueError, match='node id = 128'):
        cia301.nmt_message(NmtCommand.STOP, 128)


def test_every_heartbeat_is_a_state_or_undefined():
    for byte in range(256):
        known = byte & 0x7F in (0, 4, 5, 127)
        assert cia301.HEARTBEATS.get(bytes([byte])) == (byte & 0x7F if known else None)
    assert all(len(data) == 1 for data in cia301.HEARTBEATS)


@given(st.integers(1, 127), st.integers(1, 0xFFFF))
def test_the_heartbeat_consumer_says_node_and_time(node_id, milliseconds):
    value = cia301.heartbeat_consumer(node_id, milliseconds)
    # bits 0 to 15 time, 16 to 23 node id
    assert value.to_bytes(4, 'little') == milliseconds.to_bytes(2, 'little') + bytes([node_id, 0])


@pytest.mark.parametrize('node_id, milliseconds', [(0, 100), (128, 100), (1, 0), (1, 65536),
                                                   (1, 0.5), (1, float('nan'))])
def test_a_heartbeat_that_would_watch_nothing_is_refused(node_id, milliseconds):
    with pytest.raises(ValueError, match='node id|heartbeat time'):
        cia301.heartbeat_consumer(node_id, milliseconds)


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.binary(min_size=5, max_size=5))
def test_emergencies_are_packed_as_canopen_unpacks_them(code, register, vendor):
    emcy = pytest.importorskip('canopen.emcy')
    emergency = Emergency(code, register, vendor)
    assert emcy.EMCY_STRUCT.unpack(emergency.pack()) == (code, register, vendor)
    assert cia301.decode_emergency(emergency.pack()) == emergency
    assert emergency.is_reset == (code < 0x100)
    assert emergency.text == cia301.emergency_text(code)


def test_a_short_emergency_is_refused():
    with pytest.raises(ValueError, match='7 bytes'):
        cia301.decode_emergency(bytes(7))


# canopen's word for a class, and ours
SAME = {'Error Reset / No Error': 'no error', 'Generic Error': 'generic error',
        'Device Hardware': 'device hardware', 'Additional Modules': 'additional modules',
        'External Error': 'external error', 'Additional Functions': 'additional functions',
        'Device Specific': "manufacturer's own"}


def test_classes_of_errors_are_those_of_canopen():
    emcy = pytest.importorskip('canopen.emcy')
    for code, _, text in emcy.EmcyError.DESCRIPTIONS:
        ours = SAME.get(text, text.replace('Device Software', 'device software').lower())
        assert cia301.emergency_text(code) == f'{ours} ({code:04X}h)'


@pytest.mark.parametrize('code, words', [
    (0x2310, 'over-current'), (0x3210, 'over-voltage'), (0x3220, 'under-voltage'),
    (0x4210, 'over-temperature'), (0x4310, 'over-temperature'), (0x7305, 'encoder'),
    (0x7320, 'position sensor'), (0x8130, 'heartbeat'), (0x8140, 'bus-off'),
    (0x8150, 'another device'), (0x8611, 'following error'), (0x6010, 'watchdog'),
    # a manufacturer's code inside a class, and inside a narrower one
    (0x231F, 'over-current'), (0x43A7, 'drive temperature'), (0x2ABC, 'current'),
    (0xB123, 'reserved'), (0xFF42, "manufacturer's own")])
def test_what_drives_tell_has_words(code, words):
    text = cia301.emergency_text(code)
    assert words in text and text.endswith(f'({code:04X}h)')


def test_every_code_has_a_text():
    assert all(cia301.emergency_text(code) for code in range(1 << 16))


def test_reasons_of_aborts_are_those_of_canopen():
    sdo = pytest.importorskip('canopen.sdo')
    for code in sdo.SdoAbortedError.CODES:
        text = cia301.abort_text(code)
        assert 'unknown reason' not in text and text.endswith(f'({code:08X}h)')
    assert cia301.abort_text(0x12345678) == 'unknown reason (12345678h)'


@pytest.mark.parametrize('value, text', [
    (0x00020192, 'drive (CiA 402): servo drive'), (0x00000192, 'drive (CiA 402)'),
    (0x00060192, 'drive (CiA 402): servo drive, stepper motor'),
    (0x00010196, 'encoder (CiA 406): single-turn absolute'),
    (0x00020196, 'encoder (CiA 406): multi-turn absolute'), (0x00FF0196, 'encoder (CiA 406)'),
    (0x00000000, 'no standard profile'), (0x000F0191, 'input/output device (CiA 401)'),
    (0x00000123, 'device (CiA 291)')])
def test_device_types_in_words(value, text):
    assert str(DeviceType.decode(value)) == text


def test_profiles_have_their_numbers():
    assert DeviceType.decode(0x00020192).profile == cia301.PROFILE_DRIVE == 402
    assert DeviceType.decode(0x00010196).profile == cia301.PROFILE_ENCODER == 406


def test_behaviour_on_errors_has_the_numbers_of_1029h():
    assert [b.name for b in sorted(cia301.ErrorBehaviour)] == ['PRE_OPERATIONAL', 'NO_CHANGE',
                                                               'STOPPED']
