# SPDX-License-Identifier: Apache-2.0
"""The estimate of the input delay on plants that delay torques, and loops that do not know it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from robots import caster_robots
from torque_line import acting

from c3p_bags.runs.metrics import drive_metrics
from c3p_controller.goals.path_controller import PathController, PathGains
from c3p_controller.predictive._delay_kernels import MEMORY, SPACING, cut_evidence, store_torque
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.predictive.delay_estimator import DelayEstimator
from c3p_controller.predictive.motion_observer import InputDelay
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load
from c3p_dynamics._caster_equations import packed_model
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource, TwistSource
from c3p_kernels.compiled import kernel
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

ROBOT = load('c3p')
PAIR = CasterRobot.regular(0.3, np.radians([0.0, 180.0]), 0.04, 0.04, 20.0, 1.0)
# encoder counts per turn of the sensors' default
RESOLUTION = OdometrySettings(wheel_resolution=2 * np.pi / 2000,
                              steering_resolution=2 * np.pi / 4096)
DT = 0.005


def steps(rng, limit, seconds, hold=0.08):
    """Return torques (k, m) that jump every `hold` seconds."""
    count = round(seconds / DT)
    jumps = rng.uniform(-1.0, 1.0, (count // round(hold / DT) + 1, len(limit))) * limit
    return np.repeat(jumps, round(hold / DT), axis=0)[:count]


def estimated(plant, torques, told=0.01, model=None, longest=0.15, dt=DT, estimator=None):
    """Drive `plant` by `torques`, open loop; return the estimator and its estimates."""
    robot = model or plant.robot
    estimator = estimator or DelayEstimator(robot, told, longest)
    packed = packed_model(robot.geometry, robot.caster_inertia, robot.platform, robot.losses)
    odometry, sample = Odometry(robot, RESOLUTION), plant.sense()
    odometry.reset(np.zeros(3))
    sent, found = np.zeros(robot.efforts), []
    for torque in torques:
        motion = odometry.step(sample.time, sample.steering, sample.wheel_angle,
                               sample.wheel_rate, sample.steering_rate)
        state = np.concatenate([motion.pose, motion.twist, sample.steering])
        estimator.step(packed, state, motion.pose, sent, dt)
        found.append(estimator.latency)
        sample, sent = plant.step(torque, dt), torque
    return estimator, np.array(found)


@pytest.mark.parametrize('delay', [0.0, 0.023, 0.06, 0.1])
def test_the_delay_of_a_simulation_of_the_contacts_is_found(delay):
    pytest.importorskip('mujoco', reason='pip install .[sim]')
    from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant

    plant = SensedPlant(MujocoPlant('c3p'), SensorSettings(latency=delay))
    plant.reset(steering=[0.4, -0.6, 1.2])
    torques = steps(np.random.default_rng(3), np.full(3, 0.8), 1.5)
    _, found = estimated(plant, torques)
    # it moves in steps of the spacing or more, so it may stay almost as far off
    assert abs(found[-1] - delay) < 1.5 * SPACING
    # half a second of torques is enough for two thirds of the error
    assert abs(found[100] - delay) <= max(abs(0.01 - delay) / 3.0, 1.5 * SPACING)


@settings(max_examples=12, deadline=None)
@given(caster_robots(), st.floats(0.0, 0.12), st.integers(0, 2**32 - 1))
def test_the_delay_of_any_robot_is_found(robot, delay, seed):
    rng = np.random.default_rng(seed)
    # torques that a robot of this mass notices: of 1 m/s², whatever its wheels
    limit = robot.total_mass * robot.wheel_radius / robot.count
    robot = replace(robot, torque_limit=limit, driven=np.ones(robot.count, bool))
    plant = SensedPlant(AnalyticPlant(robot), SensorSettings(latency=delay))
    plant.reset(steering=rng.uniform(-np.pi, np.pi, robot.count))
    _, found = estimated(plant, steps(rng, limit, 1.5))
    # two casters far from each other tell less than the C3P's three
    assert abs(found[-1] - delay) < 3.0 * SPACING


@settings(max_examples=8, deadline=None)
@given(st.floats(0.7, 1.3), st.floats(0.5, 2.0), st.floats(-15.0, 15.0), st.floats(0.0, 0.1))
def test_wrong_masses_and_friction_and_a_slope_shift_it_little(mass, friction, force, delay):
    f = ROBOT.friction
    true = replace(ROBOT, platform_mass=mass * ROBOT.platform_mass,
                   platform_inertia=mass * ROBOT.platform_inertia,
                   friction=replace(f, rolling_coulomb=friction * f.rolling_coulomb,
                                    pivot_coulomb=friction * f.pivot_coulomb))
    plant = SensedPlant(AnalyticPlant(true), SensorSettings(latency=delay))
    plant.reset(steering=[0.4, -0.6, 1.2])
    plant.push((force, 0.5 * force), 0.0, 10.0)
    torques = steps(np.random.default_rng(4), np.full(3, 1.0), 1.5)
    _, found = estimated(plant, torques, model=ROBOT)
    assert abs(found[-1] - delay) < 0.012


def test_a_delay_that_was_told_is_kept_to_the_last_bit():
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(latency=0.03))
    _, found = estimated(plant, steps(np.random.default_rng(5), np.full(3, 1.0), 3.0), told=0.03)
    assert (found == 0.03).all()


def test_torques_that_do_not_change_say_nothing():
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(latency=0.1, wheel_noise=1.0,
                                                             steering_noise=1.0))
    # at rest, by noisy encoders, and a constant pull too small for friction
    for torque in (0.0, 0.01):
        plant.reset(steering=0.3)
        _, found = estimated(plant, np.full((600, 3), torque))
        assert (found == 0.01).all()


def test_a_delay_that_changes_is_followed_and_one_that_is_too_long_is_bounded():
    rng, estimator = np.random.default_rng(6), None
    for delay, expected in ((0.02, 0.02), (0.08, 0.08), (0.3, 0.1)):
        plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(latency=delay))
        plant.reset(steering=[0.4, -0.6, 1.2])
        if estimator is not None:
            # the robot was set down elsewhere
            estimator.restart()
        estimator, found = estimated(plant, steps(rng, np.full(3, 1.0), 3.0 * MEMORY),
                                     longest=0.1, estimator=estimator)
        assert found[-1] <= 0.1
        if delay <= 0.1:
            assert abs(found[-1] - expected) < 1.5 * SPACING
    estimator.reset()
    assert estimator.latency == 0.01


def test_the_memory_of_torques_is_bounded_at_any_rate():
    # 1 kHz: the ring of torques is passed twelve times
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(latency=0.07))
    plant.reset(steering=[0.4, -0.6, 1.2])
    torques = np.repeat(steps(np.random.default_rng(7), np.full(3, 1.0), 3.0), 5, axis=0)
    estimator, found = estimated(plant, torques, dt=0.001)
    assert abs(found[-1] - 0.07) < 1.5 * SPACING
    line, found = InputDelay(3, 0.01), estimator.latency
    estimator.resend(line)
    assert line.latency == found
    # the one that acts, and those of the last milliseconds that do not yet
    assert line.begins[0] <= 0.0 < line.begins[1]
    ago = found - line.begins
    np.testing.assert_allclose(ago, np.arange(len(ago), 0, -1) * 1e-3, atol=1e-9)
    # the last torque was not yet processed
    np.testing.assert_allclose(line.torques[-1], torques[-2], atol=1e-6)


@kernel
def store(block, sizes, torque):
    """Put a torque of a cycle into the evidence of an estimator."""
    store_torque(cut_evidence(block, sizes), torque, DT)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 0.1), st.floats(0.0, 0.1), st.integers(1, 30))
def test_a_changed_delay_is_as_if_it_had_always_been(before, after, count):
    rng = np.random.default_rng(count)
    torques = rng.normal(size=(count, 2))
    always, changed = InputDelay(2, after), InputDelay(2, before)
    estimator = DelayEstimator(PAIR, 0.0, 0.15)
    memory = estimator.memory
    memory.filled[0] = 1.0
    for torque in torques:
        store(memory.block, memory.values, torque)
        for line in (always, changed):
            line.add(torque)
            line.advance(DT)
    memory.latency[0] = after
    estimator.resend(changed)
    assume(all(abs(after / DT - k) > 1e-6 for k in range(25)))
    # during the latency, and during the next cycle
    for seconds in (after, DT):
        ours, theirs = acting(changed, seconds), acting(always, seconds)
        assert len(ours) == len(theirs)
        for (duration, torque), (long, other) in zip(ours, theirs, strict=True):
            assert duration == pytest.approx(long, abs=1e-9)
            # a difference of two impulses, of up to 30 torques
            np.testing.assert_allclose(torque, other, rtol=1e-12, atol=1e-12)


# --- closed loops -----------------------------------------------------------------------------

def drive(goal, delay, plant=None, steering=0.0, robot=ROBOT, duration=12.0, **more):
    """Drive with a delay that the controller does not know; return (law, log, figures)."""
    sensed = SensedPlant(plant or AnalyticPlant(robot), SensorSettings(latency=delay))
    law = PredictiveController(robot, PredictiveSettings(**more))
    log = run_loop(sensed, law, GoalSource(PathController(PathGains()), [goal]), duration=duration,
                   steering=steering, stop=Held(1.0), odometry=Odometry(robot, RESOLUTION))
    return law, log, drive_metrics(log, robot, goal, 0.05, 0.15)


def rests(log, seconds=0.9):
    """Return whether the robot stood still in the last `seconds`: slower than 1 mm/s, mrad/s."""
    last = log.ground_truth.time > log.ground_truth.time[-1] - seconds
    return abs(log.ground_truth.twist[last]).max() < 1e-3


@pytest.mark.parametrize('delay', [0.0, 0.06, 0.1])
def test_a_goal_is_held_with_a_delay_that_is_not_known(delay):
    law, log, figures = drive((1.5, 0.0, 0.0), delay)
    assert figures['reached'] and log.ended and rests(log)
    # with the delay known 1 to 5 mm
    assert figures['path_error_max_m'] < 0.010
    assert figures['ground_truth_final_error_m'] < 0.005
    assert abs(law.latency - delay) < 0.015


def test_without_the_estimate_a_long_delay_swings():
    """The oracle of the test above: the delay does harm."""
    law, log, figures = drive((1.5, 0.0, 0.0), 0.1, duration=7.0, estimate_latency=False)
    assert law.latency == 0.01
    assert not (figures['reached'] and rests(log))


def test_a_goal_is_held_on_tyres_with_a_delay_that_is_not_known():
    pytest.importorskip('mujoco', reason='pip install .[sim]')
    from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant

    _, log, figures = drive((0.0, 1.0, 0.5), 0.09, MujocoPlant('c3p'), np.radians([-90, 20, 150]))
    assert figures['reached'] and log.ended and rests(log)
    assert figures['ground_truth_final_error_m'] < 0.005


def test_a_twist_is_followed_and_ended_with_a_delay_that_is_not_known():
    plant = SensedPlant(AnalyticPlant(ROBOT), SensorSettings(latency=0.1))
    log = run_loop(plant, PredictiveController(ROBOT), TwistSource(
        lambda t: (0.3, 0.1, 0.2) if t < 3.0 else (0.0, 0.0, 0.0)), duration=6.0, steering=0.0,
        odometry=Odometry(ROBOT, RESOLUTION))
    twist = log.ground_truth.twist[(log.joints.time > 2.0) & (log.joints.time < 3.0)]
    np.testing.assert_allclose(twist.mean(axis=0), (0.3, 0.1, 0.2), atol=0.03)
    assert rests(log)


def test_a_known_delay_drives_as_without_the_estimate():
    torques = []
    for on in (True, False):
        _, log, _ = drive((1.0, 0.5, 0.0), 0.01, duration=2.5, estimate_latency=on)
        torques.append(log.wheel_effort.value)
    np.testing.assert_array_equal(*torques)


def test_the_estimate_outlives_a_rest_and_ends_with_the_memory():
    law, _, _ = drive((1.0, 0.0, 0.0), 0.06, duration=1.5)
    found = law.latency
    assert abs(found - 0.06) < 0.015
    law.reset(None)
    assert law.latency == 0.01


def test_a_delay_above_the_longest_is_rejected():
    with pytest.raises(ValueError, match='latency = 0.1: must be at most latency_max = 0.05'):
        PredictiveSettings(latency=0.1, latency_max=0.05)
    PredictiveSettings(latency=0.1, latency_max=0.05, estimate_latency=False)
