# SPDX-License-Identifier: Apache-2.0
"""Emulated cards behind canopen's network, without threads and clocks: a question is answered."""

import functools
import queue
import struct
from collections import deque
from dataclasses import replace
from unittest.mock import patch

import can
import canopen

from c3p_description import load
from c3p_hardware.canopen.process_data import DriveUnits
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_simulation.plants.plant import AnalyticPlant

ROBOT = load('c3p')
UNITS = DriveUnits(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000, direction=1)
SETTINGS = CardSettings(
    tuple(DriveSettings(1 + i, joint, UNITS, 1.2) for i, joint in enumerate(ROBOT.wheel_joints)),
    tuple(EncoderSettings(11 + i, joint) for i, joint in enumerate(ROBOT.steering_joints)))

# s of the cards that pass after each frame; the time of a heartbeat after a command to start
AFTER_FRAME, AFTER_START = 1e-3, 0.06

# the files are the same each time; nodes keep what is written elsewhere
import_od = functools.cache(canopen.import_od)


def with_drive(number, **changes):
    """Return the settings with another drive `number` (0 is the first)."""
    drives = list(SETTINGS.drives)
    drives[number] = replace(drives[number], **changes)
    return replace(SETTINGS, drives=tuple(drives))


def with_encoder(number, **changes):
    """Return the settings with another encoder `number` (0 is the first)."""
    encoders = list(SETTINGS.encoders)
    encoders[number] = replace(encoders[number], **changes)
    return replace(SETTINGS, encoders=tuple(encoders))


class _Inbox:
    """The cards' end of the bus: what they send is heard at once."""

    def __init__(self, hear):
        self.waiting, self.send = deque(), lambda m: hear(m.arbitration_id, m.data, 0.0)

    def recv(self, timeout=None):
        return self.waiting.popleft() if self.waiting else None


class StandingPlant:
    """A robot that nobody can move."""

    robot = ROBOT

    def __init__(self):
        plant = AnalyticPlant(ROBOT)
        self._sample, self._truth = plant.sense(), plant.truth()

    def sense(self):
        return self._sample

    def truth(self):
        return self._truth

    def step(self, torque, dt):
        return self._sample


class CardNetwork(canopen.Network):
    """
    canopen's network, whose frames the emulated cards take and answer before `send` returns.

    Attributes
    ----------
    cards : EmulatedCards
    writes : list of (node id, index, subindex, bytes)
        Every SDO download.
    commands : list of (node id, command)
        Of network management.
    """

    def __init__(self):
        super().__init__()
        self._inbox = _Inbox(self.notify)
        self.writes, self.commands = [], []
        with patch.object(canopen, 'import_od', import_od):
            self.cards = EmulatedCards(self._inbox, StandingPlant())
        self.cards.advance(AFTER_FRAME)

    def send_message(self, can_id, data, remote=False):
        data = bytes(data)
        if can_id == 0:
            self.commands.append((data[1], data[0]))
        elif 0x600 < can_id < 0x680 and data[0] >> 5 == 1:  # client: initiate download
            index, subindex = struct.unpack_from('<HB', data, 1)
            size = 4 - (data[0] >> 2 & 3)
            assert data[0] & 2, 'all values that are written fit into one frame'
            self.writes.append((can_id - 0x600, index, subindex, data[4:4 + size]))
        self._inbox.waiting.append(_Frame(can_id, data))
        self.cards.advance(AFTER_START if can_id == 0 and data[0] == 1 else AFTER_FRAME)


class CardsBus:
    """
    A bus whose devices answer before `send` returns; stands for a can.BusABC.

    Attributes
    ----------
    cards : EmulatedCards
        Their time passes with SYNC frames, a period each.
    sent : list of can.Message
        What the master has sent since the list was cleared.
    down : str
        Why sending and receiving fail; empty while they do not.
    on_send : callable
        Gets each frame before it is sent; may raise.
    """

    def __init__(self, period=SETTINGS.period, plant=None, devices=None):
        # no SimpleQueue: its timeout, once it has passed between two looks, never ends (3.11)
        self._inbox, self._to_master = _Inbox(self._hear), queue.Queue()
        self.sent, self.down, self.closed, self.period = [], '', False, period
        self.on_send, self.on_receive = lambda message: None, lambda timeout: None
        # a dictionary gets the objects of further channels, which others must not share
        read = import_od if devices is None else canopen.import_od
        with patch.object(canopen, 'import_od', read):
            self.cards = EmulatedCards(self._inbox, plant or StandingPlant(), devices)
        self.cards.advance(AFTER_FRAME)

    def _hear(self, number, data, stamp):
        self._to_master.put(can.Message(arbitration_id=number, data=data, is_extended_id=False))

    def _check(self):
        if self.down:
            raise can.CanOperationError(self.down)

    def send(self, message, timeout=None):
        self._check()
        self.on_send(message)
        self.sent.append(message)
        self._inbox.waiting.append(message)
        number = message.arbitration_id
        started = number == 0 and message.data[0] == 1
        self.cards.advance(self.period if number == 0x80 else
                           AFTER_START if started else AFTER_FRAME / 4)

    def recv(self, timeout=None):
        self._check()
        self.on_receive(timeout)
        try:
            return self._to_master.get(block=bool(timeout), timeout=timeout)
        except queue.Empty:
            return None

    def shutdown(self):
        self.closed = True

    def numbers(self):
        """Return the identifiers that were sent."""
        return {m.arbitration_id for m in list(self.sent)}

    def orders(self):
        """Return the (identifier, controlword, torque) that were sent."""
        return [(m.arbitration_id, *struct.unpack('<Hh', m.data)) for m in list(self.sent)
                if 0x200 < m.arbitration_id < 0x280]


class _Frame:
    """As much of can.Message as the cards look at."""

    is_extended_id = is_remote_frame = is_error_frame = False

    def __init__(self, arbitration_id, data):
        self.arbitration_id, self.data = arbitration_id, data
