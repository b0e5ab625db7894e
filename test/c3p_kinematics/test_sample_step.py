# SPDX-License-Identifier: Apache-2.0
"""Steps by angles and rates: those of the samples, whatever the stamps are."""

import numpy as np
import pytest

from c3p_kinematics.sample_times import SampleStep

JITTER = 0.003
STEP = 0.005


def steps(rate_of, stamps, jitter=JITTER, offset=0.0):
    """Return the steps for joints with ``rate_of(t)`` (k,) rad/s, sampled every STEP."""
    pace, found, angle, last = SampleStep(jitter), [], np.zeros(6), None
    for k, stamp in enumerate(stamps):
        rate = rate_of(k * STEP)
        if k:
            # the integral by a hundred parts
            angle = angle + sum(rate_of((k - 1 + part) * STEP) for part in
                                (np.arange(100) + 0.5) / 100) * STEP / 100
        found.append(pace.step(None if last is None else stamp - last, (angle[:3], angle[3:]),
                               (rate[:3], rate[3:])))
        angle, last = angle + offset, stamp
    return found


@pytest.fixture
def stamps():
    """Stamps within 3 ms of the times, which advance."""
    random = np.random.default_rng(4)
    return np.maximum.accumulate(np.arange(200) * STEP + random.uniform(-JITTER, JITTER, 200)
                                 ) + np.arange(200) * 1e-9


def test_steps_of_a_moving_robot_are_those_of_the_samples(stamps):
    """Rates change by 1 % a cycle, as at the largest acceleration."""
    found = steps(lambda t: np.array([0.1, -0.2, 0.3, 9.0, -8.0, 10.0]) * (1.0 + 2.0 * t), stamps)
    assert found[0] is None
    np.testing.assert_allclose(found[1:], STEP, atol=2e-6)


def test_a_clock_that_lags_by_many_cycles_does_no_harm():
    stamps = np.concatenate([np.arange(50) * STEP, 0.25 + np.arange(1, 51) * 1e-4,
                             0.5 + np.arange(50) * STEP])
    found = steps(lambda t: np.array([0.0, 0.0, 0.0, 9.0, -8.0, 10.0]), stamps[:99])
    np.testing.assert_allclose(found[1:], STEP, atol=2e-6)


def test_at_rest_the_stamps_count(stamps):
    found = steps(lambda t: np.zeros(6), stamps)
    np.testing.assert_allclose(found[1:], np.diff(stamps), atol=1e-15)


def test_without_jitter_the_stamps_count(stamps):
    found = steps(lambda t: np.full(6, 5.0), stamps, jitter=0.0)
    assert np.array_equal(found[1:], np.diff(stamps))


def test_encoders_that_are_set_show_no_step(stamps):
    found = steps(lambda t: np.full(6, 5.0), stamps, offset=1.0)
    assert np.array_equal(found[1:], np.diff(stamps))


def test_a_lost_sample_doubles_the_step():
    pace, rate = SampleStep(JITTER), (np.full(3, 4.0), np.full(3, 6.0))
    pace.step(None, (np.zeros(3), np.zeros(3)), rate)
    assert pace.step(0.008, (np.full(3, 0.04), np.full(3, 0.06)), rate) == pytest.approx(
        0.010, abs=2e-6)
    # a new time line
    assert pace.step(None, (np.zeros(3), np.zeros(3)), rate) is None
