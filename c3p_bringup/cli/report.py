# SPDX-License-Identifier: Apache-2.0
"""``c3p report``: page, plots and metrics of a bag or two; summary of a drive."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from c3p_bringup.cli.common import (
    MISSED,
    add_recorded_robot,
    add_results,
    make_places,
    positive,
    progress_bar,
    rows,
    show,
    write_json,
)

# below this fraction of real time a drive is reported as slower
SLOWER = 0.95


def add_report(commands: Any) -> None:
    """Add ``c3p report`` to the command line."""
    report = commands.add_parser(
        'report',
        description='Write one HTML page on a bag, simulated or from the field, with plots and '
                    'metrics; of two bags, a comparison side by side. Exit code 1 if the last '
                    'goal of a single bag was missed.')
    report.add_argument('bag', type=Path, metavar='BAG', help='directory of the bag')
    report.add_argument('other', type=Path, metavar='BAG2', nargs='?',
                        help='directory of another bag, for comparison')
    add_recorded_robot(report)
    report.add_argument('--namespace', metavar='NAME',
                        help='namespace of the robot, in a bag of several')
    report.add_argument('--goal-tolerance', type=positive, metavar='M',
                        help='radius of the goal zone (default: that of the bag, else 0.05)')
    report.add_argument('--csv', action='store_true',
                        help='also write curves.csv, all samples of the plotted quantities')
    add_results(report, 'out/report', 'the page, plots and metrics')
    report.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    from c3p_bags.report.write import report

    make_places(arguments.out, arguments.json)
    bags = [arguments.bag] + ([arguments.other] if arguments.other else [])
    with progress_bar(total=11 + len(bags), leave=False,
                      bar_format='{desc:32}|{bar:40}|') as bar:
        begun = 0

        def progress(what: str) -> None:
            nonlocal begun
            bar.set_description_str(what[:32], refresh=False)
            bar.set_to(begun)
            begun += 1

        def reading(part: float) -> None:
            bar.set_to(begun - 1 + part)

        metrics = report(bags, arguments.out, robot=arguments.robot,
                         namespace=arguments.namespace, progress=progress, reading=reading,
                         zone=(arguments.goal_tolerance, None), csv=arguments.csv)
    summaries = metrics.pop('answers')
    stream = write_json(metrics, arguments.json)
    if len(bags) == 1 and metrics['goal_pose'] is not None:
        print(drive_summary(metrics), file=stream)
    for bag, lines in zip(bags, summaries, strict=True):
        if len(bags) > 1:
            print(bag, file=stream)
        for answer in lines:
            print(f'  {answer.question:30} {answer.answer}. {answer.detail}', file=stream)
    for kind in ('report', 'figures', 'picture', 'picture_pdf', 'curves', 'curves_a', 'curves_b'):
        if kind in metrics['files']:
            print(f'  {kind:30} {metrics["files"][kind]}', file=stream)
    return MISSED if len(bags) == 1 and metrics['reached'] is False else 0


def finish(metrics: dict[str, Any], arguments: argparse.Namespace) -> int:
    """Print and write the metrics of a drive; return the exit code."""
    failures = [f'  failure: {failure}' for failure in metrics.get('failures', [])]
    show(metrics, arguments.json, '\n'.join(filter(None, [
        drive_summary(metrics), *failures, rows(metrics['files'].items())])))
    return 0 if metrics['reached'] else MISSED


def drive_summary(metrics: Mapping[str, Any]) -> str:
    """Return the metrics of a drive as lines of text."""
    def number(key: str, unit: str, scale: float = 1.0, digits: int = 2) -> str:
        value = metrics.get(key)
        return '-' if value is None else f'{scale * value:.{digits}f} {unit}'

    latency = metrics.get('latency_ms') or {}
    shown = [
        ('goal', 'reached' if metrics['reached'] else 'MISSED'),
        *([('missed because', metrics['missed'])] if metrics.get('missed') else []),
        ('time to the goal zone', number('time_s', 's')),
        ('casters aligned after', number('align_time_s', 's')),
        ('path error, largest / rms', f'{number("path_error_max_m", "cm", 100)} / '
                                      f'{number("path_error_rms_m", "cm", 100)}'),
        ('final error, position / yaw', f'{number("final_error_m", "cm", 100)} / '
                                        f'{number("final_yaw_error_rad", "rad", 1, 3)}'),
        ('final error, true position', number('ground_truth_final_error_m', 'cm', 100)),
        ('largest wheel torque', number('max_wheel_torque_nm', 'N·m')),
        ('latency p50 / p99 / max', ' / '.join(
            '-' if latency.get(k) is None else f'{latency[k]:.2f}' for k in ('p50', 'p99', 'max'))
         + ' ms'),
        *_can_summary(metrics.get('can')),
        ('cycles / overruns', f'{metrics.get("cycles")} / {metrics.get("overruns")}'),
        *_pace_summary(metrics.get('realtime_factor_achieved')),
    ]
    return rows(shown)


def _pace_summary(factor: float | None) -> list[tuple[str, str]]:
    if factor is None:
        return []
    slower = f', {1.0 / factor:.1f} times slower than real time' if factor < SLOWER else ''
    return [('robot time per real time', f'{factor:.2f}{slower}')]


def _can_summary(can: dict[str, float] | None) -> list[tuple[str, str]]:
    if can is None:
        return []
    return [('SYNC rate, bus load', f'{can["sync_rate_hz"]:.1f} Hz, {can["bus_load"]:.1%}'),
            ('frames a second, missed cycles', f'{can["frames_per_s"]:.0f}, '
                                               f'{can["missed_cycles"]:.0f}')]
