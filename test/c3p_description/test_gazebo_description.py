# SPDX-License-Identifier: Apache-2.0
"""What Gazebo is told of a robot, against the MuJoCo model, and as sdformat reads it."""

import inspect
import subprocess
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from sdformat_tool import sdformat

from c3p_description import load, robot_description
from c3p_simulation.contact_plant.mujoco_model import BodyShape, mjcf

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

ROOT = Path(__file__).parents[2]
# per caster: everything of it differs, one wheel is not driven
UNEVEN = """extends: c3p
name: uneven
casters: {hip_position: [[0.3, 0.2], [-0.3, 0.1], [0.0, -0.35], [0.1, 0.4]],
          caster_offset: [0.04, 0.05, 0.03, 0.06], wheel_radius: [0.04, 0.05, 0.06, 0.07],
          driven: [true, false, true, true], torque_limit: [1.0, 1.5, 2.0, 2.5]}
platform: {com: [0.02, -0.03]}
link: {mass: [1.0, 1.5, 2.0, 2.5]}
wheel: {mass: [0.4, 0.5, 0.6, 0.7], spin_inertia: [0.0004, 0.0005, 0.0006, 0.0007],
        yaw_inertia: [0.00025, 0.0003, 0.00035, 0.0004], width: [0.02, 0.03, 0.04, 0.05]}
friction: {pivot_coulomb: [0.01, 0.02, 0.03, 0.04], scrub_coulomb: [0.05, 0.06, 0.07, 0.08],
           rolling_coulomb: [0.03, 0.04, 0.05, 0.06], pivot_viscous: [0.001, 0.002, 0.003, 0.004],
           rolling_viscous: [0.004, 0.003, 0.002, 0.001]}
"""


@pytest.fixture(scope='module', params=['c3p', 'uneven'])
def robot(request, tmp_path_factory):
    """Return the name or the file of a robot."""
    if request.param != 'uneven':
        return request.param
    file = tmp_path_factory.mktemp('robots') / 'uneven.yaml'
    file.write_text(UNEVEN)
    return str(file)


@lru_cache
def text_of(robot, **arguments):
    """Return the description for Gazebo; xacro takes its time."""
    return robot_description(robot, {'hardware': 'gazebo', **arguments})


def gazebo(robot='c3p', **arguments):
    """Return the description for Gazebo as elements."""
    return ElementTree.fromstring(text_of(robot, **arguments))


def numbers(text):
    return np.array(text.split(), float)


def body_of(link):
    """Return mass, centre of mass and principal moments of a link."""
    inertial = link.find('inertial')
    assert numbers(inertial.find('origin').get('rpy')).tolist() == [0, 0, 0]
    moments = inertial.find('inertia')
    assert all(float(moments.get(name)) == 0 for name in ('ixy', 'ixz', 'iyz'))
    return (float(inertial.find('mass').get('value')),
            numbers(inertial.find('origin').get('xyz')),
            np.array([float(moments.get(name)) for name in ('ixx', 'iyy', 'izz')]))


def moments_of(model, body):
    """Return the moments of a body of MuJoCo, which sorts and turns them, about its own axes."""
    mujoco = pytest.importorskip('mujoco')
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    turn = turn.reshape(3, 3)
    return np.diag(turn @ np.diag(model.body_inertia[body]) @ turn.T)


