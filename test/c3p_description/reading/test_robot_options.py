# SPDX-License-Identifier: Apache-2.0
"""Options of the reader of a URDF: in a robot's file, in the text of the URDF, and in Python."""

import numpy as np
import pytest
import yaml
from caster_urdf import random_robot, write

from c3p_description import ModelError, describe, load, robot_description
from c3p_description.reading.parameters import read_parameters
from c3p_description.reading.robot_files import robot_file as robot_file_of
from c3p_description.reading.robot_options import checked_options, nested, parse_option
from c3p_description.reading.urdf import from_urdf

SAME = ('hip_position', 'caster_offset', 'wheel_radius', 'platform_mass', 'platform_inertia',
        'platform_com', 'link_mass', 'link_com', 'link_inertia', 'wheel_mass',
        'wheel_spin_inertia', 'wheel_yaw_inertia', 'torque_limit', 'wheel_rate_limit', 'driven',
        'losses',
        'tyre_friction', 'traction_margin', 'steering_zero')


@pytest.fixture
def folder(tmp_path):
    """A folder with the URDF of a random robot of three casters."""
    rng = np.random.default_rng(4)
    (tmp_path / 'base.urdf').write_text(write(random_robot(3, rng), rng), encoding='utf-8')
    return tmp_path


def robot_file(folder, **content):
    path = folder / 'lab.yaml'
    path.write_text(yaml.safe_dump({'urdf': 'base.urdf', **content}), encoding='utf-8')
    return path


def assert_same(one, other):
    for name in SAME:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_a_robot_file_names_a_urdf_beside_it(folder):
    assert_same(load(robot_file(folder)), load(folder / 'base.urdf'))


def test_options_in_a_robot_file_equal_those_in_python(folder):
    options = {'wheel_radius': [0.1, 0.2, 0.3], 'driven': ['w1'], 'ignore': ['shoulder']}
    made = load(robot_file(folder, **options))
    assert_same(made, load(folder / 'base.urdf', options))
    assert made.wheel_radius.tolist() == [0.1, 0.2, 0.3]
    assert made.driven.tolist() == [False, True, False]


def test_fields_in_a_robot_file_replace_those_of_the_urdf(folder):
    urdf = load(folder / 'base.urdf')
    made = load(robot_file(
        folder, name='lab', casters={'torque_limit': 4.0, 'wheel_radius': 0.07, 'driven': True},
        platform={'com': [0.01, -0.02]}, wheel={'rate_limit': float('inf')},
        friction={'scrub_coulomb': 0.3}))
    assert made.name == 'lab' and made.driven.all()
    assert (made.torque_limit == 4.0).all() and (made.wheel_radius == 0.07).all()
    assert made.platform_com.tolist() == [0.01, -0.02]
    assert np.isinf(made.wheel_rate_limit).all()
    # columns of losses: scrub is the fifth; all others stay
    assert (made.losses[:, 4] == 0.3).all()
    np.testing.assert_array_equal(made.losses[:, :4], urdf.losses[:, :4])
    assert made.platform_mass == urdf.platform_mass


def test_a_robot_file_extends_one_with_a_urdf(folder):
    below = robot_file(folder, casters={'torque_limit': 4.0, 'tyre_friction': 0.5})
    (folder / 'sub').mkdir()
    above = folder / 'sub' / 'above.yaml'
    above.write_text('extends: ../lab.yaml\ncasters: {torque_limit: 2.0}\n', encoding='utf-8')
    made = load(above)
    assert (made.torque_limit == 2.0).all() and made.tyre_friction == 0.5
    np.testing.assert_array_equal(made.hip_position, load(below).hip_position)


def test_the_published_description_is_the_robot_of_the_file(folder):
    """A bag and robot_description hold text only; the options must be in it."""
    path = robot_file(folder, wheel_radius=0.05, driven=['w0', 'w2'], name='löffel & co <3>',
                      casters={'torque_limit': float('inf')}, friction={'rolling_coulomb': 0.2})
    again = from_urdf(robot_description(path))
    assert_same(again, load(path))
    assert again.name == 'löffel & co <3>'


def test_given_options_take_precedence_over_those_in_the_text(folder):
    text = robot_description(robot_file(folder, wheel_radius=0.05))
    assert from_urdf(text, wheel_radius=0.06).wheel_radius.tolist() == [0.06] * 3


def test_dotted_fields_change_a_parameter_file(tmp_path):
    assert load('c3p', {'casters.torque_limit': 0.5}).torque_limit.tolist() == [0.5] * 3


