# SPDX-License-Identifier: Apache-2.0
"""Elementary functions against high precision and the library of mathematics."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_kernels.compiled import inlined
from c3p_kernels.elementary import IN_LANES, arc, circle, half_cotangent, tanh
from c3p_kernels.specialise import specialise

# distance of 1 from the next number
ULP = np.finfo(float).eps


@given(st.floats(-3.1, 3.1) | st.floats(-0.02, 0.02))
def test_arc_and_half_cotangent_are_right_to_the_last_roundings(angle):
    with mpmath.workdps(40):
        phi = mpmath.mpf(angle)
        exact = [mpmath.sin(phi) / phi, (1 - mpmath.cos(phi)) / phi,
                 phi / 2 * mpmath.cot(phi / 2)] if angle else [1, 0, 1]
        exact = [float(value) for value in exact]
    got = [*arc(angle), half_cotangent(angle)]
    np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-16)


# `inlined` keeps no machine code, which would outlive a change of the tables
@inlined
def circles(angle, cosine, sine):
    for i in range(len(angle)):
        cosine[i], sine[i] = circle(angle[i])


def circle_of(angle):
    cosine, sine = np.empty_like(angle), np.empty_like(angle)
    circles(angle, cosine, sine)
    return cosine, sine


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


# `inlined` keeps no machine code, which would outlive a change of the tables
@inlined
def levels(x, value):
    for i in range(len(x)):
        value[i] = tanh(x[i])


def tanh_of(x):
    value = np.empty_like(x)
    levels(x, value)
    return value


@pytest.mark.parametrize('reach', [1e-12, 1 / 64, 1 / 32, 1.0, 19.5, 800.0])
def test_tanh_is_exact_to_four_units_of_the_last_place(reach):
    x = np.random.default_rng(2).uniform(-reach, reach, 50_000)
    np.testing.assert_allclose(tanh_of(x), np.tanh(x), rtol=4 * ULP, atol=0)


def test_tanh_is_odd_stands_still_at_zero_and_never_exceeds_one():
    x = np.concatenate([np.linspace(0, 20, 20_001), [1e300, np.inf]])
    value = tanh_of(x)
    np.testing.assert_array_equal(value, -tanh_of(-x))
    assert value[0] == 0.0
    assert value.max() == 1.0
    # a tanh that fell by more than its rounding would let friction give back energy
    assert np.diff(value).min() >= -2 * ULP


def test_numbers_side_by_side_have_the_bits_of_single_ones():
    lanes = pytest.importorskip('c3p_kernels.lanes', reason='pip install numba')
    around = specialise(circle, dict(IN_LANES))
    tangent = specialise(tanh, dict(IN_LANES))

    @inlined
    def few(x, out):
        a, result = lanes.as_few(x)[0], lanes.as_few(out)
        result[0], result[1] = around(a)
        result[2] = tangent(a)

    x = np.array([[0.3, -2.0, 700.0, -0.0], [1e4, -19.0, 1e-9, 25.0]])
    for row in x:
        out, cosine, sine, expected = np.empty((3, 4)), *np.empty((3, 4))
        few(row[None].copy(), out)
        circles(row, cosine, sine)
        levels(row, expected)
        assert out.tolist() == [cosine.tolist(), sine.tolist(), expected.tolist()]
