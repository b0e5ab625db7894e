# SPDX-License-Identifier: Apache-2.0
"""The command ``c3p tune``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c3p_bringup.cli.campaign import add_workers
from c3p_bringup.cli.common import (
    add_controller,
    add_params_file,
    add_plant,
    add_results,
    add_robot,
    count,
    make_places,
    rows,
    show,
)

if TYPE_CHECKING:
    from c3p_experiments.tuning.objective import Scenarios
    from c3p_experiments.tuning.tune import Evaluation, Tuned


def add_tune(commands: Any) -> None:
    """Add ``c3p tune`` to the sub-commands of the parser."""
    command = commands.add_parser(
        'tune',
        description='Search by CMA-ES for parameters with which robots that the description may '
                    'mean drive well: casters aligned soon, on the path, close to the goal, '
                    'soon, with little torque. Writes a ROS 2 parameter file that is never worse '
                    'than the start in the drives of the search.')
    add_controller(command, 'mpc', checked=False)
    command.add_argument('--what', nargs='+', default=[], metavar='NAME[=LOW:HIGH]',
                         help='parameters of the nodes, or groups of them: lambda, K, mu, loop '
                              '(paper), weights (mpc), gains, path; ranges are a tenth to ten '
                              'times the start where none is given (default: lambda K mu for '
                              'paper, weights for mpc, each number of its settings for a law of '
                              'another package)')
    add_plant(command)
    add_robot(command)
    command.add_argument('--evaluations', type=count, default=100, metavar='N',
                         help='candidates, the start among them (default: %(default)s)')
    command.add_argument('--scenarios', type=count, default=6, metavar='N',
                         help='drives that each candidate is judged by (default: %(default)s)')
    command.add_argument('--objective', nargs='+', default=[], metavar='TERM=WEIGHT',
                         help='other weights for align, path, final, yaw, time, torque')
    add_params_file(command, 'to start from; may be repeated')
    command.add_argument('--seed', type=int, default=0,
                         help='seed of drives and search (default: %(default)s)')
    add_workers(command.add_argument_group('workers'))
    add_results(command, 'out/tune', 'parameter file and pictures')
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return its exit code."""
    from tqdm import tqdm

    from c3p_description.reading.loader import load_casters
    from c3p_experiments.parallel.workers import Workers
    from c3p_experiments.tuning.files import read_parameters
    from c3p_experiments.tuning.objective import Scenarios
    from c3p_experiments.tuning.page import tune_page
    from c3p_experiments.tuning.parameters import find
    from c3p_experiments.tuning.tune import tune

    load_casters(arguments.robot)  # another kind of vehicle is an error before the search
    scenarios = Scenarios(arguments.controller, arguments.plant, arguments.robot, arguments.seed,
                          weights_of(arguments.objective))
    given = read_parameters(arguments.params_file, arguments.controller)
    tunables = find(arguments.controller, arguments.what, given)
    place = arguments.out / 'tuned.yaml'
    make_places(arguments.out, arguments.json)
    # each candidate in each scenario, and both ends in as many others
    drives = arguments.scenarios * (arguments.evaluations + 2)
    with tqdm(total=drives, unit='drive', file=sys.stderr, disable=None) as bar:
        saved: list[float] = []

        def progress(drives: int, best: Evaluation | None) -> None:
            bar.n = drives
            if best is None:
                return
            bar.set_postfix_str(f'cost {best.cost:.4g}')
            # a search that is interrupted leaves the best so far
            if not saved or best.cost < saved[-1]:
                saved.append(best.cost)
                _write(place, arguments, {**given, **best.values},
                       f'cost {best.cost:.4f}, search not finished')

        tuned = tune(scenarios, tunables, evaluations=arguments.evaluations,
                     count=arguments.scenarios, fixed=given, progress=progress, workers=Workers(
                         arguments.jobs, arguments.backend, arguments.scheduler, arguments.block))
    _write(place, arguments, {**given, **tuned.best.values}, _verdict(tuned))
    pictures = tune_page(scenarios, tuned, arguments.out / 'tune')
    files = {'parameters': str(place), 'page': str(pictures[0]), 'page_pdf': str(pictures[1])}
    found = [(t.name, f'{t.start:<10.6g} → {tuned.best.values[t.name]:.6g}') for t in tunables]
    show({**report(scenarios, tuned), 'files': files}, arguments.json,
         f'  {_verdict(tuned)}\n{rows([*found, *files.items()], 48)}')
    return 0


def weights_of(words: list[str]) -> dict[str, float]:
    """Return the weights in ``term=weight`` words; ValueError names an invalid word."""
    weights = {}
    for word in words:
        term, _, weight = word.partition('=')
        try:
            weights[term] = float(weight)
        except ValueError:
            raise ValueError(f'objective {word}: must be TERM=WEIGHT') from None
    return weights


def report(scenarios: Scenarios, tuned: Tuned) -> dict[str, Any]:
    """Return the result of a search, ready for JSON."""
    from c3p_experiments.tuning.objective import TERMS

    def told(evaluation: Evaluation) -> dict[str, Any]:
        return {'values': evaluation.values, 'cost': evaluation.cost,
                'drives': [judgement._asdict() for judgement in evaluation.judgements]}

    return {'controller': scenarios.controller, 'plant': scenarios.plant,
            'robot': scenarios.robot, 'seed': scenarios.seed,
            'objective': {term: scenarios.weight(term) for term in TERMS},
            'start': told(tuned.start), 'best': told(tuned.best),
            'start_check_cost': tuned.start_check, 'best_check_cost': tuned.best_check,
            'ranges': {t.name: [t.low, t.high] for t in tuned.tunables},
            'history': [{'values': e.values, 'cost': e.cost} for e in tuned.history]}


def _verdict(tuned: Tuned) -> str:
    text = (f'cost {tuned.start.cost:.4f} at the start, {tuned.best.cost:.4f} found; in drives '
            f'that the search never saw {tuned.start_check:.4f} and {tuned.best_check:.4f}')
    if tuned.best is tuned.start:
        return f'{text}: nothing better than the start was found'
    if tuned.best_check > tuned.start_check:
        return f'{text}: worse than the start there; use more scenarios'
    return text


def _write(place: Path, arguments: argparse.Namespace, values: dict[str, float], verdict: str
           ) -> None:
    from c3p_experiments.tuning.files import parameter_text

    remark = (f'c3p tune --controller {arguments.controller} --plant {arguments.plant} --seed '
              f'{arguments.seed} --evaluations {arguments.evaluations} --scenarios '
              f'{arguments.scenarios}\n{verdict}')
    beside = place.with_name(place.name + '.part')
    beside.write_text(parameter_text(arguments.controller, values, remark), encoding='utf-8')
    os.replace(beside, place)
