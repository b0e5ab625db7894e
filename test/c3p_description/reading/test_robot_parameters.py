# SPDX-License-Identifier: Apache-2.0
"""Parameter files: what they say is what the model holds; what is wrong is named."""

import dataclasses
import math
import shutil
import sys

import numpy as np
import pytest

from c3p_description import CasterRobot, ModelError, load, robot_description
from c3p_description.reading.files import share_file
from c3p_description.reading.parameters import parameter_file, read_parameters
from c3p_description.reading.urdf import from_urdf

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

OWN_POSITIONS = """
extends: c3p
name: four
casters:
  hip_position: [[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]]
  caster_offset: [0.03, 0.04, 0.05, 0.06]
  wheel_radius: [0.04, 0.05, 0.04, 0.03]
  driven: [true, false, true, false]
link: {com: [0.01, 0.02, 0.02, 0.03]}
friction: {scrub_coulomb: [0.01, 0.02, 0.03, 0.04], smoothing: 0.1}
visual: {platform_mesh: '', ground_clearance: 0.15}
"""


@pytest.fixture
def four(tmp_path):
    path = tmp_path / 'four.yaml'
    path.write_text(OWN_POSITIONS)
    return path


def assert_same(a: CasterRobot, b: CasterRobot):
    for item in dataclasses.fields(CasterRobot):
        x, y = getattr(a, item.name), getattr(b, item.name)
        if item.name == 'friction':
            x, y = a.losses, b.losses
        if item.name in ('name', 'steering_joints', 'wheel_joints'):
            assert x == y
        else:
            # sums of decimal fractions differ in the last bits
            np.testing.assert_allclose(y, x, rtol=0, atol=1e-12, err_msg=item.name)


@pytest.mark.parametrize('name', ['c3p', 'c3p_25kg'])
def test_urdf_holds_the_numbers_of_the_parameters(name):
    assert_same(load(name), from_urdf(robot_description(name)))


def test_own_positions_and_per_caster_values_reach_the_urdf(four):
    robot = load(four)
    assert robot.driven.tolist() == [True, False, True, False]
    assert_same(robot, from_urdf(robot_description(four)))


def test_printed_values_of_the_papers():
    robot = load('c3p')
    h, angles = 0.343, np.radians([30.0, 150.0, 270.0])
    np.testing.assert_allclose(robot.hip_position,
                               h * np.column_stack([np.cos(angles), np.sin(angles)]), atol=1e-15)
    assert (robot.platform_mass, robot.platform_inertia) == (30.0, 3.51)
    assert (robot.caster_offset == 0.04).all() and (robot.wheel_radius == 0.04).all()


def test_25kg_differs_in_name_and_platform_mass_only():
    one, other = (read_parameters(parameter_file(name)) for name in ('c3p', 'c3p_25kg'))
    other['name'], other['platform']['mass'] = 'c3p', 30.0
    assert one == other


def test_wheel_is_a_solid_cylinder():
    wheel, r = read_parameters(parameter_file('c3p'))['wheel'], 0.04
    assert wheel['spin_inertia'] == pytest.approx(wheel['mass'] * r**2 / 2, rel=1e-12)
    assert wheel['yaw_inertia'] == pytest.approx(
        wheel['mass'] * (3 * r**2 + wheel['width']**2) / 12, rel=1e-12)


def test_xacro_reads_the_same_content():
    import xacro
    path = share_file('c3p_description/robots/c3p.yaml')
    xacro.init_stacks(str(path)) if hasattr(xacro, 'init_stacks') else None
    assert xacro.load_yaml(str(path)) == read_parameters(path)


def test_extends_reaches_through_several_files(tmp_path):
    (tmp_path / 'a.yaml').write_text('extends: c3p_25kg\nname: a\nlink: {mass: 2.0}\n')
    (tmp_path / 'b.yaml').write_text('extends: a.yaml\nname: b\nwheel: {mass: 1}\n')
    robot = load(tmp_path / 'b.yaml')
    assert robot.total_mass == 25.0 + 3 * 2.0 + 3 * 1.0
    assert_same(robot, from_urdf(robot_description(tmp_path / 'b.yaml')))


def test_prefix_names_links_and_joints():
    robot = from_urdf(robot_description('c3p', {'prefix': 'left_'}))
    assert robot.wheel_joints == tuple(f'left_wheel_joint_{i}' for i in (1, 2, 3))
    np.testing.assert_array_equal(robot.hip_position, load('c3p').hip_position)


