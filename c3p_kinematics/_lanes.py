# SPDX-License-Identifier: Apache-2.0
"""
Numbers side by side: kernels that take one number take eight, in one vector register.

A value of type `FLOATS` holds LANES floats. Kernels compile for it as for float: ``+ − * /``,
unary minus, `abs`, `min`, `max`, ``math.sqrt``, ``math.copysign`` and comparisons act on each lane
alone, without fast-math, so that each lane has the bits of the scalar code. In memory lanes are
the last axis of a float64 array, which `as_lanes` views as an array of `FLOATS`. Branches on a
number become `where`, which takes floats as well, and `anywhere`; the functions of this file are
for kernels only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.core.cgutils import ir
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array

# floats in the widest vector register (AVX-512); on narrower ones a value takes several
LANES = 8

_INDEX = ir.IntType(32)
BYTES = 8 * LANES


class Lanes(types.Type):
    """
    LANES floats, whole numbers or truth values.

    Parameters
    ----------
    kind : {'float', 'whole', 'truth'}
    """

    def __init__(self, kind: str) -> None:
        """Keep the kind."""
        self.kind = kind
        super().__init__(name=f'Lanes({kind})')

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Conversion | None:
        """Return how `other` becomes lanes: a number fills all of them."""
        fits = isinstance(other, FILLING[self.kind]) or (self, other) == (FLOATS, WHOLES)
        return Conversion.safe if fits else None

    def unify(self, typingctx: Any, other: types.Type) -> types.Type | None:
        """Return lanes for a variable that is elsewhere one number."""
        return self if isinstance(other, FILLING[self.kind]) else None


# types of one number that fills all lanes
FILLING = {'float': (types.Float, types.Integer), 'whole': (types.Integer,),
           'truth': (types.Boolean,)}
FLOATS, WHOLES, TRUTHS = Lanes('float'), Lanes('whole'), Lanes('truth')
_PARTS = {'float': ir.DoubleType(), 'whole': ir.IntType(64), 'truth': ir.IntType(1)}
_VECTOR = ir.VectorType(_PARTS['float'], LANES)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(_PARTS[fe_type.kind], LANES))


@lower_cast(types.Float, FLOATS)
@lower_cast(types.Integer, FLOATS)
@lower_cast(types.Integer, WHOLES)
@lower_cast(types.Boolean, TRUTHS)
def _filled(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    one = {'float': types.float64, 'whole': types.int64, 'truth': source}[target.kind]
    number = context.cast(builder, value, source, one)
    if target == TRUTHS:
        number = builder.trunc(number, _PARTS['truth']) if number.type.width > 1 else number
    vector = ir.VectorType(_PARTS[target.kind], LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number,
                                   ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined),
                                  ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


@lower_cast(WHOLES, FLOATS)
def _floats(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return builder.sitofp(value, _VECTOR)


def _number(kind: types.Type) -> bool:
    """Return whether values of a type become lanes of floats."""
    return kind in (FLOATS, WHOLES) or isinstance(kind, (types.Float, types.Integer))


def _defined(what: Callable[..., Any], arguments: tuple[Lanes, ...], result: Lanes,
             build: Callable[..., Any]) -> None:
    """Let kernels call `what` with lanes: ``build(builder, *values)`` writes the instructions."""
    class Typed(AbstractTemplate):
        def generic(self, args: tuple, kws: dict) -> Any:
            fits = len(args) == len(arguments) and not kws and all(
                _number(given) if wanted == FLOATS else given == wanted
                for given, wanted in zip(args, arguments, strict=True))
            if fits and any(isinstance(given, Lanes) for given in args):
                return signature(result, *arguments)
            return None

    @lower_builtin(what, *arguments)
    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)

    infer_global(what)(Typed)


def _library(name: str) -> Callable[..., Any]:
    """Return what calls a function of LLVM on vectors."""
    def build(builder: Any, *values: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * len(values)),
            f'llvm.{name}.v{LANES}f64')
        return builder.call(function, values)
    return build


for _name, _method in (('add', 'fadd'), ('sub', 'fsub'), ('mul', 'fmul'), ('truediv', 'fdiv')):
    for _what in (getattr(operator, _name), getattr(operator, f'i{_name}')):
        _defined(_what, (FLOATS, FLOATS), FLOATS,
                 lambda builder, a, b, method=_method: getattr(builder, method)(a, b))
for _what, _sign in ((operator.lt, '<'), (operator.le, '<='), (operator.gt, '>'),
                     (operator.ge, '>='), (operator.eq, '==')):
    _defined(_what, (FLOATS, FLOATS), TRUTHS,
             lambda builder, a, b, sign=_sign: builder.fcmp_ordered(sign, a, b))
# as Python: the first of both unless the second is smaller, larger
_defined(min, (FLOATS, FLOATS), FLOATS,
         lambda builder, a, b: builder.select(builder.fcmp_ordered('<', b, a), b, a))
_defined(max, (FLOATS, FLOATS), FLOATS,
         lambda builder, a, b: builder.select(builder.fcmp_ordered('>', b, a), b, a))
_defined(operator.neg, (FLOATS,), FLOATS, lambda builder, a: builder.fneg(a))
_defined(abs, (FLOATS,), FLOATS, _library('fabs'))
_defined(math.sqrt, (FLOATS,), FLOATS, _library('sqrt'))
_defined(math.copysign, (FLOATS, FLOATS), FLOATS, _library('copysign'))
_defined(operator.and_, (TRUTHS, TRUTHS), TRUTHS, lambda builder, a, b: builder.and_(a, b))
_defined(operator.invert, (TRUTHS,), TRUTHS, lambda builder, a: builder.not_(a))


@intrinsic
def where(typingctx: Any, condition: Any, one: Any, other: Any) -> tuple:
    """Return `one` where a condition is true, else `other`; of floats or of lanes."""
    result = FLOATS if isinstance(condition, Lanes) else typingctx.unify_types(one, other)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)
    return result(condition, result, result), generate


@intrinsic
def anywhere(typingctx: Any, condition: Any) -> tuple:
    """Return whether a condition is true in any lane."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if condition != TRUTHS:
            return args[0]
        bits = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned('!=', bits, ir.Constant(ir.IntType(LANES), 0))
    return types.boolean(condition), generate


