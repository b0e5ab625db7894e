# SPDX-License-Identifier: Apache-2.0
"""
How full the bus is: bits of frames, and the rate that fits.

A CAN frame has 34 bits that may be stuffed (54 with a long identifier) and its data, and 13 that
are never: after five equal bits comes one of the other kind. In the worst case

    C = g + 8 s + 13 + ⌊(g + 8 s − 1)/4⌋,   g = 34 or 54, s bytes of data

R. I. Davis, A. Burns, R. J. Bril, J. J. Lukkien: Controller Area Network (CAN) schedulability
analysis: refuted, revisited and revised. Real-Time Systems 35, 2007, eq. (1).
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_hardware.canopen import process_data

# bits: start, identifier, control and checksum, which may be stuffed
STUFFABLE, STUFFABLE_EXTENDED = 34, 54
# bits: delimiters, acknowledgement, end of frame, and three bits of silence
NEVER_STUFFED = 13
# share of the most stuff bits that frames of this robot have: 0.34 to 0.45, counted in its test
TYPICAL_STUFFING = 0.37

BITRATE = 1_000_000
# s: heartbeats of every node, and the slow PDO of every drive
HEARTBEAT_PERIOD, HEALTH_PERIOD = 0.05, 0.1


def most_stuff_bits(data_bytes: int, extended: bool = False) -> int:
    """Return how many stuff bits a frame can have: one after four, but for the first five."""
    return (_stuffable(data_bytes, extended) - 1) // 4


def frame_bits(data_bytes: int, extended: bool = False, worst: bool = True) -> int:
    """
    Return the bits of a data frame with the silence after it.

    >>> frame_bits(8), frame_bits(8, worst=False), frame_bits(0), frame_bits(8, extended=True)
    (135, 111, 55, 160)

    Parameters
    ----------
    data_bytes : int
        0 to 8.
    extended : bool
        Identifier of 29 bits instead of 11.
    worst : bool
        With the most stuff bits; otherwise with none.
    """
    stuffed = most_stuff_bits(data_bytes, extended) if worst else 0
    return _stuffable(data_bytes, extended) + NEVER_STUFFED + stuffed


def cycle_bits(casters: int = 3, worst: bool = True) -> int:
    """Return the bits of one cycle: SYNC, a sample of each encoder and drive, each command."""
    if casters < 1:
        raise ValueError(f'casters = {casters}: must be at least 1')
    per_caster = sum(frame_bits(pdo.size, worst=worst) for pdo in (
        process_data.ENCODER_SAMPLE, process_data.DRIVE_SAMPLE, process_data.DRIVE_COMMAND))
    return frame_bits(0, worst=worst) + casters * per_caster


def background_bits(casters: int = 3, heartbeat: float = HEARTBEAT_PERIOD,
                    health: float = HEALTH_PERIOD, worst: bool = True) -> float:
    """
    Return the bits per second that pass beside the cycles.

    Parameters
    ----------
    casters : int
        Each has a drive and an encoder.
    heartbeat : float, s
        Period of the heartbeats of all nodes and the master.
    health : float, s
        Period of the slow PDO of the drives.
    worst : bool
        As in `frame_bits`.
    """
    for name, period in (('heartbeat', heartbeat), ('health', health)):
        if not period > 0:
            raise ValueError(f'{name} = {period}: must be a positive number of seconds')
    return ((2 * casters + 1) * frame_bits(1, worst=worst) / heartbeat
            + casters * frame_bits(process_data.drive_health().size, worst=worst) / health)


def bus_load(rate: float, bitrate: float = BITRATE, casters: int = 3,
             other_bits: float | None = None) -> float:
    """
    Return the share of the time in which the bus is busy, in the worst case; above 1: too full.

    Parameters
    ----------
    rate : float, Hz
        Of the cycles.
    bitrate : float, bit/s
    casters : int
    other_bits : float, bit/s, optional
        What passes beside the cycles; `background_bits` by default.
    """
    if other_bits is None:
        other_bits = background_bits(casters)
    return (rate * cycle_bits(casters) + other_bits) / _positive(bitrate)


def fitting_rate(bitrate: float = BITRATE, share: float = 0.5, casters: int = 3,
                 other_bits: float | None = None) -> float:
    """
    Return the highest rate of cycles, Hz, that loads the bus by no more than `share`.

    >>> round(fitting_rate()), round(fitting_rate(500_000))
    (423, 206)

    Parameters
    ----------
    bitrate : float, bit/s
    share : float, above 0 to 1
        Half leaves room for service data, for frames sent again, and for a cycle that is late.
    casters : int
    other_bits : float, bit/s, optional
        As in `bus_load`.

    Raises
    ------
    ValueError
        A share that cannot be, or no room beside the other frames.
    """
    if not 0 < share <= 1:
        raise ValueError(f'share = {share}: must be above 0 and at most 1')
    if other_bits is None:
        other_bits = background_bits(casters)
    rate = (share * _positive(bitrate) - other_bits) / cycle_bits(casters)
    if rate <= 0:
        raise ValueError(f'{other_bits:.0f} bit/s beside the cycles fill {share:.0%} of '
                         f'{bitrate:.0f} bit/s: take a faster bus or slower heartbeats')
    return rate


@dataclass(frozen=True)
class Load:
    """
    What passed in a stretch of time.

    Attributes
    ----------
    share : float
        Of the time in which the bus was busy.
    frames_per_s : float
    """

    share: float
    frames_per_s: float


class LoadMeter:
    """
    Adds up the frames that pass, and tells how much of the time they took.

    Parameters
    ----------
    bitrate : float, bit/s
    stuffing : float, 0 to 1
        Share of the most stuff bits that a frame is taken to have; counting the real ones would
        cost more than sending it. 1 gives an upper bound.

    Attributes
    ----------
    frames : int
        Since the beginning.
    """

    def __init__(self, bitrate: float = BITRATE, stuffing: float = TYPICAL_STUFFING) -> None:
        """Have seen nothing."""
        if not 0 <= stuffing <= 1:
            raise ValueError(f'stuffing = {stuffing}: must be 0 to 1')
        self.bitrate, self.frames = _positive(bitrate), 0
        # a table: this is done for every frame
        self._cost = tuple(frame_bits(s, worst=False) + stuffing * most_stuff_bits(s)
                           for s in range(process_data.MAX_PDO_BYTES + 1))
        self._bits, self._taken = 0.0, 0

    def add(self, data_bytes: int) -> None:
        """Count a frame with a short identifier and so many bytes of data."""
        self._bits += self._cost[data_bytes]
        self.frames += 1

    def take(self, elapsed: float) -> Load:
        """Return what passed in the last `elapsed` seconds, since the call before."""
        if not elapsed > 0:
            raise ValueError(f'elapsed = {elapsed}: must be a positive number of seconds')
        load = Load(self._bits / (elapsed * self.bitrate), (self.frames - self._taken) / elapsed)
        self._bits, self._taken = 0.0, self.frames
        return load


def _stuffable(data_bytes: int, extended: bool) -> int:
    """Return the bits of a frame that may be stuffed."""
    if not 0 <= data_bytes <= process_data.MAX_PDO_BYTES:
        raise ValueError(f'data of {data_bytes} bytes: a frame carries 0 to '
                         f'{process_data.MAX_PDO_BYTES}')
    return (STUFFABLE_EXTENDED if extended else STUFFABLE) + 8 * data_bytes


def _positive(bitrate: float) -> float:
    """Return a bit rate that can be."""
    if not bitrate > 0:
        raise ValueError(f'bitrate = {bitrate}: must be a positive number of bit/s')
    return bitrate
