# SPDX-License-Identifier: Apache-2.0
"""
The frames of the cycle: SYNC out, samples in, orders out; everything else on the way.

Only the thread of the cycle reads and writes here. Orders are sent to all drives before any error
of one of them counts, and a frame that cannot be sent now is dropped: nothing is sent late.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import can

from c3p_hardware.canopen.bus_load import Load, LoadMeter
from c3p_hardware.canopen.cia301 import NmtCommand, NmtState, nmt_message
from c3p_hardware.canopen.process_data import (
    DRIVE_COMMAND,
    NMT_ID,
    SYNC_ID,
    emergency_id,
    heartbeat_id,
    rpdo,
    tpdo,
)
from c3p_hardware.devices import Device, Drive, Encoder, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.supervisor import Order
from c3p_hardware.transport.own_frames import OwnFrames

# bit of an error frame's identifier: the controller has left the bus (linux/can/error.h)
BUS_OFF = 0x40

# stands for reading among the identifiers that fail
RECEIVING = -1

REMEDY = ('check cable and termination, and see `ip -details link show` for a socketcan '
          'interface; then call ~/recover and ~/enable')


class CardBus:
    """
    The bus as the cycle uses it.

    Parameters
    ----------
    bus : can.BusABC
        Open; nobody else reads it.
    settings : CardSettings
    drives, encoders : sequence
        Get what the bus tells of them.
    echoes : bool
        The bus returns each frame that is sent, see `own_frames`.

    Attributes
    ----------
    own : OwnFrames
        Frames from others with identifiers of this node.
    foreign : int
        Frames of nobody that we know.
    malformed : int
        Frames of our devices that could not be read.
    error_frames, send_failures : int
    """

    def __init__(self, bus: can.BusABC, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder], echoes: bool = False) -> None:
        """Prepare frames and routes."""
        self.bus, self.own = bus, OwnFrames(settings, echoes)
        self.foreign = self.malformed = self.error_frames = self.send_failures = 0
        self._meter = LoadMeter(settings.bitrate)
        self._devices: list[Device] = [*drives, *encoders]
        self._failing: dict[int, tuple[float, str]] = {}
        self._bus_off = False
        self._patience, self._silence = settings.patience, settings.silence_timeout
        self._period = settings.period
        self._sync = _frame(SYNC_ID)
        self._heartbeat = _frame(heartbeat_id(settings.master_id), bytes([NmtState.OPERATIONAL]))
        self._commands = [rpdo(1, d.node_id) for d in drives]
        self._routes: dict[int, Callable[[bytes, float], None]] = {}
        for device in self._devices:
            self._routes[tpdo(1, device.node_id)] = device.on_sample
            self._routes[heartbeat_id(device.node_id)] = device.on_heartbeat
            self._routes[emergency_id(device.node_id)] = _without_time(device.on_emergency)
        for drive in drives:
            self._routes[tpdo(2, drive.node_id)] = _without_time(drive.on_health)

    def begin(self, now: float) -> None:
        """Take note that all devices have been configured at `now`, s."""
        self._failing, self._bus_off = {}, False
        self.own.begin()
        for device in self._devices:
            device.begin(now)

    def sync(self) -> float:
        """Read what came since, ask for the samples of a new cycle, and return when, s."""
        self.receive(0.0, until_complete=False)
        now = time.monotonic()
        for device in self._devices:
            device.new_cycle(self._patience, now)
        asked = time.monotonic()
        self._send(self._sync)
        return asked

    def receive(self, until: float, until_complete: bool = True) -> bool:
        """
        Read frames until all samples of this cycle are there, or the time is up.

        Parameters
        ----------
        until : float, s
            On the monotonic clock.
        until_complete : bool
            End as soon as the samples are there; else read all that waits, and go. Somebody who
            sends without a pause is not listened to for longer than a period.

        Returns
        -------
        bool
            All samples are there.
        """
        end = max(until, time.monotonic()) + self._period
        while (now := time.monotonic()) < end:
            left = max(0.0, until - now) if until_complete else 0.0
            try:
                message = self.bus.recv(left)
            except can.CanError as error:
                self._fail(RECEIVING, error)
                # a broken line must not make the cycle spin
                time.sleep(min(left, 1e-3))
                message = None
            if message is None:
                if left <= 1e-3:
                    return self.complete()
                continue
            self._take(message, now)
            if until_complete and self.complete():
                return True
        return self.complete()

    def complete(self) -> bool:
        """Return whether every device has told its sample of this cycle."""
        return all(d.sampled for d in self._devices)

    def order(self, orders: Sequence[Order]) -> None:
        """Send each drive its order."""
        for identifier, order in zip(self._commands, orders, strict=True):
            self._send(_frame(identifier, DRIVE_COMMAND.pack(*order)))

    def heartbeat(self) -> None:
        """Tell the drives that this computer is alive."""
        self._send(self._heartbeat)

    def leave(self) -> None:
        """Take all devices out of the exchange of process data."""
        for device in self._devices:
            self._send(_frame(NMT_ID, nmt_message(NmtCommand.ENTER_PRE_OPERATIONAL,
                                                  device.node_id)))

    def load(self, elapsed: float) -> Load:
        """Return what passed in the last `elapsed` seconds, since the call before."""
        return self._meter.take(elapsed)

    def problem(self, now: float) -> Problem | None:
        """Return what is wrong with the bus itself."""
        if self._bus_off:
            return Problem('bus', 'bus_off', 'the CAN controller is bus-off: too many errors',
                           REMEDY, True)
        for since, why in self._failing.values():
            if now - since > self._silence:
                return Problem('bus', 'bus', why, REMEDY, True)
        return self.own.problem()

    def _take(self, message: can.Message, now: float) -> None:
        if message.is_error_frame:
            self.error_frames += 1
            self._bus_off |= bool(message.arbitration_id & BUS_OFF)
            return
        self._failing.pop(RECEIVING, None)
        if message.is_fd:
            # CANopen has none, and they may be longer than a frame whose load is known
            self.foreign += 1
            return
        self._meter.add(len(message.data))
        plain = not (message.is_extended_id or message.is_remote_frame)
        if plain and self.own.received(message):
            return
        route = self._routes.get(message.arbitration_id)
        if route is None or not plain:
            self.foreign += 1
            return
        try:
            route(message.data, now)
        except ValueError:
            # counted; a device that says nothing else falls silent
            self.malformed += 1

    def _send(self, message: can.Message) -> None:
        try:
            self.bus.send(message)
        except (can.CanError, OSError) as error:
            self.send_failures += 1
            self._fail(message.arbitration_id, error)
        else:
            self.own.sent(message)
            self._meter.add(len(message.data))
            self._failing.pop(message.arbitration_id, None)

    def _fail(self, what: int, error: Exception) -> None:
        """Remember since when `what` fails: one drive's orders may, while all others are sent."""
        since, _ = self._failing.get(what, (time.monotonic(), ''))
        self._failing[what] = since, f'{error}'


def _frame(identifier: int, data: bytes = b'') -> can.Message:
    return can.Message(arbitration_id=identifier, data=data, is_extended_id=False)


def _without_time(take: Callable[[bytes], None]) -> Callable[[bytes, float], None]:
    return lambda data, now: take(data)
