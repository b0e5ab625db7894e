# SPDX-License-Identifier: Apache-2.0
"""
Who is on the bus: listened to, then asked by SDO reads; nothing is written and nothing moves.

Every node id is asked for its device type. Two answers to one question, or more heartbeats than
one device sends, are two devices with one node id.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import can
import canopen

from c3p_hardware.canopen.cia301 import (
    PROFILE_DRIVE,
    PROFILE_ENCODER,
    DeviceType,
    NmtState,
    emergency_text,
    heartbeat_state,
)
from c3p_hardware.canopen.cia402 import SUPPORTED_CST, mode_name, state_of, voltage_enabled
from c3p_hardware.canopen.cia406 import EncoderObject, alarm_texts, warning_texts
from c3p_hardware.canopen.process_data import (
    MAX_NODE_ID,
    SYNC_ID,
    heartbeat_id,
    sdo_answer_id,
    sdo_request_id,
)
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_hardware.transport.can_bus import conversation, remote
from c3p_hardware.transport.configure import TORQUE_TOLERANCE, ConfigurationError, Objects

# how long is listened before anybody is asked, and for answers of those that are asked, s
LISTEN, ANSWERS = 0.5, 0.3
# how often devices that should be there are asked once more
REPEATS = 2
# between two questions: an adapter must not drop them, s
PACE = 0.5e-3
# heartbeats per expected one that only two devices can send
DOUBLED = 1.5
# fewer are too few to say so
FEWEST_BEATS = 4

READ_DEVICE_TYPE = bytes((0x40, 0x00, 0x10, 0x00, 0, 0, 0, 0))


@dataclass
class FoundNode:
    """
    One node on the bus.

    Attributes
    ----------
    node_id : int
    network_state : str
        As its heartbeat says.
    kind : str
        Its device type in words; empty for one that sends heartbeats and answers nothing.
    profile : int
        402, 406 or another.
    vendor, product, revision, serial : int
        1018h.
    values : dict
        What its profile tells, SI units.
    answers : int
        To one question; two mean two devices.
    notes : list of str
        What a person should know of it.
    """

    node_id: int
    network_state: str
    kind: str = ''
    profile: int = 0
    vendor: int = 0
    product: int = 0
    revision: int = 0
    serial: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    answers: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass
class Scan:
    """
    What was found.

    Attributes
    ----------
    nodes : list of FoundNode
    master : bool
        A master with our node id sends heartbeats: our own node is running.
    sync_rate : float, Hz
        SYNC frames heard, of whomever.
    frames : int
        Heard before anybody was asked.
    problems : list of str
        What is not as the parameters say, each with its remedy.
    """

    nodes: list[FoundNode]
    master: bool
    sync_rate: float
    frames: int
    problems: list[str]

    def figures(self) -> dict[str, Any]:
        """Return everything as plain numbers and text."""
        return asdict(self)


def scan(bus: can.BusABC, settings: CardSettings, listen: float = LISTEN) -> Scan:
    """
    Listen, ask every node id, and compare with the settings.

    Parameters
    ----------
    bus : can.BusABC
        Open; stays open.
    settings : CardSettings
        Who should be there.
    listen : float, s
        Before anybody is asked.

    Raises
    ------
    can.CanError
        The bus cannot be written.
    """
    with conversation(bus) as network:
        heard = _Ears(network)
        time.sleep(listen)
        frames, syncs = heard.frames, heard.syncs
        beats = Counter(heard.beats)
        expected = [d.node_id for d in (*settings.drives, *settings.encoders)]
        answers = _ask_all(network, settings.master_id, expected)
        ids = sorted({*answers, *beats} - {settings.master_id})
        nodes = [_look(network, node_id, heard.states.get(node_id), answers[node_id])
                 for node_id in ids]
    for node in nodes:
        _count_beats(node, beats[node.node_id], listen)
    found = Scan(nodes, settings.master_id in beats, syncs / listen, frames, [])
    found.problems.extend(problems(found, settings))
    return found


class _Ears:
    """Counts what is heard; canopen's thread calls."""

    def __init__(self, network: canopen.Network) -> None:
        self.frames = self.syncs = 0
        self.beats: Counter[int] = Counter()
        self.states: dict[int, NmtState] = {}
        network.subscribe(SYNC_ID, self._on_sync)
        for node_id in range(1, MAX_NODE_ID + 1):
            network.subscribe(heartbeat_id(node_id), self._on_beat)

    def _on_sync(self, *_: Any) -> None:
        self.frames += 1
        self.syncs += 1

    def _on_beat(self, identifier: int, data: bytearray, _: float) -> None:
        self.frames += 1
        node_id = identifier - heartbeat_id(1) + 1
        try:
            self.states[node_id] = heartbeat_state(data)
        except ValueError:
            return
        self.beats[node_id] += 1


