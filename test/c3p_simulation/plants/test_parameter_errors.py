# SPDX-License-Identifier: Apache-2.0
"""Robots drawn around their description: bounds, independence, and what stays as it is."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_description.model import CasterRobot, Friction
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed

LOSSES = Friction(pivot_viscous=1e-3, pivot_coulomb=5e-3, rolling_viscous=1e-3,
                  rolling_coulomb=1e-2, scrub_coulomb=1e-2)
NONE = ParameterErrors(mass=0.0, com=0.0)
ALL = ParameterErrors(mass=0.1, com=0.01, friction=0.5, wheel_radius=0.003, caster_offset=0.02,
                      hip_position=0.001, steering_zero=0.005)
SEEDS = st.integers(0, 2**32 - 1)
MASSES = ('platform_mass', 'platform_inertia', 'link_mass', 'link_inertia', 'wheel_mass',
          'wheel_spin_inertia', 'wheel_yaw_inertia')
# which fields of the robot each error touches
TOUCHED = {'mass': MASSES, 'com': ('platform_com',), 'friction': ('losses',),
           'wheel_radius': ('wheel_radius',), 'caster_offset': ('caster_offset',),
           'hip_position': ('hip_position',), 'steering_zero': ('steering_zero',)}
VALUES = (*(name for name in CasterRobot.__dataclass_fields__ if name != 'friction'), 'losses')


def differing(robot, other):
    """Return the names of the fields in which two robots differ."""
    return {name for name in VALUES
            if not np.array_equal(getattr(robot, name), getattr(other, name))}


@given(caster_robots(), SEEDS)
def test_errors_stay_within_their_sizes(robot, seed):
    robot = replace(robot, friction=LOSSES)
    true = perturbed(robot, seed, ALL)
    # rounding of the product, 1e-12 of the value
    for error, names in TOUCHED.items():
        size = getattr(ALL, error)
        for name in names:
            was, now = getattr(robot, name), getattr(true, name)
            if name == 'losses':  # the smoothing, last, is numerical and stays
                assert np.array_equal(was[:, 5], now[:, 5])
                was, now = was[:, :5], now[:, :5]
            share = error in ('mass', 'friction', 'wheel_radius', 'caster_offset')
            room = size * np.abs(was) if share else size
            assert np.all(np.abs(now - was) <= room + 1e-12 * (1 + np.abs(was))), name
            assert np.all(now != was), name


@given(caster_robots(), SEEDS, st.sampled_from(sorted(TOUCHED)))
def test_an_error_touches_what_it_is_called_and_nothing_else(robot, seed, error):
    robot = replace(robot, friction=LOSSES)
    true = perturbed(robot, seed, replace(NONE, **{error: getattr(ALL, error)}))
    assert differing(robot, true) == set(TOUCHED[error])


@given(SEEDS)
def test_equal_seeds_give_equal_robots_and_errors_do_not_mix(seed):
    true = perturbed(C3P, seed, ALL)
    assert differing(true, perturbed(C3P, seed, ALL)) == set()
    # a larger error of one kind scales its own draws only
    wider = perturbed(C3P, seed, replace(ALL, com=2 * ALL.com))
    assert differing(true, wider) == {'platform_com'}
    np.testing.assert_allclose(wider.platform_com, 2 * true.platform_com, atol=1e-15)


def test_no_errors_give_the_same_robot():
    assert differing(C3P, perturbed(C3P, 5, NONE)) == set()


def test_errors_are_uniform_and_casters_are_drawn_apart():
    draws = np.array([perturbed(C3P, seed, ALL).link_mass / C3P.link_mass - 1
                      for seed in range(400)])
    # 1200 uniform draws within ±0.1: mean 0 ± 0.0017, deviation 0.0577 ± 0.0008; 4 sigma
    assert abs(draws.mean()) < 0.007 and draws.std() == pytest.approx(0.1 / 3**0.5, abs=0.004)
    assert np.abs(np.corrcoef(draws.T)[np.triu_indices(3, 1)]).max() < 0.2
    assert len(np.unique(draws)) == draws.size


@pytest.mark.parametrize('wrong', [{'mass': 1.0}, {'mass': -0.1}, {'com': float('nan')},
                                   {'friction': 1.5}, {'steering_zero': float('inf')}])
def test_sizes_that_cannot_be_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ParameterErrors(**wrong)


def test_every_error_is_in_this_test():
    assert {field.name for field in fields(ParameterErrors)} == set(TOUCHED)
