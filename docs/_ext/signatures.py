# SPDX-License-Identifier: Apache-2.0
"""Signatures of functions and classes as text, from their source: API pages and the record."""

from __future__ import annotations

import ast

# a longer default is less clear than three points; versions of Python write a lambda differently
LONGEST_DEFAULT = 40


def decorators(node: ast.ClassDef | ast.FunctionDef) -> set[str]:
    """Return the names of the decorators, without modules and arguments."""
    return {ast.unparse(d).split('(')[0].split('.')[-1] for d in node.decorator_list}


def default_text(value: ast.expr | None) -> str:
    """Return a default value as text, `...` for a long one, nothing without a value."""
    # of a setting its default: the bounds are those of its parameter
    if isinstance(value, ast.Call) and ast.unparse(value.func) == 'setting':
        value = value.args[0]
    text = '' if value is None else ast.unparse(value)
    return '...' if len(text) > LONGEST_DEFAULT or text.startswith(('field(', 'lambda')) else text


def arguments(node: ast.FunctionDef, is_method: bool) -> str:
    """Return the arguments of a function as text, long default values left out."""
    takes = node.args
    if is_method and 'staticmethod' not in decorators(node):
        first = takes.posonlyargs or takes.args
        takes = ast.arguments(**{**{k: getattr(takes, k) for k in takes._fields},
                                 ('posonlyargs' if takes.posonlyargs else 'args'): first[1:]})
    shortened = [ast.Constant(...) if default_text(d) == '...' else d for d in takes.defaults]
    keyword = [ast.Constant(...) if d is not None and default_text(d) == '...' else d
               for d in takes.kw_defaults]
    return ast.unparse(ast.arguments(**{**{k: getattr(takes, k) for k in takes._fields},
                                        'defaults': shortened, 'kw_defaults': keyword}))


def is_record(node: ast.ClassDef) -> bool:
    """Return whether a class is made from its fields: a dataclass or a named tuple."""
    bases = {ast.unparse(base).split('.')[-1] for base in node.bases}
    return 'dataclass' in decorators(node) or 'NamedTuple' in bases


def fields(node: ast.ClassDef) -> dict[str, str]:
    """Return type and default of each field of a dataclass or named tuple, in their order."""
    found = {}
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and not ast.unparse(line.target).startswith('_'):
            kind = ast.unparse(line.annotation)
            if not kind.startswith('ClassVar'):
                value = default_text(line.value)
                found[ast.unparse(line.target)] = kind + (f' = {value}' if value else '')
    return found


def class_arguments(node: ast.ClassDef) -> str | None:
    """Return the arguments of a class, None where it takes no arguments of its own."""
    if is_record(node):
        return ', '.join(f'{name}: {text}' for name, text in fields(node).items())
    for line in node.body:
        if isinstance(line, ast.FunctionDef) and line.name == '__init__':
            return arguments(line, is_method=True)
    return None
