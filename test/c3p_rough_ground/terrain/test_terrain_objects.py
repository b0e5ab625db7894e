# SPDX-License-Identifier: Apache-2.0
"""Terrains as values: random ones, lengths that bound a step, meshes, refusals."""

import pickle

import numpy as np
import pytest
from terrain_list import ROUGH, TERRAINS

from c3p_rough_ground.terrain import (
    Flat,
    HeightMap,
    Hills,
    Incline,
    Plateau,
    SplineGround,
    TerrainError,
    grid_mesh,
    height_grid,
    principal_curvatures,
)


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
def test_places_broadcast_and_numbers_are_read_only(terrain):
    x, y = np.linspace(0, 1, 3)[:, None], np.linspace(2, 3, 4)
    parts = terrain.derivatives(x, y)
    assert [part.shape for part in parts] == [(3, 4)] * 6
    np.testing.assert_array_equal(terrain.height(x, y), parts[0])
    assert terrain.height(x, y)[1, 2] == pytest.approx(float(terrain.height(0.5, y[2])), abs=1e-14)
    for array in (terrain.parameters, terrain.table):
        assert array.dtype == float and array.flags.c_contiguous and not array.flags.writeable


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
def test_terrains_can_be_sent_to_other_processes(terrain):
    again = pickle.loads(pickle.dumps(terrain))
    np.testing.assert_array_equal(again.derivatives(0.4, 2.5), terrain.derivatives(0.4, 2.5))


def test_plateau_is_the_papers():
    # 32° at the steepest, 1 m up
    plateau = Plateau()
    _, slope, *_ = plateau.derivatives(3.0, 0.0)
    assert np.degrees(np.arctan(slope)) == pytest.approx(32.0, abs=0.1)
    np.testing.assert_allclose(plateau.height([-1e3, 3.0, 1e3], 0.0), [0.0, 0.5, 1.0])


def test_an_incline_rises_in_its_direction():
    incline = Incline(0.5, np.radians(90.0))
    np.testing.assert_allclose(incline.height([0.0, 3.0], [2.0, 2.0]), 1.0)


def test_the_same_seed_gives_the_same_ground_and_another_one_another():
    for make in (Hills.random, SplineGround.random):
        first, again, other = (make(seed).height(1.1, 2.2) for seed in (4, 4, 5))
        assert first == again != other


def test_random_hills_keep_their_amplitude_and_wavelength():
    hills = Hills.random(1, amplitude=0.4, wavelength=3.0, count=9)
    assert np.sum(hills.amplitude) == pytest.approx(0.4)
    lengths = 2 * np.pi / np.linalg.norm(hills.wave_vector, axis=1)
    assert 3.0 <= lengths.min() and lengths.max() <= 6.0
    assert hills.feature_length == pytest.approx(lengths.min() / (2 * np.pi))
    x, y = np.random.default_rng(0).uniform(-50, 50, (2, 1000))
    assert np.max(np.abs(hills.height(x, y))) < 0.4


def test_random_spline_ground_stays_within_its_amplitude():
    ground = SplineGround.random(3, amplitude=0.2)
    x, y = np.random.default_rng(0).uniform(-50, 50, (2, 1000))
    assert np.max(np.abs(ground.height(x, y))) < 0.2


def test_smallest_radius_of_a_plateau_is_found():
    # |g''| is greatest where tanh² = 1/3, but a slope there makes the radius larger
    q = np.linspace(-3, 3, 20001)
    first = 0.5 / 0.8 / np.cosh(q) ** 2
    second = -2 * np.tanh(q) * first / 0.8
    expected = 1 / np.max(np.abs(second) / (1 + first**2) ** 1.5)
    for direction in (0.0, 0.35, 2.0):
        assert Plateau(direction=direction).smallest_radius == pytest.approx(expected, rel=5e-3)
    assert Flat().smallest_radius == Incline(1.0).smallest_radius == np.inf


def test_principal_curvatures_of_a_sphere_are_its_own():
    radius, x, y = 2.0, 0.7, -0.9
    z = np.sqrt(radius**2 - x**2 - y**2)
    # g = −√(R² − x² − y²): the bowl
    gx, gy = x / z, y / z
    curvatures = principal_curvatures(gx, gy, (1 + gx**2) / z, gx * gy / z, (1 + gy**2) / z)
    # the square root of the rounding of a difference that should be zero
    np.testing.assert_allclose(curvatures, 1 / radius, atol=3e-8)


