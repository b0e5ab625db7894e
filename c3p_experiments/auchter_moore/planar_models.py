# SPDX-License-Identifier: Apache-2.0
"""
Errors of planar wheel models on uneven ground, and the slip of a rigid axle there.

Auchter and Moore begin with them: wheels as thin discs whose centres move with ``v = ω R`` on a
plane, Ackermann's steering, which is free of slip on flat ground only, and two wheels on a rigid
axle, whose contacts Sreenivasan and Nanua (1999) found to slip unless their distance can change.
The tricycle rolls without slip, with its camber free; its own joint angles go through

    thin discs    ds = ½ (R + ρ)(dα₂ + dα₃),   dψ = (R + ρ)(dα₃ − dα₂) / (2 b)
    Ackermann     ds as above,                  dψ = ds tan φ₁ / L

and the pose in the plane is compared with where it is. On flat ground both are exact. The slip of
the rigid axle is that which no rates of its two wheels can remove, on the same path
(`c3p_rough_ground.closed_chain.slip`): the difference of their velocities along the axle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.reading.loader import load_tricycle
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import by_kind, save_page
from c3p_plots import style
from c3p_rough_ground.closed_chain import Run, Stepping, locked_slip, place, simulate
from c3p_rough_ground.closed_chain.description import Array
from c3p_rough_ground.closed_chain.vehicle import yaw_of
from c3p_rough_ground.terrain import Hills, SplineGround, Terrain
from c3p_rough_ground.vehicles import pvc_tricycle
from c3p_rough_ground.worlds.terrain_files import load_terrain

NAME = 'planar_models'
TITLE = 'Planar wheel models and a rigid axle on uneven ground'
SOURCE = 'Auchter & Moore, section I'
DURATION = 20.0
# rad/s, of the drives; s
RATE = 1.0
STEP = 0.02
SEEDS = 8
# of the front wheel at the start, rad; free joints change it later
STEERED = 0.12
DISCS = 'thin_discs'
ACKERMANN = 'ackermann'
LABELS = {DISCS: 'thin discs', ACKERMANN: 'Ackermann'}
NAMES = {'climb': 'plateau at 20°', 'random': 'random ground', 'hills': 'hills'}
# m: the planar models are exact on a plane, up to the integrator and sums over 1000 steps
PLANE_BAR = 1e-6

Progress = Callable[[float], None]


class PlanarTrial(NamedTuple):
    """
    One run of the tricycle.

    Attributes
    ----------
    ground : str
        ``flat``, ``climb``, ``random`` or ``hills``.
    seed : int
        Of the ground, and of no meaning for the first two.
    steering : float, rad
        Of the front wheel at the start.
    """

    ground: str
    seed: int
    steering: float


class PlanarDrive(NamedTuple):
    """
    A run and what the planar models make of it, N records.

    Attributes
    ----------
    run : Run
    pose : (N, 3) array, m and rad
        x, y and heading, from the start.
    models : dict
        Name → pose by that model (N, 3).
    slip_time : (k,) array, s
    axle_slip : (k,) array, m/s
        Difference of the rear wheels' velocities along a rigid axle.
    """

    run: Run
    pose: Array
    models: dict[str, Array]
    slip_time: Array
    axle_slip: Array

    @property
    def way(self) -> float:
        """Way of the platform in the plane, m."""
        return float(np.hypot(*np.diff(self.pose[:, :2], axis=0).T).sum())

    def error(self, model: str) -> Array:
        """Return the distance of the place by a `model` from the true one (N,), m."""
        return np.hypot(*(self.models[model] - self.pose)[:, :2].T)


def ground_of(name: str, seed: int) -> Terrain:
    """Return a ground of the study."""
    if name in ('flat', 'climb'):
        return load_terrain('flat' if name == 'flat' else 'plateau_20deg')
    return SplineGround.random(seed) if name == 'random' else Hills.random(seed)


def plan(seeds: int = SEEDS) -> list[PlanarTrial]:
    """Return the runs: straight and steered, on the grounds of the paper and on hills."""
    grounds = [('flat', 0), ('climb', 0), *((name, seed) for name in ('random', 'hills')
                                            for seed in range(seeds))]
    return [PlanarTrial(*ground, steering) for ground in grounds for steering in (0.0, STEERED)]


def planar_pose(forward: Array, turn: Array) -> Array:
    """
    Return the poses (N + 1, 3) from (0, 0, 0) after arcs of lengths `forward` and angles `turn`.

    Examples
    --------
    >>> planar_pose(np.full(4, np.pi / 8), np.full(4, np.pi / 8)).round(9)[-1].tolist()
    [1.0, 1.0, 1.570796327]
    """
    heading = np.concatenate([[0.0], np.cumsum(turn)])
    chord = forward * np.sinc(turn / (2.0 * np.pi))
    middle = heading[:-1] + 0.5 * turn
    steps = np.column_stack([chord * np.cos(middle), chord * np.sin(middle)])
    return np.column_stack([np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]), heading])


def planar_models(model: PvcTricycle, steering: Array, drives: Array) -> dict[str, Array]:
    """
    Return the poses (N, 3) by each planar model.

    `steering` (N,) is φ₁, `drives` (N, 2) are the angles of the rear wheels, left and right, rad.
    """
    rolled = (model.wheel_radius + model.tube_radius) * np.diff(drives, axis=0)
    forward = rolled.mean(axis=1)
    middle = 0.5 * (steering[1:] + steering[:-1])
    return {DISCS: planar_pose(forward, (rolled[:, 1] - rolled[:, 0]) / (2.0 * model.half_track)),
            ACKERMANN: planar_pose(forward, forward * np.tan(middle) / model.wheelbase)}


def drive(model: PvcTricycle, trial: PlanarTrial, duration: float = DURATION) -> PlanarDrive:
    """Drive a trial and put its joint angles through the planar models."""
    vehicle = pvc_tricycle(model)
    terrain = ground_of(trial.ground, trial.seed)
    joint = np.zeros(len(vehicle.joints))
    joint[vehicle.index(JOINTS[0])] = trial.steering
    start = place(vehicle, terrain, 0.0, 0.0, 0.0, joint).require()
    # those of a drive on a plane: others tilt the rear wheels there as well
    tangent = math.tan(trial.steering)
    outer = model.half_track / model.wheelbase * tangent
    desired = RATE * np.array([0.0, 1.0 / math.cos(trial.steering), 0.0, 1.0 - outer, 0.0,
                               1.0 + outer])
    run = simulate(vehicle, terrain, start, desired, duration, Stepping(STEP))
    heading = np.unwrap([yaw_of(rotation) for rotation in run.rotation])
    pose = np.column_stack([run.position[:, :2] - run.position[0, :2], heading - heading[0]])
    angles = run.joint[:, [vehicle.index(name) for name in (JOINTS[0], JOINTS[3], JOINTS[5])]]
    slip = locked_slip(run)
    across = slip.best_velocity[:, 1:, 1]
    return PlanarDrive(run, pose, planar_models(model, angles[:, 0], angles[:, 1:]), slip.time,
                       np.abs(across[:, 1] - across[:, 0]))


def planar_models_study(out: Path, options: Conditions, progress: Progress = lambda done: None,
                        seeds: int = SEEDS) -> dict[str, Any]:
    """
    Run the comparison and write its page.

    Parameters
    ----------
    out : Path
        Directory of the page.
    options : Conditions
        robot : a tricycle with passive variable camber; duration of each run, s.
    progress : callable
        Takes the number of runs done.
    seeds : int
        Grounds of each random kind.
    """
    model = load_tricycle(options.robot or 'pvc_tricycle')
    duration = options.duration or DURATION
    found = {}
    for done, trial in enumerate(plan(seeds), 1):
        found[trial] = drive(model, trial, duration)
        progress(float(done))
    metrics = {'runs': len(found), 'conditions': {
        'robot': str(options.robot or 'pvc_tricycle'), 'duration_s': duration,
        'steering_rad': STEERED, 'seeds': seeds}, **figures(found)}
    metrics['reached'] = bool(max(metrics['flat'][name]['error_max_m']
                                  for name in (DISCS, ACKERMANN)) <= PLANE_BAR)
    metrics['files'] = by_kind(_page(found, metrics, Path(out) / NAME))
    return metrics


def figures(found: dict[PlanarTrial, PlanarDrive]) -> dict[str, Any]:
    """Return the errors and the slip of each ground: median and largest of its runs."""
    out: dict[str, Any] = {}
    for ground in dict.fromkeys(trial.ground for trial in found):
        drives = [one for trial, one in found.items() if trial.ground == ground]
        entry: dict[str, Any] = {
            'axle_slip_mean_mps': float(np.median([one.axle_slip.mean() for one in drives])),
            'axle_slip_max_mps': float(max(one.axle_slip.max() for one in drives))}
        for name in (DISCS, ACKERMANN):
            parts = [one.error(name)[-1] / one.way for one in drives]
            turns = [abs(one.models[name][-1, 2] - one.pose[-1, 2]) for one in drives]
            entry[name] = {'error_max_m': float(max(one.error(name).max() for one in drives)),
                           'error_part_median': float(np.median(parts)),
                           'error_part_max': float(max(parts)),
                           'heading_median_rad': float(np.median(turns)),
                           'heading_max_rad': float(max(turns))}
        out[ground] = entry
    return out


def rows() -> tuple[Row, ...]:
    """Return the rows of the table."""
    part: dict[str, Any] = {'unit': '%', 'scale': 100.0, 'digits': 1}
    turned: dict[str, Any] = {'unit': '°', 'scale': 57.29577951308232, 'digits': 1}
    return (
        *(Row(f'flat.{name}.error_max_m', f'{LABELS[name]} on flat ground, error of the place',
              'm', digits=1, scientific=True, bar=PLANE_BAR) for name in (DISCS, ACKERMANN)),
        *(row for ground, text in NAMES.items() for row in (
            *(Row(f'{ground}.{name}.error_part_median',
                  f'{LABELS[name]}, {text}: final error of the place, part of its path, median',
                  **part)
              for name in (DISCS, ACKERMANN)),
            *(Row(f'{ground}.{name}.heading_median_rad',
                  f'{LABELS[name]}, {text}: final error of the heading, median', **turned)
              for name in (DISCS, ACKERMANN)),
            Row(f'{ground}.axle_slip_mean_mps', f'rigid axle, {text}: slip along it, mean',
                'mm/s', 1e3, 2))))


ROWS = rows()
COLOURS = {DISCS: style.CASTERS[1], ACKERMANN: style.CASTERS[2]}
GROUNDS = {'random': style.REFERENCE, 'hills': style.SENSED}


def _page(found: dict[PlanarTrial, PlanarDrive], metrics: dict[str, Any], base: Path
          ) -> Sequence[Path]:
    page, grid = style.page(TITLE, [
        f'{metrics["runs"]} runs of {metrics["conditions"]["duration_s"]:g} s without slip, rear '
        f'drives {RATE:g} rad/s on the mean', 'models get the joint angles of the run'], SOURCE,
        good=metrics['reached'], size=(13.0, 4.6), rows=1, columns=3)
    plane, error, slip = (page.add_subplot(grid[0, k]) for k in range(3))
    shown = found[PlanarTrial('random', 0, STEERED)]
    plane.plot(*shown.pose[:, :2].T, color=style.TRUE, linewidth=style.LINE, label='true')
    for name, pose in shown.models.items():
        plane.plot(*pose[:, :2].T, color=COLOURS[name], linewidth=style.LINE, label=LABELS[name])
    plane.set_aspect('equal', adjustable='box')
    style.dress(plane, '(a) path on random ground', 'x [m]', 'y [m]')
    style.legend(plane)
    whole = [(trial, one) for trial, one in found.items() if not one.run.ended_early]
    for name in (DISCS, ACKERMANN):
        _band(error, [(one.run.time, one.error(name)) for trial, one in whole
                      if trial.ground == 'random'], COLOURS[name], LABELS[name])
    for ground, colour in GROUNDS.items():
        _band(slip, [(one.slip_time, 1e3 * one.axle_slip) for trial, one in whole
                     if trial.ground == ground], colour, NAMES[ground])
    style.dress(error, '(b) error of the place, random ground', 'time [s]', 'error [m]')
    style.dress(slip, '(c) slip along a rigid axle', 'time [s]', 'slip [mm/s]')
    for axes in (error, slip):
        style.legend(axes)
    return save_page(page, base)


def _band(axes: Axes, curves: Sequence[tuple[Array, Array]], colour: str, label: str) -> None:
    """Draw the median of runs, with the range from the least to the largest."""
    time = curves[0][0]
    values = np.array([one for _, one in curves])
    axes.fill_between(time, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15,
                      linewidth=0.0)
    axes.plot(*style.thin(time, np.median(values, axis=0)), color=colour, linewidth=style.LINE,
              label=f'{label}, median and range')
