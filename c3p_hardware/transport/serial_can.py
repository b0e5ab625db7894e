# SPDX-License-Identifier: Apache-2.0
"""
CAN frames over a serial line or a pseudo terminal: a bus between processes, no kernel modules.

The bytes are those of python-can's ``serial`` interface: ``0xAA``, time stamp u32 in ms, length
u8, identifier u32 (bit 31 extended, 30 remote, 29 error frame), data, ``0xBB``; little endian.
What is different: everything that waits is read in one system call, bytes that are no frame are
skipped, and sending never blocks: a frame that finds no room is dropped and told, because a torque
that arrives late is worse than none.

A frame that has no time stamp gets one in µs of the monotonic clock, which processes of one
computer share: whoever reads it late knows when it was on the line, as a CAN adapter would.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import termios
import time
import tty
from collections import deque
from pathlib import Path
from typing import Any

import can
from can.interfaces.serial.serial_can import SerialBus

HEADER = struct.Struct('<BIBI')  # start, time stamp, length, identifier
START, END = 0xAA, 0xBB
EXTENDED, REMOTE, ERROR = 1 << 31, 1 << 30, 1 << 29
STANDARD_ID, EXTENDED_ID = 0x7FF, 0x1FFFFFFF
LONGEST_DATA = 8

# a frame that says that it was longer on its way has another clock, s
LONGEST_WAY = 1.0

# more than what a pseudo terminal holds is never read in one go, bytes
CHUNK = 4096
# as much may wait in the buffers of a terminal (64 KiB and a line), and is thrown away by a flush
BUFFERS = 256 * 1024


def microseconds() -> int:
    """Return the monotonic clock in µs as a frame holds it; never 0, which is no time."""
    return (time.monotonic_ns() // 1000 & 0xFFFFFFFF) or 1


def encode(message: can.Message, stamp: int = 0) -> bytes:
    """
    Return the bytes of a frame.

    Parameters
    ----------
    message : can.Message
    stamp : int
        What stands for the time of a message that has none.

    Raises
    ------
    ValueError
        More than 8 bytes of data, which the format has no room for.
    """
    data = b'' if message.is_remote_frame else bytes(message.data)
    if len(data) > LONGEST_DATA:
        raise ValueError(f'frame {message.arbitration_id:#x} has {len(data)} bytes of data; a '
                         f'CAN 2.0 frame has at most {LONGEST_DATA}')
    number = message.arbitration_id
    if message.is_extended_id:
        number |= EXTENDED
    if message.is_remote_frame:
        number |= REMOTE
    if message.is_error_frame:
        number |= ERROR
    if message.timestamp:
        stamp = int(message.timestamp * 1000) & 0xFFFFFFFF
    return HEADER.pack(START, stamp, len(data), number) + data + b'\xbb'


class FrameParser:
    """
    Finds frames in a stream of bytes, whatever stands between them.

    A start byte whose length, identifier or end byte cannot be is skipped alone, so that a true
    frame behind it is found. Bytes that may become a frame wait for the rest.

    Attributes
    ----------
    skipped : int
        Bytes that belonged to no frame.

    Examples
    --------
    >>> parser = FrameParser()
    >>> frame = encode(can.Message(arbitration_id=0x80, is_extended_id=False))
    >>> [f'{m.arbitration_id:#x}' for m in parser.feed(b'noise' + frame, stamp=0.0)]
    ['0x80']
    >>> parser.skipped
    5
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._rest = b''
        self.skipped = 0

    def clear(self) -> None:
        """Forget the beginning of a frame."""
        self._rest = b''

    def feed(self, data: bytes, stamp: float, clock: int = 0) -> list[can.Message]:
        """
        Return the frames that end in `data`.

        Parameters
        ----------
        data : bytes
        stamp : float, s
            The time now, which frames get that do not say when they were sent.
        clock : int, µs
            The same time as `microseconds` tells it.
        """
        buffer, found, place = self._rest + data, [], 0
        while True:
            start = buffer.find(START, place)
            if start < 0:
                self.skipped += len(buffer) - place
                place = len(buffer)
                break
            self.skipped += start - place
            place = start
            if len(buffer) - place < HEADER.size:
                break
            _, sent, length, number = HEADER.unpack_from(buffer, place)
            remote = bool(number & REMOTE)
            known = EXTENDED_ID if number & EXTENDED else STANDARD_ID
            # a remote frame says the length it asks for and has no data
            end = place + HEADER.size + (0 if remote else length)
            possible = length <= LONGEST_DATA and not number & EXTENDED_ID & ~known
            if possible and end >= len(buffer):
                break
            if not possible or buffer[end] != END:
                self.skipped += 1
                place += 1
                continue
            found.append(can.Message(
                timestamp=stamp - _age(sent, clock), arbitration_id=number & known, dlc=length,
                is_extended_id=bool(number & EXTENDED), is_remote_frame=remote,
                is_error_frame=bool(number & ERROR), data=buffer[place + HEADER.size:end]))
            place = end + 1
        self._rest = buffer[place:]
        return found


