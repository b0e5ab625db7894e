# SPDX-License-Identifier: Apache-2.0
"""
The interfaces of the nodes, launch files, programs and of the command ``c3p``, one a line.

A line is the interface or, if it has details such as a type, the interface, a colon and these.

Topics and services are read from the tables of docs/nodes.md and launch arguments from those of
docs/launch.md, which tests compare with running nodes and with the launch files; parameters from
their schemas, the command line from its parser. Neither ROS 2 nor ``launch`` is needed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from write_node_docs import ROOT, allowed, schemas, shown

from c3p_bringup import cli
from c3p_bringup.cli.command_line import parser
from c3p_bringup.programs import PROGRAMS

NODES = ROOT / 'docs' / 'nodes.md'
LAUNCH = ROOT / 'docs' / 'launch.md'

TOPICS = re.compile(r'<!-- topics: (\w+) -->\n(.*?)<!-- end -->', re.DOTALL)
FILE = re.compile(r'^## (\w+\.launch\.py)\n(.*?)(?=^## |\Z)', re.DOTALL | re.MULTILINE)


def cells(table: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a Markdown table, without its two lines of heading."""
    rows = [line for line in table.splitlines() if line.startswith('|')]
    for row in rows[2:]:
        yield [cell.strip() for cell in row.strip('|').split('|')]


def topics() -> Iterator[str]:
    """Yield topics, services and actions: node, direction, name, type, quality, condition."""
    for node, table in TOPICS.findall(NODES.read_text(encoding='utf-8')):
        for kind, name, type_name, quality, condition, _ in cells(table):
            details = '; '.join(filter(None, (quality, condition)))
            name = name.strip('`')
            yield f'node {node} {kind} {name}: {type_name}' + (f' ({details})' if details else '')


def parameters() -> Iterator[str]:
    """Yield the parameters: type, default, range, and whether it may change."""
    for node, entries in schemas().items():
        for name, entry in entries.items():
            rules = [allowed(entry), 'fixed' if entry.get('read_only') else '']
            details = '; '.join(filter(None, rules))
            value = shown(entry.get('default_value')).strip('`')
            yield (f'node {node} parameter {name}: {entry["type"]} = {value}'
                   + (f' ({details})' if details else ''))


def launch_arguments() -> Iterator[str]:
    """Yield the arguments of the launch files: default and choices."""
    for file, section in FILE.findall(LAUNCH.read_text(encoding='utf-8')):
        tables = re.findall(r'^\| argument .*?(?=\n\n|\Z)', section, re.DOTALL | re.MULTILINE)
        for name, default, choices, *_ in (row for table in tables for row in cells(table)):
            details = choices.replace('`', '')
            value = ' '.join(filter(None, (default.strip('`'), f'({details})' * bool(details))))
            yield f'launch {file} {name.strip("`")}' + (f': {value}' if value else '')


def words(action: argparse.Action) -> str:
    """Return an argument of a command as its usage shows it."""
    values = action.metavar or action.dest.upper()
    several = isinstance(values, tuple)
    if action.choices:
        values = '{' + ','.join(map(str, action.choices)) + '}'
    if action.nargs == 0:
        values = ''
    elif action.nargs == '?':
        values = f'[{values}]'
    elif action.nargs in ('*', '+'):
        values = f'{values} ...' if action.nargs == '+' else f'[{values} ...]'
    elif several:
        values = ' '.join(values)
    elif isinstance(action.nargs, int):
        values = ' '.join([f'{values}'] * action.nargs)
    return ': '.join(filter(None, (' '.join(action.option_strings), f'{values}')))


def arguments(command: argparse.ArgumentParser, name: str) -> Iterator[str]:
    """Yield the commands and their arguments."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield f'command {name} {word}'
                yield from arguments(below, f'{name} {word}')
        elif not isinstance(action, argparse._HelpAction):
            required = ' (required)' if action.option_strings and action.required else ''
            yield f'command {name} {words(action)}{required}'


def exit_codes() -> Iterator[str]:
    """Yield the exit codes of the commands."""
    yield 'command c3p exit code SUCCESS = 0'
    for name in ('MISSED', 'FAILED', 'INTERRUPTED'):
        yield f'command c3p exit code {name} = {getattr(cli, name)}'


def files() -> Iterator[str]:
    """Yield the files of the share directory that other packages and users refer to."""
    places = ('launch/*.launch.py', 'config/**/*', 'c3p_description/robots/*',
              'c3p_description/urdf/*', 'c3p_description/rviz/*', 'c3p_description/worlds/*.sdf')
    for pattern in places:
        yield from (f'file share/c3p/{path.relative_to(ROOT).as_posix()}'
                    for path in ROOT.glob(pattern) if is_data(path))


def is_data(path: Path) -> bool:
    """Return whether setup.py installs a file of the share directory."""
    return path.is_file() and '__pycache__' not in path.parts and path.suffix not in ('.pyc',)


def interface_lines() -> list[str]:
    """Return the sorted lines of all interfaces."""
    programs = (f'program {name}' for name in PROGRAMS)
    return sorted({*topics(), *parameters(), *launch_arguments(), *arguments(parser(), 'c3p'),
                   *exit_codes(), *programs, *files()})
