# SPDX-License-Identifier: Apache-2.0
"""Observers of the law of modules: axes and platform when torques act, with late samples."""

import math

import numpy as np
import pytest

from c3p_controller.steering_observer import SteeringObserver, held_gain
from c3p_controller.twist_observer import TwistObserver
from c3p_description import load
from c3p_experiments.loop.closed_loop import run_loop
from c3p_experiments.loop.command_sources import TwistSource
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.controllers import make_controller
from c3p_experiments.real_sensors.drives import TimedCase, driven
from c3p_experiments.real_sensors.properties import sensors_with
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensorSettings


def axis(observer, steps, delay, force, times):
    """Move an axis exactly, whose acceleration `force` is sent at `times` and acts later."""
    angle = 0.0
    rate = 0.0
    fine = 1e-4
    sent = []
    last = 0.0
    for now in times[:steps]:
        while last < now - 0.5 * fine:
            acting = [accel for time, accel in sent if time + delay <= last + 1e-9]
            accel = acting[-1] if acting else 0.0
            angle += fine * (rate + 0.5 * fine * accel)
            rate += fine * accel
            last += fine
        observer.measure(np.array([angle]), now - (times[times.index(now) - 1] if sent else 0.0),
                         delay)
        accel = force(now)
        observer.send(np.array([accel]), delay)
        sent.append((now, accel))
    return angle, rate, sent


@pytest.mark.parametrize('times', [[0.005 * k for k in range(1, 60)],
                                   list(np.cumsum([0.005, 0.02, 0.035, 0.01, 0.03] * 8).round(4))])
def test_an_axis_is_known_when_the_torques_act_whatever_the_times_of_the_samples_are(times):
    delay = 0.01
    observer = SteeringObserver()
    angle, rate, sent = axis(observer, len(times), delay, lambda t: 50.0 * math.sin(20.0 * t),
                             times)
    ahead, ahead_rate = observer.ahead(delay)
    # continue the axis by hand to the time at which the last acceleration begins to act
    fine = 1e-4
    now = times[-1]
    while now < times[-1] + delay - 0.5 * fine:
        accel = [a for t, a in sent[:-1] if t + delay <= now + 1e-9][-1]
        angle += fine * (rate + 0.5 * fine * accel)
        rate += fine * accel
        now += fine
    assert ahead[0] == pytest.approx(angle, abs=1e-3)
    assert ahead_rate[0] == pytest.approx(rate, abs=0.05)


def test_a_held_correction_ends_where_a_continuous_one_does():
    for interval in (0.001, 0.005, 0.035, 0.1):
        assert 1.0 - interval * held_gain(60.0, interval) == pytest.approx(
            math.exp(-60.0 * interval))


@pytest.mark.parametrize('interval', [0.005, 0.035])
def test_friction_that_the_law_does_not_know_leaves_no_error_and_late_rates_no_swing(interval):
    # a measured twist of 60 ms lag: a loop over it alone is near its limit
    observer = TwistObserver(np.zeros(3))
    fine = 0.001
    twist, late, pose = np.zeros(3), np.zeros(3), np.zeros(3)
    speeds = []
    for _ in range(round(4.0 / interval)):
        observer.measure(pose, late, interval, (min(30.0, 0.35 / interval), 0.0))
        accel = held_gain(20.0, interval) * (
            np.array([0.5, 0.0, 0.0]) - observer.ahead(0.0)) - observer.disturbance
        accel = np.clip(accel, -1.0, 1.0)
        observer.send(accel, 0.0)
        for _ in range(round(interval / fine)):
            late = late + fine / 0.06 * (twist - late)
            pose = pose + fine * twist
            twist = twist + fine * (accel - [0.2, 0.0, 0.0])
        speeds.append(twist[0])
    assert speeds[-1] == pytest.approx(0.5, abs=1e-3)
    assert max(speeds) < 0.56


def test_a_pose_that_is_set_from_outside_is_no_motion():
    observer = TwistObserver(np.zeros(3))
    still = np.zeros(3)
    for pose in (still, still, np.array([2.0, -1.0, 0.7]), np.array([2.0, -1.0, 0.7])):
        observer.measure(pose, still, 0.005, (30.0, 0.0))
        observer.send(still, 0.0)
    assert not observer.ahead(0.0).any() and not observer.disturbance.any()


@pytest.mark.parametrize('seed', range(2))
def test_a_commanded_twist_keeps_the_heading_against_the_push_of_free_casters(seed):
    """Casters from random angles turn around in both reversals, and push the platform."""
    pytest.importorskip('mujoco')
    robot = load('amr')
    plant = make_plant('mujoco', 'amr', PlantOptions(sensors=SensorSettings(), seed=seed))
    speed = 0.4

    def twist(time):
        return (speed if time < 3.0 or time >= 6.0 else -speed), 0.0, 0.0

    log = run_loop(plant, make_controller('modules', robot).law, TwistSource(twist),
                   duration=9.0, steering=np.random.default_rng(seed).uniform(-np.pi, np.pi, 6))
    # without feedback of the heading 0.9° to 2°
    assert np.degrees(np.abs(log.ground_truth.pose[:, 2])).max() < 0.6


@pytest.mark.parametrize('name', ['batches', 'real'])
def test_a_swerve_drive_reaches_its_goal_with_the_samples_of_real_robots(name):
    pytest.importorskip('mujoco')
    conditions = Conditions(plant='mujoco', controller='modules')
    log, odometry = driven(TimedCase(conditions, 'swerve', name,
                                     sensors_with(name, conditions.sensors), 'line', 0))
    assert log.ended and not log.fault and log.joints.time[-1] < 15.0
    # modules do not swing while the robot rolls
    rolling = (log.ground_truth.time > 1.5) & (log.ground_truth.time < 6.0)
    assert np.ptp(log.joints.steering[rolling], axis=0).max() < 0.05
    assert np.abs(log.odom.pose[:, 1]).max() < 0.02
    assert odometry.slips == 0
