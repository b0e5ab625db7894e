# SPDX-License-Identifier: Apache-2.0
"""Moments of inertia that Gazebo accepts, and the shape of platforms with any pivots."""

from xml.etree import ElementTree

import numpy as np
import pytest

from c3p_description import load, robot_description

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

# a heavy platform on other pivots: its tilt inertia is that of the C3P, too small for its yaw
HEAVY = """extends: c3p
name: heavy
casters: {hip_position: [[0.5, 0.4], [-0.5, 0.4], [-0.5, -0.4], [0.5, -0.4], [0.0, 0.5]]}
platform: {mass: 200.0, inertia: 40.0}
wheel: {spin_inertia: 0.01, yaw_inertia: 0.001}
link: {inertia: 0.003}
"""


@pytest.fixture(params=['c3p', 'c3p_25kg', 'powered_caster', 'heavy'])
def robot(request, tmp_path):
    if request.param != 'heavy':
        return request.param
    file = tmp_path / 'heavy.yaml'
    file.write_text(HEAVY)
    return str(file)


def moments(robot, **arguments):
    """Return the principal moments of each link."""
    tree = ElementTree.fromstring(robot_description(robot, arguments))
    return {link.get('name'): np.array([float(found.get(k)) for k in ('ixx', 'iyy', 'izz')])
            for link in tree.iter('link') if (found := link.find('inertial/inertia')) is not None}


def test_gazebo_gets_moments_that_bodies_have(robot):
    for found in moments(robot, hardware='gazebo').values():
        assert 2.0 * found.max() <= found.sum() and found.min() > 0.0


def test_the_caster_turns_with_the_same_inertia_in_gazebo(robot):
    plain, there, model = moments(robot), moments(robot, hardware='gazebo'), load(robot)
    for i in range(1, model.count + 1):
        wheel, link = f'wheel_link_{i}', f'steering_link_{i}'
        assert there[wheel][0] == plain[wheel][0] == model.wheel_spin_inertia[i - 1]
        if model.name == 'heavy':
            # the link has less than the wheel lacks
            assert there[link][2] == pytest.approx(0.05 * plain[link][2])
        else:
            assert there[wheel][2] + there[link][2] == pytest.approx(
                plain[wheel][2] + plain[link][2], rel=1e-12)
    # what a body can have stays as it is
    if model.name != 'heavy':
        np.testing.assert_array_equal(there['base_link'], plain['base_link'])


def test_the_plate_is_drawn_on_its_own_pivots_only(robot):
    text = robot_description(robot)
    assert ('platform.stl' in text) == (robot in ('c3p', 'c3p_25kg'))
