# SPDX-License-Identifier: Apache-2.0
"""Montana's equations against the derivative of the frame chain, for every pair of surfaces."""

import numpy as np
import pytest
from contact_oracles import relative_motion, wheel_pose
from contact_pairs import GROUNDS, PAIRS, TERRAINS, WHEELS, a_contact, contacts, derivative
from hypothesis import assume, given

from c3p_rough_ground.rolling_contact import (
    CappedCylinder,
    ContactError,
    Ground,
    Torus,
    contact_orientation,
    contact_rates,
    relative_curvature,
)
from c3p_rough_ground.terrain import Flat, Hills, Plateau

# of the differences of 8th order: rounding 1e-15 through the step of 2e-3 s, some hundredfold
# where the tyre is sharp; measured 4e-11
DIFFERENCES = 1e-9


def motion_of_the_chain(wheel, ground, eta, rate):
    """Return velocity at the contact and ω of {W} in contW, from T_GW(η + t η̇) alone."""
    def pose(t):
        position, rotation = wheel_pose(wheel, ground, eta + t * rate)
        return np.column_stack([rotation, position])

    changed = derivative(pose)
    position, rotation = wheel_pose(wheel, ground, eta)
    cross = changed[:, :3] @ rotation.T
    omega = np.array([cross[2, 1], cross[0, 2], cross[1, 0]])
    velocity = changed[:, 3] + np.cross(omega, ground.point(eta[2:4]) - position)
    axes = ground.frame(eta[2:4]) @ contact_orientation(eta[4])
    return axes.T @ velocity, axes.T @ omega


def check_motion(names, eta, rate):
    wheel, ground = WHEELS[names[0]][0], GROUNDS[names[1]]
    got = relative_motion(wheel, ground, eta, rate)
    velocity, omega = motion_of_the_chain(wheel, ground, eta, rate)
    np.testing.assert_allclose(got.velocity, velocity, atol=DIFFERENCES)
    np.testing.assert_allclose(got.angular_velocity, omega, atol=DIFFERENCES)


@pytest.mark.parametrize('names', PAIRS, ids='-'.join)
def test_the_motion_of_given_rates_is_the_derivative_of_the_frame_chain(names):
    check_motion(names, *a_contact(*names))


@given(contacts())
def test_the_motion_is_the_derivative_of_the_frame_chain_wherever_they_touch(case):
    wheel, ground, eta, rate = case
    check_motion((wheel, ground), eta, rate)


@given(contacts())
def test_rates_and_motion_undo_each_other(case):
    wheel, ground, eta, rate = WHEELS[case[0]][0], GROUNDS[case[1]], *case[2:]
    assume(np.linalg.eigvalsh(relative_curvature(wheel, ground, eta))[0] > 0.1)
    motion = relative_motion(wheel, ground, eta, rate)
    again = contact_rates(wheel, ground, eta, motion.angular_velocity, motion.velocity[:2])
    # a relative curvature of 0.1 1/m, v in units of a 3 cm edge: rounding grows by a thousand
    np.testing.assert_allclose(again, rate, atol=1e-11)


def test_the_flat_of_a_cylinder_moves_as_its_frame_chain():
    wheel, ground = CappedCylinder(0.3, 0.04, 0.03), GROUNDS['hills']
    eta, rate = np.array([0.4, 0.01, 1.2, 0.6, 2.0]), np.array([0.5, 0.2, -0.4, 0.3, 0.8])
    got = relative_motion(wheel, ground, eta, rate)
    velocity, omega = motion_of_the_chain(wheel, ground, eta, rate)
    np.testing.assert_allclose(got.velocity, velocity, atol=DIFFERENCES)
    np.testing.assert_allclose(got.angular_velocity, omega, atol=DIFFERENCES)


def test_a_wheel_turning_about_the_normal_only_changes_psi():
    wheel, ground = WHEELS['torus'][0], GROUNDS['hills']
    eta, _ = a_contact('torus', 'hills')
    rates = contact_rates(wheel, ground, eta, [0.0, 0.0, 2.0])
    np.testing.assert_allclose(rates, [0, 0, 0, 0, 2.0], atol=1e-15)


