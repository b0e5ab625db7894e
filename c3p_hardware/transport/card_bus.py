# SPDX-License-Identifier: Apache-2.0
"""
Frames of the cycle: SYNC out, samples in, orders out, and checks of everything else received.

Only the thread of the cycle reads and writes here. Orders are sent to all drives before an error
of one of them counts. A frame that cannot be sent now is dropped: nothing is sent late.

Some adapters and loop-backs return each sent frame. On a bus with such an echo each sent frame
excuses one equal received frame; on any other bus (see `can_bus.EchoProbe`) a received frame with
an identifier of this node is from another sender, and a fault.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

import can

from c3p_hardware.canopen.bus_load import TYPICAL_STUFFING, frame_bits
from c3p_hardware.canopen.cia301 import NmtCommand, NmtState, nmt_message
from c3p_hardware.canopen.process_data import (
    MAX_PDO_BYTES,
    MAX_PDO_NUMBER,
    NMT_ID,
    SYNC_ID,
    command_id,
    emergency_id,
    health_id,
    heartbeat_id,
    rpdo,
    sample_id,
    sdo_request_id,
)
from c3p_hardware.devices import Device, Drive, Encoder
from c3p_hardware.orders import Order
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.transport.bunches import BunchWatch

# bit in the identifier of an error frame: the controller is bus-off (linux/can/error.h)
BUS_OFF = 0x40

# key of receiving among the identifiers that cannot be sent
RECEIVING = -1

# bits of a frame by its bytes of data: counting the real stuff bits costs more than sending it
FRAME_BITS = tuple(frame_bits(s, stuffing=TYPICAL_STUFFING) for s in range(MAX_PDO_BYTES + 1))

# sent frames of one identifier whose echo may still be pending
ECHOES_AWAITED = 64

# command specifiers of SDO requests that write: initiate download, block download
SDO_WRITES = (1, 6)

REMEDY = ('check cable and termination, and see `ip -details link show` for a socketcan '
          f'interface; {RECOVER}')
FOREIGN_REMEDY = ('stop the other master or program that sends on this bus, check the node ids, '
                  f'{RECOVER}')


class OwnFrames:
    """
    Counts received frames with identifiers of this node that this node has not sent.

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
        """Start without foreign frames."""
        self._echoes = echoes
        self._awaited: dict[int, deque[bytes]] = {}
        self.counts: Counter[int] = Counter()
        self._meaning = {NMT_ID: 'network management', SYNC_ID: 'SYNC',
                         heartbeat_id(settings.master_id): 'heartbeat of this node'}
        for drive in settings.drives:
            for number in range(1, MAX_PDO_NUMBER + 1):
                self._meaning[rpdo(number, drive.node_id)] = f'command to the {drive.name}'
        self._writes = {sdo_request_id(d.node_id): f'parameter write to the {d.name}'
                        for d in settings.devices}

    def begin(self) -> None:
        """Drop the foreign frames after a configuration."""
        self.counts.clear()
        self._awaited.clear()

    def sent(self, message: can.Message) -> None:
        """Record a sent frame."""
        if self._echoes:
            self._awaited.setdefault(message.arbitration_id, deque(
                maxlen=ECHOES_AWAITED)).append(bytes(message.data))

    def received(self, message: can.Message) -> bool:
        """
        Return True for a data frame with an 11-bit identifier that only this node may send.

        Such a frame is counted as foreign unless it is the echo of a sent one.
        """
        identifier = message.arbitration_id
        if identifier in self._writes:
            # SDO reads (c3p can scan) are harmless
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
        listed = ', '.join(
            f'{number:03X}h ({self._meaning.get(number) or self._writes[number]}) {count} times'
            for number, count in self.counts.most_common())
        return Problem('bus', 'foreign_command', 'frames that only this node may send came from '
                       f'another sender: {listed}', FOREIGN_REMEDY, True)

    def _echo(self, identifier: int, data: bytes) -> bool:
        """Return True for a pending echo, and remove it."""
        awaited = self._awaited.get(identifier)
        if not awaited or data not in awaited:
            return False
        # echoes return in the order of sending: those before this one are lost
        while awaited.popleft() != data:
            pass
        return True


