# SPDX-License-Identifier: Apache-2.0
"""One source with other functions in place: replaced at every depth, made once, bits kept."""

import cmath
import math
import subprocess
import sys
from pathlib import Path
from types import FunctionType, SimpleNamespace

import pytest

from c3p_kernels.compiled import COMPILED, inlined, kernel
from c3p_kernels.specialise import as_python, specialise, within

ROOT = Path(__file__).parents[2]
compiled_only = pytest.mark.skipif(not COMPILED, reason='no compiler')


@inlined
def squared(x):
    return x * x


@inlined
def cubed(x):
    return x * x * x


@kernel
def halved(x):
    return x / 2.0


@kernel
def beneath(x):
    return squared(x) + 1.0


@kernel
def above(x):
    return beneath(x) + halved(x)


@kernel
def turned(x):
    return math.cos(x) * squared(x)


@kernel
def countdown(x):
    return squared(x) if x < 1.0 else countdown(x - 1.0)


@kernel
def over(x, y):
    return squared(x) / y


def stand_in(x):
    """Stand for what is put in place."""


def around(x):
    return stand_in(x) + beneath(x)


@compiled_only
def test_a_function_is_replaced_further_down_and_the_kernel_stays_as_it_was():
    other = specialise(above, {squared: cubed})
    assert above(3.0) == 9.0 + 1.0 + 1.5
    assert other(3.0) == 27.0 + 1.0 + 1.5
    assert other is not above and beneath(3.0) == 10.0


@compiled_only
def test_a_kernel_is_made_once_for_all_calls_with_a_dictionary():
    instead = {squared: cubed}
    other = specialise(above, instead)
    assert specialise(above, instead) is other
    assert specialise(beneath, instead) is other.py_func.__globals__['beneath']
    assert set(instead) == {squared, above, beneath, halved}


@compiled_only
@pytest.mark.parametrize('shared', [False, True])
def test_a_kernel_that_calls_nothing_else_is_shared_where_that_is_wanted(shared):
    names = specialise(above, {squared: cubed}, shared=shared).py_func.__globals__
    assert (names['halved'] is halved) == shared
    assert names['beneath'] is not beneath


@compiled_only
def test_options_of_the_compiler_are_those_of_the_kernel_and_further_ones():
    other = specialise(over, {squared: cubed}, fastmath=False)
    # IEEE's, not Python's
    assert other(2.0, 0.0) == math.inf
    assert other.targetoptions['nogil'] and other.targetoptions['fastmath'] is False
    assert specialise(squared, {}).targetoptions['forceinline']
    assert specialise(halved, {}, within).targetoptions['forceinline']


def test_a_kernel_that_calls_itself_calls_the_one_in_its_place():
    assert specialise(countdown, {squared: cubed}, as_python)(2.5) == 0.125
    assert not COMPILED or specialise(countdown, {}, shared=True) is not countdown


def test_source_runs_as_python_with_any_numbers_and_other_modules():
    source = specialise(above, {}, as_python)
    assert isinstance(source, FunctionType)
    assert source(1j) == -1.0 + 1.0 + 0.5j
    called = [source.__globals__[name] for name in ('beneath', 'halved')]
    assert all(isinstance(one, FunctionType) for one in called)
    assert source(0.1) == above(0.1)
    moved = specialise(turned, {math: cmath}, as_python)
    assert moved(2j) == cmath.cos(2j) * (2j) ** 2
    half = specialise(turned, {math: SimpleNamespace(cos=lambda x: 0.5)}, as_python)
    assert half(3.0) == 4.5


@compiled_only
def test_generated_code_takes_a_place_in_a_function_that_is_no_kernel():
    made = specialise(around, {stand_in: cubed}, within, shared=True)

    @kernel
    def call(x):
        return made(x)

    assert call(2.0) == 8.0 + 5.0
    assert made.py_func.__globals__['beneath'] is beneath
    assert around.__globals__['stand_in'] is stand_in


def test_without_a_compiler_sources_are_specialised_alike():
    program = (f'import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n'
               'from test_specialise import *\n'
               'assert not COMPILED\n'
               'print(specialise(above, {squared: cubed}, within, shared=True)(3.0),\n'
               '      specialise(around, {stand_in: cubed}, within)(2.0))\n')
    done = subprocess.run([sys.executable, '-c', program], cwd=ROOT, capture_output=True,
                          text=True, env={'NUMBA_DISABLE_JIT': '1', 'PATH': ''})
    assert done.stdout.split() == ['29.5', '13.0'], done.stderr
