# SPDX-License-Identifier: Apache-2.0
"""Trees from URDF against Pinocchio's own reader, and what is refused."""

import numpy as np
import pytest

from c3p_description import ModelError, robot_description
from c3p_multibody.trees import TreeError, crba, forward_kinematics, rnea
from c3p_multibody.trees.reading.urdf import tree_from_urdf


def inertial(mass=1.0, xyz='0.1 -0.2 0.3', rpy='0.3 0.2 0.1'):
    return (f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/><inertia '
            'ixx="0.03" iyy="0.04" izz="0.05" ixy="0.002" ixz="-0.003" iyz="0.001"/></inertial>')


def link(name, inside=None):
    return f'<link name="{name}">{inertial() if inside is None else inside}</link>'


def joint(name, kind, parent, child, axis='0 0 1', xyz='0.4 0.1 -0.2', rpy='0.5 -0.4 1.5707963'):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            '<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>')


def robot(*parts):
    return f'<robot name="test">{"".join(parts)}</robot>'


# a branched robot whose file names the last joint first
BRANCHED = robot(
    link('base', ''), link('tool'), link('column'), link('arm'), link('slider'), link('cover'),
    joint('weld', 'fixed', 'arm', 'tool'), joint('bend', 'revolute', 'column', 'arm', '1 2 -1'),
    joint('push', 'prismatic', 'column', 'slider', '0 -1 0'),
    joint('turn', 'revolute', 'base', 'column'), joint('lid', 'fixed', 'slider', 'cover'))


def test_branched_robot_equals_pinocchios_reading():
    pin = pytest.importorskip('pinocchio')
    tree = tree_from_urdf(BRANCHED)
    assert tree.names == ('bend', 'push', 'turn')
    model = pin.buildModelFromXML(BRANCHED)
    data = model.createData()
    at = [model.joints[model.getJointId(name)].idx_q for name in tree.names]
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    inner = np.empty((3, 3))
    inner[:, at] = q, qd, qdd
    expected = pin.rnea(model, data, *inner)[at]
    np.testing.assert_allclose(rnea(tree, q, qd, qdd), expected, rtol=0, atol=1e-12)
    pin.framesForwardKinematics(model, data, inner[0])
    poses = forward_kinematics(tree, q)
    for name in ('tool', 'cover', 'column'):
        frame, oracle = tree.frames[name], data.oMf[model.getFrameId(name)]
        turn, place = poses.rotation[frame.body], poses.translation[frame.body]
        np.testing.assert_allclose(turn @ frame.rotation, oracle.rotation, atol=1e-14)
        np.testing.assert_allclose(turn @ frame.translation + place, oracle.translation,
                                   atol=1e-14)


def test_floating_base_carries_the_whole_mass():
    tree = tree_from_urdf(BRANCHED, floating=True)
    assert tree.names[:6] == tuple(f'root.{part}' for part in ('x', 'y', 'z', 'yaw', 'pitch',
                                                               'roll'))
    np.testing.assert_allclose(crba(tree, np.zeros(9))[:3, :3], 5 * np.eye(3), atol=1e-14)


def test_locked_joints_have_no_freedom():
    free, held = tree_from_urdf(BRANCHED), tree_from_urdf(BRANCHED, locked=['push'])
    assert held.names == ('bend', 'turn')
    np.testing.assert_allclose(crba(held, [0.3, 0.4]),
                               crba(free, [0.3, 0.0, 0.4])[np.ix_([0, 2], [0, 2])], atol=1e-14)


@pytest.mark.parametrize('axis', ['0 0 1', '1 0 0', '0 1 1'])
def test_planar_joint_moves_across_its_axis(axis):
    tree = tree_from_urdf(robot(link('base', ''), link('puck'),
                                joint('slide', 'planar', 'base', 'puck', axis, '0 0 0', '0 0 0')))
    assert tree.names == ('slide.x', 'slide.y', 'slide.yaw')
    unit = np.array([float(x) for x in axis.split()])
    unit /= np.linalg.norm(unit)
    frame, poses = tree.frames['puck'], forward_kinematics(tree, [0.3, -0.4, 0.7])
    assert abs(poses.translation[2] @ unit) < 1e-15
    assert np.linalg.norm(poses.translation[2]) == pytest.approx(0.5)
    turn = poses.rotation[2] @ frame.rotation
    np.testing.assert_allclose(turn @ unit, unit, atol=1e-14)
    assert np.trace(turn) == pytest.approx(1 + 2 * np.cos(0.7))


def test_our_own_robot_has_a_steering_and_a_wheel_joint_for_each_caster():
    pytest.importorskip('xacro')
    tree = tree_from_urdf(robot_description('c3p'), floating=True)
    assert tree.count == 12
    assert tree_from_urdf(robot_description('c3p')).names == tree.names[6:]
    assert robot_description('c3p').count('type="continuous"') == 6
    mass = crba(tree, np.zeros(12))[0, 0]
    assert mass == pytest.approx(34.8)


@pytest.mark.parametrize(('text', 'error', 'says'), [
    (robot(link('a'), link('b'), joint('j', 'screw', 'a', 'b')), ModelError, 'joint j: type'),
    (robot(link('a'), link('b', ''), joint('j', 'revolute', 'a', 'b')), TreeError,
     r'body b \(row 1\) is a leaf'),
    (robot(link('a'), link('b', inertial(-1.0)), joint('j', 'revolute', 'a', 'b')), ModelError,
     'mass'),
    ('<robot', ModelError, 'XML'),
])
def test_what_cannot_be_is_refused(text, error, says):
    with pytest.raises(error, match=says):
        tree_from_urdf(text)


def test_a_locked_joint_must_be_there():
    with pytest.raises(ModelError, match=r"locked = \['door'\].*there are weld"):
        tree_from_urdf(BRANCHED, locked=['door'])
