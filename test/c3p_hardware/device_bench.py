# SPDX-License-Identifier: Apache-2.0
"""Devices made of frames for tests: slaves by the table of CiA 402, no bus and no clock."""

import numpy as np
from drive_words import command_of, commanded
from robots import C3P

from c3p_hardware.canopen.cia301 import Emergency, NmtState
from c3p_hardware.canopen.cia402 import (
    MODE_CST,
    VOLTAGE_ENABLED,
    DriveState,
    state_bits,
)
from c3p_hardware.canopen.process_data import (
    DRIVE_SAMPLE,
    ENCODER_SAMPLE,
    DriveUnits,
    drive_health,
)
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings
from c3p_hardware.supervisor import ArmState, Supervisor

UNITS = DriveUnits(0.11, 14.0, 0.8, 2000)
LIMIT = 1.2
ZERO, PUSH = np.zeros(3), np.array([0.3, -0.2, 0.1])


def card_settings_of(count=3, **changes):
    """Return settings of `count` casters, wheel drives 1, 2, … and encoders 11, 12, …."""
    drives = tuple(DriveSettings(k + 1, f'wheel_joint_{k + 1}', UNITS, LIMIT)
                   for k in range(count))
    encoders = tuple(EncoderSettings(k + 11, f'steering_joint_{k + 1}') for k in range(count))
    return CardSettings(**{'drives': drives, 'encoders': encoders} | changes)


class Slave:
    """A drive or an encoder at its end of the bus: what it would answer."""

    def __init__(self, device):
        """Be configured and healthy, a drive without power."""
        self.device, self.drive = device, isinstance(device, Drive)
        self.state, self.word, self.nmt = DriveState.SWITCH_ON_DISABLED, 0, NmtState.OPERATIONAL
        self.sto, self.silent, self.heartless, self.twins = False, False, False, 1
        self.position = self.alarms = self.torque = 0

    def answer(self, now):
        """Send heartbeat and sample, as often as there are devices with this id."""
        if self.silent:
            return
        if not self.heartless:
            self.device.on_heartbeat(bytes([self.nmt]), now)
        for _ in range(self.twins):
            self.device.on_sample(self.sample(), now)

    def sample(self):
        """Return the bytes of a sample."""
        if not self.drive:
            return ENCODER_SAMPLE.pack(self.position, self.alarms, 0)
        power = 0 if self.sto else VOLTAGE_ENABLED
        return DRIVE_SAMPLE.pack(state_bits(self.state) | power, self.position, self.torque)

    def health(self, mode=MODE_CST, error=0):
        """Send the slow PDO."""
        self.device.on_health(drive_health().pack(mode, error, 24000, 31))

    def emergency(self, code):
        """Send an emergency message."""
        self.device.on_emergency(Emergency(code).pack())

    def obey(self, order):
        """Take an order."""
        if self.silent:
            return
        command = command_of(order.controlword, self.word)
        self.state, self.word = commanded(self.state, command), order.controlword
        self.torque = order.torque
        if self.sto and self.state != DriveState.FAULT:
            self.state = DriveState.SWITCH_ON_DISABLED

    def quick_stop_ended(self):
        """Come to rest after a quick stop, or the reaction to a fault."""
        if self.state == DriveState.QUICK_STOP_ACTIVE:
            self.state = DriveState.SWITCH_ON_DISABLED
        elif self.state == DriveState.FAULT_REACTION_ACTIVE:
            self.state = DriveState.FAULT


class CardBench:
    """Supervisor, its devices and their slaves; `cycle` is what the loop does in a period."""

    def __init__(self, settings=None, robot=C3P):
        """Configure everything at 100 s of a clock that only `cycle` moves."""
        self.settings = settings or card_settings_of()
        self.robot, self.now = robot, 100.0
        self.drives = [Drive.of(d) for d in self.settings.drives]
        self.encoders = [Encoder.of(e) for e in self.settings.encoders]
        self.devices = [*self.drives, *self.encoders]
        self.slaves = [Slave(d) for d in self.devices]
        self.max_backlog = self.settings.max_backlog
        self.supervisor = Supervisor(robot, self.settings, self.drives, self.encoders)
        self.gate = self.supervisor.gate
        self.supervisor.allowed = True
        self.wheel_rate = np.zeros(robot.count)
        self.configure()

    @property
    def state(self):
        return self.supervisor.state

    def slave(self, node_id):
        """Return the slave with this node id."""
        return next(s for s in self.slaves if s.device.node_id == node_id)

    def configure(self):
        """Configure all devices: they are as they begin."""
        for device in self.devices:
            device.begin(self.now)

    def command(self, torque):
        self.supervisor.command(torque, self.now)

    def cycle(self, torque=None, lost=()):
        """Let a cycle pass, with a command if one is given; `lost` node ids do not answer."""
        self.now += self.settings.period
        for device in self.devices:
            device.new_cycle(self.max_backlog, self.now)
        for slave in self.slaves:
            if slave.device.node_id not in lost:
                slave.answer(self.now)
        if torque is not None:
            self.command(torque)
        orders = self.supervisor.step(self.now, self.wheel_rate)
        assert len(orders) == len(self.drives)
        for slave, order in zip(self.slaves, orders, strict=False):
            slave.obey(order)
        return orders

    def come_to_rest(self):
        """Let quick stops end, and the rest be seen."""
        self.cycle()
        for slave in self.slaves:
            slave.quick_stop_ended()
        for _ in range(20):
            self.cycle()

    def arm(self):
        """Arm and return once all drives hold their wheels."""
        self.cycle(ZERO)
        self.supervisor.arm(self.now)
        for _ in range(20):
            self.cycle(ZERO)
            if self.state == ArmState.ARMED:
                return self
        raise AssertionError(f'{self.state}: {self.supervisor.faults}')


def torques(orders):
    """Return the torques of orders, permille."""
    return [order.torque for order in orders]
