# SPDX-License-Identifier: Apache-2.0
"""The pose with a wrong wheel encoder, the second fit, and held steps, from outside."""

import numpy as np
import pytest
from robots import C3P
from test_odometry import STEERING_STEP, WHEEL_STEP, feed, relative, towed
from test_odometry_refit import DT

from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS

SYNC = OdometrySettings(**SYNCHRONOUS)

# sample from which an encoder is wrong
BEGIN = 600


def stuck(shown):
    """Return the angles of an encoder that has stopped."""
    return np.full_like(shown, shown[0])


def drifting(shown):
    """Return those of one that drifts by 5 rad/s."""
    return shown + 5.0 * DT * np.arange(len(shown))


def lossy(shown):
    """Return those of one that loses every other count."""
    return shown[0] + 0.5 * (shown - shown[0])


@pytest.mark.parametrize('wrong', [stuck, drifting, lossy])
@pytest.mark.parametrize(('seed', 'wheel'), [(11, 0), (12, 1), (13, 2)])
def test_a_wrong_wheel_encoder_does_not_spoil_the_pose(wrong, seed, wheel):
    """The right wheel was named, and the pose lost up to 3 m, as a healthy one was left out."""
    times, steering, angle, poses = towed(C3P, seed, 20.0, tolerance=1e-8)
    angle = angle.copy()
    angle[BEGIN:, wheel] = wrong(angle[BEGIN:, wheel])
    found = feed(Odometry(C3P, SYNC), times, np.round(steering / STEERING_STEP) * STEERING_STEP,
                 np.round(angle / WHEEL_STEP) * WHEEL_STEP)
    assert {e.faults.caster for e in found if e.faults.confidence >= 0.95} == {wheel}
    error = relative(relative(poses[0], poses[-1]), found[-1].pose)
    # most by a wheel that loses every other count, until it is named
    assert np.hypot(*error[:2]) < 0.035 and abs(error[2]) < 0.02


def rolling(speeds):
    """Return the arguments of `feed` for wheels of the C3P that roll at `speeds` (k, 3) [m/s]."""
    angles = np.vstack([np.zeros(3), np.cumsum(speeds, axis=0)]) * DT / C3P.wheel_radius
    return DT * np.arange(len(angles)), np.zeros_like(angles), angles


def test_the_yaw_that_a_slip_has_made_is_taken_back_when_its_wheel_is_known():
    speeds = np.full((400, 3), 0.5)
    speeds[200:260, 0] += 0.08
    yaw = np.abs([e.pose[2] for e in feed(Odometry(C3P, SYNC), *rolling(speeds))])
    # in one sample, that of the isolation; the steering, which has not turned, outweighs the slip
    assert yaw.max() > 0.0005
    assert np.max(yaw[:-1] - yaw[1:]) > 0.5 * yaw.max()
    assert yaw[-1] < 0.0015


def test_calibration_learns_from_no_step_whose_twist_was_held(monkeypatch):
    odometry, used = CalibratingOdometry(C3P, SYNC), []
    monkeypatch.setattr(odometry.calibration, 'step',
                        lambda *motion: used.append(motion[-1]) or False)
    speeds = np.full((100, 3), 0.5)
    speeds[50:60] += 3.0
    found = feed(odometry, *rolling(speeds))
    assert [not good for good in used] == [e.grip.held > 0.0 for e in found[1:]]
    assert used.count(False) == 10
