# SPDX-License-Identifier: Apache-2.0
"""Impacts: Carnot's energy, momentum, restitution, and several contacts at once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import free_body, random_state, random_tree, rows_of

from c3p_multibody.constraints import (
    ConstraintError,
    Point,
    RollingBall,
    Weld,
    evaluate,
    impact,
    pushing,
)
from c3p_multibody.trees import Tree, crba, kinetic_energy, momentum

seeds = st.integers(0, 10_000)


@given(seeds, st.floats(0, 1))
def test_the_loss_is_carnots_and_the_restitution_newtons(seed, restitution):
    tree = random_tree(seed, 8)
    q, qd, _ = random_state(tree, seed)
    last = int(tree.order[-1])
    rows = evaluate(tree, [Weld.here(tree, q, last)], q, qd)
    a = crba(tree, q)
    hit = impact(a, qd, rows, restitution)
    energy = [float(kinetic_energy(tree, q, v)) for v in (qd, hit.qd)]
    size = max(energy)
    change = hit.qd - qd
    carnot = (1 - restitution) / (1 + restitution) * 0.5 * change @ a @ change
    assert hit.energy_loss == pytest.approx(carnot, abs=1e-10 * size)
    assert energy[0] - energy[1] == pytest.approx(carnot, abs=1e-10 * size)
    approach = np.max(np.abs(rows.jacobian @ qd)) + 1
    after = rows.jacobian @ hit.qd + restitution * rows.jacobian @ qd
    assert np.max(np.abs(after)) < 1e-11 * approach
    np.testing.assert_allclose(a @ change, rows.jacobian.T @ hit.impulse, atol=1e-9 * size)


def test_bodies_that_grasp_each_other_keep_momentum():
    two = free_body(gravity=(0, 0, 0))
    tree = Tree.from_connection(
        [-1, *range(5), -1, *range(6, 11)],
        [*two.joints, *[type(j)(j.name + '2', j.kind, j.axis) for j in two.joints]],
        [*two.bodies, *[type(b)(b.name + '2', 2 * b.mass, b.com, 3 * b.inertia)
                        for b in two.bodies]], (0, 0, 0))
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-0.5, 0.5, (2, 12))
    rows = evaluate(tree, [Weld.here(tree, q, 5, 11, (0.2, 0.1, 0))], q, qd)
    hit = impact(crba(tree, q), qd, rows)
    np.testing.assert_allclose(momentum(tree, q, hit.qd), momentum(tree, q, qd), atol=1e-13)
    assert hit.energy_loss > 0


def test_a_rod_held_at_its_end_turns_about_it_with_three_quarters_of_its_energy_left():
    # thrown across: ω = 3 v/(2 l), T⁺ = ½ (m l²/3) ω² = ¾ T⁻
    tree = free_body(1.0, (1 / 12, 1 / 12, 1 / 12), kind='planar')
    q, qd = np.zeros(3), np.array([0, 2.0, 0])
    rows = evaluate(tree, [Point(body='body', point=(0.5, 0, 0), place=(0.5, 0, 0))], q, qd)
    hit = impact(crba(tree, q), qd, rows)
    assert hit.qd[2] == pytest.approx(-3.0, rel=1e-14)
    assert hit.energy_loss == pytest.approx(0.25 * 2.0, rel=1e-13)


def test_a_sliding_ball_that_suddenly_grips_keeps_five_sevenths_of_its_speed():
    tree = free_body(1.0, (0.4, 0.4, 0.4))
    q, qd = np.array([0, 0, 1.0, 0, 0, 0]), np.array([7.0, 0, 0, 0, 0, 0])
    hit = impact(crba(tree, q), qd, evaluate(tree, [RollingBall(body='body', radius=1.0)], q, qd))
    assert hit.qd[0] == pytest.approx(5.0, rel=1e-13)


def test_restitution_has_bounds():
    with pytest.raises(ConstraintError, match='restitution = 1.1'):
        impact(np.eye(1), [1.0], rows_of([[1.0]], [0.0]), 1.1)


@given(seeds)
def test_pushing_contacts_are_those_of_the_one_complementary_solution(seed):
    rng = np.random.default_rng(seed)
    n, m, k = 6, int(rng.integers(0, 3)), int(rng.integers(1, 5))
    root = rng.normal(size=(n, n))
    a, force = root @ root.T + np.eye(n), rng.normal(size=n)
    b, c = rng.normal(size=(m, n)), rng.normal(size=(k, n))
    equal, above = rng.normal(size=m), rng.normal(size=k)
    found = pushing(a, force, (b, equal), (c, above))
    free = np.linalg.solve(a, force)
    answers = []
    # every set of contacts: only one has λ ≥ 0 and leaves the others above their planes
    for chosen in itertools.chain.from_iterable(
            itertools.combinations(range(k), size) for size in range(k + 1)):
        rows, aim = np.vstack([b, c[list(chosen)]]), np.concatenate([equal, above[list(chosen)]])
        way = np.linalg.solve(a, rows.T)
        multipliers = np.linalg.lstsq(rows @ way, aim - rows @ free, rcond=None)[0]
        motion = free + way @ multipliers
        if np.all(multipliers[m:] > 0) and np.all(c @ motion - above > -1e-9):
            answers.append((motion, chosen))
    (motion, chosen), = answers
    assert np.flatnonzero(found.pushes).tolist() == list(chosen)
    np.testing.assert_allclose(found.motion, motion, atol=1e-7)
