# SPDX-License-Identifier: Apache-2.0
"""``c3p robot``: JSON, page and exit codes of robots that drive, cannot drive, or do not load."""

import json
import re
from html.parser import HTMLParser

import pytest

from c3p_bringup.cli.main import main
from c3p_description import load
from c3p_experiments.robots import battery, check

CONTRACT = {'reached', 'path_error_max_m', 'final_error_m', 'torque_variation_nm_per_s'}


@pytest.fixture
def short(monkeypatch):
    """A battery of one drive."""
    monkeypatch.setattr(check, 'tasks', lambda robot, pace: battery.tasks(robot, pace)[:1])


def robot(tmp_path, *arguments):
    """Run the command; return exit code and JSON."""
    file = tmp_path / 'robot.json'
    code = main(['robot', *map(str, arguments), '--out', str(tmp_path), '--json', str(file)])
    return code, json.loads(file.read_text(encoding='utf-8'))


class Links(HTMLParser):
    """Collects anchors, links to them, and anything that is loaded from elsewhere."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.add(values.get('id'))
        if (values.get('href') or '').startswith('#') and tag == 'a':
            self.links.add(values['href'][1:])
        if tag in ('script', 'link', 'img', 'iframe'):
            self.loaded.add(tag)


def test_the_c3p_drives_on_both_plants(tmp_path, short, capsys):
    pytest.importorskip('mujoco')
    code, found = robot(tmp_path, 'c3p', '--write', tmp_path / 'lab.yaml')
    assert code == 0 and found['loads'] and found['driven_freedoms'] == 3
    assert found['torque_bound_nm'] == [1.2, 1.2, 1.2] and found['warnings'] == []
    assert list(found['battery']) == ['line', 'line_mujoco']
    for drive in found['battery'].values():
        assert set(drive) >= CONTRACT and drive['reached'] is True
    shown = capsys.readouterr()
    assert 'Yes, 2 of 2 drives' in shown.out
    # what was read before the drives, and each drive when it is done
    head, *drives = shown.err.splitlines()
    assert head == ('c3p: 3 wheels (3 driven), 34.8 kg, 3 of 3 freedoms, 0 warnings; drives with '
                    'mpc:')
    assert [row.split()[:2] for row in drives] == [['line', 'reached'],
                                                   ['line_mujoco', 'reached']]
    seconds = found['battery']['line']['time_s']
    assert f'reached in {seconds:.1f} s, true error ' in drives[0]
    page = (tmp_path / 'robot.html').read_text(encoding='utf-8')
    links = Links()
    links.feed(page)
    assert links.links <= links.anchors and not links.loaded
    assert 'http' not in re.sub(r'http://www\.w3\.org/\S+', '', page)
    assert load(tmp_path / 'lab.yaml').total_mass == load('c3p').total_mass


def test_without_battery_nothing_is_driven(tmp_path, capsys):
    code, found = robot(tmp_path, 'c3p', '--no-battery')
    assert code == 0 and found['battery'] == {} and found['reached'] is None
    assert 'The battery was not requested' in capsys.readouterr().out


def test_fewer_motors_than_freedoms_are_reported_before_moving(tmp_path, short, capsys):
    code, found = robot(tmp_path, 'c3p', '--robot-option', 'casters.driven=true,false,false')
    assert code == 1 and found['loads'] and found['driven_freedoms'] == 1
    assert any('1 of 3 freedoms' in text for text in found['warnings'])
    assert not any(drive['reached'] for drive in found['battery'].values())
    assert 'not driven: 1 of 3 freedoms' in capsys.readouterr().out


def test_a_motor_stronger_than_its_tyre_is_a_warning(tmp_path):
    _, found = robot(tmp_path, 'c3p', '--no-battery', '--robot-option',
                     'casters.torque_limit=100')
    assert max(found['torque_bound_nm']) < 2.0
    assert 'controllers use the smaller' in found['warnings'][0]
    # the page counts and lists what the terminal does
    page = next(tmp_path.rglob('robot.html')).read_text()
    assert '1 warning, ' in page and page.count('controllers use the smaller') == 1


def test_a_plant_that_is_missing_is_named_and_fails(tmp_path, short, monkeypatch, capsys):
    def missing():
        raise ValueError('the contact plant needs MuJoCo')

    monkeypatch.setattr('c3p_simulation.contact_plant.mujoco_plant.import_mujoco', missing)
    code, found = robot(tmp_path, 'c3p')
    assert code == 1 and found['battery']['line']['reached']
    assert found['battery']['line_mujoco']['failure'] == 'the contact plant needs MuJoCo'
    assert 'not driven: the contact plant needs MuJoCo' in capsys.readouterr().out


@pytest.mark.parametrize(('file', 'says'), [
    ('nobody', "robot 'nobody' is unknown"),
    ('missing.urdf', 'no such file'),
    ('agv', 'is a vehicle with two driven wheels'),
    ('broken.urdf', 'broken.urdf'),
])
def test_a_robot_that_does_not_load_is_one_line_and_a_json(file, says, tmp_path, monkeypatch,
                                                          capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'broken.urdf').write_text('<robot name="x"><link', encoding='utf-8')
    code, found = robot(tmp_path, file)
    assert code == 2 and found['loads'] is False and found['battery'] == {}
    assert len(found['warnings']) == 1 and says in found['warnings'][0]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says in lines[0]


MASSLESS = """<robot name="bare"><link name="base_link"/>
{}</robot>"""
MODULE = """<joint name="steer_{0}" type="continuous"><parent link="base_link"/>
<child link="fork_{0}"/><origin xyz="{1} {2} 0.05"/><axis xyz="0 0 1"/></joint>
<link name="fork_{0}"/>
<joint name="roll_{0}" type="continuous"><parent link="fork_{0}"/><child link="wheel_{0}"/>
<axis xyz="0 1 0"/></joint><link name="wheel_{0}"><collision><geometry><sphere radius="0.05"/>
</geometry></collision></link>
"""


def test_a_robot_without_masses_names_the_options_and_drives_with_them(tmp_path, short, capsys):
    file = tmp_path / 'bare.urdf'
    file.write_text(MASSLESS.format(''.join(
        MODULE.format(k, x, y) for k, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15),
                                                           (-0.2, 0.15), (-0.2, -0.15)]))))
    code, found = robot(tmp_path, file)
    text, = found['warnings']
    assert code == 2 and 'no link of the file has a mass' in text
    options = re.findall(r'--robot-option ([^ ,]+)', text)
    assert options[0] == 'platform.mass=20' and len(options) == 5
    # it is described without them
    code, found = robot(tmp_path, file, '--no-battery', '--write', str(tmp_path / 'bare.yaml'))
    assert code == 0 and any('no link of the file has a mass' in one for one in found['warnings'])
    assert load(str(tmp_path / 'bare.yaml')).count == 4
    # as printed, word for word
    given = [word for option in options for word in ('--robot-option', option)]
    code, found = robot(tmp_path, file, *given)
    assert code == 0 and found['total_mass_kg'] == pytest.approx(21.2)
    assert all(drive['reached'] for drive in found['battery'].values())


def test_an_option_of_a_wrong_form_is_one_line(tmp_path, capsys):
    code, found = robot(tmp_path, 'c3p', '--robot-option', 'tolerance')
    assert code == 2 and 'NAME=VALUE' in found['warnings'][0]
    assert len(capsys.readouterr().err.splitlines()) == 1
