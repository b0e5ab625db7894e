# SPDX-License-Identifier: Apache-2.0
"""
Decides each cycle what every drive is told: the stop doctrine of the motor cards, without a clock.

    DISARMED --arm()--> ARMING --all drives hold--> ARMED
        ^                                   any problem |
        +-- RECOVERING <--recover()-- FAULT <-----------+-- any problem in any other state

Whatever happens to one device, all wheels get zero torque in the same cycle. A fault stays until
`recover`, which resets the drives that have one; then the robot is disarmed and has to be armed
again, with a wheel command of zero. A drive is asked to hold its wheel only while arming or armed:
one that comes back is never enabled. When a device has not answered for more than `missed_cycles`
cycles, all torques are zero until it is back; after `silence_timeout` it is a fault.

Whoever is not armed brakes at the drives' own ramp (`quick_stop`), or coasts, in every state
alike: neither `disarm` nor `recover` lets a robot roll that was braking.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from c3p_description.model import Array
from c3p_hardware.canopen.cia402 import FaultReset, Target, controlword
from c3p_hardware.devices import RECOVER, Device, Drive, Encoder, Problem
from c3p_hardware.drive_watch import DriveWatch
from c3p_hardware.settings import CardSettings
from c3p_hardware.wheel_gate import WheelGate


class ArmState(Enum):
    """What the robot's motors are allowed."""

    DISARMED = 'disarmed'
    ARMING = 'arming'
    ARMED = 'armed'
    RECOVERING = 'recovering'
    FAULT = 'fault'


class Refused(ValueError):
    """A request that cannot be granted now; the text says what to do first."""


class Order(NamedTuple):
    """What a drive is told: controlword, and torque in per-mille of its rated torque."""

    controlword: int
    torque: int


