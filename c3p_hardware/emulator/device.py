# SPDX-License-Identifier: Apache-2.0
"""
CiA 301 services of every emulated device.

Boot-up, network management, heartbeats and their consumer, emergencies, SDO server, process data.
The SDO server is canopen's. Everything else with a time is done by `step`, without threads.
"""

from __future__ import annotations

import contextlib
import copy
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import canopen
from canopen.sdo import SdoAbortedError

from c3p_hardware.canopen.cia301 import ErrorBehaviour, NmtCommand, NmtState
from c3p_hardware.canopen.process_data import (
    CHANNEL_OBJECTS,
    FIRST_PROFILE_OBJECT,
    PDO_DISABLED,
    heartbeat_id,
    pdo_object,
    profile_object,
    sdo_request_id,
)
from c3p_hardware.emulator.pdo import BAD_VALUE, ReceivePdo, TransmitPdo, default, variable

EDS = Path(__file__).parents[1] / 'eds'

# PDO objects of a channel, communication and mapping
CHANNEL_PDO_OBJECTS = (0x1400, 0x1401, 0x1600, 0x1601, 0x1800, 0x1801, 0x1A00, 0x1A01)

# from a reset to the boot-up message, s
BOOT_TIME = 0.1

TOO_LOW, TOO_HIGH = 0x06090032, 0x06090031
# error codes of communication, and bit 4 of the error register
NETWORK_LEFT, HEARTBEAT_LOST, BUS_OFF_LEFT = 0x8100, 0x8130, 0x8140
PDO_TOO_SHORT, PDO_TIMEOUT = 0x8210, 0x8250
COMMUNICATION, GENERIC = 1 << 4, 1 << 0

_COMMANDED: dict[int, NmtState] = {
    NmtCommand.START: NmtState.OPERATIONAL, NmtCommand.STOP: NmtState.STOPPED,
    NmtCommand.ENTER_PRE_OPERATIONAL: NmtState.PRE_OPERATIONAL}
_AFTER_LOSS: dict[int, NmtState] = {
    ErrorBehaviour.PRE_OPERATIONAL: NmtState.PRE_OPERATIONAL,
    ErrorBehaviour.STOPPED: NmtState.STOPPED}


class _DeviceNetwork(canopen.Network):
    """Network of canopen's node, which sends through the device and starts no threads."""

    def __init__(self, send: Callable[[int, bytes], None]) -> None:
        super().__init__()
        self._send = send

    def send_message(self, can_id: int, data: Any, remote: bool = False) -> None:
        self._send(can_id, bytes(data))

    def send_periodic(self, can_id: int, data: Any, period: float, remote: bool = False) -> Any:
        return _NoThread()


class _NoThread:
    """Replaces a thread of canopen, as `BusDevice.step` sends the heartbeats."""

    def stop(self) -> None:
        pass

    def update(self, data: Any) -> None:
        pass


