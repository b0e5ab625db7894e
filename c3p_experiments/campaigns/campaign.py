# SPDX-License-Identifier: Apache-2.0
"""
Monte-Carlo campaigns: the same task for many robots that the description may mean.

Each draw is a pure function of the specification and its index. So it does not matter which worker
computes it, in what order, or whether the campaign was killed in between.
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

from c3p_description.reading.loader import load
from c3p_experiments.campaigns.draw import DrawnBench, experiment_of, run_draw
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.campaigns.store import ResultFile
from c3p_experiments.campaigns.workers import Workers, computing
from c3p_simulation.contact_plant.mujoco_plant import shape_of

# what a draw is computed with; the rest of the suite may change without making rows stale
PACKAGES = ('c3p_description', 'c3p_kinematics', 'c3p_dynamics', 'c3p_controller',
            'c3p_simulation/plants', 'c3p_simulation/contact_plant', 'c3p_experiments/loop',
            'c3p_experiments/el_shenawy', 'c3p_experiments/campaigns', 'c3p_bags/runs')
UNUSED = ('*_node.py', 'el_shenawy/pa*.py', 'campaigns/campaign.py', 'campaigns/page.py',
          'campaigns/store.py', 'campaigns/summary.py', 'campaigns/workers.py')
LIBRARIES = ('numpy', 'numba', 'mujoco')


class CampaignResult(NamedTuple):
    """
    A campaign that is done.

    Attributes
    ----------
    path : Path
        The result file.
    rows : list of dict
        By index.
    parameters : tuple of str
        Which of a row's names are quantities that were drawn.
    computed : int
        How many draws were not in the file yet.
    """

    path: Path
    rows: list[dict[str, Any]]
    parameters: tuple[str, ...]
    computed: int


def run_campaign(spec: CampaignSpec, draws: int, folder: Path, workers: Workers | None = None,
                 resume: bool = True,
                 progress: Callable[[list[dict[str, Any]]], None] | None = None
                 ) -> CampaignResult:
    """
    Compute the draws 0 to `draws` − 1 that the result file in `folder` does not have yet.

    Parameters
    ----------
    spec : CampaignSpec
    draws : int
    folder : Path
    workers : Workers, optional
    resume : bool
        False begins afresh.
    progress : callable, optional
        Takes all rows that are there, at the start and after each draw.

    Raises
    ------
    ValueError
        A campaign that cannot be: before anything is computed.
    """
    if draws < 1:
        raise ValueError(f'draws = {draws}: must be 1 or more')
    parameters = check(spec)
    with ResultFile(folder, identity(spec), resume) as file:
        missing = [index for index in range(draws) if index not in file.rows]
        wanted = {index: row for index, row in file.rows.items() if index < draws}
        if progress is not None:
            progress(list(wanted.values()))
        if missing:
            with computing(workers or Workers()) as compute:
                for row in compute(run_draw, ((spec, index) for index in missing)):
                    file.add(row)
                    wanted[row['index']] = row
                    if progress is not None:
                        progress(list(wanted.values()))
    return CampaignResult(file.path, [wanted[index] for index in sorted(wanted)], parameters,
                          len(missing))


def check(spec: CampaignSpec) -> tuple[str, ...]:
    """
    Return the names of the quantities that are drawn.

    What cannot work is refused here, once, and not draw by draw.

    Raises
    ------
    ValueError
        A robot, plant or experiment that cannot be.
    """
    first = draw(spec, 0)
    DrawnBench(spec, first).plant()
    if spec.experiment:
        experiment_of(spec)
    # a seed is a name, not a quantity
    return tuple(name for name in first.parameters() if not name.endswith('seed'))


def identity(spec: CampaignSpec) -> dict[str, Any]:
    """Return what decides the rows of a campaign: specification, source and libraries."""
    libraries = {name: _version(name) for name in LIBRARIES}
    return {**spec.plain(), 'source': source_digest(spec.robot), 'libraries': libraries}


def source_digest(robot: str) -> str:
    """Return a short digest of the source that computes draws, and of the robot's description."""
    root, digest = Path(__file__).parents[2], hashlib.sha256()
    files = [file for package in PACKAGES for file in sorted((root / package).rglob('*'))
             if file.suffix in ('.py', '.yaml') and not any(map(file.match, UNUSED))]
    for file in files:
        digest.update(file.name.encode() + b'\0' + file.read_bytes())
    # whatever files the description is made of, these are its numbers
    digest.update(repr([*_numbers(asdict(load(robot))), *_numbers(asdict(shape_of(robot)))])
                  .encode())
    return digest.hexdigest()[:16]


def command(spec: CampaignSpec, index: int) -> str:
    """
    Return the command line that drives draw `index` again.

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
    """Return the degrees that are read back as exactly this angle [rad], short where possible."""
    exact = math.degrees(angle)
    near = [round(exact, 9), exact, math.nextafter(exact, math.inf),
            math.nextafter(exact, -math.inf)]
    return next((value for value in near if math.radians(value) == angle), exact)


def _word(value: Any) -> str:
    # argparse takes -1e-05 for an option
    return np.format_float_positional(value, trim='0') if isinstance(value, float) else str(value)


def _numbers(values: dict[str, Any]) -> list[Any]:
    return [_numbers(value) if isinstance(value, dict) else np.asarray(value).tolist()
            for value in values.values()]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''
