# SPDX-License-Identifier: Apache-2.0
"""``c3p experiment``: the experiments of the papers and ours, with pages, tables and figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from c3p_simulation.cli_common import MISSED, add_json, finite, make_places, write_json
from c3p_simulation.drive_options import PLANTS

ALL = 'all'


def add_experiment(commands: Any) -> None:
    """Add the command ``experiment`` to the subparsers `commands`."""
    command = commands.add_parser(
        'experiment', help='do an experiment of the papers, or one of ours',
        description='Do an experiment in one process, faster than real time, and compare it with '
                    'what is printed. Exit code 1 when a goal is missed; bars that are missed '
                    'are shown in the table and do not count.')
    command.add_argument('name', nargs='?', metavar='NAME', help='see --list; all does every one')
    command.add_argument('--list', action='store_true', help='list the experiments')
    command.add_argument('--plant', choices=PLANTS, default='analytic',
                         help='rolling without slip, or tyres in contact (default: %(default)s)')
    command.add_argument('--controller', default='mpc',
                         help='paper, closed_form or mpc (default: %(default)s)')
    command.add_argument('--robot', help='name, or path of a YAML, URDF or xacro file (default: '
                                         'the one of the paper)')
    command.add_argument('--friction', type=finite, metavar='MU',
                         help='between tyres and ground, plant mujoco (default: 0.8)')
    command.add_argument('--latency', type=finite, default=10.0, metavar='MS',
                         help='of the whole loop (default: %(default)s)')
    command.add_argument('--counts', type=int, nargs=2, default=[2000, 4096],
                         metavar=('WHEEL', 'STEERING'),
                         help='encoder counts per turn, 0 is ideal (default: 2000 4096)')
    command.add_argument('--seed', type=int, default=0, help='of what is drawn')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='where pages and tables go (default: '
                              'out/experiment/PLANT_CONTROLLER)')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    # imported when asked for: plots and kernels take their time
    from c3p_simulation.experiments.catalogue import EXPERIMENTS, experiment_for, run_experiment
    from c3p_simulation.experiments.conditions import Conditions

    if arguments.list:
        for experiment in EXPERIMENTS.values():
            print(f'{experiment.name:14} {experiment.title} ({experiment.source})')
        return 0
    if arguments.name is None:
        raise ValueError(f'which experiment? One of {", ".join(EXPERIMENTS)}, or {ALL}')
    conditions = Conditions(
        plant=arguments.plant, controller=arguments.controller, robot=arguments.robot,
        friction=arguments.friction, latency=1e-3 * arguments.latency,
        wheel_counts=arguments.counts[0], steering_counts=arguments.counts[1],
        seed=arguments.seed)
    out = arguments.out or Path('out/experiment') / f'{conditions.plant}_{conditions.controller}'
    names = [arguments.name] if arguments.name != ALL else [
        e.name for e in EXPERIMENTS.values() if conditions.plant in e.plants]
    runs = {name: experiment_for(name, conditions.plant).runs for name in names}
    make_places(out, arguments.json)
    stream = sys.stderr if str(arguments.json) == '-' else sys.stdout
    results = []
    for name in names:
        with _bar(name, runs[name]) as bar:
            results.append(run_experiment(name, conditions, out, bar.set))
        print(_text(results[-1]), file=stream, flush=True)
    figures = results[0] if arguments.name != ALL else _together(results, out)
    write_json(figures, arguments.json)
    for kind, path in figures['files'].items():
        print(f'  {kind:14} {path}', file=stream)
    return 0 if figures['reached'] else MISSED


class _Bar(tqdm):
    """A progress bar over runs and their parts."""

    def set(self, value: float) -> None:
        self.n = round(min(value, self.total), 3)
        self.refresh()


def _bar(name: str, total: int) -> _Bar:
    return _Bar(total=total, desc=name, file=sys.stderr, disable=None, leave=False,
                mininterval=0.2, bar_format='{desc:14}|{bar:40}| {n:.1f}/{total} runs, {elapsed}')


def _text(figures: dict[str, Any]) -> str:
    from c3p_simulation.experiments.report import conditions_text, text_table

    reached = 'reached' if figures['reached'] else 'MISSED'
    return (f'{figures["experiment"]}: {figures["title"]} ({figures["source"]})\n'
            f'  {conditions_text(figures["conditions"])}; goal {reached}\n'
            f'{text_table(figures["table"])}\n')


def _together(results: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    from c3p_simulation.experiments.report import write_index

    index = write_index(results, out)
    return {'reached': all(figures['reached'] for figures in results),
            'missed': [f['experiment'] for f in results if not f['reached']],
            'experiments': {figures['experiment']: figures for figures in results},
            'files': {'index': str(index)}}
