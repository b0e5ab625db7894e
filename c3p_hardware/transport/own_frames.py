# SPDX-License-Identifier: Apache-2.0
"""
Frames that only this node may send, and the echo of its own frames where a bus has one.

A CAN interface normally delivers the frames of others alone. Some adapters and loop-backs return
each sent frame too. `EchoProbe` finds out which kind of bus this is by a frame that no other node
can send; on a bus with an echo each sent frame excuses one equal received frame, on any other bus
none.
"""

from __future__ import annotations

import os
from collections import Counter, deque

import can
import canopen

from c3p_hardware.canopen.process_data import (
    MAX_PDO_NUMBER,
    NMT_ID,
    SYNC_ID,
    heartbeat_id,
    rpdo,
    sdo_request_id,
)
from c3p_hardware.devices import RECOVER, Problem
from c3p_hardware.settings import CardSettings

# sent frames of one identifier whose echo may still be under way
ECHOES_AWAITED = 64

# command specifiers of SDO requests that write: initiate download, block download
SDO_WRITES = (1, 6)

# SDO abort: a frame that asks for nothing, with seven random bytes
SDO_ABORT = 0x80

REMEDY = ('stop the other master or program that sends on this bus, check the node ids, '
          f'{RECOVER}')


class EchoProbe:
    """
    Sends one frame that asks for nothing and has random bytes, and waits for it to come back.

    Parameters
    ----------
    network : canopen.Network
        From `can_bus.conversation`; open for longer than an echo takes, as to configure devices.
    master_id : int

    Attributes
    ----------
    echoes : bool
        The frame has come back: the bus returns what is sent.
    """

    def __init__(self, network: canopen.Network, master_id: int) -> None:
        """Send the frame."""
        self.echoes = False
        self._data = bytes([SDO_ABORT]) + os.urandom(7)
        network.subscribe(sdo_request_id(master_id), self._heard)
        network.send_message(sdo_request_id(master_id), self._data)

    def _heard(self, identifier: int, data: bytes, stamp: float) -> None:
        self.echoes |= bytes(data) == self._data


class OwnFrames:
    """
    Counts frames with identifiers of this node that this node has not sent.

    Parameters
    ----------
    settings : CardSettings
    echoes : bool
        The bus returns each sent frame.

    Attributes
    ----------
    counts : Counter
        Foreign frames by identifier.
    """

    def __init__(self, settings: CardSettings, echoes: bool = False) -> None:
        """Know no foreign frame yet."""
        self._echoes = echoes
        self._awaited: dict[int, deque[bytes]] = {}
        self.counts: Counter[int] = Counter()
        self._meaning = {NMT_ID: 'network management', SYNC_ID: 'SYNC',
                         heartbeat_id(settings.master_id): 'heartbeat of this node'}
        for drive in settings.drives:
            for number in range(1, MAX_PDO_NUMBER + 1):
                self._meaning[rpdo(number, drive.node_id)] = f'command to the {drive.name}'
        self._writes = {sdo_request_id(d.node_id): f'parameter write to the {d.name}'
                        for d in (*settings.drives, *settings.encoders)}

    def begin(self) -> None:
        """Forget the foreign frames; the devices have just been configured."""
        self.counts.clear()
        self._awaited.clear()

    def sent(self, message: can.Message) -> None:
        """Take note of a frame that was sent."""
        if self._echoes:
            self._awaited.setdefault(message.arbitration_id, deque(
                maxlen=ECHOES_AWAITED)).append(bytes(message.data))

    def received(self, message: can.Message) -> bool:
        """
        Return whether a received data frame with an 11-bit identifier is one of this node's kind.

        Such a frame is counted as foreign unless it is the echo of a sent one.
        """
        identifier = message.arbitration_id
        if identifier in self._writes:
            # reading (c3p can scan) disturbs nothing
            if len(message.data) != 8 or message.data[0] >> 5 not in SDO_WRITES:
                return False
        elif identifier not in self._meaning:
            return False
        if message.is_rx and not self._echo(identifier, bytes(message.data)):
            self.counts[identifier] += 1
        return True

    def problem(self) -> Problem | None:
        """Return the foreign frames as a fault, None without one."""
        if not self.counts:
            return None
        told = ', '.join(
            f'{number:03X}h ({self._meaning.get(number) or self._writes[number]}) {count} times'
            for number, count in self.counts.most_common())
        return Problem('bus', 'foreign_command', 'frames that only this node may send came from '
                       f'another sender: {told}', REMEDY, True)

    def _echo(self, identifier: int, data: bytes) -> bool:
        """Return whether a frame is one that was sent, which is then no longer awaited."""
        awaited = self._awaited.get(identifier)
        if not awaited or data not in awaited:
            return False
        # an echo comes in the order of sending: those before it are lost
        while awaited.popleft() != data:
            pass
        return True
