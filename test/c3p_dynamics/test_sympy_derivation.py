# SPDX-License-Identifier: Apache-2.0
"""The equations of motion against a symbolic derivation from positions."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from c3p_description.model import CasterRobot
from c3p_dynamics.caster_dynamics import bias, mass_matrix

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / 'test/data/caster_dynamics_reference.json').read_text())

# relative to the largest entry; both sides round once per operation, a few dozen operations
TOLERANCE = 1e-12


def robot_of(case):
    """Return the CasterRobot of a reference case."""
    parts = dict(zip(CASES['caster'], np.transpose(case['casters']), strict=True))
    mass, inertia, *com = case['platform']
    return CasterRobot(name='reference', hip_position=np.column_stack([parts.pop('hip_x'),
                                                                       parts.pop('hip_y')]),
                       platform_mass=mass, platform_inertia=inertia, platform_com=com, **parts)


def assert_close(robot, case):
    mass, force = np.array(case['mass']), np.array(case['bias'])
    got = mass_matrix(robot, case['steering'])
    np.testing.assert_allclose(got, mass, rtol=0, atol=TOLERANCE * np.abs(mass).max())
    got = bias(robot, case['steering'], case['twist'])
    np.testing.assert_allclose(got, force, rtol=0, atol=TOLERANCE * np.abs(force).max())


@pytest.mark.parametrize('case', CASES['cases'], ids=lambda c: f'{len(c["steering"])}_casters')
def test_mass_and_bias_equal_the_committed_symbolic_reference(case):
    assert_close(robot_of(case), case)


def test_derivation_run_afresh_gives_the_committed_numbers():
    pytest.importorskip('sympy')
    spec = importlib.util.spec_from_file_location('derive_caster_dynamics',
                                                  ROOT / 'scripts/derive_caster_dynamics.py')
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    derived = script.derive()
    for case in CASES['cases']:
        mass, force = script.evaluate(derived, case['platform'], case['casters'],
                                      case['steering'], case['twist'])
        # both were rounded once from fifty digits
        np.testing.assert_array_equal(mass, case['mass'])
        np.testing.assert_array_equal(force, case['bias'])
