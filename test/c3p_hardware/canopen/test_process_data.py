# SPDX-License-Identifier: Apache-2.0
"""Frames of a cycle: what is packed is unpacked, and canopen packs and numbers it likewise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen import process_data as pd

LAYOUTS = [pd.DRIVE_SAMPLE, pd.DRIVE_COMMAND, pd.ENCODER_SAMPLE, pd.drive_health()]
BY_NAME = pytest.mark.parametrize('layout', LAYOUTS, ids=lambda layout: layout.name)


@st.composite
def packed(draw):
    """A layout with values that it can hold."""
    layout = draw(st.sampled_from(LAYOUTS))
    return layout, tuple(draw(st.integers(*entry.limits)) for entry in layout.entries)


@pytest.fixture(scope='module')
def node():
    """A canopen node with every object that is mapped and four PDOs each way."""
    canopen = pytest.importorskip('canopen')
    od = canopen.objectdictionary
    types = {(8, True): od.INTEGER8, (8, False): od.UNSIGNED8, (16, True): od.INTEGER16,
             (16, False): od.UNSIGNED16, (32, True): od.INTEGER32, (32, False): od.UNSIGNED32}
    objects = od.ObjectDictionary()
    for entry in {e for layout in LAYOUTS for e in layout.entries}:
        variable = od.ODVariable(entry.name, entry.index, entry.subindex)
        variable.data_type = types[entry.bits, entry.signed]
        objects.add_object(variable)
    for base in (0x1400, 0x1600, 0x1800, 0x1A00):
        for k in range(4):
            objects.add_object(od.ODRecord(f'{base + k:X}h', base + k))
    return canopen.LocalNode(5, objects)


@given(packed())
def test_what_is_packed_is_unpacked(case):
    layout, values = case
    data = layout.pack(*values)
    assert len(data) == layout.size and layout.unpack(data) == values
    assert layout.unpack(bytearray(data)) == layout.unpack(memoryview(data)) == values


@given(packed())
def test_canopen_packs_the_same_bytes(node, case):
    layout, values = case
    pdo = node.tpdo[1]
    pdo.clear()
    for entry in layout.entries:
        pdo.add_variable(entry.index, entry.subindex, entry.bits)
    for variable, value in zip(pdo, values, strict=True):
        variable.raw = value
    assert bytes(pdo.data) == layout.pack(*values)


@BY_NAME
def test_mappings_say_index_subindex_and_bits(layout):
    assert layout.mappings == tuple(
        int.from_bytes(e.index.to_bytes(2, 'big') + bytes([e.subindex, e.bits]), 'big')
        for e in layout.entries)
    assert sum(m & 0xFF for m in layout.mappings) == 8 * layout.size <= 64


def test_the_layouts_are_the_agreed_ones():
    assert {p.name: (p.size, [f'{e.index:04X}' for e in p.entries]) for p in LAYOUTS} == {
        'DRIVE_SAMPLE': (8, ['6041', '6064', '6077']), 'DRIVE_COMMAND': (4, ['6040', '6071']),
        'ENCODER_SAMPLE': (8, ['6004', '6503', '6505']),
        'DRIVE_HEALTH': (8, ['6061', '603F', '6079', '2030'])}
    # positions of drives, torques, modes and temperatures may be negative
    signed = {f'{e.index:04X}' for p in LAYOUTS for e in p.entries if e.signed}
    assert signed == {'6064', '6077', '6071', '6061', '2030'}
    assert not pd.Entry(0x6041, 0, 16).signed
    assert pd.drive_health(0x2222, 3).mappings[-1] == 0x22220308


def test_frames_as_they_are_on_the_wire():
    assert pd.DRIVE_COMMAND.pack(0x000F, -250) == bytes.fromhex('0f00 06ff')
    assert pd.DRIVE_SAMPLE.unpack(bytes.fromhex('3716 ffffffff e803')) == (0x1637, -1, 1000)
    assert pd.ENCODER_SAMPLE.unpack(bytes.fromhex('ff0f0000 0100 1000')) == (4095, 1, 16)
    assert pd.drive_health().unpack(bytes.fromhex('0a 1023 c05d0000 d8')) == (
        10, 0x2310, 24000, -40)


@given(packed(), st.binary(max_size=12))
def test_another_size_is_refused(case, data):
    layout, _ = case
    if len(data) != layout.size:
        with pytest.raises(ValueError, match=f'{layout.name} came with {len(data)} bytes'):
            layout.unpack(data)


@pytest.mark.parametrize('values, words', [
    ((0x10000, 0), r'controlword \(6040h:0\) = 65536'), ((0, 32768), 'target torque .* = 32768'),
    ((0, -32769), 'from -32768 to 32767'), ((0,), 'takes 2 values, not 1'),
    ((0, 0.5), 'target torque .* = 0.5'), ((0, float('nan')), 'target torque .* = nan')])
def test_a_value_that_does_not_fit_is_refused_and_never_clipped(values, words):
    with pytest.raises(ValueError, match=words):
        pd.DRIVE_COMMAND.pack(*values)


def test_a_layout_longer_than_a_frame_is_refused():
    with pytest.raises(ValueError, match='LONG has 12 bytes'):
        pd.PdoLayout('LONG', (pd.POSITION_ACTUAL,) * 3)
    with pytest.raises(ValueError, match='EMPTY has 0 bytes'):
        pd.PdoLayout('EMPTY', ())


@pytest.mark.parametrize('index, subindex, bits', [(0, 0, 8), (0x10000, 0, 8), (0x6040, 256, 8),
                                                   (0x6040, 0, 12)])
def test_an_entry_that_no_mapping_can_express_is_refused(index, subindex, bits):
    with pytest.raises(ValueError, match='object'):
        pd.Entry(index, subindex, bits)


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_identifiers_of_pdos_are_those_of_canopen(node, number):
    assert pd.tpdo(number, node.id) == node.tpdo[number].predefined_cob_id
    assert pd.rpdo(number, node.id) == node.rpdo[number].predefined_cob_id


def test_other_identifiers_are_those_of_canopen(node):
    assert pd.emergency_id(node.id) == node.emcy.cob_id
    assert pd.sdo_request_id(node.id) == node.sdo.rx_cobid
    assert pd.sdo_answer_id(node.id) == node.sdo.tx_cobid
    # canopen has no names for these
    assert pd.heartbeat_id(127) == 0x77F and (pd.NMT_ID, pd.SYNC_ID) == (0, 0x80)


def test_no_two_identifiers_of_all_nodes_are_equal():
    functions = [pd.emergency_id, pd.heartbeat_id, pd.sdo_request_id, pd.sdo_answer_id]
    functions += [lambda n, k=k, f=f: f(k, n) for f in (pd.tpdo, pd.rpdo) for k in range(1, 5)]
    every = [pd.NMT_ID, pd.SYNC_ID, *(f(n) for f in functions for n in range(1, 128))]
    assert len(set(every)) == len(every) and max(every) < 1 << 11


@pytest.mark.parametrize('call', [lambda: pd.tpdo(1, 0), lambda: pd.heartbeat_id(128),
                                  lambda: pd.emergency_id(-1)])
def test_a_node_id_that_cannot_be_is_refused(call):
    with pytest.raises(ValueError, match='node id'):
        call()


@pytest.mark.parametrize('number', [0, 5])
def test_a_pdo_without_standard_identifier_is_refused(number):
    with pytest.raises(ValueError, match=f'PDO number = {number}'):
        pd.rpdo(number, 1)
