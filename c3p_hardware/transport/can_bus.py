# SPDX-License-Identifier: Apache-2.0
"""CAN bus by address, and SDO access to the object dictionaries of its devices."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import can
import canopen

from c3p_hardware.canopen.cia301 import abort_text
from c3p_hardware.canopen.process_data import sdo_request_id
from c3p_hardware.transport.serial_can import FastSerialBus

# timeout of an SDO request, s
SDO_TIMEOUT = 1.0

# SDO abort: a frame without a request, here with seven random bytes
SDO_ABORT = 0x80

# remedy for a device that responds otherwise than the profile requires
MANUAL = "see the object in the device's manual; other firmware or another device may be needed"

Answer = TypeVar('Answer')


class BusError(ValueError):
    """An unusable bus; the text names it and the remedy."""


class ConfigurationError(ValueError):
    """A device that differs from the parameters, or does not accept a value."""


@dataclass(frozen=True)
class BusAddress:
    """
    Address of a bus.

    Attributes
    ----------
    interface : str
        Name of a python-can interface: ``socketcan``, ``slcan``, ``serial``, ``virtual``, …
    channel : str
        ``can0``, a serial device, …
    bitrate : int, bit/s
        Set by interfaces that can; a socketcan interface is set up with ``ip link``.
    """

    interface: str
    channel: str
    bitrate: int = 1_000_000

    def __str__(self) -> str:
        """Return both names."""
        return f'{self.interface}:{self.channel}'


def open_bus(address: BusAddress) -> can.BusABC:
    """
    Open a bus; waiting frames are dropped.

    Raises
    ------
    BusError
        Unknown interface, no such channel, no permission.
    """
    try:
        if address.interface == 'serial':
            return FastSerialBus(address.channel)
        options: dict[str, Any] = {} if address.interface in ('socketcan', 'virtual') else {
            'bitrate': address.bitrate}
        return can.Bus(interface=address.interface, channel=address.channel, **options)
    except (can.CanError, OSError, ValueError, TypeError, NotImplementedError,
            ImportError) as error:
        remedy = {
            'socketcan': f'sudo ip link set {address.channel} up type can bitrate '
                         f'{address.bitrate}',
            'serial': 'start the program at the other end first',
        }.get(address.interface, 'see bus.interface and bus.channel')
        if address.interface == 'socketcan' and getattr(
                error, 'errno', None) == errno.EAFNOSUPPORT:
            remedy = ('this kernel has no CAN: sudo modprobe can, on a computer with its modules, '
                      'or an adapter with an interface of python-can')
        why = ' '.join(f'{error}'.split()).removeprefix(f'{address.channel}: ')
        raise BusError(f'CAN bus {address}: {why}; {remedy}') from error


@contextlib.contextmanager
def conversation(bus: can.BusABC) -> Iterator[canopen.Network]:
    """
    Return canopen's network on `bus` while parameters are read and written.

    A thread reads the bus meanwhile, which must have no other reader. The bus stays open.
    """
    network = canopen.Network()
    network.bus = bus
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            try:
                message = bus.recv(0.02)
            except can.CanError:
                # requests in progress time out
                over.wait(0.02)
                continue
            if message is None or message.is_error_frame or message.is_remote_frame or (
                    message.is_extended_id):
                continue
            # a frame too short for canopen must not end this thread
            with contextlib.suppress(struct.error, ValueError, IndexError):
                network.notify(message.arbitration_id, message.data, message.timestamp)

    thread = threading.Thread(target=read, name='sdo', daemon=True)
    thread.start()
    try:
        yield network
    finally:
        over.set()
        thread.join()
        network.bus = None


class EchoProbe:
    """
    Sends one frame without effect, with random bytes, and detects its echo.

    Parameters
    ----------
    network : canopen.Network
        From `conversation`; open for longer than an echo takes.
    master_id : int

    Attributes
    ----------
    echoes : bool
        The frame was received: the bus returns each sent frame.
    """

    def __init__(self, network: canopen.Network, master_id: int) -> None:
        """Send the frame."""
        self.echoes = False
        self._data = bytes([SDO_ABORT]) + os.urandom(7)
        network.subscribe(sdo_request_id(master_id), self._on_frame)
        network.send_message(sdo_request_id(master_id), self._data)

    def _on_frame(self, identifier: int, data: bytes | bytearray, stamp: float) -> None:
        self.echoes |= bytes(data) == self._data


class Objects:
    """
    Object dictionary of one device, by number, without a description of the device.

    Parameters
    ----------
    network : canopen.Network
    node_id : int
    name : str
        Name of the device in errors.
    """

    def __init__(self, network: canopen.Network, node_id: int, name: str) -> None:
        """Add the node to the network."""
        self.name = name
        self._sdo = network.add_node(
            canopen.RemoteNode(node_id, canopen.ObjectDictionary())).sdo
        self._sdo.RESPONSE_TIMEOUT = SDO_TIMEOUT

    def read(self, index: int, subindex: int, code: str, what: str) -> int:
        """
        Return the number at `index`:`subindex`.

        Parameters
        ----------
        index, subindex : int
        code : str
            struct code of its type, such as ``H``.
        what : str
            Name of the object in errors.

        Raises
        ------
        ConfigurationError
            No response, an abort, or another size.
        """
        data = self._request(lambda: self._sdo.upload(index, subindex), index, subindex, what)
        size = struct.calcsize(f'<{code}')
        if len(data) < size:
            raise ConfigurationError(f'{self.name}: {what} ({index:04X}h:{subindex}) has '
                                     f'{len(data)} bytes, not {size}: {MANUAL}')
        return struct.unpack_from(f'<{code}', data)[0]

    def optional(self, index: int, subindex: int, code: str) -> int | None:
        """Return the number, None when the device does not have the object."""
        try:
            return self.read(index, subindex, code, 'object')
        except ConfigurationError as error:
            if isinstance(error.__cause__, canopen.SdoAbortedError):
                return None
            raise

    def write(self, index: int, subindex: int, code: str, value: int, what: str) -> None:
        """Write the number; errors as `read`."""
        data = struct.pack(f'<{code}', value)
        self._request(lambda: self._sdo.download(index, subindex, data), index, subindex,
                      f'writing {value:#x} to {what}')

    def settle(self, index: int, subindex: int, code: str, value: int, what: str) -> None:
        """Write the number and read it back; errors as `read`, and for another value."""
        self.write(index, subindex, code, value, what)
        found = self.read(index, subindex, code, what)
        if found != value:
            raise ConfigurationError(
                f'{self.name}: {what} ({index:04X}h:{subindex}) reads {found:#x} after {value:#x} '
                'was written; the device does not support it, or has to be unlocked with its '
                "manufacturer's tool")

    def _request(self, request: Callable[[], Answer], index: int, subindex: int, what: str
                 ) -> Answer:
        where = f'{self.name}: {what} ({index:04X}h:{subindex})'
        try:
            return request()
        except canopen.SdoAbortedError as error:
            raise ConfigurationError(f'{where} is rejected: {abort_text(error.code)}; '
                                     f'{MANUAL}') from error
        except canopen.SdoCommunicationError as error:
            raise ConfigurationError(
                f'{where}: no response; check power, cable, termination, bit rate and node id '
                '(c3p can scan lists the nodes)') from error
        except can.CanError as error:
            raise ConfigurationError(f'{where}: {error}') from error
