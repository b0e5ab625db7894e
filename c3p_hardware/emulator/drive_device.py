# SPDX-License-Identifier: Apache-2.0
"""Emulated drives of one or more channels: objects of CiA 402 over the pure model of an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from c3p_hardware.canopen.cia402 import (
    MODE_CST,
    MODE_CSV,
    FaultReactionOption,
    QuickStopOption,
)
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, command_id, profile_object
from c3p_hardware.emulator.faults import Fault
from c3p_hardware.emulator.motor_drive import NO_MODE, DriveCard, MotorDrive
from c3p_hardware.emulator.profiles import EmulatedDevice, setter

# controlword: enable operation
OPERATE = 0x0F

# digital outputs, 60FEh: attribute of the drive by subindex
OUTPUTS = {1: 'outputs', 2: 'outputs_mask'}

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


class DriveAxis:
    """
    One channel of a drive, with what faults falsify.

    Parameters
    ----------
    card : DriveCard

    Attributes
    ----------
    drive : MotorDrive
    angle : float, rad
        Of the joint.
    override : int or None
        Mode that a fault displays.
    false_torque : int or None
        Torque that a fault reports, permille.
    false_counts : dict
        Faults of the position: their first position and value.
    """

    def __init__(self, card: DriveCard) -> None:
        """Switch on."""
        self.drive = MotorDrive(card)
        self.card = card
        self.angle = 0.0
        self.override: int | None = None
        self.false_torque: int | None = None
        self.false_counts: dict[str, tuple[int, int]] = {}

    def position(self) -> int:
        """6064h, a signed number of 32 bits, falsified by faults."""
        position = self.drive.position
        for kind, (begin, value) in self.false_counts.items():
            position = FALSE_COUNTS[kind](position, begin, value)
        return (position + (1 << 31)) % (1 << 32) - (1 << 31)

    def counts(self) -> int:
        """608Fh:1, of the motor's encoder."""
        return self.card.counts

    def torque_actual(self) -> int:
        """6077h, permille, falsified by faults."""
        if self.false_torque is None:
            return self.drive.torque_actual
        return max(-32768, min(32767, self.false_torque))

    def step(self, dt: float, angle: float, rate: float) -> float:
        """Return the mean torque over the next `dt`, as `MotorDrive.step`."""
        self.drive.mode_override = self.override
        return self.drive.step(dt, angle, rate)

    def restart(self) -> None:
        """Reset to position 0, without torque; external conditions last."""
        drive = self.drive
        warning = drive.warning
        open_stage = drive.safe_torque_off
        drive.restart(self.angle)
        drive.warning = warning
        drive.safe_torque_off = open_stage

    def objects(self, command: Callable[[int], None]
                ) -> tuple[dict[int, Callable[[], int]], dict[int, Callable[[int], None]]]:
        """Return the objects that are read and written, by index, subindex 0."""
        drive = self.drive
        card = self.card
        return {
            0x603F: lambda: drive.error_code, 0x6040: lambda: drive.controlword,
            0x6041: lambda: drive.statusword, 0x6060: lambda: drive.mode,
            0x6061: lambda: drive.mode_display, 0x6064: self.position,
            0x6071: lambda: drive.target, 0x6072: lambda: drive.max_torque,
            0x6076: lambda: round(1000 * card.rated_torque), 0x6077: self.torque_actual,
            0x6079: lambda: drive.link_voltage, 0x6085: lambda: drive.ramp,
            0x60FF: lambda: drive.target_velocity,
        }, {
            0x6040: command, 0x6071: setter(drive, 'target'),
            0x60FF: setter(drive, 'target_velocity'),
            0x6060: setter(drive, 'mode', (NO_MODE, MODE_CSV, MODE_CST)),
            0x6072: setter(drive, 'max_torque'), 0x6073: setter(drive, 'max_current'),
            0x6085: setter(drive, 'ramp'), 0x6007: setter(drive, 'abort_option'),
            0x605A: setter(drive, 'quick_stop_option', QUICK_STOPS),
            0x605E: setter(drive, 'fault_option', FAULT_REACTIONS)}


