# SPDX-License-Identifier: Apache-2.0
"""Paths of robots with fixed wheels, and their control at the axle."""

import numpy as np
import pytest

from c3p_controller.goals.axle_path import AxlePath, AxlePathController, PathOfAxle
from c3p_controller.goals.path import StraightLine
from c3p_controller.goals.path_controller import PathGains
from c3p_kinematics.fixed_axle import FixedAxle
from c3p_kinematics.se2 import to_body


def test_the_line_of_an_axle_is_a_turn_about_its_middle():
    axle = FixedAxle(np.array([-0.3, 0.1]), 0.5)
    start = np.array([1.0, 2.0, 0.3])
    goal = axle.base(axle.pose(start) + [0.0, 0.0, 1.0])
    line = AxlePath(axle, StraightLine(axle.pose(start), axle.pose(goal)))
    poses, rates = line.at(np.linspace(0.0, line.length, 7))
    middles = np.array([axle.pose(pose)[:2] for pose in poses])
    assert np.ptp(middles, axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    # the tangents are those of the poses
    step = 1e-6
    moved, _ = line.at(np.linspace(0.0, line.length, 7)[1:-1] + step)
    assert (moved - poses[1:-1]) / step == pytest.approx(rates[1:-1], abs=1e-4)
    assert poses[-1] == pytest.approx(goal)
    # and back to the line of the axle
    back = PathOfAxle(axle, line)
    for found, expected in zip(back.at(np.linspace(0.0, line.length, 7)),
                               line.line.at(np.linspace(0.0, line.length, 7)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize('by', [[0.3, 0.0], [-0.2, 0.1]])
def test_commands_do_not_depend_on_the_place_of_the_frame(by):
    """The same axle in two frames: the same motions of the axle in each leg, and on a path."""
    gains = PathGains()
    here = AxlePathController(gains, FixedAxle(np.zeros(2), 0.4), 0.3)
    axle = FixedAxle(np.array(by), 0.4)
    there = AxlePathController(gains, axle, 0.3)
    random = np.random.default_rng(3)
    goal = np.array([1.0, 0.5, 2.0])
    begin = np.zeros(3)
    here.set_goal(goal, begin)
    there.set_goal(axle.base(here.axle.pose(goal)), axle.base(here.axle.pose(begin)))
    for _ in range(40):
        pose = random.normal(size=3) * [0.5, 0.5, 1.0]
        speed, turn = random.normal(size=2)
        one = here.step(pose, here.axle.twist(speed, turn))
        two = there.step(axle.base(here.axle.pose(pose)), axle.twist(speed, turn))
        np.testing.assert_allclose(axle.motion(two.twist), here.axle.motion(one.twist),
                                   atol=1e-9)
        for which in (0, -1):
            yaws = here.preview.pose[which, 2]
            np.testing.assert_allclose(
                axle.motion(to_body(yaws, there.preview.velocity[which])),
                here.axle.motion(to_body(yaws, here.preview.velocity[which])), atol=1e-9)


def test_a_turn_ends_though_the_axle_has_slid_sideways():
    """The RB-Y1 turns with its axle 0.23 m ahead, which slides 1.5 cm across."""
    axle = FixedAxle(np.array([0.228, 0.0]), 0.0)
    controller = AxlePathController(PathGains(), axle, 0.3)
    controller.set_goal(np.array([0.0, 1.06, 0.0]), np.zeros(3))
    command = controller.step(np.array([0.2205, -0.2286, 1.6058]), np.zeros(3))
    assert command.twist[2] < -0.03
    # that law turns it back as well
    assert axle.steered(command.twist)[2] < -0.03
