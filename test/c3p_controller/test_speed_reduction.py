# SPDX-License-Identifier: Apache-2.0
"""Requests to drive slowly: Nav2's speed limit and the reduced-speed mode."""

import math

import pytest

from c3p_controller.speed_reduction import LOWEST_SPEED, ReducedSpeed, SpeedReduction

SPEED, YAW = 0.8, 2.0
OFF = ReducedSpeed()
MODE = ReducedSpeed(0.3, 0.4, 0.5)


@pytest.mark.parametrize(('percentage', 'value', 'speed'), [
    (True, 50.0, 0.4), (True, 100.0, 0.8), (True, 130.0, 0.8), (False, 0.2, 0.2),
    (False, 5.0, 0.8), (True, 0.0, 0.8), (False, 0.0, 0.8), (True, 1e-6, LOWEST_SPEED)])
def test_a_limit_of_nav2_scales_both_limits_by_one_factor(percentage, value, speed):
    reduction = SpeedReduction(OFF)
    reduction.limit(percentage, value)
    found = reduction.limits(SPEED, YAW, 1e9)
    assert found == pytest.approx((speed, YAW * speed / SPEED), rel=1e-12)


@pytest.mark.parametrize('value', [-1.0, math.nan, math.inf])
def test_an_impossible_limit_leaves_the_one_before(value):
    reduction = SpeedReduction(OFF)
    reduction.limit(False, 0.2)
    with pytest.raises(ValueError, match=r'speed_limit = .*0 \(no limit\) or a positive number'):
        reduction.limit(False, value)
    assert reduction.limits(SPEED, YAW, 0.0)[0] == pytest.approx(0.2)


def test_silence_reduces_and_no_request_raises_a_limit():
    reduction = SpeedReduction(MODE)
    assert reduction.reason(3.0) == 'no message of reduced_speed'
    assert reduction.limits(SPEED, YAW, 3.0) == (0.3, 0.4)
    reduction.reduce(False, 3.0)
    assert reduction.reason(3.5) == '' and reduction.limits(SPEED, YAW, 3.5) == (SPEED, YAW)
    assert reduction.reason(3.6) == 'no message of reduced_speed for 0.6 s'
    assert reduction.limits(SPEED, YAW, 3.6) == (0.3, 0.4)
    # a clock that went back
    assert reduction.reason(2.0)
    reduction.reduce(True, 4.0)
    assert reduction.reason(4.1) == 'requested'
    # the parameters, or Nav2, may be lower still
    assert reduction.limits(0.1, 0.2, 4.1) == (0.1, 0.2)
    reduction.limit(False, 0.2)
    assert reduction.limits(SPEED, YAW, 4.1) == pytest.approx((0.2, 0.4))


def test_without_a_speed_there_is_no_mode():
    assert SpeedReduction(OFF).reason(1.0) == ''
    assert SpeedReduction(OFF).limits(SPEED, YAW, 1.0) == (SPEED, YAW)
