# SPDX-License-Identifier: Apache-2.0
"""Dialogue of commissioning by hand, with a source of angles that follows the prompts."""

import io

import numpy as np
import pytest

from c3p_bringup.commission.angles import AngleSource, LineReader
from c3p_bringup.commission.by_hand import commission_by_hand
from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.hand import HandMovedRobot
from c3p_kinematics.commissioning.by_hand import ByHandError

C3P = load_casters('c3p')
TURN = 2 * np.pi
PUSHES = {'ahead': ((0, 1, 0), 1.2), 'aside': ((1, 0, 0), 1.0), 'turn': ((0, 0, 1), 2.0)}
SET = {'straight': 0.0, 'quarter': np.pi / 2}
SWERVE = load_casters('swerve')


class Person:
    """Turns the joints of a robot whose channels are exchanged, in no time."""

    def __init__(self, order, forgets=-1, robot=C3P, sign=1.0, zero=0.0):
        self.robot = robot
        self.plant = HandMovedRobot(robot, 0.5)
        self.order = order
        self.sign = sign
        self.zero = zero
        self.forgets = forgets
        self.said = []
        self.source = AngleSource(self.read, self.wait)

    def read(self):
        joints = self.plant.sense()
        return ((np.r_[joints.steering, joints.wheel_angle] - self.zero) * self.sign)[self.order]

    # error of the straight edge, rad
    careless = 0.0

    def wait(self, seconds):
        self.plant.step(None, seconds)

    def enter(self, kind, joint):
        if kind in PUSHES:
            self.plant.push(*PUSHES[kind])
        elif kind in SET:
            self.plant.set_wheels(SET[kind] + self.careless)
        elif joint != self.forgets:
            self.plant.turn(joint, TURN)
        return lambda: not self.plant.moving

    def commission(self):
        return commission_by_hand(self.robot, self.source, TURN, self.enter, self.said.append)


def test_prompts_name_casters_and_what_moved_is_shown():
    person = Person([1, 0, 2, 3, 4, 5])
    found = person.commission()
    assert found.assignment.encoder_of.tolist() == [1, 0, 2, 3, 4, 5]
    said = '\n'.join(person.said)
    assert 'turn caster 1 to the left' in said and 'roll wheel 3 ahead' in said
    assert 'moved: steering_joint_2 +360°' in said and '+Y by 1 m' in said


def test_a_joint_that_was_not_turned_has_no_channel():
    person = Person([0, 1, 2, 3, 4, 5], forgets=4)
    found = person.commission()
    assert found.assignment.encoder_of.tolist() == [0, 1, 2, 3, -1, 5]
    assert '      nothing moved' in person.said


def test_the_robot_is_not_pushed_about_where_turns_contradict():
    person = Person([0, 1, 2, 3, 4, 5])
    enter = person.enter
    person.enter = lambda kind, joint: enter(kind, 3 if joint == 4 else joint)
    with pytest.raises(ByHandError, match='two orders explain'):
        person.commission()
    assert not any('+Y by 1 m' in text for text in person.said)


def test_lines_are_waited_for_and_the_end_of_input_is_an_error():
    reader = LineReader(io.StringIO('\n'))
    there = reader.next()
    while not there():
        pass
    ended = reader.next()
    with pytest.raises(ValueError, match='standard input has ended'):
        while not ended():
            pass


def swerve_person(seed):
    """Return a person with a swerve drive that is wired at random."""
    rng = np.random.default_rng(seed)
    return Person(np.r_[rng.permutation(4), 4 + rng.permutation(4)], robot=SWERVE,
                  sign=rng.choice([-1.0, 1.0], 8),
                  zero=np.r_[rng.uniform(-np.pi, np.pi, 4), np.zeros(4)])


@pytest.mark.parametrize('seed', range(4))
def test_wheels_below_their_pivots_are_set_by_hand_and_their_wiring_is_found(seed):
    person = swerve_person(seed)
    found = person.commission().assignment
    # joint k is measured by the channel at which it is
    assert (person.order[found.encoder_of] == np.arange(8)).all()
    assert (found.gear[:4] == person.sign[:4]).all()
    # a zero of 180° with a reversed wheel is the same robot: e(θ) r θ̇_x is
    forward = np.exp(1j * (found.zero[:4] - person.zero[:4])) * found.gear[4:] * person.sign[4:]
    assert forward == pytest.approx(np.ones(4), abs=1e-6)
    said = '\n'.join(person.said)
    assert 'set all wheels parallel to +Y' in said and 'counterclockwise by half' not in said


def test_a_wheel_that_was_set_carelessly_is_within_the_stated_deviation():
    person = swerve_person(5)
    person.careless = np.radians(1.0)
    result = person.commission()
    error = np.exp(1j * (result.assignment.zero[:4] - person.zero[:4]))
    assert np.abs(np.angle(error ** 2) / 2.0).max() < result.deviation.zero[:4].max()


def test_a_steering_axis_that_was_turned_to_the_other_side_contradicts_the_push_aside():
    person = swerve_person(6)
    turn = person.plant.turn
    person.plant.turn = lambda joint, angle: turn(joint, -angle if joint == 2 else angle)
    with pytest.raises(ByHandError, match=r'along [+]X contradicts rolling'):
        person.commission()
