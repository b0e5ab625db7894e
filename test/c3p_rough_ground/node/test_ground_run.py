# SPDX-License-Identifier: Apache-2.0
"""The run behind the node: its numbers belong together, it ends where the model ends."""

import dataclasses

import numpy as np
import pytest

from c3p_description import load
from c3p_rough_ground.node.commands import CAMBER_2, DRIVES, STEERING
from c3p_rough_ground.node.run import RoughGroundRun
from c3p_rough_ground.terrain import Flat, Hills, Incline

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

MODEL = load('pvc_tricycle')
AHEAD = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
HILLS = Hills.random(seed=1)


@pytest.fixture(scope='module')
def hills():
    return RoughGroundRun(MODEL, HILLS, (0.5, -0.3, 0.7))


def test_it_starts_where_it_was_told_with_all_wheels_on_the_ground():
    run = RoughGroundRun(MODEL, HILLS, (0.5, -0.3, 0.7))
    assert run.state.position[:2] == pytest.approx([0.5, -0.3], abs=1e-12)
    # the platform is tilted the shortest way, which turns its heading by about slope²/2
    heading = np.arctan2(run.state.rotation[1, 0], run.state.rotation[0, 0])
    assert heading == pytest.approx(0.7, abs=0.02)
    x, y, z = run.contact_point.T
    np.testing.assert_allclose(z, HILLS.height(x, y), rtol=0, atol=1e-10)
    assert (run.time, run.distance, run.ended) == (0.0, 0.0, '')
    # a wheel centre is R + ρ from where the wheel touches, or nearer on the flank of the tube
    apart = np.linalg.norm(run.wheel_center - run.contact_point, axis=1)
    assert (apart <= MODEL.outer_radius + 1e-9).all()
    assert (apart >= MODEL.outer_radius - 2 * MODEL.tube_radius).all()


def test_twist_and_rates_are_the_derivatives_of_pose_and_angles(hills):
    hills.restart()
    period, states = 1e-3, []
    for _ in range(3):
        hills.advance(AHEAD, period)
        states.append((hills.state, hills.twist, hills.joint_rates))
    (a, *_), (b, twist, rates), (c, *_) = states
    # central differences of a motion whose third derivatives are about 1: error of period²
    velocity = b.rotation.T @ (c.position - a.position) / (2 * period)
    np.testing.assert_allclose(velocity, twist[:3], rtol=0, atol=1e-5)
    turn = b.rotation.T @ (c.rotation - a.rotation) / (2 * period)
    np.testing.assert_allclose([turn[2, 1], turn[0, 2], turn[1, 0]], twist[3:], rtol=0, atol=1e-5)
    np.testing.assert_allclose((c.joint - a.joint) / (2 * period), rates, rtol=0, atol=1e-5)
    assert np.linalg.norm(twist[:3]) > 0.1


def test_time_distance_and_closure_are_kept(hills):
    hills.restart()
    for _ in range(200):
        hills.advance(AHEAD, 0.01)
    assert hills.time == pytest.approx(2.0, abs=1e-9) and not hills.ended
    # 1 rad/s on an outer radius of 0.3 m, less what steering away and leaning take
    assert 0.4 < hills.distance < 0.65
    assert hills.closure < 1e-9 and 0 < hills.largest_camber < 0.5


def test_restart_is_the_start_to_the_last_bit(hills):
    hills.restart()
    state, points = hills.state, hills.contact_point
    for _ in range(5):
        hills.advance(AHEAD, 0.02)
    hills.restart()
    for name in ('position', 'rotation', 'joint', 'contact'):
        np.testing.assert_array_equal(getattr(hills.state, name), getattr(state, name))
    np.testing.assert_array_equal(hills.contact_point, points)
    assert not hills.joint_rates.any() and not hills.twist.any()


def test_flat_ground_is_driven_straight_at_the_speed_of_the_outer_radius():
    run = RoughGroundRun(MODEL, Flat(0.2), (1.0, 2.0, np.pi / 2))
    for _ in range(10):
        run.advance(AHEAD, 0.1)
    # rounding of ten steps
    np.testing.assert_allclose(run.state.position, [1.0, 2.3, 0.5], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.twist, [0.3, 0, 0, 0, 0, 0], rtol=0, atol=1e-9)


def test_heavy_camber_keeps_the_wheels_upright_in_a_turn():
    leans = []
    for weight in (1.0, 100.0):
        run = RoughGroundRun(MODEL, Incline(0.0, 0.0), weights=[1, 1, weight, 1, weight, 1])
        steer = AHEAD.copy()
        steer[STEERING] = 0.3
        for _ in range(30):
            run.advance(steer, 0.1)
        leans.append(run.largest_camber)
    assert leans[1] < leans[0] / 5


def test_it_ends_at_a_stop_and_stays_there():
    model = dataclasses.replace(MODEL, camber_limit=0.05)
    run = RoughGroundRun(model, HILLS, (0.5, -0.3, 0.7))
    # equal drives in a turn lean the wheels
    turn = AHEAD + 0.2 * (np.arange(6) == STEERING)
    for _ in range(300):
        run.advance(turn, 0.02)
        if run.ended:
            break
    assert run.ended.startswith(f'joint limit at t = {run.time:.2f} s, joint camber_joint_')
    assert 'camber_gain' in run.ended and run.time > 0.5
    assert not run.joint_rates.any() and not run.twist.any()
    # the last state before the stop is less than a period away from it
    assert run.largest_camber == pytest.approx(0.05, abs=5e-3)
    state, time = run.state, run.time
    run.advance(AHEAD, 0.02)
    assert run.state is state and run.time == time
    run.restart()
    assert not run.ended and run.time == 0.0
    assert abs(run.state.joint[CAMBER_2]) < 0.05 and not run.state.joint[DRIVES].any()
