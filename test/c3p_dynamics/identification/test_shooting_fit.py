# SPDX-License-Identifier: Apache-2.0
"""Deviations and what cannot be told apart, on linear problems that have exact answers."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_dynamics.identification.parameters import Unknown
from c3p_dynamics.identification.shooting_fit import ShootingFit

SIZE = np.array([30.0, 0.05, 0.01])


class LinearFit(ShootingFit):
    """A fit whose weighted errors are ``right − slopes x / size``, in pieces of unequal length."""

    def __init__(self, slopes, right, lengths, width=2):
        edge = np.concatenate([[0], np.cumsum(lengths)])
        self.shooting = SimpleNamespace(rows=[slice(a, b) for a, b in zip(
            edge[:-1], edge[1:], strict=True)])
        self.slopes, self.size = slopes, SIZE[:slopes.shape[1]]
        self.where = [Unknown('platform_mass')] * slopes.shape[1]
        self.x = np.linalg.lstsq(slopes, right, rcond=None)[0]
        self.errors = (right - slopes @ self.x).reshape(-1, width)

    def settle(self):
        """The errors are there."""

    def _slopes(self):
        return -self.slopes


def problem(seed, pieces=12, unknowns=3):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 9, pieces)
    rows = 2 * lengths.sum()
    return rng.normal(size=(rows, unknowns)), rng.normal(size=rows), lengths


@given(st.integers(0, 2**32 - 1))
def test_deviations_are_those_of_fits_without_one_piece_each(seed):
    slopes, right, lengths = problem(seed)
    fit = LinearFit(slopes, right, lengths)
    edge = 2 * np.concatenate([[0], np.cumsum(lengths)])
    others = []
    for a, b in zip(edge[:-1], edge[1:], strict=True):
        keep = np.ones(len(right), bool)
        keep[a:b] = False
        others.append(np.linalg.lstsq(slopes[keep], right[keep], rcond=None)[0])
    away = (np.array(others) - fit.x) * SIZE
    covariance = (len(lengths) - 1) / len(lengths) * away.T @ away
    deviation, correlation = fit.spread()
    np.testing.assert_allclose(deviation, np.sqrt(np.diag(covariance)), rtol=1e-9)
    size = np.outer(deviation, deviation)
    np.testing.assert_allclose(correlation, covariance / size, rtol=0, atol=1e-9)


def test_deviation_is_that_of_least_squares_where_the_noise_is_white():
    slopes, _, lengths = problem(1, 400)
    noise = np.random.default_rng(2).normal(size=len(slopes))
    expected = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))) * SIZE
    # a deviation from 400 pieces is known to 1/√800, 4 %
    np.testing.assert_allclose(LinearFit(slopes, noise, lengths).spread()[0], expected, rtol=0.15)


@pytest.mark.parametrize('alone', [0, 2])
def test_what_one_piece_alone_tells_has_no_end_and_takes_nothing_from_the_others(alone):
    slopes, right, lengths = problem(3)
    slopes[2 * lengths[0]:, alone] = 0.0
    deviation, correlation = LinearFit(slopes, right, lengths).spread()
    others = [i for i in range(3) if i != alone]
    assert np.isinf(deviation[alone]) and np.isfinite(correlation).all()
    # about as exact as with an unknown that every piece tells
    ordinary, _ = LinearFit(problem(3)[0], right, lengths).spread()
    np.testing.assert_allclose(deviation[others], ordinary[others], rtol=0.5)


@pytest.mark.parametrize(('column', 'blind'), [
    (lambda s: 3.0 * s[:, 0], [True, False, True]),
    (lambda s: s[:, 0] - 2.0 * s[:, 1], [True, True, True]),
    (lambda s: 0.0 * s[:, 0], [False, False, True]),
    (lambda s: s[:, 2], [False, False, False]),
    (lambda s: s[:, 0] + 1e-3 * s[:, 2], [False, False, False])],
    ids=['same effect', 'sum of effects', 'no effect', 'its own', 'hardly its own'])
def test_unknowns_without_an_effect_of_their_own_are_found(column, blind):
    slopes, right, lengths = problem(4)
    slopes[:, 2] = column(slopes)
    np.testing.assert_array_equal(LinearFit(slopes, right, lengths).indistinct(), blind)
