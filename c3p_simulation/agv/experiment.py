# SPDX-License-Identifier: Apache-2.0
"""The experiment of Saha & Angeles: a circle in a minute, and back through direct dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from c3p_description.agv_model import Agv
from c3p_description.loader import load
from c3p_description.model import ModelError
from c3p_kinematics.agv_circle import Circle
from c3p_simulation.agv.page import agv_page
from c3p_simulation.agv.study import Study, figures_of, study
from c3p_simulation.experiments.outcome import Experiment, Outcome, Row
from c3p_simulation.experiments.report import markdown_table, table_figures

TITLE, SOURCE = 'AGV with two freedoms on a circle', 'Saha & Angeles, Figs 3-5'
# what the direct dynamics must give back of 150 rad after a minute
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


class Named(Protocol):
    """What knows the name of a robot, as a bench does."""

    robot_name: str


@dataclass(frozen=True)
class AgvOutcome(Outcome):
    """
    Figures, and the study that they are from.

    Attributes
    ----------
    done : Study
    """

    done: Study | None = None


def agv_outcome(agv: Agv, circle: Circle) -> AgvOutcome:
    """Return figures and study of an `agv` on a `circle`."""
    done = study(agv, circle)
    figures = figures_of(done)
    reached = figures['direct_dynamics_error_rad'] <= ERROR_BAR
    return AgvOutcome({'reached': reached, **figures}, done=done)


# the bench of a caster robot has nothing for this vehicle but the name of a robot
def _run(bench: Named) -> AgvOutcome:
    return agv_outcome(load_agv(bench.robot_name), Circle())


def _page(outcome: AgvOutcome, bench: Named | None, experiment: Experiment, base: Path
          ) -> list[Path]:
    return agv_page(outcome.done, base)


EXPERIMENT = Experiment('agv', TITLE, SOURCE, _run, _page, ROWS, robot='agv',
                        plants=('analytic',))


def load_agv(name_or_path: str | Path) -> Agv:
    """
    Return the model of a vehicle that must have two driven wheels and one caster.

    Raises
    ------
    ModelError
        As in `load`; also for a robot of another kind.
    """
    robot = load(name_or_path)
    if not isinstance(robot, Agv):
        raise ModelError(f'robot {str(name_or_path)!r} is no AGV: give agv, or a .yaml file that '
                         'starts with `extends: agv`')
    return robot


def run_agv(out: str | Path, robot: str | Path = 'agv', circle: Circle | None = None
            ) -> dict[str, Any]:
    """
    Do the experiment; write its page and its table.

    Parameters
    ----------
    out : str or Path
        Directory for ``agv.png``, ``.pdf`` and ``.md``.
    robot : str or Path
        Name or parameter file.
    circle : Circle, optional
        Else the paper's, with a radius of 1 m.

    Returns
    -------
    dict
        The figures, ready for JSON, with ``conditions``, ``table`` and ``files``.

    Raises
    ------
    ModelError
        As in `load_agv`.
    ValueError
        A circle so narrow that the caster revolves.
    """
    circle = circle or Circle()
    agv, base = load_agv(robot), Path(out) / EXPERIMENT.name
    outcome = agv_outcome(agv, circle)
    files = _page(outcome, None, EXPERIMENT, base)
    figures = {'experiment': EXPERIMENT.name, 'title': TITLE, 'source': SOURCE,
               'conditions': {'robot': str(robot), 'radius_m': circle.radius,
                              'duration_s': circle.duration, 'angle_rad': circle.angle,
                              'caster_start_rad': float(outcome.done.path.caster[0])},
               **outcome.figures, 'table': table_figures(EXPERIMENT, outcome, '')}
    report = base.with_name(f'{base.name}.md')
    report.write_text(
        f'# agv: {TITLE}\n\n{SOURCE}. Robot {robot}, R = {circle.radius:g} m, '
        f'{circle.duration:g} s.\n\n{markdown_table(figures["table"])}\n\n'
        f'![{TITLE}]({base.name}.png)\n', encoding='utf-8')
    figures['files'] = {'picture': str(files[0]), 'picture_pdf': str(files[1]),
                        'table': str(report)}
    return figures
