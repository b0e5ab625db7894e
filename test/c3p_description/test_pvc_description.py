# SPDX-License-Identifier: Apache-2.0
"""The tricycle with passive variable camber: parameters, URDF, meshes and RViz layout agree."""

import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_description import ModelError, PvcTricycle, load, robot_description
from c3p_description.pvc_model import JOINTS
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import load_casters, load_tricycle
from c3p_description.reading.mesh_files import mesh_file

GEOMETRY = {'wheelbase': 1.2, 'half_track': 0.6, 'camber_offset': 0.1, 'wheel_radius': 0.25,
            'tube_radius': 0.05}
# steering, spin 1, camber 2, spin 2, camber 3, spin 3, within the limits
ANGLES = st.tuples(*[st.floats(-1, 1) if 'wheel' not in name else st.floats(-math.pi, math.pi)
                     for name in JOINTS])

OTHER = """
extends: pvc_tricycle
name: other
geometry: {wheelbase: 0.9, half_track: 0.5, camber_offset: 0.0, tube_radius: 0.08}
limits: {drive_rate: .inf, steering_rate: .inf}
"""


@pytest.fixture(scope='module')
def urdf():
    pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')
    return robot_description('pvc_tricycle')


@pytest.fixture
def other(tmp_path):
    pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')
    path = tmp_path / 'other.yaml'
    path.write_text(OTHER)
    return path


def turn(axis, angle):
    """Rotation about x, y or z as a transform."""
    i, j = [(1, 2), (2, 0), (0, 1)]['xyz'.index(axis)]
    out = np.eye(4)
    out[i, i] = out[j, j] = math.cos(angle)
    out[i, j], out[j, i] = -math.sin(angle), math.sin(angle)
    return out


def shift(*xyz):
    out = np.eye(4)
    out[:3, 3] = xyz
    return out


def wheel_frames(model, angles):
    """T_PW of the three wheels, written from the formulas of the paper."""
    steering, spin_1, camber_2, spin_2, camber_3, spin_3 = angles
    b, e = model.half_track, model.camber_offset
    return [shift(model.wheelbase, 0, 0) @ turn('z', steering) @ turn('y', spin_1),
            *(shift(0, side * (b - e), 0) @ turn('x', camber) @ shift(0, side * e, 0)
              @ turn('y', spin)
              for side, camber, spin in ((1, camber_2, spin_2), (-1, camber_3, spin_3)))]


def pinocchio_frames(text, angles):
    """T_PW as Pinocchio finds them."""
    pin = pytest.importorskip('pinocchio', reason='pip install .[test]')
    model = pin.buildModelFromXML(text)
    q = pin.neutral(model)
    for name, angle in zip(JOINTS, angles, strict=True):
        joint = model.joints[model.getJointId(name)]
        # continuous joints are a point on the circle
        q[joint.idx_q:joint.idx_q + joint.nq] = (
            [angle] if joint.nq == 1 else [math.cos(angle), math.sin(angle)])
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    base = data.oMf[model.getFrameId('base_link')].homogeneous
    return [np.linalg.solve(base, data.oMf[model.getFrameId(f'wheel_link_{i}')].homogeneous)
            for i in (1, 2, 3)]


