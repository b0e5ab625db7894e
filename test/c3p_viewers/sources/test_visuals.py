# SPDX-License-Identifier: Apache-2.0
"""Descriptions from elsewhere: what is drawn of them, and which files are given out."""

import numpy as np
import pytest

pytest.importorskip('trimesh', reason='pip install .[view]')

from c3p_description.model import ModelError  # noqa: E402
from c3p_description.reading.files import share_file  # noqa: E402
from c3p_viewers.mujoco.urdf import mujoco_urdf  # noqa: E402
from c3p_viewers.sources import visuals as urdf_visuals  # noqa: E402
from c3p_viewers.sources.visuals import visuals  # noqa: E402

TYRE = 'package://c3p/c3p_description/meshes/tyre.stl'


def urdf(geometry, origin=''):
    """Return a robot of one visual."""
    return (f'<robot name="r"><link name="a"><visual>{origin}<geometry>{geometry}</geometry>'
            '</visual></link></robot>')


@pytest.mark.parametrize('geometry', [
    '<sphere/>', '<sphere radius="big"/>', '<cylinder radius="1"/>', '<box size="1 2"/>',
    '<sphere radius="nan"/>', '<sphere radius="1e300"/>',
    f'<mesh filename="{TYRE}" scale="1 1"/>'])
def test_numbers_that_cannot_be_used_are_told_with_their_place(geometry):
    with pytest.raises(ModelError, match="link 'a' visual 1"):
        visuals(urdf(geometry))


@pytest.mark.parametrize('origin', ['<origin xyz="1 2"/>', '<origin rpy="0 0 up"/>'])
def test_an_origin_without_three_numbers_is_told(origin):
    with pytest.raises(ModelError, match='origin'):
        visuals(urdf('<sphere radius="1"/>', origin))


@pytest.mark.parametrize(('name', 'content'), [
    ('a.stl', b''), ('a.stl', b'solid\n' * 9), ('a.dae', b'<COLLADA/>'), ('a.obj', b'f 1 2 3'),
    ('a.zip', b'PK\3\4'), ('a.ply', b'ply\nelement vertex 1000000000000\nend_header\n'),
    ('a.dae', b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA>&b;</COLLADA>')])
def test_a_mesh_that_is_damaged_or_of_another_kind_is_left_out(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    (tmp_path / 'robot.urdf').write_text('<robot name="r"/>')
    assert visuals(urdf(f'<mesh filename="{name}"/>'), tmp_path / 'robot.urdf') == []


def test_materials_that_a_mesh_names_are_not_read(tmp_path, monkeypatch):
    import builtins
    (tmp_path / 'a.obj').write_text('mtllib ../secret.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\n'
                                    'f 1 2 3\n')
    (tmp_path.parent / 'secret.mtl').write_text('newmtl x\nKd 1 0 0\n')
    (tmp_path / 'robot.urdf').write_text('<robot name="r"/>')
    opened, before = [], builtins.open
    monkeypatch.setattr(builtins, 'open', lambda *a, **k: opened.append(str(a[0])) or before(
        *a, **k))
    found, = visuals(urdf('<mesh filename="a.obj"/>'), tmp_path / 'robot.urdf')
    np.testing.assert_allclose(found.vertices, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert not [name for name in opened if 'secret' in name]


def test_more_triangles_than_can_be_drawn_are_refused(monkeypatch):
    monkeypatch.setattr(urdf_visuals, 'MOST_TRIANGLES', 2000)
    assert len(visuals(urdf('<sphere radius="1"/>'))) == 1
    twice = urdf('<sphere radius="1"/>').replace('</visual>', '</visual><visual><geometry><sphere '
                                                 'radius="2"/></geometry></visual>')
    with pytest.raises(ModelError, match='more than 2000 triangles'):
        visuals(twice)


def test_mujoco_gets_a_description_that_names_no_files():
    text, meshes = mujoco_urdf(
        '<robot name="r"><mujoco><compiler meshdir="/etc"/></mujoco><link name="a">'
        f'<visual><geometry><mesh scale="1 1 1" filename="{TYRE}"/></geometry></visual>'
        "<collision><geometry><mesh filename='file:///etc/passwd.stl'/></geometry></collision>"
        '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'
        '<material name="m"><texture filename="/etc/picture.png"/></material></robot>')
    assert list(meshes) == ['tyre_1.stl'] and 'etc' not in text and 'filename="tyre_1.stl"' in text
    assert meshes['tyre_1.stl'] == share_file('c3p_description/meshes/tyre.stl').read_bytes()
    assert text.count('<visual>') == 2 and '<collision>' not in text


def test_the_foxglove_server_gives_out_meshes_only(tmp_path):
    pytest.importorskip('foxglove', reason='pip install .[view]')
    from c3p_viewers.foxglove.server import FoxgloveServer

    (tmp_path / 'robot.urdf').write_text('<robot name="r"/>')
    (tmp_path / 'plate.stl').write_bytes(b'plate')
    named = [TYRE, 'file:///etc/passwd', 'package://c3p/../../../etc/hostname', 'plate.stl',
             'package://c3p/c3p_description/robots/c3p.yaml']
    text = ''.join(f'<mesh filename="{uri}"/>' for uri in named)
    for robot, given in (('c3p', [TYRE]), (tmp_path / 'robot.urdf', [TYRE, 'plate.stl'])):
        server = FoxgloveServer('r', port=0, description=text, robot=robot)
        try:
            assert [uri for uri in named if server.asset(uri) is not None] == given
            # a mesh that is there, but not named
            assert server.asset(TYRE.replace('tyre', 'arrow')) is None
        finally:
            server.close()