class DriveDevice(EmulatedDevice):
    """
    A drive in torque or velocity mode.

    Parameters as for `BusDevice`, with a `DriveCard` for each channel.

    Faults act on all channels.

    Attributes
    ----------
    axes : list of DriveAxis
        In the order of the channels.
    temperature : int, °C
    """

    FLAGS = EmulatedDevice.FLAGS | {
        'over_temperature': ('temperature', USUAL_TEMPERATURE), 'orders_lost': ('ordered', True)}
    # fault: attribute of each axis, which is its value
    AXIS_FLAGS = {'wrong_mode': 'override', 'wrong_torque': 'false_torque'}

    def __init__(self, name: str, node_id: int, card: DriveCard, serial: int,
                 send: Callable[[int, bytes], None], more: Sequence[DriveCard] = ()) -> None:
        """Connect the objects to the axes; `more` are the cards of further channels."""
        self.axes = [DriveAxis(c) for c in (card, *more)]
        self.temperature = USUAL_TEMPERATURE
        self._other_order: bytes | None = None
        super().__init__(name, node_id, 'motor_drive', serial, send, len(self.axes))
        self.live[0x2030, 0] = lambda: self.temperature
        for channel, axis in enumerate(self.axes, 1):
            live, writers = axis.objects(partial(self._command, axis))
            self.live |= {(profile_object(i, channel), 0): get for i, get in live.items()}
            self.live[profile_object(0x608F, channel), 1] = axis.counts
            self.writers |= {(profile_object(i, channel), 0): put for i, put in writers.items()}
            for subindex, name in OUTPUTS.items():
                place = profile_object(0x60FE, channel), subindex
                self.live[place] = partial(getattr, axis.drive, name)
                self.writers[place] = setter(axis.drive, name)

    @property
    def drive(self) -> MotorDrive:
        """Model of the first channel."""
        return self.axes[0].drive

    def _command(self, axis: DriveAxis, word: int) -> None:
        """Take a controlword; a reset fault ends its emergency."""
        before = axis.drive.error_code
        axis.drive.command(word)
        if before and not axis.drive.error_code:
            self.recovered(before)

    def torque(self, dt: float, angle: float, rate: float, channel: int = 1) -> float:
        """Return the mean torque over the next `dt`, as `MotorDrive.step`; 0 without power."""
        return self.axes[channel - 1].step(dt, angle, rate) if self.alive else 0.0

    def sense(self, angle: float, channel: int = 1) -> None:
        """Sample the encoder of the motor."""
        axis = self.axes[channel - 1]
        axis.angle = angle
        if self.alive:
            axis.drive.sense(angle)

    def on_restart(self) -> None:
        """Reset all axes."""
        for axis in self.axes:
            axis.restart()

    def on_connection_lost(self, code: int) -> None:
        """React by 6007h."""
        for axis in self.axes:
            axis.drive.connection_lost(code)

    def on_connection_found(self) -> None:
        """Clear the error codes."""
        for axis in self.axes:
            axis.drive.connection_found()

    def fail(self, code: int) -> None:
        """Raise an error: EMCY and FAULT."""
        super().fail(code)
        for axis in self.axes:
            axis.drive.fail(code)

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault, as `EmulatedDevice.begin`."""
        super().begin(fault, now)
        value = int(fault.value or 0)
        if fault.kind == 'second_master':
            self._other_order = DRIVE_COMMAND.pack(OPERATE, value)
        for axis in self.axes:
            if fault.kind in self.AXIS_FLAGS:
                setattr(axis, self.AXIS_FLAGS[fault.kind], value)
            elif fault.kind == 'sto':
                axis.drive.safe_torque_off = True
            elif fault.kind == 'over_temperature':
                axis.drive.warning = True
            elif fault.kind in FALSE_COUNTS:
                axis.false_counts[fault.kind] = axis.drive.position, value

    def end(self, fault: Fault, now: float) -> None:
        """End a fault, as `EmulatedDevice.end`."""
        super().end(fault, now)
        if fault.kind == 'second_master':
            self._other_order = None
        for axis in self.axes:
            if fault.kind in self.AXIS_FLAGS:
                setattr(axis, self.AXIS_FLAGS[fault.kind], None)
            elif fault.kind == 'sto':
                axis.drive.safe_torque_off = False
            elif fault.kind == 'over_temperature':
                axis.drive.warning = False
            axis.false_counts.pop(fault.kind, None)

    def step(self, now: float) -> None:
        """Handle everything due, as `BusDevice.step`, and the orders of a second master."""
        super().step(now)
        if self._other_order is not None:
            # on the bus, received by the drive and its own master
            for channel in range(1, 1 + len(self.axes)):
                identifier = command_id(self.id, channel)
                self.transmit(identifier, self._other_order)
                if self.alive and self.connected:
                    self.receive(identifier, self._other_order, now)
