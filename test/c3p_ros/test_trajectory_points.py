# SPDX-License-Identifier: Apache-2.0
"""Points of a trajectory message, read at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import vectors

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros.chain_messages import TrajectoryMessage  # noqa: E402
from c3p_ros.messages import MessageError, planar_pose  # noqa: E402
from c3p_ros.trajectory_points import planar_points  # noqa: E402

QUATERNIONS = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).map(np.array).filter(
    lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))


def trajectory(frame, points):
    time, place, rate = zip(*points, strict=True) if points else ((), (), ())
    return TrajectoryMessage(1, frame, ['base_link'], np.array(time),
                          np.reshape(np.array(place, float), (-1, 7)),
                          np.reshape(np.array(rate, float), (-1, 6)))


@st.composite
def trajectories(draw):
    count = draw(st.integers(1, 8))
    points = [(0.1 * k, (*draw(vectors(3, 1e4)), *draw(QUATERNIONS)), tuple(draw(vectors(6, 9.0))))
              for k in range(count)]
    return trajectory('odom', points)


@given(trajectories())
def test_points_read_at_once_are_those_read_one_by_one(read):
    time, pose, velocity = planar_points(read, 'odom')
    for k, (seconds, place, rate) in enumerate(zip(read.time, read.transforms, read.velocities,
                                                    strict=True)):
        one = planar_pose(place, 'one')
        assert time[k] == seconds and np.array_equal(pose[k, :2], one[:2])
        # where the body stands upright a yaw is not defined
        x, y, z, w = place[3:]
        if math.hypot(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) > 1e-6:
            assert math.cos(pose[k, 2] - one[2]) == pytest.approx(1.0, abs=1e-9)
        assert velocity[k].tolist() == [rate[0], rate[1], rate[5]]
    # continuous: no step of more than half a turn
    assert (abs(np.diff(pose[:, 2])) <= math.pi + 1e-9).all()


@pytest.mark.parametrize('place, rate, words', [
    ((math.nan, 0, 0, 0, 0, 0, 1), (0,) * 6, 'points.1..position'),
    ((1e300, 0, 0, 0, 0, 0, 1), (0,) * 6, 'points.1..position'),
    ((0,) * 7, (0,) * 6, 'points.1..orientation.*not a rotation'),
    ((0, 0, 0, 0, 0, math.nan, 1), (0,) * 6, 'points.1..orientation'),
    ((0, 0, 0, 0, 0, 0, 1), (0, 0, 0, math.inf, 0, 0), 'points.1..angular.x')])
def test_a_point_that_cannot_be_is_named(place, rate, words):
    good = (0.0, (0.0,) * 6 + (1.0,), (0.0,) * 6)
    read = trajectory('odom', [good, (0.1, place, rate)])
    with pytest.raises(MessageError, match=words):
        planar_points(read, 'odom')


@pytest.mark.parametrize('frame, points, words', [
    ('map', [(0.0, (0.0,) * 6 + (1.0,), (0.0,) * 6)], "'map'.*'odom'"), ('odom', [], 'no points')])
def test_a_trajectory_elsewhere_or_without_points_is_refused(frame, points, words):
    with pytest.raises(MessageError, match=words):
        planar_points(trajectory(frame, points), 'odom')
