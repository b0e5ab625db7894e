# SPDX-License-Identifier: Apache-2.0
"""Robots of any casters on emulated cards: what moves, what is read, what is derived."""

import time
from dataclasses import replace

import numpy as np
import pytest
from card_network import CardsBus

from c3p_description.model import CasterRobot
from c3p_hardware.axes import card_settings
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.emulator.axes import DRIVE_VALUES, ENCODER_VALUES, EmulatedDevices
from c3p_hardware.emulator.parameters import cards_like
from c3p_hardware.settings import CardError
from c3p_hardware.supervisor import ArmState
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport import can_bus, card_link
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_simulation.plants.plant import AnalyticPlant

SOON = 20.0
PATIENT = {'silence_timeout': 0.8, 'heartbeat_timeout': 2.0, 'command_timeout': 2.0,
           'arming_timeout': 10.0}


def robot_of(count, driven):
    """Return a robot with `count` casters on a circle, of which some are driven."""
    return CasterRobot.regular(
        0.3, 2 * np.pi * (np.arange(count) + 0.5) / count, 0.05, 0.05, 15.0, 1.0, link_mass=0.5,
        link_com=0.02, link_inertia=1e-3, wheel_mass=0.3, wheel_spin_inertia=3e-4,
        wheel_yaw_inertia=2e-4, driven=driven, torque_limit=1.0)


FOUR, TWO = robot_of(4, [True, False, True, False]), robot_of(2, True)
# both motors, a wheel alone, a steering axis alone, none
MIXED = replace(robot_of(4, [True, True, False, False]), steered=[True, False, True, False],
                steering_torque_limit=0.8, steering_rate_limit=50.0)
STEERING = [f'steering_joint_{k}' for k in (1, 2, 3, 4)]
# parameters of the interface, driven nodes, identifiers of the commands
CASES = {
    # an undriven wheel has a drive that is never commanded
    'gears': (FOUR, {'drives.gear_ratio': [14.0, 5.0, 20.0, 7.5],
                     'drives.rated_torque': [0.11, 0.2, 0.05, 0.11],
                     'drives.encoder_counts': [2000, 4096, 1000, 2000],
                     'drives.directions': [1, -1, -1, 1]}, {0x201, 0x203}),
    # an undriven wheel has an encoder alone, geared and with another sense
    'encoders': (FOUR, {'drives.joints': ['wheel_joint_3', 'wheel_joint_1'],
                        'drives.gear_ratio': [10.0, 14.0],
                        'encoders.joints': [*STEERING, 'wheel_joint_2', 'wheel_joint_4'],
                        'encoders.counts': [4096, 4096, 8192, 4096, 1024, 1024],
                        'encoders.gear_ratio': [1.0, 1.0, 1.0, 1.0, 4.0, 2.5],
                        'encoders.directions': [1, 1, -1, 1, -1, 1],
                        'encoders.zeros': [100, 0, 4000, 7, 3, 0]}, {0x201, 0x202}),
    # both motors on one card, the encoders of the others on a second
    'channels': (FOUR, {'drives.joints': ['wheel_joint_1', 'wheel_joint_3', 'wheel_joint_2',
                                          'wheel_joint_4'],
                        'drives.node_ids': [5, 5, 6, 6], 'drives.channels': [1, 2, 1, 2],
                        'drives.gear_ratio': [14.0, 20.0, 14.0, 3.0]}, {0x205, 0x305}),
    # no sensor on the undriven casters
    'derived': (FOUR, {'drives.joints': ['wheel_joint_1', 'wheel_joint_3'],
                       'encoders.joints': ['steering_joint_1', 'steering_joint_3']},
                {0x201, 0x202}),
    # the angle of an undriven caster, whose wheel is not counted
    'uncounted': (FOUR, {'drives.joints': ['wheel_joint_1', 'wheel_joint_3']}, {0x201, 0x202}),
    # drives of wheels 1 to 4, then of the steering axes with motors
    'steered': (MIXED, {}, {0x201, 0x202, 0x205, 0x206}),
    # wheel and steering of a caster on two channels of one card, steering with its own gear
    'modules': (MIXED, {'drives.joints': ['wheel_joint_1', 'steering_joint_1', 'wheel_joint_2',
                                          'steering_joint_3', 'wheel_joint_3', 'wheel_joint_4'],
                        'drives.node_ids': [1, 1, 2, 3, 4, 5],
                        'drives.channels': [1, 2, 1, 1, 1, 1],
                        'drives.gear_ratio': [14.0, 30.0, 14.0, 30.0, 14.0, 14.0],
                        'drives.directions': [1, -1, 1, 1, 1, 1]},
                {0x201, 0x301, 0x202, 0x203}),
    'two': (TWO, {'drives.gear_ratio': [14.0, 28.0]}, {0x201, 0x202}),
}