class Supervisor:
    """
    The memory is the state, the latched faults and the edges of fault resets.

    Parameters
    ----------
    settings : CardSettings
    drives, encoders : sequence
        What the bus tells of each device.
    gate : WheelGate
        Every torque passes here last.

    Attributes
    ----------
    state : ArmState
    faults : list of Problem
        Latched: the first of each device and kind.
    held : str
        Names of devices that are late, for which all torques are zero.
    allowed : bool
        The node is active; else nothing can be armed.
    """

    def __init__(self, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder], gate: WheelGate) -> None:
        """Start disarmed."""
        self.settings, self.gate = settings, gate
        self.drives, self.encoders = list(drives), list(encoders)
        self.state, self.faults, self.held, self.allowed = ArmState.DISARMED, [], '', False
        self._since, self._watch = 0.0, DriveWatch(settings, self.drives)
        # as long as arming may take: the reaction to a fault brakes first
        cycles = max(2, round(settings.arming_timeout * settings.rate))
        self._resets = [FaultReset(cycles) for _ in self.drives]

    @property
    def devices(self) -> list[Device]:
        """All devices."""
        return [*self.drives, *self.encoders]

    @property
    def to_configure(self) -> bool:
        """True when a fault has cost a device its configuration."""
        return any(f.configure for f in self.faults)

    def arm(self, now: float) -> None:
        """
        Ask the drives to hold their wheels, with zero torque at first.

        Raises
        ------
        Refused
            The node is not active, a fault is there, or no fresh wheel command of zero.
        """
        if not self.allowed:
            raise Refused('the node is not active: ros2 lifecycle set /hardware_interface '
                          'activate')
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            return
        if self.state != ArmState.DISARMED:
            raise Refused('; '.join(map(str, self.faults)) or f'the robot is {self.state.value}')
        if late := self._late():
            raise Refused(f'{late}: no sample yet')
        if wrong := self._present(now):
            raise Refused('; '.join(map(str, wrong)))
        if lack := self._lack_of_zero(now):
            raise Refused(lack)
        self.state, self._since = ArmState.ARMING, now

    def disarm(self) -> None:
        """Let the drives stop and switch off; a fault stays."""
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            self.state = ArmState.DISARMED
        self.gate.close('disarmed')

    def latch(self, problem: Problem) -> None:
        """Stop because of `problem`, until `recover`."""
        if all((f.device, f.kind) != (problem.device, problem.kind) for f in self.faults):
            self.faults.append(problem)
        self.state = ArmState.FAULT
        self.gate.close('fault')

    def quick_stop(self) -> None:
        """Stop the robot because somebody asked for it."""
        self.latch(Problem('robot', 'quick_stop', 'somebody asked for a quick stop',
                           'call ~/recover and ~/enable when it may move again'))

    def recover(self) -> None:
        """
        Drop the faults and reset the drives that have one; the robot ends disarmed.

        Devices that lost their configuration (`to_configure`) must have been configured before.
        """
        self.disarm()
        if self.state == ArmState.FAULT:
            self.faults, self.state = [], ArmState.RECOVERING
            for device in self.devices:
                device.emergency = ''
            for reset in self._resets:
                # one that a new fault has cut short begins with a new edge
                reset.cancel()
                reset.request()

    def step(self, now: float, wheel_rate: Array) -> list[Order]:
        """
        Return what each drive is told in this cycle.

        Parameters
        ----------
        now : float, s
            The clock of the gate's commands.
        wheel_rate : (n,) array, rad/s
            For braking when commands have stopped.
        """
        self._advance(now)
        if self.state == ArmState.ARMED:
            for problem in self._watch.problems(now, wheel_rate):
                self.latch(problem)
        self.held = self._late() if self.state == ArmState.ARMED else ''
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            holding = self.state == ArmState.ARMED and not self.held
            torques = (self.gate.torque_at(now, wheel_rate) if holding
                       else [0.0] * len(self.drives))
            orders = [Order(controlword(d.state, Target.ENABLED),
                            d.settings.units.permille(t, d.settings.most_permille))
                      for d, t in zip(self.drives, torques, strict=True)]
            if self._sends(orders):
                self._watch.sent([order.torque for order in orders], now)
            return orders
        self._watch.reset()
        rest = Target.QUICK_STOP if self.settings.quick_stop else Target.DISABLED
        words = [controlword(d.state, rest) for d in self.drives]
        if self.state == ArmState.RECOVERING:
            resets = [r.step(d.state) for d, r in zip(self.drives, self._resets, strict=True)]
            words = [word if reset is None else reset
                     for word, reset in zip(words, resets, strict=True)]
        return [Order(word, 0) for word in words]

    def _sends(self, orders: Sequence[Order]) -> bool:
        """Return whether the cycle sends these: a torque only when all devices answered."""
        return all(d.sampled for d in self.devices) or not any(o.torque for o in orders)

    def _advance(self, now: float) -> None:
        """Take the state that follows from what the devices say."""
        # also of a robot that is not armed: `recover` is the remedy for most of them
        for problem in self._present(now):
            if not self._resetting(problem):
                self.latch(problem)
        if self.state == ArmState.ARMED:
            # also while others are late: a drive that left must not be led back meanwhile
            for problem in filter(None, [d.left() for d in self.drives]):
                self.latch(problem)
        elif self.state == ArmState.ARMING:
            self._arming(now)
        elif self.state == ArmState.RECOVERING and not any(r.active for r in self._resets):
            self.state = ArmState.DISARMED

    def _arming(self, now: float) -> None:
        # nothing that is commanded before all drives hold may move the robot once they do
        if self.gate.newest(now)[0].any():
            self.gate.close('a command came while arming: release it first')
        waited = now - self._since
        refused = [p for d in self.drives if (p := d.refused(waited))]
        if not refused and not self._late():
            self.state = ArmState.ARMED
        elif waited > self.settings.arming_timeout:
            for problem in refused:
                self.latch(problem)

    def _resetting(self, problem: Problem) -> bool:
        """Return whether `problem` is a fault whose reset is on its way."""
        return (self.state == ArmState.RECOVERING and problem.kind == 'fault'
                and any(r.active and d.name == problem.device
                        for d, r in zip(self.drives, self._resets, strict=True)))

    def _late(self) -> str:
        late = [d.name for d in self.devices if d.behind > self.settings.missed_cycles]
        return 'all devices' if len(late) == len(self.devices) else ', '.join(late)

    def _present(self, now: float) -> list[Problem]:
        found = [p for d in self.devices for p in d.problems(now, self.settings)]
        silent = [p for p in found if p.kind == 'silence']
        if len(silent) < len(self.devices):
            return found
        # what all have in common is not each one's own
        return [Problem('bus', 'silence', f'no device answers; {silent[0].text}',
                        'check the power of the cards, cable, termination and bit rate, '
                        f'{RECOVER}', True), *(p for p in found if p.kind != 'silence')]

    def _lack_of_zero(self, now: float) -> str:
        torque, age = self.gate.newest(now)
        if self.gate.held:
            return self.gate.held
        if age > self.settings.command_timeout:
            return ('no fresh wheel_effort: start the controllers first; at rest they send zeros')
        if torque.any():
            return (f'wheel_effort is {torque.tolist()} N·m: release the command first, arming '
                    'needs zeros')
        return ''
