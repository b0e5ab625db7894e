# SPDX-License-Identifier: Apache-2.0
"""
Programs by name, for ``ros2 run c3p`` and the entry points of an installation.

``from c3p_bringup.programs import simulation_node`` returns a function that imports the program
and runs it. Imports take a second; SIGINT or SIGTERM ends the process meanwhile, without a
traceback: no node exists that could publish, and no file is open.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from c3p_bringup.modules import import_reason, of_suite
from c3p_bringup.nodes import NODES, executable_of, module_of
from c3p_bringup.plain_text import show_plainly, while_read

# module and function of each program
PROGRAMS = {**{executable_of(name): (module_of(name), 'main') for name in NODES},
            'robot_nodes': ('c3p_bringup.robot_nodes', 'main'),
            'c3p': ('c3p_bringup.cli.main', 'command')}


def __getattr__(name: str) -> Callable[[], Any]:
    """Return the function that runs a program."""
    if name not in PROGRAMS:
        raise AttributeError(f'{name}: not a program; these are {", ".join(PROGRAMS)}')
    return partial(run, *PROGRAMS[name])


def run(module: str, function: str) -> Any:
    """Import a program and return what its `function` returns."""
    show_plainly()
    # a command was interrupted; a node ends on request
    code = 130 if function == 'command' else 0
    before = {number: signal.signal(number, lambda *_: os._exit(code))
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        found = getattr(import_module(module), function)
    except ImportError as error:
        if of_suite(error):
            raise
        print(import_reason(error), file=sys.stderr)
        return 1
    for number, handler in before.items():
        signal.signal(number, handler)
    return while_read(found)
