# SPDX-License-Identifier: Apache-2.0
"""
Compute minimum times by optimal control: the tables of docs/limits.md.

Two starts from rest, both singular, rolling without slip, torque bounded, no latency: casters
transverse to the direction of travel (``align``), and leading casters (``flip``). The search
begins with many guesses on a coarse grid, and follows the best from a wide path to a narrow one on
a fine grid. What is found is an upper bound of the least time: the problem is not convex.

Run from the root of the repository: ``python scripts/optimal_limits.py [--out DIR]``. Needs
``pip install casadi``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# before numpy, whose threads it forbids
from least_time import Driven, Grid, Problem, Solution, Task  # isort: skip

import numpy as np

# most guesses die on the coarse grid; the results are those of the fine one
COARSE, FINE = Grid(24, 8), Grid(48, 16)

# first guesses for the ways that turn the casters least, in all; each longer way gets one
SHORT_GUESSES = 12

# a solution that turns the casters by more than this many times the shortest is not tried
LONGEST_WAY = 1.8

# local optima of the coarse grid that are followed on the fine one
FOLLOWED = 3

TASKS = (
    Task('align', 'c3p', 0.0, 0.0, 0.5, (1.2, 2.0), (0.02, 0.01, 0.003, 0.001)),
    Task('flip', 'c3p_25kg', np.radians(135.0), np.radians(45.0), 0.5 * np.sqrt(2.0), (1.2,),
         (0.02, 0.01, 0.003)))

# the flip in so little time with so little path error, s and m: what torque does it need?
FLIP_GOAL = (0.35, 0.003)


def turns_of(task: Task, count: int, guesses: int = SHORT_GUESSES) -> list[tuple[float, ...]]:
    """
    Return the caster rotations of the initial guesses.

    Every caster can turn in either sense. The shortest combinations are repeated until there are
    `guesses`, the longer ones follow once.

    Parameters
    ----------
    task : Task
    count : int
        Of casters.
    guesses : int
    """
    short = (task.trailing - task.steering + np.pi) % (2.0 * np.pi) - np.pi
    both = (short, short - np.copysign(2.0 * np.pi, short))
    ways = {way: sum(map(abs, way)) for way in itertools.product(both, repeat=count)}
    least = min(ways.values())
    # what is longer by rounding only is as short
    shortest = [way for way, turn in ways.items() if turn <= 1.01 * least]
    longer = [way for way, turn in ways.items() if 1.01 * least < turn <= LONGEST_WAY * least]
    return [*itertools.islice(itertools.cycle(shortest), guesses), *longer]


def coarse_starts(problem: Problem, repeats: int, seed: int) -> list[Solution]:
    """Return the solutions of a coarse grid, best first, from `repeats` guesses of each kind."""
    task, rng = problem.task, np.random.default_rng(seed)
    found = []
    for turns in turns_of(task, problem.robot.count) * repeats:
        guess = problem.guess(turns, rng.uniform(0.5, 0.8), rng.uniform(0.2, 1.0), rng)
        found.append(problem.solve(task.limits[0], task.tolerances[0], guess))
    return sorted((one for one in found if one.solved), key=lambda one: one.time)


def distinct(found: Iterable[Solution], most: int) -> list[Solution]:
    """Return the first `most` of solutions whose times differ by 1 % at least."""
    kept: list[Solution] = []
    for one in found:
        if all(abs(one.time - other.time) > 0.01 * other.time for other in kept):
            kept.append(one)
    return kept[:most]


def least_times(problem: Problem, starts: Sequence[Solution]
                ) -> dict[tuple[float, float], Solution]:
    """
    Return the best solution of every torque limit and tolerance, from wide to narrow and back.

    A path that is narrow enough for one tolerance is so for the wider ones, therefore back.
    """
    task, best = problem.task, {}

    def keep(one: Solution) -> None:
        key = (one.limit, one.tolerance)
        if one.solved and (key not in best or one.time < best[key].time):
            best[key] = one

    for start in starts:
        for limit in task.limits:
            last = start
            for tolerance in task.tolerances:
                one = problem.solve(limit, tolerance, problem.carry_over(last))
                keep(one)
                last = one if one.solved else last
    for limit in task.limits:
        for wide, narrow in reversed(list(itertools.pairwise(task.tolerances))):
            # otherwise the narrow one is the wide one's better neighbour, or both are good
            if (limit, narrow) in best and (
                    (limit, wide) not in best
                    or best[limit, narrow].time < best[limit, wide].time):
                keep(problem.solve(limit, wide, problem.carry_over(best[limit, narrow])))
    return best


def needed_torque(problem: Problem, found: Solution, end: float) -> Solution:
    """Return a solution that needs the time `end`, s, by more or less torque: τ ∝ 1/T²."""
    for _ in range(6):
        # half a millisecond is what the grid is good for
        if abs(found.time - end) < 5e-4:
            break
        limit = found.limit * (found.time / end) ** 2
        found = problem.solve(limit, found.tolerance, problem.carry_over(found))
    return found


def row(task: Task, found: Solution, driven: Driven) -> dict[str, Any]:
    """Return the values of a solution for table and file, SI units."""
    return {'task': task.name, 'robot': task.robot, 'torque_limit_nm': found.limit,
            'tolerance_m': found.tolerance, 'time_s': found.time, 'solved': found.solved,
            'driven_align_time_s': driven.align_time, 'driven_path_error_m': driven.path_error,
            'yaw_max_rad': float(np.abs(driven.pose[:, 2]).max()),
            'speed_max_mps': float(driven.speed.max()),
            'speed_after_mps': float(driven.speed[-1])}


HEAD = ('| task | torque ≤ [N·m] | path error ≤ [mm] | least time found [s] | driven: aligned [s] '
        '| driven: path error [mm] | yaw, largest [rad] '
        '| speed, largest [m/s] |\n|---|---|---|---|---|---|---|---|')


def line(told: dict[str, Any]) -> str:
    """Return a line of the table."""
    return (f'| {told["task"]} | {told["torque_limit_nm"]:.2f} | {1e3 * told["tolerance_m"]:.0f} '
            f'| {told["time_s"]:.3f}{"" if told["solved"] else " (not solved)"} '
            f'| {told["driven_align_time_s"]:.3f} | {1e3 * told["driven_path_error_m"]:.2f} '
            f'| {told["yaw_max_rad"]:.2f} | {told["speed_max_mps"]:.2f} |')


def column(panels: Sequence[Any], letter: str, task: Task, found: Solution, driven: Driven
           ) -> None:
    """
    Draw a solution: its path, its casters and its torques, one below the other.

    Parameters
    ----------
    panels : (3,) sequence of matplotlib axes
    letter : str
    task : Task
    found : Solution
    driven : Driven
    """
    from c3p_plots import style

    way, casters, torques = panels
    along = (np.cos(task.direction) * driven.pose[:, 0]
             + np.sin(task.direction) * driven.pose[:, 1])
    style.dress(way, f'({letter}1) {task.name}, {found.limit:.1f} N·m, '
                f'{1e3 * found.tolerance:.0f} mm', 'along [cm]', 'across [mm]')
    way.plot(100.0 * along, 1e3 * driven.across, color=style.REFERENCE, linewidth=style.LINE)
    for side in (-1e3, 1e3):
        way.axhline(side * found.tolerance, color=style.GREY, linewidth=0.8, linestyle=':')
    style.dress(casters, f'({letter}2) aligned after {driven.align_time:.2f} s', 'time [s]',
                'from trailing [deg]')
    style.dress(torques, f'({letter}3) wheel torques', 'time [s]', 'torque [N·m]')
    edges = np.r_[0.0, np.cumsum(found.length)]
    for i in range(driven.off.shape[1]):
        look = {'color': style.caster_colour(i), 'linewidth': style.LINE,
                'label': f'caster {i + 1}'}
        casters.plot(driven.time, np.degrees(driven.off[:, i]), **look)
        torques.stairs(found.torque[:, i], edges, baseline=None, **look)
    for axes in (casters, torques):
        axes.axvline(driven.align_time, color=style.REFERENCE, linewidth=0.8, linestyle=':')
    style.legend(casters)


def page(cases: Sequence[tuple[Task, Solution, Driven]], path: Path) -> list[Path]:
    """Draw some cases, a column each, as PNG and PDF."""
    from c3p_plots import style

    sheet = style.figure(2.8 * len(cases), 7.2)
    panels = sheet.subplots(3, len(cases), squeeze=False)
    for k, case in enumerate(cases):
        column(panels[:, k], chr(97 + k), *case)
    sheet.tight_layout()
    return style.save(sheet, path)


def main() -> None:
    """Print the table; write plots and JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0].strip())
    parser.add_argument('--out', type=Path, help='folder for the plots')
    parser.add_argument('--json', type=Path, help='JSON file for all metrics')
    parser.add_argument('--seed', type=int, default=0, help='seed of the initial guesses')
    parser.add_argument('--repeats', type=int, default=1, help='repeats of each guess')
    parser.add_argument('--rate-limit', type=float, default=np.inf, help='torque rate, N·m/s')
    parser.add_argument('--yaw-back', action='store_true',
                        help='yaw and yaw rate are zero when the casters are aligned')
    parser.add_argument('--angle', type=float, default=10.0,
                        help='alignment tolerance of the casters, degrees')
    parser.add_argument('--any-speed', action='store_true',
                        help='permit speeds above the command')
    asked = parser.parse_args()
    angle, began, rows, cases = np.radians(asked.angle), time.perf_counter(), [], []
    print(HEAD)
    for task in TASKS:
        coarse, fine = (Problem(task, grid, asked.rate_limit, asked.yaw_back, angle,
                                not asked.any_speed)
                        for grid in (COARSE, FINE))
        starts = distinct(coarse_starts(coarse, asked.repeats, asked.seed), FOLLOWED)
        best = least_times(fine, starts)
        found = [best[key] for key in sorted(best, key=lambda key: (key[0], -key[1]))]
        if task.name == 'flip' and (task.limits[0], FLIP_GOAL[1]) in best:
            found.append(needed_torque(fine, best[task.limits[0], FLIP_GOAL[1]], FLIP_GOAL[0]))
        for one in found:
            one, driven = fine.confirmed(one)
            rows.append(row(task, one, driven))
            cases.append((task, one, driven))
            print(line(rows[-1]), flush=True)
    print(f'\n{time.perf_counter() - began:.0f} s, {time.process_time():.0f} s of the processor; '
          'every time is an upper bound of the least one')
    if asked.out:
        # the narrowest path of each torque
        shown = [case for case in cases if case[1].tolerance == case[0].tolerances[-1]]
        print(*page(shown, asked.out / 'optimal_limits'), sep='\n')
    if asked.json:
        told = {'seed': asked.seed, 'yaw_back': asked.yaw_back, 'angle_deg': asked.angle,
                'rate_limit_nmps': asked.rate_limit if np.isfinite(asked.rate_limit) else None,
                'any_speed': asked.any_speed, 'rows': rows}
        asked.json.write_text(json.dumps(told, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
