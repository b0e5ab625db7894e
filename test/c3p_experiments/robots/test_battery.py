# SPDX-License-Identifier: Apache-2.0
"""The battery: goals within reach, drives that arrive, robots that run away are stopped."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import CasterRobot
from c3p_dynamics.reach import travel
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.robots import check
from c3p_experiments.robots.battery import STEERINGS, BatteryDrive, drive, tasks
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import pace_of
from c3p_experiments.robots.random_robots import random_robot

C3P = load('c3p')
PACE = pace_of(C3P, travel(C3P))


def task(name, robot=C3P, pace=PACE):
    return next(t for t in tasks(robot, pace) if t.name == name)


def test_the_battery_is_the_same_each_time():
    one, other = tasks(C3P, PACE), tasks(C3P, PACE)
    assert [t.name for t in one] == ['line', 'sideways', 'spin', 'figure_eight',
                                     *(f'steering_{k + 1}' for k in range(STEERINGS))]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.steering, b.steering)


def test_drives_of_workers_are_in_the_order_of_the_battery(monkeypatch):
    calls = []

    def compute(function, arguments):
        calls.append(len(arguments))
        return [function(*given) for given in reversed(arguments)]

    @contextmanager
    def backwards(workers):
        yield compute

    monkeypatch.setattr(check, 'computing', backwards)
    monkeypatch.setattr(check, 'drive', lambda bench, task, pace: task)
    assert [*check._in_processes([('bench', k, PACE) for k in range(5)], 2)] == [
        0, 1, 2, 3, 4]
    # the first compiles for all of them
    assert calls == [1, 4]
    assert [*check._in_processes([], 2)] == []


@pytest.mark.parametrize('name', ['line', 'spin'])
def test_the_c3p_arrives(name):
    driven = drive(RobotBench(C3P, Conditions()), task(name), PACE)
    assert driven.reached and driven.failure == '' and driven.name == name
    assert driven.metrics['ground_truth_path_error_max_m'] < 0.02
    assert driven.metrics['torque_variation_nm_per_s'] > 0.0


def test_speed_and_acceleration_stay_within_the_pace():
    """The robot is never faster than its pace, and its torque is not exhausted by it."""
    driven = drive(RobotBench(C3P, Conditions()), task('sideways'), PACE)
    speed = np.hypot(*driven.run.log.ground_truth.twist[:, :2].T)
    assert speed.max() < 1.1 * PACE.speed


class _Spinning:
    """A law that turns the robot with all its torque."""

    limit = np.ones(3)

    def reset(self, sensed=None):
        pass

    def step(self, sensed, setpoint, dt):
        return np.ones(3)

    def prepare(self):
        pass


def test_a_robot_out_of_control_is_stopped_and_named(monkeypatch):
    """Tangential wheels with constant torque spin the robot until two pi."""
    bench = RobotBench(C3P, Conditions())
    usual = bench.controller()
    monkeypatch.setattr(bench, 'controller', lambda speed=None: Controller(
        'mpc', _Spinning(), usual.position, True))
    goal = BatteryDrive('line', '', np.array([1.0, 0.0, 0.0]), np.radians([30.0, 150.0, 270.0]),
                        3.0)
    driven = drive(bench, goal, PACE)
    assert driven.metrics['runaway'] and not driven.reached
    assert driven.failure == 'out of control'
    assert driven.metrics['end_time_s'] < 10.0


def test_a_drive_that_raises_is_a_failure_with_its_reason(monkeypatch):
    bench = RobotBench(C3P, Conditions())

    def fall(*_, **__):
        raise ValueError('the robot has fallen over')

    monkeypatch.setattr(bench, 'run', fall)
    driven = drive(bench, task('line'), PACE)
    assert not driven.reached and driven.failure == 'the robot has fallen over'


@pytest.mark.slow
@pytest.mark.parametrize('seed', [3, 10, 13])
def test_heavy_robots_leave_a_singular_start(seed):
    """150 to 280 kg, with the weights of 35 kg: three robots that did not arrive unscaled."""
    pytest.importorskip('mujoco')
    robot = random_robot(seed)
    pace = pace_of(robot, travel(robot))
    driven = drive(RobotBench(robot, Conditions(plant='mujoco')), task('line', robot, pace), pace)
    assert driven.reached, driven.failure
    assert driven.metrics['ground_truth_path_error_max_m'] < 0.03


@pytest.mark.slow
@pytest.mark.parametrize('seed, name', [(667, 'sideways'), (837, 'steering_2')])
def test_a_plan_in_a_local_minimum_is_left(seed, name):
    """Casters that are heavy to turn: without the stall watch the robot rests for ever."""
    pytest.importorskip('mujoco')
    robot = random_robot(seed)
    pace = pace_of(robot, travel(robot))
    driven = drive(RobotBench(robot, Conditions(plant='mujoco')), task(name, robot, pace), pace)
    assert driven.reached, driven.failure


def test_a_slow_motor_makes_a_slow_battery():
    slow = replace(C3P, wheel_rate_limit=2.0)
    pace = pace_of(slow, travel(slow))
    assert pace.speed == pytest.approx(0.8 * 2.0 * 0.04)
    assert all(t.seconds > 5.0 for t in tasks(slow, pace) if t.name != 'spin')


def test_a_start_that_cannot_be_left_is_named_before_moving(monkeypatch):
    """Two casters on one rolling line: nothing is driven."""
    duo = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 20.0, 0.8, (0.0, 0.0), 0.5,
                      0.02, 1e-3, 0.4, 1e-3, 6e-4, torque_limit=2.0)
    bench = RobotBench(duo, Conditions())
    monkeypatch.setattr(bench, 'run', None)
    pace = pace_of(duo, travel(duo, 4))
    driven = drive(bench, task('line', duo, pace), pace)
    assert not driven.metrics and 'cannot be left' in driven.failure
