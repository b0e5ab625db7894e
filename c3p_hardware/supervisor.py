# SPDX-License-Identifier: Apache-2.0
"""
Per-cycle safety state machine: selects controlword and torque of every drive.

Pure: time is an argument, and a lock around it is the caller's.

    DISARMED --arm()--> ARMING --all drives enabled--> ARMED
        ^                                any problem |
        +-- RECOVERING <--recover()-- FAULT <--------+-- any problem in any other state

A problem of one device gives all wheels zero torque in the same cycle. A fault is latched until
`recover`, which resets the drives in FAULT; the robot is then disarmed and has to be armed again
with a wheel command of zero. Drives are enabled in ARMING and ARMED alone: one that comes back is
never enabled. If a device misses more than `missed_cycles` cycles, all torques are zero until its
sample arrives; after `silence_timeout` it is a fault.

A robot that is not armed brakes at the drives' own ramp (`quick_stop`), or coasts, in every state
alike: neither `disarm` nor `recover` interrupts the braking.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia402 import INTERNAL_LIMIT, FaultReset, Target, controlword
from c3p_hardware.devices import Device, Drive, Encoder
from c3p_hardware.orders import Order, driving_order, resting_order
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.wheel_gate import GateSettings, WheelGate

# time for which a command may still act after the next one was sent, s: a cycle of 100 Hz, the
# frame of the next sample, and the lag of a current loop
HELD = 0.025

# time above the limit that is an overspeed, s: a SYNC that leaves late raises the estimated rate
# several times for some cycles
OVERSPEED_TIME = 0.05

# fraction of the tolerance by which a torque deviation must shrink to count as settling
SETTLING = 0.25


class ArmState(Enum):
    """State of the robot's motors."""

    DISARMED = 'disarmed'
    ARMING = 'arming'
    ARMED = 'armed'
    RECOVERING = 'recovering'
    FAULT = 'fault'


class Refused(ValueError):
    """A request that is rejected in the present state; the text names the remedy."""