class BusDevice:
    """
    A device on the bus; subclasses add the profiles of drives and encoders.

    Parameters
    ----------
    name : str
    node_id : int
    eds : str
        Name of the EDS file, without suffix.
    serial : int
        1018h:4.
    send : callable
        Called with identifier and data of each frame.
    channels : int
        Axes of a drive: the objects of each follow those of the file.

    Attributes
    ----------
    state : NmtState
    live : dict of (index, subindex) to callable
        Objects with a computed value.
    writers : dict of (index, subindex) to callable
        Called with a written value; ValueError rejects it.
    present, connected : bool
        Power and cable; False with a fault.
    doubled : bool
        A second device with the same node id is on the bus; True with a fault.
    ordered : bool
        Process data reaches the device; False with a fault.
    """

    def __init__(self, name: str, node_id: int, eds: str, serial: int,
                 send: Callable[[int, bytes], None], channels: int = 1) -> None:
        """Create a powered-off device; `boot` switches it on."""
        self.name, self.id, self._send = name, node_id, send
        self.state = NmtState.INITIALISING
        self.present, self.connected, self.doubled, self.ordered = True, True, False, True
        self.serial, self.wrong_serial = serial, None
        objects = canopen.import_od(str(EDS / f'{eds}.eds'), node_id)
        for channel in range(2, channels + 1):
            _add_channel(objects, channel)
        self.node = canopen.LocalNode(node_id, objects)
        self.node.associate_network(_DeviceNetwork(self.transmit))
        self.node.add_read_callback(self._on_read)
        self.node.add_write_callback(self._on_write)
        shifts = [pdo_object(0, channel) for channel in range(1, channels + 1)]
        self.received = [ReceivePdo(self.node, i + k, i + k + 0x200) for k in shifts
                         for i in (0x1400, 0x1401) if i in objects]
        self.sent = [TransmitPdo(self.node, i + k, i + k + 0x200) for k in shifts
                     for i in (0x1800, 0x1801)]
        self._pdos = {i: pdo for pdo in (*self.received, *self.sent)
                      for i in (pdo.communication, pdo.mapping)}
        self.live: dict[tuple[int, int], Callable[[], int]] = {
            (0x1001, 0): lambda: self.register,
            (0x1003, 0): lambda: len(self._errors),
            **{(0x1003, k): partial(self._error, k) for k in range(1, 5)},
            (0x1018, 4): lambda: self.serial if self.wrong_serial is None else self.wrong_serial}
        self.writers: dict[tuple[int, int], Callable[[int], None]] = {
            (0x1003, 0): lambda _: self._errors.clear(),
            (0x1016, 1): self._consume, (0x1017, 0): self._produce}
        self._boot_at: float | None = None
        self._now = 0.0
        self._clear()

    def _error(self, k: int) -> int:
        """1003h:k, 0 beyond the errors that are kept."""
        return self._errors[k - 1] if k <= len(self._errors) else 0

    def _clear(self) -> None:
        """Reset everything volatile."""
        self.node.data_store.clear()
        for pdo in (*self.received, *self.sent):
            pdo.restart()
        self._period, self._beat_at = 0.0, 0.0
        self._master, self._patience, self._beaten = 0, 0.0, -1.0
        self._master_lost = False
        self._errors: list[int] = []
        self._active: dict[int, int] = {}
        self.on_restart()

    # --- hooks of the profiles

    def on_restart(self) -> None:
        """Return to the state after switching on."""

    def on_connection_lost(self, code: int) -> None:
        """React to the loss of the master, with its error `code`."""

    def on_connection_found(self) -> None:
        """React to the return of the master."""

    # --- life

    @property
    def alive(self) -> bool:
        """The device is running, connected or not."""
        return self.present and self.state is not NmtState.INITIALISING

    @property
    def register(self) -> int:
        """1001h."""
        register = 0
        for bits in self._active.values():
            register |= bits | GENERIC
        return register

    def boot(self, now: float) -> None:
        """Enter PRE-OPERATIONAL at `now`, with the boot-up message."""
        self._now, self._boot_at = now, None
        self._clear()
        self.state = NmtState.PRE_OPERATIONAL
        self.transmit(heartbeat_id(self.id), bytes([NmtState.INITIALISING]))

    def reboot(self, now: float) -> None:
        """Restart; boot after BOOT_TIME."""
        self.off()
        self.present, self._boot_at = True, now + BOOT_TIME

    def off(self) -> None:
        """Switch off."""
        self.present, self.state, self._boot_at = False, NmtState.INITIALISING, None
        self.on_restart()

    def transmit(self, can_id: int, data: bytes) -> None:
        """Send a frame, if the device is powered and connected."""
        if self.present and self.connected:
            self._send(can_id, data)

    def step(self, now: float) -> None:
        """Handle everything due at `now`, s: boot, heartbeats, timeouts, event-driven PDOs."""
        self._now = now
        if self._boot_at is not None and now >= self._boot_at:
            self.boot(now)
        if not self.alive:
            return
        if self._period and now >= self._beat_at:
            self._beat_at = max(self._beat_at + self._period, now)
            self._beat()
        if self._patience and self._beaten >= 0 and now - self._beaten > self._patience:
            self._beaten, self._master_lost = -1.0, True
            self.communication_error(HEARTBEAT_LOST)
        if self.state is NmtState.OPERATIONAL:
            self._events(now)

    def _beat(self) -> None:
        for _ in range(2 if self.doubled else 1):
            self.transmit(heartbeat_id(self.id), bytes([self.state]))

    def _events(self, now: float) -> None:
        for pdo in self.received:
            if pdo.overdue(now):
                pdo.moved = -1e9
                self.communication_error(PDO_TIMEOUT)
        for sent in self.sent:
            if sent.enabled and sent.on_event and sent.due(data := sent.data(self.value), now):
                sent.last, sent.moved = data, now
                self.transmit(sent.cob_id, data)

    # --- frames

    def receive(self, can_id: int, data: bytes, now: float) -> None:
        """Take a frame that is neither SYNC nor NMT at `now`, s."""
        self._now = now
        if can_id == sdo_request_id(self.id):
            # a request has eight bytes
            if self.state is not NmtState.STOPPED and len(data) == 8:
                # canopen's server cannot abort a transfer that has not begun
                with contextlib.suppress(struct.error):
                    self.node.sdo.on_request(can_id, bytearray(data), now)
        elif self._patience and can_id == heartbeat_id(self._master):
            self._beaten = now
            if self._master_lost:
                self._master_lost = False
                self.recovered(HEARTBEAT_LOST)
                self.on_connection_found()
        elif self.state is NmtState.OPERATIONAL and self.ordered:
            self._take(can_id, data, now)

    def _take(self, can_id: int, data: bytes, now: float) -> None:
        """Take process data at `now`."""
        for pdo in self.received:
            if pdo.cob_id != can_id or not pdo.enabled:
                continue
            if not pdo.take(data, now, self.write):
                self.emergency(PDO_TOO_SHORT, COMMUNICATION)
            elif PDO_TIMEOUT in self._active:
                self.recovered(PDO_TIMEOUT)
                self.on_connection_found()

    def sync(self, now: float) -> None:
        """Respond to a SYNC at `now`."""
        self._now = now
        if self.state is not NmtState.OPERATIONAL:
            return
        for pdo in self.received:
            if pdo.waiting is not None:
                pdo.act(pdo.waiting, self.write)
                pdo.waiting = None
        for sent in self.sent:
            if sent.enabled and sent.synchronous():
                data = sent.data(self.value)
                if sent.kind or data != sent.last:
                    sent.last = data
                    self.transmit(sent.cob_id, data)
                    if self.doubled:  # the second device has just booted
                        self.transmit(sent.cob_id, bytes(len(data)))

    def command(self, command: int, now: float) -> None:
        """Execute a network management command at `now`."""
        self._now = now
        if command in (NmtCommand.RESET_NODE, NmtCommand.RESET_COMMUNICATION):
            self.reboot(now)
        elif command in _COMMANDED:
            self._enter(_COMMANDED[command])

    def _enter(self, state: NmtState) -> None:
        left = self.state is NmtState.OPERATIONAL and state is not NmtState.OPERATIONAL
        if state is NmtState.OPERATIONAL and self.state is not state:
            for pdo in (*self.received, *self.sent):
                pdo.clear()
        self.state = state
        if left:  # no command is received any more
            self.on_connection_lost(NETWORK_LEFT)

    # --- errors

    def communication_error(self, code: int) -> None:
        """Send a communication error and react as configured in 1029h:1 and by the profile."""
        self.emergency(code, COMMUNICATION)
        self.on_connection_lost(code)
        behaviour = self.value(0x1029, 1)
        if behaviour in _AFTER_LOSS and self.state is NmtState.OPERATIONAL:
            self.state = _AFTER_LOSS[behaviour]

    def emergency(self, code: int, register: int = 0) -> None:
        """Send EMCY and add the error to 1003h; `register` are its bits in 1001h."""
        self._active[code] = register
        self._errors[:] = [code, *self._errors[:3]]
        if self.state is not NmtState.STOPPED:
            self.node.emcy.send(code, self.register, bytes(5))

    def recovered(self, code: int) -> None:
        """Send EMCY for the end of an error."""
        if self._active.pop(code, None) is not None and self.state is not NmtState.STOPPED:
            self.node.emcy.reset(self.register, bytes(5))

    # --- objects

    def value(self, index: int, subindex: int) -> int:
        """Return the present value of an object."""
        getter = self.live.get((index, subindex))
        if getter is not None:
            return getter()
        found = variable(self.node.object_dictionary, index, subindex)
        return int(found.decode_raw(self.node.get_data(index, subindex)))

    def write(self, index: int, subindex: int, value: int) -> None:
        """Write an object from a PDO; an invalid value is an emergency."""
        writer = self.writers.get((index, subindex))
        try:
            if writer is not None:
                writer(value)
            else:
                found = variable(self.node.object_dictionary, index, subindex)
                self.node.set_data(index, subindex, found.encode_raw(value))
        except (ValueError, SdoAbortedError):
            self.emergency(PDO_TOO_SHORT, COMMUNICATION)

    def _on_read(self, index: int, subindex: int, od: Any) -> int | None:
        getter = self.live.get((index, subindex))
        return None if getter is None else getter()

    def _on_write(self, index: int, subindex: int, od: Any, data: bytes) -> None:
        if od.data_type not in canopen.objectdictionary.INTEGER_TYPES:
            return
        value = od.decode_raw(data)
        if od.min is not None and value < od.min:
            raise SdoAbortedError(TOO_LOW)
        if od.max is not None and value > od.max:
            raise SdoAbortedError(TOO_HIGH)
        if index in self._pdos:
            self._pdos[index].write(index, subindex, value)
        elif (writer := self.writers.get((index, subindex))) is not None:
            try:
                writer(value)
            except ValueError:
                raise SdoAbortedError(BAD_VALUE) from None

    def _produce(self, milliseconds: int) -> None:
        """Set the heartbeat period; 1017h."""
        self._period, self._beat_at = 1e-3 * milliseconds, self._now

    def _consume(self, value: int) -> None:
        """Monitor a master from its next heartbeat on; 1016h."""
        self._master, self._patience = value >> 16 & 0x7F, 1e-3 * (value & 0xFFFF)
        self._beaten, self._master_lost = -1.0, False
        if value and not (self._master and self._patience) and value & 0xFFFF:
            raise ValueError('a consumer time needs the node it is for')


def _add_channel(objects: canopen.ObjectDictionary, channel: int) -> None:
    """Copy the objects of the first channel to those of another, with its PDOs disabled."""
    for index in list(objects):
        moved = profile_object(index, channel)
        pdo = index in CHANNEL_PDO_OBJECTS
        if pdo:
            moved = pdo_object(index, channel)
        if moved == index or index >= FIRST_PROFILE_OBJECT + CHANNEL_OBJECTS:
            continue
        copied = copy.deepcopy(objects[index])
        copied.index = moved
        # names are keys as well
        copied.name = f'{copied.name} {channel}'
        for entry in getattr(copied, 'subindices', {}).values():
            entry.index = moved
        objects.add_object(copied)
        if pdo and index & 0x200 == 0:
            variable(objects, moved, 1).default = default(objects, moved, 1) | PDO_DISABLED
