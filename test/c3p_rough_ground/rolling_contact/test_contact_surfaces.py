# SPDX-License-Identifier: Apache-2.0
"""M, K and T of the surfaces: against SymPy, the definitions and the printed closed forms."""

import numpy as np
import pytest
import sympy as sp
from contact_oracles import TriaxialEllipsoid
from contact_pairs import GROUNDS, WHEELS, contacts, derivative
from hypothesis import given

from c3p_rough_ground.rolling_contact import (
    CappedCylinder,
    Ellipsoid,
    Ground,
    Surface,
    SurfaceError,
    Torus,
    sphere,
)
from c3p_rough_ground.terrain import Flat, Plateau

ALL = {**{name: wheel for name, (wheel, _) in WHEELS.items()}, **GROUNDS}
# differences of 8th order on lengths down to 3 cm, as in test_contact_rates.py
DIFFERENCES = 1e-9


def fundamental_forms(chart, symbols, place):
    """Return the first and second fundamental forms by SymPy, as numbers."""
    f = sp.Matrix(chart)
    tangents = [f.diff(q) for q in symbols]
    normal = tangents[0].cross(tangents[1])
    normal = normal / sp.sqrt(normal.dot(normal))
    values = dict(zip(symbols, map(sp.Float, place), strict=True))
    first = sp.Matrix(2, 2, lambda i, j: tangents[i].dot(tangents[j]))
    second = sp.Matrix(2, 2, lambda i, j: normal.dot(f.diff(symbols[i], symbols[j])))
    return [np.array(form.subs(values).evalf(30)).astype(float) for form in (first, second)]


U, V = sp.symbols('u v')
SYMBOLIC = {
    'torus': (Torus(0.25, 0.05), ((0.25 + 0.05 * sp.cos(V)) * sp.cos(U), 0.05 * sp.sin(V),
                                  -(0.25 + 0.05 * sp.cos(V)) * sp.sin(U))),
    'triaxial': (TriaxialEllipsoid((0.3, 0.1, 0.25)),
                 (0.3 * sp.cos(U) * sp.cos(V), 0.1 * sp.sin(V), -0.25 * sp.sin(U) * sp.cos(V))),
    'plateau': (Ground(Plateau(1.2, 0.7, 0.5, 0.3)),
                (U, V, 0.6 * (1 + sp.tanh((U * sp.cos(0.3) + V * sp.sin(0.3) - 0.5) / 0.7)))),
}


@pytest.mark.parametrize('name', SYMBOLIC)
def test_metric_and_curvature_are_the_fundamental_forms(name):
    surface, chart = SYMBOLIC[name]
    place = [0.4, 0.3]
    first, second = fundamental_forms(chart, (U, V), place)
    metric, curvature = surface.metric(place), surface.curvature(place)
    np.testing.assert_allclose(metric.T @ metric, first, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(metric.T @ curvature @ metric, -second, rtol=1e-13, atol=1e-15)


@given(contacts())
def test_curvature_and_torsion_are_the_turning_of_the_contact_frame(case):
    for surface, place, rate in ((WHEELS[case[0]][0], case[2][:2], case[3][:2]),
                                 (GROUNDS[case[1]], case[2][2:4], case[3][2:4])):
        frame = surface.frame(place)
        turning = frame.T @ derivative(lambda t, s=surface, p=place, r=rate: s.frame(p + t * r))
        moved = derivative(lambda t, s=surface, p=place, r=rate: s.point(p + t * r))
        along = surface.metric(place) @ rate
        np.testing.assert_allclose(frame.T @ moved, [*along, 0.0], atol=DIFFERENCES)
        np.testing.assert_allclose(turning[:2, 2], surface.curvature(place) @ along,
                                   atol=DIFFERENCES)
        np.testing.assert_allclose(turning[1, 0], surface.torsion(place) @ along,
                                   atol=DIFFERENCES)


@pytest.mark.parametrize('surface', ALL.values(), ids=ALL)
def test_every_surface_has_the_protocol_and_right_handed_frames(surface):
    assert isinstance(surface, Surface)
    frame = surface.frame([0.05, 0.06])
    np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-14)
    assert np.linalg.det(frame) > 0
    assert surface.metric([0.05, 0.06])[1, 0] == 0


@pytest.mark.parametrize('name', WHEELS)
def test_wheel_normals_point_outward_and_ground_normals_up(name):
    wheel, (low, high) = WHEELS[name]
    place = [0.7, 0.5 * (low + high)]
    assert wheel.point(place) @ wheel.frame(place)[:, 2] > 0
    assert GROUNDS['hills'].frame([1.0, 2.0])[2, 2] > 0


def test_torus_has_the_printed_forms():
    v, radius, tube = 0.4, 0.25, 0.05
    r = radius + tube * np.cos(v)
    surface = Torus(radius, tube)
    np.testing.assert_allclose(surface.metric([1, v]), np.diag([r, tube]), atol=1e-16)
    np.testing.assert_allclose(surface.curvature([1, v]), np.diag([np.cos(v) / r, 1 / tube]),
                               atol=1e-13)
    np.testing.assert_allclose(surface.torsion([1, v]), [np.sin(v) / r, 0], atol=1e-15)


def test_an_ellipsoid_with_equal_axes_is_a_sphere():
    place = [0.3, 0.8]
    for name in ('point', 'frame', 'metric', 'curvature', 'torsion'):
        expected = getattr(sphere(0.2), name)(place)
        for surface in (Ellipsoid(0.2, 0.2), TriaxialEllipsoid((0.2, 0.2, 0.2))):
            np.testing.assert_allclose(getattr(surface, name)(place), expected, atol=1e-13)


def test_the_edge_of_a_cylinder_begins_where_its_flat_ends():
    wheel, tiny = CappedCylinder(0.3, 0.04, 0.03), 1e-9
    for side in (-1, 1):
        before, after = (wheel.frame([0.2, side * (0.04 + d)]) for d in (-tiny, tiny))
        # the frame turns by v/edge radius
        np.testing.assert_allclose(before, after, atol=1e-7)
        assert wheel.curvature([0.2, side * 0.03])[1, 1] == 0
        assert wheel.curvature([0.2, side * 0.05])[1, 1] == pytest.approx(1 / 0.03)
    assert wheel.outer_radius == 0.3


@pytest.mark.parametrize(('make', 'words'), [
    (lambda: Torus(0.25, 0.0), 'tube_radius = 0.0'),
    (lambda: Torus(-0.25, 0.05), 'radius = -0.25'),
    (lambda: sphere(np.nan), 'tube_radius = nan'),
    (lambda: Ellipsoid(0.3, np.inf), 'half_width = inf'),
    (lambda: CappedCylinder(0.3, 0.0, 0.01), 'half_flat = 0.0'),
    (lambda: CappedCylinder(0.3, 0.1, 0.3), 'smaller than radius = 0.3 m'),
])
def test_lengths_that_cannot_be_are_named(make, words):
    with pytest.raises(SurfaceError, match=words.replace('.', r'\.')):
        make()


@pytest.mark.parametrize('surface', [Ellipsoid(0.3, 0.1), Ground(Flat())])
def test_a_place_without_a_frame_is_named(surface):
    place = [0.0, np.pi / 2] if isinstance(surface, Ellipsoid) else [np.nan, 0.0]
    with pytest.raises(SurfaceError, match='no contact frame at coordinates'):
        surface.frame(place)


def test_a_surface_needs_nothing_but_a_chart():
    with pytest.raises(NotImplementedError, match='needs a chart'):
        Surface().point([0, 0])
