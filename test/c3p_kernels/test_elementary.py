# SPDX-License-Identifier: Apache-2.0
"""Elementary functions against high precision and the library of mathematics."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_kernels.compiled import inlined
from c3p_kernels.elementary import arc, circle, half_cotangent

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
