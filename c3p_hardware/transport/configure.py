# SPDX-License-Identifier: Apache-2.0
"""
Configuration of the devices for the cycle; every value is written and read back.

A drive that keeps its last torque without its master defeats every watchdog above it. Its reaction
is therefore configured, read back, and a condition of arming. The preset of an encoder (6003h) is
never written: its zero is a parameter.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import canopen

from c3p_hardware.canopen.brake_output import SET_BRAKE
from c3p_hardware.canopen.cia301 import (
    PROFILE_DRIVE,
    PROFILE_ENCODER,
    DeviceType,
    ErrorBehaviour,
    NmtCommand,
    NmtState,
    heartbeat_consumer,
    nmt_message,
)
from c3p_hardware.canopen.cia402 import (
    MODE_CSV,
    AbortOption,
    FaultReactionOption,
    QuickStopOption,
    mode_name,
    supported_modes,
)
from c3p_hardware.canopen.cia406 import EncoderObject
from c3p_hardware.canopen.process_data import (
    DRIVE_SAMPLE,
    ENCODER_SAMPLE,
    EVERY_SYNC,
    NMT_ID,
    ON_EVENT,
    PDO_DISABLED,
    PdoLayout,
    command_id,
    drive_health,
    health_id,
    heartbeat_id,
    of_channel,
    pdo_object,
    profile_object,
    rpdo,
    sample_id,
    tpdo,
)
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_hardware.transport.can_bus import MANUAL, ConfigurationError, Objects

# event timer of the slow PDO of a drive, which is also sent at every change, ms
HEALTH_PERIOD = 100

# relative difference of the rated torques of card and parameters: rounding
TORQUE_TOLERANCE = 0.01

# timeout of the devices to become OPERATIONAL, s
START_WITHIN = 1.0

# timeout of a drive to display the commanded mode, s
MODE_WITHIN = 0.2


@dataclass(frozen=True)
class Identity:
    """
    Identity of a device, from 1000h and 1018h.

    Attributes
    ----------
    name : str
        Name in messages.
    kind : str
        Device type as text.
    profile : int
        402, 406 or another.
    vendor, product, revision, serial : int
    lacks : str
        Missing functions as text; empty without any.
    ramp : int
        Deceleration of the quick stop of a drive, 6085h [counts/s²]; 0 when unknown.
    """

    name: str
    kind: str
    profile: int
    vendor: int
    product: int
    revision: int
    serial: int
    lacks: str = ''
    ramp: int = 0


def configure(network: canopen.Network, settings: CardSettings) -> list[Identity]:
    """
    Configure every device of a robot; they end PRE-OPERATIONAL, ready for `start`.

    Returns the identities, drives first. ConfigurationError names device, object, value and remedy
    of the first mismatch. `network` is that of `can_bus.conversation`.
    """
    found = []
    begun = set()
    for drive in settings.drives:
        objects = (Objects if drive.node_id in begun else _begin)(network, drive.node_id,
                                                                  drive.name)
        identity = identify(objects)
        check(drive, identity)
        lacks = _configure_drive(objects, drive, identity, settings, drive.node_id not in begun)
        ramp = objects.optional(_of(drive, 0x6085), 0, 'I') or 0
        begun.add(drive.node_id)
        found.append(replace(identity, lacks=lacks, ramp=ramp))
    for encoder in settings.encoders:
        objects = _begin(network, encoder.node_id, encoder.name)
        found.append(identify(objects))
        check_encoder(objects, encoder, found[-1])
        _configure_encoder(objects, encoder, settings)
    return found


def start(network: canopen.Network, settings: CardSettings) -> None:
    """
    Start the exchange of process data; wait until every device is OPERATIONAL.

    ConfigurationError names the devices that are not OPERATIONAL in time.
    """
    devices = {d.node_id: d for d in settings.devices}
    waiting = {heartbeat_id(node_id): device for node_id, device in devices.items()}
    done = threading.Event()

    def on_heartbeat(identifier: int, data: bytes | bytearray, _: float) -> None:
        if data and data[0] & 0x7F == NmtState.OPERATIONAL:
            waiting.pop(identifier, None)
            if not waiting:
                done.set()

    for identifier in list(waiting):
        network.subscribe(identifier, on_heartbeat)
    for node_id in devices:
        network.send_message(NMT_ID, nmt_message(NmtCommand.START, node_id))
    if not done.wait(START_WITHIN + 2 * settings.heartbeat_period):
        names = ', '.join(d.name for d in waiting.values())
        raise ConfigurationError(f'{names}: no heartbeat with state OPERATIONAL; check that '
                                 'only one master starts and stops the network')


def identify(objects: Objects) -> Identity:
    """Return the identity of a device; ConfigurationError without a response."""
    kind = DeviceType.decode(objects.read(0x1000, 0, 'I', 'device type'))
    vendor, product, revision, serial = (objects.optional(0x1018, sub, 'I') or 0
                                         for sub in (1, 2, 3, 4))
    return Identity(objects.name, f'{kind}', kind.profile, vendor, product, revision, serial)


def differences(device: DriveSettings | EncoderSettings, found: Any, values: Mapping[str, Any]
                ) -> Iterator[str]:
    """
    Yield the differences of a device from its settings, each with its remedy.

    Parameters
    ----------
    device : DriveSettings or EncoderSettings
    found : Identity or FoundNode
    values : mapping
        ``rated_torque_nm`` and ``encoder_counts`` of a drive, ``counts_per_turn`` and
        ``total_range`` of an encoder; a missing one, or None, is not compared.
    """
    drive = isinstance(device, DriveSettings)
    group, profile = ('drives', PROFILE_DRIVE) if drive else ('encoders', PROFILE_ENCODER)
    if found.profile != profile:
        yield (f'{device.name}: it is {found.kind} (1000h:0), not a device of CiA {profile}: '
               'check the node ids')
        return
    if device.serial and found.serial != device.serial:
        yield (f'{device.name}: its serial number (1018h:4) is {found.serial}, not '
               f'{device.serial}: it has been replaced; calibrate it (c3p can zero), then correct '
               f'{group}.serial_numbers')
    if isinstance(device, DriveSettings):
        rated = values.get('rated_torque_nm')
        counts = values.get('encoder_counts')
        wanted = device.units.rated_torque
        if device.driven and rated is not None and abs(rated - wanted) > TORQUE_TOLERANCE * wanted:
            yield (f'{device.name}: its rated torque (6076h) is {rated:.4f} N·m, '
                   f'drives.rated_torque is {wanted:.4f} N·m: correct the wrong one, torques are '
                   'scaled by it')
        if counts and counts != device.units.counts:
            yield (f'{device.name}: its encoder has {counts:g} counts a turn (608Fh), '
                   f'drives.encoder_counts is {device.units.counts}')
        return
    for key, index, wanted, name in (
            ('counts_per_turn', EncoderObject.COUNTS_PER_TURN, device.counts, 'counts'),
            ('total_range', EncoderObject.TOTAL_RANGE, device.range, 'range')):
        if values.get(key) is not None and values[key] != wanted:
            yield (f'{device.name}: it has {values[key]} in {index:04X}h, encoders.{name} is '
                   f'{wanted}: correct the wrong one')


def check(device: DriveSettings | EncoderSettings, found: Identity,
          values: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigurationError with the first of the `differences`."""
    for difference in differences(device, found, values or {}):
        raise ConfigurationError(difference)


