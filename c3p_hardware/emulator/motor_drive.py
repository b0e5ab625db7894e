# SPDX-License-Identifier: Apache-2.0
"""
Model of a CiA 402 drive with motor, gear and encoder, in the torque and the velocity mode.

Pure: controlword and objects on one side, angle and torque of the wheel on the other; `profiles`
connects it to the bus. CiA 402-2: state machine of the power drive system, cyclic synchronous
torque and velocity mode. The state machine is written independently of `canopen.cia402`, the
master's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from c3p_hardware.canopen.brake_output import SET_BRAKE
from c3p_hardware.canopen.cia402 import (
    INTERNAL_LIMIT,
    MODE_CST,
    MODE_CSV,
    REMOTE,
    TARGET_FOLLOWED,
    VOLTAGE_ENABLED,
    WARNING,
    AbortOption,
    DriveState,
    FaultReactionOption,
    QuickStopOption,
    state_bits,
)
from c3p_hardware.emulator.holding_brake import HoldingBrake

NO_MODE = 0
FAULT_RESET_BIT = 1 << 7

# rate at which a ramp has ended, rad/s
STANDSTILL = 0.05
# gain of the ramp at the wheel, N·m per rad/s: a time constant of 50 ms with 0.016 kg·m², a third
# of 30 kg on a wheel of 4 cm
RAMP_GAIN = 0.3

_POWERED = (DriveState.OPERATION_ENABLED, DriveState.QUICK_STOP_ACTIVE,
            DriveState.FAULT_REACTION_ACTIVE)
_OFF = DriveState.SWITCH_ON_DISABLED
_STAY = QuickStopOption.QUICK_STOP_RAMP_AND_STAY
_RAMP = FaultReactionOption.QUICK_STOP_RAMP


@dataclass(frozen=True)
class DriveCard:
    """
    Data of a motor, its gear, its encoder and its card.

    Attributes
    ----------
    rated_torque : float, N·m
        Rated torque of the motor, 6076h.
    gear_ratio : float
        Turns of the motor per turn of the wheel.
    efficiency : float
        Efficiency of the gear; the torque at the wheel is ``rated_torque·gear_ratio·efficiency``
        times the fraction of the rated torque.
    counts : int
        Counts of the encoder per turn of the motor.
    direction : int
        Mounting of the motor, 1 or -1.
    leads : int
        -1 for exchanged motor leads: the torque has the opposite sense, the counts have not.
    polarity : int
        -1 for exchanged encoder channels, or 607Eh alone: the counts have the opposite sense, for
        the ramp of the drive as well, the torque has not.
    bandwidth : float, Hz
        Bandwidth of the current loop, a first-order lag.
    max_permille : int
        Peak torque of the card, permille of the rated torque.
    voltage : float, V
        Supply voltage.
    velocity_gain : float, N·m·s/rad
        Gain of the proportional velocity loop, at the joint; it has no integral part.
    brake_torque : float, N·m
        Largest torque of a spring-applied holding brake, at the joint; 0 without a brake.
    """

    rated_torque: float = 0.11
    gear_ratio: float = 14.0
    efficiency: float = 0.8
    counts: int = 2000
    direction: int = 1
    leads: int = 1
    polarity: int = 1
    bandwidth: float = 500.0
    max_permille: int = 3000
    voltage: float = 24.0
    velocity_gain: float = 0.2
    brake_torque: float = 0.0

    def __post_init__(self) -> None:
        """Reject impossible values."""
        for name in ('rated_torque', 'gear_ratio', 'efficiency', 'bandwidth', 'voltage', 'counts',
                     'max_permille', 'velocity_gain'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f'{name} = {value}: must be a number greater than zero')
        if not 0.0 <= self.brake_torque < math.inf:
            raise ValueError(f'brake_torque = {self.brake_torque}: must be 0 (no brake) or a '
                             'positive number')
        for name in ('direction', 'leads', 'polarity'):
            if getattr(self, name) not in (1, -1):
                raise ValueError(f'{name} = {getattr(self, name)}: must be 1 or -1')

    @property
    def permille_torque(self) -> float:
        """Torque at the wheel for one permille, N·m, with its sign."""
        size = self.rated_torque * self.gear_ratio * self.efficiency / 1000
        return self.direction * self.leads * size

    @property
    def counts_per_radian(self) -> float:
        """Counts per radian of the wheel, with their sign."""
        return self.sense * self.counts * self.gear_ratio / (2 * math.pi)

    @property
    def sense(self) -> int:
        """Sign of the counts for a forward turn of the wheel."""
        return self.direction * self.polarity


class MotorDrive:
    """
    State machine, torque mode and current loop of one drive.

    The motor torque follows the target by ``ẋ = 2πf (x* − x)``, discretised exactly; `step`
    returns its mean over the step, so that the impulse is exact. The drive starts without torque
    and is enabled by the controlwords 6, 7, 15 in this order alone.

    Parameters
    ----------
    card : DriveCard

    Attributes
    ----------
    state : DriveState
    mode, mode_display : int
        6060h and 6061h; the drive follows the torque in mode 10, the velocity in mode 9.
    target : int
        6071h, permille.
    target_velocity : int
        60FFh, counts/s.
    max_torque, max_current : int
        6072h and 6073h, permille; the smaller one applies.
    quick_stop_option, fault_option, abort_option : int
        605Ah, 605Eh and 6007h.
    ramp : int
        6085h, deceleration in counts/s².
    error_code : int
        603Fh.
    outputs, outputs_mask : int
        60FEh:1 and 60FEh:2; bit 0 closes the holding brake.
    position, torque_actual : int
        6064h and 6077h.
    warning, safe_torque_off : bool
        External conditions.
    """

    def __init__(self, card: DriveCard) -> None:
        """Switch on."""
        self.card = card
        self.restart()

    def restart(self, wheel_angle: float = 0.0) -> None:
        """Reset as at power-on: position 0 here, everything at its default."""
        self.state = _OFF
        self.mode = NO_MODE
        self.mode_display = NO_MODE
        self.target = self.target_velocity = 0
        self.max_torque = self.max_current = 1000
        self.quick_stop_option = int(QuickStopOption.QUICK_STOP_RAMP)
        self.fault_option = int(FaultReactionOption.QUICK_STOP_RAMP)
        self.abort_option = int(AbortOption.FAULT)
        # 50 rad/s² at the wheel: 2 m/s² on wheels of 4 cm
        self.ramp = round(50.0 * abs(self.card.counts_per_radian))
        self.outputs = self.outputs_mask = 0
        self._brake = HoldingBrake(self.card.brake_torque, wheel_angle)
        self.error_code = 0
        self.warning = self.safe_torque_off = False
        self.mode_override: int | None = None
        self._word = 0
        self._lost = False
        self._permille = 0.0
        self._limited = False
        self._reference = 0.0
        self._origin = wheel_angle
        self._counts = 0

    @property
    def controlword(self) -> int:
        """Last controlword, 6040h."""
        return self._word

    @property
    def position(self) -> int:
        """6064h, counts of the motor since power-on, a signed number of 32 bits."""
        return (self._counts + (1 << 31)) % (1 << 32) - (1 << 31)

    @property
    def torque_actual(self) -> int:
        """6077h, permille of the rated torque."""
        return max(-32768, min(32767, round(self._permille)))

    @property
    def statusword(self) -> int:
        """6041h."""
        word = state_bits(self.state) | REMOTE
        if not self.safe_torque_off:
            word |= VOLTAGE_ENABLED
        if self.warning:
            word |= WARNING
        if self._limited:
            word |= INTERNAL_LIMIT
        if self._following:
            word |= TARGET_FOLLOWED
        return word

    @property
    def link_voltage(self) -> int:
        """6079h, mV."""
        return round(1000 * self.card.voltage)

    @property
    def brake_closed(self) -> bool:
        """
        The holding brake, if there is one, has no current.

        It opens by bit 0 of the outputs, unmasked, and only with a power stage that is on. The
        card closes it on its own at the end of each ramp, also of one without a master.
        """
        opened = self.outputs_mask & SET_BRAKE and not self.outputs & SET_BRAKE
        ended = self.state is not DriveState.OPERATION_ENABLED and self._reference == 0.0
        return ended or not (opened and self.state in _POWERED)

    @property
    def _following(self) -> bool:
        return (self.state is DriveState.OPERATION_ENABLED
                and self.mode_display in (MODE_CST, MODE_CSV))

    def command(self, word: int) -> None:
        """
        Take a controlword: at most one transition of the state machine.

        Stopping has no condition. Enabling needs the states one by one, voltage, and bit 7 low.
        A fault is left by the rising edge of bit 7. Numbers in comments are those of the
        transitions in CiA 402.
        """
        edge = bool(word & ~self._word & FAULT_RESET_BIT)
        self._word = word
        state = self.state
        if state is DriveState.FAULT:
            if edge and not self.safe_torque_off:
                # 15
                self.state = _OFF
                self.error_code = 0
        elif state is DriveState.FAULT_REACTION_ACTIVE or state is _OFF and word & 0x07 != 0x06:
            pass
        elif not word & 0x02:  # disable voltage: 7, 9, 10, 12
            self.state = _OFF
        elif not word & 0x04:  # quick stop: 7, 10, 11
            if state is DriveState.OPERATION_ENABLED:
                self._quick_stop(lost=False)
            elif state is not DriveState.QUICK_STOP_ACTIVE:
                self.state = _OFF
        elif not word & FAULT_RESET_BIT:
            self.state = self._ordinary(state, word & 0x0F)

    def _ordinary(self, state: DriveState, word: int) -> DriveState:
        """Return the state after shutdown (6), switch on (7) or enable operation (15)."""
        if state is _OFF:  # 2, with voltage only
            return _OFF if self.safe_torque_off else DriveState.READY_TO_SWITCH_ON
        if state is DriveState.QUICK_STOP_ACTIVE:  # 16; not after a lost master
            again = word == 0x0F and self.quick_stop_option == _STAY and not self._lost
            return DriveState.OPERATION_ENABLED if again else state
        if not word & 0x01:  # 6, 8
            return DriveState.READY_TO_SWITCH_ON
        if state is DriveState.READY_TO_SWITCH_ON or not word & 0x08:  # 3, 5
            return DriveState.SWITCHED_ON
        return DriveState.OPERATION_ENABLED  # 4

    def fail(self, code: int) -> None:
        """React to an error `code` (603Fh) by 605Eh, and stay in FAULT; 13 and 14."""
        if self.state in (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE):
            return
        self.error_code = code
        powered = self.state in _POWERED
        self.state = (DriveState.FAULT_REACTION_ACTIVE if powered and self.fault_option == _RAMP
                      else DriveState.FAULT)

    def connection_lost(self, code: int) -> None:
        """React to a lost master by 6007h, with error `code` in 603Fh."""
        if self.abort_option == AbortOption.NO_ACTION:
            return
        if self.abort_option == AbortOption.FAULT:
            self.fail(code)
            return
        if self.state in (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE):
            return
        if self.state in _POWERED:
            self.error_code = code
        ramp = self.abort_option == AbortOption.QUICK_STOP
        if self.state is DriveState.OPERATION_ENABLED and ramp:
            self._quick_stop(lost=True)
        elif self.state is DriveState.QUICK_STOP_ACTIVE and ramp:
            self._lost = True
        else:
            self.state = _OFF

    def connection_found(self) -> None:
        """Clear the error code of a lost master; the state stays."""
        if self.state is not DriveState.FAULT:
            self.error_code = 0

    def _quick_stop(self, lost: bool) -> None:
        self._lost = lost
        coast = self.quick_stop_option == QuickStopOption.COAST
        self.state = _OFF if coast else DriveState.QUICK_STOP_ACTIVE

    def step(self, dt: float, wheel_angle: float, wheel_rate: float) -> float:
        """
        Let `dt` (s) pass and return the mean torque at the wheel over it, N·m.

        `wheel_angle`, rad, is that at the beginning of the step; `wheel_rate`, rad/s.
        """
        self.sense(wheel_angle)
        self.mode_display = self.mode if self.mode_override is None else self.mode_override
        if self.safe_torque_off and self.state not in (DriveState.FAULT, _OFF):
            self.state = _OFF
        setpoint = self._setpoint(dt, wheel_rate)
        held = self._brake.step(dt, self.brake_closed, wheel_angle, wheel_rate)
        if self.state not in _POWERED:
            # the power stage is open: no current, at once
            self._permille = 0.0
            return held
        span = 2 * math.pi * self.card.bandwidth * dt
        decayed = math.exp(-span)
        mean = setpoint + (self._permille - setpoint) * (1 - decayed) / span
        self._permille = setpoint + (self._permille - setpoint) * decayed
        return mean * self.card.permille_torque + held

    def sense(self, wheel_angle: float) -> None:
        """Sample the encoder, which begins at 0 in the middle of a count."""
        self._counts = math.floor((wheel_angle - self._origin) * self.card.counts_per_radian + 0.5)

    def _setpoint(self, dt: float, wheel_rate: float) -> float:
        """Return the setpoint of the current loop, permille, and end finished ramps."""
        limit = min(self.max_torque, self.max_current, self.card.max_permille)
        rate = self.card.sense * wheel_rate
        if self.state in (DriveState.QUICK_STOP_ACTIVE, DriveState.FAULT_REACTION_ACTIVE):
            setpoint = self._braking(dt, rate)
        else:
            setpoint = self._target(rate) if self._following else 0.0
            self._reference = rate
        self._limited = self._following and abs(setpoint) > limit
        return max(-limit, min(limit, setpoint))

    def _target(self, rate: float) -> float:
        """Return the torque of the mode, permille, at the `rate` of the motor's sense, rad/s."""
        if self.mode_display == MODE_CST:
            return float(self.target)
        target = self.target_velocity / abs(self.card.counts_per_radian)
        return self.card.velocity_gain * (target - rate) / abs(self.card.permille_torque)

    def _braking(self, dt: float, rate: float) -> float:
        """Follow the ramp of 6085h down to zero; leave the state at standstill."""
        down = self.ramp / abs(self.card.counts_per_radian) * dt
        self._reference = math.copysign(max(0.0, abs(self._reference) - down), self._reference)
        if self._reference == 0.0 and abs(rate) < STANDSTILL:
            if self.state is DriveState.FAULT_REACTION_ACTIVE:
                self.state = DriveState.FAULT  # 14
            elif self.quick_stop_option != _STAY or self._lost:
                self.state = _OFF  # 12
        return RAMP_GAIN * (self._reference - rate) / abs(self.card.permille_torque)
