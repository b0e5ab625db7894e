# SPDX-License-Identifier: Apache-2.0
"""The source files of the suite and what they import, for the tests of its rules."""

import ast
import functools
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted(p for p in ROOT.glob('c3p*/**/*.py') if '__pycache__' not in p.parts)
FOLDERS = ('test', 'launch', 'benchmarks', 'scripts')
# scripts without a suffix are what `ros2 run` starts
EVERYTHING = sorted([*SOURCES, ROOT / 'setup.py', *(
    p for folder in FOLDERS for p in ROOT.glob(f'{folder}/**/*')
    if p.suffix == '.py' or (folder == 'scripts' and p.is_file() and not p.suffix))])


def python_path(*folders):
    """
    Return PYTHONPATH of another process: these folders, and those of the environment.

    By these a ROS 2 installation is found.
    """
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get('PYTHONPATH')])])


def name_of(path):
    """Return the path below the root, for messages and ids."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding='utf-8'), str(path))


@functools.cache
def nodes_of(path):
    """Return all nodes of the syntax tree of a file: a dozen rules look at each of them."""
    return tuple(ast.walk(tree_of(path)))


def module_name(path):
    """Return the name of the module in a file of the suite."""
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')


def module_file(module):
    """Return the file of a module of the suite, None where there is no such file."""
    base = ROOT.joinpath(*module.split('.'))
    return next((p for p in (base.with_suffix('.py'), base / '__init__.py') if p.is_file()), None)


@functools.cache
def imports(path):
    """Return every module that a file imports, anywhere in it."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # relative imports do not occur; ruff and review keep it so
            found.add(node.module or '')
            # ``from package import module``
            found |= {m for m in (f'{node.module}.{a.name}' for a in node.names) if module_file(m)}
    return found
