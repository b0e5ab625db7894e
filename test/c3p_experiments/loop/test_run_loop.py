# SPDX-License-Identifier: Apache-2.0
"""The loop without ROS: order of a cycle, latency, lost samples, pushes, equal bits."""

import numpy as np
import pytest
from robots import C3P

from c3p_bags.runs.metrics import drive_metrics
from c3p_controller.goals.path import Arcs
from c3p_controller.paper.exponential import PositionController, PositionGains
from c3p_controller.paper.velocity import PaperLaw
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description import load
from c3p_dynamics.caster_dynamics import (
    inverse_dynamics,
    mass_matrix,
)
from c3p_experiments.loop.closed_loop import Cycle, Held, LoopOptions, Push, run_loop
from c3p_experiments.loop.command_sources import (
    Command,
    FloorVelocitySource,
    GoalSource,
    PathSource,
    TwistSource,
)
from c3p_experiments.loop.controllers import NAMES, make_controller
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.se2 import to_floor
from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

ROBOT = load('c3p')


class Recorder:
    """A law that notes what it is given and sends what it is told to."""

    def __init__(self, torque=(0.0, 0.0, 0.0)):
        self.torque, self.calls, self.resets = np.array(torque), [], 0

    def reset(self, sensed=None):
        self.resets += 1

    def step(self, sensed, asked, dt):
        self.calls.append((sensed, asked, dt))
        return self.torque

    def prepare(self):
        pass


def nothing():
    """Return a source that asks for nothing."""
    return TwistSource(lambda t: (0.0, 0.0, 0.0))


def cascade_by_hand(goal, cycles):
    """Return true poses (k, 3) of a drive in which every object is called by hand."""
    plant, command = AnalyticPlant(ROBOT), np.zeros(3)
    # all joints are of one instant
    odometry = Odometry(ROBOT, OdometrySettings(**SYNCHRONOUS))
    position, poses = PositionController(PositionGains()), []
    velocity = PaperLaw(ROBOT)
    sample = plant.reset()
    position.set_goal(goal, np.zeros(3))
    for _ in range(cycles):
        poses.append(plant.truth().pose)
        estimate = odometry.step(sample.time, sample.steering, sample.wheel_angle,
                                 sample.wheel_rate, sample.steering_rate)
        accel = velocity.accel(command, estimate.twist, 0.005)
        command = position.step(estimate.pose).twist
        torque = inverse_dynamics(ROBOT, sample.steering, estimate.twist, accel)
        sensed = Sensed(sample.time, sample.steering, sample.wheel_rate, estimate.pose,
                        estimate.twist)
        sample = plant.step(velocity.fuse(sensed, torque), 0.005)
    return np.array(poses)


def test_the_loop_is_the_cascade_called_by_hand():
    paper = make_controller('paper', ROBOT)
    log = run_loop(AnalyticPlant(ROBOT), paper.law, GoalSource(paper.position(),
                                                               [(1.0, 0.5, 0.3)]),
                   duration=5.0, options=LoopOptions(command_rate=200.0))
    # the same calls in the same order; differences of stamps carry rounding
    np.testing.assert_allclose(log.ground_truth.pose, cascade_by_hand((1.0, 0.5, 0.3), 1001),
                               atol=1e-9)
    assert log.ground_truth.pose[-1, 0] > 0.3


