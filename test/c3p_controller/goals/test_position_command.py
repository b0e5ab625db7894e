# SPDX-License-Identifier: Apache-2.0
"""Parts of all position laws: goal check, smooth saturation, twist of the body."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import vectors

from c3p_controller.goals.position_command import (
    PositionLaw,
    body_twist,
    checked_goal,
    exponential,
)
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


class Errors(PositionLaw):
    """A law that returns its errors."""

    def set_goal(self, goal, pose):
        self.goal = np.asarray(goal, float)

    def step(self, pose, twist=None):
        return None if self.goal is None else self._errors(np.asarray(pose, float))


@given(vectors(3, 5.0), vectors(3, 5.0))
def test_errors_lead_from_the_pose_to_the_goal_and_yaw_the_short_way(goal, pose):
    law = Errors(SimpleNamespace(goal_tolerance=0.05, yaw_tolerance=0.1))
    assert law.step(pose) is None
    law.set_goal(goal, pose)
    error, distance, yaw_error = law.step(pose)
    assert pose[:2] + error == pytest.approx(goal[:2])
    assert distance == pytest.approx(np.linalg.norm(goal[:2] - pose[:2]))
    assert -math.pi <= yaw_error <= math.pi
    assert np.exp(1j * (pose[2] + yaw_error)) == pytest.approx(np.exp(1j * goal[2]))
    law.cancel()
    assert law.goal is None and law.step(pose) is None


def test_gains_are_those_given_last():
    law = Errors(SimpleNamespace(goal_tolerance=0.05, yaw_tolerance=0.1))
    assert law.zone == (0.05, 0.1) and law.preview is None
    law.retune(SimpleNamespace(goal_tolerance=0.02, yaw_tolerance=math.inf))
    assert law.zone == (0.02, math.inf)
