# SPDX-License-Identifier: Apache-2.0
"""Borrowed arrays are the arrays of the caller, without counts of references in machine code."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from c3p_kernels import compiled
from c3p_kernels.compiled import borrowed, kernel

numba = pytest.importorskip('numba', reason='pip install numba')

ROOT = Path(__file__).parents[2]


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


@pytest.mark.skipif(not compiled.COMPILED, reason='no compiler')
def test_an_array_of_other_members_is_refused_before_a_kernel_reads_elsewhere(monkeypatch):
    from numba import types
    from numba.core.datamodel import models

    from c3p_kernels import borrowed as _borrowed

    _borrowed.check_layout()
    own = models.ArrayModel.__init__

    def longer(self, dmm, fe_type):
        own(self, dmm, fe_type)
        models.StructModel.__init__(self, dmm, fe_type, [
            *zip(self._fields, self._members, strict=True), ('device', types.int32)])

    monkeypatch.setattr(models.ArrayModel, '__init__', longer)
    monkeypatch.setattr(_borrowed, 'default_manager', _borrowed.default_manager.copy())
    with pytest.raises(TypeError, match=r'strides .*, device i32 instead of meminfo pointer'):
        _borrowed.check_layout()


OTHER_NUMBA = """
import sys
from numba.core import caching
from numba.core.datamodel import models
own = models.ArrayModel.__init__

def reordered(self, dmm, fe_type):
    own(self, dmm, fe_type)
    members = list(zip(self._fields, self._members))
    models.StructModel.__init__(self, dmm, fe_type, members[::-1])

{change}
from c3p_bringup import programs
sys.argv = ['{program}', *{arguments}]
sys.exit(getattr(programs, '{program}')())
"""


@pytest.mark.skipif(not compiled.COMPILED, reason='no compiler')
@pytest.mark.parametrize('change, what', [
    ('models.ArrayModel.__init__ = reordered', 'instead of meminfo pointer'),
    ('del caching.FunctionCache', "has no attribute 'FunctionCache'"),
    ('caching.FunctionCache.load_overload = lambda self, sig: None',
     'takes (self, sig): too many positional arguments')])
@pytest.mark.parametrize(('program', 'arguments'), [
    ('c3p', ['experiment', 'figure9']), ('c3p', ['drive', '1', '0', '0']),
    ('sensed_kinematics_node', [])])
def test_no_program_starts_with_a_compiler_that_it_does_not_fit(change, what, program, arguments):
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    script = OTHER_NUMBA.format(change=change, program=program, arguments=arguments)
    done = subprocess.run([sys.executable, '-c', script], cwd=ROOT, capture_output=True, text=True)
    line, = done.stderr.strip().splitlines()
    assert done.returncode in (1, 2)
    assert 'kernels need Numba from 0.58.1' in line and f'that of {numba.__version__}' in line
    assert f"`pip install '{compiled.NUMBA}'`" in line and what in line


@pytest.mark.parametrize('file', ['setup.py', 'scripts/environment.sh'])
def test_the_versions_that_the_kernels_name_are_those_that_are_installed(file):
    assert f"'{compiled.NUMBA}'" in (ROOT / file).read_text(encoding='utf-8')
