# SPDX-License-Identifier: Apache-2.0
"""Other people's software reads our URDF and finds the same robot in it."""

import io
import re
import shutil
import subprocess

import numpy as np
import pytest

from c3p_description import load, robot_description
from c3p_description.reading.mesh_files import mesh_file

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')


@pytest.fixture(scope='module')
def urdf():
    return robot_description('c3p')


def meshes(urdf):
    return sorted(set(re.findall(r'filename="([^"]+)"', urdf)))


def wheel_centre(robot, i, theta):
    """Where the wheel stands in base_link: hip − d e."""
    e = np.array([-np.sin(theta), np.cos(theta)])
    return robot.hip_position[i] - robot.caster_offset[i] * e


def test_check_urdf_accepts_it(urdf, tmp_path):
    tool = shutil.which('check_urdf')
    if tool is None:
        pytest.skip('check_urdf is missing: apt-get install liburdfdom-tools')
    path = tmp_path / 'c3p.urdf'
    path.write_text(urdf)
    done = subprocess.run([tool, str(path)], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'robot name is: c3p' in done.stdout


def test_mujoco_loads_it_with_the_models_mass(urdf):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    # by default MuJoCo takes collisions only and welds the root to the world
    text = urdf.replace('<link name="base_footprint"/>',
                        '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
                        '<link name="base_footprint"/>')
    assets = {uri.rsplit('/', 1)[-1]: mesh_file(uri).read_bytes() for uri in meshes(urdf)}
    model = mujoco.MjModel.from_xml_string(text, assets)
    robot = load('c3p')
    assert model.body_mass.sum() == pytest.approx(robot.total_mass, abs=1e-12)
    assert model.nmesh == len(assets) and model.njnt == 6
    # friction arrives as damping and dry friction
    wheel = model.joint('wheel_joint_1').dofadr[0]
    assert model.dof_damping[wheel] == 0.001 and model.dof_frictionloss[wheel] == 0.05


def test_collision_shapes_of_the_robot_never_touch(urdf):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    text = urdf.replace('<link name="base_footprint"/>', '<mujoco><compiler fusestatic="false"/>'
                        '</mujoco><link name="base_footprint"/>')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for angle in np.linspace(-np.pi, np.pi, 25):
        data.qpos[:] = angle
        mujoco.mj_forward(model, data)
        assert data.ncon == 0, f'contact at θ_s = {angle}'


def test_mujoco_rolls_along_e_for_positive_wheel_rate(urdf):
    """The point of the wheel on the ground moves backward relative to the axle: −r e."""
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    model = mujoco.MjModel.from_xml_string(urdf)
    data = mujoco.MjData(model)
    theta = 0.4
    data.joint('steering_joint_2').qpos[0] = theta
    data.joint('wheel_joint_2').qvel[0] = 1.0
    mujoco.mj_forward(model, data)
    body = model.body('wheel_link_2').id
    jacobian = np.zeros((3, model.nv))
    ground = data.xpos[body] - [0, 0, 0.04]
    mujoco.mj_jac(model, data, jacobian, None, ground, body)
    expected = -0.04 * np.array([-np.sin(theta), np.cos(theta), 0])
    np.testing.assert_allclose(jacobian @ data.qvel, expected, atol=1e-12)


def test_yourdfpy_places_wheels_where_the_model_does(urdf):
    yourdfpy = pytest.importorskip('yourdfpy', reason='pip install .[test]')
    robot = load('c3p')
    tree = yourdfpy.URDF.load(io.StringIO(urdf), filename_handler=lambda fname: str(
        mesh_file(fname)))
    assert tree.validate()
    theta = np.array([0.3, -1.2, 2.9])
    tree.update_cfg({f'steering_joint_{i + 1}': theta[i] for i in range(3)}
                    | {f'wheel_joint_{i + 1}': 0.5 for i in range(3)})
    for i in range(3):
        place = tree.get_transform(f'wheel_link_{i + 1}', 'base_link')[:3, 3]
        np.testing.assert_allclose(place[:2], wheel_centre(robot, i, theta[i]), atol=1e-12)
        # base_link is at the height of the axles, base_footprint on the ground
        assert abs(place[2]) < 1e-12
        low = tree.get_transform(f'wheel_link_{i + 1}', 'base_footprint')[2, 3]
        assert low == pytest.approx(0.04, abs=1e-12)
    # the seen robot stands on the ground and is at least as wide as its plate
    low, high = tree.scene.bounds
    assert low[2] == pytest.approx(0.0, abs=1e-3) and high[2] < 0.3
    assert 2 * 0.343 * (np.cos(np.pi / 6) + 0.2) - 1e-6 < high[0] - low[0] < 0.85


def test_urdf_parser_py_reads_joints_and_places(urdf):
    parser = pytest.importorskip('urdf_parser_py.urdf', reason='pip install urdf_parser_py')
    robot = load('c3p')
    tree = parser.URDF.from_xml_string(urdf.encode())
    assert tree.get_root() == 'base_footprint'
    for i in range(3):
        steering, wheel = (tree.joint_map[f'{kind}_joint_{i + 1}']
                           for kind in ('steering', 'wheel'))
        # at θ_s = 0 all frames are parallel, so places add
        place = np.add(steering.origin.xyz, wheel.origin.xyz)
        np.testing.assert_allclose(place[:2], wheel_centre(robot, i, 0.0), atol=1e-12)
        assert steering.limit is None and wheel.limit.effort == robot.torque_limit[i]


def test_pinocchio_finds_the_same_mass_and_yaw_inertia(urdf):
    pin = pytest.importorskip('pinocchio', reason='pip install pin')
    robot = load('c3p')
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    data = model.createData()
    assert pin.computeTotalMass(model) == pytest.approx(robot.total_mass, abs=1e-12)
    theta = np.array([0.3, -1.2, 2.9])
    q = pin.neutral(model)
    for i, angle in enumerate(theta):
        # a continuous joint is (cos, sin)
        at = model.joints[model.getJointId(f'steering_joint_{i + 1}')].idx_q
        q[at:at + 2] = np.cos(angle), np.sin(angle)
    pin.ccrba(model, data, q, np.zeros(model.nv))
    parts = [(robot.platform_mass, robot.platform_com, robot.platform_inertia)]
    for i, angle in enumerate(theta):
        back = -np.array([-np.sin(angle), np.cos(angle)])
        parts.append((robot.link_mass[i], robot.hip_position[i] + robot.link_com[i] * back,
                      robot.link_inertia[i]))
        parts.append((robot.wheel_mass[i], wheel_centre(robot, i, angle),
                      robot.wheel_yaw_inertia[i]))
    centre = sum(m * c for m, c, _ in parts) / robot.total_mass
    inertia = sum(j + m * np.sum((c - centre)**2) for m, c, j in parts)
    np.testing.assert_allclose(data.com[0][:2], centre, atol=1e-12)
    # 4 kg·m² in double precision, summed over seven bodies
    assert data.Ig.inertia[2, 2] == pytest.approx(inertia, abs=1e-12)


def test_steering_is_passive_and_wheels_take_effort(urdf):
    import xml.etree.ElementTree as ElementTree
    joints = ElementTree.fromstring(urdf).find('ros2_control').findall('joint')
    commands = {j.get('name'): [c.get('name') for c in j.findall('command_interface')]
                for j in joints}
    assert commands == {f'{kind}_joint_{i}': ['effort'] if kind == 'wheel' else []
                        for i in (1, 2, 3) for kind in ('steering', 'wheel')}