def check_encoder(card: Objects, encoder: EncoderSettings, found: Identity) -> None:
    """Raise ConfigurationError for another device, or other counts, than in the parameters."""
    check(encoder, found)
    check(encoder, found, {
        'counts_per_turn': card.read(EncoderObject.COUNTS_PER_TURN, 0, 'I', 'counts'),
        'total_range': card.read(EncoderObject.TOTAL_RANGE, 0, 'I', 'range')})


def _begin(network: canopen.Network, node_id: int, name: str) -> Objects:
    network.send_message(NMT_ID, nmt_message(NmtCommand.ENTER_PRE_OPERATIONAL, node_id))
    return Objects(network, node_id, name)


def _configure_card(card: Objects, settings: CardSettings) -> None:
    """Set what all channels of a card have in common: the heartbeats."""
    consumer = heartbeat_consumer(settings.master_id, round(1e3 * settings.heartbeat_timeout))
    card.settle(0x1016, 1, 'I', consumer, 'consumer heartbeat time')
    card.settle(0x1017, 0, 'H', round(1e3 * settings.heartbeat_period), 'producer heartbeat time')
    card.settle(0x1029, 1, 'B', ErrorBehaviour.PRE_OPERATIONAL, 'error behaviour')


def _configure_drive(card: Objects, drive: DriveSettings, identity: Identity,
                     settings: CardSettings, first: bool) -> str:
    """Configure an axis of a drive, the `first` of its card; return what it lacks as text."""
    # the card must be the one of the parameters: mode, rated torque, encoder
    supported = card.read(_of(drive, 0x6502), 0, 'I', 'supported drive modes')
    if drive.driven and not supported >> drive.mode - 1 & 1:
        raise ConfigurationError(
            f'{card.name}: it has no mode {mode_name(drive.mode)} ({_of(drive, 0x6502):04X}h:0 '
            f'= {supported:X}h), only {", ".join(supported_modes(supported)) or "none"}; use a '
            'drive, or a firmware, that has it')
    increments = card.optional(_of(drive, 0x608F), 1, 'I')
    turns = card.optional(_of(drive, 0x608F), 2, 'I') or 1
    check(drive, identity, {
        'rated_torque_nm': (1e-3 * card.read(_of(drive, 0x6076), 0, 'I', 'motor rated torque')
                            if drive.driven else None),
        'encoder_counts': increments and increments / turns})
    # reactions and limits first, the mode last: nothing may move in between
    if first:
        _configure_card(card, settings)
    _configure_reactions(card, drive, settings)
    most = drive.max_permille
    card.settle(_of(drive, 0x6072), 0, 'H', most, 'max torque')
    if card.optional(_of(drive, 0x6073), 0, 'H') is not None:
        card.settle(_of(drive, 0x6073), 0, 'H', most, 'max current')
    velocity = drive.driven and drive.mode == MODE_CSV
    if velocity:
        card.settle(_of(drive, 0x60FF), 0, 'i', 0, 'target velocity')
    else:
        card.settle(_of(drive, 0x6071), 0, 'h', 0, 'target torque')
    if drive.brake:
        # closed, and then under the control of the commands
        card.settle(_of(drive, 0x60FE), 1, 'I', SET_BRAKE, 'digital outputs (holding brake)')
        card.settle(_of(drive, 0x60FE), 2, 'I', SET_BRAKE, 'mask of the digital outputs')
    if drive.driven:
        card.settle(_of(drive, 0x6060), 0, 'b', drive.mode, 'mode of operation')
        _check_mode(card, _of(drive, 0x6061), drive.mode)
    return _configure_frames(card, drive, settings)


