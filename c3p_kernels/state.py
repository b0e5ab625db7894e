# SPDX-License-Identifier: Apache-2.0
"""
States of compiled kernels: named parts of one array, declared once.

A kernel takes the array, the `block`, because to pass a tuple of ten arrays costs more than what a
kernel computes; inside, ``cut(block, n)``, the `Parts.cut` of the state, gives the named parts.
There a state is the address of its block and n, so that functions pass it on for nothing, and
each part is made where it is used. Python sees a named tuple whose arrays are views: both sides
read and write the same memory.

A field is declared with its shape in numbers and in `n`, the number of casters: a constant as
``float``, an array as ``Annotated[Array, 'n', 2]``, another state by its class. A number that
changes is an array of one, `Number`. Constants stand first in the block, then the arrays, each in
its order.
"""

from __future__ import annotations

import copyreg
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_type_hints

import numpy as np

from c3p_kernels.compiled import cutter

Array = np.ndarray

# a number that a kernel writes
Number = Annotated[Array, 1]


class Size(NamedTuple):
    """Count of numbers, ``fixed + each n``."""

    fixed: int
    each: int

    def of(self, n: int) -> int:
        """Return the count for `n` casters."""
        return self.fixed + self.each * n


class Field(NamedTuple):
    """
    Part of a block.

    Attributes
    ----------
    name : str
    begin, size : Size
    shape : tuple of Size
        Empty for a constant.
    kind : type or None
        Of a state within the state.
    """

    name: str
    begin: Size
    size: Size
    shape: tuple[Size, ...]
    kind: Any


class Parts:
    """
    Base class of a declaration: the members that `state` adds to it.

    Attributes
    ----------
    block : array
        The memory of all fields.
    fields : tuple of Field
    size : Size
        Of a block.
    cut : callable
        ``cut(block, n)`` as `of`, for kernels, which take it from a name of their module: nothing
        is checked, and the caller keeps the block.
    """

    block: Array
    fields: ClassVar[tuple[Field, ...]]
    size: ClassVar[Size]
    cut: ClassVar[Callable[..., Any]]

    @classmethod
    def new(cls: type[Kind], n: int, **constants: float) -> Kind:
        """Return a state of `n` casters: its constants, then zeros."""
        return cls.of(np.zeros(cls.size.of(n)), n, **constants)

    @classmethod
    def of(cls: type[Kind], block: Array, n: int, **constants: float) -> Kind:
        """
        Return the state of `n` casters in a `block`, after its `constants` have been written.

        Raises
        ------
        ValueError
            The block is not the memory of such a state.
        TypeError
            A name that is not that of a constant.
        """
        if block.shape != (cls.size.of(n),) or block.dtype != float or not (
                block.flags.c_contiguous):
            raise ValueError(f'{cls.__name__}: a block of {block.dtype} with shape {block.shape}; '
                             f'expected {cls.size.of(n)} numbers in a row for n = {n}')
        places = {field.name: k for k, field in enumerate(cls.fields) if field.kind is float}
        for name, value in constants.items():
            if name not in places:
                raise TypeError(f'{cls.__name__} has no constant {name}: {", ".join(places)}')
            block[places[name]] = value
        return _viewed(cls, block, n)


Kind = TypeVar('Kind', bound=Parts)


def _viewed(made: Any, block: Array, n: int) -> Any:
    """Return the state in a block, unchecked."""
    parts: list[Any] = []
    for field in made.fields:
        begin = field.begin.of(n)
        part = block[begin:begin + field.size.of(n)]
        if field.kind is float:
            parts.append(float(part[0]))
        elif field.kind is not None:
            parts.append(_viewed(field.kind, part, n))
        else:
            parts.append(part.reshape([size.of(n) for size in field.shape]))
    return made(block, *parts)


def _size(declared: str, size: Any) -> Size:
    """Return the size of a declaration: 3, 'n' or '5n'."""
    if isinstance(size, int) and size > 0:
        return Size(size, 0)
    times, grows, rest = size.partition('n') if isinstance(size, str) else ('', '', '')
    if not grows or rest or not (times or '1').isdigit():
        raise TypeError(f"{declared}: size {size!r}; expected a whole number, 'n' or as '5n'")
    return Size(0, int(times or 1))


def _field(declared: str, hint: Any) -> tuple[Size, tuple[Size, ...], Any]:
    """Return size, shape and kind of a field from its annotation."""
    if hint is float:
        return Size(1, 0), (), float
    if isinstance(getattr(hint, 'fields', None), tuple):
        return hint.size, (), hint
    if not getattr(hint, '__metadata__', ()):
        raise TypeError(f"{declared}: {hint}; expected float, a state, or as "
                        "Annotated[Array, 'n']")
    shape = tuple(_size(declared, size) for size in hint.__metadata__)
    growing = [size.each for size in shape if size.each]
    if len(growing) > 1:
        raise TypeError(f'{declared}: more than one size grows with n')
    count = math.prod(size.fixed for size in shape if not size.each)
    return Size(0, count * growing[0]) if growing else Size(count, 0), shape, None


def state(declared: type[Kind]) -> type[Kind]:
    """
    Return the named tuple of a declaration, with `Parts`.

    Raises
    ------
    TypeError
        A field without a shape, or with one that is not as above; a constant after an array.

    Examples
    --------
    >>> @state
    ... class Filter(Parts):
    ...     time_constant: float                 # s
    ...     mean: Annotated[Array, 'n', 2]       # m/s
    >>> low = Filter.new(3, time_constant=0.1)
    >>> low.time_constant, low.mean.shape, low.block.shape
    (0.1, (3, 2), (7,))
    >>> low.mean[1, 0] = 5.0
    >>> low.block.tolist()
    [0.1, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0]
    """
    hints = get_type_hints(declared, include_extras=True)
    fields: list[Field] = []
    end = Size(0, 0)
    for name in declared.__annotations__:
        label = f'{declared.__name__}.{name}'
        size, shape, kind = _field(label, hints[name])
        if kind is float and fields and fields[-1].kind is not float:
            raise TypeError(f'{label}: constants stand before arrays')
        fields.append(Field(name, end, size, shape, kind))
        end = Size(end.fixed + size.fixed, end.each + size.each)
    names = ['block', *(field.name for field in fields)]
    # Any: the type checker takes a state for its declaration
    make: Callable[..., Any] = namedtuple
    made = make(declared.__name__, names, module=declared.__module__)
    made.__doc__ = declared.__doc__
    made.fields = tuple(fields)
    made.size = end
    made.of = classmethod(Parts.of.__func__)  # type: ignore[attr-defined]
    made.new = classmethod(Parts.new.__func__)  # type: ignore[attr-defined]
    made.cut = staticmethod(cutter(made)) if cutter else staticmethod(
        lambda block, n: _viewed(made, block, n))
    copyreg.pickle(made, _reduced)
    return made


def _reduced(given: Any) -> tuple[Any, ...]:
    # for copies and pickles, whose arrays are parts of a block again
    made = type(given)
    block = given.block
    each = made.size.each
    return _viewed, (made, block, (len(block) - made.size.fixed) // each if each else 0)
