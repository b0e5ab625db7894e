# SPDX-License-Identifier: Apache-2.0
"""
Entry point of the command ``c3p``: light, so that Ctrl-C ends it with one line at any moment.

The parser of a command is in command_line.py and imported with it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from c3p_bringup.cli import FAILED, INTERRUPTED
from c3p_bringup.cli.commands import COMMANDS, Described, overview, unknown
from c3p_bringup.modules import import_reason, of_suite
from c3p_bringup.plain_text import show_plainly, while_read


def _end_at_once(*_: Any) -> None:
    """End the process: nothing has been begun that would have to be tidied up."""
    os.write(2, b'c3p: interrupted\n')
    os._exit(INTERRUPTED)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    from c3p_bringup.cli.command_line import parser as whole

    return whole()


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if '_ARGCOMPLETE' in os.environ:
        _complete()
    if given[:1] == ['help']:
        # c3p help, c3p help COMMAND
        given = [*given[1:2], '--help'] if given[1:] else []
    if not given or given[0] in ('-h', '--help'):
        print(overview())
        return 0
    if given[0] == '--version':
        print(f'c3p {_version()}')
        return 0
    if given[0] not in COMMANDS:
        print(f'c3p: {unknown(given[0])}; see c3p --help', file=sys.stderr)
        return FAILED
    # only the main thread may have signals, and a program that calls main() may have its own
    mine = (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL))
    if mine:
        signal.signal(signal.SIGINT, _end_at_once)
    try:
        from c3p_bringup.cli.command_line import parser, run

        # the parser imports, too
        arguments = parser(given[:1]).parse_args(given)
    except ImportError as error:
        if of_suite(error):
            raise
        print(f'c3p {given[0]}: {import_reason(error)}', file=sys.stderr)
        return FAILED
    finally:
        if mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(arguments)


def _version() -> str:
    """Return the version of the installation."""
    from importlib.metadata import PackageNotFoundError, version

    # how_to_install.DISTRIBUTION, whose package imports NumPy
    try:
        return version('c3p-robots')
    except PackageNotFoundError:
        return 'not installed: run from its sources'


def _complete() -> None:
    """Answer the completion of a shell (argcomplete) and end the process."""
    try:
        import argcomplete
    except ModuleNotFoundError:
        return
    from c3p_bringup.cli.command_line import parser

    words = os.environ.get('COMP_LINE', '').split()
    whole = len(words) > 1 and words[1] in COMMANDS
    # names alone need no import of a command
    argcomplete.autocomplete(parser(words[1:2]) if whole else _names())


def _names() -> argparse.ArgumentParser:
    """Return a parser of the names of the commands alone."""
    top = argparse.ArgumentParser(prog='c3p')
    top.add_argument('--version', action='store_true')
    commands = Described(top.add_subparsers())
    for name in COMMANDS:
        commands.add_parser(name)
    return top


def command() -> int:
    """Run the command as a process of its own; Ctrl-C does not cut its last words."""
    show_plainly()
    code: int = while_read(main)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code
