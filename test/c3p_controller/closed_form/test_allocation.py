# SPDX-License-Identifier: Apache-2.0
"""Least squares in a box: against every active set there is, and its conditions of optimality."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.closed_form.allocation import solve_box


def problem(seed, n, spread):
    """Return a positive definite H, g and a box; `spread` is the decades of its eigenvalues."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    hessian = (q * 10.0 ** rng.uniform(-spread, 0.0, n)) @ q.T
    hessian = 0.5 * (hessian + hessian.T)
    lower = rng.uniform(-2.0, 1.0, n)
    return hessian, rng.normal(size=n), lower, lower + rng.uniform(0.0, 2.0, n)


def value(hessian, gradient, x):
    return 0.5 * x @ hessian @ x + gradient @ x


def best_of_all_active_sets(hessian, gradient, lower, upper):
    """Return the lowest value over all ways of holding variables at their bounds."""
    n, best = len(gradient), np.inf
    for held in itertools.product((None, 'lower', 'upper'), repeat=n):
        x = np.array([{None: 0.0, 'lower': low, 'upper': up}[h]
                      for h, low, up in zip(held, lower, upper, strict=True)])
        free = np.array([h is None for h in held])
        if free.any():
            rest = gradient[free] + hessian[np.ix_(free, ~free)] @ x[~free]
            x[free] = np.linalg.solve(hessian[np.ix_(free, free)], -rest)
        if (x >= lower - 1e-12).all() and (x <= upper + 1e-12).all():
            best = min(best, value(hessian, gradient, x))
    return best


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0.0, 5.0))
def test_no_active_set_is_better(seed, n, spread):
    hessian, gradient, lower, upper = problem(seed, n, spread)
    x = np.array(solve_box(hessian.tolist(), gradient.tolist(), lower.tolist(), upper.tolist()))
    assert (x >= lower).all() and (x <= upper).all()
    best = best_of_all_active_sets(hessian, gradient, lower, upper)
    # the value is flat at the optimum: rounding of x counts squared, that of the sum once
    assert value(hessian, gradient, x) <= best + 1e-9 * (1.0 + abs(best))


@given(st.integers(0, 2**32 - 1), st.integers(5, 8))
def test_the_slope_points_out_of_the_box_or_is_zero(seed, n):
    hessian, gradient, lower, upper = problem(seed, n, 3.0)
    x = np.array(solve_box(hessian.tolist(), gradient.tolist(), lower.tolist(), upper.tolist()))
    slope = hessian @ x + gradient
    # Cholesky of a matrix of condition 1e3 leaves some 1e-13 of the terms
    tolerance = 1e-10
    assert (slope[x > lower] <= tolerance).all()
    assert (slope[x < upper] >= -tolerance).all()


def test_a_box_without_room_gives_its_only_point():
    assert solve_box([[1.0, 0.0], [0.0, 1.0]], [5.0, -5.0], [0.25, 0.5], [0.25, 0.5]) == [
        0.25, 0.5]


def test_infinite_bounds_give_the_unconstrained_minimum():
    hessian, gradient, _, _ = problem(3, 3, 1.0)
    x = solve_box(hessian.tolist(), gradient.tolist(), [-np.inf] * 3, [np.inf] * 3)
    assert x == pytest.approx(np.linalg.solve(hessian, -gradient), rel=1e-12)


def test_a_direction_that_nothing_weighs_stays_finite():
    # two equal columns: only the sum counts
    x = solve_box([[1.0, 1.0], [1.0, 1.0]], [-4.0, -4.0], [-1.0, -1.0], [1.0, 1.0])
    assert x == pytest.approx([1.0, 1.0])
