# SPDX-License-Identifier: Apache-2.0
"""
Numbers side by side: kernels that take one number take eight or four, in one vector register.

A value of such a type holds LANES floats (`as_lanes`: many robots) or FEW floats (`as_few`: wheels
of one robot). Kernels compile for it as for float: ``+ − * /``, unary minus, `abs`, `min`, `max`,
``math.sqrt``, ``math.copysign`` and comparisons act on each lane alone, without fast-math, so that
each lane has the bits of the scalar code. In memory lanes are the last axis of a float64 array,
which `as_lanes` and `as_few` view as an array of such values. Branches on a number become `where`,
which takes floats as well, and `anywhere`; the functions of this file are for kernels only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic, models, register_model

from c3p_kernels.borrowed import Borrowed
from c3p_kernels.internals import (
    AbstractTemplate,
    Conversion,
    cgutils,
    infer_global,
    ir,
    lower_builtin,
    lower_cast,
    make_array,
    populate_array,
    signature,
)

# floats in the widest vector register (AVX-512); on narrower ones a value takes several
LANES = 8
# floats in one of half that width (AVX): one for each wheel of a vehicle on three or four
FEW = 4
WIDTHS = LANES, FEW

_INDEX = ir.IntType(32)


class Lanes(types.Type):
    """
    Floats, whole numbers or truth values side by side.

    Parameters
    ----------
    kind : {'float', 'whole', 'truth'}
    width : int
        Count of the numbers.
    """

    def __init__(self, kind: str, width: int) -> None:
        """Keep kind and width."""
        self.kind = kind
        self.width = width
        super().__init__(name=f'Lanes({kind}, {width})')

    def of(self, kind: str) -> Lanes:
        """Return equally many values of another kind."""
        return Lanes(kind, self.width)

    @property
    def vector(self) -> ir.VectorType:
        """The type in machine code."""
        return ir.VectorType(_PARTS[self.kind], self.width)

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Conversion | None:
        """Return how `other` becomes lanes: a number fills all of them."""
        fits = (isinstance(other, FILLING[self.kind])
                or (self.kind == 'float' and other == self.of('whole')))
        return Conversion.safe if fits else None

    def unify(self, typingctx: Any, other: types.Type) -> types.Type | None:
        """Return lanes for a variable that is elsewhere one number."""
        return self if isinstance(other, FILLING[self.kind]) else None


# types of one number that fills all lanes
FILLING = {'float': (types.Float, types.Integer), 'whole': (types.Integer,),
           'truth': (types.Boolean,)}
_PARTS = {'float': ir.DoubleType(), 'whole': ir.IntType(64), 'truth': ir.IntType(1)}


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, fe_type.vector)


def _filled(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    one = {'float': types.float64, 'whole': types.int64, 'truth': source}[target.kind]
    number = context.cast(builder, value, source, one)
    if target.kind == 'truth':
        number = builder.trunc(number, _PARTS['truth']) if number.type.width > 1 else number
    undefined = ir.Constant(target.vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_INDEX, 0))
    width = target.width
    return builder.shuffle_vector(first, undefined,
                                  ir.Constant(ir.VectorType(_INDEX, width), [0] * width))


def _floats(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return builder.sitofp(value, target.vector)


def _defined(what: Callable[..., Any], arguments: tuple[Lanes, ...], result: Lanes,
             build: Callable[..., Any]) -> None:
    """Let kernels call `what` with lanes: ``build(builder, *values)`` writes the instructions."""
    def fitting(given: types.Type, wanted: Lanes) -> bool:
        if wanted.kind != 'float':
            return bool(given == wanted)
        return (given in (wanted, wanted.of('whole'))
                or isinstance(given, (types.Float, types.Integer)))

    class Typed(AbstractTemplate):
        def generic(self, args: tuple, kws: dict) -> Any:
            fits = len(args) == len(arguments) and not kws and all(
                map(fitting, args, arguments))
            if fits and any(isinstance(given, Lanes) for given in args):
                return signature(result, *arguments)
            return None

    @lower_builtin(what, *arguments)
    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)

    infer_global(what)(Typed)


def _library(name: str, vector: ir.VectorType) -> Callable[..., Any]:
    """Return what calls a function of LLVM on vectors."""
    def build(builder: Any, *values: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * len(values)),
            f'llvm.{name}.v{vector.count}f64')
        return builder.call(function, values)
    return build


def _all_defined(width: int) -> None:
    """Let kernels calculate with lanes of a width."""
    floats, wholes, truths = (Lanes(kind, width) for kind in _PARTS)
    for filled, sources in FILLING.items():
        for source in sources:
            lower_cast(source, Lanes(filled, width))(_filled)
    lower_cast(wholes, floats)(_floats)
    two = floats, floats
    for name, method in (('add', 'fadd'), ('sub', 'fsub'), ('mul', 'fmul'), ('truediv', 'fdiv')):
        for what in (getattr(operator, name), getattr(operator, f'i{name}')):
            _defined(what, two, floats,
                     lambda builder, a, b, method=method: getattr(builder, method)(a, b))
    for what, sign in ((operator.lt, '<'), (operator.le, '<='), (operator.gt, '>'),
                       (operator.ge, '>='), (operator.eq, '==')):
        _defined(what, two, truths,
                 lambda builder, a, b, sign=sign: builder.fcmp_ordered(sign, a, b))
    # as Python: the first of both unless the second is smaller, larger
    _defined(min, two, floats,
             lambda builder, a, b: builder.select(builder.fcmp_ordered('<', b, a), b, a))
    _defined(max, two, floats,
             lambda builder, a, b: builder.select(builder.fcmp_ordered('>', b, a), b, a))
    _defined(operator.neg, (floats,), floats, lambda builder, a: builder.fneg(a))
    _defined(abs, (floats,), floats, _library('fabs', floats.vector))
    _defined(math.sqrt, (floats,), floats, _library('sqrt', floats.vector))
    _defined(math.copysign, two, floats, _library('copysign', floats.vector))
    _defined(operator.and_, (truths, truths), truths, lambda builder, a, b: builder.and_(a, b))
    _defined(operator.invert, (truths,), truths, lambda builder, a: builder.not_(a))


for _width in WIDTHS:
    _all_defined(_width)


@intrinsic
def where(typingctx: Any, condition: Any, one: Any, other: Any) -> tuple:
    """Return `one` where `condition` is true, else `other`; `typingctx` is Numba's."""
    result = (condition.of('float') if isinstance(condition, Lanes)
              else typingctx.unify_types(one, other))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)
    return result(condition, result, result), generate


