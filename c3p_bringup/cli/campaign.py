# SPDX-License-Identifier: Apache-2.0
"""The command ``c3p campaign``."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from c3p_bringup.choices import PLANTS
from c3p_bringup.cli.common import (
    INTERRUPTED,
    MISSED,
    add_controller,
    add_results,
    add_robot,
    add_sensors,
    count,
    finite,
    fraction,
    make_places,
    rows,
    show,
)
from c3p_experiments.campaigns.spec import RANDOM, CampaignSpec

# fraction of the draws that must reach the goal for exit code 0
LEAST_REACHED = 0.99

# widths of the distributions: option and help
ERRORS = (
    ('mass', 'each mass and each moment of inertia, fraction'),
    ('com', 'centre of mass of the platform, x and y, m'),
    ('wheel-radius', 'each wheel radius, fraction'),
    ('caster-offset', 'each caster offset, fraction'),
    ('hip-position', 'each pivot, x and y, m'),
    ('steering-zero', 'zero of each steering encoder, rad'),
)
RANGES = (
    ('friction', 'μ between tyres and ground, plant mujoco'),
    ('pivot', 'factor of the friction of all pivots'),
    ('scrub', 'factor of the friction of tyres that turn on the spot'),
    ('rolling', 'factor of the friction of all wheels'),
    ('latency', 'delay of the loop, s'),
    ('noise', 'standard deviation of the noise of all encoders, counts'),
)
CHOICES = (('wheel-counts', 'encoder counts per turn of the wheels, one of these'),
           ('steering-counts', 'the same of the steering'))


def add_campaign(commands: Any) -> None:
    """Add ``c3p campaign`` to the sub-commands of the parser."""
    default = CampaignSpec()
    command = commands.add_parser(
        'campaign',
        description='Monte-Carlo campaign: robots whose masses, friction, latency and encoders '
                    'are drawn around the description. The controller uses the description. Each '
                    'draw depends only on the options and its number; an interrupted campaign '
                    'resumes. Exit code 1 if too few draws reach the goal.')
    command.add_argument('--draws', type=count, default=200, metavar='N',
                         help='number of draws (default: %(default)s)')
    _add_task(command, default)
    _add_drawn(command.add_argument_group(
        'distributions', 'errors are uniform within ± SIZE, the others uniform from LOW to HIGH'),
        default)
    _add_computing(command)
    command.add_argument('--least-reached', type=fraction, default=LEAST_REACHED, metavar='P',
                         help='fraction that must reach for exit code 0 (default: %(default)s)')
    add_results(command, 'out/campaign', 'results and pictures')
    command.set_defaults(run=run)


def _add_task(command: argparse.ArgumentParser, default: CampaignSpec) -> None:
    add_controller(command, default.controller, checked=False)
    command.add_argument('--plant', default=default.plant, choices=PLANTS,
                         help='simulated plant (default: %(default)s)')
    add_robot(command, None, f'{default.robot}, or the one of the experiment')
    task = command.add_mutually_exclusive_group()
    task.add_argument('--goal', type=finite, nargs=3, default=list(default.goal),
                      metavar=('X', 'Y', 'YAW'), help='m, m, rad (default: 4 0 0)')
    task.add_argument('--experiment', default='', metavar='NAME',
                      help='run an experiment of `c3p experiment` instead of the drive to --goal')
    command.add_argument('--start-steering', nargs='+', default=['0'], metavar='DEG',
                         help=f'steering angles at the start, one for all or one per caster, or '
                              f'{RANDOM} (default: 0, where the X direction is not actuated)')
    command.add_argument('--timeout', type=finite, default=default.timeout, metavar='S',
                         help='robot time after which --goal is missed (default: %(default)s)')
    command.add_argument('--seed', type=int, default=default.seed,
                         help='seed of all draws (default: %(default)s)')


def _add_drawn(group: Any, default: CampaignSpec) -> None:
    for name, meaning in ERRORS:
        group.add_argument(f'--{name}', type=finite, metavar='SIZE', default=_of(default, name),
                           help=f'{meaning} (default: %(default)s)')
    for name, meaning in RANGES:
        value = _of(default, name)
        group.add_argument(f'--{name}', type=finite, nargs=2, metavar=('LOW', 'HIGH'),
                           default=value, help=f'{meaning} (default: {value[0]:g} {value[1]:g})')
    for name, meaning in CHOICES:
        value = _of(default, name)
        group.add_argument(f'--{name}', type=int, nargs='+', metavar='N', default=value,
                           help=f'{meaning} (default: {" ".join(map(str, value))})')
    add_sensors(group, default.sensors)
    group.add_argument('--dropout', type=finite, default=default.dropout, metavar='P',
                       help='probability that a sample is lost; not drawn (default: %(default)s)')
    group.add_argument('--known-latency', type=finite, default=default.known_latency, metavar='S',
                       help='latency assumed by the controller; not drawn (default: %(default)s)')


def _add_computing(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group('workers')
    add_workers(group)
    group.add_argument('--resume', action=argparse.BooleanOptionalAction, default=True,
                       help='continue the result of the same campaign in DIR, or begin '
                            'afresh (default: --resume)')
    group.add_argument('--only', type=int, metavar='INDEX',
                       help='drive this one draw and draw its page; the result stays as it is')


def add_workers(group: Any) -> None:
    """Add the options of the worker processes to a group of a parser."""
    group.add_argument('--jobs', type=int, default=-1, metavar='N',
                       help='worker processes; -1: one per core (default: %(default)s)')
    group.add_argument('--backend', choices=('local', 'dask'), default='local',
                       help='processes of this computer, or a Dask cluster (default: %(default)s)')
    group.add_argument('--scheduler', default='', metavar='ADDRESS',
                       help='address of a running Dask cluster, such as tcp://host:8786 '
                            '(default: a local cluster is started)')
    group.add_argument('--block', type=count, default=1, metavar='N',
                       help='drives that a worker receives at once; 10 to 100 for hundreds of '
                            'cores (default: %(default)s)')


def _of(spec: CampaignSpec, name: str) -> Any:
    return getattr(spec, name.replace('-', '_'))


def spec_of(arguments: argparse.Namespace) -> CampaignSpec:
    """Return the specification given by the `arguments`; ValueError: it is invalid."""
    from c3p_controller.goals.goal_bounds import check_typed_pose

    check_typed_pose('--goal', *arguments.goal)
    values: dict[str, Any] = {}
    for field in fields(CampaignSpec):
        value = getattr(arguments, field.name)
        values[field.name] = tuple(value) if isinstance(value, list) else value
    values['robot'] = arguments.robot or CampaignSpec.robot
    values['sensors'] = arguments.sensors or CampaignSpec.sensors
    if arguments.experiment and not arguments.robot:
        from c3p_experiments.catalogue import experiment_for

        values['robot'] = experiment_for(arguments.experiment, arguments.plant).robot
    start = arguments.start_steering
    if start == [RANDOM]:
        values['start_steering'] = RANDOM
    else:
        try:
            values['start_steering'] = tuple(math.radians(float(angle)) for angle in start)
        except ValueError:
            raise ValueError(f'start-steering = {" ".join(start)}: must be angles in degrees, or '
                             f'{RANDOM}') from None
    return CampaignSpec(**values)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return its exit code."""
    spec = spec_of(arguments)
    if arguments.only is not None and arguments.only < 0:
        raise ValueError(f'only = {arguments.only}: draws are numbered from 0')
    make_places(arguments.out, arguments.json)
    if arguments.only is not None:
        return _only(spec, arguments)
    from tqdm import tqdm

    from c3p_experiments.campaigns.campaign import command, run_campaign
    from c3p_experiments.campaigns.page import campaign_page
    from c3p_experiments.campaigns.summary import summarise, text
    from c3p_experiments.parallel.workers import Workers

    with tqdm(total=arguments.draws, unit='draw', file=sys.stderr, disable=None) as bar:
        def progress(done: int, reached: int) -> None:
            bar.n = done
            bar.set_postfix_str(f'{reached} reached', refresh=False)
            bar.update(0)

        workers = Workers(arguments.jobs, arguments.backend, arguments.scheduler, arguments.block)
        try:
            result = run_campaign(spec, arguments.draws, arguments.out, workers, arguments.resume,
                                  progress)
        except KeyboardInterrupt:
            bar.close()
            print(f'c3p campaign: interrupted; what is done is in {arguments.out}, and the same '
                  'command goes on', file=sys.stderr)
            return INTERRUPTED
    table = result.table
    summary = summarise(table, result.parameters)
    pictures = campaign_page(spec, table, summary, arguments.out / 'campaign')
    for worst in summary['worst'].values():
        for entry in worst:
            entry['command'] = command(spec, entry['index'])
    files = {'rows': str(result.path), 'page': str(pictures[0]), 'page_pdf': str(pictures[1])}
    show({'campaign': spec.plain(), **summary, 'computed': result.computed, 'files': files},
         arguments.json, '\n'.join([text(summary), *_worst(summary), rows(files.items(), 34)]))
    return 0 if summary['reached_fraction'] >= arguments.least_reached else MISSED


