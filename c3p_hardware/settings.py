# SPDX-License-Identifier: Apache-2.0
"""
Settings of a robot's motor cards and encoders: axes, units, timeouts and limits.

An axis is one joint on one channel of one card. `DriveSettings` is an axis of a CiA 402 drive,
which counts and, where the joint is driven, gives torque; `EncoderSettings` is a CiA 406 encoder.
`axes.card_settings` makes them from the parameters of the hardware interface.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from c3p_hardware.canopen.brake_output import BRAKED_COMMAND
from c3p_hardware.canopen.bus_load import axes_load
from c3p_hardware.canopen.cia402 import MODE_CST, MODE_CSV
from c3p_hardware.canopen.process_data import (
    DRIVE_COMMAND,
    MAX_CHANNEL,
    MAX_NODE_ID,
    VELOCITY_COMMAND,
    DriveUnits,
    PdoLayout,
)
from c3p_hardware.hardware_interface_parameters import CardParameters

# commands within the deadline of a drive, so that one of them may be late
FEWEST_COMMANDS = 3


class CardError(ValueError):
    """Invalid settings; the text names the field, its value and the remedy."""


@dataclass(frozen=True)
class DriveSettings:
    """
    One axis of a CiA 402 drive.

    Attributes
    ----------
    node_id : int
    joint : str
        Name of the joint.
    units : DriveUnits
        Conversion between the numbers of the card and the joint.
    torque_limit : float, N·m
        Limit at the joint; written into the card as permille of its rated torque.
    serial : int
        Required serial number (1018h:4); 0 is not checked.
    temperature_index, temperature_subindex : int
        Manufacturer's object of the temperature in °C.
    rate_limit : float, rad/s
        Rate limit of the joint by its motor; infinite when unknown.
    channel : int
        Axis of a card with several, from 1: its objects are 800h apart (CiA 301, 7.5.1).
    driven : bool
        False for an axis that is only read: it is never enabled, and gets no commands.
    mode : int
        `MODE_CST`, or `MODE_CSV`, in which the card has a proportional velocity loop.
    velocity_gain : float, N·m·s/rad
        Gain of that loop at the joint.
    brake : bool
        Its digital output (60FEh:1, bit 0) closes a holding brake.
    """

    node_id: int
    joint: str
    units: DriveUnits
    torque_limit: float
    serial: int = 0
    temperature_index: int = 0x2030
    temperature_subindex: int = 0
    rate_limit: float = math.inf
    channel: int = 1
    driven: bool = True
    mode: int = MODE_CST
    velocity_gain: float = 0.2
    brake: bool = False

    def __post_init__(self) -> None:
        """Reject a limit below one permille, and an impossible channel."""
        if not 1 <= self.channel <= MAX_CHANNEL:
            raise CardError(f'{self.name}: channel = {self.channel}: must be 1 to '
                            f'{MAX_CHANNEL}, as a node has identifiers for four TPDOs, two '
                            'for each channel; correct drives.channels')
        if self.driven and not self.torque_limit >= self.units.torque_resolution:
            raise CardError(
                f'{self.name}: torque_limit = {self.torque_limit} N·m: must be at least '
                f'{self.units.torque_resolution:.4g} N·m, one permille of the rated torque at '
                'the joint; correct drives.rated_torque, or the limit of the joint in the '
                'description (casters.torque_limit of YAML, <limit effort> of a URDF)')
        if self.mode not in (MODE_CST, MODE_CSV):
            raise CardError(f'{self.name}: mode = {self.mode}: must be {MODE_CST} (torque) or '
                            f'{MODE_CSV} (velocity)')
        if self.brake and (self.mode != MODE_CST or not self.driven):
            raise CardError(f'{self.name}: brake = True: must be false '
                            + ('in the mode velocity, whose commands leave no room in a frame; '
                               'set drives.mode to torque, or let the drive control its brake'
                               if self.driven else 'without a motor; correct drives.brakes'))
        if not 0 < self.velocity_gain < math.inf:
            raise CardError(f'{self.name}: velocity_gain = {self.velocity_gain} N·m·s/rad: '
                            'must be a positive number, the gain of the card; correct '
                            'drives.velocity_gain')

    @property
    def command(self) -> PdoLayout:
        """Process data of its commands."""
        if self.mode == MODE_CSV:
            return VELOCITY_COMMAND
        return BRAKED_COMMAND if self.brake else DRIVE_COMMAND

    @cached_property
    def max_permille(self) -> int:
        """Torque limit, permille of the rated torque."""
        return self.units.max_permille(self.torque_limit) if self.driven else 0

    @property
    def name(self) -> str:
        """Name in messages."""
        channel = f', channel {self.channel}' if self.channel > 1 else ''
        return f'drive of {self.joint} (node {self.node_id}{channel})'


@dataclass(frozen=True)
class EncoderSettings:
    """
    One CiA 406 encoder, on a steering axis or on a wheel without a drive.

    Attributes
    ----------
    node_id : int
    joint : str
        Name of the joint.
    counts : int
        Counts per turn of the encoder's shaft, 6001h.
    span : int
        Number of positions, 6002h: whole turns; 0 for a single turn.
    direction : int
        1 when the encoder counts up with the angle of the joint, else -1.
    zero : int
        Counts at θ_s = 0; the preset of the card (6003h) is never written.
    serial : int
        Required serial number (1018h:4), as `zero` belongs to one encoder; 0 is not checked.
    gear_ratio : float
        Turns of the encoder per turn of the joint.
    """

    node_id: int
    joint: str
    counts: int = 4096
    span: int = 0
    direction: int = 1
    zero: int = 0
    serial: int = 0
    gear_ratio: float = 1.0

    def __post_init__(self) -> None:
        """Reject counts without an angle."""
        if not 0 < self.gear_ratio < math.inf:
            raise CardError(f'{self.name}: gear_ratio = {self.gear_ratio}: must be a positive '
                            'number of turns of the encoder per turn of the joint; correct '
                            'encoders.gear_ratio')
        if not 1 <= self.counts <= 1 << 32 or self.counts != int(self.counts):
            raise CardError(f'{self.name}: counts = {self.counts}: must be a whole number of '
                            'counts per turn, at least 1 (6001h)')
        if not self.counts <= self.range <= 1 << 32 or self.range % self.counts:
            raise CardError(f'{self.name}: range = {self.range}: must be a whole number of '
                            f'turns of {self.counts} counts, at most 2³² (6002h); otherwise '
                            'the angle is lost at the end of the range')
        if self.direction not in (1, -1):
            raise CardError(f'{self.name}: direction = {self.direction}: must be 1 or -1')
        if not math.isfinite(self.zero):
            raise CardError(f'{self.name}: zero = {self.zero}: must be a finite number')

    @property
    def name(self) -> str:
        """Name in messages."""
        return f'encoder of {self.joint} (node {self.node_id})'

    @cached_property
    def range(self) -> int:
        """Number of positions."""
        return self.span or self.counts

    @cached_property
    def resolution(self) -> float:
        """Angle of the joint per count, rad."""
        return 2 * math.pi / (self.counts * self.gear_ratio)


@dataclass(frozen=True)
class CardSettings(CardParameters):
    """
    Devices of a robot, with their timeouts and limits.

    All other fields are parameters of the hardware interface.

    Attributes
    ----------
    drives, encoders : tuple
        Axes, in any order; a joint may have one of each.
    quick_stop : bool
        Drives that are not armed brake (quick stop); otherwise they coast.
    known_wiring : bool
        False while the wiring is found: joints that contradict each other, and drives that turn
        against their counts, are then no faults.
    """

    drives: tuple[DriveSettings, ...]
    encoders: tuple[EncoderSettings, ...]
    quick_stop: bool = True
    known_wiring: bool = True

    error: ClassVar[type[ValueError]] = CardError

    def __post_init__(self) -> None:
        """Reject values that cannot work, alone and together."""
        super().__post_init__()
        if not any(drive.driven for drive in self.drives):
            raise CardError(f'{len(self.drives)} drives and {len(self.encoders)} encoders: '
                            'at least one drive must have a motor; correct drives.joints')
        self._check_ids()
        if 0 < self.overspeed_margin < 1:
            raise CardError(f'overspeed_margin = {self.overspeed_margin}: must be at least 1, '
                            'or a wheel at its own limit is a fault; 0 is off')
        self._check_times()

    @property
    def devices(self) -> tuple[DriveSettings | EncoderSettings, ...]:
        """Drives, then encoders."""
        return (*self.drives, *self.encoders)

    def _check_ids(self) -> None:
        # channels of one card share its node id
        axes = [(d.node_id, d.channel) for d in self.drives]
        cards = dict.fromkeys(node_id for node_id, _ in axes)
        ids = [*cards, *(e.node_id for e in self.encoders), self.master_id]
        wrong = [i for i in ids if not 1 <= i <= MAX_NODE_ID]
        if wrong:
            raise CardError(f'node id {wrong}: must be 1 to {MAX_NODE_ID}')
        twice = sorted({i for i in ids if ids.count(i) > 1}
                       | {node_id for node_id, channel in axes if axes.count(
                           (node_id, channel)) > 1})
        if twice:
            raise CardError(f'node id {twice} is used twice (master_id is '
                            f'{self.master_id}): every node on the bus needs its own, and '
                            'axes of one card need different drives.channels')

    def _check_times(self) -> None:
        if self.heartbeat_timeout < 2 * self.heartbeat_period:
            raise CardError(
                f'heartbeat_timeout = {self.heartbeat_timeout} s: must be at least twice '
                f'heartbeat_period = {self.heartbeat_period} s, or one late frame stops the robot')
        if self.silence_timeout * self.rate <= self.missed_cycles:
            raise CardError(
                f'silence_timeout = {self.silence_timeout} s: must be longer than missed_cycles = '
                f'{self.missed_cycles} cycles of {1 / self.rate:.4f} s')
        if not self.rpdo_deadline < math.inf or 0 < self.rpdo_deadline < FEWEST_COMMANDS * (
                self.period):
            raise CardError(
                f'rpdo_deadline = {self.rpdo_deadline} s: must be at least {FEWEST_COMMANDS} '
                f'cycles of {self.period:.4f} s, or one late command stops the robot; 0 is off, '
                'negative selects heartbeat_timeout')
        load = axes_load(self.rate, self.bitrate, self.count(driven=True),
                         self.count(driven=False), len(self.encoders), self.heartbeat_period,
                         max(d.command.size for d in self.drives))
        if load >= 1:
            raise CardError(
                f'rate = {self.rate} Hz: loads a bus of {self.bitrate} bit/s to {load:.0%}; lower '
                'the rate, or use a faster bus (bus.bitrate)')

    def count(self, driven: bool) -> int:
        """Return the number of axes of drives that are driven, or only read."""
        return sum(drive.driven == driven for drive in self.drives)

    @property
    def period(self) -> float:
        """Seconds of a cycle."""
        return 1.0 / self.rate

    @property
    def command_deadline(self) -> int:
        """Event timer of the command PDO (1400h:5), ms; 0 is off."""
        seconds = self.rpdo_deadline
        if seconds < 0:
            seconds = max(self.heartbeat_timeout, FEWEST_COMMANDS * self.period)
        return round(1e3 * seconds)

    @property
    def max_backlog(self) -> int:
        """
        Missed samples of a device before its silence is a fault.

        The cycles of `silence_timeout`, the last requested one and the one that checks.
        """
        return round(self.silence_timeout * self.rate) + 2
