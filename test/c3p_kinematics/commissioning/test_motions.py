# SPDX-License-Identifier: Apache-2.0
"""Motions that find the wiring: speeds, lengths, stops; a robot on tyres is named."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description.reading.loader import load_casters
from c3p_experiments.commissioning.trial import EXACT, trial
from c3p_kinematics.commissioning.assignment import channels_of
from c3p_kinematics.commissioning.motions import WiringMotions, WiringMotionSettings
from c3p_kinematics.commissioning.patterns import planned_motions

PERIOD = 0.01


class Slider:
    """Channels that all move by the torque of the first motor, after some friction."""

    def __init__(self, channels, friction=0.2, gain=0.5):
        self.angles = np.zeros(channels)
        self.rate = 0.0
        self.friction = friction
        self.gain = gain

    def step(self, torque):
        drive = float(np.sum(torque))
        if abs(drive) > self.friction or self.rate:
            excess = drive - np.sign(self.rate or drive) * self.friction
            new = self.rate + self.gain * excess * 60.0 * PERIOD
            self.rate = 0.0 if self.rate * new < 0 else new
        self.angles = self.angles + self.rate * PERIOD


def carried_out(motions, robot, slider, steps=20000, held=lambda k: True):
    """Carry the motions out; return the orders and the angles of each step."""
    orders = []
    angles = []
    for k in range(steps):
        orders.append(motions.step(k * PERIOD, slider.angles, held(k)))
        angles.append(slider.angles)
        if orders[-1].done or orders[-1].stopped:
            break
        slider.step(orders[-1].torque)
    return orders, np.array(angles)


@pytest.fixture
def robot():
    return load_casters('c3p')


def test_each_motor_pushes_alone_and_back_before_all_push_together(robot):
    motions = planned_motions(robot, WiringMotionSettings().together)
    alone = [m.pattern for m in motions[:6]]
    assert np.array_equal(np.abs(alone), np.repeat(1.2 * np.eye(3), 2, axis=0))
    assert all(np.array_equal(a, -b) for a, b in zip(alone[::2], alone[1::2], strict=True))
    assert all(np.all(np.abs(m.pattern) > 0.0) for m in motions[6:])
    assert all(np.abs(m.pattern).max() <= 1.2 + 1e-12 for m in motions)


def test_motions_keep_speed_and_length_and_end_without_torque(robot):
    motions = WiringMotions(robot)
    orders, angles = carried_out(motions, robot, Slider(6))
    assert orders[-1].done and not orders[-1].stopped
    assert not np.any(orders[-1].torque)
    # wheels and casters have r = d = 0.04 m
    speed = 0.04 * np.abs(np.diff(angles[:, 0])).max() / PERIOD
    assert speed < 0.06
    record = motions.record()
    assert len(record.time) == len(orders)
    pushing = np.any(record.ordered != 0.0, axis=1)
    begins = np.flatnonzero(np.diff(pushing.astype(int)) == 1)
    assert len(begins) >= 6 + 2 * WiringMotionSettings().together


def test_torque_grows_by_the_same_ratio_until_something_moves(robot):
    motions = WiringMotions(robot)
    sent = []
    for k in range(400):
        sent.append(motions.step(k * PERIOD, np.zeros(6)).torque[0])
    growing = np.array([t for t in sent if 0.03 < t < 1.1])
    ratio = growing[1:] / growing[:-1]
    assert np.allclose(ratio, ratio[0]) and ratio[0] > 1.0
    assert max(sent) <= 1.2


def test_motors_that_move_nothing_are_told_and_not_waited_for(robot):
    motions = WiringMotions(robot)
    orders, _ = carried_out(motions, robot, Slider(6, friction=1e9))
    assert orders[-1].done
    assert len(motions.blocked) == 3 + WiringMotionSettings().together
    assert motions.blocked[0] == 'motor of wheel_joint_1 alone'


def test_a_robot_that_moves_without_an_order_stops_the_motions(robot):
    motions = WiringMotions(robot)
    for k in range(1000):
        order = motions.step(k * PERIOD, np.full(6, 0.5 * k * PERIOD))
    assert 'moves without an order' in order.stopped
    assert not np.any(order.torque)


def test_a_robot_that_runs_away_stops_the_motions(robot):
    motions = WiringMotions(robot)
    for k in range(300):
        order = motions.step(k * PERIOD, np.full(6, 8.0 * k * PERIOD))
    assert 'faster than 0.12' in order.stopped
    assert not np.any(order.torque)


def test_an_angle_that_is_not_finite_stops_the_motions(robot):
    motions = WiringMotions(robot)
    order = motions.step(0.0, [0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
    assert order.stopped.startswith('encoder channel steering_joint_2')
    assert not np.any(order.torque)


def test_without_the_key_there_is_no_torque_and_the_motion_begins_again(robot):
    motions = WiringMotions(robot)
    orders, _ = carried_out(motions, robot, Slider(6), held=lambda k: not 150 < k < 250)
    assert all(not np.any(o.torque) for o in orders[151:250])
    assert orders[-1].done


def test_an_extension_goes_on_where_the_motions_ended(robot):
    motions = WiringMotions(robot)
    orders, _ = carried_out(motions, robot, Slider(6))
    length = len(motions.record().time)
    motions.extend(5)
    for k in range(100):
        order = motions.step((length + k) * PERIOD, np.zeros(6))
    assert not order.done and order.label == 'motors together, addition 5'


def test_a_motor_without_a_torque_limit_is_refused(robot):
    with pytest.raises(ValueError, match='torque limit of wheel_joint_1: must be finite'):
        WiringMotions(replace(robot, torque_limit=np.inf))


@pytest.mark.parametrize(('name', 'seed'), [('c3p', 7), ('four_casters', 6)])
def test_a_robot_on_tyres_with_real_sensors_is_named_exactly(name, seed):
    pytest.importorskip('mujoco')
    result = trial(name, seed)
    assert result.verdict == EXACT, result
    assert result.fastest < 0.12 and result.way < 0.5 and result.time < 90.0
    assert channels_of(load_casters('c3p')).motors == (
        'wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3')
