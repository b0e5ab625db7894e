# SPDX-License-Identifier: Apache-2.0
"""Numbers side by side have, lane by lane, the bits of single ones."""

import math

import numpy as np
import pytest

from c3p_kernels.compiled import COMPILED, kernel

if not COMPILED:
    pytest.skip('needs numba', allow_module_level=True)

from c3p_kernels.lanes import LANES, anywhere, as_lanes, lane, looked_up, where, whole, with_lane

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
    out[3], out[4] = math.sqrt(abs(x)), math.copysign(x, y)
    out[5], out[6] = min(x, y), max(x, 1.0)
    out[7] = 1.0


@kernel
def lanes_arithmetic(x, y, out):
    """As `arithmetic`, all numbers side by side."""
    arithmetic(as_lanes(x)[0], as_lanes(y)[0], as_lanes(out))


@kernel
def choices(x, y, out):
    """Write what depends on conditions and places."""
    a, b, result = as_lanes(x)[0], as_lanes(y)[0], as_lanes(out)
    result[0] = where((a < b) & ~(a >= 1.0), a, b)
    result[1] = where(a == b, 1.0, 0.0)
    result[2] = whole(a) * 2.0
    result[3] = looked_up(TABLE, whole(a), 15, 1)
    result[4] = with_lane(a, 3, lane(b, 5))
    return anywhere(a > b), anywhere(a > a)


@pytest.mark.parametrize('seed', range(3))
def test_operators_have_the_bits_of_single_numbers(seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 1, LANES))
    if seed == 2:
        x[0], y[0] = ODD, np.roll(ODD, 3)
    out, one = np.zeros((8, LANES)), np.zeros(8)
    lanes_arithmetic(x, y, out)
    for k in range(LANES):
        arithmetic(x[0, k], y[0, k], one)
        # which of two values min and max return beside a nan is not defined
        some = slice(None) if np.isfinite(x[0, k] + y[0, k]) else slice(0, 5)
        np.testing.assert_array_equal(out[some, k], one[some])


def test_conditions_and_tables_are_those_of_each_lane():
    x, y = 8.0 * np.random.default_rng(1).normal(size=(2, 1, LANES))
    y[0, 2] = x[0, 2]
    out = np.zeros((5, LANES))
    assert choices(x, y, out) == (bool(np.any(x > y)), False)
    a, b = x[0], y[0]
    np.testing.assert_array_equal(out[0], np.where((a < b) & (a < 1.0), a, b))
    np.testing.assert_array_equal(out[1], a == b)
    np.testing.assert_array_equal(out[2], 2.0 * np.trunc(a))
    np.testing.assert_array_equal(out[3], TABLE[np.trunc(a).astype(int) & 15, 1])
    np.testing.assert_array_equal(out[4], np.where(np.arange(LANES) == 3, b[5], a))
