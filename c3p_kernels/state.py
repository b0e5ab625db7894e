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

A state with other sizes names them in ``sizes = 'n', 'steps'``, and takes their values in this
order in the place of n. ``cut_for(n=3)`` makes another `cut` in which some sizes are constants of
the compiler: the source of a kernel then serves the usual robot with loops of known length, and
all others.
"""

from __future__ import annotations

import copyreg
import math
from collections import namedtuple
from collections.abc import Callable
from functools import cache, partial, reduce
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_type_hints

import numpy as np

from c3p_kernels.compiled import cutter

Array = np.ndarray

# number of casters, or values of all sizes of a state
Sizes = int | tuple[int, ...]

# a number that a kernel writes
Number = Annotated[Array, 1]


class Size(NamedTuple):
    """
    Count of numbers: a sum of products of sizes.

    `terms` has a factor for the powers of all sizes: ``{(0, 0): 6, (1, 2): 5}`` is 6 + 5 a b².

    Examples
    --------
    >>> Size({(0,): 6, (1,): 5}).of(3)
    21
    """

    terms: dict[tuple[int, ...], int]

    def of(self, sizes: Sizes) -> int:
        """Return the count for a size, or for the values of all of them."""
        values = (sizes,) if isinstance(sizes, int) else sizes
        return sum(factor * math.prod(map(pow, values, powers))
                   for powers, factor in self.terms.items())

    def plus(self, other: Size) -> Size:
        """Return the sum of two counts."""
        terms = dict(self.terms)
        for powers, factor in other.terms.items():
            terms[powers] = terms.get(powers, 0) + factor
        return Size(terms)

    def by(self, other: Size) -> Size:
        """Return the product of two counts."""
        product = Size({})
        for powers, factor in self.terms.items():
            product = product.plus(Size({
                tuple(map(int.__add__, powers, more)): factor * times
                for more, times in other.terms.items()}))
        return product

    def among(self, names: tuple[str, ...], all_names: tuple[str, ...]) -> Size:
        """Return the same count where the sizes `names` are some of `all_names`."""
        return Size({tuple(powers[names.index(name)] if name in names else 0
                           for name in all_names): factor
                     for powers, factor in self.terms.items()})


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
    sizes : tuple of str
        Names of the sizes in the shapes; `n`, the number of casters, unless it has others.
    block : array
        The memory of all fields.
    values : int or tuple of int
        The number of casters, or the values of all sizes.
    fields : tuple of Field
    size : Size
        Of a block.
    cut : callable
        ``cut(block, n)`` as `of`, for kernels, which take it from a name of their module: nothing
        is checked, and the caller keeps the block.
    """

    sizes: ClassVar[tuple[str, ...]] = ('n',)
    block: Array
    values: Sizes
    fields: ClassVar[tuple[Field, ...]]
    size: ClassVar[Size]
    cut: ClassVar[Callable[..., Any]]

    @classmethod
    def new(cls: type[Kind], n: Sizes, **constants: float) -> Kind:
        """Return a state of `n` casters: its constants, then zeros."""
        return cls.of(np.zeros(cls.size.of(n)), n, **constants)

    @classmethod
    def of(cls: type[Kind], block: Array, n: Sizes, **constants: float) -> Kind:
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
            expected = f'{cls.size.of(n)} numbers in a row for {_listed(cls.sizes, n)}'
            raise ValueError(f'{cls.__name__}: a block of {block.dtype} with shape {block.shape}; '
                             f'expected {expected}')
        places = {field.name: k for k, field in enumerate(cls.fields) if field.kind is float}
        for name, value in constants.items():
            if name not in places:
                raise TypeError(f'{cls.__name__} has no constant {name}: {", ".join(places)}')
            block[places[name]] = value
        return _viewed(cls, block, n)

    @classmethod
    def cut_for(cls, **constant: int) -> Callable[..., Any]:
        """
        Return another `cut`, in which the sizes of these names are constants of the compiler.

        Raises
        ------
        TypeError
            A name that is not that of a size.
        """
        for name in constant:
            if name not in cls.sizes:
                raise TypeError(f'{cls.__name__} has no size {name}: {", ".join(cls.sizes)}')
        if cutter is None:
            return cls.cut
        return cutter(cls, tuple(constant.get(name) for name in cls.sizes))


Kind = TypeVar('Kind', bound=Parts)


def _listed(names: tuple[str, ...], sizes: Sizes) -> str:
    """Return sizes as a text: "n = 3"."""
    values = (sizes,) if isinstance(sizes, int) else sizes
    return ', '.join(f'{name} = {value}' for name, value in zip(names, values, strict=True))


