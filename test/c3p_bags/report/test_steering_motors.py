# SPDX-License-Identifier: Apache-2.0
"""Reports of robots with steering motors, and with fewer motors than freedoms."""

from dataclasses import replace

import numpy as np
import pytest
from test_any_casters import TIME, robot_of, run_of

from c3p_bags.report import motion_panels
from c3p_bags.report.drive_page import commanded_steering, limited_torques, near_limits
from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.page import SECTIONS
from c3p_bags.report.summary import answers
from c3p_bags.runs.run_log import Series
from c3p_plots import style

POWERED = replace(robot_of(4), steered=np.array([True, False, True, True]),
                  torque_limit=1.5, steering_torque_limit=9.0)


def powered_run(size=5.0):
    run = run_of(POWERED, np.linspace(-1.0, 1.5, 4), (0.0, 0.3, 0.2))
    torque = np.tile(np.sin(TIME)[:, None], (1, 8))
    torque[:, 4:] *= size
    torque[:, 5] = 0.0
    return replace(run, log=replace(run.log, wheel_effort=Series(TIME, torque)))


def drawn(draw, *arguments, **options):
    axes = style.figure(6.0, 2.0).add_subplot()
    draw(axes, *arguments, **options)
    return axes


def test_motors_of_the_steering_have_a_panel_of_their_own():
    run = powered_run()
    axes = drawn(motion_panels.draw_torque, run, steering=True)
    lines = {line.get_label(): line for line in axes.get_lines()}
    # without a motor no line
    assert {'steering 1', 'steering 3', 'steering 4', 'limit'} <= set(lines)
    assert 'steering 2' not in lines
    np.testing.assert_allclose(lines['steering 3'].get_ydata(), 5.0 * np.sin(TIME))
    wheels = next(s for s in SECTIONS if s.anchor == 'wheels')
    assert len(wheels.picture([run]).axes) == 4
    assert len(wheels.picture([run_of(robot_of(4), 0.3, (0.0, 0.3, 0.0))]).axes) == 3


def test_limits_far_above_the_steering_torques_do_not_flatten_them():
    torque = powered_run().log.torque.value[:, 4:]
    assert near_limits(torque, POWERED).tolist() == [9.0] * 3
    assert not near_limits(0.1 * torque, POWERED).size
    axes = drawn(limited_torques, TIME, powered_run(0.5).log.torque.value, POWERED, steering=True)
    assert axes.get_ylim()[1] < 1.0 and len(axes.get_lines()) == 3


def test_a_bag_without_efforts_of_the_steering_says_so():
    run = powered_run()
    wheels = run.log.wheel_effort._replace(value=run.log.wheel_effort.value[:, :4])
    axes = drawn(motion_panels.draw_torque, replace(run, log=replace(
        run.log, wheel_effort=wheels)), steering=True)
    assert [text.get_text() for text in axes.texts] == ['not in this bag']


@pytest.mark.parametrize('count', [2, 3, 5])
def test_commanded_angles_are_on_the_branch_of_the_casters(count):
    robot = robot_of(count)
    run = run_of(robot, 0.0, (0.0, 0.4, 0.0))
    # the last commands point elsewhere, as noise does near a goal
    command = np.tile([0.0, 0.4, 0.0], (len(TIME), 1))
    command[-10:] = [-0.02, -0.4, 0.0]
    angle = commanded_steering(replace(run.log, cmd_vel=Series(TIME, command)), robot)
    np.testing.assert_allclose(angle[:-10], 0.0, atol=1e-12)


@pytest.mark.parametrize(('driven', 'answer'), [
    ([True, True, False, False], 'Always'), ([True, True, True, False], 'Not known')])
def test_singular_time_is_not_counted_where_a_freedom_is_never_driven(driven, answer):
    robot = replace(robot_of(4), driven=np.array(driven), torque_limit=2.0)
    run = run_of(robot, np.linspace(-1.0, 1.5, 4), (0.0, 0.3, 0.2))
    found = next(a for a in answers(run, run_numbers(run)) if 'singular' in a.question)
    assert found.answer == answer and found.verdict == 'none'
    assert ('2 of 3 freedoms' in found.detail) == (answer == 'Always')
