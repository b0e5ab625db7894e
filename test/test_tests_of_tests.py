# SPDX-License-Identifier: Apache-2.0
"""The scripts that test the tests: mutants, and slopes of a soak."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'scripts'))

import mutate  # noqa: E402
import soak  # noqa: E402
from mutants import mutants  # noqa: E402

SOURCE = '''
LIMIT: float = 2.0

def clamped(values, most=LIMIT):
    """Return values within the limits."""
    found = []
    for value in values:
        if value < most and not value < -most:
            found.append(value)
    return found
'''


def clamped(tree):
    space = {}
    exec(compile(tree, 'module', 'exec'), space)
    return space['clamped']


def test_mutants_differ_from_the_module_and_from_each_other():
    made = mutants(SOURCE)
    assert len({mutant.name for mutant in made}) == len(made) >= 15
    given = [-3.0, -2.0, 0.0, 2.0, 3.0]
    results = []
    for mutant in made:
        try:
            results.append(clamped(mutant.tree())(given))
        except (NameError, TypeError):
            results.append(None)
    # the module itself gives this, and every change of it here has an effect
    assert [-2.0, 0.0] not in results
    # texts and annotations stay
    assert not any('Return' in mutant.name.partition(': ')[2] for mutant in made)


def test_a_changed_module_takes_the_place_of_the_file(monkeypatch):
    path = mutate.path_of('c3p_controller.command_lock')
    mutant = next(one for one in mutants(path.read_text('utf-8'))
                  if one.name == 'COPY_DELAY = 0.2: 0.2 → 0.4')
    name = 'c3p_controller.command_lock'
    monkeypatch.setattr(sys, 'meta_path', [mutate.Changed(name, path, mutant), *sys.meta_path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    changed = __import__(name, fromlist=['COPY_DELAY'])
    # of the file again, for all others
    monkeypatch.undo()
    assert changed.COPY_DELAY == 0.4


def test_each_mutant_without_an_effect_is_one_of_its_module():
    for module, known in mutate.equivalents().items():
        source = mutate.path_of(mutate.MODULES[module].module).read_text('utf-8')
        assert set(known) <= {mutant.name for mutant in mutants(source)}, module
    assert all((ROOT / 'test' / name).is_file()
               for tested in mutate.MODULES.values() for name in tested.tests)


@pytest.mark.parametrize('grows', [0.0, 30.0])
def test_a_slope_is_seen_behind_the_noise_and_a_warm_up_is_none(grows):
    times = 2.0 * np.arange(600)
    noise = np.random.default_rng(1).normal(size=600)
    # 20 MB come in the first minutes; `grows` is in MB an hour
    memory = 300.0 - 20.0 * np.exp(-times / 60.0) + grows * times / 3600.0 + 0.2 * noise
    found = soak.slope(list(times), list(memory))
    assert found['low'] < grows < found['high']
    keys = {'memory_mb': found, 'threads': soak.slope(list(times), [7.0] * 600)}
    assert bool(soak.verdict({'sim': keys})) is (grows > 0.0)
