# SPDX-License-Identifier: Apache-2.0
"""Bits of frames, beside frames that are really built, with checksum and stuff bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.canopen import bus_load as bl
from c3p_hardware.canopen import process_data as pd


def bits_of(value, count):
    """Return the bits of a number, first the highest."""
    return [value >> k & 1 for k in reversed(range(count))]


def checksum(bits):
    """Return the 15 bits of the CRC of ISO 11898-1: x¹⁵ + x¹⁴ + x¹⁰ + x⁸ + x⁷ + x⁴ + x³ + 1."""
    register = 0
    for bit in bits:
        feedback = bit ^ register >> 14 & 1
        register = register << 1 & 0x7FFF
        if feedback:
            register ^= 0x4599
    return bits_of(register, 15)


def stuffed(bits):
    """Return the bits with one of the other kind after every five that are equal."""
    out, run = [], 0
    for bit in bits:
        run = run + 1 if out and bit == out[-1] else 1
        out.append(bit)
        if run == 5:
            out.append(1 - bit)
            run = 1
    return out


def stuffable(identifier, data, extended=False):
    """Return start, identifier, control, data and checksum of a data frame."""
    bits = [0]
    if extended:
        # SRR and IDE recessive, then RTR, r1, r0
        bits += [*bits_of(identifier >> 18, 11), 1, 1, *bits_of(identifier & 0x3FFFF, 18), 0, 0, 0]
    else:
        bits += [*bits_of(identifier, 11), 0, 0, 0]
    bits += bits_of(len(data), 4) + [b for byte in data for b in bits_of(byte, 8)]
    return bits + checksum(bits)


def frame(identifier, data, extended=False):
    """Return all bits of a frame on the wire, with the three bits of silence."""
    # CRC delimiter, acknowledgement slot and delimiter, end of frame, intermission
    return stuffed(stuffable(identifier, data, extended)) + [1, 0, 1] + [1] * 7 + [1] * 3


FRAMES = st.tuples(st.integers(0, (1 << 11) - 1),
                   st.binary(max_size=8) | st.integers(0, 8).map(bytes)
                   | st.integers(0, 8).map(lambda n: b'\xff' * n) | st.lists(
                       st.sampled_from([0x00, 0xF0, 0x0F, 0x87, 0x78, 0xC3, 0x3C, 0xE1, 0x1E]),
                       max_size=8).map(bytes))


def test_the_checksum_of_a_frame_with_its_checksum_is_zero():
    bits = stuffable(0x123, b'C3P')
    assert checksum(bits) == [0] * 15
    bits[20] ^= 1
    assert checksum(bits) != [0] * 15


def test_the_checksum_of_the_catalogue():
    # CRC-15/CAN of the digits 1 to 9: the check value of the public catalogue of CRCs
    digits = [bit for byte in b'123456789' for bit in bits_of(byte, 8)]
    assert checksum(digits) == bits_of(0x059E, 15)


@given(FRAMES)
def test_real_frames_are_between_the_least_and_the_most_bits(case):
    identifier, data = case
    bits = len(frame(identifier, data))
    assert bl.frame_bits(len(data), stuffing=0) <= bits <= bl.frame_bits(len(data))


@given(st.integers(0, (1 << 29) - 1), st.binary(max_size=8))
def test_real_frames_with_long_identifiers_are_between_the_bounds(identifier, data):
    bits = len(frame(identifier, data, extended=True))
    assert (bl.frame_bits(len(data), True, stuffing=0) <= bits
            <= bl.frame_bits(len(data), extended=True))


@pytest.mark.parametrize('extended', [False, True])
@pytest.mark.parametrize('size', range(9))
def test_the_most_stuff_bits_are_those_of_the_worst_pattern(size, extended):
    # five equal bits, then four by four: every stuff bit begins the next five
    count = (54 if extended else 34) + 8 * size
    worst = [1] * 5 + [bit for k in range(count) for bit in [k % 2] * 4]
    assert len(stuffed(worst[:count])) - count == (
        bl.frame_bits(size, extended) - bl.frame_bits(size, extended, stuffing=0))


def test_the_figures_of_davis():
    # his eq. (1) for 11 bits is 55 + 10 s, for 29 bits 80 + 10 s
    assert [bl.frame_bits(s) for s in range(9)] == [55 + 10 * s for s in range(9)]
    assert [bl.frame_bits(s, extended=True) for s in range(9)] == [80 + 10 * s for s in range(9)]


def real_cycle(k):
    """Return ten frames of a drive as they are on the bus: casters turn, wheels push."""
    yield pd.SYNC_ID, b''
    for i in range(3):
        counts, torque = (1000 * i + 37 * k) % 4096, (53 * k + 400 * i) % 900 - 450
        yield pd.tpdo(1, 11 + i), pd.ENCODER_SAMPLE.pack(counts, 0, 0)
        yield pd.tpdo(1, 1 + i), pd.DRIVE_SAMPLE.pack(0x1637, 331 * k * (-1) ** i, torque)
        yield pd.rpdo(1, 1 + i), pd.DRIVE_COMMAND.pack(0x0F, torque)


def test_stuffing_of_this_robots_frames_is_typical():
    fractions, real, estimated = [], 0, 0.0
    for k in range(200):
        frames = list(real_cycle(k))
        assert len(frames) == 10
        bits = sum(len(frame(*f)) for f in frames)
        none = bl.cycle_bits(stuffing=0)
        fractions.append((bits - none) / (bl.cycle_bits() - none))
        real += bits
        estimated += bl.cycle_bits(stuffing=bl.TYPICAL_STUFFING)
    assert 0.33 < min(fractions) and max(fractions) < 0.45
    assert estimated == pytest.approx(real, rel=0.02)


def test_one_cycle_is_ten_frames():
    assert bl.cycle_bits() == sum(bl.frame_bits(len(data)) for _, data in real_cycle(1)) == 1150
    assert bl.cycle_bits(4) - bl.cycle_bits(3) == 2 * 135 + 95


def test_what_passes_beside_the_cycles():
    # seven heartbeats of 65 bits at 20 Hz, three slow frames of 135 bits at 10 Hz
    assert bl.background_bits() == pytest.approx(7 * 65 * 20 + 3 * 135 * 10)


@given(st.floats(0.05, 1), st.sampled_from([250e3, 500e3, 800e3, 1e6]), st.integers(1, 8))
def test_the_rate_that_fits_fills_its_share(share, bitrate, casters):
    if bl.background_bits(casters) < share * bitrate:
        rate = bl.fitting_rate(bitrate, share, casters)
        assert bl.bus_load(rate, bitrate, casters) == pytest.approx(share)
    else:
        with pytest.raises(ValueError, match='use a faster bus'):
            bl.fitting_rate(bitrate, share, casters)


def test_a_bus_that_is_full_without_cycles_has_no_rate():
    with pytest.raises(ValueError, match='500000 bit/s besides the cycles'):
        bl.fitting_rate(1e6, 0.5, other_bits=5e5)


def test_a_fast_bus_carries_200_to_400_cycles_a_second_in_half_its_time():
    assert bl.bus_load(200) < 0.25 and bl.bus_load(400) < 0.5 < bl.bus_load(430)
    assert bl.bus_load(400, other_bits=0.0) == pytest.approx(0.46)
    assert bl.bus_load(1000) > 1


@pytest.mark.parametrize('call, words', [
    (lambda: bl.frame_bits(9), 'data of 9 bytes'), (lambda: bl.frame_bits(-1), '-1 bytes'),
    (lambda: bl.cycle_bits(0), 'casters = 0'), (lambda: bl.bus_load(200, 0), 'bitrate = 0'),
    (lambda: bl.fitting_rate(load=0), 'load = 0'), (lambda: bl.bus_load(1, -1), 'bitrate = -1'),
    (lambda: bl.frame_bits(1, stuffing=2), 'stuffing = 2'),
    (lambda: bl.background_bits(heartbeat=0), 'heartbeat = 0')])
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