@given(angles=ANGLES)
def test_pinocchio_places_the_wheels_where_the_equations_do(urdf, angles):
    for found, wanted in zip(pinocchio_frames(urdf, angles),
                             wheel_frames(load('pvc'), angles), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_other_proportions_reach_the_urdf(other):
    angles = (0.4, 2.0, -0.3, 1.0, 0.2, -3.0)
    text = robot_description(other)
    for found, wanted in zip(pinocchio_frames(text, angles),
                             wheel_frames(load(other), angles), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    # no mesh has this tube: the wheels are built of cylinders
    assert 'torus.stl' not in text and text.count('radius="0.08"') >= 3 * 2 * 24


def test_yourdfpy_sees_wheels_as_large_as_the_parameters(urdf):
    yourdfpy = pytest.importorskip('yourdfpy', reason='pip install .[test]')
    model = load('pvc')
    tree = yourdfpy.URDF.load(io.StringIO(urdf), filename_handler=lambda fname: str(
        mesh_file(fname)))
    assert tree.validate() and set(tree.actuated_joint_names) == set(JOINTS)
    # collision shapes are the tori alone on wheel links
    for i, name in enumerate(('wheel_link_1', 'wheel_link_2', 'wheel_link_3')):
        link, = (item for item in tree.robot.links if item.name == name)
        mesh = link.collisions[0].geometry.mesh
        bounds = mesh_bounds(mesh.filename) * mesh.scale
        half = [model.outer_radius, model.tube_radius, model.outer_radius]
        # STL holds single precision
        np.testing.assert_allclose(bounds, [np.negative(half), half], rtol=0, atol=1e-7)
        place = tree.get_transform(name, 'base_link')[:3, 3]
        np.testing.assert_allclose(place, model.wheel_centers[i], rtol=0, atol=1e-12)
    low, high = tree.scene.bounds
    # an upright wheel stands on base_footprint, and nothing is lower
    foot = tree.get_transform('base_footprint', 'base_link')[2, 3]
    assert foot == -model.outer_radius and low[2] == pytest.approx(foot, abs=1e-6)
    assert high[0] - low[0] == pytest.approx(model.wheelbase + 2 * model.outer_radius, abs=1e-6)


def mesh_bounds(uri):
    trimesh = pytest.importorskip('trimesh', reason='pip install .[view]')
    return trimesh.load_mesh(mesh_file(uri)).bounds


def test_mujoco_finds_the_mass_and_no_touching_parts(urdf):
    mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')
    text = urdf.replace('<link name="base_link"/>', '<mujoco><compiler fusestatic="false"/>'
                        '</mujoco><link name="base_link"/>', 1)
    assets = {uri.rsplit('/', 1)[-1]: mesh_file(uri).read_bytes()
              for uri in set(re.findall(r'filename="([^"]+)"', text))}
    model = mujoco.MjModel.from_xml_string(text, assets)
    vehicle = load('pvc')
    assert model.body_mass.sum() == pytest.approx(vehicle.total_mass, abs=1e-12)
    # MuJoCo sorts principal moments
    np.testing.assert_allclose(np.sort(model.body('wheel_link_2').inertia),
                               np.sort(vehicle.wheel_inertia), rtol=1e-12)
    data = mujoco.MjData(model)
    for angle in np.linspace(-vehicle.camber_limit, vehicle.camber_limit, 9):
        for name, value in zip(JOINTS, (angle, 3 * angle, angle, angle, -angle, 0), strict=True):
            data.joint(name).qpos[0] = value
        mujoco.mj_forward(model, data)
        assert data.ncon == 0, f'contact at {angle} rad'


def test_prefix_names_every_link_and_joint(urdf):
    text = robot_description('pvc', {'prefix': 'left_'})
    names = re.findall(r'<(?:link|joint) name="([^"]+)"', text)
    assert names == [f'left_{name}' for name in re.findall(
        r'<(?:link|joint) name="([^"]+)"', urdf)]


def test_parameters_are_what_the_model_holds():
    vehicle = load('pvc_tricycle')
    assert isinstance(vehicle, PvcTricycle) and vehicle.name == 'pvc_tricycle'
    assert {name: getattr(vehicle, name) for name in GEOMETRY} == GEOMETRY
    # the centre of mass lies between the wheels, or it would tip over
    x, y, _ = vehicle.platform_com
    assert 0 < x < vehicle.wheelbase
    assert abs(y) < vehicle.half_track * (1 - x / vehicle.wheelbase)


def test_wheel_inertia_is_that_of_many_points_in_a_torus():
    vehicle = PvcTricycle('t', **GEOMETRY, wheel_mass=4.0)
    # midpoints in radius, tube angle and turn; error of the rule below 1e-4 at 60 radii
    s = (np.arange(60) + 0.5) / 60 * vehicle.tube_radius
    v, u = (2 * np.pi * (np.arange(32) + 0.5) / 32 for _ in range(2))
    s, v, u = np.meshgrid(s, v, u)
    r, y = vehicle.wheel_radius + s * np.cos(v), s * np.sin(v)
    weight = s * r
    x, z = r * np.cos(u), r * np.sin(u)
    moments = [np.sum(weight * q) / np.sum(weight) * 4.0
               for q in (y**2 + z**2, x**2 + z**2, x**2 + y**2)]
    np.testing.assert_allclose(vehicle.wheel_inertia, moments, rtol=1e-4)


BAD = {
    'wheelbase': (0.0, 'wheelbase = 0.0: must be greater than zero'),
    'half_track': (math.nan, 'half_track = nan: must be a finite number'),
    'camber_offset': (0.6, 'camber_offset = 0.6: must be smaller than half_track = 0.6'),
    'tube_radius': (0.25, 'tube_radius = 0.25: must be smaller than wheel_radius = 0.25'),
    'camber_limit': (30.0, 'camber_limit = 30.0: must be at most π/2; give radians'),
    'steering_limit': (math.inf, 'steering_limit = inf: must be a finite number'),
    'drive_rate_limit': (-1.0, 'drive_rate_limit = -1.0: must be greater than zero'),
    'platform_com': ((0.0, 0.0), 'platform_com = .*expected three finite numbers'),
    'platform_inertia': ((1.0, 1.0, 3.0), 'platform_inertia = .*no body has'),
    'wheel_mass': (0, 'wheel_mass = 0.0: must be greater than zero'),
}


@pytest.mark.parametrize('name', BAD)
def test_impossible_vehicles_are_refused_with_name_value_and_remedy(name):
    value, text = BAD[name]
    with pytest.raises(ModelError, match=text):
        PvcTricycle('t', **{**GEOMETRY, name: value})


def test_axes_through_the_wheel_and_motors_without_limit_are_allowed():
    vehicle = PvcTricycle('t', **{**GEOMETRY, 'camber_offset': 0.0})
    assert vehicle.drive_rate_limit == math.inf
    with pytest.raises(ValueError, match='read-only'):
        vehicle.platform_com[0] = 1.0


BAD_FILES = {
    'geometry: {wheel_base: 1}': 'geometry.wheel_base = 1: unknown key; expected one of wheelbase',
    'geometry: {tube_radius: .nan}': 'geometry.tube_radius = nan: expected a finite number',
    'geometry: {tube_radius: 0.3}': 'tube_radius = 0.3: must be smaller than wheel_radius',
    'limits: {camber: .inf}': 'limits.camber = inf: expected a finite number',
    'limits: {drive_torque: 0}': 'limits.drive_torque = 0.0: must be greater than zero',
    'casters: {hip_radius: 1}': 'casters = .*unknown key; expected one of geometry',
    'platform: {com: [0, 0]}': 'platform.com = .*expected a list of 3 values',
}


@pytest.mark.parametrize('text', BAD_FILES)
def test_bad_files_are_refused_with_file_key_and_value(text, tmp_path):
    path = tmp_path / 'bad.yaml'
    path.write_text(f'extends: pvc\n{text}\n')
    with pytest.raises(ModelError, match=f'bad.yaml.*{BAD_FILES[text]}'):
        load(path)


def test_missing_key_says_which_file_to_extend(tmp_path):
    text = share_file('c3p_description/robots/pvc_tricycle.yaml').read_text()
    path = tmp_path / 'short.yaml'
    path.write_text('\n'.join(k for k in text.splitlines() if not k.startswith('  tube')))
    with pytest.raises(ModelError, match='geometry.tube_radius is missing.*extends: pvc_tricycle'):
        load(path)


def test_programs_for_one_kind_of_robot_refuse_the_other():
    assert load_casters('c3p').count == 3 and load_tricycle('pvc').wheelbase == 1.2
    with pytest.raises(ModelError, match="'pvc' is a tricycle .*c3p sim"):
        load_casters('pvc')
    with pytest.raises(ModelError, match="'c3p' stands on casters: give pvc_tricycle"):
        load_tricycle('c3p')