@intrinsic
def anywhere(typingctx: Any, condition: Any) -> tuple:
    """Return whether a condition is true in any lane."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(condition, Lanes):
            return args[0]
        kind = ir.IntType(condition.width)
        return builder.icmp_unsigned('!=', builder.bitcast(args[0], kind), ir.Constant(kind, 0))
    return types.boolean(condition), generate


@intrinsic
def whole(typingctx: Any, value: Any) -> tuple:
    """Return a float as a whole number, towards zero; of each lane its own."""
    lanes = isinstance(value, Lanes)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fptosi(args[0], value.of('whole').vector if lanes else ir.IntType(64))
    return (value.of('whole')(value) if lanes else types.int64(types.float64)), generate


@intrinsic
def looked_up(typingctx: Any, table: Any, row: Any, mask: Any, column: Any) -> tuple:
    """
    Return ``table[row & mask, column]`` of a contiguous table; of each lane its own.

    `typingctx` is Numba's.
    """
    lanes = isinstance(row, Lanes)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = make_array(table)(context, builder, args[0])
        width = builder.extract_value(data.shape, 1)

        def load(at: Any) -> Any:
            index = builder.add(builder.mul(builder.and_(at, args[2]), width), args[3])
            return builder.load(builder.gep(data.data, [index]))

        if not lanes:
            return load(args[1])
        value = ir.Constant(row.of('float').vector, ir.Undefined)
        for k in range(row.width):
            at = ir.Constant(_INDEX, k)
            value = builder.insert_element(value, load(builder.extract_element(args[1], at)), at)
        return value
    given = row if lanes else types.int64
    result = row.of('float') if lanes else types.float64
    return result(table, given, types.int64, types.int64), generate


@intrinsic
def lane(typingctx: Any, value: Any, k: Any) -> tuple:
    """Return the number in lane k."""
    part = {'float': types.float64, 'whole': types.int64, 'truth': types.boolean}[value.kind]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)
    return part(value, types.int32), generate


@intrinsic
def with_lane(typingctx: Any, value: Any, k: Any, number: Any) -> tuple:
    """Return the lanes `value` with another `number` in lane k; `typingctx` is Numba's."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])
    return value(value, types.int32, types.float64), generate


@intrinsic
def side_by_side(typingctx: Any, a: Any, b: Any, c: Any, d: Any) -> tuple:
    """Return the floats a, b, c, d in FEW lanes; `typingctx` is Numba's."""
    floats = Lanes('float', FEW)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = ir.Constant(floats.vector, ir.Undefined)
        for k, one in enumerate(args):
            value = builder.insert_element(value, one, ir.Constant(_INDEX, k))
        return value
    return floats(*[types.float64] * FEW), generate


def _view(array: Any, width: int) -> tuple:
    """Return signature and code of a view of an array whose last axis is that of the lanes."""
    floats = Lanes('float', width)
    # addresses of numpy's memory are not those of full registers
    view = Borrowed(floats, array.ndim - 1, 'C', aligned=False)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = make_array(array)(context, builder, args[0])
        target = make_array(view)(context, builder)
        data = builder.bitcast(source.data, ir.PointerType(floats.vector))
        # the caller keeps the memory: this view does not count
        populate_array(target, data=data, meminfo=None, itemsize=8 * width,
                       shape=cgutils.unpack_tuple(builder, source.shape)[:-1],
                       strides=cgutils.unpack_tuple(builder, source.strides)[:-1])
        return target._getvalue()
    return view(array), generate


@intrinsic
def as_lanes(typingctx: Any, array: Any) -> tuple:
    """Return a view of a contiguous float64 array whose last axis has LANES numbers."""
    return _view(array, LANES)


@intrinsic
def as_few(typingctx: Any, array: Any) -> tuple:
    """Return a view of a contiguous float64 array whose last axis has FEW numbers."""
    return _view(array, FEW)