def _of(drive: DriveSettings, index: int) -> int:
    """Return the index of an object of the profile for the channel of a drive."""
    return profile_object(index, drive.channel)


def _configure_frames(card: Objects, drive: DriveSettings, settings: CardSettings) -> str:
    """Map the process data of the cycle, the slow PDO, and nothing else."""
    node = drive.node_id
    channel = drive.channel
    first = pdo_object(0, channel)
    health = of_channel(drive_health(drive.temperature_index, drive.temperature_subindex), channel)
    # the identifiers of the second channel are those of PDOs 2 to 4 of the first
    shared = sum(d.node_id == node for d in settings.drives) > 1
    if channel > 1 or shared:
        _silence_unused(card, drive, settings)
    _map(card, 0x1800 + first, 0x1A00 + first, sample_id(node, channel),
         of_channel(DRIVE_SAMPLE, channel), EVERY_SYNC)
    _map(card, 0x1801 + first, 0x1A01 + first, health_id(node, channel), health, ON_EVENT,
         HEALTH_PERIOD)
    deadline = settings.command_deadline
    lacks = ''
    if not drive.driven:
        _silence(card, 0x1400 + first, command_id(node, channel))
    else:
        if deadline and card.optional(0x1400 + first, 5, 'H') is None:
            deadline, lacks = 0, (
                'it cannot stop on its own when only its commands are lost (no object '
                f'{0x1400 + first:04X}h:5); see rpdo_deadline')
        _map(card, 0x1400 + first, 0x1600 + first, command_id(node, channel),
             of_channel(drive.command, channel), ON_EVENT, deadline)
    if channel == 1 and not shared:
        _silence_unused(card, drive, settings)
    return lacks


