# SPDX-License-Identifier: Apache-2.0
"""Drives and encoders on the bus: the objects of CiA 402 and CiA 406 over their pure models."""

from __future__ import annotations

from collections.abc import Callable

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import MODE_CST, FaultReactionOption, QuickStopOption
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, rpdo
from c3p_hardware.emulator.absolute_encoder import (
    POSITION_ERROR,
    AbsoluteEncoder,
    EncoderCard,
)
from c3p_hardware.emulator.device import BUS_OFF_LEFT, Device
from c3p_hardware.emulator.false_values import FalseValues
from c3p_hardware.emulator.faults import Fault
from c3p_hardware.emulator.motor_drive import NO_MODE, DriveCard, MotorDrive

# bits of the error register, 1001h, by the first digit of an error code
REGISTER_BITS = {2: 1 << 1, 3: 1 << 2, 4: 1 << 3, 8: 1 << 4, 7: 1 << 5}

# controlword: enable operation
OPERATE = 0x0F

# temperature of a power stage that does little, °C
USUAL_TEMPERATURE = 30

QUICK_STOPS = (QuickStopOption.COAST, QuickStopOption.QUICK_STOP_RAMP,
               QuickStopOption.QUICK_STOP_RAMP_AND_STAY)
FAULT_REACTIONS = (FaultReactionOption.COAST, FaultReactionOption.QUICK_STOP_RAMP)


def _one_of(allowed: tuple[int, ...], value: int) -> int:
    """Return `value`, which must be one of `allowed`."""
    if value not in allowed:
        raise ValueError(f'{value}: must be one of {allowed}')
    return value


class EmulatedDevice(Device):
    """A device with the faults that any device can have."""

    def begin(self, fault: Fault, now: float) -> None:
        """Let a fault begin at `now`."""
        kind, value = fault.kind, int(fault.value or 0)
        if kind == 'silence':
            self.heard = False
        elif kind == 'bus_off':
            self.heard = False
            self.on_connection_lost(BUS_OFF_LEFT)
        elif kind == 'power_cut':
            self.off()
        elif kind == 'reboot':
            self.reboot(now)
        elif kind == 'duplicate_id':
            self.doubled = True
        elif kind == 'wrong_serial':
            self.wrong_serial = value
        elif kind == 'emcy':
            self.fail(value)

    def end(self, fault: Fault, now: float) -> None:
        """Let a fault end at `now`."""
        if fault.kind in ('silence', 'bus_off'):
            self.heard = True
            if fault.kind == 'bus_off' and self.alive:
                self.communication_error(BUS_OFF_LEFT)
                self.recovered(BUS_OFF_LEFT)
        elif fault.kind == 'power_cut':
            self.reboot(now)
        elif fault.kind == 'duplicate_id':
            self.doubled = False
        elif fault.kind == 'wrong_serial':
            self.wrong_serial = None

    def fail(self, code: int) -> None:
        """Have an error of the device itself."""
        self.emergency(code, REGISTER_BITS.get(code >> 12, 0))


