# SPDX-License-Identifier: Apache-2.0
"""A law that drives far beyond its command is stopped; pushes and slopes are not its fault."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_controller.command_follower import CommandFollower, FollowerSettings, LawFailure
from c3p_controller.divergence import FACTOR, MARGIN, PATIENCE, Divergence, DivergenceWatch
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import TractionControl
from c3p_controller.torque_law import Preview, Sensed, Setpoint
from c3p_experiments.loop.closed_loop import COASTING, run_loop
from c3p_experiments.loop.command_sources import TwistSource
from c3p_kinematics.casters import inverse
from c3p_simulation.plants.plant import AnalyticPlant

DT = 0.005
# casters that trail behind a travel along +X
TRAILING, AHEAD = np.full(3, -np.pi / 2), np.ones(3)
SLOW = Setpoint(np.array([0.1, 0.0, 0.0]))


def cycles(watch, speed, torque, setpoint=SLOW, seconds=1.0):
    for _ in range(round(seconds / DT)):
        watch.step(TRAILING, np.array([speed, 0.0, 0.0]), torque, setpoint, DT)


def test_work_of_the_motors_on_a_robot_that_is_too_fast_is_a_fault():
    watch = DivergenceWatch(C3P)
    with pytest.raises(Divergence, match=r'2\.00 m/s for 0\.25 s with 0\.10 m/s commanded'):
        cycles(watch, 2.0, AHEAD)


def test_it_lasts_until_the_robot_rests():
    watch = DivergenceWatch(C3P)
    with pytest.raises(Divergence):
        cycles(watch, 2.0, AHEAD)
    for speed in (1.0, 0.1):
        with pytest.raises(Divergence):
            cycles(watch, speed, 0.0 * AHEAD, seconds=DT)
    cycles(watch, 0.0, 0.0 * AHEAD)
    cycles(watch, 0.1, AHEAD)


@pytest.mark.parametrize('torque', [-AHEAD, 0.0 * AHEAD])
def test_a_push_against_which_the_motors_brake_is_not(torque):
    cycles(DivergenceWatch(C3P), 3.0, torque, seconds=5.0)


def test_a_speed_that_was_just_commanded_is_not():
    """A stop from 1 m/s, with motors that still push for a while."""
    watch = DivergenceWatch(C3P)
    cycles(watch, 1.0, AHEAD, Setpoint(np.array([1.0, 0.0, 0.0])), DT)
    cycles(watch, 1.0, AHEAD, Setpoint(np.zeros(3)), 0.2)
    preview = Preview(np.array([0.0, 1.0]), np.zeros((2, 3)), np.array([[0.0] * 3, [1.0, 0, 0]]))
    cycles(DivergenceWatch(C3P), FACTOR + MARGIN, AHEAD, Setpoint(np.zeros(3), preview))


@pytest.mark.parametrize('seed', range(5))
def test_the_power_is_that_of_wheels_and_steering_axes(seed):
    random = np.random.default_rng(seed)
    robot = replace(C3P, steered=[True, False, True], steering_torque_limit=2.0)
    steering, twist = random.uniform(-3.0, 3.0, 3), random.normal(size=3)
    torque = random.normal(size=6)
    wheel, turn, _ = inverse(robot, steering, twist)
    assert DivergenceWatch(robot)._power(steering, twist, torque) == pytest.approx(
        torque @ np.concatenate([wheel, turn]))


class Runaway:
    """A law that pushes along +X with all its torque."""

    limit = np.ones(3)

    def reset(self, sensed=None):
        pass

    def step(self, sensed, setpoint, dt):
        return 2.0 * AHEAD

    def prepare(self):
        pass


def test_an_experiment_ends_with_zero_torque_and_the_reason():
    law = GrippingLaw(Runaway(), TractionControl(replace(C3P, torque_limit=np.full(3, 2.0))))
    log = run_loop(AnalyticPlant(C3P), law, TwistSource(lambda t: SLOW.twist), duration=20.0,
                   steering=TRAILING)
    assert log.fault.startswith('the law diverges') and log.joints.time[-1] < 5.0
    last = log.joints.time > log.joints.time[-1] - COASTING + DT
    assert not log.wheel_effort.value[last].any()
    # stopped before 2 m/s, by acceleration times patience beyond the threshold
    assert np.hypot(*log.ground_truth.twist[:, :2].T).max() < 2.5


def test_the_chain_of_the_node_fails_in_each_cycle_until_the_robot_rests():
    chain = CommandFollower(C3P, Runaway(), FollowerSettings())

    def step(speed, command):
        sensed = Sensed(0.0, TRAILING, np.zeros(3), np.zeros(3), np.array([speed, 0.0, 0.0]))
        return chain.step(sensed, command, 0, 0, DT)

    with pytest.raises(LawFailure, match='Runaway: diverges'):
        for _ in range(round(2.0 * PATIENCE / DT)):
            step(2.0, SLOW.twist)
    # the reset after a failure of the law does not start it again, nor does a command
    chain.reset()
    for command in (None, np.zeros(3), SLOW.twist):
        with pytest.raises(LawFailure):
            step(0.5, command)
    assert step(0.0, SLOW.twist).any()
