# SPDX-License-Identifier: Apache-2.0
"""The cycle of the motor cards on a bus in memory, in a time of its own, with room for frames."""

import math
import random

import can
import numpy as np
from drive_words import command_of, commanded
from robots import C3P

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import (
    MODE_CST,
    VOLTAGE_ENABLED,
    DriveState,
    state_bits,
)
from c3p_hardware.canopen.process_data import (
    DRIVE_COMMAND,
    DRIVE_SAMPLE,
    ENCODER_SAMPLE,
    SYNC_ID,
    DriveUnits,
    drive_health,
)
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.joint_sensing import JointSensing
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_hardware.supervisor import Supervisor
from c3p_hardware.transport import card_bus, cycle_loop
from c3p_hardware.transport.card_link import REST_WITHIN

UNITS = DriveUnits(0.11, 14.0, 0.8, 2000)
SETTINGS = CardSettings(
    tuple(DriveSettings(k + 1, f'wheel_joint_{k + 1}', UNITS, 1.2, rate_limit=25.0)
          for k in range(3)),
    tuple(EncoderSettings(k + 11, f'steering_joint_{k + 1}') for k in range(3)))
DRIVES, ENCODERS, MASTER = (1, 2, 3), (11, 12, 13), 127

ZERO, PUSH = np.zeros(3), np.array([0.3, -0.2, 0.1])


def frame(number, data=b'', **kind):
    """Return a frame, with an identifier of 11 bits unless `kind` says otherwise."""
    return can.Message(arbitration_id=number, data=data, **{'is_extended_id': False, **kind})


class Clock:
    """A time that passes when somebody waits; stands for the module ``time``."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now

    thread_time = monotonic

    def sleep(self, seconds):
        self.now += max(0.0, seconds)


class MemoryBus:
    """A bus whose healthy devices answer SYNC, with the frames of an attack among the answers."""

    def __init__(self, clock):
        self._clock, self.coming, self.orders, self._beats = clock, [], [], 0
        self.attack = []
        self.states = dict.fromkeys(DRIVES, DriveState.SWITCH_ON_DISABLED)
        self.words, self.torques = dict.fromkeys(DRIVES, 0), dict.fromkeys(DRIVES, 0)

    def recv(self, timeout=None):
        if not self.coming:
            self._clock.now += timeout or 0.0
            return None
        message = self.coming.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    def send(self, message, timeout=None):
        number, data = message.arbitration_id, bytes(message.data)
        if number == SYNC_ID:
            self._answer()
        elif number - 0x200 in self.states:
            self._obey(number - 0x200, *DRIVE_COMMAND.unpack(data))
            self.orders.append(DRIVE_COMMAND.unpack(data)[1])

    def _answer(self):
        """Let each device answer a SYNC, with a heartbeat at every tenth."""
        self._beats += 1
        told = [frame(0x180 + n, ENCODER_SAMPLE.pack(100, 0, 0)) for n in ENCODERS]
        for n in DRIVES:
            word = state_bits(self.states[n]) | VOLTAGE_ENABLED
            told.append(frame(0x180 + n, DRIVE_SAMPLE.pack(word, 0, self.torques[n])))
            if self.states[n] == DriveState.QUICK_STOP_ACTIVE:
                # its wheel stands
                self.states[n] = DriveState.SWITCH_ON_DISABLED
            if self._beats % 20 == 0:
                told.append(frame(0x280 + n, drive_health().pack(MODE_CST, 0, 24000, 30)))
        if self._beats % 10 == 0:
            told += [frame(0x700 + n, bytes([NmtState.OPERATIONAL]))
                     for n in (*DRIVES, *ENCODERS)]
        attack, self.attack = self.attack, []
        for message in attack:
            told.insert(random.Random(len(told)).randrange(len(told) + 1), message)
            self._overhear(message)
        self.coming += told

    def _overhear(self, message):
        """Let a drive take an order of somebody else, as it would."""
        if isinstance(message, Exception) or message.is_extended_id or message.is_error_frame or (
                message.is_remote_frame):
            return
        if message.arbitration_id - 0x200 in self.states and len(message.data) == 4:
            self._obey(message.arbitration_id - 0x200, *DRIVE_COMMAND.unpack(message.data))

    def _obey(self, node, word, torque):
        command = command_of(word, self.words[node])
        self.states[node], self.words[node] = commanded(self.states[node], command), word
        enabled = self.states[node] == DriveState.OPERATION_ENABLED
        self.torques[node] = torque if enabled else 0


class CanRig:
    """
    The loop of the robot, cycle by cycle, whose joints are answered with `push`.

    Every cycle checks what always holds: numbers are finite and limited, and a robot that is not
    armed is given no torque.
    """

    def __init__(self, monkeypatch):
        self.clock = Clock()
        for module in (card_bus, cycle_loop):
            monkeypatch.setattr(module, 'time', self.clock)
        self.bus = MemoryBus(self.clock)
        self.drives = [Drive.of(d) for d in SETTINGS.drives]
        self.encoders = [Encoder.of(e) for e in SETTINGS.encoders]
        self.supervisor = Supervisor(C3P, SETTINGS, self.drives, self.encoders)
        self.supervisor.allowed = True
        self.cards = card_bus.CardBus(self.bus, SETTINGS, self.drives, self.encoders)
        self.loop = cycle_loop.CycleLoop(
            self.cards, JointSensing(C3P, SETTINGS, self.drives, self.encoders),
            self.supervisor, self._on_joints, lambda: int(1e9 * self.clock.now))
        self.push, self._deadline = ZERO, self.clock.now
        self.configure()

    def configure(self):
        """Do what configuring all devices again leaves behind."""
        self.bus.coming.clear()
        self.cards.begin(self.clock.now)
        self.loop.restart_sensing()

    @property
    def state(self):
        return self.supervisor.state.value

    def _on_joints(self, joints, stamp):
        assert all(np.isfinite(part).all() for part in joints)
        self.loop.command(self.push, stamp)

    def cycle(self, *attack):
        """Let one cycle pass with these frames in it; return the torques that were sent."""
        self.bus.attack += attack
        self.bus.orders.clear()
        self.clock.now = max(self.clock.now, self._deadline)
        self._deadline = self.clock.now + SETTINGS.period
        self.loop._cycle(self.clock.now, SETTINGS.period)
        most = SETTINGS.drives[0].max_permille
        assert all(isinstance(t, int) and math.isfinite(t) and abs(t) <= most
                   for t in self.bus.orders)
        if self.state != 'armed':
            assert not any(self.bus.orders)
        assert len(self.bus.orders) in (0, 3)
        return list(self.bus.orders)

    def cycles(self, count, push=ZERO):
        self.push = push
        for _ in range(count):
            self.cycle()

    def arm(self):
        """Arm with zeros, and let it take effect."""
        self.cycles(3)
        self.supervisor.arm(self.clock.now)
        self.cycles(10)
        assert self.state == 'armed', self.supervisor.faults

    def recover(self):
        """Recover as a link does, which first waits for rest."""
        for _ in range(round(REST_WITHIN * SETTINGS.rate)):
            if not self.supervisor.moving:
                break
            self.cycle()
        self.supervisor.check_rest()
        if self.supervisor.to_configure:
            self.configure()
        self.loop.restart_sensing()
        self.supervisor.recover()
