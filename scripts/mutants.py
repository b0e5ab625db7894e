# SPDX-License-Identifier: Apache-2.0
"""
Mutants of a module: copies of its syntax tree with one small change each.

Changed are comparisons, boolean and arithmetic operators, conditions (always, never), numbers,
truth values and infinities, negations, returned values, and statements, which are left out. Texts,
docstrings, annotations and imports stay as they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

# two changes of each comparison: at its boundary, and to its contrary
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.MatMult: ast.Mult}
# fields of nodes without behaviour
IGNORED = {'annotation', 'returns', 'decorator_list', 'type_params'}
LEFT_OUT = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Raise, ast.Continue, ast.Break)



class Mutant(NamedTuple):
    """
    One mutant.

    Attributes
    ----------
    name : str
        Line of the source as text, the change, and its number among equal ones: the name stays
        where lines are inserted elsewhere.
    line : int
    module : ast.Module
        The module as it is.
    node, changed : ast.AST
        Node of the module, and its replacement.
    """

    name: str
    line: int
    module: ast.Module
    node: ast.AST
    changed: ast.AST

    def tree(self) -> ast.Module:
        """Return the changed module."""
        # a memo of the copy replaces one node and shares nothing else
        found: ast.Module = copy.deepcopy(self.module, {id(self.node): self.changed})
        return ast.fix_missing_locations(found)


def mutants(source: str) -> list[Mutant]:
    r"""
    Return all mutants of a source, in the order of its syntax tree.

    Examples
    --------
    >>> [mutant.name for mutant in mutants('def far(x):\\n    return x > 2')]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['return x > 2: return x > 2 → return None', 'return x > 2: x > 2 → x >= 2',
     'return x > 2: x > 2 → x <= 2', 'return x > 2: 2 → 3']
    """
    lines = source.splitlines()
    tree = ast.parse(source)
    found: list[Mutant] = []
    numbers: dict[str, int] = {}
    for path, node in _nodes(tree):
        inside = any(isinstance(step, ast.FunctionDef) for step in path)
        for changed in _changes(node, inside):
            line = _line(path)
            name = f'{lines[line - 1].strip()}: {_text(node)} → {_text(changed)}'
            numbers[name] = numbers.get(name, 0) + 1
            number = f' ({numbers[name]})' if numbers[name] > 1 else ''
            found.append(Mutant(name + number, line, tree, node, changed))
    return found


def _nodes(tree: ast.Module) -> Iterator[tuple[tuple[ast.AST, ...], ast.AST]]:
    """Yield each node that is behaviour, behind the nodes that contain it."""
    def visit(node: ast.AST, path: tuple[ast.AST, ...]
              ) -> Iterator[tuple[tuple[ast.AST, ...], ast.AST]]:
        path = (*path, node)
        yield path, node
        for field, value in ast.iter_fields(node):
            if field in IGNORED:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from visit(child, path)
    yield from visit(tree, ())


def _line(path: tuple[ast.AST, ...]) -> int:
    return next(node.lineno for node in reversed(path) if hasattr(node, 'lineno'))


def _text(node: ast.AST) -> str:
    """Return the source of a node on one line, short; of a statement with a body its condition."""
    if isinstance(node, ast.If | ast.While):
        return f'condition {ast.unparse(node.test)}'
    text = ' '.join(ast.unparse(node).split())
    return text if len(text) <= 60 else f'{text[:57]}...'


def _like(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node with other fields."""
    made = copy.copy(node)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def _changes(node: ast.AST, inside: bool) -> Iterator[ast.AST]:
    """Yield the changed nodes; `inside` a function statements are left out as well."""
    match node:
        case ast.Compare(ops=ops):
            for k, operator in enumerate(ops):
                for other in COMPARISONS[type(operator)]:
                    yield _like(node, ops=[*ops[:k], other(), *ops[k + 1:]])
        case ast.BoolOp(op=op, values=values):
            yield _like(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for k, value in enumerate(values):
                yield _like(node, values=[*values[:k], ast.UnaryOp(ast.Not(), value),
                                          *values[k + 1:]])
        case ast.BinOp(op=op):
            yield _like(node, op=ARITHMETIC[type(op)]())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            yield ast.Constant(2.0 * value if value else 1.0)
        case ast.Attribute(attr='inf'):
            yield ast.Constant(0.0)
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield ast.Return(ast.Constant(None))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _like(node, test=ast.Constant(True))
        yield _like(node, test=ast.Constant(False))
    if isinstance(node, ast.comprehension) and node.ifs:
        yield _like(node, ifs=[])
    if isinstance(node, ast.AugAssign):
        yield _like(node, op=ARITHMETIC[type(node.op)]())
    if inside and isinstance(node, LEFT_OUT) and not _documents(node):
        yield ast.Pass()


def _documents(node: ast.AST) -> bool:
    """Return whether a statement is a text, or a declaration without a value."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            or isinstance(node, ast.AnnAssign) and node.value is None)
