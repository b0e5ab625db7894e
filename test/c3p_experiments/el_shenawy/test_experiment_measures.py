# SPDX-License-Identifier: Apache-2.0
"""What experiments measure, against motions whose metrics are known; and tables."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_bags.runs.run_log import Joints, Motion, Series, Slip
from c3p_description import load
from c3p_experiments.el_shenawy.goals import overshoot, steerings_metrics
from c3p_experiments.el_shenawy.measures import (
    across,
    first_aligned,
    largest_and_rms,
    leg_metrics,
    off_direction,
    path_error,
    ring_error,
    settled_time,
    solve_metrics,
    torque_rms,
    torque_step,
)
from c3p_experiments.el_shenawy.pages import spread
from c3p_experiments.el_shenawy.panels import commanded_angles, slopes
from c3p_experiments.el_shenawy.path_panel import places
from c3p_experiments.el_shenawy.velocities import ramp, velocity_metrics
from c3p_experiments.kinds import LoopExperiment
from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.loop.conditions import FRICTION, Bench, Conditions
from c3p_experiments.loop.outcome import ExperimentRun, Row
from c3p_experiments.loop.report import (
    bars_text,
    conditions_text,
    markdown_table,
    table_rows,
    text_table,
)
from c3p_kinematics.casters import inverse
from c3p_plots.style import figure

ROBOT = load('c3p')


def log_of(time, pose, steering=0.0, twist=None, asked=None, **more):
    """Return a log in which odometry and truth are the same motion."""
    count = len(time)
    steering = np.broadcast_to(steering, (count, 3)).astype(float)
    twist = np.zeros((count, 3)) if twist is None else np.array(twist, float)
    none = np.zeros((count, 3))
    motion = Motion(time, np.array(pose, float), twist, np.zeros((count, 3, 3)),
                    np.zeros((count, 3, 3)), 'odom', 'base_link')
    return LoopLog(path=Path(), start_ns=0, joints=Joints(time, steering, *4 * [none]),
                   odom=motion, ground_truth=motion,
                   cmd_vel=Series(time, none if asked is None else np.array(asked, float)),
                   wheel_effort=Series(time, none), solve_time=np.full(count, 1e-3),
                   solve_cpu=np.full(count, 5e-4),
                   slip=Slip(time, np.zeros((count, 3, 2)), none.astype(bool), none), **more)


def straight(to, seconds=4.0, rate=50.0):
    """Return times and poses of an even motion from the origin."""
    time = np.arange(0.0, seconds + 1e-9, 1.0 / rate)
    return time, np.outer(time / seconds, to)


@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1))
def test_a_caster_that_trails_is_not_off_and_one_that_leads_is_half_a_turn_off(heading, yaw):
    direction = np.array([np.cos(heading), np.sin(heading)])
    pose = [[0.0, 0.0, yaw]] * 2
    # e = (−sin θ, cos θ) is the direction in the body for θ = heading − yaw − 90°
    trails = heading - yaw - np.pi / 2
    log = log_of(np.arange(2.0), pose, [trails, trails + np.pi, trails + 0.5])
    off = off_direction(log, 3.0 * direction)
    # acos loses half of the digits at its ends; atan2 does not
    np.testing.assert_allclose(off, [[0.0, np.pi, 0.5]] * 2, atol=1e-12)


def test_a_caster_that_rolls_along_the_travel_is_aligned_by_its_rates():
    # the caster whose steering rate vanishes while it rolls forward trails
    twist = np.array([0.3, -0.4, 0.0])
    angle = np.arctan2(-0.4, 0.3) - np.pi / 2
    wheel_rate, steering_rate, _ = inverse(ROBOT, np.full(3, angle), twist)
    assert np.all(wheel_rate > 0) and abs(steering_rate).max() < 1e-12
    log = log_of(np.arange(2.0), np.zeros((2, 3)), angle)
    assert off_direction(log, (0.3, -0.4)).max() < 1e-12


def test_settled_is_the_time_after_the_last_excess():
    time = np.array([0.0, 1.0, 2.0, 3.0])
    off = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert settled_time(time, off, 1.0) == 3.0
    assert settled_time(time, off, 3.0) == 0.0
    assert settled_time(time[:3], off[:3], 1.0) is None


def test_casters_may_be_aligned_for_the_first_time_and_again():
    time = np.arange(5.0)
    asked = [(0.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.5, 0.0), (0.5, 0.0, 0.0), (0.5, 0.0, 0.0)]
    steering = np.array([0.5, 0.5, 0.1, 0.1, np.pi / 2])[:, None] * np.ones(3)
    log = log_of(time, np.zeros((5, 3)), steering, asked=asked)
    # nothing is asked at 0; ½ rad off at 1, 6° off at 2; then the direction changes
    assert first_aligned(log, ROBOT) == 2.0
    assert first_aligned(log_of(time, np.zeros((5, 3)), 0.5, asked=asked), ROBOT) is None


@given(st.floats(-3.0, 3.0), st.floats(-1.0, 1.0))
def test_across_is_the_distance_from_the_line_through_the_start(heading, away):
    direction = np.array([np.cos(heading), np.sin(heading)])
    left = np.array([-direction[1], direction[0]])
    start = np.array([5.0, -2.0])
    points = [start, start + 3.0 * direction + away * left]
    log = log_of(np.arange(2.0), [[*point, 0.0] for point in points])
    np.testing.assert_allclose(across(log.odom, 2.0 * direction), [0.0, away], atol=1e-12)
    np.testing.assert_allclose(path_error(log.odom, {'direction': direction}),
                               [0.0, abs(away)], atol=1e-12)


def test_the_ring_error_is_the_distance_from_the_nearest_ring():
    angle = np.linspace(0.0, 2.0 * np.pi, 50)
    pose = np.column_stack([-1.5 + 1.52 * np.cos(angle), 1.52 * np.sin(angle), angle])
    log = log_of(angle, pose)
    error = ring_error(log.odom, [(-1.5, 0.0), (1.5, 0.0)], 1.5)
    # 2 cm outside of the left ring; where the rings touch the right one is nearer
    assert error.max() == pytest.approx(0.02, abs=1e-12)
    assert np.all(error[angle > 0.5][:-4] == pytest.approx(0.02, abs=1e-12))
    assert largest_and_rms(np.array([3.0, -4.0])) == (4.0, pytest.approx(np.sqrt(12.5)))


def test_the_distance_from_a_path_of_legs_is_from_the_leg_that_is_driven():
    time = np.array([0.0, 1.0, 2.0, 3.0])
    pose = [[0.0, 0.0, 0.0], [0.1, 1.0, 0.0], [0.0, 1.9, 0.0], [1.0, 2.2, 0.0]]
    facts = {'points': [(0, 0, 0), (0, 2, 0), (2, 2, 0)], 'times': [2.0]}
    np.testing.assert_allclose(path_error(log_of(time, pose).odom, facts), [0.0, 0.1, 0.0, 0.2],
                               atol=1e-12)


def test_legs_are_measured_each_from_the_goal_before():
    time, first = straight((0.0, 2.0, 0.0))
    second = first[-1] + np.outer(time[1:] / 4.0, (1.0, 0.04, 0.0))
    pose = np.vstack([first, second])
    time = np.concatenate([time, time[-1] + time[1:]])
    asked = np.tile([0.0, 0.5, 0.0], (len(time), 1))
    log = log_of(time, pose, asked=asked)
    legs = leg_metrics(log, ROBOT, [(0, 0, 0), (0, 2, 0), (1, 2, 0)], [4.0], 0.05)
    assert [leg['reached'] for leg in legs] == [True, True]
    assert legs[0]['align_time_s'] == 0.0
    assert legs[0]['ground_truth_path_error_max_m'] == pytest.approx(0.0, abs=1e-12)
    assert legs[1]['ground_truth_path_error_max_m'] == pytest.approx(0.04, abs=1e-12)
    assert legs[1]['final_error_m'] == pytest.approx(0.04, abs=1e-12)
    # enters the zone of 5 cm when √((1−s)² + (0.04 s)²) = 0.05: s = 0.9684
    assert legs[1]['time_s'] == pytest.approx(4.0 * 0.9684, abs=0.02)
    # a drive that did not come to its second leg has one leg
    assert len(leg_metrics(log, ROBOT, [(0, 0, 0), (0, 2, 0), (1, 2, 0), (0, 0, 0)], [4.0],
                           0.05)) == 2


def test_overshoot_counts_past_the_goal_along_the_line():
    time, pose = straight((3.0, 4.0, 0.0))
    log = log_of(time, pose)
    assert overshoot(log.odom, (1.5, 2.0, 0.0)) == pytest.approx(2.5)
    assert overshoot(log.odom, (6.0, 8.0, 0.0)) == 0.0
    assert overshoot(log.odom, (0.0, 0.0, 1.0)) == 0.0


def test_a_velocity_that_is_followed_is_reached_and_one_that_is_not_is_missed():
    time, pose = straight((0.0, 2.0, 0.0))
    asked = ramp(0.5, 1e-9, (0.0, 1.0))
    twist = np.tile([0.0, 0.5, 0.0], (len(time), 1))
    good = velocity_metrics(log_of(time, pose, twist=twist), asked, (0.0, 1.0))
    assert good['reached'] and good['align_time_s'] == 0.0
    assert good['ground_truth_path_error_max_m'] == 0.0
    # asked is 0 in the first sample
    assert good['velocity_error_rms_mps'] == pytest.approx(0.5 / np.sqrt(len(time)))
    slow = velocity_metrics(log_of(time, pose, twist=0.8 * twist), asked, (0.0, 1.0))
    assert not slow['reached']
    across_it = velocity_metrics(log_of(time, pose, np.pi, twist=twist), asked, (0.0, 1.0))
    assert across_it['align_time_s'] is None and not across_it['reached']


def test_a_ramp_grows_evenly_and_then_stays():
    asked = ramp(0.09, 3.0, (0.0, 1.0))
    np.testing.assert_allclose([asked(1.0), asked(3.0), asked(5.0)],
                               [(0, 0.03, 0), (0, 0.09, 0), (0, 0.09, 0)])


def test_times_of_the_law_are_told_in_milliseconds_of_wall_and_processor():
    metrics = solve_metrics([log_of(*straight((1.0, 0.0, 0.0)))])
    assert metrics['solve_ms'] == pytest.approx({'p50': 1.0, 'p99': 1.0, 'max': 1.0})
    assert metrics['solve_cpu_ms']['p99'] == pytest.approx(0.5)


def test_the_largest_step_of_a_torque_is_found_in_any_wheel():
    log = log_of(np.arange(3.0), np.zeros((3, 3)))
    log.wheel_effort.value[1, 2] = -0.7
    assert torque_step(log) == pytest.approx(0.7)


def test_torques_of_all_wheels_and_cycles_count_in_their_rms():
    log = log_of(np.arange(3.0), np.zeros((3, 3)))
    log.wheel_effort.value[1, 2], log.wheel_effort.value[2, 0] = -0.6, 0.8
    assert torque_rms(log) == pytest.approx(1.0 / 3.0)


def test_many_drives_give_their_worst_and_the_ninetieth_per_cent():
    names = ('time_s', 'path_error_max_m', 'path_error_rms_m', 'final_error_m',
             'final_yaw_error_rad', 'ground_truth_path_error_max_m',
             'ground_truth_path_error_rms_m', 'ground_truth_final_error_m',
             'ground_truth_final_yaw_error_rad', 'odometry_error_final_m', 'max_wheel_torque_nm',
             'max_speed_mps', 'rms_wheel_torque_nm', 'max_torque_step_nm')
    drives = [{'reached': True, 'align_time_s': 0.1 * k, **dict.fromkeys(names, k)}
              for k in range(1, 11)]
    logs = [log_of(*straight((1.0, 0.0, 0.0)))]
    metrics = steerings_metrics(drives, logs)
    assert metrics['reached'] and metrics['drives_missed'] == 0
    # nine of ten are at or below the ninth
    assert metrics['align_time_p90_s'] == pytest.approx(0.9)
    assert metrics['ground_truth_final_error_m'] == 10
    drives[3].update(reached=False, align_time_s=None, time_s=None)
    metrics = steerings_metrics(drives, logs)
    assert not metrics['reached'] and metrics['drives_missed'] == 1
    assert metrics['time_s'] is None and metrics['align_time_p90_s'] == pytest.approx(1.0)


def test_slopes_of_a_parabola_are_exact():
    time = 0.005 * np.arange(100)
    value = np.column_stack([time**2, 3.0 * time])
    inside = slice(12, -12)
    np.testing.assert_allclose(slopes(time, value)[inside],
                               np.column_stack([2.0 * time, np.full(100, 3.0)])[inside],
                               atol=1e-12)


def test_the_robot_is_drawn_at_both_ends_and_well_apart():
    pose = np.column_stack([np.linspace(0.0, 5.0, 1000), np.zeros(1000), np.zeros(1000)])
    rows = places(pose, 0.7)
    assert rows[0] == 0 and rows[-1] == 999
    assert np.all(np.diff(pose[rows[:-1], 0]) >= 0.9)
    # 2 m are two places and a bit: the last one is not drawn over the one before
    short = pose * 0.4
    assert np.diff(short[places(short, 0.7), 0]).min() > 0.5 < np.diff(pose[rows, 0]).min()
    # standing and shaking are no way
    shaking = 0.05 * np.sin(np.arange(3000))[:, None] * np.ones(3)
    assert places(shaking, 0.7) == [0, 2999]


def test_runs_without_a_value_keep_a_distribution_below_all():
    axes = figure(2.0, 2.0).add_subplot()
    spread(axes, 'a', 'time', 's', [('', [3.0, None, 1.0, 2.0], 'black')])
    np.testing.assert_array_equal(axes.lines[0].get_xydata(),
                                  [[0.0, 0.0], [1.0, 25.0], [2.0, 50.0], [3.0, 75.0]])


def test_asked_steering_of_each_leg_is_on_the_branch_of_its_end():
    time = np.arange(0.0, 4.0, 0.01)
    first = time < 2.0
    asked = np.where(first[:, None], (0.0, 0.5, 0.0), (-0.5, 0.0, 0.0))
    # casters end the second leg at 90°, half a turn away from where −90° would be
    steering = np.where(first[:, None], 0.0, np.array([np.pi / 2, np.pi / 2, -np.pi / 2]))
    log = log_of(time, np.zeros((400, 3)), steering, asked=asked)
    angles = commanded_angles(ExperimentRun('', log, {'times': [1.995]}), ROBOT)
    np.testing.assert_allclose(angles[first], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(angles[~first]), np.pi / 2, atol=1e-12)
    np.testing.assert_allclose(angles[-1], [np.pi / 2, np.pi / 2, -np.pi / 2], atol=1e-12)


ROWS = (Row('a_s', 'first', 's', printed='about 2', bar=1.2, stretch=0.85,
            bars={'paper': 1.3}),
        Row('part.b_m', 'second', 'cm', 100.0, bar=0.02),
        Row('legs.1.c_m', 'third', 'cm', 100.0, printed='5'))


def table(controller='mpc', **metrics):
    """Return the rows of a table of these metrics."""
    experiment = LoopExperiment('x', 'X', 'ours', None, None, ROWS)
    return table_rows(experiment.rows, metrics, controller)


def test_a_table_tells_stretch_met_and_missed():
    rows = table(a_s=0.8, part={'b_m': 0.03}, legs=[{}, {'c_m': 0.01}])
    assert [row['verdict'] for row in rows] == ['stretch', 'MISSED', '']
    assert [row['measured'] for row in rows] == pytest.approx([0.8, 3.0, 1.0])
    assert bars_text(rows) == '1 of 2 limits met, 1 targets'
    assert table(a_s=1.25, part={'b_m': 0.0})[0]['verdict'] == 'MISSED'
    assert table('paper', a_s=1.25, part={'b_m': 0.0})[0]['verdict'] == 'met'
    # what never happened is missed
    assert table(a_s=None, part=None)[0]['verdict'] == 'MISSED'
    assert [row['measured'] for row in table(a_s=None, part=None, legs=[{}])] == 3 * [None]


def test_tables_are_readable_as_text_and_as_markdown():
    rows = table(a_s=0.8, part={'b_m': 0.03})
    assert '| first [s] | about 2 | ≤ 1.20 | ≤ 0.85 | 0.80 | target met |' in markdown_table(rows)
    assert '| third [cm] | 5 |  |  | never |  |' in markdown_table(rows)
    lines = text_table(rows).splitlines()
    assert len(lines) == 4 and 'MISSED' in lines[2] and lines[1].endswith('target met')


def test_conditions_that_cannot_be_are_refused_by_name():
    with pytest.raises(ValueError, match='plant = gazebo: must be one of analytic, mujoco'):
        Conditions(plant='gazebo')
    with pytest.raises(ValueError, match='friction = 0.5: wheels of the analytic plant'):
        Conditions(friction=0.5)
    with pytest.raises(ValueError, match='controller = pid'):
        Bench(Conditions(controller='pid'), 'c3p')
    with pytest.raises(ValueError, match='level'):
        Bench(Conditions(controller='paper'), 'c3p').plant(slope=0.1)


def test_a_bench_tells_its_conditions_and_knows_its_encoders():
    bench = Bench(Conditions(controller='paper', wheel_counts=1000, steering_counts=0), 'c3p_25kg')
    assert bench.describe()['robot'] == 'c3p_25kg' and bench.describe()['friction'] is None
    assert bench.odometry().settings.wheel_resolution == pytest.approx(2 * np.pi / 1000)
    assert bench.odometry().settings.steering_resolution == 0.0
    assert 'latency 10 ms,' in conditions_text(bench.describe())
    unknown = Bench(Conditions(latency=0.1, known_latency=0.02), 'c3p')
    assert unknown.controller().law.law.latency == 0.02
    assert unknown.plant().settings.latency == 0.1
    assert 'latency 100 ms (assumed 20 ms)' in conditions_text(unknown.describe())
    mujoco = Conditions(plant='mujoco', controller='paper', robot='c3p')
    assert Bench(mujoco, 'c3p_25kg').describe() == {
        **bench.describe(), 'plant': 'mujoco', 'robot': 'c3p', 'friction': FRICTION,
        'wheel_counts': 2000, 'steering_counts': 4096}
