# SPDX-License-Identifier: Apache-2.0
"""``c3p film``: a film, or one picture, of a recorded run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    add_recorded_robot,
    bar_of_fraction,
    count,
    finite,
    make_places,
    named_bag,
    positive,
)

# what can be written
SUFFIXES = ('.mp4', '.gif', '.png')


def add_film(commands: Any) -> None:
    """Add the command ``film`` to the subparsers `commands`."""
    command = commands.add_parser(
        'film',
        description='Draw the robot as it moved in a bag, simulated or not: an MP4, a GIF '
                    'or, with a name that ends in .png, one picture with the robot at several '
                    'places. Needs the extra film of the installation and OpenGL, but no screen.')
    command.add_argument('bag', type=Path, metavar='BAG', help='directory of the bag')
    add_recorded_robot(command)
    command.add_argument('--out', type=Path, default=Path('out/film.mp4'), metavar='FILE',
                         help='.mp4, .gif or .png (default: %(default)s)')
    command.add_argument('--speed', type=positive, default=1.0, metavar='F',
                         help='robot time per time of the film (default: %(default)s)')
    command.add_argument('--scene', action='store_true',
                         help='with rolling lines, torques and numbers; the view follows the '
                              'robot')
    command.add_argument('--span', type=finite, nargs=2, metavar=('BEGIN', 'END'),
                         help='with --scene: seconds since the first joint states (default: the '
                              'whole run)')
    command.add_argument('--rate', type=positive, default=30.0, metavar='HZ',
                         help='with --scene: pictures per second of the film (default: '
                              '%(default)s)')
    command.add_argument('--size', type=count, nargs=2, default=[1280, 720],
                         metavar=('WIDTH', 'HEIGHT'), help='pixels (default: 1280 720)')
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported when needed: MuJoCo and OpenGL take their time
    from c3p_bags.runs.log_reader import read_run
    from c3p_description.reading.loader import load_casters
    from c3p_viewers.mujoco.films import FilmFormat
    from c3p_viewers.mujoco.pictures import film, run_picture, scene_film
    from c3p_viewers.sources.bag_source import BagSource

    if arguments.out.suffix not in SUFFIXES:
        raise ValueError(f'out = {arguments.out}: its name must end in {" or ".join(SUFFIXES)}')
    if arguments.span is not None and not arguments.scene:
        raise ValueError('--span: needs --scene')
    with named_bag(arguments.bag, arguments.robot) as (bag, robot):
        log = read_run(bag, load_casters(robot))
        make_places(arguments.out.parent)
        if arguments.out.suffix == '.png':
            path = run_picture(log, arguments.out, robot, size=arguments.size)
        elif arguments.scene:
            with bar_of_fraction() as bar:
                path = scene_film(BagSource(log), load_casters(robot), robot, arguments.out,
                                  arguments.span, FilmFormat(
                                      arguments.speed, arguments.size, arguments.rate),
                                  bar.set_to)
        else:
            with bar_of_fraction() as bar:
                path = film(log, arguments.out, robot, speed=arguments.speed,
                            size=arguments.size, progress=bar.set_to)
    print(path)
    return 0
