# SPDX-License-Identifier: Apache-2.0
"""The compiled contact geometry gives the numbers of the general equations."""

import numpy as np
import pytest
from contact_oracles import relative_motion
from contact_pairs import GROUNDS, TERRAINS, WHEELS, a_contact, derivative

from c3p_rough_ground.rolling_contact import _kernels as kernels
from c3p_rough_ground.rolling_contact import contact_rates, relative_curvature
from c3p_rough_ground.terrain._kernels import height

REVOLUTION = [name for name in WHEELS if name != 'triaxial']
# rounding of some fifty operations on curvatures up to 33 1/m
ROUNDING = 1e-12


def plain(function):
    """Return a kernel as plain Python."""
    return getattr(function, 'py_func', function)


def forms(names, eta):
    """Return the tuples of both surfaces from the kernels."""
    wheel, terrain = WHEELS[names[0]][0], TERRAINS[names[1]]
    r, _, dr, dh, ddr, ddh = kernels.profile(wheel.kind, wheel.parameters, eta[1])
    derivatives = height(terrain.kind, terrain.parameters, terrain.table, eta[2], eta[3])
    return kernels.wheel_forms(r, dr, dh, ddr, ddh), kernels.ground_forms(*derivatives[1:])


@pytest.mark.parametrize('name', REVOLUTION)
def test_profile_has_its_own_derivatives_and_is_compiled_alike(name):
    wheel, (low, high) = WHEELS[name]
    for v in np.linspace(low, high, 7)[1:-1]:
        section = np.array(kernels.profile(wheel.kind, wheel.parameters, v))
        change = derivative(lambda t, at=v: np.array(
            plain(kernels.profile)(wheel.kind, wheel.parameters, at + 0.1 * t))) / 0.1
        # steps of 0.2 ms: rounding 1e-16 through them; second derivatives up to 1/3 cm
        np.testing.assert_allclose(section[2:], change[:4], atol=1e-9)


def test_sections_of_the_wheels_are_their_curves():
    v = 0.4
    torus = kernels.profile(kernels.TORUS, np.array([0.25, 0.05]), v)
    assert (torus[0] - 0.25)**2 + torus[1]**2 == pytest.approx(0.05**2, rel=1e-12)
    ellipsoid = kernels.profile(kernels.ELLIPSOID, np.array([0.3, 0.12]), v)
    assert (ellipsoid[0] / 0.3)**2 + (ellipsoid[1] / 0.12)**2 == pytest.approx(1.0, rel=1e-12)
    lengths = np.array([0.3, 0.04, 0.03])
    for side in (-1, 1):
        edge = kernels.profile(kernels.CYLINDER, lengths, side * 0.06)
        # a circle about the begin of the edge, parametrised by its arc
        assert (edge[0] - 0.27)**2 + (edge[1] - side * 0.04)**2 == pytest.approx(0.03**2)
        assert edge[2]**2 + edge[3]**2 == pytest.approx(1.0, rel=1e-12)
    assert kernels.profile(kernels.CYLINDER, lengths, 0.02)[:2] == (0.3, 0.02)


@pytest.mark.parametrize('wheel', REVOLUTION)
@pytest.mark.parametrize('ground', GROUNDS)
def test_forms_and_rates_are_those_of_the_general_equations(wheel, ground):
    surface, below = WHEELS[wheel][0], GROUNDS[ground]
    eta, rate = a_contact(wheel, ground, seed=3)
    (m0, m1, k0, k1, t0), tuple_of_ground = forms((wheel, ground), eta)
    a, m01, m11, k00, k01, k11, tx, ty = tuple_of_ground
    np.testing.assert_allclose(np.diag([m0, m1]), surface.metric(eta[:2]), atol=ROUNDING)
    np.testing.assert_allclose(np.diag([k0, k1]), surface.curvature(eta[:2]), atol=ROUNDING)
    np.testing.assert_allclose([t0, 0], surface.torsion(eta[:2]), atol=ROUNDING)
    np.testing.assert_allclose([[a, m01], [0, m11]], below.metric(eta[2:4]), atol=ROUNDING)
    np.testing.assert_allclose([[k00, k01], [k01, k11]], below.curvature(eta[2:4]),
                               atol=ROUNDING)
    np.testing.assert_allclose([tx, ty], below.torsion(eta[2:4]), atol=ROUNDING)

    velocity, omega = relative_motion(surface, below, eta, rate)
    psi = np.cos(eta[4]), np.sin(eta[4])
    *got, margin = kernels.rates((m0, m1, k0, k1, t0), tuple_of_ground, psi, tuple(omega),
                                 tuple(velocity[:2]))
    np.testing.assert_allclose(got, rate, atol=ROUNDING)
    np.testing.assert_allclose(margin, np.linalg.eigvalsh(
        relative_curvature(surface, below, eta))[0], atol=ROUNDING)
    rolling = kernels.rates((m0, m1, k0, k1, t0), tuple_of_ground, psi, tuple(omega), (0.0, 0.0))
    np.testing.assert_allclose(rolling[:5], contact_rates(surface, below, eta, omega),
                               atol=ROUNDING)


def test_margin_is_negative_in_a_hollow_sharper_than_the_tyre():
    wheel = kernels.wheel_forms(0.3, 0.0, 0.05, -0.05, 0.0)
    ground = kernels.ground_forms(0.0, 0.0, 7.2, 0.0, 0.0)
    margin = kernels.rates(wheel, ground, (1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0))[5]
    assert margin == pytest.approx(1 / 0.3 - 7.2)


def test_plain_python_gives_the_compiled_numbers():
    wheel, terrain = WHEELS['torus'][0], TERRAINS['hills']
    eta, _ = a_contact('torus', 'hills')
    section = plain(kernels.profile)(wheel.kind, wheel.parameters, eta[1])
    np.testing.assert_allclose(section, kernels.profile(wheel.kind, wheel.parameters, eta[1]),
                               rtol=1e-14)
    derivatives = height(terrain.kind, terrain.parameters, terrain.table, eta[2], eta[3])
    both = forms(('torus', 'hills'), eta)
    r, _, *rest = section
    for got, expected in zip((plain(kernels.wheel_forms)(r, *rest),
                              plain(kernels.ground_forms)(*derivatives[1:])), both, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    motion = (0.6, 0.8), (0.1, -1.0, 0.2), (0.03, 0.04)
    np.testing.assert_allclose(plain(kernels.rates)(*both, *motion),
                               kernels.rates(*both, *motion), rtol=1e-13)
