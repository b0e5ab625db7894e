# SPDX-License-Identifier: Apache-2.0
"""A vehicle whose wheels are calculated side by side moves with the bits of wheel by wheel."""

import numpy as np
import pytest
from grounded_vehicles import EQUAL_DRIVES, HILLS, TRICYCLE, tricycle_at

from c3p_rough_ground.closed_chain import motion, simulate
from c3p_rough_ground.terrain import Flat, Hills, SplineGround
from c3p_rough_ground.vehicles import four_wheel_rover

few = pytest.importorskip('c3p_rough_ground.closed_chain._few_kernels')
# as sharp as the tyres in places: steps are shortened, and runs end
ROUGH = Hills.random(3, amplitude=1.2, wavelength=1.6)
STEERED = np.array([0.3, 1.0, 0.0, 1.0, 0.0, 1.0])


def both(monkeypatch, ground, start, desired, duration, **options):
    """Return the run in lanes and the one wheel by wheel."""
    abreast = simulate(TRICYCLE, ground, start, desired, duration, **options)
    monkeypatch.setattr(motion, 'few', None)
    return abreast, simulate(TRICYCLE, ground, start, desired, duration, **options)


@pytest.mark.parametrize('ground', [HILLS, ROUGH, SplineGround.random(2), Flat()],
                         ids=['hills', 'rough', 'net', 'flat'])
@pytest.mark.parametrize('options', [{}, {'method': 'adaptive'},
                                     {'stabilisation': 'baumgarte'}], ids=str)
def test_runs_have_the_same_bits(monkeypatch, ground, options):
    start = tricycle_at(ground, 0.4, -0.7, 0.9, [0.2, 0.0, 0.1, 0.0, -0.1, 0.0])
    one, other = both(monkeypatch, ground, start, STEERED, 3.0, step=0.01, camber_gain=1.0,
                      **options)
    assert one.events == other.events
    for name in ('states', 'rates', 'desired', 'turning'):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_beyond_the_table_of_sines_the_wheels_are_calculated_one_by_one(monkeypatch):
    joint = np.array([0.0, 6e4, 0.0, 0.0, 0.0, 0.0])
    start = tricycle_at(HILLS, 0.0, 0.0, 0.3, joint)
    one, other = both(monkeypatch, HILLS, start, EQUAL_DRIVES, 0.5)
    assert not one.events
    assert one.states.tolist() == other.states.tolist()


def test_other_vehicles_have_no_lanes():
    assert few.fits(TRICYCLE.packed)
    assert not few.fits(four_wheel_rover().packed)
