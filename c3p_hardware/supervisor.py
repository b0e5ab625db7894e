# SPDX-License-Identifier: Apache-2.0
"""
Per-cycle safety state machine: selects controlword and torque of every drive.

Pure: time is an argument, and a lock around it is the caller's.

    DISARMED --arm()--> ARMING --all drives enabled--> ARMED --disarm()--> STOPPING
        ^                                any problem |                        |
        +-- RECOVERING <--recover()-- FAULT <--------+-- any problem ---------+
        +----------------------------- at rest, without voltage --------------+

A problem of one device gives all wheels zero torque in the same cycle. A fault is latched until
`recover`, which resets the drives in FAULT; the robot is then disarmed and has to be armed again
with a wheel command of zero. Drives are enabled in ARMING and ARMED alone: one that comes back is
never enabled. If a device misses more than `missed_cycles` cycles, all torques are zero until its
sample arrives; after `silence_timeout` it is a fault.

A robot that is not armed brakes at the drives' own ramp (`quick_stop`), or coasts, in every state
alike: neither `disarm` nor `recover` interrupts the braking. A `StopWatch` follows each stop until
the wheels are at rest and the drives have no voltage; only then the robot is disarmed, and only
then `recover` and `arm` are possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia402 import ControlwordCommand, FaultReset, Target, controlword
from c3p_hardware.devices import Device, Drive, Encoder
from c3p_hardware.drive_watch import DriveWatch
from c3p_hardware.holding_brakes import HoldingBrakes
from c3p_hardware.orders import Order, driving_order, resting_order
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.stop_watch import StopWatch
from c3p_hardware.wheel_gate import GateSettings, WheelGate

# controlword without voltage
DISABLE = ControlwordCommand.DISABLE_VOLTAGE.word


class ArmState(Enum):
    """State of the robot's motors."""

    DISARMED = 'disarmed'
    ARMING = 'arming'
    ARMED = 'armed'
    STOPPING = 'stopping'
    RECOVERING = 'recovering'
    FAULT = 'fault'


class Refused(ValueError):
    """A request that is rejected in the present state; the text names the remedy."""


