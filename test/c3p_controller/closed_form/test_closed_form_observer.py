# SPDX-License-Identifier: Apache-2.0
"""The observer in plain Python: its prediction, its correction, and the torques on their way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P

from c3p_controller.closed_form.model import ScalarModel, times
from c3p_controller.closed_form.observer import QueueObserver, State
from c3p_controller.torque_law import Sensed
from c3p_simulation.plants.plant import AnalyticPlant

DT = 0.005
MODEL = ScalarModel(C3P, 0.5)
BELIEVED = (40.0, 40.0, 8.0)


def sensed_of(plant):
    sample, truth = plant.sense(), plant.truth()
    return Sensed(plant.time, sample.steering, sample.wheel_rate, truth.pose, truth.twist)


def accel_of(observer, state, torque):
    """Return the ν̇ that the model expects of `torque` in `state`, and M."""
    motion = MODEL.motion(state.steering, state.twist, observer.wrench)
    force = np.array(motion.force) + np.array(motion.rolling).T @ (torque / C3P.wheel_radius)
    return times(motion.inverse_mass, tuple(force)), motion.mass


@given(st.integers(0, 2**32 - 1))
def test_a_step_is_of_second_order(seed):
    rng = np.random.default_rng(seed)
    accel = tuple(rng.normal(size=3))
    state = State(tuple(rng.normal(size=3)), tuple(rng.normal(0.0, 0.3, 3)),
                  list(rng.uniform(-3.0, 3.0, 3)))

    def end(parts):
        there = state
        for _ in range(parts):
            there = there.moved(MODEL, accel, 0.02 / parts)
        return np.array([*there.pose, *there.twist, *there.steering])

    fine = end(400)
    coarse, half = np.abs(end(10) - fine).max(), np.abs(end(20) - fine).max()
    # half the step, a quarter of the error; rounding of 400 steps stays below 1e-12
    assert half <= 0.35 * coarse + 1e-11
    assert coarse < 0.02


def test_with_the_right_model_the_prediction_is_the_future():
    plant = AnalyticPlant(C3P)
    plant.reset(steering=[0.3, -1.0, 2.0])
    observer = QueueObserver(MODEL, 2 * DT, 30.0, BELIEVED)
    observer.reset(sensed_of(plant))
    rng = np.random.default_rng(1)
    torques = [np.zeros(3)] * 2
    foretold = []
    for _ in range(100):
        state = observer.predicted(DT)
        foretold.append(np.array([*state.pose, *state.twist]))
        torques.append(torques[-1] + rng.normal(0.0, 0.1, 3))
        observer.send(*accel_of(observer, state, torques[-1]))
        plant.step(torques[-3], DT)
        observer.step(sensed_of(plant), DT)
        truth = plant.truth()
        if len(foretold) > 2:
            # ν̇ is held for 5 ms while casters turn
            error = foretold[-2] - [*truth.pose, *truth.twist]
            assert np.abs(error[:3]).max() < 2e-4 and np.abs(error[3:]).max() < 1e-2
    assert np.abs(observer.wrench).max() < 2.0


def test_a_steady_push_is_found():
    plant = AnalyticPlant(C3P)
    plant.reset(steering=[0.3, -1.0, 2.0])
    observer = QueueObserver(MODEL, 0.0, 30.0, BELIEVED)
    observer.reset(sensed_of(plant))
    push = (4.0, -3.0, 1.0)
    plant.push(push[:2], push[2], 10.0)
    for _ in range(120):
        observer.send(*accel_of(observer, observer.predicted(DT), np.zeros(3)))
        plant.step(np.zeros(3), DT)
        observer.step(sensed_of(plant), DT)
    # the push is in turning axes, as the wrench is
    assert observer.wrench == pytest.approx(push, abs=0.15)


def test_a_disturbance_is_believed_up_to_its_limit():
    plant = AnalyticPlant(C3P)
    observer = QueueObserver(MODEL, 0.0, 30.0, (1.0, 1.0, 0.1))
    observer.reset(sensed_of(plant))
    plant.push((20.0, 0.0), 0.0, 10.0)
    for _ in range(60):
        observer.send(*accel_of(observer, observer.predicted(DT), np.zeros(3)))
        plant.step(np.zeros(3), DT)
        observer.step(sensed_of(plant), DT)
    assert observer.wrench[0] == 1.0


@pytest.mark.parametrize('pose', [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (np.nan, 0.0, 0.0)])
def test_an_odometry_that_jumps_is_taken_over(pose):
    observer = QueueObserver(MODEL, 0.0, 30.0, BELIEVED)
    zero = np.zeros(3)
    observer.reset(Sensed(0.0, zero, zero, zero, zero))
    observer.step(Sensed(DT, zero, zero, np.array(pose), np.array([0.1, 0.0, 0.0])), DT)
    assert observer.state.pose == pytest.approx(pose, nan_ok=True)
    assert observer.state.twist == (0.1, 0.0, 0.0)


def test_yaw_that_wraps_is_no_jump():
    observer = QueueObserver(MODEL, 0.0, 30.0, BELIEVED)
    zero = np.zeros(3)
    observer.reset(Sensed(0.0, zero, zero, np.array([0.0, 0.0, np.pi - 0.001]), zero))
    observer.step(Sensed(DT, zero, zero, np.array([0.0, 0.0, -np.pi + 0.001]), zero), DT)
    assert np.pi - 0.001 < observer.state.pose[2] < np.pi + 0.001
