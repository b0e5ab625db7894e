# SPDX-License-Identifier: Apache-2.0
"""
Scan of the bus by listening and SDO reads; nothing is written and nothing moves.

The device type of every node id is requested. Two responses to one request, or more heartbeats
than one device sends, reveal two devices with one node id.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import can
import canopen

from c3p_hardware.canopen.cia301 import (
    HEARTBEATS,
    PROFILE_DRIVE,
    PROFILE_ENCODER,
    NmtState,
    emergency_text,
)
from c3p_hardware.canopen.cia402 import SUPPORTED_CST, VOLTAGE_ENABLED, mode_name, state_of
from c3p_hardware.canopen.cia406 import EncoderObject, alarm_texts, warning_texts
from c3p_hardware.canopen.process_data import (
    MAX_NODE_ID,
    SYNC_ID,
    heartbeat_id,
    sdo_answer_id,
    sdo_request_id,
)
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_hardware.transport.can_bus import ConfigurationError, Objects, conversation
from c3p_hardware.transport.configure import differences, identify

# time of listening before the first request, and of waiting for responses, s
LISTEN = 0.5
RESPONSES = 0.3
# number of repeated requests to expected devices
REPEATS = 2
# time between two requests, so that adapters do not drop them, s
PACE = 0.5e-3
# received heartbeats per expected one that prove two devices, and their least number
DOUBLED = 1.5
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
        State in its heartbeat.
    kind : str
        Device type as text; empty for a device that sends heartbeats but does not respond.
    profile : int
        402, 406 or another.
    vendor, product, revision, serial : int
        1018h.
    values : dict
        Objects of its profile, SI units.
    answers : int
        Responses to one request; two prove two devices.
    notes : list of str
        Remarks for the user.
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
    Result of a scan.

    Attributes
    ----------
    nodes : list of FoundNode
    master : bool
        The hardware interface is running: its node id sends heartbeats.
    sync_rate : float, Hz
        SYNC frames of any master.
    frames : int
        Frames before the first request.
    problems : list of str
        Differences from the parameters, each with its remedy.
    """

    nodes: list[FoundNode]
    master: bool
    sync_rate: float
    frames: int
    problems: list[str]


def scan(bus: can.BusABC, settings: CardSettings, listen: float = LISTEN) -> Scan:
    """
    Listen for `listen` seconds, request every node id, and compare with the settings.

    `bus` is open and stays open; CanError if it cannot be written.
    """
    with conversation(bus) as network:
        # listen, then request: heartbeats and SYNC frames are counted before our own traffic
        received = _FrameCounter(network)
        time.sleep(listen)
        frames = received.frames
        syncs = received.syncs
        beats = Counter(received.beats)
        expected = [d.node_id for d in settings.devices]
        responses = _request_all(network, settings.master_id, expected)
        ids = sorted({*responses, *beats} - {settings.master_id})
        nodes = [_read(network, node_id, received.states.get(node_id), responses[node_id])
                 for node_id in ids]
    for node in nodes:
        _count_beats(node, beats[node.node_id], listen)
    found = Scan(nodes, settings.master_id in beats, syncs / listen, frames, [])
    found.problems.extend(problems(found, settings))
    return found


class _FrameCounter:
    """Counts received frames, in the thread of canopen."""

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
        if (state := HEARTBEATS.get(bytes(data))) is not None:
            self.states[node_id] = state
            self.beats[node_id] += 1


def _request_all(network: canopen.Network, master_id: int, expected: Sequence[int]
                 ) -> Counter[int]:
    """Return the responses of each node id to one request; repeat it for missing devices."""
    every = [i for i in range(1, MAX_NODE_ID + 1) if i != master_id]
    responses = _request(network, every)
    for _ in range(REPEATS):
        if missing := [i for i in expected if not responses[i]]:
            # a late response to the first request does not prove a second device
            responses |= Counter(set(_request(network, missing)))
    return responses


