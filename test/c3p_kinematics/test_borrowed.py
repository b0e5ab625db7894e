# SPDX-License-Identifier: Apache-2.0
"""Borrowed arrays are the arrays of the caller, without counts of references in machine code."""

from typing import NamedTuple

import numpy as np

from c3p_kinematics.compiled import borrowed, kernel


class Pair(NamedTuple):
    """What kernels get: arrays and numbers in tuples."""

    numbers: np.ndarray
    factor: float


@kernel
def counted(pair, nested):
    """Scale the first row of an array in a tuple in place; return a sum over both."""
    return scaled(pair, nested)


@kernel
def uncounted(pair, nested):
    """Do the same with borrowed arrays."""
    return scaled(borrowed(pair), borrowed(nested))


@kernel
def scaled(pair, nested):
    """Scale a row, and sum up."""
    row = pair.numbers[0]
    for k in range(len(row)):
        row[k] *= pair.factor
    one, other = nested
    return one.sum() + other[1:].max() + row.sum()


def test_a_borrowed_array_is_that_of_the_caller():
    results = []
    for function in (counted, uncounted):
        numbers, nested = np.arange(6.0).reshape(2, 3), (np.ones(3), np.arange(4))
        results.append((function(Pair(numbers, 2.0), nested), numbers.tolist()))
    assert results[0] == results[1] == (12.0, [[0.0, 2.0, 4.0], [3.0, 4.0, 5.0]])
