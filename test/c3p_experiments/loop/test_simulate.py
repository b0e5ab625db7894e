# SPDX-License-Identifier: Apache-2.0
"""A drive in one call, and the names of the package c3p."""

import subprocess
import sys

import numpy as np
import pytest

import c3p
from c3p_experiments.loop.simulate import simulate


def test_a_drive_visits_all_goals_in_turn():
    goals = [(0.5, 0.0, 0.0), (0.5, 0.4, 1.0)]
    log = simulate('c3p', goals, steering=(0.3, 1.2, -0.7))
    assert log.ended
    for goal in goals:
        errors = np.abs(log.odom.pose - goal).max(axis=1)
        assert errors.min() < 0.02
    np.testing.assert_allclose(log.odom.pose[-1], goals[-1], atol=0.02)
    # as a model, and the same drive
    again = simulate(c3p.load('c3p'), goals, steering=(0.3, 1.2, -0.7))
    np.testing.assert_array_equal(again.odom.pose, log.odom.pose)


@pytest.mark.parametrize(('robot', 'goals', 'says'), [
    ('agv', [(1, 0, 0)], 'must stand on casters'), ('c3p', [], 'goals: give one'),
    ('c4p', [(1, 0, 0)], "'c4p' is unknown")])
def test_what_cannot_be_driven_is_named(robot, goals, says):
    with pytest.raises(ValueError, match=says):
        simulate(robot, goals)


def test_the_package_has_its_names_and_imports_nothing_before_they_are_used():
    assert dir(c3p) == sorted(c3p.__all__)
    for name in c3p.__all__:
        assert getattr(c3p, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Odometer'; it has Bag, "):
        c3p.Odometer  # noqa: B018 (raises)
    done = subprocess.run([sys.executable, '-c', 'import c3p, sys; print("numpy" in sys.modules)'],
                          capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'False'


def test_a_robot_fits_a_screen():
    for name in ('c3p', 'powered_caster', 'twin', 'amr', 'swerve', 'tricycle_agv'):
        lines = f'{c3p.load(name)}'.splitlines()
        assert len(lines) <= 24 and max(map(len, lines)) <= 90
        assert lines[0].startswith(f'{name}: ')
