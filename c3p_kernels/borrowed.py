# SPDX-License-Identifier: Apache-2.0
"""
Arrays that a kernel borrows: the compiler counts no references to them.

Each access to an array in a tuple, and each of its views, counts a reference and later takes it
back, by calls that cost as much as ten multiplications and empty the vector registers. A kernel
whose caller keeps the arrays, as each that is called from Python, calculates with ``borrowed(…)``
of them instead. Such arrays must not be returned.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, models, register_model

from c3p_kernels.internals import (
    AttributeTemplate,
    create_struct_proxy,
    default_manager,
    infer_getattr,
    ir,
    lower_getattr_generic,
    make_array,
    populate_array,
)


class Borrowed(types.Array):
    """Type of an array without a count of references."""

    def __init__(self, dtype: Any, ndim: int, layout: Any, readonly: bool = False,
                 aligned: bool = True) -> None:
        """Keep what an array is made of."""
        super().__init__(dtype, ndim, layout, readonly=readonly, aligned=aligned)
        self.name = f'borrowed {self.name}'

    def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None,  # type: ignore[override]
             readonly: Any = None) -> Borrowed:
        """Return the type of a view, with other `dtype`, `ndim`, `layout` or `readonly`."""
        return Borrowed(self.dtype if dtype is None else dtype,
                        self.ndim if ndim is None else ndim,
                        self.layout if layout is None else layout,
                        not self.mutable if readonly is None else readonly, self.aligned)


@register_model(Borrowed)
class _BorrowedModel(models.StructModel):
    """As the model of arrays, but that the owner of the memory is a plain number."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [('meminfo', types.voidptr), ('parent', types.voidptr), ('nitems', types.intp),
                   ('itemsize', types.intp), ('data', types.CPointer(fe_type.dtype)),
                   ('shape', types.UniTuple(types.intp, fe_type.ndim)),
                   ('strides', types.UniTuple(types.intp, fe_type.ndim))]
        super().__init__(dmm, fe_type, members)


def layout(kind: Any) -> list[str]:
    """Return the members of a type in machine code: names, and types unless they are pointers."""
    model = default_manager.lookup(kind)
    found = [(name, part.get_value_type())
             for name, part in zip(model._fields, model._models, strict=True)]
    return [f'{name} pointer' if isinstance(part, ir.PointerType) else f'{name} {part}'
            for name, part in found]


def check_layout() -> None:
    """
    Compare the layout of borrowed arrays with that of Numba's own.

    A kernel takes the same words of memory for both: with a member more or less, or in another
    order, it would read and write elsewhere.

    Raises
    ------
    TypeError
        They differ; the text names the members.
    """
    for kind in (types.Array(types.float64, 1, 'C'), types.Array(types.int64, 3, 'A')):
        found = layout(kind)
        expected = layout(_type(kind))
        if found != expected:
            raise TypeError(f'an array consists of {", ".join(found)} instead of '
                            f'{", ".join(expected)}')


def _type(given: Any) -> Any:
    """Return the type of what is borrowed."""
    made: Any = types.BaseTuple
    parts: Any = given
    if isinstance(given, types.Array) and not isinstance(given, Borrowed):
        return Borrowed(given.dtype, given.ndim, given.layout, not given.mutable, given.aligned)
    if isinstance(given, types.BaseTuple):
        return made.from_types([_type(one) for one in parts],
                               getattr(given, 'instance_class', None))
    return given


@intrinsic
def borrowed(typingctx: Any, given: Any) -> tuple:
    """Return an array, or a tuple of arrays, tuples and numbers, without counts."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # the same words in memory
        return args[0]
    return _type(given)(given), generate


# bytes of a number in a block
_STEP = 8


class StateType(types.Type):
    """
    Type of a state (`c3p_kernels.state`) in a kernel: the address of its block, and its sizes.

    `constant` has a number for each size that is a constant of the compiler, None for the others.
    """

    def __init__(self, made: Any, constant: tuple[int | None, ...]) -> None:
        """Keep the class of the state."""
        super().__init__(f'state {made.__module__}.{made.__name__}{constant}')
        self.made = made
        self.constant = constant


@register_model(StateType)
class _StateModel(models.StructModel):
    """A word for the block and for each size: it costs little to pass a state of many fields."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [
            ('start', types.CPointer(types.float64)),
            *((f'size{k}', types.intp) for k in range(len(fe_type.constant)))])


def _part_type(kind: StateType, name: str) -> Any:
    """Return the type of a field, or None."""
    if name == 'block':
        return Borrowed(types.float64, 1, 'C')
    for field in kind.made.fields:
        if field.name == name:
            if field.kind is float:
                return types.float64
            if field.kind is None:
                return Borrowed(types.float64, len(field.shape), 'C')
            return StateType(field.kind, tuple(kind.constant[kind.made.sizes.index(size)]
                                               for size in field.kind.sizes))
    return None


@infer_getattr
class _Parts(AttributeTemplate):
    """Types of the fields of a state."""

    key = StateType

    def generic_resolve(self, typ: Any, attr: str) -> Any:  # type: ignore[override]
        """Return the type of a field, or None."""
        return _part_type(typ, attr)


@lower_getattr_generic(StateType)
def _part(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    """Generate the number, array or state of a field."""
    state = create_struct_proxy(kind)(context, builder, value)
    word = context.get_value_type(types.intp)
    found = _part_type(kind, name)
    sizes = [getattr(state, f'size{k}') if size is None else word(size)
             for k, size in enumerate(kind.constant)]

    def count(size: Any) -> Any:
        total = word(0)
        for powers, factor in size.terms.items():
            term = word(factor)
            for one, power in zip(sizes, powers, strict=True):
                for _ in range(power):
                    term = builder.mul(term, one)
            total = builder.add(total, term)
        return total

    begin = state.start
    shape = [count(kind.made.size)]
    if name != 'block':
        field, = (field for field in kind.made.fields if field.name == name)
        begin = builder.gep(begin, [count(field.begin)])
        shape = [count(size) for size in field.shape]
    if found is types.float64:
        return builder.load(begin)
    if isinstance(found, StateType):
        return _state(context, builder, found, begin,
                      [sizes[kind.made.sizes.index(size)] for size in found.made.sizes])
    made = make_array(found)(context, builder)
    strides = [word(_STEP)]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(made, begin, shape, strides, _STEP, None)
    return made._getvalue()


def _state(context: Any, builder: Any, kind: Any, start: Any, sizes: list[Any]) -> Any:
    """Generate a state."""
    state = create_struct_proxy(kind)(context, builder)
    state.start = start
    for k, size in enumerate(sizes):
        setattr(state, f'size{k}', size)
    return state._getvalue()


def cutter(made: Any, constant: tuple[int | None, ...] = ()) -> Any:
    """
    Return ``cut(block, sizes)`` for kernels, of a state `made` by `c3p_kernels.state`.

    The values of `constant`, one for each size, are constants of the compiler unless None.
    """
    kind = StateType(made, constant or (None,) * len(made.sizes))
    count = len(made.sizes)

    @intrinsic
    def cut(typingctx: Any, block: Any, sizes: Any) -> tuple:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            start = make_array(sig.args[0])(context, builder, args[0]).data
            values = ([args[1]] if count == 1 else
                      [builder.extract_value(args[1], k) for k in range(count)])
            return _state(context, builder, sig.return_type, start, values)
        given = types.intp if count == 1 else types.UniTuple(types.intp, count)
        return kind(block, given), generate
    return cut