def test_equal_runs_are_equal_to_the_last_bit():
    runs = []
    for _ in range(2):
        mpc = make_controller('mpc', ROBOT)
        runs.append(run_loop(SensedPlant(AnalyticPlant(ROBOT)), mpc.law,
                             GoalSource(mpc.position(), [(0.5, 0.2, 0.0)]), duration=1.0))
    for one, two in zip(*(run.joints for run in runs), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(runs[0].wheel_effort.value, runs[1].wheel_effort.value)


def test_a_command_counts_from_the_cycle_after_its_odometry():
    law = Recorder()
    run_loop(AnalyticPlant(ROBOT), law, TwistSource(lambda t: (t + 1.0, 0.0, 0.0)), duration=0.05,
             options=LoopOptions(rate=200.0, command_rate=50.0))
    asked = [call[1].twist[0] for call in law.calls]
    # asked at 0, 20 and 40 ms, in force 5 ms later
    assert asked == pytest.approx([0] + 4 * [1.0] + 4 * [1.02] + 2 * [1.04], abs=1e-12)
    assert [call[2] for call in law.calls] == pytest.approx(11 * [0.005], abs=1e-12)
    assert law.resets == 1


def test_a_reference_ahead_comes_with_the_time_of_its_odometry():
    mpc, law = make_controller('mpc', ROBOT), Recorder()
    run_loop(AnalyticPlant(ROBOT), law, GoalSource(mpc.position(), [(1.0, 0.0, 0.0)]),
             duration=0.05)
    asked = [call[1] for call in law.calls]
    assert asked[0].preview is None and asked[1].preview is not None
    assert [a.preview_time for a in asked[1:]] == pytest.approx(4 * [0] + 4 * [0.02] + 2 * [0.04])


def test_a_lost_sample_makes_no_cycle_and_holds_the_torque():
    law = Recorder((0.1, 0.1, 0.1))
    plant = SensedPlant(AnalyticPlant(C3P), SensorSettings(latency=0.0, wheel_counts=0,
                                                           steering_counts=0, dropout=0.3))
    log = run_loop(plant, law, nothing(), duration=1.0)
    whole = Recorder((0.1, 0.1, 0.1))
    full = run_loop(AnalyticPlant(C3P), whole, nothing(), duration=1.0)
    assert 100 < len(law.calls) < 180 < len(whole.calls) == 201
    # gaps are told to the law, and the robot moves the same
    np.testing.assert_allclose([call[2] for call in law.calls[1:]], np.diff(log.joints.time))
    np.testing.assert_allclose(np.interp(log.joints.time, full.joints.time,
                                         full.ground_truth.pose[:, 1]),
                               log.ground_truth.pose[:, 1], atol=1e-12)


def test_a_push_gives_its_momentum_at_its_time():
    push = Push(0.5, (0.0, 30.0), 0.0, 0.1)
    log = run_loop(AnalyticPlant(C3P), Recorder(), nothing(), duration=1.0,
                   options=LoopOptions(pushes=[push]))
    speed = log.ground_truth.twist[:, 1]
    # without friction: ∫F dt = M_yy v, casters along the push
    gained = 30.0 * 0.1 / mass_matrix(C3P, np.zeros(3))[1, 1]
    assert np.all(speed[log.odom.time < 0.499] == 0.0)
    np.testing.assert_allclose(speed[log.odom.time > 0.601], gained, rtol=1e-9)


def test_the_log_gives_the_metrics_of_a_drive():
    mpc = make_controller('mpc', ROBOT)
    log = run_loop(SensedPlant(AnalyticPlant(ROBOT)), mpc.law,
                   GoalSource(mpc.position(), [(1.0, 0.0, 0.0)]), duration=12.0, stop=Held())
    metrics = drive_metrics(log, ROBOT, (1.0, 0.0, 0.0), 0.05, 0.15)
    assert log.ended and metrics['reached'] and log.joints.time[-1] < 11.0
    assert metrics['align_time_s'] < 1.2 and metrics['ground_truth_path_error_max_m'] < 0.01
    assert metrics['ground_truth_final_error_m'] < 0.005
    assert len(log.solve_time) == len(log.joints.time) and np.all(log.solve_time > 0.0)


def test_the_odometry_starts_where_the_robot_does():
    start = (1.0, -2.0, 0.5)
    log = run_loop(AnalyticPlant(C3P), Recorder((0.2, 0.2, 0.2)), nothing(), duration=0.5,
                   odometry=Odometry(C3P), options=LoopOptions(pose=start))
    np.testing.assert_allclose(log.odom.pose[0], start)
    # exact encoders; what remains is of third order in the step
    np.testing.assert_allclose(log.odom.pose, log.ground_truth.pose, atol=1e-9)
    assert log.odom.pose[-1, 1] > -2.0 + 0.04


def test_goals_are_driven_to_one_after_the_other():
    mpc = make_controller('mpc', ROBOT)
    goals = [(0.0, 0.3, 0.0), (0.0, 0.6, 0.0)]
    source = GoalSource(mpc.position(), goals)
    log = run_loop(AnalyticPlant(ROBOT), make_controller('mpc', ROBOT, latency=0.0).law, source,
                   duration=15.0, stop=Held())
    assert log.ended and len(source.times) == 1
    at_first = np.interp(source.times[0], log.odom.time, log.odom.pose[:, 1])
    assert at_first == pytest.approx(0.3, abs=0.005)
    assert log.odom.pose[-1, 1] == pytest.approx(0.6, abs=0.005)
    # a run starts them again
    source.start(Odometry(ROBOT).step(0.0, np.zeros(3), np.zeros(3)))
    assert source.times == [] and source.controller.goal.tolist() == [0.0, 0.3, 0.0]


def test_a_path_source_ends_at_the_end_of_its_path():
    controller = make_controller('mpc', ROBOT).position()
    source = PathSource(controller, lambda pose: Arcs(pose, np.pi / 2, ((1.0, 0.5),)))
    source.start(Odometry(ROBOT).step(0.0, np.zeros(3), np.zeros(3)))
    # an arc of 1 m and radius 2 m to the left of +Y
    end = (2.0 * (np.cos(0.5) - 1.0), 2.0 * np.sin(0.5), 0.5)
    np.testing.assert_allclose(source.goal, end, atol=1e-12)


def test_a_velocity_over_the_floor_is_turned_by_the_yaw_of_the_odometry():
    estimate = Odometry(ROBOT).step(0.0, np.zeros(3), np.zeros(3))
    estimate = estimate._replace(pose=np.array([0.0, 0.0, 0.7]))
    source = FloorVelocitySource(lambda t: (0.5, 0.2, 0.1))
    source.start(estimate)
    asked = source.step(0.0, estimate).setpoint.twist
    np.testing.assert_allclose(to_floor(0.7, asked), (0.5, 0.2, 0.1), atol=1e-15)


def cycle(time, done, twist=(0.0, 0.0, 0.0)):
    """Return a cycle for `Held`."""
    estimate = Odometry(ROBOT).step(0.0, np.zeros(3), np.zeros(3))
    return Cycle(time, None, estimate._replace(twist=np.array(twist)),
                 Command(Setpoint(np.zeros(3)), done), np.zeros(3))


def test_a_goal_counts_as_held_after_its_dwell_without_a_break():
    held = Held(dwell=0.2)
    steps = [(0.0, True), (0.1, True), (0.15, False), (0.2, True), (0.39, True), (0.41, True)]
    assert [held(cycle(*step)) for step in steps] == 5 * [False] + [True]
    held = Held(dwell=0.0)
    assert not held(cycle(0.0, True, (0.1, 0.0, 0.0))) and not held(cycle(0.1, True, (0, 0, 0.1)))
    assert held(cycle(0.2, True))


@pytest.mark.parametrize('name', ['duration', 'rate', 'command_rate'])
def test_a_time_that_cannot_be_is_named(name):
    with pytest.raises(ValueError, match=f'{name} = -1'):
        if name == 'duration':
            run_loop(AnalyticPlant(C3P), Recorder(), nothing(), duration=-1.0)
        LoopOptions(**{name: -1.0})


def test_an_unknown_controller_is_told_the_known_ones():
    with pytest.raises(ValueError, match='controller = pid: must be one of paper, '):
        make_controller('pid', ROBOT)
    assert {'paper', 'mpc'} <= set(NAMES)


def test_a_speed_reaches_the_position_controller():
    for name in NAMES:
        assert make_controller(name, ROBOT, speed=0.21).position().gains.speed == 0.21
