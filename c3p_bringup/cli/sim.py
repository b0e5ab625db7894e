# SPDX-License-Identifier: Apache-2.0
"""``c3p sim``: a simulated robot on real topics, for RViz, teleoperation and other programs."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from c3p_bringup.choices import AUTO_LAW, PLANTS, STRICT, WAIT
from c3p_bringup.cli.common import (
    MISSED,
    add_controller,
    add_json,
    add_params_file,
    add_robot,
    add_sensors,
    finite,
    make_places,
    not_negative,
    positive,
    rows,
    show,
)
from c3p_bringup.cli.dashboard import add_port
from c3p_ros.child_process import ChildProcess

# options of the tricycle and their defaults
OF_TRICYCLE = {'terrain': 'hills', 'drive_rate': 1.0, 'camber_gain': 0.0}

# options of caster robots and their defaults, those of ``c3p drive``
OF_CASTERS = {'plant': 'analytic', 'controller': AUTO_LAW, 'start_steering': 0.0, 'rate': 200.0,
              'sensors': 'auto'}


def add_sim(commands: Any) -> None:
    """Add the command ``sim`` to the subparsers `commands`."""
    command = commands.add_parser(
        'sim',
        description='Run a simulated robot on real topics until Ctrl-C: the caster robot with its '
                    'control chain, or (--robot pvc_tricycle, rover, vla_tricycle, '
                    'caster_vehicle, or their YAML file) a vehicle that climbs rough ground. '
                    'cmd_vel drives it; docs/rough_ground.md shows it in RViz.')
    add_robot(command)
    command.add_argument('--plant', choices=PLANTS,
                         help='simulated plant of a caster robot (default: '
                              f'{OF_CASTERS["plant"]})')
    add_sensors(command, 'encoders with --plant mujoco, else ideal')
    add_controller(command, None, 'of a caster robot: ')
    command.add_argument('--start-steering', type=finite, nargs='+', metavar='DEG',
                         help='steering angles of a caster robot at the start, one for all or one '
                              f'per caster (default: {OF_CASTERS["start_steering"]:g})')
    command.add_argument('--rate', type=positive, metavar='HZ',
                         help='control cycles of a caster robot per second of robot time '
                              f'(default: {OF_CASTERS["rate"]})')
    command.add_argument('--terrain', metavar='NAME',
                         help='ground of the tricycle: a name, or the path of a height map '
                              f'(default: {OF_TRICYCLE["terrain"]})')
    command.add_argument('--drive-rate', type=finite, metavar='RATE',
                         help='wheel rate until the first cmd_vel, rad/s; 0: standstill (default: '
                              f'{OF_TRICYCLE["drive_rate"]})')
    command.add_argument('--camber-gain', type=not_negative, metavar='K',
                         help='gain of the camber feedback, 1/s (default: '
                              f'{OF_TRICYCLE["camber_gain"]}, as in the paper)')
    command.add_argument('--start', type=finite, nargs=3, default=[0.0, 0.0, 0.0],
                         metavar=('X', 'Y', 'YAW'),
                         help='initial pose, m and rad (default: 0 0 0)')
    command.add_argument('--duration', type=positive, metavar='S',
                         help='robot time to simulate (default: until Ctrl-C)')
    command.add_argument('--realtime-factor', type=positive, default=1.0, metavar='F',
                         help='robot time per real time; other than 1 publishes /clock (default: '
                              '%(default)s)')
    command.add_argument('--realtime', choices=(WAIT, STRICT), default=WAIT,
                         help='wait: while the computer is busy, a caster robot waits for its '
                              'controllers, and publishes /clock; strict: it does not wait, and '
                              'the watchdogs stop it (default: %(default)s)')
    command.add_argument('--web', action='store_true',
                         help='also serve the live page of a caster robot (c3p dashboard), and '
                              'run a twist_mux, whose lock is the e-stop of the page')
    add_port(command)
    add_params_file(command, 'for the nodes; may be repeated; the options take precedence')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported here: rclpy and the kernels load slowly
    from c3p_bringup.sim import SimOptions, simulate_casters, simulate_tricycle
    from c3p_controller.goals.goal_bounds import check_typed_pose
    from c3p_description.pvc_model import PvcTricycle
    from c3p_description.reading.loader import load
    from c3p_description.reading.vehicle_files import is_vehicle, load_vehicle

    vehicle = is_vehicle(arguments.robot)
    if vehicle:
        load_vehicle(arguments.robot)
    robot = None if vehicle else load(arguments.robot)
    tricycle = vehicle or isinstance(robot, PvcTricycle)
    chosen, other = ({name: value for name in names
                      if (value := getattr(arguments, name)) is not None}
                     for names in ((OF_TRICYCLE, OF_CASTERS) if tricycle else
                                   (OF_CASTERS, OF_TRICYCLE)))
    if other:
        option = f'--{next(iter(other)).replace("_", "-")}'
        raise ValueError(f'{option}: only for caster robots; leave it out for {arguments.robot}'
                         if tricycle else
                         f'{option}: only for a tricycle; add --robot pvc_tricycle, or a '
                         'vehicle such as --robot rover')
    if 'start_steering' in chosen:
        given = len(chosen['start_steering'])
        count = getattr(robot, 'count', 1)
        if given not in (1, count):
            raise ValueError(f'--start-steering: {given} angles; {arguments.robot} takes 1 or '
                             f'{count}')
        chosen['start_steering'] = [math.radians(angle) for angle in chosen['start_steering']]
    if arguments.web and tricycle:
        raise ValueError('--web: the live page shows caster robots; leave it out for '
                         f'{arguments.robot}')
    check_typed_pose('--start', *arguments.start)
    make_places(Path(), arguments.json)
    options = SimOptions(robot=arguments.robot, start=arguments.start,
                         duration=arguments.duration, realtime_factor=arguments.realtime_factor,
                         realtime=arguments.realtime, muxed=arguments.web,
                         parameters=arguments.params_file, chosen=chosen)
    with live_page(arguments) if arguments.web else nullcontext():
        metrics = (simulate_tricycle if tricycle else simulate_casters)(
            options, announce=lambda line: print(line, file=sys.stderr))
    # such as the reason of a run that did not end early
    shown = [(name, _short(value)) for name, value in metrics.items() if value != '']
    show(metrics, arguments.json, rows(shown, 24))
    return MISSED if metrics.get('ended') else 0


def _short(value: Any) -> Any:
    """Return a number, or a list of numbers, as people read it; other values as they are."""
    if isinstance(value, list):
        return ' '.join(f'{_short(one)}' for one in value)
    # below a micrometre is zero
    return f'{value:.6g}' if isinstance(value, float) and abs(value) > 1e-6 else (
        '0' if isinstance(value, float) else value)


@contextmanager
def live_page(arguments: argparse.Namespace) -> Iterator[None]:
    """
    Run ``c3p dashboard`` in a process of its own, so that it costs the simulation no cycle.

    `arguments` are those of ``c3p sim``.
    """
    from c3p_bringup.near import stay_near

    # as for the simulation: a page must not command the real robot on the network
    reach = {**os.environ}
    # the simulation itself warns
    stay_near(reach)
    command = [sys.executable, '-m', 'c3p_bringup', 'dashboard', '--robot', f'{arguments.robot}',
               '--port', f'{arguments.port}', *(['--open'] if arguments.open else [])]
    # Ctrl-C reaches both; another signal does not
    process = ChildProcess(command, session=False, env=reach)
    try:
        yield
    finally:
        process.end(signal.SIGINT, 10.0)
