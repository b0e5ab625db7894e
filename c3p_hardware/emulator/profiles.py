# SPDX-License-Identifier: Apache-2.0
"""Emulated drives and encoders: objects of CiA 402 and CiA 406 over the pure models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from c3p_hardware.canopen.cia402 import MODE_CST, FaultReactionOption, QuickStopOption
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, rpdo
from c3p_hardware.emulator.absolute_encoder import (
    POSITION_ERROR,
    AbsoluteEncoder,
    EncoderCard,
)
from c3p_hardware.emulator.device import BUS_OFF_LEFT, Device
from c3p_hardware.emulator.faults import Fault
from c3p_hardware.emulator.motor_drive import NO_MODE, DriveCard, MotorDrive

# bits of the error register, 1001h, by the first digit of an error code
REGISTER_BITS = {2: 1 << 1, 3: 1 << 2, 4: 1 << 3, 8: 1 << 4, 7: 1 << 5}

# controlword: enable operation
OPERATE = 0x0F

# temperature of an idle power stage, °C
USUAL_TEMPERATURE = 30

QUICK_STOPS = (QuickStopOption.COAST, QuickStopOption.QUICK_STOP_RAMP,
               QuickStopOption.QUICK_STOP_RAMP_AND_STAY)
FAULT_REACTIONS = (FaultReactionOption.COAST, FaultReactionOption.QUICK_STOP_RAMP)

# kind of fault: reported position from the true one, the one at its beginning, and its value
FALSE_COUNTS: dict[str, Callable[[int, int, int], int]] = {
    'counts_jump': lambda true, begin, value: true + value,
    'counts_stuck': lambda true, begin, value: begin,
    'counts_negated': lambda true, begin, value: 2 * begin - true,
}


def _setter(model: Any, name: str, allowed: tuple[int, ...] = ()) -> Callable[[int], None]:
    """Return a function that sets an attribute to one of the `allowed` values, or to any."""
    def setter(value: int) -> None:
        if allowed and value not in allowed:
            raise ValueError(f'{value}: must be one of {allowed}')
        setattr(model, name, value)

    return setter


class EmulatedDevice(Device):
    """A device with the faults common to all devices."""

    # fault: attribute of the device and its usual value; the fault negates it, or sets its own
    FLAGS: ClassVar[dict[str, tuple[str, Any]]] = {
        'silence': ('connected', True), 'bus_off': ('connected', True),
        'duplicate_id': ('doubled', False), 'wrong_serial': ('wrong_serial', None)}

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault at `now`."""
        kind, value = fault.kind, int(fault.value or 0)
        if kind in self.FLAGS:
            name, usual = self.FLAGS[kind]
            setattr(self, name, not usual if isinstance(usual, bool) else value)
        if kind == 'bus_off':
            self.on_connection_lost(BUS_OFF_LEFT)
        elif kind == 'power_cut':
            self.off()
        elif kind == 'reboot':
            self.reboot(now)
        elif kind == 'emcy':
            self.fail(value)

    def end(self, fault: Fault, now: float) -> None:
        """End a fault at `now`."""
        if fault.kind in self.FLAGS:
            setattr(self, *self.FLAGS[fault.kind])
        if fault.kind == 'bus_off' and self.alive:
            self.communication_error(BUS_OFF_LEFT)
            self.recovered(BUS_OFF_LEFT)
        elif fault.kind == 'power_cut':
            self.reboot(now)

    def fail(self, code: int) -> None:
        """Raise an error of the device itself."""
        self.emergency(code, REGISTER_BITS.get(code >> 12, 0))


