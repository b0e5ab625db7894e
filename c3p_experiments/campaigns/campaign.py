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
from c3p_experiments.campaigns.spec import CampaignSpec, draw
from c3p_experiments.campaigns.store import ResultFile
from c3p_experiments.campaigns.workers import Workers, computing
from c3p_simulation.contact_plant.mujoco_plant import shape_of

# sources that a draw depends on; changes elsewhere leave stored rows valid
PACKAGES = ('c3p_description', 'c3p_kinematics', 'c3p_dynamics', 'c3p_controller',
            'c3p_simulation/plants', 'c3p_simulation/contact_plant', 'c3p_experiments/loop',
            'c3p_experiments/el_shenawy', 'c3p_experiments/campaigns', 'c3p_bags/runs')
UNUSED = ('*_node.py', 'el_shenawy/pa*.py', 'campaigns/campaign.py', 'campaigns/page.py',
          'campaigns/store.py', 'campaigns/summary.py', 'campaigns/workers.py')
LIBRARIES = ('numpy', 'numba', 'mujoco')


class CampaignResult(NamedTuple):
    """
    Result of a completed campaign.

    Attributes
    ----------
    path : Path
        The result file.
    rows : list of dict
        Sorted by index.
    parameters : tuple of str
        Columns of the drawn quantities.
    computed : int
        Number of draws that were not in the file.
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
    Compute the draws 0 to `draws` − 1 that are missing in the result file of `folder`.

    Parameters
    ----------
    spec : CampaignSpec
    draws : int
    folder : Path
    workers : Workers, optional
    resume : bool
        False starts afresh.
    progress : callable, optional
        Takes all rows so far, at the start and after each draw.

    Raises
    ------
    ValueError
        An invalid campaign; raised before the first draw.
    """
    if draws < 1:
        raise ValueError(f'draws = {draws}: must be 1 or more')
    parameters = check(spec)
    with ResultFile(folder, identity(spec), resume) as file:
        missing = [index for index in range(draws) if index not in file.rows]
        rows = {index: row for index, row in file.rows.items() if index < draws}
        if progress is not None:
            progress(list(rows.values()))
        if missing:
            with computing(workers or Workers()) as compute:
                for row in compute(run_draw, ((spec, index) for index in missing)):
                    file.add(row)
                    rows[row['index']] = row
                    if progress is not None:
                        progress(list(rows.values()))
    return CampaignResult(file.path, [rows[index] for index in sorted(rows)], parameters,
                          len(missing))


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
    return {**spec.plain(), 'source': source_digest(spec.robot), 'libraries': libraries}


def source_digest(robot: str) -> str:
    """Return a short digest of the source that draws depend on and of the robot description."""
    root, digest = Path(__file__).parents[2], hashlib.sha256()
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
