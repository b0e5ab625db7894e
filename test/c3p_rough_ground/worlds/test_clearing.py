# SPDX-License-Identifier: Apache-2.0
"""A clearing: level inside, the terrain outside, and smooth between."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from c3p_rough_ground.terrain import Incline, TerrainError
from c3p_rough_ground.worlds.terrain_files import load_terrain

SCRIPT = Path(__file__).parents[3] / 'scripts' / 'write_worlds.py'
Clearing = runpy.run_path(str(SCRIPT))['Clearing']
HILLS = load_terrain('hills')
GROUND = Clearing(HILLS, radius=0.7, fade=1.1)


def ring(radius, count=40):
    """Return points on a circle."""
    angle = np.linspace(0.0, 6.0, count)
    return radius * np.cos(angle), radius * np.sin(angle)


@pytest.mark.parametrize('radius', [0.0, 0.3, 0.699])
def test_the_disc_is_level(radius):
    assert np.array_equal(GROUND.derivatives(*ring(radius)), np.zeros((6, 40)))


@pytest.mark.parametrize('radius', [1.8, 2.5, 9.0])
def test_outside_is_the_terrain_but_for_its_height(radius):
    height, *others = GROUND.derivatives(*ring(radius))
    expected, *slopes = HILLS.derivatives(*ring(radius))
    np.testing.assert_allclose(height, expected - HILLS.height(0.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(others, slopes, atol=1e-15)


@pytest.mark.parametrize('radius', [0.71, 0.9, 1.2, 1.5, 1.79])
def test_derivatives_are_those_of_the_height(radius):
    """Central differences, whose error is of the order of the step squared."""
    x, y = ring(radius)
    step = 1e-4
    g, gx, gy, gxx, gxy, gyy = GROUND.derivatives(x, y)
    ahead, behind = GROUND.derivatives(x + step, y), GROUND.derivatives(x - step, y)
    left, right = GROUND.derivatives(x, y + step), GROUND.derivatives(x, y - step)
    by_x, by_y = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)], [
        (a - b) / (2 * step) for a, b in zip(left, right, strict=True)]
    # the second derivatives have a corner at both edges
    for numbers, others in (((gx, gy), (by_x[0], by_y[0])),
                            ((gxx, gxy, gyy), (by_x[1], by_y[1], by_y[2]))):
        np.testing.assert_allclose(numbers, others, atol=2e-3)


@pytest.mark.parametrize('name', ['radius', 'fade'])
@pytest.mark.parametrize('value', [0.0, -1.0, float('nan')])
def test_sizes_that_are_no_sizes_are_refused(name, value):
    with pytest.raises(TerrainError, match=f'{name} = {value}: must be greater than zero'):
        Clearing(Incline(0.1), **{name: value})
