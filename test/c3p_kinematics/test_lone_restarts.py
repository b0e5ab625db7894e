# SPDX-License-Identifier: Apache-2.0
"""One encoder that restarts on a robot whose other wheels do not show it moves nothing."""

import numpy as np
import pytest
from test_joint_channels import names
from test_odometry import relative
from wheel_drives import drive, wander

from c3p_description.reading.loader import load
from c3p_kinematics.odometry import Odometry

PERIOD = 0.005
ROBOTS = {'swerve': load('swerve'), 'tricycle': load('tricycle_agv')}


@pytest.fixture(scope='module', params=[(name, seed) for name in ROBOTS for seed in (3, 4)],
                ids=lambda p: f'{p[0]} {p[1]}')
def ride(request):
    """Return robot, times, angles, their rates, the pose at the end, and when to restart."""
    name, seed = request.param
    robot = ROBOTS[name]
    # a leap of less than 0.15 rad does not show without rates
    twist_at = wander(seed, sideways=0.2) if name == 'swerve' else wander(seed, turn=3.0)
    found = drive(robot, twist_at, 6.0, rate=1.0 / PERIOD, begin=-0.5 * np.pi)
    # the modules turn to their path within the first sample
    angles = np.stack([found.steering, found.wheel], 1)[40:]
    rates = np.gradient(np.unwrap(angles, axis=0), PERIOD, axis=0)
    start = relative(found.pose[40], found.pose[-1])
    # where the axis stands far from its zero
    away = np.abs(np.angle(np.exp(1j * (angles[:, 0, 0] - robot.steering_zero[0]))))
    return robot, found.time[40:], angles, rates, start, 300 + int(np.argmax(away[300:900]))


def run(ride, rated, restarted=(), spike=()):
    """Return the estimates; channels (row, caster) restart at zero, or drop to it once."""
    robot, times, angles, rates, _, at = ride
    angles = angles.copy()
    zero = np.stack([robot.steering_zero * np.ones(robot.count), np.zeros(robot.count)])
    for k, i in restarted:
        angles[at:, k, i] += zero[k, i] - angles[at, k, i]
    for k, i in spike:
        angles[at, k, i] = zero[k, i]
    odometry = Odometry(robot)
    return [odometry.step(time, *angle, *(reversed(rate) if rated else ()))
            for time, angle, rate in zip(times, angles, rates, strict=True)]


def leapt(ride, k, i):
    """Return whether the restart is a leap that shows."""
    robot, _, angles, *_, at = ride
    # a wheel may spin by 0.85 rad in a sample
    zero, least = (robot.steering_zero[i], 0.2) if k == 0 else (0.0, 1.0)
    return abs(np.angle(np.exp(1j * (angles[at, k, i] - zero)))) > least


@pytest.mark.parametrize('rated', [True, False])
@pytest.mark.parametrize('channels', [((0, 0),), ((1, 0),), ((0, 0), (1, 0))],
                         ids=['steering', 'wheel', 'module'])
def test_the_pose_goes_on_and_the_encoder_is_named(ride, channels, rated):
    found = run(ride, rated, restarted=channels)
    assert np.hypot(*(relative(ride[4], found[-1].pose)[:2])) < 0.02
    shown = found[-1].channels
    for k, i in channels:
        if leapt(ride, k, i):
            assert shown.restarted[k, i]
    if shown is not None:
        assert 'did their board restart?' in shown.restart_text(*names(ride[0]))


@pytest.mark.parametrize('rated', [True, False])
def test_one_sample_at_zero_is_corrected_and_forgotten(ride, rated):
    found = run(ride, rated, spike=[(0, 0)])
    assert np.hypot(*(relative(ride[4], found[-1].pose)[:2])) < 0.02
    assert found[-1].channels is None


@pytest.mark.parametrize('rated', [True, False])
def test_a_drive_without_a_restart_has_none(ride, rated):
    for estimate in run(ride, rated):
        assert estimate.channels is None or not estimate.channels.restarted.any()


@pytest.fixture(scope='module', params=[0.1, 0.14])
def near_zero(request):
    """Return a ride of the tricycle that restarts where its axis is so far from its zero, rad."""
    robot = ROBOTS['tricycle']
    found = drive(robot, wander(3, turn=3.0), 8.0, rate=1.0 / PERIOD, begin=-0.5 * np.pi)
    angles = np.stack([found.steering, found.wheel], 1)[40:]
    start = relative(found.pose[40], found.pose[-1])
    away = np.abs(np.angle(np.exp(1j * (angles[:, 0, 0] - robot.steering_zero[0]))))
    at = 200 + int(np.argmin(np.abs(away[200:1000] - request.param)))
    assert abs(away[at] - request.param) < 0.01
    return robot, found.time[40:], angles, np.zeros_like(angles), start, at


def test_a_restart_of_a_steered_wheel_near_its_zero_is_a_leap_as_well(near_zero):
    """It stands off by less than a leap shows without rates, and would steer so from then on."""
    found = run(near_zero, False, restarted=((0, 0),))
    assert np.hypot(*(relative(near_zero[4], found[-1].pose)[:2])) < 0.02
    assert found[-1].channels.restarted[0, 0]


@pytest.mark.parametrize('rate', [50.0, 100.0, 200.0])
def test_a_steering_motor_that_arrives_at_zero_does_not_restart(rate):
    """From a standstill, with 400 rad/s², and stopped there exactly."""
    robot = ROBOTS['tricycle']
    for begin in (0.03, 0.06, 0.1, 0.2, 0.5):
        odometry = Odometry(robot)
        zero = np.zeros(robot.count)
        for k in range(40):
            gone = min(begin, 200.0 * (max(0, k - 20) / rate)**2)
            steering = zero.copy()
            steering[0] = robot.steering_zero[0] + begin - gone
            estimate = odometry.step(k / rate, steering, zero + 0.02 * k)
            assert estimate.channels is None or not estimate.channels.restarted.any()
