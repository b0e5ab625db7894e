# SPDX-License-Identifier: Apache-2.0
"""
Sphinx extension: fills the pages docs/api/<package>.rst with the public names of a package.

What a page says before stands in the file; what follows is written from the source each time the
page is read, so there are no generated files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from docstring_text import restructured
from docutils import nodes
from public_names import Module, defined, members, modules, of_package, resolved, summary
from signatures import arguments, class_arguments, decorators
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

FOLDER = 'api/'
INDENT = '   '


def _indented(lines: list[str]) -> list[str]:
    return [INDENT + line if line.strip() else '' for line in lines]


def _function(node: ast.FunctionDef, module: str, prefix: str = '') -> Iterator[str]:
    kinds = decorators(node)
    returns = f' -> {ast.unparse(node.returns)}' if node.returns else ''
    if kinds & {'property', 'cached_property'}:
        yield f'.. py:property:: {prefix}{node.name}'
        if node.returns:
            yield f'{INDENT}:type: {ast.unparse(node.returns)}'
    else:
        what = 'method' if prefix else 'function'
        yield (f'.. py:{what}:: {prefix}{node.name}'
               f'({arguments(node, bool(prefix))}){returns}')
        for kind in ('staticmethod', 'classmethod', 'abstractmethod'):
            if kind in kinds:
                yield f'{INDENT}:{kind}:'
    yield ''
    yield from _indented(restructured(ast.get_docstring(node) or '', module))
    yield ''


def _class(node: ast.ClassDef, module: str) -> Iterator[str]:
    made_from = class_arguments(node)
    yield f'.. py:class:: {node.name}' + ('' if made_from is None else f'({made_from})')
    yield ''
    bases = [b for b in map(ast.unparse, node.bases) if b not in ('NamedTuple', 'ABC', 'object')]
    if bases:
        links = (f':py:obj:`{base} <{resolved(module, base)}>`' if resolved(module, base)
                 else f'``{base}``' for base in bases)
        yield f'{INDENT}A ' + ', '.join(links) + '.'
        yield ''
    yield from _indented(restructured(ast.get_docstring(node) or '', module))
    yield ''
    for inner in members(node):
        if isinstance(inner, ast.FunctionDef) and 'setter' not in decorators(inner):
            yield from _indented(list(_function(inner, module, f'{node.name}.')))


def _module(module: Module) -> Iterator[str]:
    title = module.name.rpartition('.')[2]
    yield from (title, '-' * len(title), '', f'.. py:module:: {module.name}', '')
    yield from restructured(module.docstring, module.name)
    yield ''
    for node in members(module.tree):
        if isinstance(node, ast.ClassDef):
            yield from _class(node, module.name)
        else:
            yield from _function(node, module.name)


def _handed_on(package: Module) -> Iterator[str]:
    """Yield what can be imported from the package itself, with where it is described."""
    names = sorted(n for n in package.imported if resolved(package.name, n))
    if names:
        yield f'From ``{package.name}`` itself can be imported: ' + ', '.join(
            f':py:obj:`{n} <{resolved(package.name, n)}>`' for n in names) + '.'
        yield ''


def page(package: str) -> str:
    """Return what follows the introduction of a package's page."""
    lines = ['', f'.. py:module:: {package}', '']
    lines += [*restructured(modules()[package].docstring, package), '']
    lines += _handed_on(modules()[package])
    if list(of_package(package)):
        lines += ['.. list-table::', '   :class: modules', '   :widths: auto', '']
    for module in of_package(package):
        short = module.name.rpartition('.')[2]
        text = ' '.join(restructured(summary(module.docstring), module.name)).strip()
        lines += [f'   * - :py:mod:`{short} <{module.name}>`', f'     - {text}']
    lines += ['']
    for module in of_package(package):
        lines += _module(module)
    return '\n'.join(lines)


def _fill(app: Sphinx, docname: str, source: list[str]) -> None:
    package = docname.removeprefix(FOLDER)
    if docname.startswith(FOLDER) and package in modules():
        source[0] += page(package)
        for module in (modules()[package], *of_package(package)):
            app.env.note_dependency(str(module.path))


def _link_types(app: Sphinx, doctree: nodes.document) -> None:
    """Link types in signatures by what they are where they stand, not by what sounds alike."""
    for node in list(doctree.findall(pending_xref)):
        if node.get('refdomain') == 'py' and node.get('reftarget') not in defined():
            full = resolved(node.get('py:module') or '', node['reftarget'])
            if full:
                node['reftarget'], node['refspecific'] = full, False
            else:
                node.replace_self(node.children)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    app.connect('source-read', _fill)
    app.connect('doctree-read', _link_types)
    return {'version': '1', 'parallel_read_safe': True, 'parallel_write_safe': True}