def _ask_all(network: canopen.Network, master_id: int, expected: Sequence[int]) -> Counter[int]:
    """Return how often each node id answered one question; who should be there is asked again."""
    everybody = [i for i in range(1, MAX_NODE_ID + 1) if i != master_id]
    answers = _ask(network, everybody)
    for _ in range(REPEATS):
        if missing := [i for i in expected if not answers[i]]:
            # an answer to the first question may be among them, and is no second device
            answers |= Counter(set(_ask(network, missing)))
    return answers


def _ask(network: canopen.Network, ids: Sequence[int]) -> Counter[int]:
    """Ask each of the node ids once, and return how many answers came from each."""
    answers: Counter[int] = Counter()

    def on_answer(identifier: int, data: bytearray, _: float) -> None:
        answers[identifier - sdo_answer_id(1) + 1] += 1

    for node_id in ids:
        network.subscribe(sdo_answer_id(node_id), on_answer)
    for node_id in ids:
        network.send_message(sdo_request_id(node_id), READ_DEVICE_TYPE)
        time.sleep(PACE)
    time.sleep(ANSWERS)
    for node_id in ids:
        network.unsubscribe(sdo_answer_id(node_id), on_answer)
    return answers


def _look(network: canopen.Network, node_id: int, state: NmtState | None, answers: int
          ) -> FoundNode:
    """Return what a node tells of itself."""
    node = FoundNode(node_id, state.name if state is not None else 'unknown: no heartbeat',
                     answers=answers)
    if not answers:
        node.notes.append('it sends heartbeats and answers no SDO')
        return node
    objects = Objects(remote(network, node_id), f'node {node_id}')
    try:
        kind = DeviceType.decode(objects.read(0x1000, 0, 'I', 'device type'))
        node.kind, node.profile = f'{kind}', kind.profile
        node.vendor, node.product, node.revision, node.serial = (
            objects.optional(0x1018, sub, 'I') or 0 for sub in (1, 2, 3, 4))
        node.values['heartbeat_period_s'] = 1e-3 * (objects.optional(0x1017, 0, 'H') or 0)
        node.values['error_register'] = objects.optional(0x1001, 0, 'B')
        if kind.profile == PROFILE_DRIVE:
            _look_at_drive(objects, node)
        elif kind.profile == PROFILE_ENCODER:
            _look_at_encoder(objects, node)
    except ConfigurationError as error:
        node.notes.append(f'{error}')
    return node


def _look_at_drive(objects: Objects, node: FoundNode) -> None:
    word, mode = objects.optional(0x6041, 0, 'H'), objects.optional(0x6061, 0, 'b')
    rated, volts = objects.optional(0x6076, 0, 'I'), objects.optional(0x6079, 0, 'I')
    counts, turns = objects.optional(0x608F, 1, 'I'), objects.optional(0x608F, 2, 'I') or 1
    code, modes = objects.optional(0x603F, 0, 'H'), objects.optional(0x6502, 0, 'I')
    node.values |= {
        'state': None if word is None else state_of(word).name,
        'mode': None if mode is None else mode_name(mode),
        'rated_torque_nm': None if rated is None else 1e-3 * rated,
        'encoder_counts': None if counts is None else counts / turns,
        'link_voltage_v': None if volts is None else 1e-3 * volts}
    if code:
        node.notes.append(f'its last error is {emergency_text(code)}')
    if modes is not None and not modes & SUPPORTED_CST:
        node.notes.append('it has no cyclic synchronous torque mode (6502h)')
    if word is not None and not voltage_enabled(word):
        node.notes.append('no voltage at its power stage: motor supply off, or STO')