class Link(CardLink):
    """A link to the emulated cards that it expects, with all joints that it has published."""

    def __init__(self, virtual_time, robot, parameters):
        values = hardware_values(**PATIENT, **parameters)
        settings = card_settings(robot, values)
        cards = cards_like(values)
        numbered = ('drive_ids', 'encoder_ids', 'drive_serials', 'encoder_serials')
        devices = EmulatedDevices(**{
            name: () if name in numbered and value == [0] else tuple(v for v in value if v != '')
            for name, value in cards.items()})
        plant = AnalyticPlant(robot)
        if robot is TWO:
            # both rolling lines are one line at zero: that robot would only go straight on
            plant.reset(steering=(0.5, -0.3))
        self.far = CardsBus(settings.period, plant, devices)
        self.joints, self.advance, self.robot = [], virtual_time.advance, robot
        self.push = np.zeros(robot.efforts)
        super().__init__(BusAddress('virtual', 'test'), robot, settings, self._take, time.time_ns)

    def _take(self, joints, stamp):
        self.joints.append((joints, self.far.cards.sample))
        self.command(self.push, stamp)

    def drive(self, push, seconds):
        """Command a torque for a time."""
        self.push = np.asarray(push, float)
        count = len(self.joints) + round(seconds / self.settings.period)
        assert self.advance(SOON, lambda: len(self.joints) >= count), self.faults


@pytest.fixture(params=CASES)
def link(request, monkeypatch, virtual_time):
    robot, parameters, _ = CASES[request.param]
    link = Link(virtual_time, robot, parameters)
    link.case = request.param
    monkeypatch.setattr(card_link, 'open_bus', lambda address: link.far)
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', 0.1)
    yield link
    link.close()


def test_a_robot_of_any_axes_drives_and_publishes_its_true_joints(link):
    link.connect()
    link.allow(True)
    robot = link.robot
    link.drive(np.zeros(robot.efforts), 0.02)
    assert link.arm() == 'armed'
    link.far.sent.clear()
    push = np.where(robot.actuated, np.linspace(0.25, 0.3, robot.efforts), 0.0)
    # steering torques turn a caster on the spot within the time
    push[robot.count:] *= 0.1
    link.drive(push, 0.6)
    assert link.state == ArmState.ARMED, link.faults
    # commands reach the driven axes alone
    commands = {number for number in link.far.numbers() if 0x200 < number < 0x400}
    assert commands == CASES[link.case][2]
    # torque at the joints: one permille is 0.1 to 2.5 mN·m here
    joints, truth = link.joints[-1]
    np.testing.assert_allclose(joints.wheel_torque, push, atol=4e-3)
    # angles: within counts and the motion of the cycle in which the devices sampled
    assert np.abs(truth.wheel_angle).max() > 1.0 and np.abs(truth.steering).max() > 0.02
    cycle = link.settings.period
    np.testing.assert_allclose(joints.steering, truth.steering,
                               atol=8e-3 + 1.1 * cycle * np.abs(truth.steering_rate).max())
    np.testing.assert_allclose(joints.wheel_angle, truth.wheel_angle,
                               atol=8e-3 + 1.1 * cycle * np.abs(truth.wheel_rate).max())
    enabled = {drive.joint for drive in link.drives
               if drive.state == DriveState.OPERATION_ENABLED}
    assert enabled == {joint for joint, driven in zip(
        robot.effort_joints, robot.actuated, strict=True) if driven}


def test_a_read_only_axis_that_another_master_enables_stops_the_robot(monkeypatch, virtual_time):
    link = Link(virtual_time, FOUR, {})
    monkeypatch.setattr(card_link, 'open_bus', lambda address: link.far)
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', 0.1)
    try:
        link.connect()
        link.allow(True)
        link.drive(np.zeros(4), 0.02)
        link.arm()
        # an error without meaning for counts, of a card without a motor, is a warning
        link.far.cards.inject('emcy=0x3220:drive2')
        link.drive(np.zeros(4), 0.1)
        assert link.state == ArmState.ARMED and 'only read' in link.drives[1].warning()
        drive = link.far.cards.drives[3].drive
        for word in (6, 7, 15):
            drive.command(word)
        assert link.advance(SOON, lambda: link.state == ArmState.FAULT)
        assert 'wheel_joint_4 (node 4): it is enabled, but has no motor' in link.faults[0]
    finally:
        link.close()


def test_cards_like_the_interface_expects_have_every_value_of_a_drive_and_an_encoder():
    cards = cards_like(hardware_values())
    # no interface expects a motor that turns against its counts, or how strong a brake is
    further = {'motor_leads', 'drive_polarity', 'brake_torque'}
    assert set(DRIVE_VALUES) | set(ENCODER_VALUES) <= set(cards) | further
    assert not further & set(cards)
    assert replace(EmulatedDevices(), **{k: tuple(v) for k, v in cards.items()})


def test_a_steering_axis_beyond_its_rate_limit_stops_the_robot(monkeypatch, virtual_time):
    robot = replace(MIXED, steering_rate_limit=2.0)
    link = Link(virtual_time, robot, {})
    monkeypatch.setattr(card_link, 'open_bus', lambda address: link.far)
    monkeypatch.setattr(can_bus, 'SDO_TIMEOUT', 0.1)
    try:
        link.connect()
        link.allow(True)
        link.drive(np.zeros(8), 0.02)
        link.arm()
        link.push = np.array([0.0] * 6 + [0.5, 0.0])
        assert link.advance(SOON, lambda: link.state == ArmState.FAULT)
        assert 'steering_joint_3 (node 6): its joint turns at' in link.faults[0]
    finally:
        link.close()


def test_a_steering_motor_without_a_drive_is_refused():
    with pytest.raises(CardError, match="'steering_joint_1', 'steering_joint_3'.*no drive"):
        card_settings(MIXED, hardware_values(**{'drives.joints': list(MIXED.wheel_joints)}))
