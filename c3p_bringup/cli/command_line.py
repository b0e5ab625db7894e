# SPDX-License-Identifier: Apache-2.0
"""The command line of ``c3p``: parser, and errors in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from c3p_bringup.cli.commands import COMMANDS, add_command
from c3p_bringup.cli.common import (
    FAILED,
    INTERRUPTED,
    Parser,
    apply_robot_options,
    check_files,
    make_places,
    name_of,
    reason,
)
from c3p_bringup.cli.remarks import remarks_on_bags
from c3p_bringup.modules import of_suite
from c3p_bringup.plain_text import output_ended


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of the commands `names`, by default of the whole command line."""
    top = Parser(prog='c3p', description='Caster robots on ROS 2.')
    commands = top.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name in names:
        add_command(name, commands)
    return top


def run(arguments: argparse.Namespace) -> int:
    """Run the command that was parsed; return its exit code."""
    try:
        check_files(arguments)
        apply_robot_options(arguments)
        # results that cannot be written are an error before anything runs
        json_file = getattr(arguments, 'json', None)
        if json_file is not None:
            make_places(Path(), json_file)
        with remarks_on_bags(name_of(arguments)):
            return arguments.run(arguments)
    except (ValueError, OSError, ImportError) as error:
        if (isinstance(error, ImportError) and of_suite(error)
                or isinstance(error, BrokenPipeError) and output_ended()):
            raise
        print(f'{name_of(arguments)}: {reason(error)}', file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f'{name_of(arguments)}: interrupted', file=sys.stderr)
        return INTERRUPTED
