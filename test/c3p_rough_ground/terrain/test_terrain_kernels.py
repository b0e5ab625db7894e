# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a ground: kernels against formulas, SciPy, finite differences, invariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import interpolate
from scipy.interpolate import BSpline, make_interp_spline
from terrain_formulas import ORDERS, bspline, formula
from terrain_list import ORIGIN, ROUGH, SPACING, TERRAINS

from c3p_rough_ground.rolling_contact import Ground
from c3p_rough_ground.terrain import (
    HeightMap,
    Hills,
    Incline,
    Plateau,
    SplineGround,
    Terrain,
    principal_curvatures,
)
from c3p_rough_ground.terrain import _kernels as kernels

PLACES = st.floats(-40, 60)


def compiled(terrain, x, y):
    return kernels.height(terrain.kind, terrain.parameters, terrain.table, x, y)


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
@given(x=PLACES, y=PLACES)
def test_kernels_give_the_numbers_of_the_formulas(terrain, x, y):
    expected = np.array(formula(terrain, x, y))
    # heights outside a map grow with its slopes: rounding is relative to them, and to 1/spacing²
    scale = np.array([1, 1, 1, 10, 10, 10]) * max(1.0, np.abs(terrain.table).max())
    np.testing.assert_array_less(np.abs(terrain.derivatives(x, y) - expected), 1e-12 * scale)


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
def test_plain_python_gives_the_compiled_numbers(terrain):
    plain = getattr(kernels.height, 'py_func', kernels.height)
    for x, y in ((0.3, 2.9), (-7.2, 1.4), (31.9, 80.1)):
        got = plain(terrain.kind, terrain.parameters, terrain.table, x, y)
        np.testing.assert_allclose(got, compiled(terrain, x, y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
def test_derivatives_are_those_of_the_height(terrain):
    # inside a cell of every net, 4th order: truncation 1e-12·g⁽⁵⁾, rounding 1e-16/1e-3
    x, y, step = 0.31, 2.93, 1e-3
    assert isinstance(terrain, Terrain)
    _, gx, gy, gxx, gxy, gyy = (float(d) for d in terrain.derivatives(x, y))

    def differences(index, dx, dy):
        at = [terrain.derivatives(x + k * dx * step, y + k * dy * step)[index]
              for k in (-2, -1, 1, 2)]
        return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)

    expected = [differences(0, 1, 0), differences(0, 0, 1), differences(1, 1, 0),
                differences(1, 0, 1), differences(2, 1, 0), differences(2, 0, 1)]
    np.testing.assert_allclose([gx, gy, gxx, gxy, gxy, gyy], expected, atol=1e-9)


@pytest.mark.skipif(not hasattr(interpolate, 'NdBSpline'), reason='needs SciPy 1.12')
@pytest.mark.parametrize('degree', [3, 5])
def test_spline_ground_is_scipys_tensor_spline(degree):
    ground = SplineGround(ROUGH, SPACING, ORIGIN, degree, 'hold')
    # knots half a support before the place of each coefficient
    knots = tuple(start + step * (np.arange(n + degree + 1) - (degree + 1) / 2)
                  for start, step, n in zip(ORIGIN, SPACING, ROUGH.shape, strict=True))
    spline = interpolate.NdBSpline(knots, ROUGH, degree)
    for place in ((0.33, 3.31), (0.9, 4.7)):
        expected = [float(spline(place, nu=order)) for order in ORDERS]
        np.testing.assert_allclose(compiled(ground, *place), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize('degree', [3, 5])
def test_height_map_is_scipys_spline_with_natural_ends(degree):
    ground = HeightMap(ROUGH, SPACING, ORIGIN, degree)
    x, y = (start + step * np.arange(n)
            for start, step, n in zip(ORIGIN, SPACING, ROUGH.shape, strict=True))
    # SciPy's own knots, which pile up at the ends
    for place in ((-1.0, 2.0), (-0.93, 6.35), (0.77, 3.3), (2.99, 2.01)):
        for order, got in zip(ORDERS, compiled(ground, *place), strict=True):
            rows = natural(x, ROUGH, degree)(place[0], order[0])
            expected = natural(y, rows, degree)(place[1], order[1])
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


def natural(places, values, degree):
    ends = [(order, np.zeros(values.shape[1:])) for order in range(2, degree, 2)]
    count, knots = len(places) + degree - 1, np.empty(len(places) + 2 * degree)
    knots[:degree], knots[degree:-degree], knots[-degree:] = places[0], places, places[-1]
    assert len(knots) == count + degree + 1
    return make_interp_spline(places, values, degree, t=knots, bc_type=(ends, ends))


def test_height_map_goes_through_its_heights():
    for degree in (3, 5):
        ground = HeightMap(ROUGH, SPACING, ORIGIN, degree)
        (x0, x1), (y0, y1) = ground.extent
        x, y = np.meshgrid(np.linspace(x0, x1, 9), np.linspace(y0, y1, 12), indexing='ij')
        np.testing.assert_allclose(ground.height(x, y), ROUGH, atol=1e-14)


@pytest.mark.parametrize(('name', 'order'), [('cubic', 2), ('quintic', 2), ('cubic_map', 2),
                                             ('quintic_map', 2), ('cubic_held', 2)])
def test_curvature_is_continuous_across_the_lines_of_the_net_and_the_edge(name, order):
    terrain, tiny = TERRAINS[name], 1e-9
    parameters = terrain.parameters
    for cell in (0, 4, 12, terrain.table.shape[0] - 1, terrain.table.shape[0]):
        x = parameters[0] + cell / parameters[2]
        before, after = (np.array(compiled(terrain, x + d, 2.345)) for d in (-tiny, tiny))
        # third derivatives of coefficients up to 2 m on 0.5 m
        np.testing.assert_allclose(before, after, atol=1e-6)


def test_a_repeating_ground_repeats():
    ground = SplineGround.random(1, spacing=0.5, shape=(7, 9), degree=5)
    for shift_x, shift_y in ((3.5, 0.0), (0.0, 4.5), (-350.0, 450.0)):
        np.testing.assert_allclose(compiled(ground, 0.3 + shift_x, -0.9 + shift_y),
                                   compiled(ground, 0.3, -0.9), atol=1e-11)


@pytest.mark.parametrize('name', ['cubic_held', 'quintic_held', 'cubic_map', 'quintic_map'])
def test_a_finite_ground_is_level_far_away(name):
    terrain = TERRAINS[name]
    far = np.array(compiled(terrain, 1e3, -1e3))
    np.testing.assert_allclose(far[1:], 0.0, atol=1e-12)
    assert abs(far[0] - terrain.table[-1, 0]) < 1e-12


def test_a_place_that_is_not_finite_gives_nan():
    for name in ('cubic', 'quintic_held', 'hills', 'plateau'):
        assert np.isnan(compiled(TERRAINS[name], np.nan, 1.0)[0])


@given(st.floats(-1.2e5, 1.2e5))
def test_sine_and_cosine_are_right_to_the_last_rounding(angle):
    g, gx, *_ = compiled(Hills([1.0], [[1.0, 0.0]], [0.0]), angle, 0.0)
    assert abs(g - np.cos(angle)) < 3e-16
    assert abs(gx + np.sin(angle)) < 3e-16


def test_basis_functions_are_scipys():
    t = np.linspace(-2.9, 2.9, 30)
    for degree in (3, 5):
        element = BSpline.basis_element(np.arange(degree + 2) - (degree + 1) / 2,
                                        extrapolate=False)
        for order in range(3):
            expected = np.nan_to_num(element.derivative(order)(t) if order else element(t))
            np.testing.assert_allclose(bspline(degree, order, t), expected, atol=1e-13)


def test_hills_are_a_sum_of_their_waves():
    hills = Hills([0.1, 0.2], [[1.0, 0.0], [0.5, 2.0]], [0.3, 0.4], 0.5)
    x, y = 1.2, -0.7
    expected = 0.5 + 0.1 * np.cos(x + 0.3) + 0.2 * np.cos(0.5 * x + 2.0 * y + 0.4)
    assert float(hills.height(x, y)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize('terrain', TERRAINS.values(), ids=TERRAINS)
def test_contact_normals_are_orthogonal_to_chords_of_the_surface(terrain):
    x, y, step = 0.31, 2.93, 1e-4
    normal = Ground(terrain).frame([x, y])[:, 2]
    assert normal[2] > 0.0 and np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-15)
    for angle in np.linspace(0.0, np.pi, 5):
        dx, dy = step * np.cos(angle), step * np.sin(angle)
        chord = np.array([2 * dx, 2 * dy, float(terrain.height(x + dx, y + dy))
                          - float(terrain.height(x - dx, y - dy))])
        # a central chord leaves the third derivative, below 10 1/m²
        assert abs(normal @ chord) / np.linalg.norm(chord) < 1e-7


def turned(parts, angle):
    """Return height, gradient and Hessian of a ground in axes turned by an angle."""
    g, gx, gy, gxx, gxy, gyy = parts
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    gradient, hessian = turn @ [gx, gy], turn @ [[gxx, gxy], [gxy, gyy]] @ turn.T
    return [g, *gradient, hessian[0, 0], hessian[0, 1], hessian[1, 1]]


@given(x=st.floats(-5, 5), y=st.floats(-5, 5), angle=st.floats(-3, 3))
def test_a_ground_turned_about_the_origin_has_turned_derivatives(x, y, angle):
    c, s = np.cos(angle), np.sin(angle)
    hills = TERRAINS['hills']
    pairs = [(Incline(0.4, 0.3), Incline(0.4, 0.3 + angle)),
             (Plateau(direction=0.35), Plateau(direction=0.35 + angle)),
             (hills, Hills(hills.amplitude, hills.wave_vector @ [[c, s], [-s, c]], hills.phase))]
    for ground, after in pairs:
        expected = ground.derivatives(x, y)
        got = turned(after.derivatives(c * x - s * y, s * x + c * y), angle)
        np.testing.assert_allclose(got, expected, atol=1e-11)
        # what rolling depends on does not turn
        np.testing.assert_allclose(principal_curvatures(*got[1:]),
                                   principal_curvatures(*expected[1:]), atol=1e-6)


@given(x=st.floats(-2, 4), y=st.floats(0, 6), scale=st.floats(0.2, 5.0))
def test_scaled_grounds_have_scaled_derivatives(x, y, scale):
    spacing, origin = scale * np.array(SPACING), scale * np.array(ORIGIN)
    for degree in (3, 5):
        ground = HeightMap(ROUGH, SPACING, ORIGIN, degree)
        larger = HeightMap(scale * ROUGH, spacing, tuple(origin), degree)
        expected = np.array(ground.derivatives(x, y)) * [scale, 1, 1, *[1 / scale] * 3]
        np.testing.assert_allclose(larger.derivatives(scale * x, scale * y), expected,
                                   rtol=1e-9, atol=1e-9 / scale)