def _look_at_encoder(objects: Objects, node: FoundNode) -> None:
    read = objects.optional
    node.values |= {'counts_per_turn': read(EncoderObject.COUNTS_PER_TURN, 0, 'I'),
                    'total_range': read(EncoderObject.TOTAL_RANGE, 0, 'I'),
                    'position_counts': read(EncoderObject.POSITION, 0, 'I')}
    node.notes += alarm_texts(read(EncoderObject.ALARMS, 0, 'H') or 0)
    node.notes += warning_texts(read(EncoderObject.WARNINGS, 0, 'H') or 0)


def _count_beats(node: FoundNode, beats: int, listen: float) -> None:
    """Take note of a node that beats like two."""
    period = node.values.get('heartbeat_period_s') or 0.0
    if period and beats >= FEWEST_BEATS and beats > DOUBLED * listen / period:
        node.answers = max(node.answers, 2)


def problems(found: Scan, settings: CardSettings) -> Iterator[str]:
    """Yield what is not as the settings say, as sentences with a remedy."""
    there = {node.node_id: node for node in found.nodes}
    if not there:
        yield ('nobody answers: check power, cable, termination (60 Ω between CAN_H and CAN_L) '
               'and bit rate')
        return
    devices: Sequence[DriveSettings | EncoderSettings] = (*settings.drives, *settings.encoders)
    for device in devices:
        node = there.get(device.node_id)
        if node is None:
            yield f'{device.name}: missing; check its power, cable, node id and bit rate'
        elif node.kind:
            yield from _differences(device, node)
    for node in found.nodes:
        if node.answers > 1:
            yield (f'node {node.node_id}: two devices have this node id; unplug one and give it '
                   'another')
        if node.node_id not in {d.node_id for d in devices}:
            yield (f'node {node.node_id}: {node.kind or "unknown"}, of which the parameters know '
                   'nothing; correct drives.node_ids or encoders.node_ids, or its node id')


def _differences(device: DriveSettings | EncoderSettings, node: FoundNode) -> Iterator[str]:
    group = 'drives' if isinstance(device, DriveSettings) else 'encoders'
    profile = PROFILE_DRIVE if group == 'drives' else PROFILE_ENCODER
    if node.profile != profile:
        yield (f'{device.name}: it is {node.kind}; there must be a device of CiA {profile}: check '
               'the node ids')
        return
    if device.serial and node.serial != device.serial:
        yield (f'{device.name}: its serial number is {node.serial}, not {device.serial}: it has '
               f'been replaced; calibrate it, then correct {group}.serial_numbers')
    values = node.values
    if isinstance(device, DriveSettings):
        rated, counts = values.get('rated_torque_nm'), values.get('encoder_counts')
        if rated is not None and abs(rated - device.units.rated_torque) > (
                TORQUE_TOLERANCE * device.units.rated_torque):
            yield (f'{device.name}: its rated torque is {rated:.4f} N·m, drives.rated_torque says '
                   f'{device.units.rated_torque:.4f} N·m: correct whichever is wrong')
        if counts and counts != device.units.counts:
            yield (f'{device.name}: its encoder has {counts:g} counts a turn, '
                   f'drives.encoder_counts says {device.units.counts}')
        return
    for key, wanted, name in (('counts_per_turn', device.counts, 'counts'),
                              ('total_range', device.range, 'range')):
        if values.get(key) is not None and values[key] != wanted:
            yield (f'{device.name}: it has {key.replace("_", " ")} {values[key]}, '
                   f'encoders.{name} says {wanted}: correct whichever is wrong')
