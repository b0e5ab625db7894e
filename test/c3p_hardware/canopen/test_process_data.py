# SPDX-License-Identifier: Apache-2.0
"""Frames of a cycle: packing, mappings and identifiers as canopen's; units of a drive."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen import process_data as pd
from c3p_hardware.canopen.brake_output import BRAKED_COMMAND
from c3p_hardware.canopen.process_data import DriveUnits

LAYOUTS = [BRAKED_COMMAND, pd.DRIVE_SAMPLE, pd.DRIVE_COMMAND, pd.VELOCITY_COMMAND,
           pd.ENCODER_SAMPLE,
           pd.drive_health()]
BY_NAME = pytest.mark.parametrize('layout', LAYOUTS, ids=lambda layout: layout.name)


def limits(entry):
    """Return the smallest and the largest value of an entry."""
    if entry.signed:
        return -(1 << entry.bits - 1), (1 << entry.bits - 1) - 1
    return 0, (1 << entry.bits) - 1


@st.composite
def packed(draw):
    """A layout with values that it can hold."""
    layout = draw(st.sampled_from(LAYOUTS))
    return layout, tuple(draw(st.integers(*limits(entry))) for entry in layout.entries)


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
        'BRAKED_COMMAND': (8, ['6040', '6071', '60FE']),
        'VELOCITY_COMMAND': (6, ['6040', '60FF']),
        'ENCODER_SAMPLE': (8, ['6004', '6503', '6505']),
        'DRIVE_HEALTH': (8, ['6061', '603F', '6079', '2030'])}
    # positions of drives, torques, modes and temperatures may be negative
    signed = {f'{e.index:04X}' for p in LAYOUTS for e in p.entries if e.signed}
    assert signed == {'6064', '6077', '6071', '60FF', '6061', '2030'}
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
        with pytest.raises(ValueError, match=f'{layout.name}: {len(data)} bytes received'):
            layout.unpack(data)


@given(packed(), st.data())
def test_a_value_that_does_not_fit_is_rejected_and_never_clipped(case, data):
    layout, values = case
    k = data.draw(st.integers(0, len(values) - 1))
    low, high = limits(layout.entries[k])
    wrong = data.draw(st.one_of(st.integers(max_value=low - 1), st.integers(min_value=high + 1),
                                st.sampled_from([0.5, math.nan])))
    for bad in ((*values[:k], wrong, *values[k + 1:]), values[:k], (*values, 0)):
        with pytest.raises(ValueError, match=f'{layout.name}: .* must be {len(values)} whole'):
            layout.pack(*bad)


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


# of the emulated cards
CARD = DriveUnits(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000)
UNITS = st.builds(DriveUnits, st.floats(1e-3, 50), st.floats(0.5, 200), st.floats(0.2, 1),
                  st.integers(1, 1 << 20), st.sampled_from([1, -1]))


def test_the_numbers_of_the_emulated_cards():
    assert CARD.torque(1000) == pytest.approx(1.232, rel=1e-14)
    assert CARD.counts_per_wheel_turn == 28000
    assert CARD.angle(28000) == pytest.approx(2 * math.pi, rel=1e-14)
    assert CARD.torque_resolution == pytest.approx(1.232e-3, rel=1e-14)
    assert CARD.angle_resolution == pytest.approx(2 * math.pi / 28000, rel=1e-14)
    assert CARD.max_permille(1.2) == 974


@given(UNITS, st.integers(-1000, 1000))
def test_a_torque_of_whole_permille_comes_back(units, permille):
    assert units.permille(units.torque(permille)) == permille


@given(UNITS, st.integers(-(1 << 31), (1 << 31) - 1))
def test_an_angle_gives_back_its_counts(units, position):
    counts = units.direction * units.angle(position) / units.angle_resolution
    # two roundings of numbers below 2³¹
    assert counts == pytest.approx(position, rel=1e-14, abs=1e-6)


@given(UNITS, st.floats(-1, 1), st.integers(0, 3000))
def test_a_torque_is_rounded_towards_zero_and_clipped(units, share, most):
    torque = 1.5 * share * units.torque_resolution * max(most, 1)
    permille = units.permille(torque, most)
    given_ = units.torque(permille)
    assert isinstance(permille, int) and abs(permille) <= most
    # never more than asked but for the rounding of a permille, and never the other way
    assert abs(given_) <= abs(torque) + 1e-5 * units.torque_resolution and given_ * torque >= 0
    if abs(permille) < most:
        assert abs(torque) - abs(given_) < units.torque_resolution


@given(UNITS, st.floats(0, 1e4))
def test_the_limit_is_the_most_that_does_not_exceed_it(units, limit):
    most = units.max_permille(limit)
    # a millionth of a permille is rounding
    assert abs(units.torque(most)) <= limit + 2e-6 * units.torque_resolution
    assert most == 32767 or abs(units.torque(most + 1)) > limit
    assert abs(units.permille(math.copysign(limit, -1), most)) <= most


def test_even_a_huge_torque_is_clipped():
    assert CARD.permille(1e300) == 1000 and CARD.permille(-1e300, 250) == -250
    assert CARD.max_permille(math.inf) == 32767


@pytest.mark.parametrize('torque', [math.nan, math.inf, -math.inf])
def test_a_torque_that_is_not_finite_is_refused(torque):
    with pytest.raises(ValueError, match='wheel torque = '):
        CARD.permille(torque)


@pytest.mark.parametrize('limit', [-1.0, math.nan])
def test_a_limit_that_cannot_be_is_refused(limit):
    with pytest.raises(ValueError, match='torque limit'):
        CARD.max_permille(limit)


@pytest.mark.parametrize('name, value', [
    ('rated_torque', 0.0), ('rated_torque', math.inf), ('gear_ratio', -14.0),
    ('efficiency', 0.0), ('efficiency', 1.1), ('efficiency', math.nan), ('counts', 0),
    ('counts', 0.5), ('counts', math.nan), ('direction', 2)])
def test_units_that_cannot_be_are_refused(name, value):
    given_ = dict(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000, direction=1)
    with pytest.raises(ValueError, match=f'{name} = '):
        DriveUnits(**given_ | {name: value})
