# SPDX-License-Identifier: Apache-2.0
"""Turning for a force across: what it rests on, and what becomes of a target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.closed_form.actuation import Triple
from c3p_controller.closed_form.model import ScalarModel
from c3p_controller.closed_form.observer import State
from c3p_controller.closed_form.reference import Target
from c3p_controller.closed_form.turning import Turning
from c3p_description.reading.loader import load

C3P = load('c3p')
TRIPLE = Triple(C3P)


def turning(margin=2.0):
    return Turning(TRIPLE, margin=margin, slack=4.0, time=0.1, rate=0.9, crawl=0.05, stride=0.2)


def after(seconds, wrench, twist=(0.0, 0.0, 0.0), calm=1.0):
    made, target = turning(), Target((0.0, 0.0, 0.5), (0.4, 0.0, 0.0), (0.3, 0.0, 0.0), 0.0)
    state = State((0.0, 0.0, 0.0), twist, [0.0] * 3)
    for _ in range(round(seconds / 0.005)):
        found = made.at(target, state, wrench, calm, 0.005)
    return target, found


@given(st.floats(-3.1, 3.1), st.sampled_from([-1.0, 1.0]), st.floats(0.3, 1.0))
def test_trailing_casters_of_a_robot_that_turns_push_across(way, sign, speed):
    # 1 % of the first order in ω h/v: the second is what is left
    turn = sign * 0.01 * speed / 0.343
    hips = C3P.hip_position
    vx, vy = (speed * math.cos(way) - turn * hips[:, 1], speed * math.sin(way) + turn * hips[:, 0])
    steering = np.arctan2(vy, vx) - np.pi / 2.0
    motion = ScalarModel(C3P, 0.5).motion(list(steering), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    area = 0.75 * math.sqrt(3.0) * 0.343**2
    value = TRIPLE.actuation(motion).value
    assert abs(value) == pytest.approx(2.0 * area * abs(turn) / speed, rel=0.02)


def test_the_triangle_is_that_of_the_pivots():
    assert TRIPLE.area == pytest.approx(0.75 * math.sqrt(3.0) * 0.343**2)
    assert TRIPLE.side == pytest.approx(0.343 * math.sqrt(3.0))
    assert TRIPLE.load == pytest.approx(0.04 / 1.2)


@pytest.mark.parametrize('wrench', [(0.0, 0.0, 0.0), (20.0, 0.0, 3.0), (5.0, -3.9, 0.0)])
def test_what_is_not_across_needs_no_turning(wrench):
    target, found = after(1.0, wrench)
    assert found == target


def test_a_force_across_makes_it_turn_before_it_travels():
    target, found = after(1.0, (0.0, -20.0, 0.0))
    assert abs(found.velocity[2]) > 0.3
    assert found.velocity[0] == pytest.approx(0.05)
    # yaw is free
    assert abs(found.pose[2]) < 0.1
    assert found.heading == target.heading


def test_it_travels_as_fast_as_its_turning_allows_and_goes_on_turning_that_way():
    ratio = 2.0 * TRIPLE.side * TRIPLE.load * 20.0 / (2.0 * TRIPLE.area)
    for turn in (-0.5, 0.5):
        _, found = after(1.0, (0.0, -20.0, 0.0), (0.2, 0.0, turn))
        assert found.velocity[0] == pytest.approx(0.05 + 0.5 / ratio, rel=0.02)
        assert found.velocity[2] * turn > 0.0


def test_who_is_stuck_need_not_crawl():
    target, found = after(1.0, (0.0, -20.0, 0.0), calm=0.05)
    assert found.velocity[0] == pytest.approx(target.velocity[0])
