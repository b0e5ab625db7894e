# SPDX-License-Identifier: Apache-2.0
"""A typed pose in a mistaken unit is refused, with the values that were probably meant."""

import math

import pytest

from c3p_controller.goals.goal_bounds import FARTHEST, check_typed_pose


@pytest.mark.parametrize('pose', [
    (0.0, 0.0, 0.0), (FARTHEST, -FARTHEST, math.pi), (1.0, 0.0, -2.0 * math.pi),
    # as people write a turn
    (1.0, 0.0, 6.28), (1.0, 0.0, 6.2832)])
def test_a_pose_within_the_bounds_is_accepted(pose):
    check_typed_pose('goal', *pose)


@pytest.mark.parametrize('yaw', [90.0, 180.0, -45.0, 7.0, 6.3, -360.0])
def test_a_yaw_in_degrees_is_refused_with_both_readings(yaw):
    with pytest.raises(ValueError, match='radians') as refused:
        check_typed_pose('goal', 1.0, 0.0, yaw)
    text = f'{refused.value}'
    assert f'goal: yaw {yaw:g}' in text and f'use {math.radians(yaw):.4f},' in text
    same = float(text.rpartition('use ')[2])
    assert abs(same) <= math.pi and math.cos(same - yaw) == pytest.approx(1.0, abs=1e-7)
    with pytest.raises(ValueError, match='; --radians accepts any yaw$'):
        check_typed_pose('goal', 1.0, 0.0, yaw, switch='--radians')
    check_typed_pose('goal', 1.0, 0.0, yaw, radians=True)


@pytest.mark.parametrize('pose, word', [
    ((1e6, 0.0, 0.0), 'x'), ((0.0, -1000.1, 0.0), 'y'), ((math.nan, 0.0, 0.0), 'x'),
    ((0.0, math.inf, 0.0), 'y'), ((0.0, 0.0, math.nan), 'yaw'), ((0.0, 0.0, math.inf), 'yaw')])
@pytest.mark.parametrize('radians', [False, True])
def test_what_is_too_far_or_not_finite_is_refused(pose, word, radians):
    with pytest.raises(ValueError, match=f'goal: {word} .* must be finite'):
        check_typed_pose('goal', *pose, radians=radians)
