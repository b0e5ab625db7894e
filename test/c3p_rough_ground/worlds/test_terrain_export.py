# SPDX-License-Identifier: Apache-2.0
"""Terrains written for other programs are where they were: meshes and MuJoCo."""


import numpy as np
import pytest

from c3p_rough_ground.terrain import Flat, TerrainError
from c3p_rough_ground.worlds.terrain_export import write_mesh, write_mujoco
from c3p_rough_ground.worlds.terrain_files import load_terrain

# not square and not around the origin, so that no axis can stand for another
X, Y = (-2.0, 5.0), (1.0, 5.0)
HILLS = load_terrain('hills')


def corners(terrain, shape):
    x, y = np.linspace(*X, shape[0]), np.linspace(*Y, shape[1])
    x, y = np.meshgrid(x, y, indexing='ij')
    return x, y, terrain.height(x, y)


def test_obj_has_the_mesh(tmp_path):
    mesh = write_mesh(HILLS, tmp_path / 'hills.obj', X, Y, 0.5)
    lines = [line.split() for line in (tmp_path / 'hills.obj').read_text().splitlines()]
    vertices = np.array([line[1:] for line in lines if line[0] == 'v'], float)
    normals = np.array([line[1:] for line in lines if line[0] == 'vn'], float)
    faces = [[corner.split('//') for corner in line[1:]] for line in lines if line[0] == 'f']
    np.testing.assert_allclose(vertices, mesh.vertices, atol=1e-8)
    np.testing.assert_allclose(normals, mesh.normals, atol=1e-5)
    np.testing.assert_array_equal(np.array(faces, int)[..., 0] - 1, mesh.triangles)
    np.testing.assert_array_equal(np.array(faces)[..., 0], np.array(faces)[..., 1])


def test_stl_has_the_triangles_with_their_normals(tmp_path):
    mesh = write_mesh(HILLS, tmp_path / 'hills.stl', X, Y, 0.5)
    data = (tmp_path / 'hills.stl').read_bytes()
    # 80 bytes of header, the number of triangles, 50 bytes each
    assert len(data) == 84 + 50 * len(mesh.triangles)
    assert int.from_bytes(data[80:84], 'little') == len(mesh.triangles)
    facets = np.frombuffer(data[84:], np.uint8).reshape(-1, 50)[:, :48].copy().view('<f4')
    points = facets[:, 3:].reshape(-1, 3, 3)
    np.testing.assert_allclose(points, mesh.vertices[mesh.triangles], atol=1e-6)
    across = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    np.testing.assert_allclose(facets[:, :3] * np.linalg.norm(across, axis=1)[:, None], across,
                               atol=1e-6)
    assert np.all(facets[:, 2] > 0)


def test_another_mesh_suffix_is_refused(tmp_path):
    with pytest.raises(TerrainError, match='written as .obj or .stl'):
        write_mesh(HILLS, tmp_path / 'hills.dae', X, Y, 0.5)


def heights_by_rays(model, places):
    """Return the heights at which vertical rays meet a MuJoCo model."""
    mujoco = pytest.importorskip('mujoco')
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    geom = np.zeros(1, np.int32)
    # newer versions have room for the normal in a last argument
    last = [None] if 'normal' in mujoco.mj_ray.__doc__ else []
    return np.array([10.0 - mujoco.mj_ray(model, data, np.array([x, y, 10.0]),
                                          np.array([0.0, 0.0, -1.0]), None, 1, -1, geom, *last)
                     for x, y in places])


@pytest.mark.parametrize('name', ['hills', 'plateau_20deg', 'random'])
def test_rays_in_mujoco_meet_the_ground_where_it_is(tmp_path, name):
    mujoco = pytest.importorskip('mujoco')
    terrain, shape = load_terrain(name), (141, 81)
    write_mujoco(terrain, tmp_path / 'ground.xml', X, Y, shape)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / 'ground.xml'))
    assert (model.hfield_nrow[0], model.hfield_ncol[0]) == (81, 141)
    generator = np.random.default_rng(1)
    # a triangle of 5 cm cuts corners by cell²/(8 R) along each axis
    places = np.column_stack([generator.uniform(*X, 60), generator.uniform(*Y, 60)])
    bound = 2 * 0.05**2 / (8 * terrain.smallest_radius) * 2
    np.testing.assert_allclose(heights_by_rays(model, places), terrain.height(*places.T),
                               atol=bound)
    # at the points themselves (a hair inside, where the ray meets one triangle) single precision
    inner = np.array([[X[0] + 0.05 * i, Y[0] + 0.05 * j] for i in (3, 70, 130)
                      for j in (2, 41, 77)]) + [1e-7, 2e-7]
    np.testing.assert_allclose(heights_by_rays(model, inner), terrain.height(*inner.T), atol=2e-6)


def test_mujoco_takes_a_level_ground(tmp_path):
    mujoco = pytest.importorskip('mujoco')
    write_mujoco(Flat(0.7), tmp_path / 'flat.xml', X, Y, (5, 5))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / 'flat.xml'))
    np.testing.assert_allclose(heights_by_rays(model, [(0.1, 2.1), (4.0, 4.5)]), 0.7, atol=1e-6)
