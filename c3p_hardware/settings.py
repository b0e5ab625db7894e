# SPDX-License-Identifier: Apache-2.0
"""Settings of a robot's motor cards and encoders: devices, units, timeouts and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from c3p_description.model import CasterRobot
from c3p_hardware.canopen.bus_load import bus_load
from c3p_hardware.canopen.process_data import MAX_NODE_ID, RATED_PERMILLE, DriveUnits

# commands within the deadline of a drive, so that one of them may be late
FEWEST_COMMANDS = 3


class SettingsError(ValueError):
    """Invalid settings; the text names the field, its value and the remedy."""


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
        Conversion between the numbers of the card and the wheel.
    torque_limit : float, N·m
        Limit at the wheel; written into the card as permille of its rated torque.
    serial : int
        Required serial number (1018h:4); 0 is not checked.
    temperature_index, temperature_subindex : int
        Manufacturer's object of the temperature in °C.
    rate_limit : float, rad/s
        Rate limit of the wheel by its motor; infinite when unknown.
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
        """Reject a limit below one permille."""
        if not self.torque_limit >= self.units.torque_resolution:
            raise SettingsError(
                f'{self.name}: torque_limit = {self.torque_limit} N·m: must be at least '
                f'{self.units.torque_resolution:.4g} N·m, one permille of the rated torque at '
                'the wheel; correct casters.torque_limit or drives.rated_torque')

    @cached_property
    def max_permille(self) -> int:
        """Torque limit, permille of the rated torque."""
        return self.units.max_permille(self.torque_limit)

    @property
    def name(self) -> str:
        """Name in messages."""
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
        Counts per turn of the shaft, 6001h.
    span : int
        Number of positions, 6002h: whole turns; 0 for a single turn.
    direction : int
        1 when the encoder counts up with growing θ_s, else -1.
    zero : int
        Counts at θ_s = 0; the preset of the card (6003h) is never written.
    serial : int
        Required serial number (1018h:4), as `zero` belongs to one encoder; 0 is not checked.
    """

    node_id: int
    joint: str
    counts: int = 4096
    span: int = 0
    direction: int = 1
    zero: int = 0
    serial: int = 0

    def __post_init__(self) -> None:
        """Reject counts without an angle."""
        if not 1 <= self.counts <= 1 << 32 or self.counts != int(self.counts):
            raise SettingsError(f'{self.name}: counts = {self.counts}: must be a whole number of '
                                'counts per turn, at least 1 (6001h)')
        if not self.counts <= self.range <= 1 << 32 or self.range % self.counts:
            raise SettingsError(f'{self.name}: range = {self.range}: must be a whole number of '
                                f'turns of {self.counts} counts, at most 2³² (6002h); otherwise '
                                'the angle is lost at the end of the range')
        if self.direction not in (1, -1):
            raise SettingsError(f'{self.name}: direction = {self.direction}: must be 1 or -1')
        if not math.isfinite(self.zero):
            raise SettingsError(f'{self.name}: zero = {self.zero}: must be a finite number')

    @property
    def name(self) -> str:
        """Name in messages."""
        return f'encoder of {self.joint} (node {self.node_id})'

    @cached_property
    def range(self) -> int:
        """Number of positions."""
        return self.span or self.counts


@dataclass(frozen=True)
class CardSettings:
    """
    Devices of a robot, with their timeouts and limits.

    All other fields are parameters of the hardware interface:
    ``hardware_interface_parameters.yaml`` has their units and effects.

    Attributes
    ----------
    drives, encoders : tuple
        In the order of the casters.
    quick_stop : bool
        Drives that are not armed brake (quick stop); otherwise they coast.
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
        """Reject values that cannot work, alone and together."""
        if not self.drives or len(self.drives) != len(self.encoders):
            raise SettingsError(f'{len(self.drives)} drives and {len(self.encoders)} encoders: '
                                'every caster has one of each')
        self._check_ids()
        for name in ('rate', 'bitrate', 'heartbeat_period', 'heartbeat_timeout', 'missed_cycles',
                     'silence_timeout', 'arming_timeout', 'command_timeout', 'max_steering_rate',
                     'rate_bandwidth', 'torque_deviation_time', 'max_wheel_rate'):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise SettingsError(f'{name} = {value}: must be a positive number; no '
                                    'monitoring can be switched off')
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
            raise SettingsError(f'node id {twice} is used twice (master_id is '
                                f'{self.master_id}): every node on the bus needs its own')

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
                'negative selects heartbeat_timeout')
        load = bus_load(self.rate, self.bitrate, len(self.drives))
        if load >= 1:
            raise SettingsError(
                f'rate = {self.rate} Hz: loads a bus of {self.bitrate} bit/s to {load:.0%}; lower '
                'the rate, or use a faster bus (bus.bitrate)')

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


def per_caster(name: str, values: Any, count: int) -> list[Any]:
    """
    Return one value per caster; a single one stands for all.

    SettingsError for any other number of values of the parameter `name`.
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
    Return the settings for `values` named as in ``hardware_interface_parameters.yaml``.

    Joint names and torque limits are those of the `robot`. SettingsError names parameter and
    value.
    """
    n = robot.count
    if not robot.driven.all():
        idle = [j for j, driven in zip(robot.wheel_joints, robot.driven, strict=True)
                if not driven]
        raise SettingsError(f'{idle} have no motor in the description of {robot.name}: the '
                            'motor-card interface drives every wheel; correct casters.driven')

    # one value of a parameter per caster
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
        # without a limit in the description: the rated torque
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
    # the other fields have the names of their parameters
    same = {f.name: getattr(values, f.name) for f in fields(CardSettings)
            if f.name not in ('drives', 'encoders', 'bitrate', 'quick_stop')}
    return CardSettings(tuple(drives), encoders, bitrate=values.bus.bitrate,
                        quick_stop=values.fault_reaction == 'quick_stop', **same)
