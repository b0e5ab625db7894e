# SPDX-License-Identifier: Apache-2.0
"""What is printed otherwise than it holds, as docs/papers/auchter_moore.md says."""

import numpy as np
import pytest

from c3p_description import load
from c3p_rough_ground.closed_chain import contact_jacobians, place, velocity
from c3p_rough_ground.closed_chain.velocity import joint_frames, transform
from c3p_rough_ground.rolling_contact import Ground, Torus, contact_orientation, contact_rates
from c3p_rough_ground.terrain import Flat
from c3p_rough_ground.vehicles import four_wheel_rover, pvc_tricycle
from c3p_rough_ground.worlds.terrain_files import load_terrain

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)

TRICYCLE = pvc_tricycle(load('pvc_tricycle'))
OBLIQUE = load_terrain('plateau_20deg')
DESIRED = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])


def platform_by_wheel(i, theta, eta, terrain):
    """Return T_GP through wheel i: ground, contact, wheel, joints."""
    surface, ground = TRICYCLE.wheels[i].surface, Ground(terrain)
    to_ground = transform(ground.frame(eta[2:4]), ground.point(eta[2:4]))
    across = transform(contact_orientation(eta[4]), np.zeros(3))
    on_wheel = transform(surface.frame(eta[:2]), surface.point(eta[:2]))
    return to_ground @ across @ np.linalg.inv(joint_frames(TRICYCLE, i, theta)[-1] @ on_wheel)


def closure(q, terrain):
    """Return the 24 differences of (12) at q = (θ, η)."""
    theta, eta = q[:6], q[6:].reshape(3, 5)
    first, *others = (platform_by_wheel(i, theta, eta[i], terrain)[:3] for i in range(3))
    return np.concatenate([(first - other).ravel() for other in others])


def rates_as_printed(q, terrain):
    """Return θ̇ of (10) and η̇ of (3) with M, K, T of the ground as if x and y were orthogonal."""
    state = place(TRICYCLE, Flat(), 0, 0, 0).require()
    state.joint[:], state.contact[:] = q[:6], q[6:].reshape(3, 5)
    # (6) needs wheels and joints only
    moved = velocity(TRICYCLE, Flat(), state, DESIRED)
    rates = [moved.joint_rates]
    for wheel, eta, omega in zip(TRICYCLE.wheels, state.contact, moved.contact_spin, strict=True):
        _, gx, gy, gxx, gxy, gyy = (float(d) for d in terrain.derivatives(*eta[2:4]))
        lengths = np.sqrt([1 + gx**2, 1 + gy**2])
        w = np.sqrt(1 + gx**2 + gy**2)
        x, y = np.array([1, 0, gx]) / lengths[0], np.array([0, 1, gy]) / lengths[1]
        z = np.array([-gx, -gy, 1]) / w
        normal = [(d - z * (z @ d)) / w for d in np.array([(-gxx, -gxy, 0), (-gxy, -gyy, 0)])]
        curved = np.array([[x @ n for n in normal], [y @ n for n in normal]]) / lengths
        turned = [(d - x * (x @ d)) / lengths[0] for d in np.array([(0, 0, gxx), (0, 0, gxy)])]
        torsion = np.array([y @ t for t in turned]) / lengths
        turn = contact_orientation(eta[4])[:2, :2]
        metric = np.diag(wheel.surface.metric(eta[:2]))
        rolled = np.linalg.solve(wheel.surface.curvature(eta[:2]) + turn @ curved @ turn,
                                 [-omega[1], omega[0]])
        # M times the rates is what is rolled, on either side
        spin = omega[2] + wheel.surface.torsion(eta[:2]) @ rolled + torsion @ (turn @ rolled)
        rates.append([*rolled / metric, *(turn @ rolled) / lengths, spin])
    return np.concatenate(rates)


def driven_as_printed(terrain, start, duration, step=0.1):
    """Return the closure error after a drive by the printed equations, Runge-Kutta 4."""
    state = place(TRICYCLE, terrain, start, 0.0, 0.0).require()
    q = np.concatenate([state.joint, state.contact.ravel()])
    for _ in range(round(duration / step)):
        a = rates_as_printed(q, terrain)
        b = rates_as_printed(q + 0.5 * step * a, terrain)
        c = rates_as_printed(q + 0.5 * step * b, terrain)
        d = rates_as_printed(q + step * c, terrain)
        q = q + step / 6 * (a + 2 * b + 2 * c + d)
    return float(np.linalg.norm(closure(q, terrain)))