def _request(network: canopen.Network, ids: Sequence[int]) -> Counter[int]:
    """Request the device type of each node id once, and return the responses of each."""
    responses: Counter[int] = Counter()

    def on_response(identifier: int, data: bytearray, _: float) -> None:
        responses[identifier - sdo_answer_id(1) + 1] += 1

    for node_id in ids:
        network.subscribe(sdo_answer_id(node_id), on_response)
    for node_id in ids:
        network.send_message(sdo_request_id(node_id), READ_DEVICE_TYPE)
        time.sleep(PACE)
    time.sleep(RESPONSES)
    for node_id in ids:
        network.unsubscribe(sdo_answer_id(node_id), on_response)
    return responses


def _read(network: canopen.Network, node_id: int, state: NmtState | None, responses: int
          ) -> FoundNode:
    """Return the objects of a node."""
    node = FoundNode(node_id, state.name if state is not None else 'unknown: no heartbeat',
                     answers=responses)
    if not responses:
        node.notes.append('it sends heartbeats but does not respond to SDO')
        return node
    objects = Objects(network, node_id, f'node {node_id}')
    try:
        found = identify(objects)
        node.kind, node.profile, node.vendor, node.product, node.revision, node.serial = (
            found.kind, found.profile, found.vendor, found.product, found.revision, found.serial)
        node.values['heartbeat_period_s'] = 1e-3 * (objects.optional(0x1017, 0, 'H') or 0)
        node.values['error_register'] = objects.optional(0x1001, 0, 'B')
        if node.profile == PROFILE_DRIVE:
            _read_drive(objects, node)
        elif node.profile == PROFILE_ENCODER:
            _read_encoder(objects, node)
    except ConfigurationError as error:
        node.notes.append(f'{error}')
    return node


def _read_drive(objects: Objects, node: FoundNode) -> None:
    word = objects.optional(0x6041, 0, 'H')
    mode = objects.optional(0x6061, 0, 'b')
    rated = objects.optional(0x6076, 0, 'I')
    volts = objects.optional(0x6079, 0, 'I')
    counts = objects.optional(0x608F, 1, 'I')
    turns = objects.optional(0x608F, 2, 'I') or 1
    code = objects.optional(0x603F, 0, 'H')
    modes = objects.optional(0x6502, 0, 'I')
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
    if word is not None and not word & VOLTAGE_ENABLED:
        node.notes.append('no voltage at its power stage: motor supply off, or STO')


def _read_encoder(objects: Objects, node: FoundNode) -> None:
    read = objects.optional
    node.values |= {'counts_per_turn': read(EncoderObject.COUNTS_PER_TURN, 0, 'I'),
                    'total_range': read(EncoderObject.TOTAL_RANGE, 0, 'I'),
                    'position_counts': read(EncoderObject.POSITION, 0, 'I')}
    node.notes += alarm_texts(read(EncoderObject.ALARMS, 0, 'H') or 0)
    node.notes += warning_texts(read(EncoderObject.WARNINGS, 0, 'H') or 0)


def _count_beats(node: FoundNode, beats: int, listen: float) -> None:
    """Detect a node with the heartbeats of two."""
    period = node.values.get('heartbeat_period_s') or 0.0
    if period and beats >= FEWEST_BEATS and beats > DOUBLED * listen / period:
        node.answers = max(node.answers, 2)


def problems(found: Scan, settings: CardSettings) -> Iterator[str]:
    """Yield the differences from the settings, each with a remedy."""
    there = {node.node_id: node for node in found.nodes}
    if not there:
        yield ('no device responds: check power, cable, termination (60 Ω between CAN_H and '
               'CAN_L) and bit rate')
        return
    devices: Sequence[DriveSettings | EncoderSettings] = (*settings.drives, *settings.encoders)
    for device in devices:
        node = there.get(device.node_id)
        if node is None:
            yield f'{device.name}: missing; check its power, cable, node id and bit rate'
        elif node.kind:
            # the objects of the first channel alone were read
            first = not isinstance(device, DriveSettings) or device.channel == 1
            yield from differences(device, node, node.values if first else {})
    for node in found.nodes:
        if node.answers > 1:
            yield (f'node {node.node_id}: two devices have this node id; unplug one and give it '
                   'another')
        if node.node_id not in {d.node_id for d in devices}:
            yield (f'node {node.node_id}: {node.kind or "unknown"}, not in the parameters; '
                   'correct drives.node_ids or encoders.node_ids, or its node id')
