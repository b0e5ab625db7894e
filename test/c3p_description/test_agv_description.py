# SPDX-License-Identifier: Apache-2.0
"""The vehicle with two driven wheels and one caster: parameters, model and URDF agree."""

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description import Agv, ModelError, load, robot_description
from c3p_description.agv_model import JOINTS
from c3p_description.reading.loader import load_casters, load_tricycle

GEOMETRY = {'track': 0.4, 'wheel_radius': 0.05, 'axle_distance': 0.1, 'pivot_distance': 0.2,
            'caster_offset': 0.025}
ANGLES = st.tuples(*4 * [st.floats(-math.pi, math.pi)])

OTHER = """
extends: agv
name: other
geometry: {track: 0.6, wheel_radius: 0.08, axle_distance: 0.0, caster_offset: 0.04}
link: {mass: 1.5, com: 0.02, inertia: 0.01}
friction: {drive: 0.1, caster_wheel: 0.2, caster_pivot: 0.3}
limits: {drive_torque: .inf, drive_rate: .inf}
"""


@pytest.fixture(scope='module')
def urdf():
    pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')
    return robot_description('agv')


@pytest.fixture
def other(tmp_path):
    pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')
    path = tmp_path / 'other.yaml'
    path.write_text(OTHER)
    return path


def about(i, angle):
    """Rotation about axis i."""
    c, s = math.cos(angle), math.sin(angle)
    return np.roll(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), (i, i), axis=(0, 1))


def wheel_frames(agv, angles):
    """Rotation and place of the wheels in the platform's axes, from the paper's definitions."""
    one, two, three, psi = angles
    down = np.array([0, 0, agv.wheel_radius - agv.centre_height])
    pivot = np.array([0, agv.pivot_distance, 0]) + down
    f = np.array([-math.sin(psi), math.cos(psi), 0])
    rear = [np.array([side * agv.track / 2, -agv.axle_distance, 0]) + down for side in (-1, 1)]
    return [(about(0, one), rear[0]), (about(0, two), rear[1]),
            (about(2, psi) @ about(0, three), pivot - agv.caster_offset * f)]


def pinocchio_frames(text, angles):
    """The same as Pinocchio finds them."""
    pin = pytest.importorskip('pinocchio', reason='pip install .[test]')
    model = pin.buildModelFromXML(text)
    q = pin.neutral(model)
    for name, angle in zip(JOINTS, angles, strict=True):
        first = model.joints[model.getJointId(name)].idx_q
        q[first:first + 2] = math.cos(angle), math.sin(angle)
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    base = data.oMf[model.getFrameId('platform_link')]
    found = [base.inverse() * data.oMf[model.getFrameId(f'wheel_link_{i}')] for i in (1, 2, 3)]
    return [(pose.rotation, pose.translation) for pose in found]


def assert_same_frames(text, agv, angles):
    for found, wanted in zip(pinocchio_frames(text, angles), wheel_frames(agv, angles),
                             strict=True):
        np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=1e-12)


@given(angles=ANGLES)
def test_pinocchio_places_the_wheels_where_the_equations_do(urdf, angles):
    assert_same_frames(urdf, load('agv'), angles)


def test_other_numbers_reach_model_and_urdf(other):
    agv, text = load(other), robot_description(other)
    assert_same_frames(text, agv, (0.3, -2.0, 1.0, 2.5))
    assert (agv.link_mass, agv.link_com, agv.link_inertia) == (1.5, 0.02, 0.01)
    assert agv.viscous.tolist() == [0.1, 0.1, 0.2, 0.3]
    root = ElementTree.fromstring(text)
    damping = {joint.get('name'): joint.find('dynamics').get('damping')
               for joint in root.iter('joint') if joint.get('type') == 'continuous'}
    assert {name: float(damping[name]) for name in JOINTS} == dict(
        zip(JOINTS, agv.viscous, strict=True))
    assert math.isinf(agv.drive_torque) and 'velocity="1000000.0"' in text


def test_pinocchio_finds_masses_and_moments_of_the_model(urdf):
    pin = pytest.importorskip('pinocchio', reason='pip install .[test]')
    agv, model = load('agv'), pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(model) == pytest.approx(agv.total_mass)
    wheel = model.inertias[model.getJointId('wheel_joint_3')]
    np.testing.assert_allclose(np.diag(wheel.inertia), [
        agv.wheel_spin_inertia, agv.wheel_yaw_inertia, agv.wheel_yaw_inertia])
    # a fork without mass leaves nothing at its joint
    assert model.inertias[model.getJointId('caster_joint')].mass == 0
    # base_link looks forward: C lies a before it, up by its height over the axles
    platform = model.inertias[1]
    np.testing.assert_allclose(platform.lever, [agv.axle_distance, 0,
                                                agv.centre_height - agv.wheel_radius], atol=1e-12)
    i, j, k = agv.platform_inertia
    np.testing.assert_allclose(np.diag(platform.inertia), [j, i, k], atol=1e-12)


