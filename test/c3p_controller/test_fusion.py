# SPDX-License-Identifier: Apache-2.0
"""Paper I, eq. (13): the fusion of inverse dynamics and inverse kinematics."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.fusion import DIRECTION_SPEED, fuse, singularity_indicator

DYNAMICS, KINEMATICS = np.array([0.3, -0.2, 0.9]), np.array([-0.1, 0.4, 0.2])


@pytest.mark.parametrize('lambda_1, lambda_2, degrees, weight_1, weight_2', [
    (0.0, 0.0, 0, 1.0, 1.0), (0.0, 0.0, 90, 1.0, 1.0), (0.0, 0.0, 137, 1.0, 1.0),
    (1.0, 1.0, 0, 0.0, 1.0), (1.0, 1.0, 60, 0.5, 0.5), (1.0, 1.0, 90, 1.0, 0.0),
    (1.0, 1.0, 120, 0.5, 0.5), (1.0, 1.0, 180, 0.0, 1.0),
    (2.0, 1.0, 60, 0.25, 0.5), (1.0, 2.0, 120, 0.5, 0.25),
    (0.5, 0.5, 120, math.sqrt(0.5), math.sqrt(0.5)), (0.0, 3.0, 180, 1.0, 1.0),
])
def test_weights_of_both_parts(lambda_1, lambda_2, degrees, weight_1, weight_2):
    fused = fuse(DYNAMICS, KINEMATICS, math.radians(degrees), lambda_1, lambda_2)
    assert fused == pytest.approx(weight_1 * DYNAMICS + weight_2 * KINEMATICS, abs=1e-12)


@given(st.floats(0.0, math.pi), st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_beyond_a_right_angle_nothing_is_reversed(angle, lambda_1, lambda_2):
    """The cosine as printed reverses τ_K for odd λ2 and is complex for fractional ones."""
    assume(abs(math.cos(angle)) > 1e-6)  # closer, rounding of the cosine decides
    here = fuse(np.zeros(3), KINEMATICS, angle, lambda_1, lambda_2)
    mirrored = fuse(np.zeros(3), KINEMATICS, math.pi - angle, lambda_1, lambda_2)
    # cos(π − x) and −cos(x) differ by 1e-16, relative to 1e-6 and raised to a power up to 5
    assert np.isrealobj(here) and here == pytest.approx(mirrored, rel=1e-8, abs=1e-12)
    assert here @ KINEMATICS >= 0.0


@given(st.floats(0.0, math.pi), vectors(3, 2.0), vectors(3, 2.0))
def test_the_papers_zero_exponents_are_a_plain_sum(angle, dynamics, kinematics):
    assert np.array_equal(fuse(dynamics, kinematics, angle, 0.0, 0.0), dynamics + kinematics)


@given(st.floats(-math.pi, math.pi), st.floats(-math.pi, math.pi), st.floats(0.05, 2.0),
       st.floats(0.05, 2.0), st.floats(-3, 3))
def test_the_indicator_is_the_angle_between_the_directions(one, other, v, w, yaw_rate):
    sensed = np.array([v * math.cos(one), v * math.sin(one), yaw_rate])
    asked = np.array([w * math.cos(other), w * math.sin(other), -yaw_rate])
    between = abs(math.atan2(math.sin(one - other), math.cos(one - other)))
    # the arc cosine loses half of the digits at its ends
    assert singularity_indicator(sensed, asked) == pytest.approx(between, abs=1e-7)
    assert singularity_indicator(asked, sensed) == pytest.approx(between, abs=1e-7)


def test_asked_and_not_moving_is_not_actuated():
    rest, asked = np.zeros(3), np.array([0.3, 0.0, 0.0])
    assert singularity_indicator(rest, asked) == math.pi / 2


@pytest.mark.parametrize('asked', [(0, 0, 0), (0, 0, 1.0), (DIRECTION_SPEED * 0.9, 0, 0)])
@pytest.mark.parametrize('sensed', [(0, 0, 0), (0.5, 0, 0)])
def test_where_no_direction_is_asked_none_is_missing(asked, sensed):
    assert singularity_indicator(np.array(sensed, float), np.array(asked, float)) == 0.0
