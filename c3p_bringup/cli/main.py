# SPDX-License-Identifier: Apache-2.0
"""
Entry point of the command ``c3p``: light, so that Ctrl-C ends it with one line at any moment.

The command line is in command_line.py, whose imports take more than a second.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

# as cli_common.INTERRUPTED, which is not imported here
INTERRUPTED = 130


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
    # only the main thread may have signals, and a program that uses this may want its own
    mine = (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    if mine:
        signal.signal(signal.SIGINT, _end_at_once)
    try:
        from c3p_bringup.cli.command_line import run

        # the parser imports, too
        arguments = parser().parse_args(args)
    finally:
        if mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(arguments)


def command() -> int:
    """Run the command as a process of its own; Ctrl-C does not cut its last words."""
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code