def test_masses_joints_friction_and_limits_are_those_of_the_mujoco_model(robot):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    casters, tree = load(robot), gazebo(robot)
    model = mujoco.MjModel.from_xml_string(mjcf(casters, BodyShape.read(robot)))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    links = {link.get('name'): link for link in tree.findall('link')}
    joints = {joint.find('child').get('link'): joint for joint in tree.findall('joint')}
    frame = {'base_link': np.array([0, 0, casters.wheel_radius.max()])}
    # MuJoCo takes a name for each caster in turn, whatever the description calls them
    for name in ['base_link', *(f'{kind}_link_{i + 1}' for i in range(casters.count)
                                for kind in ('steering', 'wheel'))]:
        body = model.body(name).id
        mass, centre, moments = body_of(links[name])
        assert model.body_mass[body] == pytest.approx(mass, rel=1e-12)
        np.testing.assert_allclose(moments_of(model, body), moments, rtol=1e-9)
        joint = joints[name]
        if name != 'base_link':
            # all joints at zero: frames are parallel
            frame[name] = (frame[joint.find('parent').get('link')]
                           + numbers(joint.find('origin').get('xyz')))
        np.testing.assert_allclose(data.xipos[body], frame[name] + centre, atol=1e-12)
        if name == 'base_link':
            continue
        at = model.joint(joint.get('name')).id
        np.testing.assert_allclose(model.jnt_axis[at], numbers(joint.find('axis').get('xyz')))
        # the axis of a wheel is at the same place; that of a fork may be anywhere along it
        shown = slice(3) if name.startswith('wheel') else slice(2)
        np.testing.assert_allclose(data.xanchor[at][shown], frame[name][shown], atol=1e-12)
        friction, dof = joint.find('dynamics'), model.jnt_dofadr[at]
        i = int(name.rsplit('_', 1)[1]) - 1
        turning = casters.losses[i, 4] if name.startswith('steering') else 0.0
        assert model.dof_damping[dof] == pytest.approx(float(friction.get('damping')), rel=1e-12)
        assert model.dof_frictionloss[dof] + turning == pytest.approx(
            float(friction.get('friction')), rel=1e-12)
    assert model.body_mass.sum() == pytest.approx(
        sum(body_of(links[name])[0] for name in frame), rel=1e-12)
    # torques are limited alike, by the joint here and by the plant there
    limits = [float(joints[f'wheel_link_{i + 1}'].find('limit').get('effort'))
              for i in range(casters.count)]
    np.testing.assert_allclose(limits, casters.torque_limit)
    for i, tyre in enumerate(range(casters.count)):
        size = model.geom_size[model.geom(f'tyre_{tyre + 1}').id]
        shape = links[f'wheel_link_{i + 1}'].find('collision/geometry/sphere')
        assert size[1] == size[2] == pytest.approx(float(shape.get('radius')), rel=1e-12)


def test_tyres_touch_at_one_point_and_grip_as_in_mujoco(robot):
    tree, casters = gazebo(robot), load(robot)
    default = inspect.signature(mjcf).parameters['friction'].default
    tags = {e.get('reference'): e for e in tree.findall('gazebo') if e.find('mu1') is not None}
    assert list(tags) == [f'wheel_link_{i + 1}' for i in range(casters.count)]
    for tag in tags.values():
        assert [float(tag.findtext(name)) for name in ('mu1', 'mu2')] == [default] * 2
    for link in tree.findall('link'):
        if link.get('name').startswith('wheel'):
            assert [shape.tag for shape in link.find('collision/geometry')] == ['sphere']
    slippery = gazebo(robot, tyre_friction='0.3').findall('gazebo/mu2')
    assert {element.text for element in slippery} == {'0.3'}


@pytest.mark.parametrize('namespace', ['', 'robot1', '/robot1'])
def test_topics_of_gazebo_stand_where_the_bridge_looks(namespace):
    """ros_gz_bridge expands relative topics of Gazebo by its node's namespace."""
    bridge = {entry['ros_topic_name']: entry for entry in yaml.safe_load(
        (ROOT / 'config/gz_bridge.yaml').read_text())}
    tree = gazebo(namespace=namespace, imu='true')
    prefix = f'/{namespace}'.replace('//', '/') if namespace else ''
    expected = {'ground_truth/odom': tree.findtext('.//odom_topic'),
                'imu/data': tree.findtext('.//sensor/topic')}
    for ros, topic in expected.items():
        assert not bridge[ros]['gz_topic_name'].startswith('/')
        assert topic == f'{prefix}/{bridge[ros]["gz_topic_name"]}'
    assert bridge['/clock']['gz_topic_name'] == '/clock'
    assert set(bridge) == {'/clock', *expected}


def test_the_bridge_carries_what_gazebo_sends_in_types_that_it_knows():
    # pairs from the table in ros_gz_bridge's README; one way, as nothing of ours drives Gazebo
    known = {('rosgraph_msgs/msg/Clock', 'gz.msgs.Clock'),
             ('nav_msgs/msg/Odometry', 'gz.msgs.Odometry'),
             ('sensor_msgs/msg/Imu', 'gz.msgs.IMU')}
    entries = yaml.safe_load((ROOT / 'config/gz_bridge.yaml').read_text())
    assert {(e['ros_type_name'], e['gz_type_name']) for e in entries} == known
    assert {e['direction'] for e in entries} == {'GZ_TO_ROS'}


