# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import START_NS, Messages, read_topics
from transforms3d.axangles import axangle2mat
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat

from c3p_bags.recorder.frames import RecordedFrames
from c3p_bags.recorder.transforms import FrameTree, Transform, compose, from_matrix, inverse
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.reading.loader import robot_description

URDF = """<robot name="odd">
  <link name="foot"/><link name="base"/><link name="arm"/><link name="slide"/><link name="gear"/>
  <joint name="up" type="fixed"><parent link="foot"/><child link="base"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0.1 0.2 -0.3"/></joint>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="1 2 3" rpy="0.4 -0.5 0.6"/><axis xyz="1 2 -2"/></joint>
  <joint name="push" type="prismatic"><parent link="arm"/><child link="slide"/>
    <origin rpy="0 0 1"/><axis xyz="0 0 2"/></joint>
  <joint name="follow" type="continuous"><parent link="arm"/><child link="gear"/>
    <axis xyz="0 1 0"/><mimic joint="turn" multiplier="-2" offset="0.5"/></joint>
</robot>"""


def matrix(transform):
    """Return the 4×4 matrix of a Transform."""
    x, y, z, w = transform.rotation
    full = np.eye(4)
    full[:3, :3], full[:3, 3] = quat2mat([w, x, y, z]), transform.translation
    return full


def expected(xyz, rpy, motion=None):
    full = np.eye(4)
    full[:3, :3], full[:3, 3] = euler2mat(*rpy, axes='sxyz'), xyz
    return full if motion is None else full @ motion


def turned(axis, angle):
    full = np.eye(4)
    full[:3, :3] = axangle2mat(axis, angle)
    return full


def test_frames_agree_with_matrices():
    frames = {f.child: f for f in FrameTree(URDF).movable({'turn': 0.7, 'push': -0.4})}
    slid = np.eye(4)
    slid[2, 3] = -0.4
    for child, full in (
            ('arm', expected([1, 2, 3], [0.4, -0.5, 0.6], turned([1, 2, -2], 0.7))),
            ('slide', expected([0, 0, 0], [0, 0, 1], slid)),
            ('gear', turned([0, 1, 0], -2 * 0.7 + 0.5))):
        np.testing.assert_allclose(matrix(frames[child].transform), full, rtol=0, atol=1e-14)


def test_fixed_chain_and_its_inverse():
    tree = FrameTree(URDF)
    assert tree.root == 'foot'
    pose = tree.from_root('base')
    np.testing.assert_allclose(matrix(pose), expected([.1, -.2, .3], [.1, .2, -.3]), atol=1e-15)
    np.testing.assert_allclose(matrix(compose(pose, inverse(pose))), np.eye(4), atol=1e-15)
    assert tree.from_root('arm') is None and tree.from_root('elsewhere') is None
    assert tree.from_root('foot') == Transform()


@pytest.mark.parametrize('positions', [{}, {'turn': np.nan}, {'turn': np.inf}])
def test_joints_without_a_finite_position_are_left_out(positions):
    assert FrameTree(URDF).movable(positions) == []


@pytest.mark.parametrize('text', ['', 'no xml', '<robot/>', '<robot><joint name="a"/></robot>'])
def test_what_is_no_urdf_is_refused(text):
    with pytest.raises(ValueError, match='robot_description'):
        FrameTree(text)


def test_recorded_frames_of_the_c3p_agree_with_another_urdf_library(tmp_path):
    yourdfpy = pytest.importorskip('yourdfpy')
    urdf = robot_description('c3p')
    names = [f'{k}_joint_{i}' for k in ('steering', 'wheel') for i in (1, 2, 3)]
    angles = np.array([0.3, -1.2, 2.9, 40.0, -7.0, 0.01])
    pose = np.array([1.5, -0.4, 2.2])
    with BagWriter(tmp_path / 'bag') as writer:
        for topic, kind in (('/tf', 'tf2_msgs/msg/TFMessage'),
                            ('/tf_static', 'tf2_msgs/msg/TFMessage'),
                            ('/robot_description', 'std_msgs/msg/String')):
            writer.add(topic, kind, latched=topic != '/tf')
        frames, make = RecordedFrames(writer, urdf, 50.0), Messages(writer.types)
        frames.start(START_NS)
        frames.joint_states(START_NS, writer.types.serialize_cdr(
            make.joints(START_NS, names, angles, 0 * angles), 'sensor_msgs/msg/JointState'))
        frames.odometry(START_NS, writer.types.serialize_cdr(
            make.odometry(START_NS, pose, np.zeros(3)), 'nav_msgs/msg/Odometry'))
    parent_of, full = {}, {}
    for entry in read_topics(tmp_path / 'bag', ['/tf', '/tf_static']):
        for t in entry.message.transforms:
            v, q = t.transform.translation, t.transform.rotation
            assert t.child_frame_id not in parent_of, 'a frame has one parent'
            parent_of[t.child_frame_id] = t.header.frame_id
            full[t.child_frame_id] = matrix(Transform((v.x, v.y, v.z), (q.x, q.y, q.z, q.w)))

    def in_odom(frame):
        return np.eye(4) if frame == 'odom' else in_odom(parent_of[frame]) @ full[frame]

    file = tmp_path / 'c3p.urdf'
    file.write_text(urdf)
    model = yourdfpy.URDF.load(str(file), load_meshes=False, build_scene_graph=True)
    model.update_cfg(dict(zip(names, angles, strict=True)))
    base = expected([*pose[:2], 0.0], [0, 0, pose[2]])
    links = [f'{k}_link_{i}' for k in ('steering', 'wheel') for i in (1, 2, 3)]
    for link in ('base_link', *links):
        np.testing.assert_allclose(
            in_odom(link), base @ model.get_transform(link, 'base_link'), rtol=0, atol=1e-12)
    assert parent_of['base_footprint'] == 'odom'


@given(rotations=st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=3),
       shift=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_a_matrix_and_its_transform_are_the_same_pose(rotations, shift):
    full = expected(shift, rotations)
    found = from_matrix(full)
    np.testing.assert_allclose(matrix(found), full, rtol=0, atol=4e-15)
    assert np.linalg.norm(found.rotation) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize('axis', [0, 1, 2])
@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, 0.0])
def test_half_turns_have_a_quaternion(axis, angle):
    direction = np.eye(3)[axis]
    np.testing.assert_allclose(matrix(from_matrix(turned(direction, angle))),
                               turned(direction, angle), atol=1e-15)
