# SPDX-License-Identifier: Apache-2.0
"""``c3p dashboard``: a live page of the robot in a browser on this computer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import add_json, add_robot, make_places, show

PORT = 8766


def add_dashboard(commands: Any) -> None:
    """Add the command ``dashboard`` to the subparsers `commands`."""
    command = commands.add_parser(
        'dashboard',
        description='Serve a live page of a caster robot to a browser on this computer, until '
                    'Ctrl-C: the robot from above, singularity, slip, torques, diagnostics, '
                    'goals and stop. From another computer: ssh -L PORT:127.0.0.1:PORT ROBOT, '
                    'then open the printed address there.')
    add_robot(command)
    command.add_argument('--namespace', metavar='NAME',
                         help='of the robot, such as robot1 (default: none)')
    add_port(command)
    add_json(command)
    command.set_defaults(run=run)


def add_port(command: argparse.ArgumentParser) -> None:
    """Add ``--port`` and ``--open`` of the live page."""
    command.add_argument('--port', type=int, default=PORT, metavar='PORT',
                         help='of the live page on 127.0.0.1; 0 takes a free one (default: '
                              '%(default)s)')
    command.add_argument('--open', action='store_true',
                         help='open the live page in the browser of this computer')


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    from c3p_description.reading.loader import load_casters
    from c3p_viewers.dashboard.run import dashboard

    make_places(Path(), arguments.json)
    with ExitStack() as files:
        told = dashboard(load_casters(arguments.robot), arguments.namespace, arguments.port,
                         announcement(), partial(open_browser, files) if arguments.open else None)
    text = ('  the stop remains pressed; release it with c3p teleop, key r, or ros2 topic pub '
            "--once e_stop std_msgs/msg/Bool '{data: false}'" if told['e_stop_held'] else '')
    show(told, arguments.json, text)
    return 0


def announcement() -> Callable[[str], None]:
    """Return a function that prints the address of the page, and later the next ones."""
    printed: list[str] = []

    def announce(url: str) -> None:
        if printed:
            print(f'for another device (the address above expires in a minute): {url}',
                  file=sys.stderr, flush=True)
        else:
            port = url.partition('/?')[0].rpartition(':')[2]
            print(f'live page: {url}', file=sys.stderr)
            print(f'from another computer: ssh -L {port}:127.0.0.1:{port} THIS_COMPUTER, then '
                  'the same address there; Ctrl-C ends', file=sys.stderr, flush=True)
        printed.append(url)

    return announce


def open_browser(files: ExitStack, url: str) -> None:
    """
    Open a browser by a file that only this user can read.

    `files` removes it at the end, and not sooner: a browser that starts slowly reads it late.
    """
    import webbrowser

    from c3p_viewers.dashboard.redirect_file import redirect_file

    try:
        path = redirect_file(url)
    except OSError as error:
        print(f'--open: {error}; open the printed address', file=sys.stderr, flush=True)
        return
    files.callback(path.unlink, missing_ok=True)
    webbrowser.open(path.as_uri())
