# SPDX-License-Identifier: Apache-2.0
"""No path is lost by wrong stamps or joints of unequal age; wheels that spin move nothing."""

import numpy as np
import pytest
from robots import C3P
from test_odometry import STEERING_STEP, WHEEL_STEP, feed, relative, towed

from c3p_experiments.robots.random_robots import random_robot
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS

# of the towed drives, and in which the joints become of one age at their end, s
FINE, DURATION, TAPER = 0.001, 12.0, 0.5


class Recorded:
    """A towed drive whose joints are read at any time, as encoders count."""

    def __init__(self, robot, seed, duration=DURATION):
        self.robot, self.duration = robot, duration
        self.times, steering, self.wheel, poses = towed(robot, seed, duration, FINE, 1e-8)
        self.steering = np.unwrap(steering, axis=0)
        self.moved = relative(poses[0], poses[-1])

    def samples(self, rng, rate=200.0, jitter=0.0, age=0.0, batch=1):
        """Return stamps, steering and wheel angles; each joint has its own cycle `age` [s]."""
        n, times = self.robot.count, np.arange(0.0, self.duration + FINE / 2, 1.0 / rate)
        period = age * rng.uniform(0.97, 1.03, 2 * n) + 1e-12
        ages = np.mod(times[:, None] + period * rng.uniform(0, 1, 2 * n), period)
        ages *= np.clip((self.duration - times) / TAPER, 0.0, 1.0)[:, None]
        joints = np.hstack([self.steering, self.wheel])
        seen = np.column_stack([np.interp(times - ages[:, j], self.times, joints[:, j])
                                for j in range(2 * n)])
        steps = np.repeat([STEERING_STEP, WHEEL_STEP], n)
        seen = np.round(seen / steps) * steps
        stamps = times + rng.normal(0.0, jitter, len(times)) if jitter else times.copy()
        first = np.arange(len(times)) // batch * batch
        stamps = stamps[np.minimum(first + batch, len(times)) - 1] + 2e-5 * (
            np.arange(len(times)) - first) if batch > 1 else stamps
        return stamps, seen[:, :n], seen[:, n:]

    def error(self, samples, chosen=None):
        """Return the final error of position, m, and the estimates."""
        found = feed(Odometry(self.robot, chosen), *samples)
        return np.hypot(*relative(self.moved, found[-1].pose)[:2]), found


@pytest.fixture(scope='module')
def recorded():
    return [Recorded(C3P, seed) for seed in (3, 8)]


@pytest.mark.parametrize(('condition', 'most', 'alarms'), [
    ({}, 0.002, 0), ({'jitter': 0.001}, 0.002, 0), ({'jitter': 0.002}, 0.002, 0),
    ({'jitter': 0.004}, 0.01, 0), ({'age': 0.002}, 0.004, 0), ({'age': 0.01}, 0.02, None),
    ({'age': 0.02}, 0.05, None), ({'jitter': 0.002, 'age': 0.01}, 0.02, None),
    ({'jitter': 0.002, 'rate': 100.0}, 0.004, 0), ({'jitter': 0.002, 'rate': 500.0}, 0.004, 0),
    ({'age': 0.01, 'rate': 50.0}, 0.02, None), ({'batch': 3}, 0.004, 0)])
def test_no_path_is_lost_by_wrong_times(recorded, condition, most, alarms):
    """The same drive lost up to a metre when velocities were judged by single stamps."""
    for k, drive in enumerate(recorded):
        error, found = drive.error(drive.samples(np.random.default_rng(k), **condition))
        assert error < most
        assert error < 3.0 * np.sqrt(np.diag(found[-1].pose_covariance)[:2].max())
        assert found[-1].doubt[0] < 0.05
        assert alarms is None or sum(e.faults.alarm or e.slip.slipping for e in found) == alarms


@pytest.fixture(scope='module')
def recorded_robots():
    return [Recorded(random_robot(2000 + seed), seed, 5.0) for seed in range(20)]


@pytest.mark.parametrize(('condition', 'alarms'), [
    ({'jitter': 0.002}, 0), ({'age': 0.005}, 0), ({'jitter': 0.002, 'age': 0.005}, None)])
def test_no_robot_loses_its_path_by_wrong_times(recorded_robots, condition, alarms):
    """With both wrong at once some of these robots name a fault, but lose no path by it."""
    for k, drive in enumerate(recorded_robots):
        error, found = drive.error(drive.samples(np.random.default_rng(k), **condition))
        assert error < 0.02
        assert error < 3.0 * np.sqrt(np.diag(found[-1].pose_covariance)[:2].max())
        assert alarms is None or sum(e.faults.alarm for e in found) == alarms


def rolled(speeds, stamps=None, **chosen):
    """Return the estimates of a C3P whose wheels all roll along +Y at `speeds` [m/s]."""
    angle = np.concatenate([[0.0], np.cumsum(speeds)]) * 0.005 / C3P.wheel_radius[0]
    times = 0.005 * np.arange(len(angle)) if stamps is None else stamps
    return feed(Odometry(C3P, OdometrySettings(**chosen)), times, np.zeros((len(angle), 3)),
                np.tile(angle[:, None], (1, 3)))


@pytest.mark.parametrize(('excess', 'steps', 'most'), [(3.0, 20, 0.01), (2.0, 30, 0.01)])
def test_wheels_that_spin_move_nothing_although_stamps_may_be_wrong(excess, steps, most):
    """The window shows the spin after some samples; what they have moved is taken back."""
    speeds = np.full(400, 0.5)
    speeds[200:200 + steps] += excess
    found = rolled(speeds)
    assert abs(found[-1].pose[1] - 1.0) < most
    # what the tyres may have done meanwhile is told
    assert 0.02 < found[-1].doubt[0] < 0.2
    assert found[-1].pose_covariance[1, 1] >= found[-1].doubt[0]**2


def test_increments_of_a_held_twist_are_taken_once_time_proves_them():
    """A stamp nine deviations too early makes one step too short, and the next too long by it."""
    speeds, stamps = np.full(400, 2.0), 0.005 * np.arange(401)
    stamps[200] -= 0.0045
    found = rolled(speeds, stamps, **SYNCHRONOUS | {'stamp_jitter': 0.0005})
    assert any(e.grip.held for e in found)
    assert found[-1].pose[1] == pytest.approx(4.0, abs=0.002)
    assert found[-1].doubt[0] < 1e-3
    assert found[-1].distance == pytest.approx(4.0, abs=0.01)
