# SPDX-License-Identifier: Apache-2.0
"""Robot files that are written read back to the same robot."""

import numpy as np
import pytest

from c3p_description import load
from c3p_description.reading.loader import describe
from c3p_experiments.robots.robot_yaml import write_robot

WHEEL = """
<link name="fork_{i}"><inertial><origin xyz="-0.02 0 0"/><mass value="0.6"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="steer_{i}" type="continuous"><parent link="base_link"/><child link="fork_{i}"/>
<origin xyz="{x} {y} 0"/><axis xyz="0 0 -1"/></joint>
<link name="tyre_{i}"><inertial><mass value="0.5"/>
<inertia ixx="5e-4" iyy="9e-4" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.06" length="0.03"/>
</geometry></collision></link>
<joint name="wheel_{i}" type="continuous"><parent link="fork_{i}"/><child link="tyre_{i}"/>
<origin xyz="-0.05 0 -0.04"/><axis xyz="0 1 0"/>{limit}
<dynamics damping="0.0021" friction="0.0503"/></joint>"""


def urdf(limits=('<limit effort="2.5" velocity="21"/>',) * 4, name='mule'):
    """Return the URDF of a rectangular robot with four casters; `limits` of its wheel joints."""
    hips = ((0.36, 0.24), (0.36, -0.24), (-0.33, 0.2), (-0.33, -0.2))
    wheels = ''.join(WHEEL.format(i=i, x=x, y=y, limit=limit)
                     for i, ((x, y), limit) in enumerate(zip(hips, limits, strict=True)))
    return (f'<robot name="{name}"><link name="base_link"><inertial><origin xyz="0.01 0 0.2"/>'
            '<mass value="36"/><inertia ixx="1" iyy="2" izz="2.6" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial></link>{wheels}</robot>')


def assert_same(one, other):
    for name in one.__dataclass_fields__:
        a, b = (r.losses if name == 'friction' else getattr(r, name) for r in (one, other))
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize(('source', 'options'), [
    ('mule.urdf', {}),
    ('mule.urdf', {'driven': ['wheel_0', 'wheel_1', 'wheel_3'], 'wheel_radius': 0.0625}),
    ('mule.urdf', {'casters.torque_limit': [1.0, 2.0, 3.0, float('inf')],
                   'platform.com': [0.0125, -1e-05]}),
    ('c3p', {}),
    ('c3p', {'casters.torque_limit': 0.1 + 0.2, 'platform.mass': 28.5}),
])
def test_a_written_robot_reads_back_to_the_same_bits(source, options, tmp_path):
    (tmp_path / 'mule.urdf').write_text(urdf(), encoding='utf-8')
    source = str(tmp_path / source) if source.endswith('.urdf') else source
    reading = describe(source, options)
    path = tmp_path / 'lab' / 'robot.yaml'
    write_robot(reading.robot, reading.notes, source, options, path)
    assert_same(reading.robot, load(path))
    # and what extends it, with nothing of its own
    again = tmp_path / 'again.yaml'
    write_robot(load(path), (), str(path), {}, again)
    assert_same(reading.robot, load(again))


def test_a_folder_with_description_and_robot_file_can_be_moved(tmp_path):
    (tmp_path / 'a').mkdir()
    (tmp_path / 'a' / 'mule.urdf').write_text(urdf(), encoding='utf-8')
    reading = describe(tmp_path / 'a' / 'mule.urdf')
    write_robot(reading.robot, reading.notes, str(tmp_path / 'a' / 'mule.urdf'), {},
                tmp_path / 'a' / 'lab.yaml')
    (tmp_path / 'a').rename(tmp_path / 'b')
    assert_same(reading.robot, load(tmp_path / 'b' / 'lab.yaml'))


@pytest.mark.parametrize('name', ['robot.txt', 'mule.urdf'])
def test_a_file_that_is_no_robot_file_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r'--write .*'):
        write_robot(load('c3p'), (), str(tmp_path / 'mule.urdf'), {}, tmp_path / name)


def test_the_source_is_not_overwritten(tmp_path):
    path = tmp_path / 'lab.yaml'
    path.write_text('extends: c3p\n', encoding='utf-8')
    with pytest.raises(ValueError, match='name another file'):
        write_robot(load(path), (), str(path), {}, path)
    assert path.read_text(encoding='utf-8') == 'extends: c3p\n'
