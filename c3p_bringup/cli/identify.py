# SPDX-License-Identifier: Apache-2.0
"""``c3p identify``: a robot's parameters from a bag, and a drive that shows them."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    add_results,
    add_robot,
    fraction,
    make_places,
    named_bag,
    positive,
    show,
    typed,
)
from c3p_bringup.cli.excited_drive import (
    add_live,
    add_simulated,
    record_excitation,
    refuse_idle,
)
from c3p_dynamics.identification.parameters import PARAMETERS, USUAL

DESCRIPTION = """\
Estimate masses, centre of mass, friction and delay of a robot from joint_states and wheel_effort
in a bag, with intervals. With --excite a drive that shows them is simulated and recorded first;
with --live, too, it is commanded to the robot on the topics of this network."""


# 0 and 1 give an empty and an infinite interval
_confidence = typed(fraction, lambda value: 0 < value < 1, 'be between 0 and 1, such as 0.95')


def add_identify(commands: Any) -> None:
    """Add the command to the subparsers of ``c3p``."""
    command = commands.add_parser('identify', description=DESCRIPTION)
    command.add_argument('bag', type=Path, nargs='?', metavar='BAG',
                         help='directory of the bag; with --excite where it goes '
                              '(default then: DIR/bag)')
    add_robot(command, '', 'that of the bag; c3p with --excite', '; description to start from')
    command.add_argument('--namespace', metavar='NS', help='of the robot in the bag (default: the '
                         'only one)')
    command.add_argument('--torque', choices=['auto', 'command', 'measured'], default='auto',
                         help='wheel_effort, the efforts in joint_states, or what fits better '
                              'where they differ (default: %(default)s)')
    command.add_argument('--estimate', nargs='+', choices=list(PARAMETERS), default=list(USUAL),
                         metavar='NAME', help=f'what to estimate (default: {" ".join(USUAL)}; '
                         f'there are also {" ".join(p for p in PARAMETERS if p not in USUAL)})')
    command.add_argument('--per-caster', nargs='+', choices=list(PARAMETERS), default=[],
                         metavar='NAME', help='those that get one value per caster')
    command.add_argument('--segment', type=positive, default=0.5, metavar='S',
                         help='longest piece that is predicted (default: %(default)s)')
    command.add_argument('--confidence', type=_confidence, default=0.95, metavar='P',
                         help='of the intervals (default: %(default)s)')
    _add_excitation(command)
    add_results(command, 'out/identify', 'robot file, picture and bag')
    command.set_defaults(run=run)


def _add_excitation(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group('excitation')
    group.add_argument('--excite', action='store_true', help='drive and record first')
    add_live(group, '--excite')
    group.add_argument('--duration', type=positive, default=60.0, metavar='S',
                       help='of the drive (default: %(default)s)')
    group.add_argument('--yaw-rate', type=positive, default=1.0, metavar='RAD/S',
                       help='largest yaw rate (default: %(default)s)')
    add_simulated(group)


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out; return the exit code."""
    from c3p_experiments.identification.identify import identify_bag

    if not arguments.excite and arguments.bag is None:
        raise ValueError('no bag given: name one, or drive and record one with --excite')
    if not arguments.excite:
        refuse_idle(arguments, '--excite')
    bag = arguments.bag or arguments.out / 'bag'
    make_places(arguments.out, arguments.json)
    if arguments.excite:
        arguments.robot = arguments.robot or 'c3p'
        from c3p_dynamics.identification.excitation import Excitation

        record_excitation(bag, Excitation(arguments.duration, arguments.speed,
                                          arguments.yaw_rate), arguments)
    with named_bag(bag, arguments.robot, arguments.namespace) as (opened, robot):
        figures = identify_bag(
            opened, robot, arguments.out, namespace=arguments.namespace, torque=arguments.torque,
            estimate=arguments.estimate, per_caster=arguments.per_caster,
            segment=arguments.segment, confidence=arguments.confidence,
            recorded=not arguments.robot)
    if arguments.excite:
        figures['files']['bag'] = str(bag)
    show(figures, arguments.json, table(figures))
    return 0


def table(figures: dict[str, Any]) -> str:
    """
    Return the result of `identify.identify_bag` as text for a terminal.

    Each estimate with its half interval, the description, and the deviation from it.
    """
    rows = []
    for name, e in figures['estimates'].items():
        half = max(e['high'] - e['value'], e['value'] - e['low'])
        # two digits of the interval show the accuracy of the value
        digits = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 6
        # of the delay nothing is described
        change = (f'{100 * (e["value"] / e["described"] - 1):+.2f} %'
                  if e['described'] and name != 'delay' else '')
        rows.append(f'  {name:22} {e["value"]:>12.{digits}f} ± {half:<10.{digits}f} '
                    f'{e["unit"]:10} {e["described"]:>10.5g} {change:>10}')
    head = (f'  {"":22} {"estimate":>12}   {figures["confidence"]:<10.0%} {"":10} '
            f'{"described":>10} {"change":>10}')
    noise = figures['noise_m']
    segments = figures['segments']
    tail = [f'  {segments["used"]} pieces, {segments["seconds"]:.1f} s of motion; noise '
            f'{1e6 * noise["steering"]:.0f} µm in steering, {1e6 * noise["wheel"]:.0f} µm in '
            'wheels, over ground']
    tail += [f'  note: {text}' for text in figures['notes']]
    tail += [f'  {kind:22} {path}' for kind, path in figures['files'].items()]
    return '\n'.join([head, *rows, *tail])
