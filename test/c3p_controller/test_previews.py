# SPDX-License-Identifier: Apache-2.0
"""References within limits: the path stays, speeds do not exceed, nothing pulls from afar."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import vectors
from scipy.integrate import solve_ivp

from c3p_controller.goals.path import Arcs
from c3p_controller.limits import ReferenceLimits
from c3p_controller.previews import (
    REACH,
    limit_preview,
    stay_near,
    stop_preview,
)
from c3p_controller.torque_law import Preview, check_preview
from c3p_kinematics.se2 import wrap

LIMITS = ReferenceLimits(0.5, 1.0)


@st.composite
def aheads(draw, size=2.0):
    """Draw a reference of 1 to 12 points whose velocities need not fit its poses."""
    count = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = rng.uniform(0.01, 0.3, count)
    gaps[0] = 0.0
    scale = 10.0 ** rng.uniform(-2.0, 1.0)
    return Preview(np.cumsum(gaps), size * scale * rng.standard_normal((count, 3)),
                 scale * rng.standard_normal((count, 3)))


def along(path, speed, gap=0.02):
    """Return a reference along `path` at a constant speed."""
    sigma = np.arange(0.0, path.length, speed * gap)
    poses, rates = path.at(sigma)
    return Preview(gap * np.arange(len(sigma)), poses, speed * rates)


@given(aheads())
def test_the_points_stay_and_no_speed_exceeds_its_limit(ahead):
    slow = check_preview(limit_preview(ahead, LIMITS))
    assert np.array_equal(slow.pose, ahead.pose)
    speed, turn = np.hypot(*slow.velocity.T[:2]), abs(slow.velocity[:, 2])
    assert (speed <= LIMITS.speed * (1 + 1e-12)).all()
    assert (turn <= LIMITS.yaw_rate * (1 + 1e-12)).all()
    # neither do the distances between the points
    steps, gaps = np.diff(slow.pose, axis=0), np.diff(slow.time)
    assert (np.hypot(*steps.T[:2]) <= LIMITS.speed * gaps * (1 + 1e-9)).all()
    assert (abs(steps[:, 2]) <= LIMITS.yaw_rate * gaps * (1 + 1e-9)).all()
    assert (gaps >= np.diff(ahead.time) * (1 - 1e-9)).all()
    # one factor for all parts of a velocity: its direction and the curvature stay
    for before, after in zip(ahead.velocity, slow.velocity, strict=True):
        assert np.linalg.norm(np.cross(before, after)) <= 1e-12 * np.linalg.norm(before)**2


@given(aheads())
def test_limiting_twice_is_limiting_once(ahead):
    once = limit_preview(ahead, LIMITS)
    twice = limit_preview(once, LIMITS)
    assert twice.time == pytest.approx(once.time, rel=1e-9)
    assert twice.velocity == pytest.approx(once.velocity, rel=1e-9)


@pytest.mark.parametrize('speed', [0.2, 0.49, 0.8, 3.0])
@pytest.mark.parametrize('curvature', [0.0, 0.7, -3.0])
def test_a_path_is_travelled_at_the_limit_and_its_velocities_are_still_its_derivatives(
        speed, curvature):
    path = Arcs(np.array([1.0, 2.0, 0.3]), 0.5, ((2.0, curvature),))
    ahead = along(path, speed)
    slow = limit_preview(ahead, LIMITS)
    fastest = max(speed / LIMITS.speed, speed * abs(curvature) / LIMITS.yaw_rate)
    if fastest <= 1.0:
        assert slow is ahead
    assert slow.time == pytest.approx(max(fastest, 1.0) * ahead.time)
    # central differences of a path of curvature κ err by (κ step)²/6 of the speed
    step = speed * 0.02
    rate = (slow.pose[2:] - slow.pose[:-2]) / (slow.time[2:] - slow.time[:-2])[:, None]
    assert rate == pytest.approx(slow.velocity[1:-1], abs=speed * (curvature * step)**2 + 1e-9)


def test_what_is_slow_enough_stays_as_it_is_where_something_else_is_too_fast():
    """A robot that travels at its limit must not be slowed down by what comes later."""
    time = 0.1 * np.arange(5)
    velocity = np.zeros((5, 3))
    velocity[:, 0] = [0.5, 0.5, 0.5, 1.5, 1.5]
    pose = np.zeros((5, 3))
    pose[1:, 0] = np.cumsum(0.1 * 0.5 * (velocity[1:, 0] + velocity[:-1, 0]))
    slow = limit_preview(Preview(time, pose, velocity), LIMITS)
    assert slow.time[:3] == pytest.approx(time[:3])
    assert slow.velocity[:, 0] == pytest.approx(np.full(5, 0.5))
    assert np.diff(slow.time)[2:] == pytest.approx(np.diff(pose[:, 0])[2:] / 0.5)


def test_a_turn_about_a_full_circle_counts_as_one():
    pose = np.zeros((2, 3))
    pose[1, 2] = 2.0 * np.pi
    slow = limit_preview(Preview(np.array([0.0, 1.0]), pose, np.zeros((2, 3))), LIMITS)
    assert slow.time[1] == pytest.approx(2.0 * np.pi / LIMITS.yaw_rate)


@pytest.mark.parametrize('size', [1e4, 1e150, 1e308])
@pytest.mark.parametrize('field', ['pose', 'velocity'])
def test_points_that_do_not_belong_together_are_refused(field, size):
    parts = {'pose': np.zeros((3, 3)), 'velocity': np.zeros((3, 3))}
    parts[field][1:, 0] = [size, -size]
    with pytest.raises(ValueError, match='takes .* s at the limits'):
        limit_preview(Preview(np.array([0.0, 0.1, 0.2]), **parts), LIMITS)


@given(aheads(), st.floats(-1.0, 3.0), vectors(3, 20.0))
def test_no_reference_is_further_away_than_the_limits_reach(ahead, time, pose):
    near = stay_near(ahead, time, pose, LIMITS)
    gaps = [np.array([np.interp(time, ahead.time, p) for p in a.pose.T]) - pose
            for a in (ahead, near)]
    for gap in gaps:
        gap[2] = wrap(gap[2])
    before, after = gaps
    reach = REACH * LIMITS.speed, REACH * LIMITS.yaw_rate
    assert np.hypot(*after[:2]) <= reach[0] * (1 + 1e-6) and abs(after[2]) <= reach[1] + 1e-6
    if np.hypot(*before[:2]) <= reach[0] and abs(before[2]) <= reach[1]:
        assert near is ahead
    # towards the robot, without a turn of the path and without another speed
    assert abs(before[0] * after[1] - before[1] * after[0]) <= 1e-6 * (1 + np.hypot(*before[:2]))
    assert before[:2] @ after[:2] >= -1e-6 and before[2] * after[2] >= -1e-6
    assert near.velocity is ahead.velocity and near.time is ahead.time
    assert np.ptp(near.pose - ahead.pose, axis=0) == pytest.approx(0.0, abs=1e-9)


@given(vectors(3, 5.0), vectors(3, 2.0), st.floats(0.05, 0.5), st.floats(0.2, 5.0))
def test_a_stop_is_the_motion_slowed_down_evenly_along_its_arc(pose, twist, lever, deceleration):
    assume(np.abs(twist).max() > 0.01)
    way = check_preview(stop_preview(pose, twist, lever, deceleration))
    duration = way.time[-1]
    # nothing slows down harder, and the fastest exactly so
    assert max(np.hypot(*twist[:2]), lever * abs(twist[2])) / duration == (
        pytest.approx(deceleration))

    def rate(time, now):
        c, s = np.cos(now[2]), np.sin(now[2])
        vx, vy, w = twist * (1.0 - time / duration)
        return [c * vx - s * vy, s * vx + c * vy, w]

    found = solve_ivp(rate, (0.0, duration), pose, rtol=1e-10, atol=1e-12, t_eval=way.time)
    assert way.pose == pytest.approx(found.y.T, abs=1e-7)
    expected = np.array([rate(t, p) for t, p in zip(way.time, way.pose, strict=True)])
    assert way.velocity == pytest.approx(expected, abs=1e-12)
    assert not way.velocity[-1].any()


def test_a_robot_that_stands_stops_where_it_is():
    way = stop_preview(np.array([1.0, 2.0, 3.0]), np.zeros(3), 0.3, 1.0)
    assert way.pose.tolist() == [[1.0, 2.0, 3.0]] and not way.velocity.any()
