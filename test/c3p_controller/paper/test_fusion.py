# SPDX-License-Identifier: Apache-2.0
"""Paper I, eq. (13): the fusion of inverse dynamics and inverse kinematics."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import C3P, vectors

from c3p_controller.paper.angles import direction_angle
from c3p_controller.paper.fusion import (
    DIRECTION_SPEED,
    FusionOptions,
    fuse,
    fusion_weights,
    singularity_indicator,
)
from c3p_controller.paper.velocity import PaperLaw, PaperSettings, VelocityGains
from c3p_controller.torque_law import Sensed

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


# every reading, where it matters with which others it is combined
READINGS = st.fixed_dictionaries({name: st.sampled_from(choices) for name, choices
                                  in FusionOptions.choices().items()}).filter(
    lambda o: not (o['yaw'] == 'included' and o['arctangent'] == 'one_argument')
).map(lambda o: FusionOptions(**o))


def complex_angle(twist):
    """Return the direction of travel as a complex number of length one."""
    z = complex(twist[0], twist[1])
    return z / abs(z)


def heading(angle, speed=0.3, yaw_rate=0.0):
    return np.array([speed * math.cos(angle), speed * math.sin(angle), yaw_rate])


NUMBERS = st.one_of(st.floats(-5, 5), st.sampled_from([0.0, -0.0, 1e-300, -1e-300, 1e-9]))


@given(NUMBERS, NUMBERS, st.booleans())
def test_the_arctangents_are_those_of_floating_point(x, y, clockwise):
    sense = 'clockwise' if clockwise else 'counter_clockwise'
    side = np.float64(-y if clockwise else y)
    # NumPy's vector units and the C library may differ in the last bit
    assert direction_angle(x, y, 'two_argument', sense) == pytest.approx(
        np.arctan2(side, x), rel=1e-15, abs=0.0)
    with np.errstate(all='ignore'):
        expected = np.arctan(side / np.float64(x))
    found = direction_angle(x, y, 'one_argument', sense)
    assert found == pytest.approx(expected, abs=1e-15) or math.isnan(found) and x == y == 0.0


@pytest.mark.parametrize('one, other', itertools.product(range(0, 360, 30), repeat=2))
def test_the_indicator_in_every_pair_of_quadrants(one, other):
    sensed, asked = heading(math.radians(one)), heading(math.radians(other))
    between = abs((one - other + 180) % 360 - 180)
    for sense in FusionOptions.choices()['sense']:
        found = singularity_indicator(sensed, asked, FusionOptions(sense=sense))
        assert math.degrees(found) == pytest.approx(between, abs=1e-9)
        # opposite directions are the same for one argument: half a turn cannot be told
        one_argument = FusionOptions(sense=sense, arctangent='one_argument')
        found = math.degrees(singularity_indicator(sensed, asked, one_argument))
        assert min(abs(found - between), abs(found - (180 - between))) < 1e-9


@given(st.floats(-math.pi, math.pi), st.floats(-math.pi, math.pi), st.floats(0.0, 4.0))
def test_one_argument_and_the_minus_sign_change_nothing_under_the_absolute_cosine(one, other,
                                                                                  exponent):
    sensed, asked = heading(one), heading(other)
    assume(abs(complex_angle(sensed).real) > 1e-3 and abs(complex_angle(asked).real) > 1e-3)
    # |cos| of the complex quotient, an oracle without any arctangent
    c = abs((complex_angle(sensed) / complex_angle(asked)).real)
    assume(1e-4 < c < 1.0 - 1e-4)
    choices = FusionOptions.choices()
    for arctangent, sense in itertools.product(choices['arctangent'], choices['sense']):
        options = FusionOptions(arctangent=arctangent, sense=sense)
        weights = fusion_weights(singularity_indicator(sensed, asked, options), exponent,
                                 exponent, options)
        # the angle carries 1e-15, of which 1 − c of 1e-4 and powers up to 4 make 1e-9
        assert weights == pytest.approx(((1 - c) ** exponent, c ** exponent), rel=1e-9)


def test_one_argument_takes_directions_for_opposite_that_are_not():
    # 80° and 100° are 20° apart; their arctangents are 80° and −80°
    options = FusionOptions(arctangent='one_argument', cosine='as_printed')
    indicator = singularity_indicator(heading(math.radians(80)), heading(math.radians(100)),
                                      options)
    assert math.degrees(indicator) == pytest.approx(160.0)
    assert fusion_weights(indicator, 1.0, 1.0, options)[1] < -0.9


@given(st.floats(0.0, math.pi), st.floats(0.0, 5.0), st.integers(0, 4))
def test_weights_as_printed_are_those_of_complex_arithmetic(angle, fraction, whole):
    c = math.cos(angle)
    for exponent in (fraction, float(whole)):
        assume(abs(c) > 1e-3)
        principal = complex(c) ** exponent
        stop, real = (fusion_weights(angle, exponent, exponent, FusionOptions(
            cosine='as_printed', complex_power=choice)) for choice in ('stop', 'real_part'))
        assert real[1] == pytest.approx(principal.real, abs=1e-12)
        assert real[0] == pytest.approx((1 - c) ** exponent, abs=1e-12)
        assert stop[1] == real[1] or math.isnan(stop[1]) and c < 0 and exponent % 1 != 0


@given(st.floats(math.pi / 2 + 0.01, math.pi), st.integers(0, 3))
def test_as_printed_odd_powers_reverse_and_fractional_ones_are_no_numbers(angle, half):
    printed = FusionOptions(cosine='as_printed')
    assert fusion_weights(angle, 1.0, 2.0 * half + 1.0, printed)[1] < 0.0
    assert math.isnan(fusion_weights(angle, 1.0, half + 0.5, printed)[1])
    # Table I is safe from all of it
    assert fusion_weights(angle, 0.0, 0.0, printed) == (1.0, 1.0)


@given(READINGS, st.sampled_from([0.0, math.nan, 1.0, math.pi]))
def test_the_papers_zero_exponents_are_a_plain_sum_in_every_reading(options, indicator):
    assert fusion_weights(indicator, 0.0, 0.0, options) == (1.0, 1.0)


SLOW, FAST = 0.99 * DIRECTION_SPEED, 1.01 * DIRECTION_SPEED


@pytest.mark.parametrize('actual, asked, found', [
    (0.0, 0.0, (0, 0, 1.1)), (0.0, SLOW, (0, 0, 1.1)), (0.0, FAST, (math.pi / 2, 0, 1.1)),
    (SLOW, FAST, (math.pi / 2, 0, 1.1)), (FAST, SLOW, (0, 0, 1.1)),
    (FAST, FAST, (math.pi / 3,) * 3)])
def test_readings_of_a_direction_that_is_none(actual, asked, found):
    for choice, expected in zip(('missing_direction', 'zero', 'hold_last'), found, strict=True):
        indicator = singularity_indicator(heading(0.4, actual), heading(0.4 + math.pi / 3, asked),
                                          FusionOptions(at_rest=choice), held=1.1)
        assert indicator == pytest.approx(expected), choice


def test_computed_at_rest_takes_the_robot_to_move_along_x():
    computed = FusionOptions(at_rest='computed')
    rest = np.zeros(3)
    assert singularity_indicator(rest, heading(0.0), computed) == 0.0
    assert singularity_indicator(rest, heading(math.pi / 2), computed) == math.pi / 2
    # any noise counts
    assert singularity_indicator(heading(2.0, 1e-12), heading(0.0), computed) == pytest.approx(2.0)
    undefined = FusionOptions(at_rest='computed', arctangent='one_argument')
    assert math.isnan(singularity_indicator(rest, heading(0.0), undefined))
    assert np.isnan(fuse(DYNAMICS, KINEMATICS, math.nan, 1.0, 1.0, undefined)).all()


@given(vectors(3, 2.0), vectors(3, 2.0), st.floats(0.05, 2.0))
def test_with_yaw_the_indicator_is_the_angle_between_the_weighted_twists(sensed, asked, length):
    options = FusionOptions(yaw='included', yaw_length=length)
    a, b = sensed * [1, 1, length], asked * [1, 1, length]
    assume(min(np.linalg.norm(a), np.linalg.norm(b)) > DIRECTION_SPEED)
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    found = singularity_indicator(sensed, asked, options)
    assert 0.0 <= found <= math.pi and math.cos(found) == pytest.approx(cosine, abs=1e-12)


def test_with_yaw_a_turn_that_does_not_come_is_missing():
    turn, rest = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    assert singularity_indicator(rest, turn, FusionOptions(yaw='included')) == math.pi / 2
    assert singularity_indicator(heading(1.0), turn,
                                 FusionOptions(yaw='included')) == pytest.approx(math.pi / 2)
    assert singularity_indicator(rest, turn) == 0.0


@given(st.floats(-math.pi, math.pi), st.floats(-math.pi, math.pi))
def test_without_a_turn_yaw_changes_nothing(one, other):
    sensed, asked = heading(one), heading(other)
    assert singularity_indicator(sensed, asked, FusionOptions(yaw='included')) == pytest.approx(
        singularity_indicator(sensed, asked), abs=1e-12)


def moving(twist):
    return Sensed(0.0, np.zeros(3), np.zeros(3), np.zeros(3), twist)


def controller_of(options, exponent=1.0):
    gains = VelocityGains(lambda_1=exponent, lambda_2=exponent, wheel_gain=0.5)
    return PaperLaw(C3P, PaperSettings(gains, options=options))


@given(READINGS, vectors(3, 1.0), st.lists(st.one_of(vectors(3, 1.0), st.just(np.zeros(3))),
                                           min_size=1, max_size=4),
       st.sampled_from([0.0, 0.5, 1.0, 2.5]))
@suite_settings(max_examples=60)
def test_no_reading_ever_sends_what_is_no_number(options, command, sensed, exponent):
    controller = controller_of(options, exponent)
    for twist in sensed:
        controller.accel(command, twist, 0.005)
        torque = controller.fuse(moving(twist), DYNAMICS)
        assert np.isfinite(torque).all() and (np.abs(torque) <= C3P.torque_limit).all()


def test_a_weight_that_is_no_number_gives_zero_torque_and_stops_integrating():
    controller = controller_of(FusionOptions(cosine='as_printed'), 0.5)
    controller.reset(moving(heading(math.pi / 2, 0.4)))
    back = heading(-math.pi / 2, 0.4)
    for _ in range(10):
        # the robot moves against the command: Ψ is beyond 90°
        controller.accel(heading(math.pi / 2, 0.4), back, 0.005)
        assert not controller.fuse(moving(back), DYNAMICS).any()
    assert np.abs(controller._integral).max() <= 0.005


def test_the_last_indicator_is_held_through_rest_and_forgotten_by_reset():
    controller = controller_of(FusionOptions(at_rest='hold_last'))
    controller.reset(moving(heading(0.0)))

    def torque(sensed):
        controller.accel(heading(0.0), sensed, 1e-6)
        return controller.fuse(moving(sensed), DYNAMICS)

    before = torque(np.zeros(3))
    assert controller._indicator == math.pi / 2
    torque(heading(0.5))
    assert controller._indicator == pytest.approx(0.5)
    held = torque(np.zeros(3))
    assert controller._indicator == pytest.approx(0.5)
    # (1 − cos 0.5) of the inverse dynamics is left, where all of it was
    assert np.abs(held).max() < np.abs(before).max()
    controller.reset()
    assert controller._indicator == math.pi / 2


def test_an_angle_between_vectors_has_no_arctangent_of_one_argument():
    with pytest.raises(ValueError, match="yaw = 'included'"):
        FusionOptions(yaw='included', arctangent='one_argument')