class Supervisor:
    """
    State machine of the motors; memory are state, latched faults and edges of fault resets.

    Parameters
    ----------
    robot : CasterRobot
    settings : CardSettings
    drives, encoders : sequence
        State of each device; drives that are only read get no orders.

    Attributes
    ----------
    drives : list of Drive
        The driven ones, in the order of the orders.
    gate : WheelGate
        Last check of every torque; changed by the supervisor alone.
    state : ArmState
    faults : list of Problem
        Latched; the first of each device and kind.
    held : str
        Names of late devices, because of which all torques are zero.
    allowed : bool
        Arming is allowed: the node is active.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 encoders: Sequence[Encoder]) -> None:
        """Start disarmed."""
        self.settings = settings
        self.gate = WheelGate(robot, GateSettings(settings.command_timeout,
                                                  settings.stop_damping))
        self.drives = [drive for drive in drives if drive.settings.driven]
        self.devices: list[Device] = [*drives, *encoders]
        # place of each drive's joint in the torques and rates of the robot
        places = robot.effort_places
        self._place = np.array([places[drive.joint] for drive in self.drives])
        self.state = ArmState.DISARMED
        self.held = ''
        self.allowed = False
        self.faults: list[Problem] = []
        self._since, self._watch = 0.0, DriveWatch(settings, self.drives)
        self._now = 0.0
        self._stops = StopWatch(robot, settings, self.drives, self._place)
        # none without a brake: the path of a cycle stays short
        self._brakes = (HoldingBrakes(settings, self.drives, self._stops.motion)
                        if any(drive.settings.brake for drive in self.drives) else None)
        # as long as arming may take, because a fault reaction brakes first
        cycles = max(2, round(settings.arming_timeout * settings.rate))
        self._resets = [FaultReset(cycles) for _ in self.drives]

    @property
    def to_configure(self) -> bool:
        """True when a faulty device has lost its configuration."""
        return any(f.configure for f in self.faults)

    @property
    def withheld(self) -> bool:
        """True when the heartbeat must end, since a drive does not follow "voltage off"."""
        return self._stops.withheld

    @property
    def moving(self) -> str:
        """Joints that turn and drives with voltage, as text; empty at rest."""
        return self._stops.motion.describe()

    @property
    def powered(self) -> bool:
        """True while a drive that responds has voltage at its motor."""
        return bool(self._stops.motion.powered())

    def command(self, torque: Array, now: float) -> None:
        """Take a command (efforts,) N·m at `now`, s, as `WheelGate.command`."""
        self.gate.command(torque, now)

    def hold(self, reason: str) -> None:
        """Brake the wheels because of `reason`, as `WheelGate.hold`; empty ends it."""
        self.gate.hold(reason)

    def arm(self, now: float) -> None:
        """
        Begin to enable the drives, with zero torque.

        Raises
        ------
        Refused
            The node is not active, a fault is present, or no recent wheel command of zero.
        """
        if not self.allowed:
            raise Refused('the node is not active: ros2 lifecycle set /hardware_interface '
                          'activate')
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            return
        if self.state != ArmState.DISARMED:
            raise Refused('; '.join(map(str, self.faults)) or
                          f'the robot is {self.state.value}: {self.moving or "just at rest"}')
        if late := self._late():
            raise Refused(f'{late}: no sample yet')
        if problems := self._problems(now):
            raise Refused('; '.join(map(str, problems)))
        if lack := self._lack_of_zero(now):
            raise Refused(lack)
        self.state = ArmState.ARMING
        self._since = now
        self._stops.arm()

    def disarm(self) -> None:
        """Stop and disable the drives; a fault stays latched."""
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            self.state = ArmState.STOPPING
        self.gate.close('disarmed')

    def latch(self, problem: Problem) -> None:
        """Stop because of `problem`, until `recover`."""
        if all((f.device, f.kind) != (problem.device, problem.kind) for f in self.faults):
            self.faults.append(problem)
        self.state = ArmState.FAULT
        self.gate.close('fault')

    def quick_stop(self) -> None:
        """Stop on request, latched as a fault."""
        self.latch(Problem('robot', 'quick_stop', 'quick stop by a call of ~/quick_stop',
                           'call ~/recover and ~/enable to drive again'))

    def recover(self) -> None:
        """
        Clear the faults and reset the drives in FAULT; the robot ends disarmed.

        Devices that lost their configuration (`to_configure`) must have been configured before.

        Raises
        ------
        Refused
            A wheel turns, or a drive has voltage; the faults stay.
        """
        self.check_rest()
        self.disarm()
        if self.state == ArmState.FAULT:
            self.faults = []
            self.state, self._since = ArmState.RECOVERING, self._now
            self._stops.release()
            for device in self.devices:
                device.emergency = ''
            for reset in self._resets:
                # a reset that was interrupted by a new fault begins with a new edge
                reset.cancel()
                reset.request()

    def check_rest(self) -> None:
        """Raise Refused in a stop that has not ended, for the drives that respond."""
        if self.state == ArmState.FAULT and (moving := self.moving):
            raise Refused(f'the robot is not at rest: {moving}; wait until it stands, or press '
                          'the emergency stop')

    def step(self, now: float, wheel_rate: Array, steering_rate: Array | None = None,
             steering: Array | None = None) -> list[Order]:
        """
        Return the order of each drive in this cycle.

        Parameters
        ----------
        now : float, s
            On the clock of the wheel commands.
        wheel_rate : (n,) array, rad/s
            For braking after a command timeout.
        steering_rate : (n,) array, rad/s, optional
            Of robots with drives on steering joints.
        steering : (n,) array, rad, optional
            In a complete cycle: the senses of the drives are judged by the motion.
        """
        rates = (wheel_rate if steering_rate is None else np.concatenate(
            [wheel_rate, steering_rate]))[self._place]
        self._now = now
        self._stops.motion.step(now)
        if (steering is not None and steering_rate is not None
                and self.settings.known_wiring):
            self._stops.judge(now, steering, wheel_rate, steering_rate)
        self._advance(now)
        if self.state == ArmState.ARMED:
            for problem in [*self._watch.problems(now, rates), *self._stops.wrong_senses(now),
                            *self._stops.braked(now, '' if self.held else self.gate.reason)]:
                self.latch(problem)
        self.held = self._late() if self.state == ArmState.ARMED else ''
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            return self._braked(now, self._enabled_orders(now, wheel_rate, rates))
        if self.state == ArmState.STOPPING and self._brakes and self._brakes.closing(now):
            # the closed gate brakes the wheels meanwhile
            return self._braked(now, self._enabled_orders(now, wheel_rate, rates))
        self._watch.reset()
        for problem in self._stops.step(now):
            self.latch(problem)
        words = [controlword(d.state, self._stops.target(i)) for i, d in enumerate(self.drives)]
        if self.state == ArmState.RECOVERING:
            resets = [r.step(d.state) for d, r in zip(self.drives, self._resets, strict=True)]
            words = [word if reset is None else reset
                     for word, reset in zip(words, resets, strict=True)]
        return self._braked(now, [resting_order(drive, word) for drive, word in zip(
            self.drives, words, strict=True)])

    def _enabled_orders(self, now: float, wheel_rate: Array, rates: Array) -> list[Order]:
        """Return the orders that enable the drives, with torques once they are armed."""
        driving = self.state != ArmState.ARMING and not self.held
        words = [controlword(d.state, Target.ENABLED) for d in self.drives]
        if driving:
            torques = self.gate.torque_at(now, wheel_rate)[self._place]
            orders = [driving_order(*each) for each in zip(self.drives, words, torques, rates,
                                                      strict=True)]
        else:
            orders = [resting_order(*each) for each in zip(self.drives, words, rates, strict=True)]
        # the cycle sends torques only when all devices have been sampled
        if all(d.sampled for d in self.devices) or not any(o.target for o in orders):
            self._watch.sent([order.torque for order in orders], now)
        return orders

    def _braked(self, now: float, orders: list[Order]) -> list[Order]:
        """Return the orders with those of the holding brakes."""
        brakes = self._brakes
        if brakes is None:
            return orders
        drives = self.state == ArmState.ARMED or (
            self.state == ArmState.ARMING and brakes.enabled())
        off = [] if drives else [i for i in range(len(self.drives))
                                 if self._stops.ignored or orders[i].controlword == DISABLE]
        brakes.step(now, drives, off)
        for problem in brakes.problems(now):
            self.latch(problem)
        return brakes.added(orders)

    def _advance(self, now: float) -> None:
        """Make the transitions that follow from the state of the devices."""
        # also while disarmed: `recover` is the remedy of most problems
        for problem in self._problems(now):
            if not self._resetting(problem):
                self.latch(problem)
        if self.state == ArmState.ARMED:
            # also while others are late: a drive that left must not be enabled again meanwhile
            for problem in filter(None, [d.left() for d in self.drives]):
                self.latch(problem)
        elif self.state == ArmState.ARMING:
            self._arming(now)
        elif self.state == ArmState.RECOVERING and not any(r.active for r in self._resets):
            self._rest(now)
        elif self.state == ArmState.STOPPING and self._stops.motion.at_rest(now):
            self.state = ArmState.DISARMED

    def _arming(self, now: float) -> None:
        # a command during arming must not move the robot once all drives are enabled
        if self.gate.newest(now)[0].any():
            self.gate.close('a command came while arming: release it first')
        waited = now - self._since
        refused = [p for d in self.drives if (p := d.refused(waited))]
        if not refused and not self._late():
            if self._brakes is None or self._brakes.open_for_long(now):
                self.state = ArmState.ARMED
        elif waited > self.settings.arming_timeout:
            for problem in refused:
                self.latch(problem)

    def _rest(self, now: float) -> None:
        """End a recovery at rest; a robot that moves on has not recovered."""
        if self._stops.motion.at_rest(now):
            self.state = ArmState.DISARMED
        elif now - self._since > self.settings.arming_timeout:
            self.latch(Problem('robot', 'moving', 'it is not at rest: '
                               f'{self.moving or "not all drives respond"}',
                               f'wait until it stands, {RECOVER}'))

    def _resetting(self, problem: Problem) -> bool:
        """Return True for the fault of a drive whose reset is in progress."""
        return (self.state == ArmState.RECOVERING and problem.kind == 'fault'
                and any(r.active and d.name == problem.device
                        for d, r in zip(self.drives, self._resets, strict=True)))

    def _late(self) -> str:
        late = [d.name for d in self.devices if d.behind > self.settings.missed_cycles]
        return 'all devices' if len(late) == len(self.devices) else ', '.join(late)

    def _problems(self, now: float) -> list[Problem]:
        found = [p for d in self.devices for p in d.problems(now, self.settings)]
        silent = [p for p in found if p.kind == 'silence']
        if len(silent) < len(self.devices):
            return found
        # silence of all devices is one problem of the bus
        return [Problem('bus', 'silence', f'no device responds; {silent[0].text}',
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
