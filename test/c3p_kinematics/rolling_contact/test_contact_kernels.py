# SPDX-License-Identifier: Apache-2.0
"""The compiled contact geometry gives the numbers of the general equations."""

import numpy as np
import pytest
from contact_oracles import relative_motion
from contact_pairs import GROUNDS, TERRAINS, WHEELS, a_contact

from c3p_kinematics.rolling_contact import _kernels as kernels
from c3p_kinematics.rolling_contact import contact_rates, relative_curvature
from c3p_kinematics.terrain._kernels import height

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
def test_profile_is_the_section_of_the_wheel(name):
    wheel, (low, high) = WHEELS[name]
    for v in np.linspace(low, high, 5):
        chart = wheel.chart([0.0, v])
        r, h, dr, dh, ddr, ddh = kernels.profile(wheel.kind, wheel.parameters, v)
        # at u = 0 the section lies in the plane x, y
        for got, expected in zip(((r, h), (dr, dh), (ddr, ddh)),
                                 (chart.point, chart.second, chart.second_second), strict=True):
            np.testing.assert_allclose(got, expected[:2], rtol=1e-15, atol=1e-15)


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
    *got, margin = kernels.rates((m0, m1, k0, k1, t0), tuple_of_ground, np.cos(eta[4]),
                                 np.sin(eta[4]), *omega, *velocity[:2])
    np.testing.assert_allclose(got, rate, atol=ROUNDING)
    np.testing.assert_allclose(margin, np.linalg.eigvalsh(
        relative_curvature(surface, below, eta))[0], atol=ROUNDING)
    rolling = kernels.rolling_rates((m0, m1, k0, k1, t0), tuple_of_ground, np.cos(eta[4]),
                                    np.sin(eta[4]), *omega)
    np.testing.assert_allclose(rolling[:5], contact_rates(surface, below, eta, omega),
                               atol=ROUNDING)


def test_margin_is_negative_in_a_hollow_sharper_than_the_tyre():
    wheel = kernels.wheel_forms(0.3, 0.0, 0.05, -0.05, 0.0)
    ground = kernels.ground_forms(0.0, 0.0, 7.2, 0.0, 0.0)
    margin = kernels.rolling_rates(wheel, ground, 1.0, 0.0, 0.0, -1.0, 0.0)[5]
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
    motion = (0.6, 0.8, 0.1, -1.0, 0.2, 0.03, 0.04)
    np.testing.assert_allclose(plain(kernels.rates)(*both, *motion),
                               kernels.rates(*both, *motion), rtol=1e-13)
