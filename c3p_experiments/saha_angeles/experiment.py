# SPDX-License-Identifier: Apache-2.0
"""Experiment of Saha & Angeles: inverse dynamics on a circle, checked by direct dynamics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from c3p_description.agv_model import Agv
from c3p_description.model import ModelError
from c3p_description.reading.loader import load
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import table_rows, write_report
from c3p_experiments.page_curves import by_kind
from c3p_experiments.saha_angeles.page import agv_page
from c3p_experiments.saha_angeles.study import metrics_of, study
from c3p_multibody.agv.circle import Circle

Progress = Callable[[float], None]


class Title(NamedTuple):
    """Name, title and source of an experiment."""

    name: str
    title: str
    source: str


AGV = Title('agv', 'AGV with two freedoms on a circle', 'Saha & Angeles, Figs 3-5')
# largest error of the direct dynamics after 60 s and 150 rad, rad
ERROR_BAR = 1e-9

ROWS = (
    Row('theta_end_rad.0', 'wheel 1 at the end', 'rad', digits=4),
    Row('theta_end_rad.1', 'wheel 2 at the end', 'rad', digits=4),
    Row('torque_max_nm.0', 'torque of wheel 1, largest', 'mN·m', 1e3, digits=3),
    Row('torque_max_nm.1', 'torque of wheel 2, largest', 'mN·m', 1e3, digits=3),
    Row('direct_dynamics_error_rad', 'direct dynamics against the path', 'nrad', 1e9, digits=5,
        bar=ERROR_BAR, stretch=1e-11),
    Row('exact_torque_error_at_1e-5_rad', 'the same at tolerance 1e-5', 'µrad', 1e6, digits=3),
    Row('table_error_at_1e-5_rad', 'with torques from a table, a row a second', 'rad', digits=4,
        printed='did not decrease'),
    Row('without_caster_state_error_rad', 'without ψ as a state, eq. (30) as printed', 'rad',
        digits=1),
    Row('constraint_rank', 'rank of A, of 33 rows', digits=0),
    Row('friction_needed', 'friction coefficient that rolling needs', digits=4))


def load_agv(name_or_path: str | Path) -> Agv:
    """
    Return the model of a vehicle with two driven wheels and one caster.

    Raises
    ------
    ModelError
        As in `load`; also for a robot of another kind.
    """
    robot = load(name_or_path)
    if not isinstance(robot, Agv):
        raise ModelError(f'robot {str(name_or_path)!r} is not an AGV: give agv, or a .yaml file '
                         'that starts with `extends: agv`')
    return robot


def agv(out: Path, options: Conditions, progress: Progress = lambda done: None
        ) -> dict[str, Any]:
    """Run the circle of the paper: `run_agv` with the robot of `options`."""
    metrics = run_agv(out, options.robot or 'agv')
    progress(1.0)
    return metrics


def run_agv(out: str | Path, robot: str | Path = 'agv', circle: Circle | None = None
            ) -> dict[str, Any]:
    """
    Run a circle of the `robot`; write ``agv.png``, ``.pdf`` and ``.md`` into `out`.

    `circle` is by default that of the paper, with a radius of 1 m. Returns the metrics for JSON
    with ``conditions``, ``table`` and ``files``.

    Raises
    ------
    ModelError
        As in `load_agv`.
    ValueError
        A circle on which the caster revolves.
    """
    circle = circle or Circle()
    base = Path(out) / AGV.name
    done = study(load_agv(robot), circle)
    metrics = metrics_of(done)
    metrics = {'experiment': AGV.name, 'title': AGV.title, 'source': AGV.source,
               'conditions': {'robot': str(robot), 'radius_m': circle.radius,
                              'duration_s': circle.duration, 'angle_rad': circle.angle,
                              'caster_start_rad': float(done.path.caster[0])},
               'reached': metrics['direct_dynamics_error_rad'] <= ERROR_BAR, **metrics,
               'table': table_rows(ROWS, metrics)}
    metrics['files'] = {**by_kind(agv_page(done, base)),
                        'table': str(write_report(AGV, metrics, base))}
    return metrics