class DriveDevice(EmulatedDevice):
    """
    A torque drive.

    Parameters
    ----------
    name : str
    node_id : int
    card : DriveCard
    serial : int
    send : callable
        As of `Device`.

    Attributes
    ----------
    drive : MotorDrive
    temperature : int, °C
    """

    def __init__(self, name: str, node_id: int, card: DriveCard, serial: int,
                 send: Callable[[int, bytes], None]) -> None:
        """Wire the objects to the drive."""
        self.drive = MotorDrive(card)
        self.temperature, self._angle = USUAL_TEMPERATURE, 0.0
        self._override: int | None = None
        self._other_order: bytes | None = None
        super().__init__(name, node_id, 'motor_drive', serial, send)
        drive, told = self.drive, FalseValues()
        self._told = told
        self.live |= {
            (0x2030, 0): lambda: self.temperature, (0x603F, 0): lambda: drive.error_code,
            (0x6040, 0): lambda: drive.controlword, (0x6041, 0): lambda: drive.statusword,
            (0x6060, 0): lambda: drive.mode, (0x6061, 0): lambda: drive.mode_display,
            (0x6064, 0): lambda: told.position(drive.position), (0x6071, 0): lambda: drive.target,
            (0x6072, 0): lambda: drive.max_torque,
            (0x6076, 0): lambda: round(1000 * card.rated_torque),
            (0x6077, 0): lambda: told.torque(drive.torque_actual),
            (0x6079, 0): lambda: drive.link_voltage,
            (0x6085, 0): lambda: drive.ramp, (0x608F, 1): lambda: card.counts}
        self.writers |= {
            (0x6040, 0): self._command, (0x6071, 0): self._set('target'),
            (0x6060, 0): self._set('mode', (NO_MODE, MODE_CST)),
            (0x6072, 0): self._set('max_torque'), (0x6073, 0): self._set('max_current'),
            (0x6085, 0): self._set('ramp'), (0x6007, 0): self._set('abort_option'),
            (0x605A, 0): self._set('quick_stop_option', QUICK_STOPS),
            (0x605E, 0): self._set('fault_option', FAULT_REACTIONS)}

    def _set(self, name: str, allowed: tuple[int, ...] = ()) -> Callable[[int], None]:
        """Return what sets an attribute of the drive to one of the `allowed` values, or to any."""
        def setter(value: int) -> None:
            setattr(self.drive, name, _one_of(allowed, value) if allowed else value)

        return setter

    def _command(self, word: int) -> None:
        """Take a controlword; a fault that it resets is told to be gone."""
        before = self.drive.error_code
        self.drive.command(word)
        if before and not self.drive.error_code:
            self.recovered(before)

    def torque(self, dt: float, wheel_angle: float, wheel_rate: float) -> float:
        """
        Return the mean torque over the next `dt`, as `MotorDrive.step`; 0 where it is off.

        Parameters
        ----------
        dt : float, s
        wheel_angle : float, rad
        wheel_rate : float, rad/s
        """
        if not self.alive:
            return 0.0
        self.drive.mode_override = self._override
        return self.drive.step(dt, wheel_angle, wheel_rate)

    def sense(self, wheel_angle: float) -> None:
        """Read the encoder of the motor."""
        self._angle = wheel_angle
        if self.alive:
            self.drive.sense(wheel_angle)

    def on_restart(self) -> None:
        """Begin at position 0, without torque; what ails the drive from outside lasts."""
        drive = self.drive
        warning, open_stage = drive.warning, drive.safe_torque_off
        drive.restart(self._angle)
        drive.warning, drive.safe_torque_off = warning, open_stage

    def on_connection_lost(self, code: int) -> None:
        """Do as 6007h says."""
        self.drive.connection_lost(code)

    def on_connection_found(self) -> None:
        """Clear the error code, nothing else."""
        self.drive.connection_found()

    def fail(self, code: int) -> None:
        """Have an error: EMCY and FAULT."""
        super().fail(code)
        self.drive.fail(code)

    def begin(self, fault: Fault, now: float) -> None:
        """Let a fault begin, as `EmulatedDevice.begin`."""
        super().begin(fault, now)
        if fault.kind == 'wrong_mode':
            self._override = int(fault.value or 0)
        elif fault.kind == 'sto':
            self.drive.safe_torque_off = True
        elif fault.kind == 'over_temperature':
            self.drive.warning, self.temperature = True, int(fault.value or 0)
        elif fault.kind == 'orders_lost':
            self.ordered = False
        elif fault.kind == 'second_master':
            self._other_order = DRIVE_COMMAND.pack(OPERATE, int(fault.value or 0))
        self._told.begin(fault.kind, int(fault.value or 0), self.drive.position)

    def end(self, fault: Fault, now: float) -> None:
        """Let a fault end, as `EmulatedDevice.end`."""
        super().end(fault, now)
        if fault.kind == 'wrong_mode':
            self._override = None
        elif fault.kind == 'sto':
            self.drive.safe_torque_off = False
        elif fault.kind == 'over_temperature':
            self.drive.warning, self.temperature = False, USUAL_TEMPERATURE
        elif fault.kind == 'orders_lost':
            self.ordered = True
        elif fault.kind == 'second_master':
            self._other_order = None
        self._told.end(fault.kind)

    def step(self, now: float) -> None:
        """Do what is due, as `Device.step`; and what another master orders."""
        super().step(now)
        if self._other_order is not None:
            # on the bus, where the drive and its own master hear it
            self.transmit(rpdo(1, self.id), self._other_order)
            if self.alive and self.heard:
                self.receive(rpdo(1, self.id), self._other_order, now)


class EncoderDevice(EmulatedDevice):
    """
    An absolute encoder.

    Parameters
    ----------
    name : str
    node_id : int
    card : EncoderCard
    serial : int
    send : callable
        As of `Device`.

    Attributes
    ----------
    encoder : AbsoluteEncoder
    """

    def __init__(self, name: str, node_id: int, card: EncoderCard, serial: int,
                 send: Callable[[int, bytes], None]) -> None:
        """Wire the objects to the encoder."""
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
            (0x6000, 0): self._set('parameters', (0, 1, 4, 5)), (0x6001, 0): self._set('steps'),
            (0x6002, 0): self._set('range'), (0x6003, 0): encoder.preset,
            (0x6200, 0): lambda value: self.sent[0].write(0x1800, 5, value)}

    def _set(self, name: str, allowed: tuple[int, ...] = ()) -> Callable[[int], None]:
        """Return what sets an attribute of the encoder to one of the `allowed` values."""
        def setter(value: int) -> None:
            setattr(self.encoder, name, _one_of(allowed, value) if allowed else value)

        return setter

    def step(self, now: float) -> None:
        """Do what is due, as `Device.step`; a disc that has come loose turns on its shaft."""
        super().step(now)
        if self._drift is not None:
            begin, rate = self._drift
            self.encoder.jump = round(rate * (now - begin))

    def sense(self, angle: float) -> None:
        """Turn the shaft to a steering angle, rad."""
        self.encoder.sense(angle)

    def on_restart(self) -> None:
        """Return to the defaults."""
        self.encoder.restart()

    def fail(self, code: int) -> None:
        """Have an error: EMCY and an alarm."""
        super().fail(code)
        self.encoder.alarms |= POSITION_ERROR

    def begin(self, fault: Fault, now: float) -> None:
        """Let a fault begin, as `EmulatedDevice.begin`."""
        super().begin(fault, now)
        if fault.kind == 'encoder_jump':
            self.encoder.jump = int(fault.value or 0)
        elif fault.kind == 'encoder_stuck':
            self.encoder.stuck = True
        elif fault.kind == 'encoder_drift':
            self._drift = now, int(fault.value or 0)

    def end(self, fault: Fault, now: float) -> None:
        """Let a fault end, as `EmulatedDevice.end`."""
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


def operational(device: Device) -> bool:
    """Return whether process data pass."""
    return device.alive and device.state is NmtState.OPERATIONAL
