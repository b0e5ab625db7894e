# SPDX-License-Identifier: Apache-2.0
"""Remembered windows: when an estimate is replaced, and what their noise is."""

import copy

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P

from c3p_kinematics.calibration.evidence import (
    CHANGED,
    LARGEST_NOISE,
    LEAST,
    WINDOWS,
    Start,
    WindowHistory,
)
from c3p_kinematics.calibration.online import SelfCalibration
from c3p_kinematics.calibration.parameters import parameters_of

ROWS, UNKNOWNS = 3, 5
PRIOR = Start('the description', np.zeros(UNKNOWNS), np.eye(UNKNOWNS))


def history_of(truths, estimate, noise=1.0, seed=0):
    """Return a history of windows of a robot with these unknowns, judged by a fixed estimate."""
    rng = np.random.default_rng(seed)
    history = WindowHistory(ROWS, UNKNOWNS, limit=16.3, most=4.0)
    for truth in truths:
        rows = rng.normal(size=(ROWS, UNKNOWNS))
        value = rows @ (estimate - truth) + noise * rng.normal(size=ROWS)
        history.add(value, rows, estimate, float(value @ value) / history.noise**2, 0.0)
        history.measure_noise()
    return history


def test_windows_of_the_present_estimate_are_explained_by_no_other():
    estimate = np.array([1.0, -1.0, 0.5, 0.0, 2.0])
    for seed in range(30):
        history = history_of([estimate] * WINDOWS, estimate, seed=seed)
        assert history.better_estimate([PRIOR]) is None


@pytest.mark.parametrize('noise', [2.0, 5.0])
def test_noise_above_the_stated_one_is_measured_and_is_not_a_change(noise):
    estimate = np.array([1.0, -1.0, 0.5, 0.0, 2.0])
    found = 0
    for seed in range(30):
        history = history_of([estimate] * WINDOWS, estimate, noise, seed)
        assert history.noise == pytest.approx(noise, rel=0.3)
        found += history.better_estimate([PRIOR]) is not None
    assert found == 0


@pytest.mark.parametrize('since', [8, 20, 40])
def test_a_change_is_dated_and_only_windows_after_it_are_learned(since):
    before = np.array([1.0, -1.0, 0.5, 0.0, 2.0])
    after = np.array([0.5, 1.0, -1.0, 1.0, 0.0])
    history = history_of([before] * (WINDOWS - since) + [after] * since, before, seed=3)
    # noise is measured before a change; here the windows after it are most of all
    history.noise = 1.0
    found = history.better_estimate([PRIOR])
    assert found.name == 'the description' and found.gain > CHANGED
    assert found.windows == pytest.approx(since, abs=1)
    deviation = np.sqrt(np.diag(found.covariance))
    assert np.abs((found.unknown - after) / deviation).max() < 3.5
    # what it explains does not count against it, and is not explained anew
    assert history.contradicted() == 0 and len(history) == found.windows


def test_the_estimate_that_was_right_before_is_preferred_to_the_description():
    before = np.array([1.0, -1.0, 0.5, 0.0, 2.0])
    history = history_of([before] * 10, np.zeros(UNKNOWNS), seed=1)
    known = Start('an earlier calibration', before, 1e-3 * np.eye(UNKNOWNS))
    assert history.better_estimate([PRIOR, known]).name == 'an earlier calibration'


def test_the_noise_has_limits_and_needs_windows():
    estimate = np.zeros(UNKNOWNS)
    assert history_of([estimate] * (LEAST - 1), estimate, 100.0).noise == 1.0
    assert history_of([estimate] * LEAST, estimate, 100.0).noise == LARGEST_NOISE
    assert history_of([estimate] * WINDOWS, estimate, 0.1).noise == 1.0


def creeping(recording, deviation, seed, correlation=0.25):
    """Return a recording whose wheels creep by a part of their path that changes in time [s]."""
    rng = np.random.default_rng(seed)
    turned = np.diff(recording.wheel_angle, axis=0)
    keep = np.exp(-(recording.time[1] - recording.time[0]) / correlation)
    part = deviation * rng.normal(size=turned.shape)
    for k in range(1, len(part)):
        part[k] = keep * part[k - 1] + np.sqrt(1.0 - keep**2) * part[k]
    wheel = np.vstack([np.zeros((1, turned.shape[1])), np.cumsum(turned * (1.0 + part), axis=0)])
    return recording._replace(wheel_angle=wheel)


@pytest.mark.parametrize('deviation', [0.0, 0.01, 0.02])
def test_the_covariance_contains_wheels_that_creep_ten_times_as_much_as_stated(deviation):
    tow, _ = towed_drive(C3P, 11, 60.0, rate=100.0)
    squares = []
    for seed in range(6):
        described, errors = wrong(C3P, 40 + seed)
        recording = creeping(measured(tow, errors), deviation, seed)
        learned = SelfCalibration(described)
        steering, wheel = recording.steering, recording.wheel_angle
        for row in zip(0.5 * (steering[1:] + steering[:-1]), np.diff(wheel, axis=0),
                       np.diff(steering, axis=0), strict=True):
            learned.step(*row)
        miss = (parameters_of(described) + errors - learned.parameters).ravel()
        squares.append(miss @ np.linalg.solve(learned.covariance, miss) / miss.size)
    # squared errors in units of the covariance; 10 with the stated noise at 2 %
    assert np.mean(squares) < 2.0


def test_a_copy_learns_on_its_own():
    first = SelfCalibration(C3P)
    still, rolled = np.zeros(3), np.array([0.5, 0.4975, 0.5])
    for _ in range(300):
        first.step(still, rolled, still)
    other = copy.deepcopy(first)
    for _ in range(300):
        other.step(still, rolled, still)
    assert other.windows > first.windows and len(other._history) > len(first._history)
