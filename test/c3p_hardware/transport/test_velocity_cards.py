# SPDX-License-Identifier: Apache-2.0
"""Cards in the cyclic synchronous velocity mode: configured, armed, and driven by the laws."""

import struct
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from card_network import ROBOT, SETTINGS, CardNetwork, CardsBus

from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_hardware.canopen.cia402 import MODE_CSV
from c3p_hardware.emulator.motor_drive import DriveCard, MotorDrive
from c3p_hardware.orders import target
from c3p_hardware.settings import CardSettings
from c3p_hardware.supervisor import ArmState
from c3p_hardware.transport import can_bus, card_link
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_hardware.transport.configure import ConfigurationError, configure
from c3p_simulation.plants.plant import AnalyticPlant

# nothing takes longer unless it is broken, s
SOON = 20.0
GAIN = 0.2
VELOCITY = CardSettings(tuple(replace(d, mode=MODE_CSV, velocity_gain=GAIN)
                              for d in SETTINGS.drives), SETTINGS.encoders,
                        silence_timeout=0.8, heartbeat_timeout=2.0, command_timeout=2.0,
                        arming_timeout=10.0)


def test_mode_and_mapping_are_configured_and_read_back():
    network = CardNetwork()
    configure(network, VELOCITY)
    for node in (1, 2, 3):
        written = {(index, sub): data for n, index, sub, data in network.writes if n == node}
        assert written[0x6060, 0] == struct.pack('b', 9)
        assert written[0x1600, 2] == struct.pack('<I', 0x60FF0020)
    assert {d.drive.mode_display for d in network.cards.drives} == {9}


def test_a_drive_without_the_velocity_mode_is_rejected():
    network = CardNetwork()
    network.cards.drives[1].live[0x6502, 0] = lambda: 0x200
    with pytest.raises(ConfigurationError, match=r'no mode cyclic synchronous velocity \(9\)'):
        configure(network, VELOCITY)


def test_a_link_commands_velocities_and_ends_at_zero(monkeypatch, virtual_time):
    far = CardsBus(VELOCITY.period)
    monkeypatch.setattr(card_link, 'open_bus', lambda address: far)
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', 0.1)
    link = CardLink(BusAddress('virtual', 'test'), ROBOT, VELOCITY, lambda joints, stamp: None,
                    time.time_ns)
    link.connect()
    try:
        link.allow(True)
        link.command(np.zeros(3), 0)
        assert link.arm() == ArmState.ARMED.value
        drives = [d.drive for d in far.cards.drives]
        push = np.array([0.1, 0.2, -0.3])
        link.command(push, 0)
        wanted = [VELOCITY.drives[0].units.velocity(t / GAIN) for t in push]
        assert virtual_time.advance(SOON, lambda: [
            d.target_velocity for d in drives] == wanted), [d.target_velocity for d in drives]
        # wheels that do not turn get the torque that was commanded, after the current loop's lag
        assert virtual_time.advance(SOON, lambda: [
            VELOCITY.drives[0].units.torque(d.torque_actual) for d in drives] == pytest.approx(
                push, abs=0.002))
        link.quick_stop()
        assert virtual_time.advance(SOON, lambda: not any(d.target_velocity for d in drives))
    finally:
        link.close()
    assert not [t for t in threading.enumerate() if t.name in ('sync', 'sdo')]


class CardsPlant(AnalyticPlant):
    """A simulated robot whose wheels are driven by cards, at 1 kHz, in one of the modes."""

    def __init__(self, settings):
        super().__init__(ROBOT)
        self._settings, self._drives = settings.drives, []
        for axis in settings.drives:
            drive = MotorDrive(DriveCard(velocity_gain=GAIN))
            drive.mode, drive.max_torque = axis.mode, axis.max_permille
            for word in (0x06, 0x07, 0x0F):
                drive.command(word)
            drive.step(1e-4, 0.0, 0.0)
            self._drives.append(drive)

    def step(self, torque, dt):
        """Order once, as an interface does; the cards follow in five steps."""
        sample = self.sense()
        for axis, drive, tau, rate in zip(self._settings, self._drives, torque,
                                          sample.wheel_rate, strict=True):
            name = 'target_velocity' if axis.mode == MODE_CSV else 'target'
            setattr(drive, name, target(axis, float(tau), float(rate))[0])
        for _ in range(5):
            torques = [drive.step(0.2 * dt, float(angle), float(rate)) for drive, angle, rate in
                       zip(self._drives, sample.wheel_angle, sample.wheel_rate, strict=True)]
            sample = super().step(np.array(torques), 0.2 * dt)
        return sample


@pytest.mark.parametrize('law', ['paper', 'mpc'])
def test_the_laws_reach_their_goal_as_through_torques(law):
    goal, ends = (1.0, 0.5, 0.0), []
    for settings in (SETTINGS, VELOCITY):
        controller = make_controller(law, ROBOT, latency=0.0)
        log = run_loop(CardsPlant(settings), controller.law,
                       GoalSource(controller.position(), [goal]), duration=12.0, stop=Held())
        ends.append(log.ground_truth.pose[-1])
        # the zone of the papers
        assert np.hypot(*(ends[-1][:2] - goal[:2])) < 0.05
    assert ends[0] == pytest.approx(ends[1], abs=0.02)
