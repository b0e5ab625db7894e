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


class Person:
    """Turns the joints of a robot whose channels are exchanged, in no time."""

    def __init__(self, order, forgets=-1):
        self.plant = HandMovedRobot(C3P, 0.5)
        self.order = order
        self.forgets = forgets
        self.said = []
        self.source = AngleSource(self.read, self.wait)

    def read(self):
        joints = self.plant.sense()
        return np.r_[joints.steering, joints.wheel_angle][self.order]

    def wait(self, seconds):
        self.plant.step(None, seconds)

    def enter(self, kind, joint):
        if kind in PUSHES:
            self.plant.push(*PUSHES[kind])
        elif joint != self.forgets:
            self.plant.turn(joint, TURN)
        return lambda: not self.plant.moving

    def commission(self):
        return commission_by_hand(C3P, self.source, TURN, self.enter, self.said.append)


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
