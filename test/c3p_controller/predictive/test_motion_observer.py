# SPDX-License-Identifier: Apache-2.0
"""The observer finds twist and disturbance of a plant that it was not told of."""

import numpy as np
import pytest
from torque_line import acting

from c3p_controller.predictive.motion_observer import (
    JUMP,
    PENDING,
    InputDelay,
    MotionObserver,
)
from c3p_description.reading.loader import load
from c3p_simulation.plants.plant import AnalyticPlant

ROBOT = load('c3p')
TORQUE = np.array([0.5, 0.3, 0.4])


def observed(push, seconds, noise=0.0, bandwidth=30.0, latency=0.0):
    """Return the observer and the truth after driving under a constant push."""
    plant, rng = AnalyticPlant(ROBOT), np.random.default_rng(1)
    observer = MotionObserver(ROBOT, ROBOT.losses, bandwidth, bandwidth, np.full(3, 100.0))
    observer.reset(np.zeros(3), np.zeros(3), np.zeros(3))
    plant.push(push[:2], push[2], 1e3)
    line = InputDelay(3, latency)
    held = [np.zeros(3)] * round(latency / 0.005)
    for _ in range(round(seconds / 0.005)):
        line.add(TORQUE)
        held.append(TORQUE)
        sample = plant.step(held.pop(0), 0.005)
        pose = plant.truth().pose + noise * rng.normal(size=3)
        observer.step(pose, plant.truth().twist, sample.steering, line, 0.005)
    return observer, plant.truth()


@pytest.mark.parametrize('push', [(0.0, 0.0, 0.0), (6.0, -4.0, 1.0)])
def test_a_constant_wrench_is_found(push):
    observer, truth = observed(push, 1.0)
    # the correction has settled, e^-30; the casters still turn, so the push is not quite constant
    np.testing.assert_allclose(observer.wrench, push, atol=0.35)
    np.testing.assert_allclose(observer.state[:3], truth.pose, atol=1e-4)
    np.testing.assert_allclose(observer.state[3:6], truth.twist, atol=5e-3)


def test_a_known_delay_of_the_torques_is_no_disturbance():
    observer, _ = observed((0.0, 0.0, 0.0), 0.5, latency=0.02)
    np.testing.assert_allclose(observer.wrench, 0.0, atol=0.35)


def test_noise_is_smoothed():
    observer, truth = observed((0.0, 0.0, 0.0), 1.0, noise=1e-4)
    # a difference of two poses over a cycle would be off by 1e-4 √2/0.005 = 0.028
    assert abs(observer.state[3:5] - truth.twist[:2]).max() < 0.012


def test_a_pose_that_jumps_starts_afresh():
    observer, truth = observed((5.0, 0.0, 0.0), 0.5)
    pose = truth.pose + [2 * JUMP, 0.0, 0.0]
    state = observer.step(pose, truth.twist, np.zeros(3), InputDelay(3, 0.0), 0.005)
    np.testing.assert_array_equal(state[:3], pose)
    np.testing.assert_array_equal(observer.wrench, 0.0)


def test_disturbances_are_believed_up_to_a_limit():
    observer, _ = observed((500.0, 0.0, 0.0), 0.1)
    assert abs(observer.wrench).max() <= 100.0


def test_torques_act_when_their_time_has_come():
    line = InputDelay(2, 0.012)
    for k in range(4):
        line.add(np.full(2, float(k)))
        assert sum(duration for duration, _ in acting(line, 0.005)) == pytest.approx(0.005)
        line.advance(0.005)
    # sent at 0, 5, 10, 15 ms; now 20 ms: the third acts from 22 ms on
    assert [(round(d, 6), t[0]) for d, t in acting(line, line.latency)] == [
        (0.002, 1.0), (0.005, 2.0), (0.005, 3.0)]
    with pytest.raises(ValueError, match='latency'):
        InputDelay(2, -0.1)


def test_memory_grows_with_the_torques_that_are_pending():
    line = InputDelay(2, 0.9)
    # 900 torques are pending, more than there is memory for at first
    for k in range(1000):
        line.add(np.full(2, float(k)))
        line.advance(0.001)
    assert len(line.begins) > PENDING and line.latency == 0.9
    np.testing.assert_allclose(np.diff(line.begins), 0.001, rtol=1e-9)
    assert line.torques[-1].tolist() == [999.0, 999.0]
