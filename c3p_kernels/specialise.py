# SPDX-License-Identifier: Apache-2.0
"""
The source of a kernel with other functions in the place of some that it calls.

So one text serves for numbers and for numbers side by side (lanes.py), for arrays and for symbols
(straight/), and around code that was generated for one mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from c3p_kernels.compiled import inlined

# options of a kernel that another one of its source takes over
_KEPT = 'error_model', 'nogil', 'forceinline', 'inline'


def alike(function: FunctionType, kernel: Any, **further: Any) -> Any:
    """
    Compile a `function` with the options of a `kernel`, and `further` ones.

    It keeps no machine code of its own, which would be for the functions of another process.
    """
    from numba import njit

    options = {name: value for name, value in kernel.targetoptions.items() if name in _KEPT}
    return njit(**options, **further)(function)


def as_python(function: FunctionType, kernel: Any) -> Any:
    """Return a `function` in the place of a `kernel` without compiling it."""
    return function


def within(function: FunctionType, kernel: Any) -> Any:
    """Compile a `function` into each of its callers, whatever the `kernel` in its place was."""
    return inlined(function)


def specialise(function: Any, instead: dict[Any, Any], compiler: Callable[..., Any] = alike, *,
               shared: bool = False, **further: Any) -> Any:
    """
    Return a kernel made from the same source, which calls other functions in the place of some.

    Parameters
    ----------
    function : callable
        A kernel, or a Python function that stands for one.
    instead : dict
        By the function or module that the source names, the one to use. All kernels that
        `function` calls, directly and further down, are specialised, too, and are added, so that
        each is made once for all calls with one dictionary.
    compiler : callable
        `alike` compiles each kernel as it was, `within` into its callers, `as_python` not at all.
    shared : bool
        Leave kernels as they are that reach nothing in `instead`: compiled once for all.
    further
        Options of the compiler for `function` itself.

    Examples
    --------
    >>> def area(r): return squared(r) * 3
    >>> def squared(x): return x * x
    >>> specialise(area, {squared: str}, as_python)(2)
    '222'
    """
    if function not in instead:
        source = getattr(function, 'py_func', function)
        names = dict(source.__globals__)
        made = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
        made.__qualname__, made.__module__ = source.__qualname__, source.__module__
        instead[function] = compiler(made, function, **further)
        # put in place last: a kernel may call itself
        for name, called in _named(source).items():
            if called in instead:
                names[name] = instead[called]
            elif _followed(called, compiler) and not (shared and not _reaches(called, instead)):
                names[name] = specialise(called, instead, compiler, shared=shared)
    return instead[function]


def _named(source: FunctionType) -> dict[str, Any]:
    """Return the functions, kernels and modules that a source names."""
    found = {name: source.__globals__.get(name) for name in source.__code__.co_names}
    return {name: one for name, one in found.items()
            if callable(one) or isinstance(one, ModuleType)}


def _followed(called: Any, compiler: Callable[..., Any]) -> bool:
    """Return whether what is called is made anew: kernels, and Python where it may be called."""
    return hasattr(called, 'py_func') or (compiler is not alike
                                          and isinstance(called, FunctionType))


def _reaches(function: Any, instead: dict[Any, Any]) -> bool:
    """Return whether a kernel uses, itself or further down, what something else replaces."""
    seen: set[Any] = set()
    left = [function]
    while left:
        one = left.pop()
        if one in instead:
            return True
        source = getattr(one, 'py_func', one)
        if isinstance(source, FunctionType) and one not in seen:
            seen.add(one)
            left += _named(source).values()
    return False
