# SPDX-License-Identifier: Apache-2.0
"""Compilation of the numeric kernels: numba where installed, else plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

_njit: Callable[..., Any] | None
try:
    from numba import config as _config
    from numba import njit as _njit
except ImportError:  # the same source runs uncompiled: same numbers, about 100 times slower
    _njit = None

# whether there is a compiler, and whether it compiles: NUMBA_DISABLE_JIT serves debugging
COMPILER = _njit is not None
COMPILED = COMPILER and not getattr(_config, 'DISABLE_JIT', 0)

# no wrappers for calls from C, which take a tenth of the time of compilation
_OPTIONS = {'error_model': 'numpy', 'nogil': True, 'no_cfunc_wrapper': True}

borrowed: Any
if COMPILED:
    from c3p_kinematics import _borrowed
    from c3p_kinematics._code_cache import CodeCache
    borrowed = _borrowed.borrowed
else:
    # returns what is given: without a compiler nothing counts references to arrays of kernels
    borrowed = partial({}.get, None)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` once and keep the machine code beside its file (`_code_cache`).

    IEEE rules are kept (no fast-math; a division by zero gives inf or nan instead of raising), so
    that compiled and plain results agree to the last rounding.
    """
    if _njit is None or not COMPILED:
        return function
    compiled = _njit(**_OPTIONS)(function)
    # what njit(cache=True) does with the cache of Numba
    compiled._cache = CodeCache(function)
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
