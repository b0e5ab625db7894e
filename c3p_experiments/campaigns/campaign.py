# SPDX-License-Identifier: Apache-2.0
"""
Monte-Carlo campaigns: one task with many draws of robot, floor and sensors.

A draw is a pure function of specification and index: the worker, the order and interruptions have
no effect on the result.
"""

from __future__ import annotations

import hashlib
import math
import shlex
from collections.abc import Callable
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_description.reading.loader import load_casters
from c3p_experiments.campaigns.draw import DrawnBench, experiment_of, run_draw
from c3p_experiments.campaigns.result_files import read
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.campaigns.store import ResultSet
from c3p_experiments.campaigns.table import Table
from c3p_experiments.parallel.workers import Workers, computing
from c3p_simulation.contact_plant.mujoco_plant import shape_of
from c3p_simulation.sensor_files import read_sensors

# sources that a draw depends on; changes elsewhere leave stored rows valid
PACKAGES = ('c3p_kernels', 'c3p_description', 'c3p_kinematics', 'c3p_dynamics',
            'c3p_controller', 'c3p_simulation/plants', 'c3p_simulation/contact_plant',
            'c3p_experiments/loop', 'c3p_experiments/el_shenawy', 'c3p_experiments/campaigns',
            'c3p_bags/runs')
UNUSED = ('*_node.py', 'el_shenawy/pa*.py', 'campaigns/campaign.py', 'campaigns/page.py',
          'campaigns/result_files.py', 'campaigns/store.py', 'campaigns/summary.py',
          'campaigns/table.py')
LIBRARIES = ('numpy', 'numba', 'mujoco')


class CampaignResult(NamedTuple):
    """
    Result of a completed campaign.

    Attributes
    ----------
    path : Path
        Directory with the parts of the result.
    draws : int
        Number of draws of the campaign; the result may hold more.
    parameters : tuple of str
        Columns of the drawn quantities.
    computed : int
        Number of draws that the result did not hold before.
    """

    path: Path
    draws: int
    parameters: tuple[str, ...]
    computed: int

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, by index; a large campaign is read by its `table`."""
        return [row for row in read(self.path)[1] if row['index'] < self.draws]

    @property
    def table(self) -> Table:
        """Numbers of all draws by columns."""
        return Table.from_parts(self.path, self.draws)


def run_campaign(spec: CampaignSpec, draws: int, folder: Path, workers: Workers | None = None,
                 resume: bool = True, progress: Callable[[int, int], None] | None = None
                 ) -> CampaignResult:
    """
    Compute the draws 0 to `draws` − 1 that are missing in the result of `folder`.

    The memory holds the rows of the parts in progress alone.

    Parameters
    ----------
    spec : CampaignSpec
    draws : int
    folder : Path
    workers : Workers, optional
    resume : bool
        False starts afresh.
    progress : callable, optional
        Takes the number of draws so far and how many reached the goal, at the start and after each
        draw.

    Raises
    ------
    ValueError
        An invalid campaign; raised before the first draw.
    """
    if draws < 1:
        raise ValueError(f'draws = {draws}: must be 1 or more')
    parameters = check(spec)
    with ResultSet(folder, identity(spec), resume) as results:
        missing = [index for index in range(draws) if index not in results.done]
        done = draws - len(missing)
        reached = sum(good for index, good in results.done.items() if index < draws)
        if progress is not None:
            progress(done, reached)
        if missing:
            with computing(workers or Workers()) as compute:
                for row in compute(run_draw, ((spec, index) for index in missing), _lost):
                    results.add(row)
                    done = done + 1
                    reached = reached + bool(row['reached'])
                    if progress is not None:
                        progress(done, reached)
    return CampaignResult(results.path, draws, parameters, len(missing))


def _lost(given: tuple[Any, ...], reason: str) -> dict[str, Any]:
    """Return the row of a draw that ends each worker that computes it."""
    spec, index = given
    return {'index': index, **draw(spec, index).parameters(), 'reached': False,
            'elapsed_s': None, 'failure': reason}


def check(spec: CampaignSpec) -> tuple[str, ...]:
    """
    Validate a campaign once, before its draws; return the names of the drawn quantities.

    Raises
    ------
    ValueError
        An invalid robot, plant or experiment.
    """
    first = draw(spec, 0)
    DrawnBench(spec, first).plant()
    if spec.experiment:
        experiment_of(spec)
    # a seed is a name, not a quantity
    return tuple(name for name in first.parameters() if not name.endswith('seed'))


def identity(spec: CampaignSpec) -> dict[str, Any]:
    """Return all that determines the rows: specification, source and library versions."""
    libraries = {name: _version(name) for name in LIBRARIES}
    # a file of sensors may change between two campaigns
    return {**spec.plain(), 'sensor_settings': f'{read_sensors(spec.sensors)}',
            'source': source_digest(spec.robot), 'libraries': libraries}


def source_digest(robot: str) -> str:
    """Return a short digest of the source that draws depend on and of the robot description."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    files = [file for package in PACKAGES for file in sorted((root / package).rglob('*'))
             if file.suffix in ('.py', '.yaml') and not any(map(file.match, UNUSED))]
    for file in files:
        digest.update(file.name.encode() + b'\0' + file.read_bytes())
    # the numbers of the description, independent of its files
    digest.update(repr([*_numbers(asdict(load_casters(robot))),
                        *_numbers(asdict(shape_of(robot)))]).encode())
    return digest.hexdigest()[:16]


def command(spec: CampaignSpec, index: int) -> str:
    """
    Return the command line that repeats draw `index`.

    Examples
    --------
    >>> command(CampaignSpec(seed=3, latency=(0.0, 0.03)), 17)
    'c3p campaign --only 17 --seed 3 --latency 0.0 0.03'
    """
    words = ['c3p', 'campaign', '--only', str(index)]
    for field in fields(CampaignSpec):
        value = getattr(spec, field.name)
        if value != field.default:
            if field.name == 'start_steering' and not isinstance(value, str):
                value = tuple(map(degrees, value))
            words += ['--' + field.name.replace('_', '-'),
                      *map(_word, value if isinstance(value, tuple) else (value,))]
    return shlex.join(words)


def degrees(angle: float) -> float:
    """Return the degrees that convert back to exactly this angle [rad], short where possible."""
    exact = math.degrees(angle)
    near = [round(exact, 9), exact, math.nextafter(exact, math.inf),
            math.nextafter(exact, -math.inf)]
    return next((value for value in near if math.radians(value) == angle), exact)


def _word(value: Any) -> str:
    # argparse reads -1e-05 as an option
    return np.format_float_positional(value, trim='0') if isinstance(value, float) else str(value)


def _numbers(values: dict[str, Any]) -> list[Any]:
    return [_numbers(value) if isinstance(value, dict) else np.asarray(value).tolist()
            for value in values.values()]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''
