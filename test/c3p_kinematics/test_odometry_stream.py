# SPDX-License-Identifier: Apache-2.0
"""Samples given by time steps; settings from node parameters; compilation before the drive."""

import math
from pathlib import Path

import numpy as np
import pytest

from c3p_description.model import CasterRobot
from c3p_kernels.compiled import COMPILED
from c3p_kinematics._odometry_step import start_again, step
from c3p_kinematics.odometry import PARAMETERS, Odometry, OdometrySettings, odometry_settings
from c3p_ros.schema import read_schema

SCHEMA = Path(__file__).parents[2] / 'c3p_kinematics/sensed_kinematics_parameters.yaml'

ROBOT = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
STILL = np.zeros(3)


def samples(count):
    """Return (steering, angle, rate, steering rate) of a robot on a curve."""
    random = np.random.default_rng(3)
    rates = 2.0 + np.cumsum(random.normal(0.0, 0.05, (count, 3)), axis=0)
    turns = 0.2 * np.sin(np.arange(count)[:, None] / 20.0 + np.arange(3))
    return [(np.sum(turns[:k + 1], axis=0) * 0.005, np.sum(rates[:k + 1], axis=0) * 0.005,
             rates[k], turns[k]) for k in range(count)]


def test_time_steps_equal_summed_times():
    stream, odometry, time = Odometry(ROBOT), Odometry(ROBOT), 0.0
    stream.warm_up()
    for k, sample in enumerate(samples(50)):
        # sums and differences of powers of two are exact
        step = 2.0**-8 if k else None
        time += step or 0.0
        ours, theirs = stream.step_by(step, *sample), odometry.step(time, *sample)
        # the same bits, although one of them has been warmed up
        assert ours.time == theirs.time and np.array_equal(ours.pose, theirs.pose)
        assert np.array_equal(ours.twist, theirs.twist)
        assert np.array_equal(ours.pose_covariance, theirs.pose_covariance)
        assert np.array_equal(ours.twist_covariance, theirs.twist_covariance)


def differing(one, other, name='state'):
    """Yield the names of the numbers that differ between two states and their parts."""
    for field in type(one).fields:
        here, there = getattr(one, field.name), getattr(other, field.name)
        if hasattr(here, 'block'):
            yield from differing(here, there, f'{name}.{field.name}')
        elif not np.array_equal(here, there, equal_nan=True):
            yield f'{name}.{field.name}'


def test_a_reset_clears_all_that_a_drive_has_shown():
    used, fresh = Odometry(ROBOT), Odometry(ROBOT)
    for k, (steering, angle, rate, turn) in enumerate(samples(400)):
        # rates that lag, a wheel that spins, and lost samples
        spins = np.array([0.02 * max(k - 300, 0), 0.0, 0.0])
        if k % 150 > 8:
            used.step_by(0.005 * (10 if k % 150 == 9 else 1), steering, angle + spins, 0.9 * rate,
                         turn)
    assert used._last.slip.slipping
    used.reset()
    # longer than the ring of steps
    for k, sample in enumerate(samples(200)):
        step = 0.005 if k else None
        one, other = used.step_by(step, *sample), fresh.step_by(step, *sample)
        for field in ('pose', 'twist', 'pose_covariance', 'twist_covariance', 'residual'):
            assert np.array_equal(getattr(one, field), getattr(other, field)), (k, field)
    # all but the time since the first sample
    assert set(differing(used._state, fresh._state)) == {
        'state.place.time', 'state.place.moved', 'state.peak.time'}


def test_a_run_that_began_earlier_moves_by_the_same_bits():
    early, late = Odometry(ROBOT), Odometry(ROBOT)
    for k in range(40):
        early.step_by(0.007 if k else None, STILL, STILL, STILL, STILL)
    for k, sample in enumerate(samples(60)):
        if k == 30:
            # the time of a rejected sample belongs to the next step
            assert not early.step_by(0.005, STILL * np.nan, STILL, STILL, STILL).accepted
            assert not late.step_by(0.005, STILL * np.nan, STILL, STILL, STILL).accepted
        one, other = early.step_by(0.005, *sample), late.step_by(0.005 if k else None, *sample)
        if k == 0:
            early.reset()
            one = early.step_by(0.0, *sample)
        assert np.array_equal(one.pose, other.pose) and np.array_equal(one.twist, other.twist)


def test_a_new_time_line_keeps_the_pose_and_takes_the_angles_as_they_are():
    stream = Odometry(ROBOT)
    for k, sample in enumerate(samples(20)):
        before = stream.step_by(0.005 if k else None, *sample)
    after = stream.step_by(None, STILL + 3.0, STILL - 7.0, STILL, STILL)
    assert np.array_equal(after.pose, before.pose) and after.reason == 'first sample'
    assert np.array_equal(stream.pose, before.pose)
    stream.reset((1.0, 2.0, 0.5))
    assert stream.step_by(0.005, *samples(1)[0]).pose.tolist() == [1.0, 2.0, 0.5]


def test_settings_are_those_of_the_parameters():
    default = odometry_settings()
    assert default == OdometrySettings()
    assert odometry_settings(steering_counts=8).steering_resolution == math.pi / 4
    assert {'wheel_counts', 'steering_counts'} < set(PARAMETERS)
    schema = read_schema(SCHEMA)
    for name in PARAMETERS:
        entry = schema[name]
        assert odometry_settings(**{name: entry['default_value']}) == default, name
        if entry['type'] == 'bool':
            other = not entry['default_value']
        elif entry['type'] == 'string':
            other = entry['validation']['one_of<>'][0][-1]
        else:
            other = entry['validation']['bounds<>'][1]
        assert odometry_settings(**{name: other}) != default, f'{name} has no effect'
    with pytest.raises(ValueError, match='max_gap = -1'):
        odometry_settings(max_gap=-1.0)
    with pytest.raises(ValueError, match='slip.persistence = -1'):
        odometry_settings(**{'slip.persistence': -1.0})


def test_nothing_is_left_to_compile_in_a_drive():
    stream = Odometry(ROBOT)
    stream.warm_up()
    if COMPILED:
        before = [len(used.signatures) for used in (step, start_again)]
        assert before == [1, 1]
        # with lists, a gap, a slip, and without rates
        for k, (steering, angle, rate, turn) in enumerate(samples(80)):
            angle = angle + 0.05 * k * np.array([1.0, 0.0, 0.0]) * (k > 30)
            stream.step(0.005 * k + 3.0 * (k > 70), steering.tolist(), angle,
                        *((rate, turn) if k % 5 else ()))
        stream.reset()
        assert [len(used.signatures) for used in (step, start_again)] == before
    assert stream.pose.tolist() == [0.0, 0.0, 0.0]
