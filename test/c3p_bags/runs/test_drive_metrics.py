# SPDX-License-Identifier: Apache-2.0
"""Figures of runs whose answers are known because the runs are made of formulas."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robots import C3P

from c3p_bags.runs.metrics import (
    align_time,
    alignment,
    distance_to_segment,
    drive_metrics,
    truth_in_odom,
)
from c3p_bags.runs.run_log import Goal, Health, Joints, Motion, RunLog, Series, Slip
from c3p_description import load

RATE = 100.0
TIME = np.arange(0.0, 20.0, 1.0 / RATE)


def motion(pose, frame='odom', speed=0.0):
    pose = np.asarray(pose, float)
    twist = np.zeros_like(pose)
    twist[:, 0] = speed
    square = np.zeros((len(pose), 3, 3))
    return Motion(TIME[:len(pose)], pose, twist, square, square, frame, 'base_link')


def poses(x, y=0.0, yaw=0.0):
    return np.column_stack([np.broadcast_to(v, TIME.shape) for v in (x, y, yaw)])


def log(odom=None, steering=-np.pi / 2, cmd=None, goal_at=1.0, **more):
    angle = np.broadcast_to(np.asarray(steering, float).reshape(-1, 1), (len(TIME), 3))
    still = np.zeros((len(TIME), 3))
    joints = Joints(TIME, angle, still, still, still, still + 0.25)
    return RunLog(Path('run'), 0, joints, odom=odom,
                  cmd_vel=None if cmd is None else Series(TIME, np.asarray(cmd, float)),
                  goals=(Goal(goal_at, (4.0, 0.0, 0.0), 'odom'),), **more)


def forward(speed=0.3):
    return poses(speed)


# at 0.4 m/s from 1 s on, so 4 m are driven at 11 s and the 5 cm zone is entered at 10.875 s
STRAIGHT = np.clip(0.4 * (TIME - 1.0), 0.0, 4.0)


def test_a_straight_drive():
    found = drive_metrics(log(motion(poses(STRAIGHT), speed=0.4), cmd=forward()), C3P,
                          (4, 0, 0), 0.05)
    assert found['reached'] is True
    assert found['time_s'] == pytest.approx(9.875, abs=1.01 / RATE)
    assert found['align_time_s'] == 0.0
    assert found['path_error_max_m'] == found['final_error_m'] == 0.0
    assert found['max_speed_mps'] == 0.4 and found['max_wheel_torque_nm'] == 0.25


def test_a_constant_offset_is_the_path_error():
    path = poses(STRAIGHT, np.where(TIME > 5.0, 0.03, 0.0), 0.01)
    found = drive_metrics(log(motion(path)), C3P, (4, 0, 0), 0.05)
    assert found['path_error_max_m'] == pytest.approx(0.03, abs=1e-12)
    # of the time from the goal until the zone is entered; standing there afterwards counts nothing
    share = np.mean(TIME[(TIME >= 1.0) & (TIME <= 1.0 + found['time_s'])] > 5.0)
    assert found['path_error_rms_m'] == pytest.approx(0.03 * np.sqrt(share), rel=1e-9)
    assert found['final_error_m'] == pytest.approx(0.03)
    assert found['final_yaw_error_rad'] == pytest.approx(0.01)
    assert found['align_time_s'] is None


def test_leaving_the_zone_again_is_not_reaching_it():
    path = np.where(TIME > 15.0, 4.2, STRAIGHT)
    found = drive_metrics(log(motion(poses(path))), C3P, (4, 0, 0), 0.05)
    assert found['reached'] is False and found['time_s'] is None
    assert found['final_error_m'] == pytest.approx(0.2)


def test_the_last_entry_counts():
    path = np.where((TIME > 15.0) & (TIME < 16.0), 4.2, STRAIGHT)
    found = drive_metrics(log(motion(poses(path))), C3P, (4, 0, 0), 0.05)
    assert found['time_s'] == pytest.approx(15.0, abs=1.01 / RATE)


def test_pure_rotation_needs_its_yaw():
    yaw = np.clip(0.5 * (TIME - 1.0), 0.0, 2.0)
    sway = np.where((TIME > 3.0) & (TIME < 4.0), 0.01, 0.0)
    run = log(motion(poses(0.0, sway, yaw)), cmd=poses(0.0, 0.0, 0.5))
    found = drive_metrics(run, C3P, (0, 0, 2.0), 0.05, 0.1)
    # 1.9 rad at 0.5 rad/s
    assert found['time_s'] == pytest.approx(3.8, abs=1.01 / RATE)
    # the line has no length, so that its error is the distance from the point
    assert found['path_error_max_m'] == pytest.approx(0.01)
    half = drive_metrics(log(motion(poses(0, 0, 0.5 * yaw))), C3P, (0, 0, 2.0), 0.05, 0.1)
    assert half['reached'] is False and half['final_yaw_error_rad'] == pytest.approx(1.0)
    anyway = drive_metrics(log(motion(poses(0, 0, 0.5 * yaw))), C3P, (0, 0, 2.0), 0.05, np.inf)
    assert anyway['reached'] is True and anyway['time_s'] == 0.0


def test_yaw_counts_modulo_a_turn():
    found = drive_metrics(log(motion(poses(0, 0, 4 * np.pi + 0.01))), C3P, (0, 0, 0), 0.05)
    assert found['reached'] is True
    assert found['final_yaw_error_rad'] == pytest.approx(0.01)


@pytest.mark.parametrize('turns', [0.0, np.pi, -np.pi, 2 * np.pi])
def test_alignment_time_of_a_known_turn(turns):
    # steering goes from 0 to −90° in three seconds; 10° are left after 8/9 of it
    steering = -np.pi / 2 * np.clip((TIME - 1.0) / 3.0, 0.0, 1.0) + turns
    run = log(motion(poses(STRAIGHT)), steering, forward())
    assert align_time(run, C3P, 1.0, np.inf) == pytest.approx(8 / 3, abs=1.01 / RATE)


def test_alignment_of_turning_on_the_spot():
    # pivots at 30°, 150°, 270° travel at right angles to their arms, along steering 30°, …
    run = log(steering=0.0, cmd=poses(0.0, 0.0, 0.5))
    found = alignment(run, C3P).angle[0]
    np.testing.assert_allclose(np.degrees(found), [30.0, 30.0, 90.0], atol=1e-9)


def test_hips_that_are_not_asked_to_move_are_never_out_of_line():
    assert align_time(log(steering=0.0, cmd=forward(0.049)), C3P, 1.0, np.inf) == 0.0
    assert align_time(log(steering=0.0, cmd=forward(0.051)), C3P, 1.0, np.inf) is None


def test_before_the_first_command_nothing_is_asked():
    run = log(steering=0.0)
    late = Series(np.array([50.0]), np.array([[0.3, 0.0, 0.0]]))
    assert align_time(RunLog(run.path, 0, run.joints, cmd_vel=late), C3P, 0.0, 20.0) == 0.0


def test_modules_are_aligned_when_they_have_turned_and_fixed_wheels_do_not_count():
    # the module turns from 0 to −90° in three seconds; the fixed wheels stand at theirs
    steering = -np.pi / 2 * np.clip((TIME - 1.0) / 3.0, 0.0, 1.0)
    run = log(steering=steering, cmd=forward())
    tricycle = load('tricycle_agv')
    assert align_time(run, tricycle, 1.0, np.inf) == pytest.approx(8 / 3, abs=1.01 / RATE)
    assert np.isnan(alignment(run, tricycle).angle[:, 1:]).all()
    swerve = load('swerve')
    joints = run.joints._replace(steering=np.tile(steering[:, None], 4))
    turned = RunLog(run.path, 0, joints, cmd_vel=run.cmd_vel)
    assert align_time(turned, swerve, 1.0, np.inf) == pytest.approx(8 / 3, abs=1.01 / RATE)


def test_without_steering_axes_nothing_aligns():
    assert align_time(log(steering=0.0, cmd=forward()), replace(
        C3P, fixed=True), 1.0, np.inf) is None


def test_ground_truth_and_drift():
    run = log(motion(poses(STRAIGHT)), ground_truth=motion(poses(STRAIGHT, 0.02, -0.03)))
    found = drive_metrics(run, C3P, (4, 0, 0), 0.05)
    assert found['odometry_error_final_m'] == pytest.approx(0.02)
    assert found['ground_truth_final_yaw_error_rad'] == pytest.approx(0.03)
    # its line leads from its own start to the goal, so it is beside it by 2 cm at the goal, and by
    # that much less where the odometry enters the zone, 5 cm before
    assert found['ground_truth_path_error_max_m'] == pytest.approx(0.02 * 3.95 / 4, rel=1e-3)
    assert found['final_error_m'] == 0.0


def test_a_motion_capture_frame_is_laid_on_the_odometry():
    # the same run seen in a frame that is turned by 1 rad and shifted
    c, s = np.cos(1.0), np.sin(1.0)
    seen = motion(np.column_stack([c * STRAIGHT + 7, s * STRAIGHT - 2, np.full_like(TIME, 1.0)]),
                  frame='mocap')
    laid = truth_in_odom(log(motion(poses(STRAIGHT)), ground_truth=seen))
    np.testing.assert_allclose(laid.pose, poses(STRAIGHT), atol=1e-12)
    assert laid.frame == 'odom'


def test_distance_to_a_segment():
    points = np.array([[0.5, 0.2], [-3.0, 4.0], [4.0, -4.0], [1.0, 0.0]])
    np.testing.assert_allclose(distance_to_segment(points, [0, 0], [1, 0]), [0.2, 5, 5, 0])
    np.testing.assert_allclose(distance_to_segment(points, [1, 0], [1, 0])[1], np.hypot(4, 4))


def test_slip_events_and_latency():
    suspect = np.zeros((6, 3), bool)
    suspect[[0, 1, 3, 5], 0] = suspect[2:, 2] = True
    slip = Slip(TIME[:6], np.zeros((6, 3, 2)), suspect, np.ones((6, 3)))
    keys = {'latency_p50_ms': '0.2', 'latency_p99_ms': '0.9', 'latency_max_ms': 'nan',
            'cycles': '100', 'overruns': '0'}
    health = (Health(1.0, 'a: state', 0, '', {**keys, 'cycles': '1'}),
              Health(2.0, 'a: state', 0, '', keys), Health(3.0, 'b: state', 0, '', {'x': '1'}))
    found = drive_metrics(log(slip=slip, diagnostics=health), C3P, (0, 0, 0), 0.1)
    assert found['slip_events'] == 4
    assert found['latency_ms'] == {'p50': 0.2, 'p99': 0.9, 'max': None}
    assert (found['cycles'], found['overruns']) == (100, 0)


def test_joint_states_alone_give_a_report_without_numbers():
    found = drive_metrics(log(), C3P, (4, 0, 0), 0.05)
    assert found['reached'] is False
    for key in ('time_s', 'align_time_s', 'final_error_m', 'ground_truth_final_error_m',
                'odometry_error_final_m', 'slip_events', 'cycles'):
        assert found[key] is None
    json.dumps(found, allow_nan=False)


def test_casters_whose_command_ended_before_they_turned_are_not_aligned():
    # a goal that is given up after ten seconds, before anything has moved
    command = np.where((TIME < 11.0)[:, None], forward(), 0.0)
    assert align_time(log(steering=0.0, cmd=command), C3P, 1.0, np.inf) is None
    # while casters that had turned by then are
    steering = -np.pi / 2 * np.clip((TIME - 1.0) / 3.0, 0.0, 1.0)
    assert align_time(log(None, steering, command), C3P, 1.0, np.inf) == pytest.approx(
        8 / 3, abs=1.01 / RATE)
