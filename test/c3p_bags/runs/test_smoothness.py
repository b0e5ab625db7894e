# SPDX-License-Identifier: Apache-2.0
"""Figures of smoothness, against motions and torques whose figures follow from a formula."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P

from c3p_bags.runs.metrics import drive_metrics
from c3p_bags.runs.run_log import Goal, Joints, Motion, RunLog, Series
from c3p_bags.runs.smoothness import KEYS, run_smoothness, smoothness, steady

TIME = np.arange(0.0, 20.0, 0.005)


def constant(*values):
    """Return the values at each time."""
    return np.tile(np.array(values, float), (len(TIME), 1))


def of(twist, torque=None, command=None, time=TIME):
    return smoothness(time, np.zeros((len(time), 3)) if torque is None else torque, twist, command)


def test_a_motion_without_change_has_no_figure_but_zero():
    found = of(constant(0.3, 0.1, 0.0), constant(1.0, -0.5, 0.2), constant(0.3, 0.1, 0.0))
    assert set(found) == set(KEYS)
    # rounding of sums over 4000 samples, and of second differences at 5 ms
    assert found == pytest.approx(dict.fromkeys(KEYS, 0.0), abs=1e-9)


@given(rate=st.floats(0.05, 2.0), speed=st.floats(0.05, 1.0))
def test_a_circle_has_the_jerk_of_its_formula_and_no_ripple(rate, speed):
    # |d³p/dt³| = v ω²; the parabola over 0.1 s misses (ω 0.05 s)²/7 of it at most
    found = of(constant(speed, 0.0, rate), command=constant(speed, 0.0, rate))
    assert found['jerk_rms_mps3'] == pytest.approx(speed * rate**2, rel=5e-3)
    assert found['jerk_max_mps3'] == pytest.approx(speed * rate**2, rel=5e-3)
    assert found['yaw_rate_ripple_rms_radps'] == pytest.approx(0.0, abs=1e-12)
    assert found['velocity_ripple_rms_mps'] == pytest.approx(0.0, abs=1e-12)


def test_torques_of_a_triangle_vary_by_their_rate():
    # 1 Hz between ±0.5 N·m: 2 N·m/s for each of two motors
    saw = np.abs(np.mod(TIME, 1.0) - 0.5) * 2.0 - 0.5
    found = of(constant(0, 0, 0), np.stack([saw, -saw], axis=-1))
    assert found['torque_variation_nm_per_s'] == pytest.approx(4.0, rel=1e-3)
    assert found['torque_rate_max_nm_per_s'] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize('frequency', [1.0, 1.5, 3.0])
def test_a_swing_about_the_command_is_ripple(frequency):
    # whole periods at 1 and 3 Hz; at 1.5 Hz the mean over 2 s keeps none of it either
    swing = 0.05 * np.sin(2.0 * np.pi * frequency * TIME)
    command = constant(0.3, 0.0, 0.2)
    twist = command + np.stack([0.4 * swing, 0.0 * swing, swing], axis=-1)
    found = of(twist, command=command)
    assert found['yaw_rate_ripple_rms_radps'] == pytest.approx(0.05 / np.sqrt(2.0), rel=0.02)
    assert found['velocity_ripple_rms_mps'] == pytest.approx(0.02 / np.sqrt(2.0), rel=0.02)


def test_a_slow_deviation_from_the_command_is_no_ripple():
    # heading by choice: 0.1 Hz, of which the mean over 2 s takes 1 − sin(0.2π)/(0.2π) = 6.5 %
    slow = 0.1 * np.sin(2.0 * np.pi * 0.1 * TIME)
    found = of(constant(0.3, 0, 0) + np.outer(slow, (0, 0, 1)), command=constant(0.3, 0, 0))
    assert found['yaw_rate_ripple_rms_radps'] < 0.07 * 0.1 / np.sqrt(2.0)


def test_a_jump_of_the_command_and_its_transient_do_not_count():
    command = constant(0.0, 0.3, 0.2)
    command[TIME > 10.0, 2] = -0.2
    twist = command.copy()
    # the platform answers within 0.5 s
    twist[:, 2] = np.interp(TIME, [10.0, 10.5], [0.2, -0.2])
    assert of(twist, command=command)['yaw_rate_ripple_rms_radps'] < 1e-9
    assert of(twist)['yaw_rate_ripple_rms_radps'] > 0.01


def test_a_run_without_a_steady_command_has_no_ripple_to_tell():
    found = of(constant(0, 0, 0), command=np.outer(np.sin(TIME), (0.0, 0.0, 1.0)))
    assert found['yaw_rate_ripple_rms_radps'] is None
    assert found['velocity_ripple_rms_mps'] is None
    assert smoothness([0.0], np.zeros((1, 2)), np.zeros((1, 3))) == dict.fromkeys(KEYS)


def test_figures_hardly_depend_on_the_times_of_the_samples():
    random = np.random.default_rng(3)
    some = np.sort(random.choice(len(TIME), 3000, replace=False))
    swing = 0.05 * np.sin(2.0 * np.pi * TIME)
    twist = constant(0.3, 0.0, 0.2) + np.outer(swing, (0.2, 0.0, 1.0))
    torque = np.outer(swing, (1.0, -1.0))
    every = smoothness(TIME, torque, twist, constant(0.3, 0.0, 0.2))
    found = smoothness(TIME[some], torque[some], twist[some], constant(0.3, 0.0, 0.2)[some])
    # a quarter of the samples is missing: linear interpolation between the others
    for key in KEYS:
        assert found[key] == pytest.approx(every[key], rel=0.05), key


@given(scale=st.floats(0.01, 100.0))
def test_figures_of_torques_scale_with_the_torques(scale):
    torque = np.stack([np.sin(7.0 * TIME), np.cos(3.0 * TIME)], axis=-1)
    one, other = of(constant(0, 0, 0), torque), of(constant(0, 0, 0), scale * torque)
    for key in ('torque_variation_nm_per_s', 'torque_rate_max_nm_per_s'):
        assert other[key] == pytest.approx(scale * one[key], rel=1e-9)


def test_equal_and_falling_times_and_values_that_are_no_numbers_are_left_out():
    time, twist, torque = TIME.copy(), constant(0.3, 0, 0), np.outer(TIME, (1.0, 0.0))
    time[100], time[200] = time[99], time[150]
    twist[300], torque[400] = np.nan, np.inf
    found = of(twist, torque, constant(0.3, 0, 0), time)
    assert found['torque_rate_max_nm_per_s'] == pytest.approx(1.0, rel=1e-9)
    assert found['jerk_max_mps3'] == pytest.approx(0.0, abs=1e-9)


@given(seed=st.integers(0, 1000))
def test_a_steady_command_is_found_as_by_looking_at_each_window(seed):
    random = np.random.default_rng(seed)
    time = np.cumsum(random.uniform(0.01, 0.2, 120))
    command = np.repeat(random.uniform(-0.12, 0.12, (6, 3)), 20, axis=0)
    if seed % 3 == 0:
        command[:10] = np.nan
    expected = []
    for now in time:
        window = command[(time >= now - 2.0) & (time <= now + 1.0)]
        expected.append(bool(now - time[0] >= 2.0 and time[-1] - now >= 1.0
                             and (np.ptp(window, axis=0) <= 0.1).all()))
    np.testing.assert_array_equal(steady(time, command), expected)


# ---- the end of a recording

def recorded(seconds, goal=True, seed=4):
    """Return a recording of `seconds` of a drive that is at rest at x = 2 m from 8 s on."""
    time = 0.005 * np.arange(round(seconds / 0.005))
    # the values at a time do not depend on the length of the recording
    noise = np.random.default_rng(seed).normal(size=(6000, 6))[:len(time)]
    speed = np.where(time < 8.0, 0.25 * np.pi * np.sin(np.pi * time / 8.0).clip(0.0), 0.0)
    place = np.where(time < 8.0, 1.0 - np.cos(np.pi * time / 8.0), 2.0)
    pose = np.column_stack([place, 0.0 * time, 0.0 * time])
    twist = np.column_stack([speed, 0.0 * time, 0.0 * time]) + 1e-4 * noise[:, :3]
    none = np.zeros((len(time), 3, 3))
    torque = Series(time, np.sin(3.0 * time)[:, None] * speed[:, None] + 0.01 * noise[:, 3:])
    command = Series(time, np.column_stack([speed, 0.0 * time, 0.0 * time]))
    still = np.zeros((len(time), 3))
    return RunLog(Path('run'), 0, Joints(time, *[still] * 5), Motion(
        time, pose, twist, none, none, 'odom', 'base_link'), wheel_effort=torque,
        cmd_vel=command, goals=(Goal(0.0, (2.0, 0.0, 0.0), 'odom'),) if goal else ())


@pytest.mark.parametrize('goal', [True, False])
def test_figures_do_not_depend_on_how_long_the_recorder_runs_on(goal):
    target = (2.0, 0.0, 0.0) if goal else None
    runs = [drive_metrics(recorded(seconds, goal), C3P, target, 0.02)
            for seconds in (8.5, 9.25, 13.0, 28.0)]
    found = [{key: run[key] for key in KEYS} for run in runs]
    assert found[0]['torque_variation_nm_per_s'] > 0.1
    # bit for bit
    assert found[0] == found[1] == found[2] == found[3]


def test_a_drive_that_has_not_come_to_rest_counts_to_its_end():
    moving = recorded(6.0, False)
    assert run_smoothness(moving) == smoothness(
        moving.odom.time, moving.wheel_effort.value, moving.odom.twist, moving.cmd_vel.value)
