# SPDX-License-Identifier: Apache-2.0
"""``c3p view``: a robot on the screen, live or from a bag, or a picture of it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    add_json,
    add_recorded_robot,
    count,
    finite,
    given_bag,
    make_places,
    write_json,
)
from c3p_viewers.options import VIEWERS, ViewOptions


def add_view(commands: Any) -> None:
    """Add the command ``view`` to the subparsers `commands`."""
    command = commands.add_parser(
        'view',
        description='Show a robot with its path and the scene that explains its motion: live '
                    'from the topics or, with BAG, a recorded run, which needs no ROS 2. With '
                    '--headless-screenshot one picture, without a screen.')
    command.add_argument('bag', type=Path, nargs='?', metavar='BAG',
                         help='directory of a bag; without it, the topics')
    command.add_argument('--viewer', choices=VIEWERS,
                         help='rerun: its viewer, with plots. mujoco: the window of the '
                              'simulator. foxglove: a server to which the Foxglove app connects '
                              '(default: rerun, and mujoco for --headless-screenshot)')
    add_recorded_robot(command)
    command.add_argument('--namespace', metavar='NAME',
                         help='of the robot (default: the only one in the bag; live: none)')
    command.add_argument('--time', type=finite, metavar='S',
                         help='with --headless-screenshot: seconds since the first joint states '
                              '(default: at half of the distance driven)')
    command.add_argument('--headless-screenshot', type=Path, metavar='FILE',
                         help='write this .png instead of opening a window')
    command.add_argument('--size', type=count, nargs=2, default=[1280, 720],
                         metavar=('WIDTH', 'HEIGHT'),
                         help='of a picture by MuJoCo, pixels (default: 1280 720)')
    command.add_argument('--save', type=Path, metavar='FILE',
                         help='with BAG: write an .rrd for Rerun instead of opening its viewer')
    command.add_argument('--host', default='127.0.0.1',
                         help='address on which the Foxglove server listens; 0.0.0.0 is every '
                              'network (default: %(default)s)')
    command.add_argument('--port', type=int, default=8765,
                         help='of the Foxglove server; 0 takes a free one (default: %(default)s)')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    from c3p_viewers.view import view

    options = ViewOptions(
        arguments.robot or '', arguments.bag, arguments.viewer, arguments.namespace,
        arguments.headless_screenshot, arguments.save, arguments.time, tuple(arguments.size),
        arguments.host, arguments.port)
    made = options.picture or options.save
    make_places(Path() if made is None else made.parent, arguments.json)
    with given_bag(options.bag, arguments.robot, options.namespace) as (bag, robot):
        shown = view(replace(options, robot=robot), bag)
    stream = write_json(shown, arguments.json)
    for path in shown['files'].values():
        print(path, file=stream)
    return 0