def test_mujoco_reads_the_urdf_and_finds_the_same_mass(urdf):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    free = ElementTree.fromstring(urdf)
    # keep the platform as a body of its own
    free.append(ElementTree.fromstring('<mujoco><compiler fusestatic="false"/></mujoco>'))
    # MuJoCo asks for mass and inertia of every moving body; the fork has none
    fork = next(link for link in free.iter('link') if link.get('name') == 'caster_link')
    fork.append(ElementTree.fromstring(
        '<inertial><mass value="1e-3"/><inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" '
        'izz="1e-6"/></inertial>'))
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(free, encoding='unicode'))
    assert model.njnt == 4
    assert model.body_mass.sum() == pytest.approx(load('agv').total_mass + 1e-3)
    np.testing.assert_allclose(np.sort(model.body('platform_link').inertia),
                               np.sort(load('agv').platform_inertia), rtol=1e-12)


def test_links_and_joints_are_named_as_documented(urdf):
    root = ElementTree.fromstring(urdf)
    assert {joint.get('name') for joint in root.iter('joint')} == {
        *JOINTS, 'footprint_joint', 'platform_joint'}
    assert {link.get('name') for link in root.iter('link')} == {
        'base_link', 'base_footprint', 'platform_link', 'caster_link', 'wheel_link_1',
        'wheel_link_2', 'wheel_link_3'}
    prefixed = robot_description('agv', {'prefix': 'left_'})
    assert all(link.get('name').startswith('left_')
               for link in ElementTree.fromstring(prefixed).iter('link'))


def test_printed_values_of_the_paper():
    agv = load('agv')
    assert (agv.track, agv.wheel_radius, agv.axle_distance, agv.pivot_distance) == (
        0.4, 0.05, 0.101, 0.202)
    assert (agv.caster_offset, agv.platform_height) == (0.025, 0.1)
    assert (agv.platform_mass, agv.wheel_mass, agv.link_mass) == (20.0, 2.0, 0.0)
    assert agv.platform_inertia.tolist() == [0.7083, 0.7083, 0.4083]
    assert (agv.wheel_spin_inertia, agv.wheel_yaw_inertia) == (0.0025, 0.00125)
    # the tensors are those of a box and of a flat disc
    np.testing.assert_allclose(agv.platform_size, [0.35, 0.35, 0.55], atol=5e-5)
    assert agv.wheel_spin_inertia == pytest.approx(agv.wheel_mass * agv.wheel_radius**2 / 2)
    assert agv.total_mass == 26.0


def test_box_of_the_platform_has_its_moments():
    agv = Agv('box', **GEOMETRY, platform_mass=3.0, platform_inertia=(0.3, 0.4, 0.5))
    x, y, z = agv.platform_size
    np.testing.assert_allclose([3 / 12 * (y*y + z*z), 3 / 12 * (x*x + z*z),
                                3 / 12 * (x*x + y*y)], agv.platform_inertia, rtol=1e-12)
    assert agv.centre_height == pytest.approx(0.1 + z / 2)


@pytest.mark.parametrize(('field', 'value', 'text'), [
    ('track', 0.0, 'track = 0.0: must be greater than zero'),
    ('axle_distance', -0.1, 'axle_distance = -0.1: must not be negative'),
    ('wheel_radius', math.nan, 'wheel_radius = nan: must be a finite number'),
    ('platform_inertia', (1.0, 1.0, 3.0), 'platform_inertia .*no body has'),
    ('platform_inertia', (1.0, 1.0), 'platform_inertia .*expected 3'),
    ('wheel_spin_inertia', 3.0, 'wheel_spin_inertia = 3.0: .*flat disc'),
    ('viscous', (0.0, 0.0, -1.0, 0.0), 'viscous .*not be negative'),
    ('drive_torque', 0.0, 'drive_torque = 0.0: must be greater than zero')])
def test_vehicles_that_cannot_be_are_refused(field, value, text):
    with pytest.raises(ModelError, match=text):
        Agv('wrong', **{**GEOMETRY, field: value})


def test_numbers_of_a_model_do_not_change():
    agv = load('agv')
    for array in (agv.platform_inertia, agv.viscous, agv.numbers):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0


@pytest.mark.parametrize(('content', 'text'), [
    ('extends: agv\ngeometry: {hip_radius: 1.0}\n', 'geometry.hip_radius .*unknown key'),
    ('extends: agv\nwheel: {mass: heavy}\n', "wheel.mass = 'heavy': expected a number"),
    ('kind: agv\nname: bare\n', 'geometry is missing.*extends: agv')])
def test_wrong_files_are_refused_by_key(tmp_path, content, text):
    path = tmp_path / 'wrong.yaml'
    path.write_text(content)
    with pytest.raises(ModelError, match=text):
        load(path)


def test_programs_for_other_robots_say_what_this_one_is():
    with pytest.raises(ModelError, match="'agv' is a vehicle with two driven wheels"):
        load_casters('agv')
    with pytest.raises(ModelError, match="'agv' is a vehicle.*give pvc_tricycle"):
        load_tricycle('agv')
