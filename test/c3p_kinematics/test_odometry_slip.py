# SPDX-License-Identifier: Apache-2.0
"""Odometry while a wheel slips, and while none does but the encoders are coarse."""

import numpy as np
import pytest
from robots import C3P
from test_casters import changed
from test_odometry import PERIOD, STEERING_STEP, WHEEL_STEP, feed, relative, towed

from c3p_kinematics.odometry import Odometry, OdometrySettings


def coarse(angle, step):
    return np.round(angle / step) * step


def spinning(seed, wheel, speed, start=2.0, duration=1.0):
    """Return a towed run in which one wheel turns too fast by `speed` [m/s] for a while."""
    times, steering, angle, poses = towed(C3P, seed, 5.0)
    excess = np.clip(times - start, 0.0, duration) * speed / 0.04
    angle = angle.copy()
    angle[:, wheel] += excess
    return times, coarse(steering, STEERING_STEP), coarse(angle, WHEEL_STEP), poses


@pytest.mark.parametrize('wheel', [0, 1, 2])
@pytest.mark.parametrize('speed', [0.3, -0.5])
def test_spinning_wheel_is_named_and_loses_its_weight(wheel, speed):
    times, steering, angle, poses = spinning(11, wheel, speed)
    odometry = Odometry(C3P)
    estimates = feed(odometry, times, steering, angle)
    during = [e for e in estimates if 2.2 < e.time < 3.0]
    sure = [e.slip.suspect for e in during if e.slip.confidence > 0.9]
    assert all(e.slip.slipping for e in during)
    # now and then the spin is perpendicular to an edge, and the report is unsure
    assert len(sure) > 0.5 * len(during) and set(sure) == {wheel}
    assert not any(e.slip.slipping for e in estimates if e.time < 2.0 or e.time > 3.8)


@pytest.mark.parametrize('wheel', [0, 1, 2])
def test_robust_odometry_errs_less_than_a_third_of_the_plain_one(wheel):
    times, steering, angle, poses = spinning(11, wheel, 0.5)
    errors = [np.linalg.norm(relative(relative(poses[0], poses[-1]), feed(
        Odometry(C3P, OdometrySettings(robust=robust)), times, steering, angle)[-1].pose)[:2])
        for robust in (True, False)]
    assert errors[1] > 0.05 and errors[0] < errors[1] / 3


def test_slip_widens_the_pose_covariance():
    clean = feed(Odometry(C3P), *spinning(11, 0, 0.0)[:3])[-1]
    slipped = feed(Odometry(C3P), *spinning(11, 0, 0.5)[:3])[-1]
    plain = feed(Odometry(C3P, OdometrySettings(robust=False)), *spinning(11, 0, 0.5)[:3])[-1]
    traces = [np.trace(e.pose_covariance) for e in (clean, slipped, plain)]
    assert traces[0] < traces[1] < traces[2]


@pytest.mark.slow
def test_a_minute_of_coarse_encoders_raises_no_alarm():
    # 2000 and 4096 counts per turn at 200 Hz: one count is 25 and 12 mm/s in a single difference
    times, steering, angle, poses = towed(C3P, 2, 60.0, tolerance=1e-7)
    estimates = feed(Odometry(C3P), times, coarse(steering, STEERING_STEP),
                     coarse(angle, WHEEL_STEP))
    assert sum(e.slip.slipping for e in estimates) == 0
    # margin: the largest χ² stays below a third of the threshold
    assert max(e.slip.statistic for e in estimates) < estimates[0].slip.threshold / 3
    error = relative(relative(poses[0], poses[-1]), estimates[-1].pose)
    assert np.hypot(*error[:2]) < 0.05 and abs(error[2]) < 0.05


def test_geometry_errors_of_a_careful_build_raise_no_alarm():
    rng = np.random.default_rng(6)
    built = changed(C3P, wheel_radius=0.04 * (1 + 0.003 * rng.normal(size=3)),
                    caster_offset=0.04 * (1 + 0.02 * rng.normal(size=3)))
    times = np.arange(4001) * PERIOD
    _, steering, angle, _ = towed(built, 8, 20.0)
    steering = steering + np.radians(0.3) * rng.normal(size=3)
    estimates = feed(Odometry(C3P), times, coarse(steering, STEERING_STEP),
                     coarse(angle, WHEEL_STEP))
    assert sum(e.slip.slipping for e in estimates) == 0