def _silence_unused(card: Objects, drive: DriveSettings, settings: CardSettings) -> None:
    """Disable the PDOs of the first channel that no axis of this card uses."""
    first = any(d.node_id == drive.node_id and d.channel == 1 for d in settings.drives)
    for number in (3, 4) if first else (1, 2, 3, 4):
        _silence(card, 0x1800 + number - 1, tpdo(number, drive.node_id))
    for number in (2, 3, 4) if first else (1, 2, 3, 4):
        _silence(card, 0x1400 + number - 1, rpdo(number, drive.node_id))


def _check_mode(card: Objects, index: int, wanted: int) -> None:
    """Wait until the drive displays the commanded mode, which changes in a cycle of its own."""
    end = time.monotonic() + MODE_WITHIN
    while (mode := card.read(index, 0, 'b', 'mode of operation display')) != wanted:
        if time.monotonic() > end:
            raise ConfigurationError(f'{card.name}: its mode ({index:04X}h:0) is '
                                     f'{mode_name(mode)} after {mode_name(wanted)} was '
                                     f'commanded; {MANUAL}')


def _configure_reactions(card: Objects, drive: DriveSettings, settings: CardSettings) -> None:
    """Set the reactions of an axis to the loss of this computer, and to a fault."""
    abort = AbortOption.QUICK_STOP if settings.quick_stop else AbortOption.DISABLE_VOLTAGE
    card.settle(_of(drive, 0x6007), 0, 'h', abort, 'abort connection option')
    card.settle(_of(drive, 0x605A), 0, 'h', QuickStopOption.QUICK_STOP_RAMP, 'quick stop option')
    card.settle(_of(drive, 0x605E), 0, 'h', FaultReactionOption.COAST, 'fault reaction option')


def _configure_encoder(card: Objects, encoder: EncoderSettings, settings: CardSettings) -> None:
    card.settle(0x1017, 0, 'H', round(1e3 * settings.heartbeat_period), 'producer heartbeat time')
    _map(card, 0x1800, 0x1A00, sample_id(encoder.node_id), ENCODER_SAMPLE, EVERY_SYNC)
    for number in (2, 3, 4):
        _silence(card, 0x1800 + number - 1, tpdo(number, encoder.node_id))


def _map(card: Objects, communication: int, mapping: int, identifier: int, layout: PdoLayout,
         kind: int, event_timer: int = 0) -> None:
    """Map a PDO in the order of CiA 301: off, empty, entries, count, type, on."""
    what = f'mapping of {layout.name}'
    card.write(communication, 1, 'I', identifier | PDO_DISABLED, what)
    card.write(mapping, 0, 'B', 0, what)
    for subindex, entry in enumerate(layout.mappings, 1):
        card.settle(mapping, subindex, 'I', entry, what)
    card.settle(mapping, 0, 'B', len(layout.mappings), what)
    card.settle(communication, 2, 'B', kind, f'transmission type of {layout.name}')
    if event_timer:
        card.settle(communication, 5, 'H', event_timer, f'event timer of {layout.name}')
    card.settle(communication, 1, 'I', identifier, f'identifier of {layout.name}')


def _silence(card: Objects, communication: int, identifier: int) -> None:
    """Disable an unused PDO, if the device has it."""
    if card.optional(communication, 1, 'I') is not None:
        card.write(communication, 1, 'I', identifier | PDO_DISABLED, 'unused PDO')
