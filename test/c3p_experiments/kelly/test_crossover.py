# SPDX-License-Identifier: Apache-2.0
"""Composite against articulated bodies: same accelerations, and the first n where one wins."""

import pytest

from c3p_experiments.kelly.crossover import CrossoverCurve, crossing, measure, run_crossover


@pytest.mark.parametrize(('composite', 'articulated', 'first'), [
    ([1, 2, 3], [2, 3, 2], 7), ([1, 2, 3], [2, 3, 4], None), ([2, 3, 4], [1, 1, 1], 3),
    ([2, 1, 4], [1, 2, 3], 7)])
def test_articulated_bodies_win_from_the_size_after_the_last_that_they_lose(
        composite, articulated, first):
    assert crossing(CrossoverCurve(composite, articulated, 0.0), (3, 5, 7)) == first


@pytest.mark.parametrize('branched', [False, True], ids=['chain', 'tree'])
def test_both_methods_give_the_same_accelerations(branched):
    curve = measure(branched, (1, 4, 9))
    # rounding times the condition of the inertia matrix of nine random bodies
    assert curve.difference < 1e-10
    assert all(seconds > 0 for seconds in curve.composite + curve.articulated)


def test_the_page_is_written(tmp_path):
    metrics = run_crossover(tmp_path, (2, 12))
    assert metrics['reached'] and (tmp_path / 'crossover.png').stat().st_size > 10_000
