# SPDX-License-Identifier: Apache-2.0
"""``c3p experiment``: the experiments of the papers and ours, with pages, tables and figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c3p_bringup.choices import EXPERIMENTS, PLANTS
from c3p_bringup.cli.commands import similar
from c3p_bringup.cli.common import (
    MISSED,
    add_controller,
    add_json,
    add_robot,
    add_sensors,
    complete,
    finite,
    make_places,
    positive,
    progress_bar,
    write_json,
)

if TYPE_CHECKING:
    from c3p_experiments.loop.conditions import Conditions

ALL = 'all'
ENCODERS = 'encoders'
# what can be given besides the name and where results go
OPTIONS = ('plant', 'controller', 'robot', 'friction', 'sensors', 'latency', 'known_latency',
           'counts', 'seed', 'duration', 'film', 'trials', 'workers')


def add_experiment(commands: Any) -> None:
    """Add the command ``experiment`` to the subparsers `commands`."""
    command = commands.add_parser(
        'experiment',
        description='Run an experiment in one process, faster than real time, and compare it with '
                    'the printed values. Exit code 1 if a goal is missed; missed bars are only '
                    'marked in the table.')
    name = command.add_argument('name', nargs='?', metavar='NAME',
                                help='name from --list, all, or with --paper a figure: figure9')
    complete(name, lambda: EXPERIMENTS)
    command.add_argument('--paper', metavar='PAPER',
                         help='1 or 2 (El-Shenawy et al.), auchter, kelly, saha')
    command.add_argument('--list', action='store_true', help='list the experiments')
    command.add_argument('--plant', choices=PLANTS,
                         help='rolling without slip, or tyres in contact (default: analytic)')
    add_controller(command, None, checked=False)
    add_robot(command, None, 'the one of the paper')
    command.add_argument('--friction', type=finite, metavar='MU',
                         help='friction of the tyres, plant mujoco (default: 0.8)')
    add_sensors(command, ENCODERS)
    command.add_argument('--latency', type=finite, metavar='MS',
                         help='latency of the loop (default: that of the sensors, 10)')
    command.add_argument('--known-latency', type=finite, metavar='MS',
                         help='latency that the controller assumes (default: that of the loop)')
    command.add_argument('--counts', type=int, nargs=2, metavar=('WHEEL', 'STEERING'),
                         help='encoder counts per turn, 0 is ideal (default: those of the '
                              'sensors, 2000 4096)')
    command.add_argument('--seed', type=int, help='seed of random values (default: 0)')
    command.add_argument('--duration', type=positive, metavar='S',
                         help='duration of each run, hill, random_terrain, camber_power, '
                              'planar_models (default: 20)')
    command.add_argument('--film', nargs='?', const='mp4', choices=('mp4', 'gif'),
                         help='hill and random_terrain: also stills and a film (default: mp4)')
    command.add_argument('--trials', type=_number, metavar='N',
                         help='commissioning, stopping: trials of each robot or case (default: 4)')
    command.add_argument('--workers', type=_number, metavar='N',
                         help='commissioning, stopping: processes (default: one per core)')
    command.add_argument('--keys', action='store_true',
                         help='berthing: drive the arm yourself with the keyboard, in real time')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='directory for pages and tables (default: '
                              'out/experiment/PLANT_CONTROLLER, or out/experiment for a model)')
    add_json(command)
    command.set_defaults(run=run)


def _number(text: str) -> int:
    """Return a whole number of 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f'{text}: must be 1 or more')
    return value


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported when needed: plots and kernels take their time
    from c3p_experiments.catalogue import EXPERIMENTS as KNOWN
    from c3p_experiments.figures import experiment_of_figure, figure_number
    from c3p_experiments.kinds import LOOP_OPTIONS, LoopExperiment

    if arguments.list:
        width = max(map(len, KNOWN)) + 1
        for experiment in KNOWN.values():
            print(f'{experiment.name:{width}} {experiment.title} ({experiment.source})')
        return 0
    name = arguments.name
    names = [*KNOWN]
    number = None if name is None else figure_number(name)
    if number is not None:
        name = arguments.name = experiment_of_figure(number, arguments.paper)
    elif arguments.paper is not None:
        raise ValueError(f'--paper {arguments.paper}: needs a figure as NAME, such as figure9'
                         + ('' if name is None else f', not {name}'))
    given = {option: value for option in OPTIONS
             if (value := getattr(arguments, option)) is not None}
    if name is None or name not in [*names, ALL]:
        close = [] if name is None else similar(name, [*names, ALL])
        if close:
            raise ValueError(f'experiment {name}: did you mean {" or ".join(close)}? All are '
                             'listed by --list')
        asked = 'which experiment?' if name is None else f'experiment {name}:'
        raise ValueError(f'{asked} must be one of {", ".join(names)}, or {ALL}; --list has their '
                         'titles')
    if arguments.keys:
        if name != 'berthing' or given:
            raise ValueError('--keys: for the experiment berthing, without other options than '
                             '--out and --json')
        return _by_hand(arguments)
    place = arguments.out or Path('out/experiment')
    if name != ALL:
        KNOWN[name].check_options(given)
        conditions = _conditions(given)
        KNOWN[name].check(conditions)
        return _carry_out(arguments, {name: conditions},
                          arguments.out or place / KNOWN[name].place(conditions))
    conditions = _conditions(given)
    # those in the control loop have its options, and the others only what is theirs
    drives = {name: conditions for name, e in KNOWN.items() if isinstance(e, LoopExperiment)
              and e.compared and conditions.plant in e.plants}
    without = _conditions({option: value for option, value in given.items()
                           if option == 'seed' or option not in LOOP_OPTIONS})
    # statistics of many trials run by their own name only
    models = {name: without for name, e in KNOWN.items()
              if not isinstance(e, LoopExperiment) and 'trials' not in e.takes}
    return _carry_out(arguments, drives | models, arguments.out or (
        place / f'{conditions.plant}_{conditions.controller}'))


