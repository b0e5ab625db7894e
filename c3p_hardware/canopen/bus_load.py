# SPDX-License-Identifier: Apache-2.0
"""
Bus load: bits of CAN frames, and the SYNC rate that fits.

A CAN frame has 34 bits (54 with an extended identifier) and its data, which are stuffed: a
complementary bit follows five equal ones. Another 13 bits are never stuffed. In the worst case

    C = g + 8 s + 13 + ⌊(g + 8 s − 1)/4⌋,   g = 34 or 54, s bytes of data

R. I. Davis, A. Burns, R. J. Bril, J. J. Lukkien: Controller Area Network (CAN) schedulability
analysis: refuted, revisited and revised. Real-Time Systems 35, 2007, eq. (1).
"""

from __future__ import annotations

from c3p_hardware.canopen.process_data import (
    DRIVE_COMMAND,
    DRIVE_SAMPLE,
    ENCODER_SAMPLE,
    MAX_PDO_BYTES,
    drive_health,
)

# bits: start, identifier, control and checksum, which are stuffed
STUFFABLE = 34
STUFFABLE_EXTENDED = 54
# bits: delimiters, acknowledgement, end of frame, and three bits of intermission
NEVER_STUFFED = 13
# fraction of the largest number of stuff bits in frames of this robot: 0.34 to 0.45 in its test
TYPICAL_STUFFING = 0.37

BITRATE = 1_000_000
# s: heartbeats of every node, and the slow PDO of every drive
HEARTBEAT_PERIOD = 0.05
HEALTH_PERIOD = 0.1


def frame_bits(data_bytes: int, extended: bool = False, stuffing: float = 1.0) -> float:
    """
    Return the bits of a data frame with the intermission after it.

    >>> frame_bits(8), frame_bits(8, stuffing=0.0), frame_bits(0), frame_bits(8, extended=True)
    (135.0, 111.0, 55.0, 160.0)

    Parameters
    ----------
    data_bytes : int
        0 to 8.
    extended : bool
        Identifier of 29 bits instead of 11.
    stuffing : float, 0 to 1
        Fraction of the largest number of stuff bits: 1 gives the upper bound.
    """
    if not 0 <= data_bytes <= MAX_PDO_BYTES:
        raise ValueError(f'data of {data_bytes} bytes: a frame carries 0 to {MAX_PDO_BYTES}')
    if not 0 <= stuffing <= 1:
        raise ValueError(f'stuffing = {stuffing}: must be 0 to 1')
    stuffable = (STUFFABLE_EXTENDED if extended else STUFFABLE) + 8 * data_bytes
    # one after every four bits but the first five, as a stuff bit begins the next five
    return stuffable + NEVER_STUFFED + stuffing * ((stuffable - 1) // 4)


def cycle_bits(casters: int = 3, stuffing: float = 1.0) -> float:
    """Return the bits of one cycle: SYNC, a sample of each encoder and drive, each command."""
    if casters < 1:
        raise ValueError(f'casters = {casters}: must be at least 1')
    return frame_bits(0, stuffing=stuffing) + casters * sum(
        frame_bits(pdo.size, stuffing=stuffing)
        for pdo in (ENCODER_SAMPLE, DRIVE_SAMPLE, DRIVE_COMMAND))


def background_bits(casters: int = 3, heartbeat: float = HEARTBEAT_PERIOD,
                    health: float = HEALTH_PERIOD) -> float:
    """
    Return the bits per second besides the cycles, in the worst case.

    Parameters
    ----------
    casters : int
        Each has a drive and an encoder.
    heartbeat : float, s
        Period of the heartbeats of all nodes and the master.
    health : float, s
        Period of the slow PDO of the drives.
    """
    for name, period in (('heartbeat', heartbeat), ('health', health)):
        if not period > 0:
            raise ValueError(f'{name} = {period}: must be a positive number of seconds')
    return ((2 * casters + 1) * frame_bits(1) / heartbeat
            + casters * frame_bits(drive_health().size) / health)


def bus_load(rate: float, bitrate: float = BITRATE, casters: int = 3,
             other_bits: float | None = None) -> float:
    """
    Return the fraction of time in which the bus is busy, in the worst case; above 1: overloaded.

    Parameters
    ----------
    rate : float, Hz
        SYNC cycles per second.
    bitrate : float, bit/s
    casters : int
    other_bits : float, bit/s, optional
        Traffic besides the cycles; `background_bits` by default.
    """
    if other_bits is None:
        other_bits = background_bits(casters)
    return (rate * cycle_bits(casters) + other_bits) / _positive(bitrate)


def axes_load(rate: float, bitrate: float, driven: int, read: int, encoders: int,
              heartbeat: float = HEARTBEAT_PERIOD, health: float = HEALTH_PERIOD,
              command: int = DRIVE_COMMAND.size) -> float:
    """
    Return the bus load of any axes, as `bus_load` of casters with a drive and an encoder each.

    >>> axes_load(200, 1e6, 3, 0, 3) == bus_load(200, 1e6, 3)
    True

    Parameters
    ----------
    rate : float, Hz
    bitrate : float, bit/s
    driven, read : int
        Axes of drives with commands, and those that are only read.
    encoders : int
    heartbeat, health : float, s
        As in `background_bits`.
    command : int, bytes
        Largest command of a drive: velocities and brakes take longer frames.
    """
    sample, angle = frame_bits(DRIVE_SAMPLE.size), frame_bits(ENCODER_SAMPLE.size)
    drives = driven + read
    cycle = frame_bits(0) + drives * sample + driven * frame_bits(command) + encoders * angle
    # each axis as a node of its own: an upper bound for cards with several
    other = ((drives + encoders + 1) * frame_bits(1) / heartbeat
             + drives * frame_bits(drive_health().size) / health)
    return (rate * cycle + other) / _positive(bitrate)


def fitting_rate(bitrate: float = BITRATE, load: float = 0.5, casters: int = 3,
                 other_bits: float | None = None) -> float:
    """
    Return the highest rate of cycles, Hz, that loads the bus by no more than `load`.

    >>> round(fitting_rate()), round(fitting_rate(500_000))
    (423, 206)

    Parameters
    ----------
    bitrate : float, bit/s
    load : float, above 0 to 1
        Half leaves room for service data, repeated frames and a late cycle.
    casters : int
    other_bits : float, bit/s, optional
        As in `bus_load`.

    Raises
    ------
    ValueError
        An impossible load, or no room besides the other frames.
    """
    if not 0 < load <= 1:
        raise ValueError(f'load = {load}: must be above 0 and at most 1')
    if other_bits is None:
        other_bits = background_bits(casters)
    rate = (load * _positive(bitrate) - other_bits) / cycle_bits(casters)
    if rate <= 0:
        raise ValueError(f'{other_bits:.0f} bit/s besides the cycles fill {load:.0%} of '
                         f'{bitrate:.0f} bit/s: use a faster bus or slower heartbeats')
    return rate


def _positive(bitrate: float) -> float:
    if not bitrate > 0:
        raise ValueError(f'bitrate = {bitrate}: must be a positive number of bit/s')
    return bitrate
