# SPDX-License-Identifier: Apache-2.0
"""Compilation of the numeric kernels: numba where installed, else plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

# as setup.py requires it: the oldest and the newest release that the tests have run with
NUMBA = 'numba>=0.58.1,<0.69'


class CompilerError(ImportError):
    """Numba is not as the kernels need it; the text names its version and the remedy."""


_njit: Callable[..., Any] | None
try:
    import numba as _numba
    from numba import config as _config
    from numba import njit as _njit
except ModuleNotFoundError:  # the same source runs uncompiled, about 100 times slower
    _njit = None
except ImportError as error:  # of versions that do not fit together, such as NumPy's
    warnings.warn_explicit(f'Numba does not start ({error}); kernels run uncompiled, about 100 '
                           f"times slower: `pip install '{NUMBA}'`", RuntimeWarning, 'c3p', 0)
    _njit = None

# whether there is a compiler, and whether it compiles: NUMBA_DISABLE_JIT serves debugging
COMPILER = _njit is not None
COMPILED = COMPILER and not getattr(_config, 'DISABLE_JIT', 0)

# no wrappers for calls from C, which take a tenth of the time of compilation
_OPTIONS = {'error_model': 'numpy', 'nogil': True, 'no_cfunc_wrapper': True}

borrowed: Any
cutter: Any
as_few: Any
if COMPILED:
    try:
        from c3p_kernels import internals as _internals

        # before other files use what it imports
        _internals.check()
        from c3p_kernels import borrowed as _borrowed
        from c3p_kernels import lanes as _lanes
        from c3p_kernels.code_cache import CodeCache
        from c3p_kernels.part_code import PartCompiler

        _borrowed.check_layout()
    except (ImportError, AttributeError, TypeError) as error:
        raise CompilerError(f'kernels need Numba from 0.58.1 to 0.68; that of {_numba.__version__}'
                            f" differs in what they use ({error}): `pip install '{NUMBA}'`"
                            ) from error
    borrowed = _borrowed.borrowed
    cutter = _borrowed.cutter
    as_few = _lanes.as_few
else:
    cutter = None
    # returns what is given: without a compiler nothing counts references to arrays of kernels
    borrowed = partial({}.get, None)
    # rows of NumPy calculate as lanes do
    as_few = borrowed


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` once and keep the machine code beside its file (`code_cache`).

    IEEE rules are kept (no fast-math; a division by zero gives inf or nan instead of raising), so
    that compiled and plain results agree to the last rounding.
    """
    if _njit is None or not COMPILED:
        return function
    compiled = _njit(**_OPTIONS)(function)
    # what njit(cache=True) does with the cache of Numba
    compiled._cache = CodeCache(function)
    return compiled


def sealed(function: Callable[..., Any], example: tuple[Any, ...]) -> Callable[..., Any]:
    """
    Return a kernel compiled for the types of an `example` of its arguments, and for no others.

    It raises TypeError for arrays of other kinds or layouts, for which it would compile for
    seconds otherwise: its caller then copies them. The kernel is called once with the example.
    """
    function(*example)
    if COMPILED:
        function.disable_compile()  # type: ignore[attr-defined]
    return function


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` for other kernels alone: it has no code for calls from Python, and no cache.

    For parts of a step that take states (c3p_kernels/state.py), which Python cannot pass; their
    machine code is generated (part_code.py) and kept with that of the step.
    """
    if _njit is None or not COMPILED:
        return function

    def refuse(*values: Any, **named: Any) -> None:
        raise TypeError(f'{function.__name__} is a part of other kernels: call one that takes '
                        'the block of a state')

    def leave_out(*overload: Any) -> None:
        # Numba calls without a look at its compiler what is registered for Python: address 0
        return

    compiled = _njit(no_cpython_wrapper=True, pipeline_class=PartCompiler, **_OPTIONS)(function)
    compiled._compile_for_args = refuse
    compiled._insert = leave_out
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` as `kernel`, but into each caller, without machine code of its own.

    For the inside of a hot loop, where passing a dozen arrays costs more than the arithmetic.
    """
    if _njit is None:
        return function
    return _njit(forceinline=True, **_OPTIONS)(function)


def spliced(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` as part of the source of each caller.

    For functions that take tuples of many arrays, whose references a call would count.
    """
    if _njit is None:
        return function
    return _njit(inline='always', **_OPTIONS)(function)
