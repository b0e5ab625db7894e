# SPDX-License-Identifier: Apache-2.0
"""Numbers side by side have, lane by lane, the bits of single ones."""

import math

import numpy as np
import pytest

from c3p_kernels.compiled import COMPILED, kernel

if not COMPILED:
    pytest.skip('needs numba', allow_module_level=True)

from c3p_kernels.lanes import FEW, as_few, lane, looked_up, where, whole

TABLE = np.arange(32.0).reshape(16, 2)
ODD = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310, 1e300, -2.5])


@kernel
def arithmetic(x, y, out):
    """Write what the operators give; loops and constants mix numbers with lanes."""
    total = 0.0
    for k in range(3):
        total += k * x - y / 3
        total *= 0.5
    out[0], out[1], out[2] = total, -x, abs(y)
    out[3] = math.copysign(x, y)
    out[4] = 1.0


@kernel
def lanes_arithmetic(x, y, out):
    """As `arithmetic`, all numbers side by side."""
    arithmetic(as_few(x)[0], as_few(y)[0], as_few(out))


@kernel
def choices(x, y, out):
    """Write what depends on conditions and places."""
    a, b, result = as_few(x)[0], as_few(y)[0], as_few(out)
    result[0] = where(a < b, a, b)
    result[1] = where(a < 1, 1.0, 0.0)
    result[2] = whole(a) * 2.0
    result[3] = looked_up(TABLE, whole(a), 15, 1)
    return lane(b, 2)


@pytest.mark.parametrize('seed', range(4))
def test_operators_have_the_bits_of_single_numbers(seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 1, FEW))
    if seed >= 2:
        some = slice(FEW * (seed - 2), FEW * (seed - 1))
        x[0], y[0] = ODD[some], np.roll(ODD, 3)[some]
    out, one = np.zeros((5, FEW)), np.zeros(5)
    lanes_arithmetic(x, y, out)
    for k in range(FEW):
        arithmetic(x[0, k], y[0, k], one)
        np.testing.assert_array_equal(out[:, k], one)


@pytest.mark.parametrize('seed', range(3))
def test_conditions_and_tables_are_those_of_each_lane(seed):
    x, y = 8.0 * np.random.default_rng(seed).normal(size=(2, 1, FEW))
    y[0, 2] = x[0, 2]
    out = np.zeros((4, FEW))
    assert choices(x, y, out) == y[0, 2]
    a, b = x[0], y[0]
    np.testing.assert_array_equal(out[0], np.where(a < b, a, b))
    np.testing.assert_array_equal(out[1], a < 1)
    np.testing.assert_array_equal(out[2], 2.0 * np.trunc(a))
    np.testing.assert_array_equal(out[3], TABLE[np.trunc(a).astype(int) & 15, 1])
