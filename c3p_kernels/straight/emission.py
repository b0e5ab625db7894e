# SPDX-License-Identifier: Apache-2.0
"""
Expressions as machine code, without a compiler's front end.

`Code` hands the operations of a graph to LLVM one by one, from within a function that numba
compiles: 0.2 ms each, where the same operations as Python source take 3 ms. Without numba, or for
comparison, the Python source runs instead; both give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from c3p_kernels.compiled import COMPILED, inlined
from c3p_kernels.straight.expressions import ARITHMETIC, Expression, Operand, needed, statements

if COMPILED:
    from numba import types
    from numba.extending import intrinsic

OPERATIONS = {'+': 'fadd', '-': 'fsub', '*': 'fmul', '/': 'fdiv'}
# smallest angle whose sine differs from the angle
SMALL_TURN = 1e-9


def angle_over_sine(sine: float, cosine: float) -> float:
    """Return φ / sin φ of an angle φ from 0 to π, given by its `sine` and `cosine`."""
    return math.atan2(sine, cosine) / sine if sine > SMALL_TURN else 1.0


class Code:
    """
    A list of results as a function of a flat array.

    Attributes
    ----------
    results : list
        Expressions and floats.
    operations : int
        Additions, multiplications, divisions and functions.
    states : int
        0: ``code(x, y)`` writes result j to ``y[j]``. Otherwise ``code(x, y, k)`` writes it to
        ``y[states j + k]``.
    """

    def __init__(self, results: Sequence[Operand], states: int = 0) -> None:
        """Keep the results; `run` compiles when it is used."""
        self.results = list(results)
        self.states = states
        self.operations = sum(one.kind not in ('input', 'neg') for one in needed(self.results))

    @cached_property
    def source(self) -> str:
        """The function as Python."""
        targets = (f'y[{self.states * j} + k]' if self.states else f'y[{j}]'
                   for j in range(len(self.results)))
        lines = statements(dict(zip(targets, self.results, strict=True)))
        head = 'def straight(x, y, k):' if self.states else 'def straight(x, y):'
        return '\n    '.join([head, *(lines or ['pass'])])

    @cached_property
    def uncompiled(self) -> FunctionType:
        """The function of the source."""
        code = compile(self.source, '<straight-line code>', 'exec')
        inner = next(part for part in code.co_consts if isinstance(part, CodeType))
        return FunctionType(inner, {'sqrt': math.sqrt, 'angle_over_sine': angle_over_sine})

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The compiled function, for calls from compiled code."""
        return _compiled(self.results, self.states) if COMPILED else self.uncompiled


def _compiled(results: list[Operand], states: int) -> Callable[..., Any]:
    """Return the function, compiled into its callers."""
    if states:
        @intrinsic
        def body(context: Any, x: Any, y: Any, k: Any) -> tuple:  # noqa: ANN401 (numba's)
            return types.void(x, y, types.intp), _generator(results, states)

        def straight(x, y, k):  # noqa: ANN001, ANN202 (the compiler infers the types)
            body(x, y, k)
        return inlined(straight)

    @intrinsic
    def single(context: Any, x: Any, y: Any) -> tuple:  # noqa: ANN401 (numba's)
        return types.void(x, y), _generator(results, 0)

    def straight_single(x, y):  # noqa: ANN001, ANN202 (the compiler infers the types)
        single(x, y)
    return inlined(straight_single)


def _generator(results: list[Operand], states: int) -> Callable[..., Any]:
    """Return what numba calls to write the instructions."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        x, y = (context.make_array(kind)(context, builder, arg).data
                for kind, arg in zip(signature.args[:2], args[:2], strict=True))
        writer = _Writer(context, builder, x, args[2] if states else None)
        for one in needed(results):
            writer.write(one)
        for j, result in enumerate(results):
            builder.store(writer.value(result), writer.place(y, max(states, 1) * j, bool(states)))
        return context.get_dummy_value()
    return generate


class _Writer:
    """Instructions for expressions, at the present place of a builder."""

    def __init__(self, context: Any, builder: Any, x: Any, k: Any) -> None:  # noqa: ANN401
        self.context = context
        self.builder = builder
        self.x = x
        self.k = k
        self.values: dict[int, Any] = {}

    def value(self, operand: Operand) -> Any:  # noqa: ANN401 (LLVM's)
        """Return the value of an operand."""
        if isinstance(operand, Expression):
            return self.values[operand.number]
        return self.context.get_constant(types.float64, float(operand))

    def place(self, data: Any, at: int, beside: bool) -> Any:  # noqa: ANN401 (LLVM's)
        """Return the address of element `at`, or of the one of the present lane."""
        index = self.context.get_constant(types.intp, at)
        return self.builder.gep(data, [self.builder.add(index, self.k) if beside else index])

    def write(self, one: Expression) -> None:
        """Write the instruction for one expression."""
        build = self.builder
        if one.kind == 'input':
            # its text is x[at], or x[at + k] beside those of other states
            at, *beside = one.operands[0][2:-1].split(' + ')
            result = build.load(self.place(self.x, int(at), bool(beside)))
        else:
            given = [self.value(operand) for operand in one.operands]
            if one.kind == 'neg':
                result = build.fneg(*given)
            elif one.kind in ARITHMETIC:
                result = getattr(build, OPERATIONS[one.kind])(*given)
            elif one.kind in ('min', 'max'):
                # as Python: the first of both unless the second is smaller (larger)
                order = '<' if one.kind == 'min' else '>'
                result = build.select(build.fcmp_ordered(order, given[1], given[0]), given[1],
                                      given[0])
            else:
                result = self._call(one.kind, given)
        self.values[one.number] = result

    def _call(self, name: str, given: list) -> Any:  # noqa: ANN401 (LLVM's)
        real = self.context.get_value_type(types.float64)
        if name in ('sqrt', 'abs'):
            known = {'sqrt': 'llvm.sqrt', 'abs': 'llvm.fabs'}[name]
            return self.builder.call(self.builder.module.declare_intrinsic(known, [real]), given)
        signature = types.float64(*[types.float64] * len(given))
        return self.context.compile_internal(self.builder, FUNCTIONS[name], signature, given)


FUNCTIONS = {'angle_over_sine': angle_over_sine}