def _worst(summary: dict[str, Any]) -> Iterator[str]:
    for index, reason in list(summary['failures'].items())[:10]:
        yield f'  draw {index} failed: {reason}'
    for effect, worst in summary['worst'].items():
        value = worst[0][effect]
        yield (f'  worst {effect}{"" if value is None else f" = {value:.4g}"}: '
               f'{worst[0]["command"]}')


def _only(spec: CampaignSpec, arguments: argparse.Namespace) -> int:
    """Drive one draw; return the exit code."""
    from c3p_bags.report.drive_page import drive_figure
    from c3p_bags.runs.metrics import drive_metrics
    from c3p_experiments.campaigns.draw import flat, missed, simulate

    driven = simulate(spec, arguments.only)
    figures = driven.outcome.metrics
    files = []
    for number, one in enumerate(driven.outcome.runs):
        place = arguments.out / f'draw_{arguments.only}{f"_{number + 1}" if number else ""}'
        goal = one.log.goals[-1].pose if one.log.goals else None
        if goal is not None:
            files += drive_figure(one.log, driven.bench.robot, drive_metrics(
                one.log, driven.bench.robot, goal, figures.get('goal_tolerance_m') or 0.05,
                figures.get('yaw_tolerance_rad') or 0.15), place)
    row = {'index': arguments.only, **driven.draw.parameters(), **flat(figures)}
    shown = [(name, f'{value:.6g}' if isinstance(value, float) else value)
             for name, value in row.items()]
    lines = [rows([*shown, *(('page', file) for file in files)], 34)]
    show({**row, 'files': [str(file) for file in files]}, arguments.json,
         '\n'.join(lines if row['reached'] else [*lines, f'  {missed(row)}']))
    return 0 if row['reached'] else MISSED
