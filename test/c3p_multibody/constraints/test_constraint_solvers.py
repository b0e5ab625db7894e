# SPDX-License-Identifier: Apache-2.0
"""Motion and constraint forces: principles of mechanics, closed forms, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import dynamics, four_bar, free_body, random_loop, random_weld, rows_of

from c3p_multibody.constraints import (
    METHODS,
    ConstrainedDynamics,
    ConstraintError,
    Distance,
    Point,
    Weld,
    evaluate,
    solve,
)
from c3p_multibody.trees import Body, Joint, Tree, TreeError, forward_kinematics, rnea

seeds = st.integers(0, 10_000)


def solved(seed, method='qr'):
    tree, constraints, q, qd, tau = random_loop(seed)
    rows = evaluate(tree, constraints, q, qd)
    a, c = dynamics(tree, q, qd)
    return a, c, tau, rows, solve(a, c, tau, rows, method)


@settings(max_examples=30)
@given(seeds)
def test_the_equations_hold_and_constraint_forces_do_no_work(seed):
    a, c, tau, rows, found = solved(seed)
    size = np.max(np.abs(found.generalized_force)) + np.max(np.abs(a @ found.qdd)) + 1
    assert np.max(np.abs(a @ found.qdd + c - tau - found.generalized_force)) < 1e-10 * size
    assert found.residual < 1e-9 * (1 + np.max(np.abs(rows.bias)))
    # D'Alembert: no power in any motion that the constraints allow
    assert np.max(np.abs(found.basis.T @ found.generalized_force), initial=0.0) < 1e-11 * size


@settings(max_examples=20)
@given(seeds, st.integers(0, 100))
def test_the_motion_is_gausss_least_constraint(seed, other):
    a, c, tau, rows, found = solved(seed)
    free = np.linalg.solve(a, tau - c)

    def constraint(qdd):
        return (qdd - free) @ a @ (qdd - free)

    rng = np.random.default_rng(other)
    # the least value is flat: a step s costs s², and rounding is 1e-14 of the value
    least = constraint(found.qdd)
    for _ in range(5):
        varied = found.qdd + found.basis @ rng.normal(size=found.basis.shape[1])
        assert constraint(varied) >= least * (1 - 1e-12)


@settings(max_examples=25)
@given(seeds)
def test_all_methods_agree(seed):
    a, c, tau, rows, reference = solved(seed, 'svd')
    size = 1 + np.max(np.abs(reference.qdd))
    for method in METHODS:
        found = solve(a, c, tau, rows, method)
        # near a singular pose errors grow with the square of the condition
        near = reference.condition**2 * (1e-13 if method != 'zero_eigenvalue' else 1e-11)
        assert found.rank == reference.rank, method
        assert np.max(np.abs(found.qdd - reference.qdd)) < max(near, 1e-9) * size, method


@settings(max_examples=25)
@given(seeds)
def test_the_fast_path_agrees(seed):
    tree, constraints, q, qd, tau = random_loop(seed)
    a, c, _, rows, found = solved(seed, 'svd')
    fast = ConstrainedDynamics(tree, constraints)
    qdd = fast(q, qd, tau)
    size = 1 + np.max(np.abs(found.qdd))
    near = max(1e-13 * found.condition**2, 1e-9)
    assert np.max(np.abs(qdd - found.qdd)) < near * size
    np.testing.assert_allclose(fast.inertia, a, atol=1e-11)
    np.testing.assert_allclose(fast.bias, c, atol=1e-10)
    np.testing.assert_allclose(fast.jacobian, rows.jacobian, atol=1e-13)
    force = np.max(np.abs(fast.jacobian.T @ fast.multipliers - found.generalized_force))
    assert force < near * (1 + np.max(np.abs(found.generalized_force)))


def test_multipliers_of_a_weld_are_the_wrench_on_the_body_by_newton_and_euler():
    tree, weld, q, qd, tau = random_weld(5)
    found = solve(*dynamics(tree, q, qd), tau, evaluate(tree, [weld], q, qd))
    # hand λ to the inverse dynamics as a wrench on the last body: it needs the same torques
    last = int(tree.order[-1])
    external = np.zeros((tree.count, 6))
    turn = forward_kinematics(tree, q).rotation[last]
    arm = turn @ np.asarray(weld.point)
    force, moment = found.multipliers[:3], found.multipliers[3:]
    external[last] = np.concatenate([force, moment + np.cross(arm, force)])
    np.testing.assert_allclose(rnea(tree, q, qd, found.qdd, external), tau, atol=1e-9)


def test_a_hanging_mass_pulls_its_rod_with_its_weight_and_its_swing():
    tree = free_body(2.0)
    q, qd = np.array([0, 0, -1.5, 0, 0, 0.0]), np.array([3.0, 0, 0, 0, 0, 0])
    rod = Distance(body='body', length=1.5)
    found = solve(*dynamics(tree, q, qd), np.zeros(6), evaluate(tree, [rod], q, qd))
    # λ > 0 pushes away from the base; here the rod pulls with m (g + v²/l)
    assert found.multipliers[0] == pytest.approx(-2.0 * (9.81 + 9.0 / 1.5), rel=1e-14)
    assert found.qdd[2] == pytest.approx(9.0 / 1.5, rel=1e-14)


@pytest.mark.parametrize('method', METHODS)
def test_dependent_rows_share_the_force_evenly(method):
    rows = rows_of([[1, 0], [1, 0], [2, 0]], [1, 1, 2])
    found = solve(np.eye(2), np.zeros(2), np.array([0.0, 3.0]), rows, method)
    assert found.rank == 1 and found.basis.shape == (2, 1)
    np.testing.assert_allclose(found.qdd, [1, 3], atol=1e-12)
    np.testing.assert_allclose(found.multipliers, np.array([1, 1, 2]) / 6, atol=1e-12)


@pytest.mark.parametrize('method', METHODS)
def test_rows_that_contradict_each_other_are_refused_by_name(method):
    rows = rows_of([[1, 0], [1, 0]], [1, 2])._replace(labels=('gate, x', 'wall, x'))
    with pytest.raises(ConstraintError, match=r'(gate|wall), x \(row [01]\) contradicts'):
        solve(np.eye(2), np.zeros(2), np.zeros(2), rows, method)


def test_a_planar_loop_welded_with_all_six_rows_has_rank_two_of_a_planar_loop():
    tree, cut = four_bar()
    q, qd, tau = np.array([1.0, -0.8, 1.9]), np.zeros(3), np.zeros(3)
    tie = Point(body='coupler', point=(0.9, 0, 0), base='rocker', place=(0.6, 0, 0))
    three = solve(*dynamics(tree, q, qd), tau, evaluate(tree, [tie], q, qd))
    two = solve(*dynamics(tree, q, qd), tau, evaluate(tree, [cut], q, qd))
    assert (three.rank, two.rank) == (2, 2)
    np.testing.assert_allclose(three.qdd, two.qdd, atol=1e-12)
    # nothing out of the plane
    np.testing.assert_allclose(three.multipliers, [*two.multipliers, 0], atol=1e-12)


def test_everything_held_moves_as_it_must_and_nothing_held_moves_freely():
    a, c = np.diag([2.0, 3.0]), np.array([1.0, 1.0])
    held = solve(a, c, np.zeros(2), rows_of(np.eye(2), [0.5, -0.5]))
    np.testing.assert_allclose(held.qdd, [0.5, -0.5])
    np.testing.assert_allclose(held.multipliers, [2.0, -0.5])
    free = solve(a, c, np.zeros(2), rows_of(np.zeros((0, 2)), []))
    np.testing.assert_allclose(free.qdd, [-0.5, -1 / 3])
    assert free.rank == 0 and free.multipliers.shape == (0,)


def test_a_singular_inertia_is_refused_with_its_freedom_unless_it_is_held():
    a = np.diag([1.0, 0.0])
    with pytest.raises(ConstraintError, match='singular.*freedom 1'):
        solve(a, np.zeros(2), np.ones(2), rows_of([[1, 0]], [0]))
    with pytest.raises(ConstraintError, match='singular.*freedom 1'):
        solve(a, np.zeros(2), np.ones(2), rows_of([[1, 0]], [0]), 'udwadia_kalaba')
    # the massless freedom is determined by the constraint
    found = solve(a, np.zeros(2), np.array([2.0, 0.0]), rows_of([[1, -1]], [0]))
    np.testing.assert_allclose(found.qdd, [2, 2])


def test_a_massless_leaf_is_refused_by_the_tree():
    with pytest.raises(TreeError, match='ghost'):
        Tree.from_connection([-1], [Joint('hinge')], [Body('ghost')])


def test_wrong_shapes_and_methods_are_refused():
    rows = rows_of([[1, 0]], [0])
    with pytest.raises(ConstraintError, match='inertia has shape'):
        solve(np.eye(3), np.zeros(2), np.zeros(2), rows)
    with pytest.raises(ConstraintError, match='tau'):
        solve(np.eye(2), np.zeros(2), np.zeros(3), rows)
    with pytest.raises(ConstraintError, match="method = 'magic'.*qr"):
        solve(np.eye(2), np.zeros(2), np.zeros(2), rows, 'magic')


def test_the_fast_path_tells_of_contradictions_and_brakes_errors_down():
    tree = free_body(kind='planar', gravity=(0, 0, 0))
    state = np.array([0.1, 0, 0]), np.array([0.2, 0, 0]), np.zeros(3)
    held = ConstrainedDynamics(tree, [Point(body='body')], frequency=10.0)
    # −2ω v − ω² e
    np.testing.assert_allclose(held(*state), [-4 - 10, 0, 0], atol=1e-12)
    np.testing.assert_allclose(held.error, [0.1, 0, 0], atol=1e-15)
    both = ConstrainedDynamics(tree, [Point(body='body'), Weld(body='body', place=(0, 0, 1))])
    both(*state)
    assert both.rank == 3 and both.disagreement < 1e-14
    turn = np.array([0, 0, 1.0])
    loose = ConstrainedDynamics(tree, [Point(body='body', point=(1, 0, 0)),
                                       Point(body='body', point=(-1, 0, 0))])
    # turning about a point between two held points: one wants to accelerate left, one right
    loose(np.zeros(3), turn, np.zeros(3))
    assert loose.disagreement > 0.5