class DriveDevice(EmulatedDevice):
    """
    A torque drive; parameters as for `Device`, with a `DriveCard`.

    Attributes
    ----------
    drive : MotorDrive
    temperature : int, °C
    """

    FLAGS = EmulatedDevice.FLAGS | {
        'wrong_mode': ('_override', None), 'over_temperature': ('temperature', USUAL_TEMPERATURE),
        'orders_lost': ('ordered', True), 'wrong_torque': ('_false_torque', None)}

    def __init__(self, name: str, node_id: int, card: DriveCard, serial: int,
                 send: Callable[[int, bytes], None]) -> None:
        """Connect the objects to the drive."""
        self.drive = MotorDrive(card)
        self.temperature, self._angle = USUAL_TEMPERATURE, 0.0
        self._override: int | None = None
        self._other_order: bytes | None = None
        self._false_counts: dict[str, tuple[int, int]] = {}
        self._false_torque: int | None = None
        super().__init__(name, node_id, 'motor_drive', serial, send)
        drive = self.drive
        self.live |= {
            (0x2030, 0): lambda: self.temperature, (0x603F, 0): lambda: drive.error_code,
            (0x6040, 0): lambda: drive.controlword, (0x6041, 0): lambda: drive.statusword,
            (0x6060, 0): lambda: drive.mode, (0x6061, 0): lambda: drive.mode_display,
            (0x6064, 0): self._position, (0x6071, 0): lambda: drive.target,
            (0x6072, 0): lambda: drive.max_torque,
            (0x6076, 0): lambda: round(1000 * card.rated_torque),
            (0x6077, 0): self._torque_actual,
            (0x6079, 0): lambda: drive.link_voltage,
            (0x6085, 0): lambda: drive.ramp, (0x608F, 1): lambda: card.counts}
        self.writers |= {
            (0x6040, 0): self._command, (0x6071, 0): _setter(drive, 'target'),
            (0x6060, 0): _setter(drive, 'mode', (NO_MODE, MODE_CST)),
            (0x6072, 0): _setter(drive, 'max_torque'), (0x6073, 0): _setter(drive, 'max_current'),
            (0x6085, 0): _setter(drive, 'ramp'), (0x6007, 0): _setter(drive, 'abort_option'),
            (0x605A, 0): _setter(drive, 'quick_stop_option', QUICK_STOPS),
            (0x605E, 0): _setter(drive, 'fault_option', FAULT_REACTIONS)}

    def _position(self) -> int:
        """6064h, a signed number of 32 bits, falsified by faults."""
        position = self.drive.position
        for kind, (begin, value) in self._false_counts.items():
            position = FALSE_COUNTS[kind](position, begin, value)
        return (position + (1 << 31)) % (1 << 32) - (1 << 31)

    def _torque_actual(self) -> int:
        """6077h, permille, falsified by faults."""
        if self._false_torque is None:
            return self.drive.torque_actual
        return max(-32768, min(32767, self._false_torque))

    def _command(self, word: int) -> None:
        """Take a controlword; a reset fault ends its emergency."""
        before = self.drive.error_code
        self.drive.command(word)
        if before and not self.drive.error_code:
            self.recovered(before)

    def torque(self, dt: float, wheel_angle: float, wheel_rate: float) -> float:
        """Return the mean torque over the next `dt`, as `MotorDrive.step`; 0 without power."""
        if not self.alive:
            return 0.0
        self.drive.mode_override = self._override
        return self.drive.step(dt, wheel_angle, wheel_rate)

    def sense(self, wheel_angle: float) -> None:
        """Sample the encoder of the motor."""
        self._angle = wheel_angle
        if self.alive:
            self.drive.sense(wheel_angle)

    def on_restart(self) -> None:
        """Reset to position 0, without torque; external conditions last."""
        drive = self.drive
        warning, open_stage = drive.warning, drive.safe_torque_off
        drive.restart(self._angle)
        drive.warning, drive.safe_torque_off = warning, open_stage

    def on_connection_lost(self, code: int) -> None:
        """React by 6007h."""
        self.drive.connection_lost(code)

    def on_connection_found(self) -> None:
        """Clear the error code."""
        self.drive.connection_found()

    def fail(self, code: int) -> None:
        """Raise an error: EMCY and FAULT."""
        super().fail(code)
        self.drive.fail(code)

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault, as `EmulatedDevice.begin`."""
        super().begin(fault, now)
        value = int(fault.value or 0)
        if fault.kind == 'sto':
            self.drive.safe_torque_off = True
        elif fault.kind == 'over_temperature':
            self.drive.warning = True
        elif fault.kind == 'second_master':
            self._other_order = DRIVE_COMMAND.pack(OPERATE, value)
        elif fault.kind in FALSE_COUNTS:
            self._false_counts[fault.kind] = self.drive.position, value

    def end(self, fault: Fault, now: float) -> None:
        """End a fault, as `EmulatedDevice.end`."""
        super().end(fault, now)
        if fault.kind == 'sto':
            self.drive.safe_torque_off = False
        elif fault.kind == 'over_temperature':
            self.drive.warning = False
        elif fault.kind == 'second_master':
            self._other_order = None
        self._false_counts.pop(fault.kind, None)

    def step(self, now: float) -> None:
        """Handle everything due, as `Device.step`, and the orders of a second master."""
        super().step(now)
        if self._other_order is not None:
            # on the bus, received by the drive and its own master
            self.transmit(rpdo(1, self.id), self._other_order)
            if self.alive and self.connected:
                self.receive(rpdo(1, self.id), self._other_order, now)


class EncoderDevice(EmulatedDevice):
    """
    An absolute encoder; parameters as for `Device`, with an `EncoderCard`.

    Attributes
    ----------
    encoder : AbsoluteEncoder
    """

    def __init__(self, name: str, node_id: int, card: EncoderCard, serial: int,
                 send: Callable[[int, bytes], None]) -> None:
        """Connect the objects to the encoder."""
        self.encoder = AbsoluteEncoder(card)
        self._drift: tuple[float, int] | None = None
        super().__init__(name, node_id, 'absolute_encoder', serial, send)
        encoder = self.encoder
        self.live |= {
            (0x6000, 0): lambda: encoder.parameters, (0x6001, 0): lambda: encoder.steps,
            (0x6002, 0): lambda: encoder.range, (0x6004, 0): lambda: encoder.position,
            (0x6200, 0): lambda: round(1000 * self.sent[0].timer),
            (0x6500, 0): lambda: encoder.parameters, (0x6501, 0): lambda: card.counts,
            (0x6502, 0): lambda: card.turns, (0x6503, 0): lambda: encoder.alarms,
            (0x6505, 0): lambda: encoder.warnings, (0x6509, 0): lambda: encoder.offset,
            (0x650B, 0): self.live[0x1018, 4]}
        self.writers |= {
            (0x6000, 0): _setter(encoder, 'parameters', (0, 1, 4, 5)),
            (0x6001, 0): _setter(encoder, 'steps'),
            (0x6002, 0): _setter(encoder, 'range'), (0x6003, 0): encoder.preset,
            (0x6200, 0): lambda value: self.sent[0].write(0x1800, 5, value)}

    def step(self, now: float) -> None:
        """Handle everything due, as `Device.step`; a loose disc turns on its shaft."""
        super().step(now)
        if self._drift is not None:
            begin, rate = self._drift
            self.encoder.jump = round(rate * (now - begin))

    def sense(self, angle: float) -> None:
        """Set the steering angle, rad."""
        self.encoder.sense(angle)

    def on_restart(self) -> None:
        """Return to the defaults."""
        self.encoder.restart()

    def fail(self, code: int) -> None:
        """Raise an error: EMCY and an alarm."""
        super().fail(code)
        self.encoder.alarms |= POSITION_ERROR

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault, as `EmulatedDevice.begin`."""
        super().begin(fault, now)
        if fault.kind == 'encoder_jump':
            self.encoder.jump = int(fault.value or 0)
        elif fault.kind == 'encoder_stuck':
            self.encoder.stuck = True
        elif fault.kind == 'encoder_drift':
            self._drift = now, int(fault.value or 0)

    def end(self, fault: Fault, now: float) -> None:
        """End a fault, as `EmulatedDevice.end`."""
        super().end(fault, now)
        if fault.kind == 'encoder_jump':
            self.encoder.jump = 0
        elif fault.kind == 'encoder_stuck':
            self.encoder.stuck = False
        elif fault.kind == 'encoder_drift':
            self._drift, self.encoder.jump = None, 0
        elif fault.kind == 'emcy':
            self.encoder.alarms &= ~POSITION_ERROR
            self.recovered(int(fault.value or 0))
