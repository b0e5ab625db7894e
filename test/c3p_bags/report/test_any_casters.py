# SPDX-License-Identifier: Apache-2.0
"""Reports of robots with 2 to 6 casters: texts, rows, ranges, and what cannot be told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from test_report_parts import straight

from c3p_bags.report import motion_panels, sheet, slip_panels
from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.run import AnalysedRun, measure
from c3p_bags.report.slip_events import replay, slip_events
from c3p_bags.report.summary import answers
from c3p_bags.report.timing import timing
from c3p_bags.runs.run_log import Joints, RunLog
from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse
from c3p_plots import style

TIME = 0.01 * np.arange(301)
# where two casters trail behind motion along X, and where they stand abreast of motion along Y
ABREAST, IN_LINE = -np.pi / 2, 0.0


def robot_of(count):
    angles = 2 * np.pi * (np.arange(count) + 0.5) / count
    return CasterRobot.regular(0.3, angles, 0.05, 0.05, 20.0, 1.0, name=f'of {count}')


def run_of(robot, steering, twist, slip=0.0, wheel=0):
    """Return a run at constant steering and twist, in which a wheel slips from 1 s to 2 s."""
    n, count = robot.count, len(TIME)
    angle = np.full((count, n), steering, float)
    wheels, turn, _ = inverse(robot, angle, np.broadcast_to(twist, (count, 3)))
    during = (TIME >= 1.0) & (TIME < 2.0)
    wheels = wheels.copy()
    wheels[during, wheel] += slip / robot.wheel_radius[wheel]
    angle_of = np.cumsum(wheels, axis=0) * 0.01
    joints = Joints(TIME, angle, angle_of, wheels, turn, np.zeros((count, n)))
    computed, found = replay(robot, joints)
    log = RunLog(Path('run'), 0, joints, odom=straight(TIME))
    return AnalysedRun(f'run {n}', log, robot, computed, False, None, found, slip_events(found),
                       timing(log), (), measure(robot, log), [])


def answer(run):
    return answers(run, run_numbers(run))[0]


@pytest.mark.parametrize('slip', [0.0, 0.3])
def test_two_casters_abreast_cannot_tell_slip(slip):
    # motion and slip are across the line between the contact points
    found = answer(run_of(robot_of(2), ABREAST, (0.4, 0.0, 0.0), slip))
    assert found.answer == 'Not observable' and found.verdict == 'note'
    assert '100 % of the time in motion' in found.detail and 'wheels 1, 2' in found.detail
    assert 'Two casters show slip along the line between their contact points only' in found.detail


def test_two_casters_in_line_tell_that_one_slips_and_not_which():
    run = run_of(robot_of(2), IN_LINE, (0.0, 0.4, 0.0), 0.3, 1)
    found = answer(run)
    assert found.answer == 'Wheel 1 or 2' and found.verdict == 'bad'
    assert 'Which of the two is not distinguishable' in found.detail
    assert run.events[0].confidence == 0.5
    none = answer(run_of(robot_of(2), IN_LINE, (0.0, 0.4, 0.0)))
    assert none.answer == 'None' and none.verdict == 'good'


@pytest.mark.parametrize('count', [3, 4, 5, 6])
def test_more_casters_name_the_wheel(count):
    robot = robot_of(count)
    run = run_of(robot, np.linspace(-1.0, 1.5, count), (0.0, 0.3, 0.2), 0.4, count - 1)
    # with the kind of the table, where it is not slip
    kind, = {e.kind for e in run.events}
    assert answer(run).answer in (f'Wheel {count}', f'Wheel {count} ({kind})')
    still = answer(run_of(robot, 0.3, (0.0, 0.0, 0.0)))
    assert still.answer == 'None' and 'did not move' in still.detail


def test_evidence_and_time_read_as_people_write_them():
    run = run_of(robot_of(4), np.linspace(-1.0, 1.5, 4), (0.0, 0.3, 0.2))
    assert 'stayed below 1 % of the alarm' in answer(run).detail
    numbers = run_numbers(run)
    for part, text in ((1.0, '100 %'), (0.9999, 'more than 99 %'), (1e-5, 'less than 1 %'),
                       (0.256, '26 %')):
        singular = {**numbers, 'singularity': {**numbers['singularity'], 'near_share': part}}
        detail = next(a.detail for a in answers(run, singular) if 'singul' in a.question)
        assert f'for {text} of the time' in detail
    never = {**numbers, 'singularity': {**numbers['singularity'], 'near_share': 0.0}}
    assert any('σ_min was never below 0.1' in a.detail for a in answers(run, never))


def test_two_bags_have_equal_ranges_with_all_lines_and_rows_of_their_own():
    calm = run_of(robot_of(3), np.linspace(-1.0, 1.5, 3), (0.0, 0.3, 0.2))
    wild = run_of(robot_of(4), np.linspace(-1.0, 1.5, 4), (0.0, 0.3, 0.2), 1.6, 2)
    panels = (sheet.Panel(slip_panels.draw_timeline, 1.5, shared=False),
              sheet.Panel(slip_panels.draw_speed, 1.5),
              sheet.Panel(motion_panels.draw_steering, 1.5))
    for runs in ((calm, wild), (wild, calm)):
        axes = sheet.figure(panels, runs).get_axes()
        rows = [[label.get_text() for label in a.get_yticklabels()] for a in axes[:2]]
        assert [len(row) for row in rows] == [run.robot.count + 1 for run in runs]
        for left, right in (axes[2:4], axes[4:6]):
            assert left.get_ylim() == right.get_ylim() and left.get_xlim() == right.get_xlim()
        # mm/s
        assert axes[2].get_ylim()[1] > 1600.0


@pytest.mark.parametrize('draw', [motion_panels.draw_steering, slip_panels.draw_speed])
def test_six_casters_differ_without_colour(draw):
    run = run_of(robot_of(6), np.linspace(-1.0, 1.5, 6), (0.0, 0.3, 0.2))
    axes: Axes = style.figure(8.0, 3.0).add_subplot()
    draw(axes, run)
    lines = [line for line in axes.get_lines() if line.get_label().startswith(('w', 'c'))][:6]
    looks = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in lines}
    assert len(lines) == len(looks) == 6


def test_a_moving_robot_that_hides_a_slip_for_a_moment_gets_a_note():
    run = run_of(robot_of(2), IN_LINE, (0.0, 0.4, 0.0))
    numbers = run_numbers(run)
    numbers = {**numbers, 'slip': {**numbers['slip'], 'unseen_share': 0.2,
                                   'unseen_by_wheel': [0.2, 0.0]}}
    found = answers(replace(run, events=()), numbers)[0]
    assert found.answer == 'None seen' and '(wheel 1)' in found.detail
