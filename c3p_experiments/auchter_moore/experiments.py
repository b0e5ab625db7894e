# SPDX-License-Identifier: Apache-2.0
"""The experiments of Auchter & Moore: the climb onto a plateau, and random hills."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from c3p_description.reading.loader import load_tricycle
from c3p_experiments.auchter_moore.film import contact_sheet, film
from c3p_experiments.auchter_moore.measures import (
    Conditioning,
    LeastSlip,
    conditioning,
    least_slip,
    run_figures,
)
from c3p_experiments.auchter_moore.pages import rough_page
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import table_rows, write_report
from c3p_experiments.page_curves import by_kind
from c3p_rough_ground.closed_chain import (
    LockedSlip,
    Run,
    Stepping,
    locked_slip,
    place,
    simulate,
)
from c3p_rough_ground.terrain import SplineGround, Terrain
from c3p_rough_ground.vehicles import pvc_tricycle as vehicle_of
from c3p_rough_ground.worlds.terrain_files import load_terrain
from c3p_viewers.mujoco.films import check_film
from c3p_viewers.mujoco.opengl import require_renderer

# the paper's inputs, rad/s: steering 0, drives 1, camber 0; its duration; step of the method, s
DESIRED = (0.0, 1.0, 0.0, 1.0, 0.0, 1.0)
DURATION = 20.0
STEP = 0.02
# limits of the closure error and of the speed of touching material, m/s
CLOSURE_BAR = 1e-11
SLIP_BAR = 1e-9
# on ground whose curvature has corners differences over 2 ms see these, m/s
CORNER_SLIP_BAR = 1e-8
# runs, of which the fastest gives the real-time factor
TIMED = 25

Progress = Callable[[float], None]


class GroundCase(NamedTuple):
    """
    One ground of an experiment.

    Attributes
    ----------
    label : str
    terrain : callable
        Takes the seed.
    slip_bar : float, m/s
        Limit of the material slip, which finite differences resolve.
    """

    label: str
    terrain: Callable[[int], Terrain]
    slip_bar: float = SLIP_BAR


class GroundStudy(NamedTuple):
    """
    An experiment on rough ground.

    Attributes
    ----------
    name, title, source : str
    cases : sequence of GroundCase
        The page shows the first one, and the others in grey.
    """

    name: str
    title: str
    source: str
    cases: Sequence[GroundCase]


class GroundDrive(NamedTuple):
    """A run on one ground, with its measurements."""

    label: str
    run: Run
    conditioning: Conditioning
    slip: LockedSlip
    least: LeastSlip
    figures: dict[str, Any]


HILL = GroundStudy('hill', 'PVC tricycle climbs onto a plateau', 'Auchter & Moore, Figs 4, 5', (
    GroundCase('D = 20°', lambda seed: load_terrain('plateau_20deg')),
    GroundCase('D = 0°', lambda seed: load_terrain('plateau'))))
RANDOM = GroundStudy('random_terrain', 'PVC tricycle on random hills', 'Auchter & Moore, Figs 6-9',
                     (
    GroundCase('cubic', SplineGround.random, CORNER_SLIP_BAR),
    GroundCase('quintic', lambda seed: SplineGround.random(seed, degree=5))))


def rows(study: GroundStudy) -> tuple[Row, ...]:
    """Return the rows of the table of a `study`."""
    mm: dict[str, Any] = {'unit': 'mm/s', 'scale': 1e3, 'digits': 2}
    degrees: dict[str, Any] = {'unit': '°', 'scale': 57.29577951308232}
    first, second = (case.label for case in study.cases)
    return (
        Row('closure_l2_max', 'closure (12), L2, largest', digits=1, scientific=True,
            printed='well satisfied', bar=CLOSURE_BAR),
        Row('rolling_l2_max', 'rolling (4), L2, largest', digits=1, scientific=True,
            printed='well satisfied'),
        *(Row(f'cases.{i}.material_slip_max_mps', f'slip of material, largest, {case.label}',
              'm/s', digits=1, scientific=True, printed='negligible', bar=case.slip_bar)
          for i, case in enumerate(study.cases)),
        Row('realtime_factor', 'faster than real time', 'times', digits=0, bar=1000.0,
            stretch=5000.0, at_least=True),
        Row('cases.0.camber_max_rad', f'camber, largest, {first}', **degrees,
            printed='near 0'),
        Row('cases.1.camber_max_rad', f'camber, largest, {second}', **degrees,
            printed='near 0'),
        Row('steering_max_rad', 'steering angle, largest', **degrees, printed='near 0'),
        Row('input_change_max', 'joint rate off the desired one, largest', 'rad/s', digits=4),
        Row('height_climbed_m', 'height climbed by the platform', 'm', digits=3),
        Row('slope_max_rad', 'slope of the ground under a wheel, largest', **degrees, ),
        Row('condition_max', 'condition of J_GC, largest'),
        Row('free_inputs', 'free input rates', digits=0),
        Row('locked_slip_equal_rms_mps', 'slip without camber on this path, equal drives, rms',
            **mm),
        Row('locked_slip_best_rms_mps', 'the same, each drive at its best rate, rms', **mm),
        Row('least_slip_equal_rms_mps', 'slip without camber on any path, equal drives, rms',
            **mm),
        Row('least_slip_best_rms_mps', 'the same, each drive at its best rate, rms', **mm),
        Row('least_slip_equal_drives_share', 'of it caused by equal drives', '%', 100.0, 1))


def hill(out: Path, options: Conditions, progress: Progress = lambda done: None
         ) -> dict[str, Any]:
    """
    Climb onto a plateau of 1 m, straight ahead and met at 20°.

    Parameters
    ----------
    out : Path
        Directory of page, table and film.
    options : Conditions
    progress : callable
        Takes the number of runs done.

    Returns
    -------
    dict
        The results, ready for JSON.
    """
    return _carry_out(HILL, out, options, progress)


def random_terrain(out: Path, options: Conditions, progress: Progress = lambda done: None
                   ) -> dict[str, Any]:
    """Drive over a random net of B-splines; parameters and result as in `hill`."""
    return _carry_out(RANDOM, out, options, progress)


def drive(case: GroundCase, robot: str | Path = 'pvc_tricycle', seed: int = 0,
          duration: float = DURATION) -> GroundDrive:
    """
    Drive over the ground of a case and measure the run.

    Parameters
    ----------
    case : GroundCase
    robot : str or Path
        Name or file of a tricycle.
    seed : int
        Of the ground.
    duration : float, s
    """
    tricycle = vehicle_of(load_tricycle(robot))
    terrain = case.terrain(seed)
    start = place(tricycle, terrain, 0.0, 0.0, 0.0).require()
    taken = []
    for _ in range(1 + TIMED):
        # the first one may have to compile
        begin = time.perf_counter()
        run = simulate(tricycle, terrain, start, DESIRED, duration, Stepping(STEP))
        taken.append(time.perf_counter() - begin)
    state = conditioning(run)
    slip = locked_slip(run)
    least = least_slip(run)
    figures = {'case': case.label, **run_figures(run, state, slip, least),
               'realtime_factor': float(run.time[-1] / min(taken[1:]))}
    figures['reached'] = bool(not run.ended_early and figures['closure_l2_max'] <= CLOSURE_BAR
                              and figures['material_slip_max_mps'] <= case.slip_bar)
    return GroundDrive(case.label, run, state, slip, least, figures)


def together(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the results of the first of `cases`, with the worst of all for the bars."""
    worst = {key: max(case[key] for case in cases) for key in (
        'closure_l2_max', 'rolling_l2_max', 'material_slip_max_mps', 'camber_max_rad',
        'steering_max_rad', 'input_change_max', 'condition_max')}
    return {**cases[0], **worst, 'reached': all(case['reached'] for case in cases),
            'ended_early': any(case['ended_early'] for case in cases),
            'realtime_factor': min(case['realtime_factor'] for case in cases),
            'rank_min': min(case['rank_min'] for case in cases), 'cases': list(cases)}


