# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_dynamics.identification.excitation import Excitation
from c3p_kinematics.se2 import compose, integrate

durations = st.floats(5.0, 200.0)


@given(durations, st.floats(0.05, 1.0), st.floats(0.1, 2.0), st.floats(-0.2, 1.2))
def test_velocity_is_the_derivative_of_the_pose(duration, speed, yaw_rate, part):
    excitation = Excitation(duration, speed, yaw_rate)
    time, h = part * duration, 1e-5
    before, after = (excitation.reference(time + s * h)[0] for s in (-1, 1))
    # third derivatives of some 100 m/s³ at h², and the kink of the window's slope
    np.testing.assert_allclose(excitation.reference(time)[1], (after - before) / (2 * h),
                               atol=1e-3)


@given(durations, st.floats(0.05, 1.0))
def test_it_begins_and_ends_at_rest_at_one_place_and_stays_within_its_reach(duration, speed):
    excitation = Excitation(duration, speed)
    poses = np.array([excitation.reference(t)[0] for t in np.linspace(0, duration, 400)])
    for end in (0.0, duration, -1.0, duration + 1.0):
        np.testing.assert_allclose(np.concatenate(excitation.reference(end)), 0.0, atol=1e-12)
    assert np.hypot(poses[:, 0], poses[:, 1]).max() <= excitation.reach
    # 0.6 m at the usual 0.3 m/s
    assert excitation.reach <= 2.0 * speed


def test_speeds_stay_within_what_was_asked_but_for_the_fading():
    excitation = Excitation(60.0, 0.3, 1.0)
    speeds = np.array([excitation.reference(t)[1] for t in np.linspace(5.0, 55.0, 5000)])
    largest = np.abs(speeds).max(axis=0)
    assert np.all(largest <= [0.3, 0.3, 1.0]) and np.all(largest > [0.25, 0.25, 0.8])


@pytest.mark.parametrize('start', [np.zeros(3), np.array([3.0, -2.0, 2.5])])
def test_a_robot_that_obeys_follows_the_reference_from_anywhere(start):
    excitation = Excitation(20.0, 0.3, 1.0)
    pose, dt = np.array(start), 0.002
    for k in range(8000):
        pose = integrate(pose, dt * excitation.twist(k * dt, start, pose))
    wanted = compose(start, excitation.reference(8000 * dt)[0])
    error = pose - wanted
    error[2] = np.angle(np.exp(1j * error[2]))
    # what is left is the step of 2 ms against rates of some 3 rad/s
    assert np.abs(error).max() < 3e-3


def test_a_robot_that_was_pushed_comes_back():
    excitation = Excitation(20.0, 0.3, 1.0, gain=2.0)
    pose, dt = np.array([0.3, -0.2, 0.5]), 0.002
    for k in range(int(5 / dt)):
        pose = integrate(pose, dt * excitation.twist(k * dt, np.zeros(3), pose))
    assert np.abs(pose - excitation.reference(5.0)[0]).max() < 1e-2


def test_without_odometry_the_reference_itself_counts():
    excitation = Excitation(20.0)
    pose, velocity = excitation.reference(7.0)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    expected = [c * velocity[0] + s * velocity[1], -s * velocity[0] + c * velocity[1], velocity[2]]
    np.testing.assert_allclose(excitation.twist(7.0), expected, atol=1e-12)


@pytest.mark.parametrize('name, value', [('duration', 0.0), ('speed', -1.0),
                                         ('yaw_rate', np.inf), ('gain', -0.1)])
def test_what_is_not_positive_is_refused(name, value):
    with pytest.raises(ValueError, match=f'{name} = '):
        Excitation(**{name: value})
