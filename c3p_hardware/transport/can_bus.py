# SPDX-License-Identifier: Apache-2.0
"""A CAN bus by name, and canopen's services on it for as long as parameters are exchanged."""

from __future__ import annotations

import contextlib
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import can
import canopen

from c3p_hardware.transport.serial_can import FastSerialBus

# how long an answer to an SDO request may take, s
ANSWER_WITHIN = 1.0


class BusError(ValueError):
    """A bus that cannot be used; the text names it and the remedy."""


@dataclass(frozen=True)
class BusAddress:
    """
    Where a bus is.

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
    Open a bus; whatever waited in it is thrown away.

    Raises
    ------
    BusError
        Unknown interface, no such channel, no permission.
    """
    try:
        if address.interface == 'serial':
            return FastSerialBus(address.channel)
        options = {} if address.interface in ('socketcan', 'virtual') else {
            'bitrate': address.bitrate}
        return can.Bus(interface=address.interface, channel=address.channel, **options)
    except (can.CanError, OSError, ValueError, TypeError, NotImplementedError,
            ImportError) as error:
        remedy = {
            'socketcan': f'sudo ip link set {address.channel} up type can bitrate '
                         f'{address.bitrate}',
            'serial': 'start what is at the other end of it first',
        }.get(address.interface, 'see bus.interface and bus.channel')
        why = ' '.join(f'{error}'.split()).removeprefix(f'{address.channel}: ')
        raise BusError(f'CAN bus {address}: {why}; {remedy}') from error


@contextlib.contextmanager
def conversation(bus: can.BusABC) -> Iterator[canopen.Network]:
    """
    Return canopen's network on `bus` while parameters are read and written.

    A thread reads the bus meanwhile; nobody else may. The bus stays open.
    """
    network = canopen.Network()
    network.bus = bus
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            try:
                message = bus.recv(0.02)
            except can.CanError:
                # whoever waits for an answer is told that none comes
                over.wait(0.02)
                continue
            if message is None or message.is_error_frame or message.is_remote_frame or (
                    message.is_extended_id):
                continue
            # a frame that is too short for canopen must not end the thread that brings answers
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


def remote(network: canopen.Network, node_id: int) -> canopen.RemoteNode:
    """Return a node to exchange parameters with, without any description of it."""
    node = network.add_node(canopen.RemoteNode(node_id, canopen.ObjectDictionary()))
    node.sdo.RESPONSE_TIMEOUT = ANSWER_WITHIN
    return node