def _carry_out(study: GroundStudy, out: Path, options: Conditions, progress: Progress
               ) -> dict[str, Any]:
    """Drive over each ground of a study; write page, table and, if requested, film."""
    robot = options.robot or 'pvc_tricycle'
    duration = options.duration or DURATION
    if options.film:
        # a film that cannot be made here is an error before the runs
        check_film(options.film)
        require_renderer()
    drives = []
    for case in study.cases:
        drives.append(drive(case, robot, options.seed, duration))
        progress(float(len(drives)))
    base = Path(out) / study.name
    figures = {'experiment': study.name, 'title': study.title, 'source': study.source,
               'conditions': {'robot': str(robot), 'duration_s': duration, 'step_s': STEP,
                              'seed': options.seed},
               **together([one.figures for one in drives])}
    figures['table'] = table_rows(rows(study), figures)
    pages = rough_page(study.title, study.source, figures, drives, robot, base)
    figures['files'] = {**by_kind(pages), 'table': str(write_report(study, figures, base))}
    if options.film:
        sheet = base.with_name(f'{study.name}_stills.png')
        figures['files']['stills'] = str(contact_sheet(drives[0].run, robot, sheet))
        figures['files']['film'] = str(film(
            drives[0].run, robot, base.with_suffix(f'.{options.film}'),
            progress=lambda done: progress(len(drives) + done)))
    progress(len(drives) + 1.0)
    return figures
