# SPDX-License-Identifier: Apache-2.0
"""Files from elsewhere on the command line: one line and exit code 2, and no code runs."""

import shutil

import numpy as np
import pytest
import yaml

pytest.importorskip('xacro', reason='pip install .[sim]')

from bag_kinds import lay, messages, write_plain  # noqa: E402

from c3p_bringup.cli.main import main  # noqa: E402

EVIL = """<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="x" value="${{(lambda: __import__('os').system('touch {mark}'))()}}"/>
<xacro:property name="y" value="${{(lambda f=(lambda: 0): f.__globals__['__builtins__'])()}}"/>
<link name="${{x}}${{y}}"/></robot>"""


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sound')
    return write_plain(folder / 'bag', messages(folder))


@pytest.fixture
def bag(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / 'bag')


def refused(capsys, *arguments):
    """Return the line with which a command was refused."""
    assert main([str(a) for a in arguments]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    told = [line for line in told if line.startswith('c3p ')]
    assert len(told) == 1 and len(told[0]) < 1000
    return told[0]


def name_robot(bag, name):
    content = yaml.safe_load((bag / 'metadata.yaml').read_text())
    content['rosbag2_bagfile_information']['custom_data'] = {'c3p_robot': name}
    (bag / 'metadata.yaml').write_text(yaml.safe_dump(content))


@pytest.mark.parametrize('name', ['bag/robot.xacro', 'robot.xacro', '{bag}/robot.xacro'])
def test_a_bag_cannot_run_code(bag, tmp_path, monkeypatch, name):
    pytest.importorskip('rerun', reason='pip install .[view]')
    monkeypatch.chdir(tmp_path)
    (bag / 'robot.xacro').write_text(EVIL.format(mark=tmp_path / 'ran'))
    shutil.copy(bag / 'robot.xacro', tmp_path)
    name_robot(bag, name.format(bag=bag))
    # the odometry of this bag is not that of the suite, so the second one finds a difference
    for code, command in ((0, ['view', bag, '--save', tmp_path / 'a.rrd']),
                          (1, ['recompute', bag])):
        assert main([str(a) for a in command]) == code
    assert not (tmp_path / 'ran').exists()


def damages(bag):
    """Yield damaged copies of a bag with what is wrong."""
    file = next(bag.glob('*.mcap'))
    data = file.read_bytes()
    files = {p.name: p.read_bytes() for p in bag.iterdir()}
    place = data.find(b'\x06', 40)
    for k, changed in enumerate((
            b'', data[:8], data[:len(data) // 2], np.random.default_rng(1).bytes(3000),
            data[:place + 1] + (2**62).to_bytes(8, 'little') + data[place + 9:],
            data[:place + 25] + (2**40).to_bytes(8, 'little') + data[place + 33:])):
        yield lay(files, bag.with_name(f'damaged_{k}'), file.name, changed)


@pytest.mark.parametrize('command', ['report', 'recompute', 'view', 'film'])
def test_damaged_bags_are_refused_in_one_line(bag, tmp_path, capsys, command):
    more = {'report': ['--out', tmp_path / 'out'], 'view': ['--save', tmp_path / 'a.rrd'],
            'film': ['--out', tmp_path / 'a.png']}.get(command, [])
    for damaged in damages(bag):
        assert str(damaged) in refused(capsys, command, damaged, *more)


@pytest.mark.parametrize(('name', 'content'), [
    ('a.urdf', b'<robot name="\xff\xfe"/>'), ('a.urdf', b''), ('a.yaml', b'\xff'),
    ('a.yaml', b'extends: c3p\nplatform: {mass: 1.0e+308}'),
    ('a.yaml', b'extends: c3p\ncasters: {wheel_radius: 1.0e-320}'),
    ('a.xacro', b'<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">${nothing}</robot>'),
    ('a.xacro', b'')])
def test_robots_that_cannot_be_are_refused_in_one_line(tmp_path, capsys, name, content):
    (tmp_path / name).write_bytes(content)
    assert name in refused(capsys, 'experiment', 'line', '--robot', tmp_path / name, '--out',
                           tmp_path / 'out')


def test_a_parameter_of_another_type_is_refused(bag, capsys):
    assert 'robust' in refused(capsys, 'recompute', bag, '--set', 'robust=maybe')
    assert 'wheel_counts' in refused(capsys, 'recompute', bag, '--set', 'wheel_counts=0')


def test_a_description_that_cannot_be_used_names_the_remedy(bag, tmp_path, capsys):
    found = [m for m in messages(tmp_path) if m[0] not in (
        '/robot_description', '/recorder/parameters')]
    other = write_plain(tmp_path / 'other', found)
    name_robot(other, 'ours.yaml')
    for command in ('report', 'recompute', 'view', 'film'):
        assert '--robot' in refused(capsys, command, other)