def _by_hand(arguments: argparse.Namespace) -> int:
    """Let a person do the berthing; return the exit code."""
    from c3p_bringup.teleop.berthing import drive
    from c3p_bringup.teleop.screen import Terminal
    from c3p_experiments.kelly import by_hand
    from c3p_experiments.kinds import ModelExperiment

    terminal = Terminal()
    out = arguments.out or Path('out/experiment')
    make_places(out, arguments.json)
    scene = by_hand.Berthing()
    model = ModelExperiment(by_hand.NAME, by_hand.TITLE, by_hand.SOURCE,
                            lambda place, options, progress: scene.finish(place),
                            rows=by_hand.ROWS)
    # the solver is compiled before the person waits for it
    scene.warm_up()
    with terminal:
        drive(scene, terminal)
    figures = model.completed(scene.finish(out), out)
    print(_text(figures), file=_stream(arguments), flush=True)
    return _told(arguments, figures)


def _conditions(given: Mapping[str, Any]) -> Conditions:
    """Return the conditions of an experiment, defaults where nothing is given."""
    from c3p_controller import AUTO, chosen_law
    from c3p_description.reading.loader import load_casters
    from c3p_experiments.loop.conditions import Conditions
    from c3p_simulation.sensor_files import read_sensors

    # a robot that is not named is that of the papers
    controller = given.get('controller', AUTO if 'robot' in given else 'mpc')
    if controller == AUTO:
        controller = chosen_law(AUTO, load_casters(given['robot'])) if 'robot' in given else 'mpc'
    name = given.get('sensors', ENCODERS)
    sensors = read_sensors(name)
    wheel, steering = given.get('counts', (sensors.wheel_counts, sensors.steering_counts))
    return Conditions(
        plant=given.get('plant', 'analytic'), controller=controller,
        robot=given.get('robot'), friction=given.get('friction'),
        latency=1e-3 * given['latency'] if 'latency' in given else sensors.latency,
        known_latency=1e-3 * given['known_latency'] if 'known_latency' in given else None,
        wheel_counts=wheel, steering_counts=steering, seed=given.get('seed', 0),
        sensor_profile=name, duration=given.get('duration'), film=given.get('film', ''),
        trials=given.get('trials'), workers=given.get('workers'))


def _carry_out(arguments: argparse.Namespace, chosen: Mapping[str, Conditions], out: Path) -> int:
    """Run experiments one after the other; write their results, return the exit code."""
    from c3p_experiments.catalogue import EXPERIMENTS as KNOWN
    from c3p_experiments.catalogue import run_experiment

    make_places(out, arguments.json)
    stream = _stream(arguments)
    results = []
    for name, conditions in chosen.items():
        with _bar(name, KNOWN[name].runs) as bar:
            results.append(run_experiment(name, conditions, out, bar.set_to))
        print(_text(results[-1]), file=stream, flush=True)
    return _told(arguments, results[0] if arguments.name != ALL else _together(results, out))


def _told(arguments: argparse.Namespace, figures: dict[str, Any]) -> int:
    """Write JSON and print the files; return the exit code."""
    write_json(figures, arguments.json)
    for kind, path in figures['files'].items():
        print(f'  {kind:14} {path}', file=_stream(arguments))
    return 0 if figures['reached'] else MISSED


def _stream(arguments: argparse.Namespace) -> Any:
    return sys.stderr if str(arguments.json) == '-' else sys.stdout


def _bar(name: str, total: int) -> Any:
    return progress_bar(total=total, desc=name, leave=False, mininterval=0.2,
                        bar_format='{desc:14}|{bar:40}| {n:.1f}/{total} runs, {elapsed}')


def _text(figures: dict[str, Any]) -> str:
    from c3p_experiments.loop.report import conditions_text, text_table, verdict

    result = verdict(figures)
    if figures.get('fault'):
        result += f'\n  stopped with zero torque: {figures["fault"]}'
    return (f'{figures["experiment"]}: {figures["title"]} ({figures["source"]})\n'
            f'  {conditions_text(figures["conditions"])}; {result}\n'
            f'{text_table(figures["table"])}\n')


def _together(results: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    from c3p_experiments.loop.report import write_index

    index = write_index(results, out)
    return {'reached': all(figures['reached'] for figures in results),
            'missed': [f['experiment'] for f in results if not f['reached']],
            'experiments': {figures['experiment']: figures for figures in results},
            'files': {'index': str(index)}}