class _FieldView(NamedTuple):
    """Place of a field in a block; its shape, or kind and sizes of a state within the state."""

    place: slice
    shape: tuple[int, ...]
    kind: Any
    sizes: Sizes


@cache
def _field_views(made: Any, n: Sizes) -> tuple[_FieldView, ...]:
    """Return the parts of a block, in the order of the fields."""
    values = (n,) if isinstance(n, int) else n
    parts: list[_FieldView] = []
    for field in made.fields:
        begin = field.begin.of(n)
        sizes: Sizes = ()
        if field.kind not in (None, float):
            own = tuple(values[made.sizes.index(name)] for name in field.kind.sizes)
            sizes = own[0] if len(own) == 1 else own
        shape = tuple(size.of(n) for size in field.shape)
        parts.append(_FieldView(slice(begin, begin + field.size.of(n)), shape, field.kind, sizes))
    return tuple(parts)


def _viewed(made: Any, block: Array, n: Sizes) -> Any:
    """Return the state in a block, unchecked."""
    views: list[Any] = []
    for place, shape, kind, sizes in _field_views(made, n):
        part = block[place]
        if kind is float:
            views.append(float(part[0]))
        elif kind is not None:
            views.append(_viewed(kind, part, sizes))
        else:
            views.append(part.reshape(shape))
    return made(block, n, *views)


def _size(declared: str, size: Any, names: tuple[str, ...]) -> Size:
    """Return the size of a declaration: 3, 'n', '5n' or '6+n'."""
    found = Size({})
    for term in str(size).split('+') if isinstance(size, (int, str)) else ['']:
        name = term.lstrip('0123456789')
        times = term.removesuffix(name)
        if (name and name not in names) or (not name and not int(times or 0)):
            expected = ' or '.join(repr(name) for name in names)
            raise TypeError(f'{declared}: size {size!r}; expected a whole number, {expected}, or '
                            "as '5n' or '6+n'")
        found = found.plus(Size({tuple(int(name == one) for one in names): int(times or 1)}))
    return found


def _field(declared: str, hint: Any, names: tuple[str, ...]
           ) -> tuple[Size, tuple[Size, ...], Any]:
    """Return size, shape and kind of a field from its annotation."""
    one = Size({(0,) * len(names): 1})
    if hint is float:
        return one, (), float
    if isinstance(getattr(hint, 'fields', None), tuple):
        if not set(hint.sizes) <= set(names):
            raise TypeError(f'{declared}: {hint.__name__} has the sizes {", ".join(hint.sizes)}; '
                            f'expected some of {", ".join(names)}')
        return hint.size.among(hint.sizes, names), (), hint
    if not getattr(hint, '__metadata__', ()):
        raise TypeError(f"{declared}: {hint}; expected float, a state, or as "
                        "Annotated[Array, 'n']")
    shape = tuple(_size(declared, size, names) for size in hint.__metadata__)
    return reduce(Size.by, shape), shape, None


def state(declared: type[Kind]) -> type[Kind]:
    """
    Return the named tuple of a declaration, with `Parts`.

    Raises
    ------
    TypeError
        A field without a shape, or with one that is not as above; a constant after an array; a
        name that `Parts` has.

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
    sizes = declared.sizes
    fields: list[Field] = []
    end = Size({(0,) * len(sizes): 0})
    # those of the base class stand there alone
    for name in declared.__annotations__:
        label = f'{declared.__name__}.{name}'
        if hasattr(Parts, name) or name in Parts.__annotations__:
            raise TypeError(f'{label}: every state has a {name} of its own; rename the field')
        size, shape, kind = _field(label, hints[name], sizes)
        if kind is float and fields and fields[-1].kind is not float:
            raise TypeError(f'{label}: constants stand before arrays')
        fields.append(Field(name, end, size, shape, kind))
        end = end.plus(size)
    names = ['block', 'values', *(field.name for field in fields)]
    # Any: the type checker takes a state for its declaration
    make: Callable[..., Any] = namedtuple
    made = make(declared.__name__, names, module=declared.__module__)
    made.__doc__ = declared.__doc__
    made.sizes = sizes
    made.fields = tuple(fields)
    made.size = end
    made.of = classmethod(Parts.of.__func__)  # type: ignore[attr-defined]
    made.new = classmethod(Parts.new.__func__)  # type: ignore[attr-defined]
    made.cut_for = classmethod(Parts.cut_for.__func__)  # type: ignore[attr-defined]
    made.cut = staticmethod(cutter(made) if cutter else partial(_viewed, made))
    copyreg.pickle(made, _reduced)
    return made


def _reduced(given: Any) -> tuple[Any, ...]:
    # for copies and pickles, whose arrays are parts of a block again
    return _viewed, (type(given), given.block, given.values)
