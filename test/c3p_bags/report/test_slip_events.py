# SPDX-License-Identifier: Apache-2.0
"""Slip found again from joint states: the node's numbers, and the wheel that was made to slip."""

import numpy as np
import pytest
from robots import C3P

from c3p_bags.report.slip_events import blame, replay, runs_of, slip_events
from c3p_bags.runs.run_log import Joints, Slip
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS

RATE = 200.0

# the joints of `rolling` are of one instant, with its stamp
EXACT = OdometrySettings(**SYNCHRONOUS)


def rolling(seconds=3.0, slips=()):
    """Return joints that roll in a circle, with slip (wheel, from, until, along) added to some."""
    time = np.arange(0.0, seconds, 1.0 / RATE)
    twist = np.tile([0.3, 0.1, 0.2], (len(time), 1))
    steering = np.zeros((len(time), 3))
    angle, rate = np.zeros((len(time), 3)), np.zeros((len(time), 3))
    steering_rate = np.zeros((len(time), 3))
    # settled casters: the steering equation is gone through twice from where it ended
    steering[0] = [-1.2, -1.25, -1.3]
    for k in range(len(time)):
        rate[k], steering_rate[k], _ = inverse(C3P, steering[k], twist[k])
        for wheel, begin, end, along in slips:
            if begin <= time[k] < end:
                rate[k, wheel] += along / C3P.wheel_radius[wheel]
        if k + 1 < len(time):
            half = steering[k] + 0.5 * steering_rate[k] / RATE
            _, middle, _ = inverse(C3P, half, twist[k])
            steering[k + 1] = steering[k] + middle / RATE
            angle[k + 1] = angle[k] + rate[k] / RATE
    return Joints(time, steering, steering_rate, angle, rate, np.zeros_like(angle))


def test_the_replay_is_the_odometry_of_the_node():
    joints = rolling(1.5, [(1, 0.5, 0.8, 0.2)])
    # a pause longer than max_gap, and a stamp that repeats, only latch
    time = joints.time + np.where(joints.time > 1.2, 0.5, 0.0)
    time[100] = time[99]
    joints = joints._replace(time=np.rint(time * 1e9) * 1e-9)
    motion, found = replay(C3P, joints)
    odometry = Odometry(C3P)
    for k in range(len(joints.time)):
        told = odometry.step(joints.time[k], joints.steering[k], joints.wheel_angle[k],
                             joints.wheel_rate[k], joints.steering_rate[k])
        # the same operations in the same order
        np.testing.assert_array_equal(motion.pose[k], told.pose)
        assert (found.slipping[k], found.suspect[k]) == (told.slip.slipping, told.slip.suspect)
    assert found.slipping.any() and found.threshold == told.slip.threshold


@pytest.mark.parametrize('wheel', [0, 1, 2])
@pytest.mark.parametrize('along', [0.15, -0.4])
def test_the_wheel_that_slips_is_named(wheel, along):
    _, found = replay(C3P, rolling(2.5, [(wheel, 1.0, 1.4, along)]), EXACT)
    (event,) = slip_events(found)
    assert event.wheel == wheel and event.reported is None
    # of all evidence together: at one instant two wheels may explain it equally well
    assert event.confidence > 0.99
    assert event.along == pytest.approx(along, rel=0.02) and abs(event.across) < 0.02
    # until the alarm, up to 50 ms for this slip, the fit still shares it among all wheels
    assert event.distance == pytest.approx((0.4 - 0.025) * abs(along), abs=0.026 * abs(along))
    assert 1.0 <= event.begin < 1.05
    # the alarm goes on, the event does not
    assert event.end == pytest.approx(1.4, abs=2 / RATE) and 1.0 <= event.peak_time < 1.4
    assert found.time[found.slipping][-1] > event.end + 0.2


def test_one_wheel_after_the_other():
    _, found = replay(C3P, rolling(4.0, [(0, 1.0, 1.3, 0.3), (2, 2.5, 2.8, -0.3)]))
    first, second = slip_events(found)
    assert (first.wheel, second.wheel) == (0, 2) and first.end < second.begin


def test_two_wheels_at_once_are_several():
    _, found = replay(C3P, rolling(2.5, [(0, 1.0, 1.4, 0.3), (1, 1.0, 1.4, -0.3)]))
    (event,) = slip_events(found)
    assert event.wheel == -1 and event.confidence > 0.9


def test_rolling_wheels_slip_never():
    _, found = replay(C3P, rolling(2.0))
    assert slip_events(found) == () and not found.slipping.any()
    # what is left are third-order terms of the steps, far below encoders
    assert found.statistic.max() < 0.01 * found.threshold


def test_whether_the_robot_said_so():
    _, found = replay(C3P, rolling(2.5, [(1, 1.0, 1.4, 0.3)]))
    time = np.arange(0.0, 2.5, 0.05)
    suspect = np.zeros((len(time), 3), bool)
    silent = Slip(time, np.zeros((len(time), 3, 2)), suspect, np.zeros((len(time), 3)))
    assert slip_events(found, silent)[0].reported is False
    suspect[(time > 1.1) & (time < 1.3), 1] = True
    assert slip_events(found, silent)[0].reported is True


def test_evidence_that_fits_two_wheels_names_neither_for_sure():
    _, found = replay(C3P, rolling(2.5, [(1, 1.0, 1.4, 0.3)]))
    # what is left without wheel 1 made as small as without wheel 2
    even = found.without.copy()
    even[:, 0] = even[:, 1]
    wheel, sure = blame(found._replace(without=even), slice(200, 280))
    assert wheel in (0, 1) and sure == pytest.approx(0.5, abs=1e-6)


def test_runs_of_equal_values():
    assert runs_of(np.array([1, 1, 2, 1])) == [(0, 2), (2, 3), (3, 4)]
    assert runs_of(np.array([])) == []
