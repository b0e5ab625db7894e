# SPDX-License-Identifier: Apache-2.0
"""``c3p view``: a robot on the screen, live or from a bag, or a picture of it."""

from __future__ import annotations

import argparse
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
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load

VIEWERS = ('rerun', 'mujoco', 'foxglove')


def add_view(commands: Any) -> None:
    """Add the command ``view`` to the subparsers `commands`."""
    command = commands.add_parser(
        'view', help='show a robot, live or from a bag, in Rerun, MuJoCo or Foxglove',
        description='Show a robot with its way and what explains its motion: live from the topics '
                    'or, with BAG, a recorded run, which needs no ROS 2. With '
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
    _check(arguments)
    made = arguments.headless_screenshot or arguments.save
    make_places(Path() if made is None else made.parent, arguments.json)
    with given_bag(arguments.bag, arguments.robot, arguments.namespace) as (
            arguments.bag, arguments.robot):
        figures = _show(arguments)
    stream = write_json(figures, arguments.json)
    for path in figures['files'].values():
        print(path, file=stream)
    return 0


def _show(arguments: argparse.Namespace) -> dict[str, Any]:
    """Show the robot in the selected viewer; return a summary for JSON."""
    # imported when asked for: each viewer has libraries of its own
    if isinstance(load(arguments.robot), PvcTricycle):
        from c3p_viewers.rerun.tricycle_view import view

        return view(arguments)
    if arguments.headless_screenshot is not None:
        from c3p_viewers.screenshots import screenshot

        return screenshot(arguments)
    if arguments.save is not None:
        from c3p_viewers.rerun.rerun_view import save

        return save(arguments)
    from c3p_viewers.windows import show

    return show(arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together, before anything is read."""
    picture, save, bag = arguments.headless_screenshot, arguments.save, arguments.bag
    for name, path, suffix in (('headless-screenshot', picture, '.png'), ('save', save, '.rrd')):
        if path is not None and path.suffix != suffix:
            raise ValueError(f'--{name} {path}: its name must end in {suffix}')
        if path is not None and bag is None:
            raise ValueError(f'--{name} needs a bag: c3p view BAG --{name} FILE{suffix}')
    if picture is not None and save is not None:
        raise ValueError('--headless-screenshot and --save: give one of them')
    if picture is not None and arguments.viewer == 'foxglove':
        raise ValueError('--headless-screenshot: the Foxglove app cannot be pictured from here; '
                         'choose --viewer mujoco or rerun')
    if save is not None and arguments.viewer not in (None, 'rerun'):
        raise ValueError(f'--save writes for Rerun, and not for {arguments.viewer}')
    if arguments.time is not None and picture is None:
        raise ValueError('--time belongs to --headless-screenshot; a viewer has its own time line')
