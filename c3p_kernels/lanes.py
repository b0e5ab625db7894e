# SPDX-License-Identifier: Apache-2.0
"""
Numbers side by side: kernels that take one number take four, in one vector register.

A value of such a type holds FEW floats, one for each caster of a robot with three or four. Kernels
compile for it as for float: ``+ − * /``, unary minus, `abs`, ``math.copysign`` and ``<`` act on
each lane alone, without fast-math, so that each lane has the bits of the scalar code. In memory
lanes are the last axis of a float64 array, which `as_few` views as an array of such values.
Branches on a number become `where`, which takes floats as well; the functions of this file are for
kernels only.
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

# floats in one register of 256 bits (AVX); on narrower ones a value takes several
FEW = 4

_INDEX = ir.IntType(32)


class Lanes(types.Type):
    """
    Floats, whole numbers or truth values side by side.

    Parameters
    ----------
    kind : {'float', 'whole', 'truth'}
    """

    def __init__(self, kind: str) -> None:
        """Keep the kind."""
        self.kind = kind
        super().__init__(name=f'Lanes({kind}, {FEW})')

    @property
    def vector(self) -> ir.VectorType:
        """The type in machine code."""
        return ir.VectorType(_PARTS[self.kind], FEW)

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Conversion | None:
        """Return how `other` becomes lanes: a number fills all of them."""
        fits = (isinstance(other, FILLING[self.kind])
                or (self.kind == 'float' and other == WHOLES))
        return Conversion.safe if fits else None

    def unify(self, typingctx: Any, other: types.Type) -> types.Type | None:
        """Return lanes for a variable that is elsewhere one number."""
        return self if isinstance(other, FILLING[self.kind]) else None


FLOATS, WHOLES, TRUTHS = (Lanes(kind) for kind in ('float', 'whole', 'truth'))
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
    return builder.shuffle_vector(first, undefined,
                                  ir.Constant(ir.VectorType(_INDEX, FEW), [0] * FEW))


def _floats(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return builder.sitofp(value, target.vector)


def _defined(what: Callable[..., Any], arguments: tuple[Lanes, ...], result: Lanes,
             build: Callable[..., Any]) -> None:
    """Let kernels call `what` with lanes: ``build(builder, *values)`` writes the instructions."""
    def fitting(given: types.Type, wanted: Lanes) -> bool:
        if wanted.kind != 'float':
            return bool(given == wanted)
        return (given in (wanted, WHOLES)
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


for _filled_one in (FLOATS, WHOLES, TRUTHS):
    for _source in FILLING[_filled_one.kind]:
        lower_cast(_source, _filled_one)(_filled)
lower_cast(WHOLES, FLOATS)(_floats)
for _name, _method in (('add', 'fadd'), ('sub', 'fsub'), ('mul', 'fmul'), ('truediv', 'fdiv')):
    for _what in (getattr(operator, _name), getattr(operator, f'i{_name}')):
        _defined(_what, (FLOATS, FLOATS), FLOATS,
                 lambda builder, a, b, method=_method: getattr(builder, method)(a, b))
_defined(operator.lt, (FLOATS, FLOATS), TRUTHS,
         lambda builder, a, b: builder.fcmp_ordered('<', a, b))
_defined(operator.neg, (FLOATS,), FLOATS, lambda builder, a: builder.fneg(a))
_defined(abs, (FLOATS,), FLOATS, _library('fabs', FLOATS.vector))
_defined(math.copysign, (FLOATS, FLOATS), FLOATS, _library('copysign', FLOATS.vector))


@intrinsic
def where(typingctx: Any, condition: Any, one: Any, other: Any) -> tuple:
    """Return `one` where `condition` is true, else `other`; `typingctx` is Numba's."""
    result = (FLOATS if isinstance(condition, Lanes)
              else typingctx.unify_types(one, other))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)
    return result(condition, result, result), generate


@intrinsic
def whole(typingctx: Any, value: Any) -> tuple:
    """Return a float as a whole number, towards zero; of each lane its own."""
    lanes = isinstance(value, Lanes)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fptosi(args[0], WHOLES.vector if lanes else ir.IntType(64))
    return (WHOLES(value) if lanes else types.int64(types.float64)), generate


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
        value = ir.Constant(FLOATS.vector, ir.Undefined)
        for k in range(FEW):
            at = ir.Constant(_INDEX, k)
            value = builder.insert_element(value, load(builder.extract_element(args[1], at)), at)
        return value
    given = row if lanes else types.int64
    result = FLOATS if lanes else types.float64
    return result(table, given, types.int64, types.int64), generate


@intrinsic
def lane(typingctx: Any, value: Any, k: Any) -> tuple:
    """Return the number in lane k."""
    part = {'float': types.float64, 'whole': types.int64, 'truth': types.boolean}[value.kind]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)
    return part(value, types.int32), generate


@intrinsic
def as_few(typingctx: Any, array: Any) -> tuple:
    """Return a view of a contiguous float64 array whose last axis has FEW numbers."""
    # addresses of numpy's memory are not those of full registers
    view = Borrowed(FLOATS, array.ndim - 1, 'C', aligned=False)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = make_array(array)(context, builder, args[0])
        target = make_array(view)(context, builder)
        data = builder.bitcast(source.data, ir.PointerType(FLOATS.vector))
        # the caller keeps the memory: this view does not count
        populate_array(target, data=data, meminfo=None, itemsize=8 * FEW,
                       shape=cgutils.unpack_tuple(builder, source.shape)[:-1],
                       strides=cgutils.unpack_tuple(builder, source.strides)[:-1])
        return target._getvalue()
    return view(array), generate