def test_the_truth_is_that_of_base_link_although_gazebos_model_stands_on_the_ground(robot):
    tree = gazebo(robot)
    plugin = next(p for p in tree.iter('plugin') if p.find('odom_topic') is not None)
    assert (plugin.get('filename'), plugin.get('name')) == (
        'gz-sim-odometry-publisher-system', 'gz::sim::systems::OdometryPublisher')
    height = load(robot).wheel_radius.max()
    np.testing.assert_allclose(numbers(plugin.findtext('xyz_offset')), [0, 0, height])
    assert (plugin.findtext('odom_frame'), plugin.findtext('robot_base_frame')) == (
        'odom', 'base_link')
    assert plugin.findtext('dimensions') == '3'


def test_an_imu_is_there_when_it_is_asked_for():
    assert gazebo().find('gazebo/sensor') is None
    sensor = gazebo(imu='true').find('gazebo/sensor')
    assert sensor.get('type') == 'imu' and sensor.findtext('gz_frame_id') == 'base_link'


def test_sdformat_keeps_masses_joints_and_contact_and_steering_has_no_motor(robot, tmp_path):
    """What Gazebo makes of it: base_link becomes part of base_footprint, the rest stays."""
    command = sdformat()
    file = tmp_path / 'robot.urdf'
    file.write_text(text_of(robot))
    done = subprocess.run([*command, '-p', file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    model = ElementTree.fromstring(done.stdout).find('model')
    tree, casters = gazebo(robot), load(robot)
    height = casters.wheel_radius.max()
    links = {link.get('name'): link for link in model.findall('link')}
    assert set(links) == {link.get('name') for link in tree.findall('link')} - {'base_link'}
    for link in tree.findall('link')[1:]:
        base = link.get('name') == 'base_link'
        mass, centre, moments = body_of(link)
        kept = links['base_footprint' if base else link.get('name')].find('inertial')
        # twelve digits or more are printed
        assert float(kept.findtext('mass')) == pytest.approx(mass, rel=1e-9)
        np.testing.assert_allclose(numbers(kept.findtext('pose'))[:3],
                                   centre + [0, 0, height * base], atol=1e-9)
        np.testing.assert_allclose([float(kept.findtext(f'inertia/{name}'))
                                    for name in ('ixx', 'iyy', 'izz')], moments, rtol=1e-9)
    joints = {joint.get('name'): joint for joint in model.findall('joint')}
    for joint in tree.findall('joint')[1:]:
        axis = joints[joint.get('name')].find('axis')
        np.testing.assert_array_equal(numbers(axis.findtext('xyz')),
                                      numbers(joint.find('axis').get('xyz')))
        for name in ('damping', 'friction'):
            assert float(axis.findtext(f'dynamics/{name}')) == pytest.approx(
                float(joint.find('dynamics').get(name)), rel=1e-9)
        if joint.find('limit') is not None:
            assert float(axis.findtext('limit/effort')) == pytest.approx(
                float(joint.find('limit').get('effort')), rel=1e-9)
        # continuous
        assert float(axis.findtext('limit/upper')) >= 1e16
    for i in range(casters.count):
        collision = links[f'wheel_link_{i + 1}'].find('collision')
        assert float(collision.findtext('geometry/sphere/radius')) == casters.wheel_radius[i]
        assert collision.findtext('surface/friction/ode/mu') == '0.8'
    assert {p.get('filename') for p in model.findall('plugin')} == {
        'gz_ros2_control-system', 'gz-sim-odometry-publisher-system'}
    # meshes are looked for below the folders of GZ_SIM_RESOURCE_PATH
    assert {e.text.split('/meshes/')[0] for e in model.iter('uri')} == {
        'model://c3p/c3p_description'}


@pytest.mark.parametrize('name', ['pvc_tricycle', 'agv'])
def test_sdformat_takes_the_other_vehicles(name, tmp_path):
    command = sdformat()
    file = tmp_path / f'{name}.urdf'
    file.write_text(robot_description(name))
    done = subprocess.run([*command, '-p', file], capture_output=True, text=True)
    assert done.returncode == 0 and '<link' in done.stdout, done.stderr
