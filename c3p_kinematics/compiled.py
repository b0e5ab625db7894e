# SPDX-License-Identifier: Apache-2.0
"""The compiler of the numeric kernels: numba where it is installed, plain Python where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from numba import njit as _njit
except ImportError:  # the same source runs uncompiled: same numbers, about 100 times slower
    _njit = None

COMPILED = _njit is not None


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile `function` once and keep the machine code beside its file.

    IEEE rules are kept (no fast-math; a division by zero gives inf or nan instead of raising), so
    that compiled and plain results agree to the last rounding.
    """
    if _njit is None:
        return function
    return _njit(cache=True, error_model='numpy', nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Compile as `kernel`, but into each caller, and keep no machine code of its own.

    For what stands in the middle of a hot loop: handing over a dozen arrays costs more there than
    the arithmetic.
    """
    if _njit is None:
        return function
    return _njit(error_model='numpy', nogil=True, forceinline=True)(function)