class CardBus:
    """
    The bus as the cycle uses it.

    Parameters
    ----------
    bus : can.BusABC
        Open, without another reader.
    settings : CardSettings
    drives, encoders : sequence
        Receive their frames.
    echoes : bool
        The bus returns each sent frame.

    Attributes
    ----------
    own : OwnFrames
        Frames of others with identifiers of this node.
    foreign : int
        Frames of unknown senders.
    malformed : int
        Frames of the devices that could not be decoded.
    error_frames, send_failures : int
    """

    def __init__(self, bus: can.BusABC, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder], echoes: bool = False) -> None:
        """Prepare frames and routes."""
        self.bus, self.own = bus, OwnFrames(settings, echoes)
        self.foreign = self.malformed = self.error_frames = self.send_failures = 0
        self._bits, self._frames, self._bitrate = 0.0, 0, settings.bitrate
        self._devices: list[Device] = [*drives, *encoders]
        self._failing: dict[int, tuple[float, str]] = {}
        self._bus_off = False
        self._max_backlog, self._silence = settings.max_backlog, settings.silence_timeout
        self._period = settings.period
        self._bunches = BunchWatch(self._devices, settings.period, settings.missed_cycles)
        self._sync = _frame(SYNC_ID)
        self._heartbeat = _frame(heartbeat_id(settings.master_id), bytes([NmtState.OPERATIONAL]))
        self._commands = [command_id(d.node_id, d.settings.channel) for d in drives
                          if d.settings.driven]
        # axes of one card share its heartbeats and emergencies
        self._routes: dict[int, list[Callable[[bytes, float], None]]] = {}
        for device in self._devices:
            channel = device.settings.channel if isinstance(device, Drive) else 1
            self._route(sample_id(device.node_id, channel), device.on_sample)
            self._route(heartbeat_id(device.node_id), device.on_heartbeat)
            self._route(emergency_id(device.node_id), _without_time(device.on_emergency))
        for drive in drives:
            self._route(health_id(drive.node_id, drive.settings.channel),
                        _without_time(drive.on_health))

    def _route(self, identifier: int, take: Callable[[bytes, float], None]) -> None:
        self._routes.setdefault(identifier, []).append(take)

    def begin(self, now: float) -> None:
        """Start monitoring at `now`, s, after all devices have been configured."""
        self._failing = {}
        self._bus_off = False
        self.own.begin()
        self._bunches.begin()
        for device in self._devices:
            device.begin(now)

    def sync(self) -> float:
        """Read waiting frames, request the samples of a new cycle, and return when, s."""
        self.receive(0.0, until_complete=False)
        self._bunches.step()
        now = time.monotonic()
        for device in self._devices:
            device.new_cycle(self._max_backlog, now)
        requested = time.monotonic()
        self._send(self._sync)
        return requested

    def receive(self, until: float, until_complete: bool = True) -> bool:
        """
        Read frames until all samples of this cycle are received, or a time.

        Parameters
        ----------
        until : float, s
            On the monotonic clock.
        until_complete : bool
            Return as soon as the samples are complete; otherwise read all waiting frames and
            return. A device that sends without a pause is read for a period at most.

        Returns
        -------
        bool
            All samples are received.
        """
        end = max(until, time.monotonic()) + self._period
        while (now := time.monotonic()) < end:
            left = max(0.0, until - now) if until_complete else 0.0
            try:
                message = self.bus.recv(left)
            except can.CanError as error:
                self._fail(RECEIVING, error)
                # a broken interface must not make the cycle spin
                time.sleep(min(left, 1e-3))
                message = None
            if message is None:
                if left <= 1e-3:
                    return self.complete()
                continue
            self._take(message, now)
            if until_complete and self.complete():
                return self.receive(0.0, until_complete=False) if self._bunches.late else True
        return self.complete()

    def complete(self) -> bool:
        """Return True when every device has sent its sample of this cycle."""
        return all(d.sampled for d in self._devices)

    def order(self, orders: Sequence[Order]) -> None:
        """Send each driven drive its order."""
        for identifier, order in zip(self._commands, orders, strict=True):
            self._send(_frame(identifier, order.pack()))

    def heartbeat(self) -> None:
        """Send the heartbeat of this computer."""
        self._send(self._heartbeat)

    def leave(self) -> None:
        """End the exchange of process data of all devices."""
        for node_id in dict.fromkeys(device.node_id for device in self._devices):
            self._send(_frame(NMT_ID, nmt_message(NmtCommand.ENTER_PRE_OPERATIONAL, node_id)))

    def take_load(self, elapsed: float) -> tuple[float, float]:
        """Return bus load (0 to 1) and frames per second of the last `elapsed` seconds."""
        load = self._bits / (elapsed * self._bitrate), self._frames / elapsed
        self._bits = 0.0
        self._frames = 0
        return load

    def problem(self, now: float) -> Problem | None:
        """Return the problem of the bus itself, None without one."""
        if self._bus_off:
            return Problem('bus', 'bus_off', 'the CAN controller is bus-off: too many errors',
                           REMEDY, True)
        for since, why in self._failing.values():
            if now - since > self._silence:
                return Problem('bus', 'bus', why, REMEDY, True)
        return self.own.problem() or self._bunches.problem

    def _take(self, message: can.Message, now: float) -> None:
        if message.is_error_frame:
            self.error_frames += 1
            self._bus_off |= bool(message.arbitration_id & BUS_OFF)
            return
        self._failing.pop(RECEIVING, None)
        if message.is_fd:
            # CANopen does not use them, and they may be longer than the table of bits
            self.foreign += 1
            return
        self._count(message)
        plain = not (message.is_extended_id or message.is_remote_frame)
        if plain and self.own.received(message):
            return
        route = self._routes.get(message.arbitration_id)
        if route is None or not plain:
            self.foreign += 1
            return
        for take in route:
            try:
                take(bytes(message.data), now)
            except ValueError:
                # counted; a device without valid frames becomes silent
                self.malformed += 1

    def _send(self, message: can.Message) -> None:
        try:
            self.bus.send(message)
        except (can.CanError, OSError) as error:
            self.send_failures += 1
            self._fail(message.arbitration_id, error)
        else:
            self.own.sent(message)
            self._count(message)
            self._failing.pop(message.arbitration_id, None)

    def _count(self, message: can.Message) -> None:
        self._bits += FRAME_BITS[len(message.data)]
        self._frames += 1

    def _fail(self, key: int, error: Exception) -> None:
        """Record since when `key` fails, as orders of one drive may fail alone."""
        since, _ = self._failing.get(key, (time.monotonic(), ''))
        self._failing[key] = since, f'{error}'


def _frame(identifier: int, data: bytes = b'') -> can.Message:
    return can.Message(arbitration_id=identifier, data=data, is_extended_id=False)


def _without_time(take: Callable[[bytes], None]) -> Callable[[bytes, float], None]:
    return lambda data, now: take(data)