def test_a_wheel_that_slides_on_a_plane_keeps_its_touching_point():
    rates = contact_rates(Torus(0.25, 0.05), Ground(Flat()), [0.3, 0.2, 0.0, 0.0, 0.0],
                          [0.0, 0.0, 0.0], slip=[0.4, 0.1])
    # y of contW is −y of contG at ψ = 0
    np.testing.assert_allclose(rates, [0, 0, 0.4, -0.1, 0], atol=1e-15)


def literal_rates(wheel, terrain, eta, omega):
    """Return (u̇, v̇, ẋ, ẏ) as printed: M, K, T of the ground as if its chart were orthogonal."""
    _, gx, gy, gxx, gxy, gyy = terrain.derivatives(*eta[2:4])
    lengths = np.sqrt([1 + gx**2, 1 + gy**2])
    along_x, along_y = np.array([1, 0, gx]) / lengths[0], np.array([0, 1, gy]) / lengths[1]
    w = np.sqrt(1 + gx**2 + gy**2)
    normal = np.array([-gx, -gy, 1]) / w
    changes = []
    for dx, dy in ((gxx, gxy), (gxy, gyy)):
        free = np.array([-dx, -dy, 0]) / w
        changes.append(free - normal * (normal @ free))
    changes = np.column_stack(changes) / lengths
    curvature = np.array([along_x @ changes, along_y @ changes])
    turn = contact_orientation(eta[4])[:2, :2]
    relative = wheel.curvature(eta[:2]) + turn @ curvature @ turn
    moved = np.linalg.solve(relative, [-omega[1], omega[0]])
    return np.array([*moved / np.diag(wheel.metric(eta[:2])), *(turn @ moved) / lengths])


def slip_of(wheel, terrain, eta, planar):
    """Return the slip in m/s that the rates of u, v, x, y really mean."""
    motion = relative_motion(wheel, Ground(terrain), eta, [*planar, 0.0])
    return np.linalg.norm(motion.velocity)


def test_the_printed_equations_slip_where_the_chart_is_oblique():
    # 1 rad/s as in the paper: 0.3 m/s, 1 m before the middle of the climb
    wheel, omega = WHEELS['torus'][0], np.array([0.0, -1.0, 0.0])
    oblique, straight = TERRAINS['plateau'], Plateau(direction=0.0)
    eta = np.array([0.0, 0.1, 2.5, 0.3, 0.2])
    assert slip_of(wheel, oblique, eta, literal_rates(wheel, oblique, eta, omega)) > 2e-3
    right = contact_rates(wheel, Ground(oblique), eta, omega)
    assert slip_of(wheel, oblique, eta, right[:4]) < 1e-15
    # and do not slip where gx gy = 0
    printed = literal_rates(wheel, straight, eta, omega)
    np.testing.assert_allclose(printed, contact_rates(wheel, Ground(straight), eta, omega)[:4],
                               atol=1e-14)


def test_a_hollow_sharper_than_the_tyre_is_refused_with_place_and_remedy():
    hollow = Hills([-0.2], [[6.0, 0.0]], [0.0])
    with pytest.raises(ContactError) as raised:
        contact_rates(Torus(0.25, 0.05), Ground(hollow), [0, 0, 0, 0.5, 0], [0, -1, 0])
    # curvature 0.2·36 = 7.2 1/m against 1/0.3: −3.87 1/m, radius 1/7.2 m
    for part in ('-3.867 1/m', 'x = 0', 'y = 0.5', '0.1389 m', 'smoother ground'):
        assert part in str(raised.value)


def test_a_cylinder_flat_on_a_plane_touches_along_a_line_and_is_refused():
    with pytest.raises(ContactError, match='does not touch the ground in one point'):
        contact_rates(CappedCylinder(0.3, 0.04, 0.03), Ground(Flat()), np.zeros(5), [0, -1, 0])
