# SPDX-License-Identifier: Apache-2.0
"""Sine, cosine and tanh from tables against those of the mathematics library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_dynamics._elementary import circle, level
from c3p_kinematics.compiled import inlined

# distance of 1 from the next number
ULP = np.finfo(float).eps


# `inlined` keeps no machine code, which would outlive a change of the tables
@inlined
def circles(angle, cosine, sine):
    for i in range(len(angle)):
        cosine[i], sine[i] = circle(angle[i])


@inlined
def levels(x, value):
    for i in range(len(x)):
        value[i] = level(x[i])


def circle_of(angle):
    cosine, sine = np.empty_like(angle), np.empty_like(angle)
    circles(angle, cosine, sine)
    return cosine, sine


def level_of(x):
    value = np.empty_like(x)
    levels(x, value)
    return value


@pytest.mark.parametrize('reach', [1e-9, 0.01, 1.0, 10.0, 1e3, 1e5])
def test_sine_and_cosine_are_those_of_the_library_to_the_last_place(reach):
    angle = np.random.default_rng(1).uniform(-reach, reach, 50_000)
    cosine, sine = circle_of(angle)
    assert np.abs(cosine - np.cos(angle)).max() <= 2 * ULP
    assert np.abs(sine - np.sin(angle)).max() <= 2 * ULP


@given(st.floats(-1e9, 1e9))
def test_far_angles_are_as_exact_as_their_own_last_place(angle):
    cosine, sine = circle_of(np.array([angle]))
    slack = 2 * ULP + math.ulp(angle)
    assert abs(cosine[0] - math.cos(angle)) <= slack
    assert abs(sine[0] - math.sin(angle)) <= slack


@pytest.mark.parametrize('reach', [1e-12, 1 / 64, 1 / 32, 1.0, 19.5, 800.0])
def test_level_is_tanh_to_four_units_of_the_last_place(reach):
    x = np.random.default_rng(2).uniform(-reach, reach, 50_000)
    np.testing.assert_allclose(level_of(x), np.tanh(x), rtol=4 * ULP, atol=0)


def test_level_is_odd_stands_still_at_zero_and_never_exceeds_one():
    x = np.concatenate([np.linspace(0, 20, 20_001), [1e300, np.inf]])
    value = level_of(x)
    np.testing.assert_array_equal(value, -level_of(-x))
    assert value[0] == 0.0
    assert value.max() == 1.0
    # a tanh that fell by more than its rounding would let friction give back energy
    assert np.diff(value).min() >= -2 * ULP