def test_description_files_are_loaded_too(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(robot_description('c3p'))
    assert_same(load('c3p'), load(path))
    assert_same(load('c3p'), load(share_file('c3p_description/urdf/c3p.urdf.xacro')))
    path.write_text('<robot name="r"><link name="base_link"/></robot>')
    with pytest.raises(ModelError, match='robot.urdf: 0 wheels found'):
        load(path)


BAD = {
    'wheel: {radius: 1}': 'wheel.radius = 1: unknown key; expected one of mass',
    'weels: {}': 'weels = {}: unknown key',
    'casters: {caster_offset: .nan}': 'casters.caster_offset = nan: expected a finite number',
    'casters: {caster_offset: -0.04}': 'caster_offset = .*must not be negative',
    'casters: {caster_offset: [0.04, 0.04]}': 'caster_offset = .*expected a list of 3 values',
    'casters: {hip_angles: 3}': 'casters.hip_angles = 3: expected a list',
    'casters: {hip_position: [[1, 2], [3]]}': r'hip_position\[1\] = \[3\].*2 values',
    'casters: {hip_position: [[1, 2]]}': 'needs two or more pivots',
    'casters: {driven: 1}': 'casters.driven = 1: expected true or false',
    'casters: {driven: false}': 'no caster is driven',
    'casters: {torque_limit: 0}': 'torque_limit = .*inf means no limit',
    'platform: {mass: .inf}': 'platform.mass = inf: expected a finite number',
    'platform: {com: [0, 0, 0]}': 'platform.com = .*expected a list of 2 values',
    'platform: {mass: 3e1}': "platform.mass = '3e1': expected a number, such as .*1e-3",
    'platform: {mass: true}': 'platform.mass = True: expected a number',
    'platform: {mass: 1, mass: 2}': 'mass is given 2 times',
    'platform: 3': 'platform = 3: expected the keys',
    'friction: {smoothing: 0}': 'smoothing = .*greater than zero',
    'visual: {platform_mesh: 3}': 'visual.platform_mesh = 3: expected a text',
    'name: 3': 'name = 3: expected a text',
    'kind: bicycle': "kind = 'bicycle': expected one of caster_robot",
    'extends: c4p': 'c4p.* is unknown: give one of .*c3p, c3p_25kg',
    'extends: bad.yaml': 'cannot extend itself',
    'wheel: {mass: !degrees x}': 'not readable as YAML',
    'wheel: {': 'not readable as YAML',
    '[1]': 'expected sections',
}


@pytest.mark.parametrize('text', BAD)
def test_bad_parameters_are_refused_with_file_key_value_and_remedy(text, tmp_path):
    path = tmp_path / 'bad.yaml'
    plain = text.startswith(('extends', '['))
    path.write_text(text if plain else f'extends: c3p\n{text}\n')
    with pytest.raises(ModelError, match=f'(?s)bad.yaml.*{BAD[text]}'):
        load(path)


def test_missing_key_is_named(tmp_path):
    text = share_file('c3p_description/robots/c3p.yaml').read_text()
    path = tmp_path / 'short.yaml'
    for line, name in (('  caster_offset', 'casters.caster_offset'), ('  smoothing', 'smoothing'),
                       ('  hip_radius', 'casters.hip_position'), ('name', 'name')):
        path.write_text('\n'.join(k for k in text.splitlines() if not k.startswith(line)))
        with pytest.raises(ModelError, match=f'short.yaml: .*{name} is missing'):
            load(path)


@pytest.mark.parametrize('name', ['no/such.yaml', 'no/such', 'such.yaml', 'no_such.urdf'])
def test_file_that_is_not_there(name):
    with pytest.raises(ModelError, match='no such file'):
        load(name)


def test_unknown_robot_names_those_there_are():
    with pytest.raises(ModelError, match="'c9p' is unknown: give one of .*c3p, c3p_25kg"):
        load('c9p')


def test_without_xacro_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    assert load('c3p').count == 3
    with pytest.raises(ModelError, match='pip install xacro'):
        robot_description('c3p')


def test_failing_xacro_names_the_file(tmp_path):
    path = tmp_path / 'robot.xacro'
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro">${nothing}</robot>')
    with pytest.raises(ModelError, match='robot.xacro: xacro failed: .*nothing'):
        robot_description(path)


def test_degrees_are_radians(tmp_path):
    shutil.copy(share_file('c3p_description/robots/c3p.yaml'), tmp_path / 'r.yaml')
    angles = read_parameters(tmp_path / 'r.yaml')['casters']['hip_angles']
    assert angles == [math.radians(30), math.radians(150), math.radians(270)]


@pytest.mark.parametrize('name', ['/etc/passwd', '../secret', './secret', 'secret.txt'])
def test_only_names_and_yaml_files_are_extended(tmp_path, name):
    (tmp_path / 'robots').mkdir()
    for place in ('secret', 'robots/secret', 'robots/secret.txt'):
        (tmp_path / place).write_text('hidden: text')
    path = tmp_path / 'robots' / 'ours.yaml'
    path.write_text(f'extends: {name}\n')
    with pytest.raises(ModelError, match='is unknown: give one of|not a .yaml file') as raised:
        load(path)
    assert 'hidden' not in str(raised.value)
