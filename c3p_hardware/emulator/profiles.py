# SPDX-License-Identifier: Apache-2.0
"""Faults common to all emulated devices, and encoders: objects of CiA 406 over the pure model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from c3p_hardware.emulator.absolute_encoder import (
    POSITION_ERROR,
    AbsoluteEncoder,
    EncoderCard,
)
from c3p_hardware.emulator.device import BUS_OFF_LEFT, BusDevice
from c3p_hardware.emulator.faults import Fault

# bits of the error register, 1001h, by the first digit of an error code
REGISTER_BITS = {2: 1 << 1, 3: 1 << 2, 4: 1 << 3, 8: 1 << 4, 7: 1 << 5}

def setter(model: Any, name: str, allowed: tuple[int, ...] = ()) -> Callable[[int], None]:
    """Return a function that sets an attribute to one of the `allowed` values, or to any."""
    def write(value: int) -> None:
        if allowed and value not in allowed:
            raise ValueError(f'{value}: must be one of {allowed}')
        setattr(model, name, value)

    return write


class EmulatedDevice(BusDevice):
    """A device with the faults common to all devices."""

    # fault: attribute of the device and its usual value; the fault negates it, or sets its own
    FLAGS: ClassVar[dict[str, tuple[str, Any]]] = {
        'silence': ('connected', True), 'bus_off': ('connected', True),
        'duplicate_id': ('doubled', False), 'wrong_serial': ('wrong_serial', None)}

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault at `now`."""
        kind = fault.kind
        value = int(fault.value or 0)
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


class EncoderDevice(EmulatedDevice):
    """
    An absolute encoder; parameters as for `BusDevice`, with an `EncoderCard`.

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
            (0x6000, 0): setter(encoder, 'parameters', (0, 1, 4, 5)),
            (0x6001, 0): setter(encoder, 'steps'),
            (0x6002, 0): setter(encoder, 'range'), (0x6003, 0): encoder.preset,
            (0x6200, 0): lambda value: self.sent[0].write(0x1800, 5, value)}

    def step(self, now: float) -> None:
        """Handle everything due, as `BusDevice.step`; a loose disc turns on its shaft."""
        super().step(now)
        if self._drift is not None:
            begin, rate = self._drift
            self.encoder.jump = round(rate * (now - begin))

    def sense(self, angle: float) -> None:
        """Set the angle of the joint, rad."""
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
            self._drift = None
            self.encoder.jump = 0
        elif fault.kind == 'emcy':
            self.encoder.alarms &= ~POSITION_ERROR
            self.recovered(int(fault.value or 0))