def _age(sent: int, clock: int) -> float:
    """Return how long ago a frame was sent, s; 0 where its stamp is of another kind."""
    age = (clock - sent & 0xFFFFFFFF) * 1e-6
    return age if sent and age < LONGEST_WAY else 0.0


class _Line(can.BusABC):
    """What both ends of a line do; `_fd` is open, and reading and writing it does not block."""

    _fd: int

    def _begin(self) -> None:
        self._parser = FrameParser()
        self._waiting: deque[can.Message] = deque()
        #: frames that found no room since the bus was opened
        self.dropped = 0

    @property
    def skipped(self) -> int:
        """Bytes that belonged to no frame since the bus was opened."""
        return self._parser.skipped

    def fileno(self) -> int:
        """Return the descriptor to wait on; frames already read wait, too: ask `recv(0)` first."""
        return self._fd

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """
        Send a frame at once or not at all; `timeout` is not used.

        Raises
        ------
        can.CanOperationError
            No room (nobody reads), or the other end is gone: the frame is dropped, not kept.
        """
        data = encode(msg, microseconds())
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            self.dropped += 1
            raise can.CanOperationError(f'{self.channel_info}: cannot send: {error}; is the other '
                                        'end still there?') from error
        # of a frame that was cut off the other end skips the beginning
        if written < len(data):
            self.dropped += 1
            raise can.CanOperationError(f'{self.channel_info}: the buffer is full, frame '
                                        f'{msg.arbitration_id:#x} is dropped: nobody reads at the '
                                        'other end')

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        """Return the next frame within `timeout` seconds, None for ever."""
        waiting = self._waiting
        if not waiting:
            deadline = None if timeout is None else time.monotonic() + timeout
            # usually it is there: ask first, wait then
            while not self._read() and not waiting:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None, False
                self._wait(left)
        return (waiting.popleft(), False) if waiting else (None, False)

    def _wait(self, seconds: float | None) -> None:
        try:
            select.select([self._fd], [], [], seconds)
        except (OSError, ValueError) as error:
            raise can.CanOperationError(f'{self.channel_info}: closed') from error

    def _alone(self) -> bool:
        """Return whether the other end has been closed."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL)
                   for _, event in poll.poll(0))

    def _read(self) -> bool:
        """Take what is there; return whether there is a frame."""
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError as error:
            raise can.CanOperationError(f'{self.channel_info}: cannot read: {error}; is the other '
                                        'end still there?') from error
        if not data:
            # what pyserial sets up a terminal to tell when nothing is there, and when nobody is
            if self._alone():
                raise can.CanOperationError(f'{self.channel_info}: the other end is gone')
            return False
        self._waiting.extend(self._parser.feed(data, time.time(), microseconds()))
        return bool(self._waiting)

    def flush(self) -> None:
        """Throw away what was received and not yet read, and what the peer has not read."""
        self._waiting.clear()
        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(self._fd, termios.TCIOFLUSH)
        # more waits behind the line that the terminal flushes
        for _ in range(BUFFERS // CHUNK):
            try:
                if not os.read(self._fd, CHUNK):
                    break
            except OSError:  # empty, or gone: both are told by who reads next
                break
        self._parser.clear()

    def flush_tx_buffer(self) -> None:
        """Throw away what the peer has not read."""
        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(self._fd, termios.TCOFLUSH)


class FastSerialBus(_Line, SerialBus):
    """
    python-can's `SerialBus`, whose bytes it speaks, for a control loop.

    Parameters
    ----------
    channel : str
        Serial device or pseudo terminal, also a link to one.
    baudrate : int, bit/s
        A pseudo terminal does not care.
    **options
        Passed to `SerialBus`.

    Raises
    ------
    can.CanInitializationError
        No such device, or another process has it.
    """

    def __init__(self, channel: str, baudrate: int = 115200, **options: Any) -> None:
        """Open the device, for this process alone, and throw away what waits in it."""
        options.pop('timeout', None)
        self._begin()
        try:
            super().__init__(channel, baudrate=baudrate, timeout=0, **options)
        except OSError as error:  # pyserial's exceptions are such
            self._is_shutdown = True
            # pyserial repeats channel and reason
            why = os.strerror(error.errno) if error.errno else f'{error}'
            raise can.CanInitializationError(f'{channel}: {why}') from error
        self._fd = self._ser.fileno()
        try:
            self._ser.exclusive = True
        except OSError as error:
            self.shutdown()
            raise can.CanInitializationError(
                f'{channel}: another process has it; a serial bus has two ends only') from error
        self.flush()

    def shutdown(self) -> None:
        """Close the device."""
        self._fd = -1  # the number may soon be that of another file
        super().shutdown()


class PtyBus(_Line):
    """
    One end of a new pseudo terminal; the other end is a file that a process may open as a device.

    The file stays open here, too: a process that opens it, is killed and opens it again does no
    harm. While nobody reads, frames are kept until the terminal is full and then dropped; who
    opens the file with `FastSerialBus` throws the old ones away.

    Parameters
    ----------
    link : str or Path, optional
        Symbolic link to make to the file, in the place of one that is there; removed by
        `shutdown`.

    Raises
    ------
    can.CanInitializationError
        `link` is a file or cannot be made.

    Attributes
    ----------
    path : str
        What the other process gives as ``channel``.
    """

    def __init__(self, link: str | Path | None = None) -> None:
        """Open the pseudo terminal."""
        self._begin()
        self._fd, self._other = os.openpty()
        # no echo, no line ends, every byte is passed
        tty.setraw(self._other)
        os.set_blocking(self._fd, False)
        self._file = os.ttyname(self._other)
        self._link = None if link is None else Path(link)
        self.path = self._file if link is None else str(link)
        self.channel_info = f'pseudo terminal {self.path}'
        super().__init__(self.path)
        if self._link is not None:
            self._make_link(self._link)

    def _make_link(self, link: Path) -> None:
        new = link.with_name(f'.{link.name}.{os.getpid()}')
        try:
            if link.exists() and not link.is_symlink():
                raise FileExistsError(f'{link} is no link')
            link.parent.mkdir(parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            new.symlink_to(self._file)
            new.replace(link)  # at once: nobody sees it missing
        except OSError as error:
            self._link = None
            self.shutdown()
            raise can.CanInitializationError(f'channel = {link}: {error}; give the path of a link '
                                             'that may be made') from error

    def shutdown(self) -> None:
        """Close the pseudo terminal and remove the link."""
        if self._is_shutdown:
            return
        super().shutdown()
        if self._link is not None and self._link.is_symlink() and (
                os.readlink(self._link) == self._file):
            self._link.unlink()
        mine, self._fd = self._fd, -1
        os.close(mine)
        os.close(self._other)
