# SPDX-License-Identifier: Apache-2.0
"""Functions that only kernels call are compiled into them, without machine code of their own."""

import pytest

from c3p_kernels.compiled import COMPILED, inner, kernel

pytestmark = pytest.mark.skipif(not COMPILED, reason='no compiler')


@inner
def square(value):
    return value * value


@inner
def fourth(value):
    return square(square(value))


@kernel
def eighth(value):
    return fourth(value) * square(square(value))


def compiled(function):
    """Return the code of a function of a number, and its name there."""
    numba = pytest.importorskip('numba')
    function.compile((numba.float64,))
    found = function.overloads[numba.float64,]
    return found.library, found.fndesc.llvm_func_name


def test_a_kernel_calculates_with_the_parts_of_its_parts():
    assert eighth(3.0) == 3.0**8
    # also of a kernel that is compiled later
    assert kernel(lambda value: square(value) + 1.0)(3.0) == 10.0


def test_a_kernel_has_machine_code_and_a_part_has_none():
    for function, executed in ((eighth, True), (fourth, False), (square, False)):
        code, name = compiled(function)
        assert bool(code.get_pointer_to_function(name)) is executed


def test_a_part_is_optimised_in_the_kernel_alone():
    # as it was written, with its calls; the kernel multiplies, without a call
    for function, calls in ((fourth, 2), (eighth, 0)):
        code, name = compiled(function)
        assert str(code.get_function(name)).count('call i32') == calls


def test_a_part_with_an_error_raises_it_through_the_kernel():
    @inner
    def refusing(value):
        if value < 0.0:
            raise ValueError('negative')
        return value

    @kernel
    def doubled(value):
        return 2.0 * refusing(value)

    assert doubled(2.0) == 4.0
    with pytest.raises(ValueError, match='negative'):
        doubled(-1.0)


def test_a_part_cannot_be_called_from_python_before_and_after_it_is_compiled():
    @inner
    def cube(value):
        return value * value * value

    for _ in range(2):
        with pytest.raises(TypeError, match='cube is a part of other kernels'):
            cube(2.0)
        assert compiled(cube)
