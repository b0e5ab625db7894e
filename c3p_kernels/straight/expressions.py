# SPDX-License-Identifier: Apache-2.0
"""
Symbolic arithmetic for tracing recursions: common subexpressions shared, constants folded.

An `Expression` takes part in ``+ − * /`` with others and with floats. Equal operations on equal
operands are one and the same object (hash consing), so common subexpressions are shared as they
arise; ``x·0``, ``x·1``, ``x + 0``, ``x − x`` and double signs vanish, constant factors are
multiplied out. Values are assumed to be finite. Values that no result needs are not generated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

Operand = Union['Expression', float]

ARITHMETIC = ('+', '-', '*', '/')
# most characters of an expression that is written inside another one
LONGEST = 400


class Expression:
    """
    Symbolic value.

    Attributes
    ----------
    graph : Graph
        Its graph.
    number : int
        Counts the expressions of the graph; operands have smaller numbers.
    kind : str
        ``'input'``, ``'neg'``, one of ``+ - * /``, or the name of a function.
    operands : tuple
        Expressions and floats; of an input, its text in the source.
    """

    __slots__ = ('graph', 'kind', 'number', 'operands')
    # numpy's scalars leave the arithmetic to this class
    __array_ufunc__ = None

    def __init__(self, graph: Graph, number: int, kind: str, operands: tuple) -> None:
        """Keep the parts; `Graph.node` is what makes expressions."""
        self.graph = graph
        self.number = number
        self.kind = kind
        self.operands = operands

    def __add__(self, other: Operand) -> Operand:
        """Return self + other."""
        return self.graph.add(self, other)

    def __radd__(self, other: float) -> Operand:
        """Return other + self."""
        return self.graph.add(self, other)

    def __sub__(self, other: Operand) -> Operand:
        """Return self − other."""
        return self.graph.add(self, self.graph.negative(other))

    def __rsub__(self, other: float) -> Operand:
        """Return other − self."""
        return self.graph.add(self.graph.negative(self), other)

    def __mul__(self, other: Operand) -> Operand:
        """Return self · other."""
        return self.graph.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        """Return self / other."""
        return self.graph.divide(self, other)

    def __rtruediv__(self, other: float) -> Operand:
        """Return other / self."""
        return self.graph.divide(other, self)

    def __neg__(self) -> Operand:
        """Return −self."""
        return self.graph.negative(self)

    def __gt__(self, other: Operand) -> bool:
        """Return True: the one comparison in the recursions is that a pivot is positive."""
        return True


class Graph:
    """All expressions of one tracing, each once."""

    def __init__(self) -> None:
        """Begin without expressions."""
        self._known: dict[tuple, Expression] = {}

    def __len__(self) -> int:
        """Return how many different expressions there are."""
        return len(self._known)

    def node(self, kind: str, *operands: Operand | str) -> Expression:
        """Return the expression with this kind and these operands, new or known."""
        key = (kind, *((o.number, None) if isinstance(o, Expression) else o for o in operands))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Expression(self, len(self._known), kind, operands)
        return known

    def add(self, a: Operand, b: Operand) -> Operand:
        """Return a + b, written as a difference where one of the two has a minus sign."""
        if not isinstance(a, Expression):
            a, b = b, a
        if not isinstance(a, Expression):
            return a + b
        if not isinstance(b, Expression):
            return a if b == 0.0 else self.node('+', a, float(b))
        if (b.kind == 'neg' and b.operands[0] is a) or (a.kind == 'neg' and a.operands[0] is b):
            return 0.0
        if a.kind == 'neg':
            a, b = b, a
        if a.kind == 'neg':
            return self.negative(self.add(a.operands[0], b.operands[0]))
        if b.kind == 'neg':
            return self.node('-', a, b.operands[0])
        # sums commute to the last bit
        return self.node('+', *((a, b) if a.number < b.number else (b, a)))

    def multiply(self, a: Operand, b: Operand) -> Operand:
        """Return a · b, signs and constant factors in front."""
        if not isinstance(a, Expression):
            a, b = b, a
        if not isinstance(a, Expression):
            return a * b
        if a.kind == 'neg':
            return self.negative(self.multiply(a.operands[0], b))
        if isinstance(b, Expression):
            if b.kind == 'neg':
                return self.negative(self.multiply(a, b.operands[0]))
            return self.node('*', *((a, b) if a.number < b.number else (b, a)))
        if b == 0.0:
            return 0.0
        if b < 0.0:
            return self.negative(self.multiply(a, -b))
        if b == 1.0:
            return a
        if a.kind == '*' and not isinstance(a.operands[1], Expression):
            return self.multiply(a.operands[0], a.operands[1] * b)
        return self.node('*', a, float(b))

    def divide(self, a: Operand, b: Operand) -> Operand:
        """Return a / b."""
        if not isinstance(b, Expression):
            return self.multiply(a, 1.0 / b)
        if not isinstance(a, Expression) and a == 0.0:
            return 0.0
        return 1.0 if a is b else self.node('/', a, b)

    def call(self, name: str, *operands: Operand) -> Expression:
        """Return the value of the function `name`, which the generated code can call."""
        return self.node(name, *operands)

    def negative(self, a: Operand) -> Operand:
        """Return −a; a difference is turned round instead."""
        if not isinstance(a, Expression):
            return -a
        if a.kind == 'neg':
            return a.operands[0]
        if a.kind == '-':
            return self.node('-', a.operands[1], a.operands[0])
        return self.node('neg', a)


def needed(results: Iterable[Operand]) -> list[Expression]:
    """Return all expressions which the results need, operands before what is made of them."""
    order = []
    seen = set()
    todo = [(r, False) for r in reversed(list(results)) if isinstance(r, Expression)]
    while todo:
        one, ready = todo.pop()
        if ready:
            order.append(one)
        elif one.number not in seen:
            seen.add(one.number)
            todo.append((one, True))
            todo += [(o, False) for o in reversed(one.operands) if isinstance(o, Expression)]
    return order


def statements(results: dict[str, Operand]) -> list[str]:
    """
    Return lines of Python that assign each result to its target, the left side of ``=``.

    Values with a single use are written in place, all others get a name.
    """
    order = needed(results.values())
    uses = dict.fromkeys((one.number for one in order), 0)
    for operand in (*(o for one in order for o in one.operands), *results.values()):
        if isinstance(operand, Expression):
            uses[operand.number] += 1
    text: dict[int, str] = {}
    lines = []

    def written(operand: Operand) -> str:
        return text[operand.number] if isinstance(operand, Expression) else repr(float(operand))

    for one in order:
        if one.kind == 'input':
            code = one.operands[0]
        elif one.kind == 'neg':
            code = f'(-{written(one.operands[0])})'
        elif one.kind not in ARITHMETIC:
            code = f'{one.kind}({", ".join(map(written, one.operands))})'
        else:
            code = f'({written(one.operands[0])} {one.kind} {written(one.operands[1])})'
        if uses[one.number] > 1 or len(code) > LONGEST:
            lines.append(f'v{one.number} = {code}')
            code = f'v{one.number}'
        text[one.number] = code
    return lines + [f'{target} = {written(result)}' for target, result in results.items()]
