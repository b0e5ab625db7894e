# SPDX-License-Identifier: Apache-2.0
"""
Help of the programs that run one node: ``--help`` prints it, without ROS and without a robot.

The text is that of the module of the node, which names topics and services, and the parameters of
its schema. It is the same for ``ros2 run``, the console script and ``python -m``.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from c3p_ros.schema import COMMON, read_schema

WORDS = ('-h', '--help')

# columns of the text, and of the names of parameters
WIDTH = 99
NAME_WIDTH = 4


def wants_help(args: Sequence[str] | None) -> bool:
    """
    Return whether a command line, `sys.argv` by default, has a word for help.

    ROS arguments, between ``--ros-args`` and ``--``, belong to ROS.

    Examples
    --------
    >>> wants_help(['twist_mux_node', '--ros-args', '-p', 'rate:=5.0', '--', '--help'])
    True
    >>> wants_help(['twist_mux_node', '--ros-args', '--help'])
    False
    """
    ours = True
    for word in (sys.argv if args is None else args)[1:]:
        if word == '--ros-args':
            ours = False
        elif word == '--':
            ours = True
        elif ours and word in WORDS:
            return True
    return False


def usage(node: Callable[..., Any]) -> str:
    """Return the help of the program whose `node`, a class or a function, makes its node."""
    module = sys.modules[node.__module__]
    file = Path(f'{module.__file__}')
    program = file.stem
    text = [f'usage: {program} [--ros-args -r __ns:=/NAMESPACE -p NAME:=VALUE '
            '--params-file FILE]', '', (module.__doc__ or '').strip()]
    schema = file.with_name(f'{program.removesuffix("_node")}_parameters.yaml')
    entries = read_schema(COMMON, *([schema] if schema.is_file() else []))
    if more := getattr(node, 'MORE_ENTRIES', None):
        entries |= more(entries, {})
    text += ['', 'Parameters:']
    for name, entry in entries.items():
        default = entry.get('default_value')
        value = '' if default is None else f', default {default!r}'
        meaning = ' '.join(f'{entry.get("description", "")}'.split())
        text.append(f'  {name} ({entry["type"]}{value})')
        text += textwrap.wrap(meaning, WIDTH, initial_indent=' ' * NAME_WIDTH,
                              subsequent_indent=' ' * NAME_WIDTH)
    text += ['', 'docs/nodes.md has topics, services and ranges of the parameters.']
    return '\n'.join(text)