@intrinsic
def whole(typingctx: Any, value: Any) -> tuple:
    """Return a float as a whole number, towards zero; of each lane its own."""
    lanes = isinstance(value, Lanes)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.IntType(64)
        return builder.fptosi(args[0], ir.VectorType(kind, LANES) if lanes else kind)
    return (WHOLES(FLOATS) if lanes else types.int64(types.float64)), generate


@intrinsic
def looked_up(typingctx: Any, table: Any, row: Any, mask: Any, column: Any) -> tuple:
    """Return ``table[row & mask, column]`` of a contiguous table; of each lane its own."""
    lanes = isinstance(row, Lanes)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = make_array(table)(context, builder, args[0])
        width = builder.extract_value(data.shape, 1)

        def load(at: Any) -> Any:
            index = builder.add(builder.mul(builder.and_(at, args[2]), width), args[3])
            return builder.load(builder.gep(data.data, [index]))

        if not lanes:
            return load(args[1])
        value = ir.Constant(_VECTOR, ir.Undefined)
        for k in range(LANES):
            at = ir.Constant(_INDEX, k)
            value = builder.insert_element(value, load(builder.extract_element(args[1], at)), at)
        return value
    given = row if lanes else types.int64
    return (FLOATS if lanes else types.float64)(table, given, types.int64, types.int64), generate


@intrinsic
def lane(typingctx: Any, value: Any, k: Any) -> tuple:
    """Return the number in lane k."""
    part = {FLOATS: types.float64, WHOLES: types.int64, TRUTHS: types.boolean}[value]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)
    return part(value, types.int32), generate


@intrinsic
def with_lane(typingctx: Any, value: Any, k: Any, number: Any) -> tuple:
    """Return lanes of floats with another number in lane k."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])
    return FLOATS(FLOATS, types.int32, types.float64), generate


@intrinsic
def as_lanes(typingctx: Any, array: Any) -> tuple:
    """Return a view of a contiguous float64 array whose last axis is that of the lanes."""
    # addresses of numpy's memory are not those of full registers
    view = types.Array(FLOATS, array.ndim - 1, 'C', aligned=False)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source, target = (make_array(array)(context, builder, args[0]),
                          make_array(view)(context, builder))
        data = builder.bitcast(source.data, ir.PointerType(_VECTOR))
        # the caller keeps the memory: this view does not count
        populate_array(target, data, cgutils.unpack_tuple(builder, source.shape)[:-1],
                       cgutils.unpack_tuple(builder, source.strides)[:-1],
                       BYTES, None)
        return target._getvalue()
    return view(array), generate


def for_lanes(function: Callable[..., Any], known: dict[Any, Any]) -> Callable[..., Any]:
    """
    Return a kernel compiled from the same source with other functions in the place of some.

    Parameters
    ----------
    function : callable
        A kernel that branches on no number itself.
    known : dict
        For functions that do: by the kernel that it calls, the one to call. Those of all kernels
        that it calls are added, so that they are compiled once.
    """
    if function not in known:
        source = function.py_func
        names = dict(source.__globals__)
        plain = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
        plain.__qualname__, plain.__module__ = source.__qualname__, source.__module__
        options = {name: value for name, value in function.targetoptions.items()
                   if name in ('error_model', 'nogil', 'forceinline', 'inline')}
        known[function] = njit(**options)(plain)
        for name in source.__code__.co_names:
            if hasattr(names.get(name), 'py_func'):
                names[name] = for_lanes(names[name], known)
    return known[function]
