# SPDX-License-Identifier: Apache-2.0
"""The measure of singularities is shown of casters alone: on other wheels it says nothing."""

import numpy as np
import pytest

from c3p_description import load
from c3p_kinematics.singularity import shown_singularity
from c3p_viewers.dashboard.samples import sample
from c3p_viewers.dashboard.static_page import welcome
from c3p_viewers.foxglove.layouts import plots
from c3p_viewers.foxglove.scene_channel import numbers
from c3p_viewers.rerun.caster import lines
from c3p_viewers.rerun.layout import titles
from c3p_viewers.scene.caster_scene import caster_scene
from c3p_viewers.sources.moment import Moment

OTHERS = 'swerve', 'amr', 'twin', 'tricycle_agv'


def moment(robot):
    """Return a robot whose wheels roll in parallel, which is singular for casters."""
    n = robot.count
    zero = np.zeros(n)
    return Moment(0.0, np.full(n, -0.5 * np.pi), zero, zero, zero, pose=np.zeros(3))


@pytest.mark.parametrize('name', OTHERS)
def test_other_wheels_have_lines_and_no_measure_anywhere(name):
    robot = load(name)
    now = moment(robot)
    assert shown_singularity(robot, now.steering) is None
    shapes = {shape.name for shape in caster_scene(robot, now.steering)}
    assert any(shape.startswith('rolling_line') for shape in shapes)
    assert not any(shape.startswith(('sigma', 'unactuated')) for shape in shapes)
    assert sample(robot, now)['m'] is None and sample(robot, now)['d'] is None
    # the page has neither tile nor plot
    assert welcome(robot)['robot']['near'] is None
    assert 'sigma_min' not in numbers(robot, now)
    assert 'singularity' not in titles(robot)
    assert not any(plot == 'singularity' for plot, _ in lines(robot, steering=now.steering))
    assert 'sigma_min' not in [plot.name for plot in plots(robot)]


def test_casters_have_it_everywhere():
    robot = load('c3p')
    now = moment(robot)
    assert 'sigma_min' in {shape.name for shape in caster_scene(robot, now.steering)}
    assert sample(robot, now)['m'] == 0.0 and welcome(robot)['robot']['near'] > 0.0
    assert 'sigma_min' in numbers(robot, now)
    assert 'singularity' in titles(robot)
    assert ('singularity', 'sigma_min') in lines(robot, steering=now.steering)
    assert 'sigma_min' in [plot.name for plot in plots(robot)]
