# SPDX-License-Identifier: Apache-2.0
"""Parts of all position laws: goal check, smooth saturation, twist of the body."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.goals.position_command import body_twist, checked_goal, exponential
from c3p_kinematics.se2 import to_floor


@given(vectors(2, 3.0), st.floats(-2.0, 2.0), st.floats(-10.0, 10.0))
def test_the_twist_of_the_body_turned_to_the_floor_is_the_velocity(velocity, turn, yaw):
    back = to_floor(yaw, body_twist(velocity, turn, yaw))
    assert back == pytest.approx([*velocity, turn], abs=1e-12)


@given(st.floats(-1e3, 1e3), st.floats(0.0, 3.0), st.floats(0.05, 20.0))
def test_the_saturation_is_odd_bounded_and_starts_with_the_slope_of_its_rate(error, gain, rate):
    value = exponential(error, gain, rate)
    assert value == -exponential(-error, gain, rate)
    # 1 - e^-x <= min(1, x)
    assert 0.0 <= math.copysign(1.0, error) * value <= gain * min(1.0, rate * abs(error))


@pytest.mark.parametrize('goal', [(1.0, 2.0), (1.0, math.nan, 0.0), (0.0, 0.0, math.inf), 3.0])
def test_a_goal_must_be_three_finite_numbers(goal):
    with pytest.raises(ValueError, match='must be three finite numbers'):
        checked_goal(goal)
    assert np.array_equal(checked_goal([1, 2, 3]), [1.0, 2.0, 3.0])