class DriveWatch:
    """
    Overspeed and torque deviation of armed drives.

    A disarmed robot that is pushed has no overspeed, and a quick stop has torques of its own:
    both are checked while armed alone.

    A drive receives a command a cycle later, has a lag, may have a torque slope and may limit its
    current. The torque actual (6077h) may therefore be anywhere between the commands of the last
    `HELD` seconds. A drive that reports its internal limit (statusword bit 11) may give less. A
    deviation that settles restarts the clock; any other is a fault after `torque_deviation_time`.

    Parameters
    ----------
    settings : CardSettings
    drives : sequence of Drive
        The driven ones.
    """

    def __init__(self, settings: CardSettings, drives: Sequence[Drive]) -> None:
        """Start without a command."""
        self._settings, self._drives = settings, list(drives)
        self._tolerance = [max(1.0, settings.torque_tolerance * d.settings.max_permille)
                           for d in self._drives]
        self.reset()

    def reset(self) -> None:
        """Drop the history, before arming."""
        self._sent: deque[tuple[float, tuple[int, ...]]] = deque()
        self._fast_since = [math.inf] * len(self._drives)
        self._since = [math.inf] * len(self._drives)
        self._least = [math.inf] * len(self._drives)

    def sent(self, torques: Sequence[int], now: float) -> None:
        """Record the torques (n,), permille, that are sent at `now`, s."""
        self._sent.append((now, tuple(torques)))
        # the newest one beyond the time still counts: it acted until the next one
        while len(self._sent) > 1 and self._sent[1][0] < now - HELD:
            self._sent.popleft()

    def problems(self, now: float, wheel_rate: Array) -> Iterator[Problem]:
        """
        Yield overspeeds and torque deviations.

        Parameters
        ----------
        now : float, s
        wheel_rate : array, rad/s
            Of the joints of the drives.
        """
        for i, drive in enumerate(self._drives):
            if self._settings.overspeed_margin > 0:
                yield from self._overspeed(i, drive, now, float(wheel_rate[i]))
            if self._settings.torque_tolerance > 0 and self._sent and drive.sampled:
                yield from self._deviation(i, drive, now)

    def _overspeed(self, i: int, drive: Drive, now: float, rate: float) -> Iterator[Problem]:
        limit = self._settings.overspeed_margin * drive.settings.rate_limit
        self._fast_since[i] = min(self._fast_since[i], now) if abs(rate) > limit else math.inf
        if now - self._fast_since[i] > OVERSPEED_TIME:
            yield Problem(
                drive.name, 'overspeed', f'its joint turns at {rate:.1f} rad/s, limit '
                f'{limit:.1f} rad/s (overspeed_margin times the rate limit of the '
                'description)', 'look for a wheel that spins, a slope or a second source of '
                f'commands, {RECOVER}')

    def _deviation(self, i: int, drive: Drive, now: float) -> Iterator[Problem]:
        # band of the recent commands, down to zero while the drive limits its current
        commands = [torques[i] for _, torques in self._sent]
        low, high = min(commands), max(commands)
        if drive.statusword & INTERNAL_LIMIT:
            low, high = min(low, 0), max(high, 0)
        off = max(low - drive.torque, drive.torque - high, 0)
        if off <= self._tolerance[i]:
            self._since[i] = self._least[i] = math.inf
            return
        # the clock starts at the smallest deviation so far
        if off < self._least[i] - SETTLING * self._tolerance[i]:
            self._since[i], self._least[i] = now, off
        if now - self._since[i] > self._settings.torque_deviation_time:
            units = drive.settings.units
            yield Problem(
                drive.name, 'torque', f'its torque (6077h) is {units.torque(drive.torque):.3f} '
                f'N·m, commanded {units.torque(commands[-1]):.3f} N·m, for '
                f'{now - self._since[i]:.3f} s (tolerance {self._settings.torque_tolerance:g} of '
                'the torque limit)', 'look for a second source of commands, check current limits, '
                f'torque slope and motor cables, {RECOVER}')


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
        joints = list(robot.effort_joints)
        self._place = np.array([joints.index(drive.joint) for drive in self.drives])
        self.state, self.held, self.allowed = ArmState.DISARMED, '', False
        self.faults: list[Problem] = []
        self._since, self._watch = 0.0, DriveWatch(settings, self.drives)
        # as long as arming may take, because a fault reaction brakes first
        cycles = max(2, round(settings.arming_timeout * settings.rate))
        self._resets = [FaultReset(cycles) for _ in self.drives]

    @property
    def to_configure(self) -> bool:
        """True when a faulty device has lost its configuration."""
        return any(f.configure for f in self.faults)

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
            raise Refused('; '.join(map(str, self.faults)) or f'the robot is {self.state.value}')
        if late := self._late():
            raise Refused(f'{late}: no sample yet')
        if problems := self._problems(now):
            raise Refused('; '.join(map(str, problems)))
        if lack := self._lack_of_zero(now):
            raise Refused(lack)
        self.state, self._since = ArmState.ARMING, now

    def disarm(self) -> None:
        """Stop and disable the drives; a fault stays latched."""
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
        """Stop on request, latched as a fault."""
        self.latch(Problem('robot', 'quick_stop', 'quick stop by a call of ~/quick_stop',
                           'call ~/recover and ~/enable to drive again'))

    def recover(self) -> None:
        """
        Clear the faults and reset the drives in FAULT; the robot ends disarmed.

        Devices that lost their configuration (`to_configure`) must have been configured before.
        """
        self.disarm()
        if self.state == ArmState.FAULT:
            self.faults, self.state = [], ArmState.RECOVERING
            for device in self.devices:
                device.emergency = ''
            for reset in self._resets:
                # a reset that was interrupted by a new fault begins with a new edge
                reset.cancel()
                reset.request()

    def step(self, now: float, wheel_rate: Array, steering_rate: Array | None = None
             ) -> list[Order]:
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
        """
        self._advance(now)
        rates = (wheel_rate if steering_rate is None else np.concatenate(
            [wheel_rate, steering_rate]))[self._place]
        if self.state == ArmState.ARMED:
            for problem in self._watch.problems(now, rates):
                self.latch(problem)
        self.held = self._late() if self.state == ArmState.ARMED else ''
        if self.state in (ArmState.ARMING, ArmState.ARMED):
            return self._enabled_orders(now, wheel_rate, rates)
        self._watch.reset()
        rest = Target.QUICK_STOP if self.settings.quick_stop else Target.DISABLED
        words = [controlword(d.state, rest) for d in self.drives]
        if self.state == ArmState.RECOVERING:
            resets = [r.step(d.state) for d, r in zip(self.drives, self._resets, strict=True)]
            words = [word if reset is None else reset
                     for word, reset in zip(words, resets, strict=True)]
        return [resting_order(drive, word) for drive, word in zip(self.drives, words, strict=True)]

    def _enabled_orders(self, now: float, wheel_rate: Array, rates: Array) -> list[Order]:
        """Return the orders that enable the drives, with torques once they are armed."""
        driving = self.state == ArmState.ARMED and not self.held
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
            self.state = ArmState.DISARMED

    def _arming(self, now: float) -> None:
        # a command during arming must not move the robot once all drives are enabled
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
