# SPDX-License-Identifier: Apache-2.0
"""What the motor cards and encoders of a robot are, and how long anything may take: numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from c3p_description.model import CasterRobot
from c3p_hardware.canopen.bus_load import bus_load
from c3p_hardware.canopen.cia406 import AbsoluteAngle
from c3p_hardware.canopen.process_data import MAX_NODE_ID
from c3p_hardware.canopen.units import RATED_PERMILLE, DriveUnits

# commands that must fit into the deadline of a drive: one of them may be late
FEWEST_COMMANDS = 3


class SettingsError(ValueError):
    """Settings that cannot be; the text names the field, its value and the remedy."""


@dataclass(frozen=True)
class DriveSettings:
    """
    One CiA 402 drive on a wheel.

    Attributes
    ----------
    node_id : int
    joint : str
        Name of the wheel joint, for messages.
    units : DriveUnits
        Between the card's numbers and the wheel.
    torque_limit : float, N·m
        What the wheel may get; written into the card as per-mille of its rated torque.
    serial : int
        1018h:4 that the card must have; 0 is not checked.
    temperature_index, temperature_subindex : int
        The manufacturer's object for the temperature in °C.
    rate_limit : float, rad/s
        What the motor can reach at the wheel; infinite where it is not known.
    """

    node_id: int
    joint: str
    units: DriveUnits
    torque_limit: float
    serial: int = 0
    temperature_index: int = 0x2030
    temperature_subindex: int = 0
    rate_limit: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if not self.torque_limit >= self.units.torque_resolution:
            raise SettingsError(
                f'{self.name}: torque_limit = {self.torque_limit} N·m: must be at least '
                f'{self.units.torque_resolution:.4g} N·m, one per-mille of the rated torque at '
                'the wheel; correct casters.torque_limit or drives.rated_torque')

    @property
    def most_permille(self) -> int:
        """What the card may be asked for, per-mille of its rated torque."""
        return self.units.max_permille(self.torque_limit)

    @property
    def name(self) -> str:
        """How messages call it."""
        return f'drive of {self.joint} (node {self.node_id})'


@dataclass(frozen=True)
class EncoderSettings:
    """
    One CiA 406 absolute encoder on a steering axis.

    Attributes
    ----------
    node_id : int
    joint : str
        Name of the steering joint, for messages.
    counts : int
        Per turn of the encoder's shaft, 6001h.
    span : int
        Positions after which it begins again, 6002h; 0 is `counts`, a single turn.
    direction : int
        +1 when the encoder counts up as θ_s grows, else -1.
    zero : int
        Counts at θ_s = 0. Kept here: the card's own preset (6003h) is never written.
    serial : int
        1018h:4 that it must have, for `zero` belongs to that very encoder; 0 is not checked.
    """

    node_id: int
    joint: str
    counts: int = 4096
    span: int = 0
    direction: int = 1
    zero: int = 0
    serial: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        try:
            AbsoluteAngle(self.counts, self.range, self.direction, self.zero)
        except ValueError as error:
            raise SettingsError(f'{self.name}: {error}') from None

    @property
    def name(self) -> str:
        """How messages call it."""
        return f'encoder of {self.joint} (node {self.node_id})'

    @property
    def range(self) -> int:
        """Positions after which it begins again."""
        return self.span or self.counts


@dataclass(frozen=True)
class CardSettings:
    """
    All devices of a robot and the times that hold for them.

    Attributes
    ----------
    drives, encoders : tuple
        In the order of the casters.
    master_id : int
        Node id of this computer, whose heartbeat the cards listen for.
    rate : float, Hz
        SYNC cycles per second.
    bitrate : int, bit/s
    heartbeat_period, heartbeat_timeout : float, s
        Of every heartbeat on the bus, ours and theirs.
    missed_cycles : int
        Cycles in a row that a device may leave unanswered; in the next one all wheels get zero
        torque, until it answers.
    silence_timeout : float, s
        Silence of a device that is a fault.
    arming_timeout : float, s
        All drives must hold their wheels after this time, or it is a fault.
    command_timeout : float, s
        Age at which a wheel command is no longer used.
    stop_damping : float, N·m·s/rad
        Braking torque per wheel rate when commands stop coming; 0 coasts.
    max_steering_rate : float, rad/s
        No caster turns faster: what moves further in a cycle is an encoder that jumped.
    rate_bandwidth : float, Hz
        Of the tracking loops that estimate rates from counts.
    quick_stop : bool
        Drives that are not armed, or not any more, brake (quick stop); else the robot coasts.
    overspeed_margin : float
        Wheel rate that is a fault after 0.05 s, in parts of a drive's `rate_limit`; 0 is off.
    torque_tolerance : float
        Deviation of the torque actual from the command, in parts of a drive's torque limit; 0 is
        off.
    torque_deviation_time : float, s
        How long a larger deviation must last to be a fault.
    rpdo_deadline : float, s
        How long a drive may get no command (1400h:5) before it stops by itself; negative takes
        the heartbeat timeout, 0 is off.
    max_wheel_rate : float, rad/s
        No wheel turns faster: what moves further in a cycle is a drive whose counts jumped.
    """

    drives: tuple[DriveSettings, ...]
    encoders: tuple[EncoderSettings, ...]
    master_id: int = 127
    rate: float = 200.0
    bitrate: int = 1_000_000
    heartbeat_period: float = 0.05
    heartbeat_timeout: float = 0.15
    missed_cycles: int = 1
    silence_timeout: float = 0.05
    arming_timeout: float = 2.0
    command_timeout: float = 0.2
    stop_damping: float = 0.1
    max_steering_rate: float = 60.0
    rate_bandwidth: float = 40.0
    quick_stop: bool = True
    overspeed_margin: float = 1.2
    torque_tolerance: float = 0.2
    torque_deviation_time: float = 0.05
    rpdo_deadline: float = -1.0
    max_wheel_rate: float = 300.0

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if not self.drives or len(self.drives) != len(self.encoders):
            raise SettingsError(f'{len(self.drives)} drives and {len(self.encoders)} encoders: '
                                'every caster has one of each')
        self._check_ids()
        for name in ('rate', 'bitrate', 'heartbeat_period', 'heartbeat_timeout', 'missed_cycles',
                     'silence_timeout', 'arming_timeout', 'command_timeout', 'max_steering_rate',
                     'rate_bandwidth', 'torque_deviation_time', 'max_wheel_rate'):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise SettingsError(f'{name} = {value}: must be a positive number; nothing that '
                                    'watches can be switched off')
        if not 0 <= self.stop_damping < math.inf:
            raise SettingsError(f'stop_damping = {self.stop_damping} N·m·s/rad: must be a number, '
                                '0 or more; 0 coasts')
        for name in ('overspeed_margin', 'torque_tolerance'):
            if not 0 <= getattr(self, name) < math.inf:
                raise SettingsError(f'{name} = {getattr(self, name)}: must be a number, 0 or '
                                    'more; 0 is off')
        if 0 < self.overspeed_margin < 1:
            raise SettingsError(f'overspeed_margin = {self.overspeed_margin}: must be at least 1, '
                                'or a wheel at its own limit is a fault; 0 is off')
        self._check_times()

    def _check_ids(self) -> None:
        ids = [d.node_id for d in (*self.drives, *self.encoders)] + [self.master_id]
        wrong = [i for i in ids if not 1 <= i <= MAX_NODE_ID]
        if wrong:
            raise SettingsError(f'node id {wrong}: must be 1 to {MAX_NODE_ID}')
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise SettingsError(f'node id {twice} is given to two devices (master_id is '
                                f'{self.master_id}): every node on the bus has its own')

    def _check_times(self) -> None:
        if self.heartbeat_timeout < 2 * self.heartbeat_period:
            raise SettingsError(
                f'heartbeat_timeout = {self.heartbeat_timeout} s: must be at least twice '
                f'heartbeat_period = {self.heartbeat_period} s, or one late frame stops the robot')
        if self.silence_timeout * self.rate <= self.missed_cycles:
            raise SettingsError(
                f'silence_timeout = {self.silence_timeout} s: must be longer than missed_cycles = '
                f'{self.missed_cycles} cycles of {1 / self.rate:.4f} s')
        if not self.rpdo_deadline < math.inf or 0 < self.rpdo_deadline < FEWEST_COMMANDS * (
                self.period):
            raise SettingsError(
                f'rpdo_deadline = {self.rpdo_deadline} s: must be at least {FEWEST_COMMANDS} '
                f'cycles of {self.period:.4f} s, or one late command stops the robot; 0 is off, '
                'negative takes heartbeat_timeout')
        load = bus_load(self.rate, self.bitrate, len(self.drives))
        if load >= 1:
            raise SettingsError(
                f'rate = {self.rate} Hz: loads a bus of {self.bitrate} bit/s to {load:.0%}; lower '
                'the rate, or take a faster bus (bus.bitrate)')

    @property
    def period(self) -> float:
        """Seconds of a cycle."""
        return 1.0 / self.rate

    @property
    def command_deadline(self) -> int:
        """Time without a command after which a drive stops by itself (1400h:5), ms; 0 is off."""
        seconds = self.rpdo_deadline
        if seconds < 0:
            seconds = max(self.heartbeat_timeout, FEWEST_COMMANDS * self.period)
        return round(1e3 * seconds)

    @property
    def patience(self) -> int:
        """
        Samples that a device may owe before its silence is a fault.

        The cycles of `silence_timeout`, the one that was asked last and the one that looks.
        """
        return round(self.silence_timeout * self.rate) + 2


def per_caster(name: str, values: Any, count: int) -> list[Any]:
    """
    Return one value per caster; a single one stands for all.

    Raises
    ------
    SettingsError
        Any other number of values.
    """
    values = list(values)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise SettingsError(f'{name} = {values}: must have one value for all or one for each of '
                            f'the {count} casters')
    return values


def card_settings(robot: CasterRobot, values: Any) -> CardSettings:
    """
    Return the settings that parameters of the hardware interface describe.

    Parameters
    ----------
    robot : CasterRobot
        Gives joint names and torque limits.
    values : SimpleNamespace
        Named as in ``hardware_interface_parameters.yaml``.

    Raises
    ------
    SettingsError
        Named with its value.
    """
    n = robot.count
    if not robot.driven.all():
        idle = [j for j, driven in zip(robot.wheel_joints, robot.driven, strict=True)
                if not driven]
        raise SettingsError(f'{idle} have no motor in the description of {robot.name}: the '
                            'motor-card interface drives every wheel; correct casters.driven')

    def column(group: str, name: str) -> list[Any]:
        return per_caster(f'{group}.{name}', getattr(getattr(values, group), name), n)

    limits = robot.torque_limit
    drives = []
    for k, (node_id, serial, direction, ratio, efficiency, rated, counts) in enumerate(zip(*(
            column('drives', name) for name in (
                'node_ids', 'serial_numbers', 'directions', 'gear_ratio', 'efficiency',
                'rated_torque', 'encoder_counts')), strict=True)):
        try:
            units = DriveUnits(rated, ratio, efficiency, counts, direction)
        except ValueError as error:
            raise SettingsError(f'drive of {robot.wheel_joints[k]} (node {node_id}): {error}'
                                ) from None
        limit = (float(limits[k]) if math.isfinite(limits[k])
                 else RATED_PERMILLE * units.torque_resolution)
        drives.append(DriveSettings(node_id, robot.wheel_joints[k], units, limit, serial,
                                    values.drives.temperature_index,
                                    values.drives.temperature_subindex,
                                    float(robot.wheel_rate_limit[k])))
    encoders = tuple(
        EncoderSettings(node_id, joint, counts, span, direction, zero, serial)
        for joint, (node_id, serial, counts, span, direction, zero) in zip(
            robot.steering_joints, zip(*(column('encoders', name) for name in (
                'node_ids', 'serial_numbers', 'counts', 'range', 'directions', 'zeros')),
                strict=True), strict=True))
    return CardSettings(
        tuple(drives), encoders, values.master_id, values.rate, values.bus.bitrate,
        values.heartbeat_period, values.heartbeat_timeout, values.missed_cycles,
        values.silence_timeout, values.arming_timeout, values.command_timeout,
        values.stop_damping, values.max_steering_rate, values.rate_bandwidth,
        values.fault_reaction == 'quick_stop', values.overspeed_margin, values.torque_tolerance,
        values.torque_deviation_time, values.rpdo_deadline, values.max_wheel_rate)
