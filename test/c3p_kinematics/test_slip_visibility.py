# SPDX-License-Identifier: Apache-2.0
"""Smallest visible and named slip, against the slip test itself and against geometry."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import caster_robots, robots_in_motion

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse
from c3p_kinematics.slip import SlipSettings, detect_slip
from c3p_kinematics.slip_visibility import SURE, slip_visibility

QUIET = SlipSettings(speed_fraction=0.0)


def slipping(robot, steering, wheel, slip):
    """Return the report on a robot at rest, one wheel of which slips."""
    rate = np.zeros(robot.count)
    rate[wheel] = slip / robot.wheel_radius[wheel]
    return detect_slip(robot, steering, rate, np.zeros(robot.count), QUIET.noise_std, 0.0)


@given(case=robots_in_motion(), data=st.data())
def test_the_alarm_comes_at_the_smallest_visible_slip(case, data):
    robot, steering, _, _ = case
    found = slip_visibility(robot, steering, settings=QUIET)
    wheel = data.draw(st.integers(0, robot.count - 1))
    need = found.seen[0, wheel]
    assume(need < 1e3)
    # one per mille beside the limit, as the square is compared
    assert slipping(robot, steering, wheel, 1.001 * need).slipping
    assert not slipping(robot, steering, wheel, 0.999 * need).slipping


@given(case=robots_in_motion(min_casters=3), data=st.data())
def test_a_slip_beyond_the_named_one_is_named(case, data):
    robot, steering, _, _ = case
    found = slip_visibility(robot, steering, settings=QUIET)
    wheel = data.draw(st.integers(0, robot.count - 1))
    need = found.named[0, wheel]
    assume(need < 1e3)
    report = slipping(robot, steering, wheel, 1.5 * need)
    # every other wheel is at least 4.4 · 1.5² in χ² behind: a chance of 7 in 1000 each
    assert report.suspect == wheel and report.confidence > SURE


@given(robot=caster_robots(max_casters=2), angle=st.floats(-3, 3))
def test_two_casters_see_slip_along_the_line_between_their_contacts_alone(robot, angle):
    # both wheels roll across that line: its length does not change with a slip
    steering = np.full(2, angle)
    for _ in range(60):
        rolling = np.stack([-np.sin(steering), np.cos(steering)], 1)
        p = robot.hip_position - robot.caster_offset[:, None] * rolling
        line = p[1] - p[0]
        steering = np.full(2, np.arctan2(line[1], line[0]))
    found = slip_visibility(robot, steering)
    assert np.all(np.isinf(found.named))
    assert np.all(found.seen > 1e2)


def test_motion_raises_the_noise_and_the_smallest_slip():
    robot = CasterRobot.regular(0.3, np.radians([30, 150, 270]), 0.05, 0.05, 20.0, 1.0)
    still = slip_visibility(robot, np.zeros((2, 3)))
    moving = slip_visibility(robot, np.zeros(3), [0.0, 1.0, 0.0])
    # 10 mm/s of 1 m/s and 2 mm/s add up
    assert moving.seen[0] == pytest.approx(still.seen[0] * np.hypot(1.0, 5.0))
    wheel, turn, _ = inverse(robot, np.zeros(3), [0.0, 1.0, 0.0])
    # the slip raises the noise of its own wheel, too
    wheel[1] += 1.2 * moving.seen[0, 1] / 0.05
    assert detect_slip(robot, np.zeros(3), wheel, turn, 0.002, 0.01).slipping
