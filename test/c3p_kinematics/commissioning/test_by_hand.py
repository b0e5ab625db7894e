# SPDX-License-Identifier: Apache-2.0
"""Wiring from joints that a person turns, with noise, backlash and other joints moving along."""

import numpy as np
import pytest

from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.hand import HandMovedRobot
from c3p_kinematics.commissioning.assignment import NONE, channels_of
from c3p_kinematics.commissioning.by_hand import ByHandError, Pushed, Turned, find_by_hand
from c3p_kinematics.se2 import wrap

TURN = 2 * np.pi
PUSHES = {'ahead': ((0, 1, 0), 1.2), 'aside': ((1, 0, 0), 1.0), 'turn': ((0, 0, 1), 2.0)}


class Builder:
    """A robot with a drawn wiring, and the person who turns its joints."""

    def __init__(self, robot, seed):
        self.robot, self.rng = robot, np.random.default_rng(seed)
        n = robot.count
        self.encoder_of = np.r_[self.rng.permutation(n), n + self.rng.permutation(n)]
        self.gear = self.rng.choice([-1.0, 1.0], 2 * n)
        # every fifth wheel has other counts: a drive with 500 for 2000 lines, and anything
        other = np.r_[np.zeros(n, bool), self.rng.random(n) < 0.2]
        self.gear[other] *= self.rng.choice([4.0, 0.5, 1.3, 0.77], other.sum())
        self.zero = np.r_[self.rng.uniform(-np.pi, np.pi, n), np.zeros(n)]
        self.channels = channels_of(robot)

    def measured(self, angles):
        """Return channels (T, k) at true angles (T, 2n), with counts."""
        out = np.empty_like(angles)
        out[:, self.encoder_of] = (angles - self.zero) / self.gear
        return np.round(out / 1.5e-3) * 1.5e-3

    def turned(self, joint):
        """Turn a joint by a full turn, as exactly as a person does, with what moves along."""
        n = self.robot.count
        angles = np.zeros((2, 2 * n))
        # backlash and the hand's rest, at most 2°
        angles[1] = self.rng.laplace(0.0, 0.015, 2 * n)
        if self.rng.random() < 0.3:
            # a wheel rolls on the hand by up to a radian
            angles[1, self.rng.integers(2 * n)] += self.rng.uniform(-1.0, 1.0)
        angles[1, joint] = TURN * (1.0 + 0.02 * self.rng.standard_normal())
        return Turned(joint, TURN, np.diff(self.measured(angles), axis=0)[0])

    def pushed(self, direction):
        plant = HandMovedRobot(self.robot, self.rng.uniform(-1.0, 1.0, self.robot.count))
        plant.push(*PUSHES[direction])
        angles = []
        while plant.moving:
            joints = plant.step(None, 0.01)
            angles.append(np.r_[joints.steering, joints.wheel_angle])
        return Pushed(direction, self.measured(np.array(angles)))


@pytest.mark.parametrize('name', ['c3p', 'powered_caster', 'swerve'])
def test_orders_signs_and_counts_are_found_or_refused_never_wrong(name):
    robot = load_casters(name)
    refused = 0
    for seed in range(100):
        builder = Builder(robot, seed)
        turns = [builder.turned(joint) for joint in range(2 * robot.count)]
        try:
            found = find_by_hand(robot, builder.channels, turns)
        except ByHandError as error:
            refused += 1
            assert 'turn one joint at a time' in f'{error}' or 'two orders' in f'{error}'
            continue
        assert (found.assignment.encoder_of == builder.encoder_of).all()
        assert found.probability > 0.99
        # a turn by hand is known by 2 %; gears within 15 % are those of the description
        assert np.abs(found.assignment.gear / builder.gear - 1.0).max() < 0.1
    assert refused <= 5


@pytest.mark.parametrize('seed', range(10))
def test_pushes_give_the_zeros_and_confirm_the_rest(seed):
    robot = load_casters('c3p')
    builder = Builder(robot, seed)
    builder.gear = np.sign(builder.gear)
    turns = [builder.turned(joint) for joint in range(6)]
    found = find_by_hand(robot, builder.channels, turns, [builder.pushed(one) for one in PUSHES])
    error = wrap(found.assignment.zero - builder.zero)[:3]
    # 1.2 m are 30 caster offsets, from up to a radian; the rest is counts of 1.5 mrad
    assert np.abs(error).max() < 3e-3
    assert found.residual < 0.4 and not any('zeros' in text for text in found.undecided)


def test_a_dead_encoder_has_no_channel_and_a_free_channel_is_no_joint():
    robot = load_casters('c3p')
    builder = Builder(robot, 1)
    turns = [builder.turned(joint) for joint in range(6)]
    turns[4].moved[:] = 0.0
    found = find_by_hand(robot, builder.channels, turns)
    assert found.assignment.encoder_of[4] == NONE
    others = [0, 1, 2, 3, 5]
    assert (found.assignment.encoder_of[others] == builder.encoder_of[others]).all()


def test_a_person_who_turns_the_same_wheel_twice_is_told_so():
    robot = load_casters('c3p')
    builder = Builder(robot, 2)
    turns = [builder.turned(joint) for joint in range(6)]
    turns[4] = turns[3]._replace(joint=4)
    with pytest.raises(ByHandError, match='two orders') as error:
        find_by_hand(robot, builder.channels, turns)
    assert 'wheel of caster' in f'{error.value}' and ' or ' in f'{error.value}'


def test_a_push_that_contradicts_the_turns_is_refused():
    robot = load_casters('c3p')
    builder = Builder(robot, 3)
    turns = [builder.turned(joint) for joint in range(6)]
    # the person took the wheels of casters 1 and 2 for each other
    turns[3], turns[4] = turns[4]._replace(joint=3), turns[3]._replace(joint=4)
    with pytest.raises(ByHandError, match='counterclockwise contradicts|along [+]X contradicts'):
        find_by_hand(robot, builder.channels, turns, [builder.pushed(one) for one in PUSHES])


def test_pushing_to_the_other_side_is_noticed():
    robot = load_casters('c3p')
    builder = Builder(robot, 4)
    turns = [builder.turned(joint) for joint in range(6)]
    # wheels were turned backwards all the time
    wrong = [one if one.joint < 3 else one._replace(moved=-one.moved) for one in turns]
    with pytest.raises(ByHandError, match='along [+]Y moved the robot by'):
        find_by_hand(robot, builder.channels, wrong, [builder.pushed('ahead')])