BAD = {
    'urdf and extends: c3p exclude': ('extends: c3p\nurdf: base.urdf\n', {}),
    'urdf = 3: expected the path': ('urdf: 3\n', {}),
    'nowhere.urdf: no such file': ('urdf: nowhere.urdf\n', {}),
    'wheel_radus = 1: unknown key beside a URDF.*wheel_radius':
        ('urdf: base.urdf\nwheel_radus: 1\n', {}),
    'casters.hip_radius = 1.*unknown key beside a URDF.*hip_position':
        ('urdf: base.urdf\ncasters: {hip_radius: 1}\n', {}),
    "casters.torque_limit = 'much': expected a number":
        ('urdf: base.urdf\ncasters: {torque_limit: much}\n', {}),
    'tolerance = -0.1: expected a length': ('urdf: base.urdf\ntolerance: -0.1\n', {}),
    "driven = \\['w7'\\]: no such joints; there are w0, w1, w2":
        ('urdf: base.urdf\ndriven: [w7]\n', {}),
    'ignore = 3: expected the names': ('urdf: base.urdf\n', {'ignore': 3}),
    'casters = 3: expected the keys': ('urdf: base.urdf\ncasters: 3\n', {}),
    'wheel_radius = 0.05: an option of a URDF.*casters.wheel_radius':
        ('extends: c3p\n', {'wheel_radius': 0.05}),
}


@pytest.mark.parametrize('message', BAD)
def test_a_wrong_setting_is_refused_with_file_key_and_remedy(message, folder):
    text, options = BAD[message]
    path = folder / 'lab.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(ModelError, match='(?s)' + message):
        load(path, options)


@pytest.mark.parametrize('text', [
    'driven: [true, false]', 'driven: 3', 'steered: [true]', 'wheel_radius: 0', 'wheel_radius: []',
    'wheel_radius: {a: 1}', 'casters: {hip_position: 3}', 'casters: {hip_position: [[1, 2]]}',
    'casters: {caster_offset: [1, 2]}', 'casters: null', 'name: ""', 'tolerance: .nan',
    'casters: {? [1] : 2}', 'ignore: {a: 1}', 'base_link: 3', 'platform: {mass: .inf}'])
def test_settings_of_any_kind_are_read_or_refused_by_name(text, folder):
    urdf = (folder / 'base.urdf').read_text(encoding='utf-8')
    with pytest.raises(ModelError, match=text.split(':')[0] if '?' not in text else '<c3p>'):
        from_urdf(urdf.replace('</robot>', f'<c3p>{text}</c3p></robot>'))


def test_settings_in_a_text_cannot_name_files(folder):
    """A bag is data from elsewhere: its text must not open a file of this computer."""
    text = (folder / 'base.urdf').read_text(encoding='utf-8')
    for key in ('urdf', 'extends'):
        with pytest.raises(ModelError, match=f'{key} = .*unknown key'):
            from_urdf(text.replace('</robot>', f'<c3p>{key}: /etc/hosts.urdf</c3p></robot>'))
    with pytest.raises(ModelError, match='not readable as YAML'):
        from_urdf(text.replace('</robot>', '<c3p>[</c3p></robot>'))


def test_a_file_with_a_urdf_is_no_parameter_file(folder):
    with pytest.raises(ModelError, match='the numbers are in the URDF'):
        read_parameters(robot_file(folder))


@pytest.mark.parametrize('text', ['wheel_radius', '=3', 'wheel_radius=', 'a=[1'])
def test_an_option_without_name_or_value_is_refused(text):
    with pytest.raises(ModelError, match='robot option'):
        parse_option(text)


def test_options_of_the_command_line_are_yaml_with_commas():
    given = nested(dict(map(parse_option, (
        'driven=true,false', 'casters.torque_limit=[1.0, .inf]', 'base_link=deck'))))
    assert given == {'driven': [True, False], 'base_link': 'deck',
                     'casters': {'torque_limit': [1.0, float('inf')]}}
    assert checked_options({'driven': given['driven']}).driven == (True, False)


def test_a_parameter_file_has_no_notes():
    assert describe('c3p').notes == ()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache directory."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


def test_a_file_stands_for_a_urdf_and_its_options(folder, cache):
    options = {'wheel_radius': 0.05, 'casters.torque_limit': 4.0}
    path = robot_file_of(folder / 'base.urdf', options)
    assert path.startswith(f'{cache}/c3p/robots/base_')
    assert_same(load(path), load(folder / 'base.urdf', options))
    # a campaign goes on with the same name, and the nodes may start one after the other
    assert robot_file_of(folder / 'base.urdf', options) == path
    assert robot_file_of(folder / 'base.urdf', {'wheel_radius': 0.06}) != path


def test_a_file_stands_for_a_robot_file_or_name_and_its_fields(folder, cache):
    below = robot_file(folder, casters={'torque_limit': 4.0})
    assert (load(robot_file_of(below, {'driven': 'w1'})).torque_limit == 4.0).all()
    assert load(robot_file_of('c3p', {'platform.mass': 28.0})).platform_mass == 28.0


def test_without_options_the_robot_is_what_was_given(folder, cache):
    assert robot_file_of('anything', {}) == 'anything' and not cache.exists()


def test_options_of_a_missing_robot_are_refused(cache):
    with pytest.raises(ModelError, match='nowhere.urdf: no such file'):
        robot_file_of('nowhere.urdf', {'wheel_radius': 0.05})
    with pytest.raises(ModelError, match="robot 'nobody' is unknown"):
        robot_file_of('nobody', {'wheel_radius': 0.05})


def test_an_unusable_cache_directory_is_replaced_by_a_temporary_one(folder, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(folder / 'base.urdf'))
    path = robot_file_of(folder / 'base.urdf', {'wheel_radius': 0.05})
    assert load(path).wheel_radius.tolist() == [0.05] * 3