def test_a_mesh_lies_on_the_ground_and_faces_up():
    terrain = TERRAINS['hills']
    mesh = grid_mesh(terrain, (-1.0, 1.0), (0.0, 1.5), 0.1)
    assert len(mesh.vertices) == 21 * 16 and len(mesh.triangles) == 2 * 20 * 15
    x, y, z = mesh.vertices.T
    np.testing.assert_allclose(z, terrain.height(x, y), atol=1e-14)
    corners = mesh.vertices[mesh.triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    # every cell is covered once, counterclockwise from above
    np.testing.assert_allclose(area[:, 2], 0.1**2, rtol=1e-9)
    facing = area / np.linalg.norm(area, axis=1)[:, None]
    # flat triangles turn by less than a cell times the curvature from the true normal
    bound = 2 * 0.1 / terrain.smallest_radius
    assert np.min(np.sum(facing * mesh.normals[mesh.triangles[:, 0]], 1)) > np.cos(bound)


def test_a_range_that_is_no_whole_number_of_cells_ends_where_it_says():
    mesh = grid_mesh(Flat(), (0.0, 1.0), (0.0, 0.25), 0.3)
    assert mesh.vertices[:, 0].max() == 1.0 and mesh.vertices[:, 1].max() == 0.25
    assert len(np.unique(mesh.vertices[:, 0])) == 5


HOLES = ROUGH.copy()
HOLES[3, 7] = np.nan
ENDLESS = ROUGH.copy()
ENDLESS[0, 0] = np.inf


@pytest.mark.parametrize(('make', 'words'), [
    (lambda: HeightMap(HOLES, 0.5), ['heights[3, 7] = nan', 'x = 1.5, y = 3.5', 'fill the holes']),
    (lambda: HeightMap(ENDLESS), ['heights[0, 0] = inf']),
    (lambda: SplineGround(HOLES), ['SplineGround', 'heights[3, 7] = nan']),
    (lambda: HeightMap(ROUGH, 0.0), ['spacing_x = 0.0', 'greater than zero']),
    (lambda: HeightMap(ROUGH, (0.5, -1.0)), ['spacing_y = -1.0']),
    (lambda: HeightMap(ROUGH, (1, 2, 3)), ['spacing = (1, 2, 3)']),
    (lambda: HeightMap(ROUGH, 1.0, (0.0, np.nan)), ['origin_y = nan']),
    (lambda: HeightMap(ROUGH[0]), ['shape (12,)', 'at least 4']),
    (lambda: HeightMap(ROUGH[:5], degree=5), ['shape (5, 12)', 'at least 6']),
    (lambda: HeightMap(ROUGH, degree=4), ['degree = 4', '3 (', '5 (']),
    (lambda: HeightMap(ROUGH, margin=0), ['margin = 0']),
    (lambda: SplineGround(ROUGH, continuation='mirror'), ["'mirror'", 'repeat, hold']),
    (lambda: SplineGround.random(1, amplitude=-1.0), ['amplitude = -1.0']),
    (lambda: Flat(np.nan), ['level = nan']),
    (lambda: Flat('high'), ["level = 'high'"]),
    (lambda: Incline(np.inf), ['slope = inf']),
    (lambda: Plateau(width=0.0), ['width = 0.0', 'no curvature']),
    (lambda: Plateau(rise=np.inf), ['rise = inf']),
    (lambda: Hills([], np.zeros((0, 2)), []), ['n ≥ 1 waves']),
    (lambda: Hills([1.0], [1.0, 2.0], [0.0]), ['wave_vector has the shape (2,)']),
    (lambda: Hills([1.0], [[1.0, np.nan]], [0.0]), ['wave_vector[0, 1] = nan']),
    (lambda: Hills.random(1, count=0), ['count = 0']),
    (lambda: height_grid(Flat(), (1.0, 0.0), (0, 1), (2, 2)), ['x_range = (1.0, 0.0)']),
    (lambda: height_grid(Flat(), (0, 1), (0, 1), (1, 2)), ['1 × 2 points']),
    (lambda: grid_mesh(Flat(), (0, 1), (0, 1), 0.0), ['spacing = 0.0']),
    (lambda: grid_mesh(Flat(), (0, 1e5), (0, 1e5), 0.1), ['a larger spacing']),
    (lambda: TERRAINS['cubic'].height(np.nan, 0.0), ['not finite']),
])
def test_what_cannot_be_is_refused_with_value_and_remedy(make, words):
    with pytest.raises(TerrainError) as raised:
        make()
    for word in words:
        assert word in str(raised.value)
