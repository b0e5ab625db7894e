# SPDX-License-Identifier: Apache-2.0
"""Symmetries of constrained motion: order, scale, repetition and memory must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import dynamics, free_body, random_loop, random_state, random_weld

from c3p_multibody.constraints import (
    ConstrainedDynamics,
    ConstrainedMotion,
    ConstraintError,
    Contact,
    Distance,
    MotionSettings,
    Point,
    RollingWheel,
    Weld,
    evaluate,
    impact,
    qr_basis,
    solve,
    svd_basis,
    zero_eigenvalue_basis,
)
from c3p_multibody.constraints.packing import checked, gap_of, pack
from c3p_multibody.trees import bias, crba

G = 9.81
SEEDS = st.integers(0, 10_000)


@given(SEEDS)
def test_rows_follow_the_order_of_the_constraints(seed):
    tree, constraints, q, qd, _ = random_loop(seed)
    there, back = (evaluate(tree, order, q, qd) for order in (constraints, constraints[::-1]))
    first = len(constraints[0].labels)
    for name in ('jacobian', 'rate', 'bias', 'error'):
        one, other = getattr(there, name), getattr(back, name)
        np.testing.assert_array_equal(np.concatenate([one[first:], one[:first]]), other)
    packed = pack(tree, constraints)
    assert packed.ties[:, 4].tolist() == [0, first]
    assert packed.ties[:, 5].sum() == len(packed.labels) == len(there.labels)


@given(SEEDS, st.floats(0.01, 100.0))
def test_the_length_of_a_direction_does_not_matter(seed, scale):
    tree, _, q, qd, _ = random_loop(seed)
    rng = np.random.default_rng(seed)
    normal, axle = rng.normal(size=(2, 3))
    body = int(tree.order[-1])
    one, other = (evaluate(tree, [RollingWheel(body=body, radius=0.2, axle=axle * k,
                                               normal=normal * k)], q, qd) for k in (1.0, scale))
    # rounding of the normalisation, amplified where the axle is nearly along the normal
    np.testing.assert_allclose(one.jacobian, other.jacobian, rtol=1e-9, atol=1e-9)


@given(SEEDS)
def test_a_repeated_constraint_changes_no_motion_and_halves_its_force(seed):
    tree, weld, q, qd, tau = random_weld(seed)
    a, c = dynamics(tree, q, qd)
    one = solve(a, c, tau, evaluate(tree, [weld], q, qd))
    two = solve(a, c, tau, evaluate(tree, [weld, weld], q, qd))
    size = 1.0 + np.abs(one.qdd).max()
    np.testing.assert_allclose(two.qdd, one.qdd, rtol=0, atol=1e-8 * size * one.condition)
    assert two.rank == one.rank
    force = 1.0 + np.abs(one.multipliers).max()
    np.testing.assert_allclose(two.multipliers[:6], two.multipliers[6:], atol=1e-8 * force)


@given(SEEDS)
def test_the_fast_path_has_no_memory(seed):
    tree, constraints, q, qd, tau = random_loop(seed)
    fast = ConstrainedDynamics(tree, constraints)
    first = fast(q, qd, tau).copy()
    elsewhere, rates, torques = random_state(tree, seed + 1)
    fast(elsewhere, rates, torques)
    np.testing.assert_array_equal(fast(q, qd, tau), first)
    assert fast.fine and fast.rank <= len(fast.labels)
    np.testing.assert_allclose(fast.inertia, crba(tree, q), rtol=1e-9, atol=1e-11)


@given(SEEDS, st.integers(2, 6), st.integers(2, 8))
def test_null_spaces_depend_neither_on_order_nor_on_repetition_of_rows(seed, rows, columns):
    rng = np.random.default_rng(seed)
    b = rng.normal(size=(rows, columns))
    shuffled = np.vstack([b, b[:1]])[rng.permutation(rows + 1)]
    for basis in (qr_basis, svd_basis, zero_eigenvalue_basis):
        one, other = basis(b), basis(shuffled)
        assert one.rank == other.rank == min(rows, columns)
        # the projector is unique, its basis is not; eigenvalues square the condition
        np.testing.assert_allclose(one.basis @ one.basis.T, other.basis @ other.basis.T,
                                   atol=1e-12 * one.condition**2 + 1e-12)


@given(SEEDS, st.floats(0, 1))
def test_a_second_impact_of_a_plastic_one_changes_nothing(seed, restitution):
    tree, weld, q, _, _ = random_weld(seed)
    _, qd, _ = random_state(tree, seed + 1)
    a, rows = crba(tree, q), evaluate(tree, [weld], q, qd)
    plastic = impact(a, qd, rows)
    again = impact(a, plastic.qd, rows)
    size = 1.0 + np.abs(plastic.qd).max()
    np.testing.assert_allclose(again.qd, plastic.qd, rtol=0, atol=1e-9 * size)
    # Poisson and Newton agree without friction: the impulse grows by 1 + e
    bounce = impact(a, qd, rows, restitution)
    np.testing.assert_allclose(bounce.impulse, (1 + restitution) * plastic.impulse, rtol=1e-8,
                               atol=1e-9 * (1 + np.abs(plastic.impulse).max()))
    assert -1e-9 <= bounce.energy_loss <= plastic.energy_loss * (1 + 1e-9) + 1e-9


@given(SEEDS)
@settings(max_examples=20)
def test_a_welded_chain_keeps_its_constraint_and_its_energy_balance(seed):
    tree, weld, q, qd, tau = random_weld(seed)
    motion = ConstrainedMotion(tree, q, 0.1 * qd, [weld], torque=0.1 * tau, damping=0.01,
                               settings=MotionSettings(5e-4))
    motion.advance(0.05)
    assert motion.error() < 1e-8
    record = motion.record
    size = 1.0 + np.max(record.kinetic) + np.ptp(record.potential)
    # fourth order: some random chains are as fast as 100 rad/s
    assert np.max(np.abs(record.energy_error)) < 1e-5 * size
    assert np.all(np.diff(record.friction) >= 0.0)


def polygon(seed, flipped):
    """Return a motion of a plate that falls on its corners, in one order or the other."""
    rng = np.random.default_rng(seed)
    tree = free_body(1.0, (0.1, 0.1, 0.05), kind='planar', gravity=(0, -G, 0))
    angles = np.sort(rng.uniform(0, 2 * np.pi, 4))
    corners = [Contact(body='body', point=(0.3 * np.cos(a), 0.3 * np.sin(a), 0),
                       normal=(0, 1, 0), restitution=0.3, name=f'corner {k}')
               for k, a in enumerate(angles)]
    q, qd = [0.0, rng.uniform(0.35, 0.6), rng.uniform(-3, 3)], rng.uniform(-1, 1, 3)
    return ConstrainedMotion(tree, q, qd, contacts=corners[::-1] if flipped else corners), corners


@given(SEEDS)
@settings(max_examples=15)
def test_corners_stay_above_the_ground_whatever_their_order(seed):
    (motion, corners), (other, _) = (polygon(seed, flipped) for flipped in (False, True))
    for one in (motion, other):
        one.advance(0.3)
        assert min(gap_of(one.tree, corner, one.q) for corner in corners) > -1e-9
        assert np.all(np.diff(one.record.loss) >= -1e-12)
        assert np.max(np.abs(one.record.energy_error)) < 1e-9
    np.testing.assert_allclose(other.q, motion.q, atol=1e-7)
    assert len(other.closed) == len(motion.closed)


@pytest.mark.parametrize(('build', 'words'), [
    (lambda: Point(body='body', axes=2 * np.eye(3)), 'right-handed axes'),
    (lambda: Point(body='body', point=(0, 0)), 'shape'),
    (lambda: Weld(body='body', rate=[1.0, 2.0]), 'rate'),
    (lambda: Distance(body='body', length=0.0), 'must be positive'),
    (lambda: Contact(body='body', restitution=1.5), 'must be 0 to 1'),
    (lambda: Point(body='body', base='body'), 'do not move against each other'),
    (lambda: 'a rope', 'expected one of the kinds')])
def test_packing_names_what_is_wrong(build, words):
    with pytest.raises(ConstraintError, match=words):
        pack(free_body(), [build()])


def test_a_checked_vector_is_a_copy():
    tree, given_ = free_body(), np.zeros(6)
    assert checked(tree, 'q', given_) is not given_


def test_chattering_is_an_error_with_a_remedy():
    tree = free_body(kind='planar')
    contacts = ConstrainedMotion(tree, [0, 1, 0], np.zeros(3), contacts=[
        Contact(body='body', normal=(0, 1, 0))])._contacts
    rows = evaluate(tree, [], np.zeros(3), np.zeros(3))
    with pytest.raises(ConstraintError, match='contact chattering.*rest_speed'):
        for _ in range(300):
            contacts.decide(0.5, np.eye(3), np.zeros(3), np.array([0, 1.0, 0]), np.zeros(3), rows)


@pytest.mark.parametrize('generated', [False, True])
def test_vectors_of_other_kinds_are_taken_and_those_of_a_wrong_length_refused(generated):
    tree, constraints, q, qd, tau = random_loop(5)
    solver = ConstrainedDynamics(tree, constraints, generated=generated)
    expected = solver(q, qd, tau).copy()
    columns = np.array([q, qd, tau]).T
    columns.flags.writeable = False
    np.testing.assert_array_equal(solver(*columns.T), expected)
    np.testing.assert_array_equal(solver(q.tolist(), qd, tau, 0), expected)
    for wrong in (q[:-1], np.zeros(len(q) + 1)):
        with pytest.raises(ValueError, match='shape'):
            solver(wrong, qd, tau)


def test_terms_of_the_last_call_do_not_follow_the_arrays_of_the_caller():
    tree, constraints, q, qd, tau = random_loop(5)
    solver = ConstrainedDynamics(tree, constraints, generated=True)
    solver(q, qd, tau)
    expected = evaluate(tree, constraints, q, qd)
    q += 1.0
    qd[:] = 0.0
    np.testing.assert_allclose(solver.jacobian, expected.jacobian, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solver.bias, bias(tree, q - 1.0, solver._qd), rtol=0, atol=1e-9)
