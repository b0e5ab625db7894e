# SPDX-License-Identifier: Apache-2.0
"""Pictures of robots on modules, fixed wheels and twins: the axes and wheels that they have."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from c3p_bags.report import motion_panels
from c3p_bags.report.drive_page import draw_steering, limited_torques
from c3p_bags.report.path import draw_robot
from c3p_bags.runs.run_log import Joints, RunLog, Series
from c3p_description import load
from c3p_viewers.scene.frame import casters
from c3p_viewers.scene.settings import SceneSettings

TIME = 0.01 * np.arange(101)


def panel():
    return Figure().add_subplot()


def run_of(robot):
    still = np.zeros((len(TIME), robot.count))
    joints = Joints(TIME, still, still, still, still, np.zeros((len(TIME), robot.efforts)))
    command = Series(TIME, np.tile([0.3, 0.0, 0.0], (len(TIME), 1)))
    return RunLog(Path('run'), 0, joints, cmd_vel=command)


def labels(axes):
    return [line.get_label() for line in axes.lines]


def texts(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(('name', 'shown'), [
    ('c3p', ['caster 1', 'caster 2', 'caster 3']),
    ('swerve', [f'wheel {i}' for i in (1, 2, 3, 4)]), ('tricycle_agv', ['wheel 1']),
    ('twin', [f'wheel {i}' for i in (1, 3, 5, 7)]), ('amr', [])])
def test_steering_panels_have_the_measured_axes(name, shown):
    robot = load(name)
    log = run_of(robot)
    drive = panel()
    draw_steering(drive, log, robot, {}, 0.0)
    report = panel()
    motion_panels.draw_steering(report, SimpleNamespace(robot=robot, log=log))
    for axes in (drive, report):
        assert labels(axes) == shown
        assert ('no steering angle is measured' in texts(axes)) == (not shown)


def test_torques_of_steering_have_a_line_for_each_motor():
    robot = load('tricycle_agv')
    axes = panel()
    limited_torques(axes, TIME, np.zeros((len(TIME), robot.efforts)), robot, steering=True)
    assert labels(axes)[0] == 'wheel 1' and 'wheel 2' not in labels(axes)


def test_the_measure_of_casters_is_not_drawn_for_other_wheels():
    axes = panel()
    motion_panels.draw_measure(axes, SimpleNamespace(robot=load('amr')))
    assert not axes.lines and texts(axes) == ['of casters with all encoders']


@pytest.mark.parametrize('name', ['twin', 'tricycle_agv', 'c3p'])
def test_wheels_are_drawn_where_they_touch_the_floor(name):
    robot = load(name)
    steering = np.random.default_rng(1).uniform(-3.0, 3.0, robot.count)
    forward = 1j * np.exp(1j * steering)
    # the axle is to the right of the rolling direction
    places = (robot.hip_position @ [1.0, 1j] - robot.caster_offset * forward
              - 1j * robot.lateral_offset * forward)
    expected = np.column_stack([places.real, places.imag])
    axes = panel()
    draw_robot(axes, robot, np.zeros(3), steering)
    # after the heading a fork and a tyre of each
    tyres = [line.get_xydata().mean(axis=0) for line in axes.lines[2::2]]
    np.testing.assert_allclose(tyres, expected, atol=1e-12)
    np.testing.assert_allclose(casters(robot, steering, SceneSettings()).contact, expected,
                               atol=1e-12)
