# SPDX-License-Identifier: Apache-2.0
"""Rates that contradict angles, and angles that leap together, are named and do no harm."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P
from test_odometry import relative
from tractrix import Path, drive

from c3p_experiments.robots.random_robots import random_robot
from c3p_kernels.compiled import COMPILED
from c3p_kinematics._channel_kernels import watch_channels
from c3p_kinematics.casters import inverse
from c3p_kinematics.joint_channels import JointChannels
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.sample_times import Repetition, repeated
from c3p_kinematics.se2 import compose, exp

PERIOD = 0.005


def names(robot):
    """Return short names of steering axes and wheels."""
    return [[f'{kind}_{k}' for k in range(robot.count)] for kind in ('steering', 'wheel')]


class Rolled:
    """An exact drive with its rates: a robot that starts and then turns on a curve."""

    def __init__(self, robot, twist=(0.3, 0.05, 0.1), duration=6.0, seed=0):
        n = robot.count
        self.robot, self.times = robot, PERIOD * np.arange(round(duration / PERIOD) + 1)
        steering = np.random.default_rng(seed).uniform(-3, 3, n)
        wheel, pose = np.zeros(n), np.zeros(3)
        rows = []
        for time in self.times:
            nu = np.array(twist) * min(1.0, time)
            wheel_rate, steering_rate, _ = inverse(robot, steering, nu)
            rows.append((steering, wheel, wheel_rate, steering_rate))
            # the casters trail: the middle of the step
            middle = inverse(robot, steering + 0.5 * PERIOD * steering_rate, nu)
            steering, wheel = steering + PERIOD * middle[1], wheel + PERIOD * middle[0]
            pose = compose(pose, exp(nu * PERIOD))
        self.steering, self.wheel, self.wheel_rate, self.steering_rate = map(
            np.array, zip(*rows, strict=True))
        self.twist, self.pose = np.array(twist), pose

    def run(self, change=lambda *sample: sample, settings=None):
        """Return the estimates; `change` takes number, angles and rates of a sample."""
        odometry = Odometry(self.robot, settings)
        return [odometry.step(time, *change(k, *(x.copy() for x in sample)))
                for k, (time, *sample) in enumerate(zip(
                    self.times, self.steering, self.wheel, self.wheel_rate, self.steering_rate,
                    strict=True))]


def scaled(factor, joints=slice(None)):
    """Return a change of the wheel rates."""
    def change(_, steering, wheel, wheel_rate, steering_rate):
        wheel_rate[joints] *= factor
        return steering, wheel, wheel_rate, steering_rate
    return change


@pytest.fixture(scope='module', params=[None, 7, 11, 23], ids=['c3p', '7', '11', '23'])
def rolled(request):
    if request.param is None:
        return Rolled(replace(C3P, wheel_rate_limit=30.0))
    robot = replace(random_robot(request.param), wheel_rate_limit=40.0)
    return Rolled(robot, 0.5 * np.random.default_rng(request.param).uniform(-1, 1, 3),
                  seed=request.param)


@pytest.mark.parametrize(('factor', 'words'), [
    (0.0, '0 while the angles change'), (0.5 / np.pi, 'turns/s?'), (-1.0, 'sign?'),
    (2.0, 'twice?'), (2 * np.pi, 'multiplied by 2π?'), (14.0, 'before its gear?'),
    (180 / np.pi, 'degrees/s?'), (30 / np.pi, 'turns/min?'), (-3.0, '-3 times')])
@pytest.mark.parametrize('settings', [None, OdometrySettings(**SYNCHRONOUS)], ids=['', 'sync'])
def test_rates_in_another_unit_change_neither_twist_nor_pose_and_are_named(rolled, factor, words,
                                                                           settings):
    found = rolled.run(scaled(factor), settings)[-1]
    # until the contradiction has lasted, steps that seem to take longer may be held
    assert np.abs(found.twist - rolled.twist).max() < 0.01
    assert np.hypot(*relative(rolled.pose, found.pose)[:2]) < 0.015
    text = found.channels.rates_text(*names(rolled.robot))
    assert words in text and 'wheel_0' in text and 'not used' in text
    assert not found.faults.alarm and not found.slip.slipping


def test_one_wrong_rate_is_named_alone(rolled):
    found = rolled.run(scaled(-1.0, 1))[-1]
    assert found.channels.wrong.tolist() == [
        [False] * rolled.robot.count, [k == 1 for k in range(rolled.robot.count)]]
    assert found.twist == pytest.approx(rolled.twist, abs=0.01)


@pytest.mark.parametrize('factor', [0.7, 0.85, 1.15, 1.3])
def test_a_twist_never_claims_a_deviation_that_the_positions_contradict(rolled, factor):
    for found in rolled.run(scaled(factor))[600::100]:
        error = found.twist - rolled.twist
        # three deviations of each component
        assert np.all(np.abs(error) < 3.0 * np.sqrt(np.diag(found.twist_covariance)) + 1e-3)


def test_rates_are_used_again_when_they_have_agreed():
    drive = Rolled(C3P)

    def change(k, steering, wheel, wheel_rate, steering_rate):
        return steering, wheel, wheel_rate * (1.0 if k > 500 else 0.0), steering_rate
    found = drive.run(change)
    assert found[499].channels is not None and found[-1].channels is None
    np.testing.assert_allclose(found[-1].twist, drive.twist, atol=1e-6)


@pytest.mark.parametrize('lag', [0.0, 0.02, 0.07])
def test_late_rates_are_no_contradiction(lag):
    rng = np.random.default_rng(3)
    for seed in range(8):
        robot = random_robot(300 + seed)
        # a drive through waypoints, with the rates of its angles
        times, steering, wheel = drive_of(robot, seed)
        late = np.maximum(times - lag, 0.0)
        rates = [np.column_stack([np.interp(late, times[:-1] + PERIOD / 2, np.diff(x) / PERIOD)
                                  for x in np.unwrap(angles, axis=0).T])
                 for angles in (wheel, steering)]
        stamps = times + rng.normal(0.0, 0.001, len(times))
        # without the begin, before which there are no rates
        odometry = Odometry(robot)
        assert all(odometry.step(*row).channels is None
                   for row in [*zip(stamps, steering, wheel, *rates, strict=True)][40:])


def drive_of(robot, seed):
    """Return times, steering and wheel angles of a towed drive."""
    times = PERIOD * np.arange(1601)
    steering = np.random.default_rng(seed).uniform(-3, 3, robot.count)
    return times, *drive(robot, Path(seed), times, steering, 1e-8)[:2]


def restarted(at, steering_of=(), wheels_of=()):
    """Return a change: encoders of these casters begin at zero with sample `at`."""
    zero = {}

    def change(k, steering, wheel, wheel_rate, steering_rate):
        if k == at:
            zero.update(steering=steering.copy(), wheel=wheel.copy())
        if k >= at:
            for i in steering_of:
                steering[i] -= zero['steering'][i]
            for i in wheels_of:
                wheel[i] -= zero['wheel'][i]
        return steering, wheel, wheel_rate, steering_rate
    return change


@pytest.mark.parametrize(('steering_of', 'wheels_of'), [
    ((0, 1, 2), ()), ((0, 2), ()), ((0, 1, 2), (0, 1, 2)), ((), (0, 1, 2))])
@pytest.mark.parametrize('rated', [True, False])
def test_a_board_that_restarts_moves_nothing_and_is_named(rolled, steering_of, wheels_of, rated):
    change = restarted(800, steering_of, wheels_of)

    def without(k, *sample):
        steering, wheel, *rates = change(k, *sample)
        return (steering, wheel, *rates) if rated else (steering, wheel)
    found = rolled.run(without)
    assert np.hypot(*relative(rolled.pose, found[-1].pose)[:2]) < 0.01
    shown = found[-1].channels
    leapt = np.abs(rolled.steering[800]) > 0.2
    for i in steering_of:
        if leapt[i]:
            assert shown.restarted[0, i]
            assert np.cos(shown.offset[i] + rolled.steering[800, i]) > 0.999
    text = shown.restart_text(*names(rolled.robot))
    assert 'did their board restart?' in text
    assert not any(e.faults.alarm for e in found[820:])
    assert np.abs(found[-1].twist - rolled.twist).max() < 0.02


def test_angles_that_leap_back_are_right_again():
    drive = Rolled(C3P)
    change = restarted(600, (0, 1, 2))
    found = drive.run(lambda k, *sample: change(k, *sample) if k < 900 else sample)
    assert found[800].channels is not None and found[-1].channels is None
    assert np.hypot(*relative(drive.pose, found[-1].pose)[:2]) < 0.01


def test_one_encoder_that_jumps_is_left_to_the_fault_monitor():
    found = Rolled(C3P).run(restarted(800, (1,)))
    assert found[-1].channels is None
    assert any(e.faults.caster == 1 for e in found[800:])


@pytest.mark.skipif(not COMPILED, reason='needs Numba')
def test_everything_is_compiled_before_the_first_message():
    channels, repetition = JointChannels(C3P), Repetition(C3P.count)
    before = [len(one.signatures) for one in (watch_channels, repeated)]
    assert min(before) > 0
    # columns and read-only parts of messages
    sample = np.zeros((C3P.count, 4)).T
    sample.flags.writeable = False
    repetition.found(*sample)
    channels.step(0.005, *sample)
    assert [len(one.signatures) for one in (watch_channels, repeated)] == before


def test_axes_that_turned_within_a_gap_of_a_robot_at_rest_have_leapt():
    channels, still = JointChannels(C3P), np.zeros(3)
    steering, wheel = np.array([0.5, -1.2, 2.0]), np.array([30.0, 40.0, 50.0])
    for _ in range(3):
        channels.step(0.005, steering, wheel, still, still)
    channels.step(2.0, still, still, still, still)
    np.testing.assert_allclose(channels.sample[0], steering)
    assert channels.leapt and channels.report().restarted[0].all()
    # with the driver started again, and its zeros
    channels.step(3.0, steering, wheel, still, still)
    np.testing.assert_allclose(channels.sample[0], steering)
    assert channels.report() is None
    # axes that a hand has turned stand anywhere
    channels.step(2.0, steering + 0.7, wheel, still, still)
    np.testing.assert_allclose(channels.sample[0], steering + 0.7)
    assert channels.report() is None
    # a robot that was moved meanwhile has rolled
    channels.step(2.0, steering + 1.0, wheel + 0.5, still, still)
    np.testing.assert_allclose(channels.sample[0], steering + 1.0)
    assert channels.report() is None


def test_rates_of_a_robot_that_stands_are_named():
    channels, still = JointChannels(C3P), np.zeros(3)
    wheel = np.zeros(3)
    for k in range(200):
        wheel = wheel + [0.0, 0.0, 1e-5 * (k % 2)]
        channels.step(0.005, still, wheel, still, np.array([5.0, 0.0, 0.0]))
    assert 'wheel_0 are not 0 while the angles stand' in channels.report().rates_text(*names(C3P))
