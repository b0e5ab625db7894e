# SPDX-License-Identifier: Apache-2.0
"""Pages of plots of the experiments, panels in the order of the papers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from c3p_experiments.el_shenawy import panels
from c3p_experiments.el_shenawy.path_panel import draw_trajectory
from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Experiment, Outcome, Row
from c3p_experiments.loop.report import NEVER
from c3p_kinematics.se2 import to_floor
from c3p_plots import style

# room for metrics below the title, characters
HEADLINE = 165


def goal_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path) -> list[Path]:
    """
    Write the page of paper I, Figs 9 to 11: steering, Ẋ, Ẏ, Φ̇, trajectory; then ours.

    Draws the `outcome` of an `experiment` on its `bench`; `path` has no suffix. Returns the files.
    """
    run = outcome.runs[0]
    robot = bench.robot
    page, grid = _page(experiment, outcome, bench)
    ends = np.asarray(run.facts.get('curve', run.facts.get('points')), float)
    reach = np.ptp(ends[:, :2], axis=0)
    # a wide trajectory takes two cells side by side, others two above each other
    wide = bool(reach[0] > 1.6 * reach[1])
    cells = ([(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2)] if wide
             else [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)])
    shared = _shared(page, grid, cells)
    panels.steering(shared[0], run, robot, 'a')
    for component, letter in enumerate('bcd'):
        panels.velocity(shared[1 + component], run, component, letter)
    place = page.add_subplot(grid[1, 1:] if wide else grid[:2, 2])
    draw_trajectory(place, run, robot, 'e', wide)
    panels.rates(shared[4], run, robot, 'wheel', 'f')
    panels.torques(shared[5], run, robot, 'g')
    panels.errors(shared[6], run, 'h')
    shared[0].set_xlim(0.0, run.log.joints.time[-1])
    return style.save(page, path)


def flip_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path) -> list[Path]:
    """Write the page of paper II, Fig. 9; parameters as in `goal_page`."""
    run = outcome.runs[0]
    robot = bench.robot
    page, grid = _page(experiment, outcome, bench)
    shared = _shared(page, grid, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1)])
    panels.steering(shared[0], run, robot, 'a')
    panels.rates(shared[1], run, robot, 'wheel', 'b')
    panels.rates(shared[2], run, robot, 'steering', 'c')
    for component, letter in enumerate('def'):
        panels.velocity(shared[3 + component], run, component, letter)
    draw_trajectory(page.add_subplot(grid[2, 0]), run, robot, 'g', False)
    panels.torques(shared[6], run, robot, 'h')
    errors = page.add_subplot(grid[2, 2])
    panels.errors(errors, run, 'i')
    errors.set_xlim(0.0, run.log.joints.time[-1])
    # show the flip at the start; the drive continues
    aligned = outcome.metrics['align_time_s'] or run.log.joints.time[-1]
    shared[0].set_xlim(0.0, min(3.0 * aligned, run.log.joints.time[-1]))
    return style.save(page, path)


def ramp_x_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                ) -> list[Path]:
    """
    Write the page of paper II, Fig. 7: steering, wheel and X acceleration, Ẋ; then ours.

    Parameters as in `goal_page`.
    """
    run = outcome.runs[0]
    robot = bench.robot
    log = run.log
    time = run.log.joints.time
    page, grid = _page(experiment, outcome, bench)
    shared = _shared(page, grid, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)])
    panels.steering(shared[0], run, robot, 'a')
    wheels = panels.slopes(time, log.joints.wheel_rate)
    panels.overlay(shared[1], 'b', 'wheel accelerations', r'$\ddot\theta_x$ [rad/s²]', [
        (f'wheel {i + 1}', time, wheels[:, i], style.caster_colour(i), '-')
        for i in range(robot.count)])
    commanded = panels.slopes(time, run.facts['commanded'])
    panels.overlay(shared[2], 'c', 'acceleration along X', r'$\ddot X$ [m/s²]', [
        ('reference', time, commanded[:, 0], style.REFERENCE, '--'),
        ('true', time, panels.slopes(time, _floor(log))[:, 0], style.TRUE, '-')])
    for component, letter in enumerate('def'):
        panels.velocity(shared[3 + component], run, component, letter)
    draw_trajectory(page.add_subplot(grid[2, 0]), run, robot, 'g', False)
    panels.torques(shared[6], run, robot, 'h')
    panels.errors(shared[7], run, 'i')
    shared[0].set_xlim(0.0, time[-1])
    return style.save(page, path)


def ramp_y_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                ) -> list[Path]:
    """
    Write the page of paper II, Fig. 6: both cases in each panel; then ours.

    Parameters as in `goal_page`.
    """
    robot = bench.robot
    runs = outcome.runs
    page, grid = _page(experiment, outcome, bench)
    shared = _shared(page, grid, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)])
    time = runs[0].log.joints.time
    commanded = runs[0].facts['commanded'][:, 1]
    floor = [_floor(run.log)[:, 1] for run in runs]
    dashes = ('--', '-')

    def each(values: list[np.ndarray]) -> list[tuple[str, np.ndarray, np.ndarray, str, str]]:
        first = [('case 1', time, values[0][:, 0], style.GREY, '--')]
        return first + [(f'case 2, {i + 1}', time, values[1][:, i], style.caster_colour(i), '-')
                        for i in range(robot.count)]

    angles = [np.degrees(np.unwrap(run.log.joints.steering, axis=0)) for run in runs]
    panels.overlay(shared[0], 'a', 'steering angles', r'$\theta_s$ [deg]', each(angles))
    for axes, letter, name, label, reference, values in (
            (shared[1], 'b', 'velocity along Y', r'$\dot Y$ [m/s]', commanded, floor),
            (shared[2], 'c', 'acceleration along Y', r'$\ddot Y$ [m/s²]',
             panels.slopes(time, commanded), [panels.slopes(time, v) for v in floor])):
        panels.overlay(axes, letter, name, label, [
            ('reference', time, reference, style.REFERENCE, ':'),
            *((f'case {i + 1}', time, value, (style.GREY, style.TRUE)[i], dashes[i])
              for i, value in enumerate(values))])
    panels.overlay(shared[3], 'd', 'steering accelerations', r'$\ddot\theta_s$ [rad/s²]', each(
        [panels.slopes(time, run.log.joints.steering_rate) for run in runs]))
    panels.overlay(shared[4], 'e', 'wheel accelerations', r'$\ddot\theta_x$ [rad/s²]', each(
        [panels.slopes(time, run.log.joints.wheel_rate) for run in runs]))
    panels.errors(shared[5], runs[1], 'f')
    draw_trajectory(page.add_subplot(grid[2, 0]), runs[1], robot, 'g', False)
    for case, letter in enumerate('hi'):
        panels.torques(shared[6 + case], runs[case], robot, letter)
    for axes, case in ((shared[5], 2), (page.axes[-1], 2), (shared[6], 1), (shared[7], 2)):
        axes.set_title(f'{axes.get_title(loc="left")}, case {case}', fontsize=style.TITLE,
                       loc='left', fontweight='bold', pad=4)
    shared[0].set_xlim(0.0, time[-1])
    return style.save(page, path)


def steerings_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                   ) -> list[Path]:
    """
    Write the page of many drives: trajectories and distributions of metrics.

    Parameters as in `goal_page`.
    """
    page, grid = _page(experiment, outcome, bench)
    drives = outcome.metrics['drives']
    floor = page.add_subplot(grid[:2, :2])
    style.dress(floor, '(a) true trajectories; colour: time of alignment', 'X [m]', 'Y [m]')
    floor.set_aspect('equal', adjustable='datalim')
    aligned = np.array([np.nan if d['align_time_s'] is None else d['align_time_s']
                        for d in drives])
    # at least 1 s, also where no drive aligns
    top = float(np.fmax.reduce(aligned, initial=1.0))
    colours = _colours(aligned / top)
    for drive, run, colour in zip(drives, outcome.runs, colours, strict=True):
        pose = run.log.ground_truth.pose
        floor.plot(*style.thin(pose[:, 0], pose[:, 1]), color=colour, linewidth=1.3)
        floor.plot(*drive['goal_pose'][:2], marker='o' if drive['reached'] else 'x',
                  color=style.GOAL if drive['reached'] else style.ALERT, markersize=5,
                  linestyle='none')
    angle = np.degrees([np.arctan2(d['goal_pose'][1], d['goal_pose'][0]) % (2 * np.pi)
                        for d in drives])
    bars = page.add_subplot(grid[0, 2])
    style.dress(bars, '(b) casters aligned after', 'direction of the goal [deg]', 'time [s]')
    bars.bar(angle, aligned, width=8.0, color=colours)
    never = np.isnan(aligned)
    if never.any():
        bars.plot(angle[never], np.full(never.sum(), 0.03 * top), marker='x', linestyle='none',
                  color=style.ALERT, markersize=5, label='never')
        style.legend(bars, loc='upper right')
    p90 = outcome.metrics['align_time_p90_s']
    if p90 is not None:
        bars.axhline(p90, color=style.REFERENCE, linewidth=0.9, linestyle='--',
                     label=f'p90 {p90:.2f} s')
        style.headroom(bars, above=0.15)
        style.legend(bars, loc='upper right')
    for cell, letter, title, label, keys in (
            ((1, 2), 'c', 'largest distance from the path', 'error [cm]',
             ('ground_truth_path_error_max_m', 'path_error_max_m')),
            ((2, 0), 'd', 'final error', 'error [cm]',
             ('ground_truth_final_error_m', 'final_error_m'))):
        spread(page.add_subplot(grid[cell]), letter, title, label, [
            (name, [100.0 * d[key] for d in drives], colour) for name, key, colour in zip(
                ('true', 'by odometry'), keys, (style.TRUE, style.SENSED), strict=True)])
    spread(page.add_subplot(grid[2, 1]), 'e', 'time to the goal zone', 'time [s]', [
        ('', [d['time_s'] for d in drives], style.REFERENCE)])
    spread(page.add_subplot(grid[2, 2]), 'f', 'casters aligned after', 'time [s]', [
        ('', [d['align_time_s'] for d in drives], style.REFERENCE)])
    return style.save(page, path)


def spread(axes: Axes, letter: str, title: str, label: str,
           groups: list[tuple[str, list[float | None], str]]) -> None:
    """
    Draw cumulative distributions over the runs into a panel: `axes`, `letter`, `title`, `label`.

    `groups` are (name, values, colour); None is a missing value.
    """
    style.dress(axes, f'({letter}) {title}', label, 'fraction of drives [%]')
    for name, values, colour in groups:
        present = sorted(value for value in values if value is not None)
        if present:
            # of all runs: missing values keep it below 100 %
            part = 100.0 * np.arange(len(present) + 1) / len(values)
            missing = len(values) - len(present)
            never = f'{missing} of {len(values)} never' if missing else ''
            axes.step([0.0, *present], part, where='post', color=colour, linewidth=1.2,
                      label=', '.join(filter(None, (name, never))) or None)
    axes.set_ylim(0.0, 102.0)
    axes.set_xlim(left=0.0)
    # a line that does not reach 100 % leaves the upper corner free
    whole = all(value is not None for _, values, _ in groups for value in values)
    style.legend(axes, loc='lower right' if whole else 'upper left')


def _colours(part: np.ndarray) -> np.ndarray:
    """Return colours (k, 4) from blue, early, to orange, late."""
    early = np.array([0.0, 0.45, 0.70, 1.0])
    late = np.array([0.84, 0.37, 0.0, 1.0])
    part = np.nan_to_num(part, nan=1.0)[:, None]
    return (1.0 - part) * early + part * late


def _floor(log: LoopLog) -> np.ndarray:
    """Return the true velocity over the floor (k, 3)."""
    truth = log.ground_truth
    return to_floor(truth.pose[:, 2], truth.twist)


def _shared(page: Figure, grid: GridSpec, cells: list[tuple[int, int]]) -> list[Axes]:
    """Return panels that share the axis of time."""
    axes: list[Axes] = []
    for cell in cells:
        axes.append(page.add_subplot(grid[cell], sharex=axes[0] if axes else None))
    return axes


def _page(experiment: Experiment, outcome: Outcome, bench: Bench) -> tuple[Figure, GridSpec]:
    """Return a page with its headline, and the grid of its panels."""
    facts: list[str] = []
    for row in experiment.rows:
        if len('   |   '.join([*facts, _metric(row, outcome)])) > HEADLINE:
            break
        facts.append(_metric(row, outcome))
    reached = outcome.metrics['reached']
    return style.page(
        experiment.title + ('' if reached else ': goal MISSED'), facts,
        f'{experiment.source}   |   plant {bench.conditions.plant}, controller '
        f'{bench.conditions.controller}, robot {bench.robot.name}', good=reached)


def _metric(row: Row, outcome: Outcome) -> str:
    value = row.value(outcome.metrics)
    return f'{row.name}: ' + (NEVER if value is None else
                              f'{value * row.scale:.{row.digits}f} {row.unit}'.strip())
