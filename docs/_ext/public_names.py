# SPDX-License-Identifier: Apache-2.0
"""
The public names of the suite, read from its source without importing anything.

So the pages are built where neither ROS 2 nor a compiler is installed, and in seconds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Module:
    """
    One source file.

    Attributes
    ----------
    name : str
        Dotted.
    path : Path
    tree : ast.Module
    imported : dict
        What each imported name is, dotted: ``{'Array': 'c3p_description.model.Array'}``.
    """

    name: str
    path: Path
    tree: ast.Module
    imported: dict[str, str] = field(default_factory=dict)

    @property
    def is_package(self) -> bool:
        """True for an ``__init__.py``."""
        return self.path.name == '__init__.py'

    @property
    def docstring(self) -> str:
        """What the file says of itself."""
        return ast.get_docstring(self.tree) or ''


def summary(docstring: str) -> str:
    """Return the first paragraph of a docstring in one line."""
    return ' '.join(docstring.split('\n\n')[0].split())


def members(parent: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Yield public classes and functions in the order of the source."""
    for node in parent.body:
        if isinstance(node, Definition) and not node.name.startswith('_'):
            yield node


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what a file imports, also only for a type checker; not what a function imports."""
    lines = [*tree.body, *(inner for line in tree.body if isinstance(line, ast.If)
                           for inner in line.body)]
    return {alias.asname or alias.name: f'{line.module}.{alias.name}'
            for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names}


@cache
def modules() -> dict[str, Module]:
    """Return every public module of the suite by its dotted name; packages are modules, too."""
    found = {}
    for path in [*ROOT.glob('c3p/__init__.py'), *sorted(ROOT.glob('c3p_*/**/*.py'))]:
        if path.name.startswith('_') and path.name != '__init__.py':
            continue
        tree = ast.parse(path.read_text(encoding='utf-8'), str(path))
        place = path.relative_to(ROOT).with_suffix('')
        name = '.'.join(place.parts).removesuffix('.__init__')
        found[name] = Module(name, path, tree, _imported(tree))
    return found


def packages() -> list[str]:
    """Return the folders of source, dotted, in the order of their names."""
    return [name for name, module in modules().items() if module.is_package]


def of_package(package: str) -> list[Module]:
    """Return the public modules that lie directly in a folder."""
    return [module for name, module in modules().items()
            if not module.is_package and name.rpartition('.')[0] == package]


@cache
def defined() -> frozenset[str]:
    """Return the full names of all public modules, classes, functions and methods."""
    found = set(modules())
    for name, module in modules().items():
        for node in members(module.tree):
            found.add(f'{name}.{node.name}')
            if isinstance(node, ast.ClassDef):
                found |= {f'{name}.{node.name}.{inner.name}' for inner in members(node)}
    return frozenset(found)


@cache
def _by_last_name() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(defined()):
        found.setdefault(name.rpartition('.')[2], []).append(name)
    return found


def resolved(module: str, name: str) -> str | None:
    """
    Return the full name of what a module calls `name`, None where it is nothing of the suite.

    Parameters
    ----------
    module : str
        Where the name is used; may be empty.
    name : str
        With or without dots: ``inverse``, ``casters.inverse``, ``Odometry.step``.
    """
    if name in defined():
        return name
    if f'{module}.{name}' in defined():
        return f'{module}.{name}'
    head, _, rest = name.partition('.')
    seen = set()
    place = modules()[module].imported.get(head) if module in modules() else None
    # what a package only hands on leads to where it is defined
    while place and place not in defined() and place not in seen:
        seen.add(place)
        package, _, last = place.rpartition('.')
        place = modules()[package].imported.get(last) if package in modules() else None
    if place:
        full = f'{place}.{rest}' if rest else place
        return full if full in defined() else None
    # a name that there is once needs no import
    there = [full for full in _by_last_name().get(name.rpartition('.')[2], [])
             if full.endswith(f'.{name}')]
    return there[0] if len(there) == 1 else None
