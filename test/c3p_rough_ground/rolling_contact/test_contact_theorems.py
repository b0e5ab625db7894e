# SPDX-License-Identifier: Apache-2.0
"""Theorems of surface theory as oracles of metric, curvature and torsion."""

import numpy as np
import pytest
from contact_oracles import relative_motion
from contact_pairs import GROUNDS, WHEELS, a_contact

from c3p_rough_ground.rolling_contact import (
    CappedCylinder,
    Ellipsoid,
    Ground,
    Torus,
    contact_rates,
    relative_curvature,
    sphere,
)
from c3p_rough_ground.terrain import Flat, Hills

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(24)
SMOOTH = {**{name: WHEELS[name][0] for name in ('torus', 'ellipsoid', 'triaxial')},
          **{name: GROUNDS[name] for name in ('plateau', 'hills')}}


def integral(function, low, high):
    """Return ∫ f by Gauss and Legendre."""
    half = 0.5 * (high - low)
    return half * sum(w * function(low + half * (1 + p))
                      for p, w in zip(POINTS, WEIGHTS, strict=True))


@pytest.mark.parametrize('surface', SMOOTH.values(), ids=SMOOTH)
def test_torsion_turns_the_frame_by_the_enclosed_curvature(surface):
    """Gauss and Bonnet: the turning around a patch is the integral of Gaussian curvature."""
    (a0, a1), (b0, b1) = (0.2, 0.7), (0.1, 0.6)

    def turning(place, direction):
        return surface.torsion(place) @ surface.metric(place) @ direction

    around = (integral(lambda a: turning([a, b0], [1, 0]), a0, a1)
              + integral(lambda b: turning([a1, b], [0, 1]), b0, b1)
              - integral(lambda a: turning([a, b1], [1, 0]), a0, a1)
              - integral(lambda b: turning([a0, b], [0, 1]), b0, b1))
    enclosed = integral(lambda a: integral(
        lambda b: np.linalg.det(surface.curvature([a, b]))
        * np.linalg.det(surface.metric([a, b])), b0, b1), a0, a1)
    assert around == pytest.approx(-enclosed, abs=1e-9)


def test_the_total_curvature_of_an_ellipsoid_is_that_of_a_sphere():
    surface = Ellipsoid(0.3, 0.12)
    total = 2 * np.pi * sum(integral(lambda v: np.linalg.det(surface.curvature([0.0, v]))
                                     * np.linalg.det(surface.metric([0.0, v])), low, low + 0.25)
                            for low in np.arange(-1.5, 1.5, 0.25))
    # without the caps beyond |v| = 1.5 rad; angle of the normal there from the equator
    normal = np.arctan2(0.3 * np.sin(1.5), 0.12 * np.cos(1.5))
    assert total == pytest.approx(4 * np.pi * np.sin(normal), rel=1e-8)


@pytest.mark.parametrize('scale', [0.5, 3.0])
@pytest.mark.parametrize('make', [
    lambda k: Torus(0.25 * k, 0.05 * k), lambda k: Ellipsoid(0.3 * k, 0.1 * k),
    lambda k: CappedCylinder(0.3 * k, 0.04 * k, 0.03 * k)], ids=['torus', 'ellipsoid', 'cylinder'])
def test_contacts_scale_with_their_lengths(make, scale):
    hills = Hills.random(4)
    larger = Hills(scale * hills.amplitude, hills.wave_vector / scale, hills.phase)
    # v of the cylinder is a length
    v = 0.05 * (scale if isinstance(make(1.0), CappedCylinder) else 1.0)
    eta, omega = np.array([0.3, 0.05, 2.1, 0.8, 0.7]), [0.3, -1.0, 0.2]
    other = np.array([0.3, v, 2.1 * scale, 0.8 * scale, 0.7])
    units = np.array([1.0, v / 0.05, scale, scale, 1.0])
    small = contact_rates(make(1.0), Ground(hills), eta, omega)
    large = contact_rates(make(scale), Ground(larger), other, omega)
    np.testing.assert_allclose(large, small * units, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(relative_curvature(make(scale), Ground(larger), other) * scale,
                               relative_curvature(make(1.0), Ground(hills), eta), rtol=1e-9,
                               atol=1e-9)


def test_a_ball_rolls_alike_in_every_chart_of_its_surface():
    """On a plane the path of a ball depends on ω alone, wherever the contact is in the chart."""
    radius, omega = 0.3, np.array([0.4, -1.0, 0.3])
    for v in (-1.0, 0.0, 0.8):
        for psi in (0.0, 1.3):
            rates = contact_rates(sphere(radius), Ground(Flat()), [0.2, v, 0.0, 0.0, psi], omega)
            c, s = np.cos(psi), np.sin(psi)
            turn = np.array([[c, -s], [-s, -c]])
            expected = turn @ [-omega[1] * radius, omega[0] * radius]
            np.testing.assert_allclose(rates[2:4], expected, atol=1e-12)


@pytest.mark.parametrize('wheel', WHEELS)
def test_rates_are_linear_in_spin_and_slip(wheel):
    surface, ground = WHEELS[wheel][0], GROUNDS['hills']
    eta, _ = a_contact(wheel, 'hills', 3)
    rng = np.random.default_rng(1)
    (one, other), (slip_one, slip_other) = rng.normal(size=(2, 3)), rng.normal(size=(2, 2))
    both = contact_rates(surface, ground, eta, one - 2 * other, slip_one - 2 * slip_other)
    expected = (contact_rates(surface, ground, eta, one, slip_one)
                - 2 * contact_rates(surface, ground, eta, other, slip_other))
    np.testing.assert_allclose(both, expected, atol=1e-9 * np.abs(expected).max())
    # and the motion that they mean is the one given
    motion = relative_motion(surface, ground, eta, both)
    np.testing.assert_allclose(motion.velocity[:2], slip_one - 2 * slip_other, atol=1e-9)
    np.testing.assert_allclose(motion.angular_velocity, one - 2 * other, atol=1e-8)