def test_printed_equations_tear_the_chains_on_an_oblique_slope():
    # 2 s from a place where the front wheel climbs; ours holds 1e-14 there
    assert driven_as_printed(OBLIQUE, 1.2, 2.0) > 1e-3
    # where gx gy = 0 they are right, but for the method's error
    assert driven_as_printed(load_terrain('plateau'), 1.2, 0.4) < 1e-7


def test_the_printed_system_leaves_the_platform_free_and_six_finds_it():
    state = place(TRICYCLE, OBLIQUE, 2.0, 0.1, 0.2, [0.2, 0, 0.1, 0, -0.1, 0]).require()
    q = np.concatenate([state.joint, state.contact.ravel()])
    step = 1e-6
    jacobian = np.column_stack([
        (closure(q + step * e, OBLIQUE) - closure(q - step * e, OBLIQUE)) / (2 * step)
        for e in np.eye(21)])
    ground, rolling = Ground(OBLIQUE), np.zeros((15, 9))
    for i, wheel in enumerate(TRICYCLE.wheels):
        rolling[5 * i:5 * i + 5, 3 * i:3 * i + 3] = np.column_stack([
            contact_rates(wheel.surface, ground, state.contact[i], e) for e in np.eye(3)])
    # q̇ = (θ̇, η̇, V_PG, Ṽ_c): (10), (4) and (13)
    printed = np.zeros((45, 36))
    printed[:6, :6] = np.eye(6)
    printed[6:21, 6:21], printed[6:21, 27:] = np.eye(15), -rolling
    printed[21:, :21] = jacobian
    # differences of 1e-6 leave 1e-9 where there is no rank
    assert np.linalg.matrix_rank(printed, tol=1e-7) == 30
    assert not printed[:, 21:27].any()
    grasp, reach = contact_jacobians(TRICYCLE, state)
    six = np.zeros((18, 36))
    six[:, :6], six[:, 21:] = -reach, grasp
    assert np.linalg.matrix_rank(np.vstack([printed, six]), tol=1e-7) == 36


def test_q2_has_as_many_rows_as_the_grasp_and_q_c2_the_free_inputs_as_columns():
    state = place(TRICYCLE, OBLIQUE, 2.0, 0.1, 0.2).require()
    grasp, _ = contact_jacobians(TRICYCLE, state)
    # c is the number of rows, 18: with columns Q2 would have 15 − 15 of them
    assert grasp.shape == (18, 15) and np.linalg.matrix_rank(grasp) == 15
    # q × p and q × (q − p) are both 6 × 3 here; another vehicle tells them apart
    rover = four_wheel_rover()
    on_hills = place(rover, OBLIQUE, 2.0, 0.1, 0.2).require()
    moved = velocity(rover, OBLIQUE, on_hills, np.ones(rover.size[0]))
    p, q = rover.size[0] - moved.free, rover.size[0]
    assert moved.free == q - p != p


def test_contact_angles_are_no_functions_of_the_integrals_of_the_contact_velocities():
    wheel, ground = Torus(0.25, 0.05), Ground(Flat())

    def rolled(eta, *turns):
        """Return η after Ṽ_c has been each of the turns for 1 s, in 20 midpoint steps."""
        for omega in turns:
            for _ in range(20):
                half = eta + 0.025 * contact_rates(wheel, ground, eta, omega)
                eta = eta + 0.05 * contact_rates(wheel, ground, half, omega)
        return eta

    start, ahead, aside = np.zeros(5), np.array([0, -0.8, 0.0]), np.array([0.4, 0.0, 0.0])
    # the integrals of ωx, ωy, ωz are equal, where the wheel is and how it stands are not
    apart = rolled(start, ahead, aside) - rolled(start, aside, ahead)
    assert np.abs(apart[4]) > 0.01 and np.hypot(*apart[2:4]) > 1e-3


def test_velocities_are_taken_at_the_contact_and_not_at_the_origin_of_the_wheel():
    state = place(TRICYCLE, Flat(), 0, 0, 0).require()
    moved = velocity(TRICYCLE, Flat(), state, DESIRED)
    grasp, reach = contact_jacobians(TRICYCLE, state)
    at_contact = (grasp[:, :6] @ moved.platform_twist + reach @ moved.joint_rates).reshape(3, 6)
    np.testing.assert_allclose(at_contact[:, :3], 0.0, atol=1e-15)
    # the origin of {W}, of which (1) speaks, moves with 0.3 m/s meanwhile
    assert moved.platform_twist[0] == pytest.approx(0.3)
